"""From a finished game to training rows, against plain Python."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from randori.games.dice import seed_dice
from randori.games.kernels import specialise
from randori.games.registry import load_game
from randori.learners.archive import MOST_RANDOM, make_archive, remember_beginning
from randori.learners.harvest import (
    GAMES,
    NO_REPLY,
    NONE_MADE,
    ROWS,
    GameSoFar,
    Harvest,
    copies,
    has_room_for,
    make_harvest,
    reap,
    surprise_of,
)
from randori.search.tree import make_trees, plant, tree_of

GAME = load_game("othello:size=6")
DICE = seed_dice(1, 1)[0]


@pytest.fixture(autouse=True)
def _dice_overflow() -> Any:
    """Plain numpy words complain about what dice do on purpose."""
    with np.errstate(over="ignore"):
        yield


def plain(template: Callable[..., Any]) -> Callable[..., Any]:
    return specialise(template, GAME._bindings, compiled=False)


def played(seed: int, every: int = 1) -> tuple[GameSoFar, list[Any]]:
    """A random game whose every so-manieth position is a row, and all its positions."""
    rng = np.random.default_rng(seed)
    line, moves = [GAME.new_state()], []
    while actions := GAME.legal_actions(line[-1]):
        moves.append(int(rng.choice(actions)))
        line.append(line[-1].copy())
        GAME.plain.play(line[-1], moves[-1])
    rows = line[:-1][::every]
    counts = rng.integers(0, 99, size=(len(rows), GAME.most_legal)).astype(np.uint16)
    values = rng.uniform(-1, 1, len(rows)).astype(np.float32)
    surprise = rng.exponential(size=len(rows)).astype(np.float32)
    game = GameSoFar(
        len(rows), np.array(rows), counts, values, surprise, len(moves), 2,
        np.array(moves, dtype=np.uint16), np.full(len(moves), NONE_MADE, dtype=np.float32),
    )  # fmt: skip
    return game, line


def reaped(game: GameSoFar, last: Any, share: float = 0.0) -> Harvest:
    harvest = make_harvest(GAME, 64)
    plain(reap)(harvest, game, last, share, DICE)
    return harvest


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("every", [1, 3])
def test_rows_tell_how_the_game_ended(seed: int, every: int) -> None:
    game, line = played(seed, every)
    harvest = reaped(game, line[-1])
    assert harvest.used.tolist() == [game.rows, 1]
    outcome = int(GAME.plain.outcome(line[-1]))
    assert harvest.outcomes[0] == outcome
    assert harvest.begun[0] == 2
    assert harvest.moves[0, : game.plies].tolist() == game.moves.tolist()
    for row in range(game.rows):
        ply = row * every
        assert np.array_equal(harvest.states[row], line[ply])
        assert np.array_equal(harvest.counts[row], game.counts[row])
        assert harvest.values[row] == game.values[row]
        first = (0, 1, -1, 0)[outcome]
        assert harvest.results[row] == (first if ply % 2 == 0 else -first)
        reply = game.moves[ply + 1] if ply + 1 < game.plies else NO_REPLY
        assert harvest.replies[row] == reply
    assert (harvest.amends[: game.rows] == NONE_MADE).all()


@pytest.mark.parametrize("every", [1, 3])
def test_the_next_slip_tells_what_a_position_was_worth(every: int) -> None:
    """To the side to move there; after the last slip the result stands."""
    game, line = played(0, every)
    game.amends[7], game.amends[12] = 0.75, -0.5
    harvest = reaped(game, line[-1])
    for row in range(game.rows):
        ply = row * every
        worth = NONE_MADE
        if ply <= 12:
            slip, worth = (7, 0.75) if ply <= 7 else (12, -0.5)
            worth = worth if (slip - ply) % 2 == 0 else -worth
        assert harvest.amends[row] == worth


@pytest.mark.parametrize("seed", range(6))
def test_owners_are_seen_by_the_side_to_move(seed: int) -> None:
    """In Othello a cell belongs to the disc on it in the end; the planes show whose that is."""
    game, line = played(seed)
    harvest = reaped(game, line[-1])
    words = np.zeros(GAME.input_words, dtype=np.uint64)
    GAME.plain.planes(line[-1], words)
    mover, other = int(words[0]), int(words[1])
    assert mover.bit_count() + other.bit_count() <= 36
    for row in range(game.rows):
        same = row % 2 == (len(line) - 1) % 2
        assert harvest.owners[row].tolist() == ([mover, other] if same else [other, mover])


def test_games_stand_one_after_another() -> None:
    harvest = make_harvest(GAME, 64)
    seen = 0
    for seed in range(4):
        game, line = played(seed, 2)
        plain(reap)(harvest, game, line[-1], 0.0, DICE)
        assert np.array_equal(harvest.states[seen : seen + game.rows], game.states)
        seen += game.rows
        assert harvest.used.tolist() == [seen, seed + 1]
        assert harvest.plies[seed] == game.plies


def test_there_is_room_for_each_row_twice() -> None:
    harvest = make_harvest(GAME, 2)
    room = len(harvest.results)
    assert has_room_for(harvest, (room - 1) // 2)
    assert not has_room_for(harvest, (room + 1) // 2)
    harvest.used[ROWS] = room - 9
    assert [has_room_for(harvest, rows) for rows in (3, 4, 5)] == [True, True, False]
    harvest.used[GAMES] = len(harvest.plies)
    assert not has_room_for(harvest, 0)


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_surprising_rows_are_written_more_often(share: float) -> None:
    """On average by their share of the game's surprise, but never more than twice."""
    game, _ = played(0)
    total = float(game.surprise.sum())
    drawn = np.array(
        [
            [plain(copies)(game, row, share, total, DICE) for row in range(game.rows)]
            for _ in range(300)
        ]
    )
    weight = 1 - share + share * game.surprise * game.rows / total
    expected = np.minimum(weight, 2.0)
    assert drawn.max() <= 2
    assert np.abs(drawn.mean(axis=0) - expected).max() < 0.15
    assert drawn.mean() == pytest.approx(expected.mean(), abs=0.02)
    if share == 0.0:
        assert (drawn == 1).all()


