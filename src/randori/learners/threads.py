"""How many threads a gradient step on the CPU gets: all cores, or one, whichever is faster now.

The libraries below torch let threads wait for each other by spinning. With a core for each that is
fast; on cores that something else keeps busy a step can take thirty times as long as with one
thread, which never waits. So both are tried as the run goes on, the slower one ever more rarely.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter

import torch

FIRST_STEPS = 2
"""Steps that do not count: libraries choose their kernels in them."""
SOONEST, LATEST = 8, 1024
"""Steps from one trial of the other number to the next."""
PATIENCE = 20
"""A trial that took as long as n steps is followed by n times as many of them without one."""
MEMORY = 0.8
"""How much of the mean time of a step is that of the steps before it."""


class Threads:
    """Gives steps their threads, and times them."""

    def __init__(
        self,
        most: int | None = None,
        clock: Callable[[], float] = perf_counter,
        give: Callable[[int], None] = torch.set_num_threads,
    ) -> None:
        self._most = torch.get_num_threads() if most is None else most
        self._clock, self._give = clock, give
        self._now, self._other = self._most, 1
        self._times: dict[int, float] = {}
        self._steps = 0
        self._since, self._pause = 0, SOONEST

    @contextmanager
    def step(self) -> Iterator[None]:
        """Run one step with the number of threads that it shall have."""
        if self._most == 1:
            yield
            return
        is_trial = self._is_due()
        number = self._other if is_trial else self._now
        self._give(number)
        start = self._clock()
        try:
            yield
        finally:
            self._give(self._most)
        self._note(number, self._clock() - start, is_trial)

    def _is_due(self) -> bool:
        """Tell whether to try the other number: after a while, or once this one is slower."""
        known = self._times.get(self._other)
        if known is None:
            return self._since > 0  # at once: a step may take seconds
        if self._since < SOONEST:
            return False
        return self._since >= self._pause or known < self._times[self._now]

    def _note(self, number: int, seconds: float, is_trial: bool) -> None:
        self._steps += 1
        if self._steps <= FIRST_STEPS:
            return
        self._since += 1
        if not is_trial:
            before = self._times.get(number, seconds)
            self._times[number] = MEMORY * before + (1 - MEMORY) * seconds
            return
        self._since = 0
        self._times[number] = seconds
        if seconds < self._times[self._now]:
            self._now, self._other = self._other, self._now
            self._pause = SOONEST
        else:
            wasted = seconds / self._times[self._now]
            self._pause = min(max(2 * self._pause, round(PATIENCE * wasted)), LATEST)
