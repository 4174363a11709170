"""Replay: a window over the newest rows, and samples as they look under every symmetry."""

from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from randori.games.game import Game
from randori.games.registry import load_game
from randori.learners.harvest import NO_REPLY, NONE_MADE
from randori.learners.replay import BATCHES_AHEAD, Replay, Samples, drawn_ahead
from randori.learners.yields import Rows

SPECS = ["tictactoe", "connect4", "othello:size=6"]


def some_rows(game: Game, count: int, seed: int = 0) -> Rows:
    """Positions of random games with random visits; a row's value tells which one it is."""
    rng = np.random.default_rng(seed)
    states, counts = [], []
    while len(states) < count:
        state = game.new_state()
        while actions := game.legal_actions(state):
            visits = np.zeros(game.most_legal, dtype=np.uint16)
            visits[: len(actions)] = rng.integers(0, 50, len(actions))
            visits[rng.integers(len(actions))] += 1
            states.append(state.copy())
            counts.append(visits)
            game.plain.play(state, int(rng.choice(actions)))
    values = np.linspace(-0.5, 0.5, count).astype(np.float32)
    results = rng.integers(-1, 2, count).astype(np.int8)
    replies = rng.integers(0, game.num_actions, count).astype(np.uint16)
    owners = np.zeros((count, game.owner_words), dtype=np.uint64)
    for row in range(count):
        game.plain.owners(states[row], owners[row])
    amends = np.where(np.arange(count) % 3, NONE_MADE, -values).astype(np.float32)
    return Rows(
        np.array(states[:count]), np.array(counts[:count]), values, results, replies, owners, amends
    )


def part(rows: Rows, which: slice) -> Rows:
    return Rows(*(getattr(rows, field.name)[which] for field in fields(Rows)))


def draw(replay: Replay, seed: int = 0, batch: int = 500, newest: int | None = None) -> Samples:
    return replay.sample(np.random.default_rng(seed), batch, newest)


def dense(game: Game, samples: Samples) -> Any:
    """The policy over all actions, −1 where one is illegal."""
    policy = np.full((len(samples.shares), game.num_actions), -1.0, dtype=np.float32)
    for row, (actions, shares) in enumerate(zip(samples.actions, samples.shares, strict=True)):
        policy[row, actions[shares >= 0]] = shares[shares >= 0]
    return policy


def values_in(replay: Replay) -> list[float]:
    return sorted(set(draw(replay, batch=4000).values.tolist()))


def test_the_window_drops_the_oldest() -> None:
    game = load_game("tictactoe")
    rows = some_rows(game, 100)
    replay = Replay(game, 30)
    sizes = []
    for start in range(0, 100, 7):
        replay.add(part(rows, slice(start, start + 7)))
        done = min(100, start + 7)
        sizes.append(replay.size)
        assert values_in(replay) == rows.values[max(0, done - 30) : done].tolist()
    assert sizes == [7, 14, 21, 28] + 11 * [30]
    assert replay.total == 100


def test_more_rows_than_the_window() -> None:
    game = load_game("tictactoe")
    rows = some_rows(game, 100)
    replay = Replay(game, 30)
    replay.add(part(rows, slice(0, 10)))
    replay.add(part(rows, slice(10, 100)))
    assert values_in(replay) == rows.values[70:].tolist()
    replay.add(part(rows, slice(0, 0)))
    assert values_in(replay) == rows.values[70:].tolist()


@pytest.mark.parametrize("split", [1, 7, 29, 30, 31, 64])
def test_samples_do_not_depend_on_how_the_rows_came(split: int) -> None:
    """A resumed run reads its window in one piece, maybe with older rows in front."""
    game = load_game("connect4")
    rows = some_rows(game, 100)
    grown, restored, exact = (Replay(game, 30) for _ in range(3))
    for start in range(0, 100, split):
        grown.add(part(rows, slice(start, min(100, start + split))))
    restored.add(rows)
    exact.add(part(rows, slice(70, 100)))
    for seed in range(3):
        ours = draw(grown, seed)
        for other in (restored, exact):
            theirs = draw(other, seed)
            for field in fields(Samples):
                mine, other_one = (getattr(one, field.name) for one in (ours, theirs))
                np.testing.assert_array_equal(mine, other_one, err_msg=field.name)


def unpacked(game: Game, words: Any) -> Any:
    """Planes [C, H, W] of one packed position, in numpy."""
    bits = np.unpackbits(words.view(np.uint8), bitorder="little")
    planes = bits.reshape(game.num_planes, -1)[:, : game.cells]
    return planes.reshape(game.num_planes, *game.shape)


def turn(board: Any, index: int) -> Any:
    """The symmetries of a square in the order of the tables, on the last two axes."""
    board = np.asarray(board)
    return [
        board,
        board[..., :, ::-1],
        board[..., ::-1, :],
        board[..., ::-1, ::-1],
        np.swapaxes(board, -1, -2),
        np.swapaxes(board[..., ::-1, ::-1], -1, -2),
        np.rot90(board, -1, axes=(-2, -1)),
        np.rot90(board, 1, axes=(-2, -1)),
    ][index]


