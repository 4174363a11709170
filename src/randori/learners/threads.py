"""How many threads a gradient step on the CPU gets: all cores, or one, whichever is faster now.

The libraries below torch let threads wait for each other by spinning. With a core for each that is
fast; on cores that something else keeps busy a step can take thirty times as long as with one
thread, which never waits. So steps begin with one thread, and the other choice is tried as the run
goes on, ever more rarely while it is the slower one.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter

import torch

FIRST_STEPS = 2
"""Steps that do not count: libraries choose their kernels in them."""
SOONEST, LATEST = 8, 1024
"""Steps from one trial of the other choice to the next."""
PATIENCE = 20
"""A trial that took as long as n steps is followed by n times as many of them without one."""
MEMORY = 0.8
"""How much of the mean time of a step is that of the steps before it."""


class Threads:
    """Gives steps their threads, and times them.

    `most` stands for all of them; none given is as many as torch has when a step begins.
    """

    def __init__(
        self,
        most: int | None = None,
        clock: Callable[[], float] = perf_counter,
        give: Callable[[int], None] = torch.set_num_threads,
    ) -> None:
        self._most = most
        self._clock, self._give = clock, give
        self._has_all = False
        self._times: dict[bool, float] = {}  # of a step, by whether it has all threads
        self._steps = 0
        self._since, self._pause = 0, SOONEST

    @contextmanager
    def step(self) -> Iterator[None]:
        """Run one step with the number of threads that it shall have."""
        most = torch.get_num_threads() if self._most is None else self._most
        if most == 1:
            yield
            return
        is_trial = self._is_due()
        self._give(most if self._has_all != is_trial else 1)
        start = self._clock()
        try:
            yield
        finally:
            self._give(most)
        self._note(self._clock() - start, is_trial)

    def _is_due(self) -> bool:
        """Tell whether to try the other choice: after a while, or once this one is slower."""
        known = self._times.get(not self._has_all)
        if known is None:
            return self._since > 0  # at once: a step may take seconds
        if self._since < SOONEST:
            return False
        return self._since >= self._pause or known < self._times[self._has_all]

    def _note(self, seconds: float, is_trial: bool) -> None:
        self._steps += 1
        if self._steps <= FIRST_STEPS:
            return
        self._since += 1
        if not is_trial:
            before = self._times.get(self._has_all, seconds)
            self._times[self._has_all] = MEMORY * before + (1 - MEMORY) * seconds
            return
        self._since = 0
        self._times[not self._has_all] = seconds
        if seconds < self._times[self._has_all]:
            self._has_all = not self._has_all
            self._pause = SOONEST
        else:
            wasted = seconds / self._times[self._has_all]
            self._pause = min(max(2 * self._pause, round(PATIENCE * wasted)), LATEST)
