"""Time: whoever uses what it is given never runs out."""

import numpy as np
import pytest

from randori.protocols.clock import Clock, TimeSystem


@pytest.mark.parametrize(
    "system",
    [TimeSystem(60), TimeSystem(5), TimeSystem(10, 30, 25), TimeSystem(0, 5, 1),
     TimeSystem(60, 10, 1, 3), TimeSystem(0, 3, 1, 5), TimeSystem(0, 60, 40)],
)  # fmt: skip
def test_nobody_runs_out(system: TimeSystem) -> None:
    """A referee keeps the real clock: main time, then periods for so many stones."""
    rng = np.random.default_rng(0)
    for reported in (True, False):
        clock = Clock()
        clock.set(system)
        main, period, stones = system.main, system.period, system.stones
        for move in range(400):
            in_main = main > 0
            if reported and (in_main or system.stones):
                left = (main, 0) if in_main else (period, system.periods or stones)
                clock.correct(0, *left)
            seconds = clock.allot(0, max(8.0, 40 - move))
            assert seconds is not None
            used = seconds + rng.uniform(0, 0.002)
            clock.spend(0, used)
            if in_main:
                main -= used
                assert main > 0 or system.stones
                # Overtime begins in the middle of a move that overruns the main time.
                used = -main if main <= 0 else 0.0
            if main <= 0 and system.stones:
                period, stones = period - used, stones - 1
                assert period > 0
                if stones <= 0:
                    period, stones = system.period, system.stones
            if not system.stones and main < 0.5:
                break


def test_without_limits() -> None:
    clock = Clock()
    assert clock.allot(0, 10) is None
    for system in (TimeSystem(0, 5, 0), TimeSystem(), TimeSystem(0, 0, 3)):
        clock.set(system)
        assert clock.allot(1, 10) is None


def test_sides_are_apart_and_more_time_means_longer_thought() -> None:
    clock = Clock()
    clock.set(TimeSystem(100))
    before = clock.allot(1, 20)
    clock.spend(0, 50)
    assert clock.allot(1, 20) == before
    less = clock.allot(0, 20)
    assert less is not None
    assert before is not None
    assert less < before
    clock.restart()
    assert clock.allot(0, 20) == before