@pytest.mark.parametrize("spec", SPECS)
def test_samples_are_turned_as_a_whole(spec: str) -> None:
    """Planes and policy against numpy's own flips and turns, for every symmetry."""
    game = load_game(spec)
    rows = some_rows(game, 40)
    replay = Replay(game, 40)
    replay.add(rows)
    samples = draw(replay, batch=800)
    height, width = game.shape
    seen = set()
    policies = dense(game, samples)
    for i, (words, policy) in enumerate(zip(samples.words, policies, strict=True)):
        value = samples.values[i]
        (row,) = np.flatnonzero(rows.values == value)
        plain = np.zeros(game.input_words, dtype=np.uint64)
        game.plain.planes(rows.states[row], plain)
        legal = game.legal_actions(rows.states[row])
        target = np.full(game.num_actions, -1.0)
        target[legal] = rows.counts[row][: len(legal)] / rows.counts[row].sum()
        matches = []
        for index in range(len(game.symmetries)):
            planes = turn(unpacked(game, plain), index)
            if spec == "connect4":
                turned = target[::-1] if index else target
            else:
                board = turn(target[: game.cells].reshape(height, width), index)
                turned = np.concatenate([board.ravel(), target[game.cells :]])
            same = np.array_equal(unpacked(game, words), planes)
            if same and np.allclose(policy, turned, atol=1e-6):
                matches.append(index)
        assert matches, "no symmetry gives these planes and this policy together"
        seen |= set(matches)
        assert ((policy == -1) | (policy >= 0)).all()
        assert (policy >= 0).sum() == len(legal)
        assert policy[policy >= 0].sum() == pytest.approx(1, abs=1e-5)
    assert seen == set(range(len(game.symmetries)))


def test_rows_and_symmetries_are_drawn_evenly() -> None:
    game = load_game("connect4")
    rows = some_rows(game, 10)
    replay = Replay(game, 10)
    replay.add(rows)
    values, counts = np.unique(draw(replay, batch=20_000).values, return_counts=True)
    assert len(values) == 10
    assert np.allclose(counts / 20_000, 0.1, atol=0.01)
    lopsided = Rows(
        np.array([game.start().play("1").state]), np.array([[7, 0, 0, 0, 0, 0, 0]], np.uint16),
        np.zeros(1, np.float32), np.zeros(1, np.int8), np.zeros(1, np.uint16),
        np.zeros((1, game.owner_words), np.uint64), np.full(1, NONE_MADE, np.float32),
    )  # fmt: skip
    replay = Replay(game, 1)
    replay.add(lopsided)
    policy = dense(game, draw(replay, batch=4000))
    assert (policy[:, 0] == 1).mean() == pytest.approx(0.5, abs=0.04)
    assert ((policy[:, 0] == 1) ^ (policy[:, 6] == 1)).all()


def test_a_window_that_has_not_grown_yet_holds_the_newest() -> None:
    game = load_game("tictactoe")
    rows = some_rows(game, 40)
    replay = Replay(game, 30)
    replay.add(rows)
    seen = sorted(set(draw(replay, batch=2000, newest=12).values.tolist()))
    assert seen == rows.values[28:].tolist()


@pytest.mark.parametrize("spec", ["tictactoe", "othello:size=6", "go:size=9"])
def test_side_tasks_are_turned_with_the_board(spec: str) -> None:
    """The stones of the row itself as owners, and a reply on a cell: both go where stones go."""
    game = load_game(spec)
    rows = some_rows(game, 30)
    planes = np.zeros((30, game.input_words), dtype=np.uint64)
    for row in range(30):
        game.plain.planes(rows.states[row], planes[row])
    rows.owners[:] = planes[:, : game.owner_words]
    rows.replies[:] = np.arange(30) % game.cells
    rows.replies[7] = NO_REPLY
    replay = Replay(game, 30)
    replay.add(rows)
    samples = draw(replay, batch=600)
    assert np.array_equal(samples.owners, samples.words[:, : game.owner_words])
    for value, reply in zip(samples.values, samples.replies, strict=True):
        (row,) = np.flatnonzero(rows.values == value)
        if row == 7:
            assert reply == -1
        else:
            assert reply in game.symmetries.actions[:, rows.replies[row]]
    turned = {tuple(samples.replies[samples.values == rows.values[3]].tolist())}
    assert len(turned.pop()) > 1


def test_batches_are_drawn_ahead_in_their_order() -> None:
    drawn: list[int] = []

    def draw() -> int:
        drawn.append(len(drawn))
        return drawn[-1]

    assert list(drawn_ahead(draw, 7)) == list(range(7))
    assert len(drawn) == 7, "none too many: the dice of the next iteration depend on it"
    assert list(drawn_ahead(draw, 0)) == []
    for taken in drawn_ahead(draw, 50):
        if taken == 9:
            break
    assert len(drawn) <= 10 + BATCHES_AHEAD


def test_an_error_while_drawing_is_not_lost() -> None:
    def draw() -> int:
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        next(drawn_ahead(draw, 3))
