"""Steps get the threads with which they are fastest, also when that changes."""

import torch

from randori.learners.threads import LATEST, SOONEST, Threads


class Machine:
    """Takes so long for a step with one thread, and with all four."""

    def __init__(self) -> None:
        self.cost = {1: 0.3, 4: 0.1}
        self.now, self.given = 0.0, 4
        self.used: list[int] = []
        self.threads = Threads(4, lambda: self.now, self._give)

    def _give(self, number: int) -> None:
        self.given = number

    def run(self, steps: int) -> list[int]:
        """Take steps; return how many threads each had."""
        self.used.clear()
        for _ in range(steps):
            with self.threads.step():
                self.used.append(self.given)
                self.now += self.cost[self.given]
            assert self.given == 4, "others have them all"
        return self.used


def test_all_threads_where_nothing_else_runs() -> None:
    used = Machine().run(1000)
    assert used[: SOONEST + 5] == 3 * [1] + [4] + SOONEST * [4] + [1]
    assert 5 < used.count(1) < 13


def test_one_thread_while_others_keep_the_cores_busy() -> None:
    machine = Machine()
    machine.run(2 * LATEST)
    machine.cost[4] = 9.0
    before = machine.now
    used = machine.run(300)
    assert used[50:].count(4) < 8
    assert machine.now - before < 2.5 * 300 * 0.3
    machine.cost[4] = 0.1
    assert machine.run(LATEST + 300)[-250:].count(4) > 240


def test_cores_that_are_busy_from_the_start() -> None:
    machine = Machine()
    machine.cost[4] = 9.0
    assert machine.run(12) == 3 * [1] + [4] + 8 * [1]


def test_one_core_has_nothing_to_choose() -> None:
    given: list[int] = []
    with Threads(1, give=given.append).step():
        pass
    assert not given


def test_torch_gets_them() -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        threads, seen = Threads(), set()
        torch.set_num_threads(2)  # what counts is how many there are when a step begins
        for _ in range(3 * SOONEST):
            with threads.step():
                seen.add(torch.get_num_threads())
        assert seen == {1, 2}
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
