"""Random play in figures: against games that can be counted out, and against published ones."""

from dataclasses import replace

import numpy as np
import pytest

from randori.arena.stats import (
    LENGTH,
    MOVES,
    RESULT,
    TAKEN,
    Mean,
    mean_of,
    measure,
    random_games,
    ratio_of,
)
from randori.errors import BrokenLaw
from randori.games import Position, load_game
from randori.games.kernels import DRAW, FIRST, SECOND


def test_tictactoe_as_counted_out() -> None:
    """The exact means of random play, by a walk over all games."""

    def walk(position: Position) -> tuple[float, float]:
        """Return the expected plies to come, and the first player's expected score."""
        if position.outcome is not None:
            return 0.0, {"first": 1.0, "second": 0.0, "draw": 0.5}[position.outcome]
        if position not in known:
            parts = [walk(position.play(action)) for action in position.actions()]
            length, score = np.mean(parts, axis=0)
            known[position] = (1 + length, score)
        return known[position]

    known: dict[Position, tuple[float, float]] = {}
    length, score = walk(load_game("tictactoe").start())
    stats = measure(load_game("tictactoe"), 4000, seed=1)
    assert stats.length.low - 0.02 < length < stats.length.high + 0.02
    assert stats.first_score.low - 0.01 < score < stats.first_score.high + 0.01
    assert stats.first + stats.second + stats.draws == stats.games == 4000
    assert stats.captures == Mean(0, 0, 0)
    assert stats.placed == 0
    assert stats.placed_branching is None


def test_notes_are_those_of_the_games() -> None:
    """Moves of a tic-tac-toe game follow from its length; five or more stones decide it."""
    notes = random_games(load_game("tictactoe"), 300, seed=2)
    assert (notes[:, MOVES] == [sum(range(10 - n, 10)) for n in notes[:, LENGTH]]).all()
    assert set(notes[:, RESULT]) == {FIRST, SECOND, DRAW}
    assert (notes[notes[:, RESULT] == DRAW, LENGTH] == 9).all()
    assert not notes[:, TAKEN].any()
    assert (notes == random_games(load_game("tictactoe"), 300, seed=2)).all()


def test_choko_takes_stones() -> None:
    notes = random_games(load_game("choko"), 300)
    decided = notes[notes[:, RESULT] != DRAW]
    assert (decided[:, TAKEN] >= 12).all()
    assert (notes[:, TAKEN] < 24).all()
    cut = (notes[:, LENGTH] == 100).mean()
    assert 0.08 < cut < 0.24  # 15.6 % of random games are unfinished after 100 plies


def test_shobu_placements() -> None:
    stats = measure(load_game("shobu:cap=50"), 20, placed=100_000)
    assert stats.placed_branching is not None
    assert abs(stats.placed_branching.mean - 62.10) < 0.2
    assert stats.placed_branching.low < stats.placed_branching.mean < stats.placed_branching.high
    assert stats.placed == 100_000
    assert stats.longest == 50


def test_progress_hears_games_and_plies() -> None:
    heard: list[tuple[int, int]] = []
    notes = random_games(load_game("tictactoe"), 450, progress=lambda *done: heard.append(done))
    assert [games for games, _ in heard] == [200, 400, 450]
    assert heard[-1][1] == notes[:, LENGTH].sum()


def test_ratio_has_the_spread_of_its_games() -> None:
    """Pairs of which each says 2 have no spread; others do."""
    wholes = np.array([1, 5, 3, 7])
    assert ratio_of(2 * wholes, wholes) == Mean(2, 2, 2)
    spread = ratio_of(2 * wholes + np.array([1, -1, 1, -1]), wholes)
    assert spread.low < spread.mean == 2 < spread.high


def test_a_game_that_does_not_end_is_told() -> None:
    endless = replace(load_game("connect4"), longest=5)
    with pytest.raises(BrokenLaw, match="law 'longest' broken"):
        random_games(endless, 10)


def test_intervals_by_hand() -> None:
    """Of 1, 2, 3, 4: mean 2.5, standard deviation 1.2910, standard error 0.6455."""
    found = mean_of(np.array([1, 2, 3, 4]))
    assert found.mean == 2.5
    assert found.high - found.mean == pytest.approx(1.959964 * 0.6454972)
    ratio = ratio_of(np.array([1, 4, 3]), np.array([1, 2, 3]))  # 8 / 6, rests -1/3, 4/3, -1 over 2
    error = np.std([-1 / 6, 2 / 3, -1 / 2], ddof=1) / np.sqrt(3)
    assert (ratio.mean, ratio.high - ratio.mean) == pytest.approx((4 / 3, 1.959964 * error))


def test_intervals_cover_what_they_should() -> None:
    rng, inside = np.random.default_rng(0), 0
    for _ in range(400):
        wholes = rng.integers(1, 40, size=60)
        parts = wholes * 5 + rng.integers(-9, 10, size=60)
        found = ratio_of(parts, wholes)
        inside += found.low < 5 < found.high
    assert 0.91 < inside / 400 < 0.98
