"""Time left: from what was played, not from what was compiled."""

import numpy as np
import pytest

from randori.cli import gauge
from randori.cli.gauge import Pace, shown_progress


class Clock:
    """Time and compiling as a test wants them."""

    def __init__(self):
        self.now, self.compiled = 100.0, 0.0

    def wait(self, seconds):
        self.now += seconds

    def compile(self, seconds):
        self.now += seconds
        self.compiled += seconds


@pytest.fixture
def clock(monkeypatch):
    found = Clock()
    monkeypatch.setattr(gauge, "monotonic", lambda: found.now)
    return found


def test_nothing_is_told_before_there_is_something_to_go_by(clock):
    pace = Pace(10, 20.0, lambda: clock.compiled)
    assert (pace.rate, pace.seconds_left) == (None, None)
    clock.wait(600)
    pace.hear(0, 2)
    assert (pace.rate, pace.seconds_left) == (None, None)


def test_what_comes_before_the_first_word_does_not_count(clock):
    pace = Pace(10, 20.0, lambda: clock.compiled)
    clock.wait(600)
    pace.hear(0, 20)
    clock.wait(3)
    pace.hear(0, 50)
    assert pace.rate == pytest.approx(10)


def test_no_time_is_told_before_a_game_is_over(clock):
    """Chance takes 200 plies for a game, the agents 20: most of it is done when nothing is over."""
    pace = Pace(10, 200.0, lambda: clock.compiled)
    for ply in range(1, 19):
        pace.hear(0, 10 * ply)
        clock.wait(1)
        assert pace.seconds_left is None
    pace.hear(1, 190)
    assert pace.seconds_left == pytest.approx(18 * 0.45 / 0.55, rel=0.05)
    clock.wait(1)
    pace.hear(8, 199)
    assert pace.seconds_left == pytest.approx(19 * 0.1 / 0.9, rel=0.05)


def test_games_one_after_the_other(clock):
    """Of a hundred games two are played at a time: those not begun are not half done."""
    pace = Pace(100, 200.0, lambda: clock.compiled)
    for ply in range(1, 41):
        pace.hear(2 * (ply // 20), 2 * ply)
        clock.wait(1)
    assert pace.seconds_left == pytest.approx(39 * 0.95 / 0.05, rel=0.1)


@pytest.mark.parametrize("length", [5.0, 40.0, 500.0], ids=["short", "right", "long"])
@pytest.mark.parametrize("together", [(1,), (2,), (8,), (4, 4), (2, 1, 4)], ids=str)
def test_the_bar_never_falls_back(clock, length, together):
    """However wrong the guess is, and in several processes, each of which plays job after job."""
    rng = np.random.default_rng(1)
    pace, shares = Pace(60 * sum(together), length, lambda: clock.compiled), []
    seen = np.zeros((len(together), 2), dtype=int)
    left = [np.zeros(0, dtype=int) for _ in together]
    while seen[:, 0].min() < 60 * min(together):
        who = int(rng.integers(len(together)))
        if seen[who, 0] == 60 * together[who]:
            continue
        if not len(left[who]):
            left[who] = rng.integers(20, 60, together[who])
        left[who] -= 1
        seen[who] += (left[who] == 0).sum(), len(left[who])
        left[who] = left[who][left[who] > 0]
        clock.wait(1)
        pace.hear(*seen.sum(0).tolist())
        shares.append(pace.share(*seen.sum(0).tolist()))
    assert shares == sorted(shares)
    assert shares[-1] <= 1


def test_compiling_later_does_not_count(clock):
    pace = Pace(10, 20.0, lambda: clock.compiled)
    pace.hear(0, 20)
    clock.compile(40)
    clock.wait(3)
    pace.hear(5, 50)
    assert pace.rate == pytest.approx(10)
    assert pace.seconds_left < 6
    pace.hear(10, 200)
    assert pace.seconds_left == 0


def test_lines_without_a_terminal(clock, capsys):
    with shown_progress(10, 20.0) as tell:
        clock.wait(60)
        tell(0, 20)
        assert capsys.readouterr().err == "0/10 games over\n"
        clock.wait(12)
        tell(0, 50)
        assert capsys.readouterr().err == "0/10 games over, 2.50 plies/s\n"
        clock.wait(12)
        tell(6, 70)
    assert capsys.readouterr().err == "6/10 games over, 2.08 plies/s, about 0:07 left\n"