def test_without_any_surprise_each_row_is_written_once() -> None:
    game, line = played(0)
    game.surprise[:] = 0.0
    assert reaped(game, line[-1], share=1.0).used[ROWS] == game.rows


def test_copies_are_whole_rows() -> None:
    game, line = played(2)
    harvest = reaped(game, line[-1], share=1.0)
    rows = int(harvest.used[ROWS])
    plies = [int(state[0]) for state in harvest.states[:rows]]
    assert plies == sorted(plies)
    assert len(set(plies)) < rows
    for row, ply in enumerate(plies):
        assert np.array_equal(harvest.counts[row], game.counts[ply])
        assert harvest.values[row] == game.values[ply]


def test_surprise_is_a_divergence() -> None:
    """Of the visits from the raw prior, not from the one with noise in it."""
    tree = tree_of(make_trees(1, 4, 400, GAME), 0)
    plain(plant)(tree, GAME.new_state())
    tree.nodes[0].count = 4
    tree.moves.prior[:4] = [0.5, 0.25, 0.25, 0.0]
    tree.edges.prior[:4] = 0.1
    tree.weights[:4] = [2, 1, 1, 0]
    assert plain(surprise_of)(tree, 4.0) == 0.0
    tree.weights[:4] = [0, 8, 0, 0]
    assert plain(surprise_of)(tree, 8.0) == pytest.approx(np.log(4))
    tree.weights[:4] = [0, 1, 0, 1]
    expected = 0.5 * np.log(0.5 / 0.25) + 0.5 * np.log(0.5 / 1e-9)
    assert plain(surprise_of)(tree, 2.0) == pytest.approx(expected)


def test_the_archive_keeps_beginnings() -> None:
    """Each follows some game and then a few random moves, and can be played on from its end."""
    archive = make_archive(GAME, 8)
    games = [played(seed)[0] for seed in range(30)]
    for number, game in enumerate(games):
        plain(remember_beginning)(archive, game.moves, game.plies, DICE)
        assert archive.filled[0] == min(8, number + 1)
    kept = [archive.moves[i, : archive.plies[i]].tolist() for i in range(8)]
    for beginning in kept:
        state = GAME.new_state()
        for action in beginning:
            assert action in GAME.legal_actions(state)
            GAME.plain.play(state, action)
        assert GAME.legal_actions(state)
        shared = max(common(beginning, game.moves.tolist()) for game in games)
        assert len(beginning) - shared < MOST_RANDOM
    assert len({len(beginning) for beginning in kept}) > 3
    first = [game.moves.tolist() for game in games[:8]]
    assert any(common(b, m) < len(b) - MOST_RANDOM for b, m in zip(kept, first, strict=True))


def common(a: list[int], b: list[int]) -> int:
    """Return how many moves two games share before they part."""
    return next(
        (i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(map(len, (a, b)))
    )


def test_no_archive_and_no_beginning() -> None:
    nothing = make_archive(GAME, 0)
    plain(remember_beginning)(nothing, np.array([1, 2, 3], dtype=np.uint16), 3, DICE)
    archive = make_archive(GAME, 2)
    plain(remember_beginning)(archive, np.array([1], dtype=np.uint16), 1, DICE)
    assert archive.filled[0] == 0
