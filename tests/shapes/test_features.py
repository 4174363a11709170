"""Which weights are on: against cut-out rectangles in plain Python, and move by move."""

import numpy as np
import pytest

from randori.games.dice import Dice, below
from randori.games.kernels import ONGOING, U1, wide
from randori.games.registry import load_game
from randori.games.rules import legal, outcome, planes, play, start
from randori.shapes.features import clear, see
from randori.shapes.moves import add_weights, score_move
from randori.shapes.sets import parse_sets
from randori.shapes.sight import holes, make_room, make_sight
from randori.shapes.tables import board_turns, build_tables
from randori.shapes.td import make_memory
from randori.shapes.value import ShapeValue

GO = "go:size=5,komi=0.5"
SETS = "..3x3@ ..2x2+@ 3x3+ 4x3 4x3@ 5x5"


def value_of(spec: str, sets: str, seed: int = 0) -> ShapeValue:
    game = load_game(spec)
    tables = build_tables(parse_sets(sets), game.board, board_turns(game))
    theta = np.random.default_rng(seed).normal(size=tables.num_weights).astype(np.float32)
    theta[0] = 0
    return ShapeValue(game, tables, theta)


def random_states(game, count: int, seed: int) -> list:
    rng = np.random.default_rng(seed)
    found = []
    while len(found) < count:
        state = game.new_state()
        for _ in range(rng.integers(0, 60)):
            actions = game.legal_actions(state)
            if not actions:
                break
            game.plain.play(state, int(rng.choice(actions)))
        if game.legal_actions(state):
            found.append(state)
    return found


def test_weights_are_shared_by_images_and_by_nothing_else(reference) -> None:
    """Two rectangles have the same weight if, and for tables only if, their names are the same."""
    value = value_of(GO, SETS)
    names: dict = {}
    ids: dict = {}
    for state in random_states(value.game, 60, seed=1):
        active = value.active(state)
        for side in range(2):
            board = reference.board_of(value.game, state, side)
            for index, fact in enumerate(value.tables.facts):
                mine = active[side][value.tables.nets.slots == index]
                seen = reference.shapes(board, fact.set)
                assert len(mine) == len(seen) == fact.active
                for weight, name in zip(mine.tolist(), seen, strict=True):
                    assert fact.first <= weight < fact.first + fact.weights
                    assert names.setdefault((index, name), weight) == weight
                    if not fact.set.is_hashed:
                        assert ids.setdefault(weight, name) == name
    hashed = {key: weight for key, weight in names.items() if value.tables.sets[key[0]].is_hashed}
    assert len(hashed) > 2000
    assert len(set(hashed.values())) > 0.95 * len(hashed)


def test_images_and_the_other_colour_are_worth_the_same(reference) -> None:
    value = value_of(GO, SETS)
    game = value.game
    for state in random_states(game, 20, seed=2):
        side = int(state[0]) & 1
        board = reference.board_of(game, state, 0)
        twins = [(image, side) for image in squares(board)]
        other = [[(0, 2, 1)[cell] for cell in row] for row in board]
        twins += [(image, 1 - side) for image in squares(other)]
        states = np.array([set_up(game, *twin) for twin in twins])
        worth = value.values(states).astype(float)
        assert np.allclose(worth, worth[0], atol=1e-6)
        black = np.where([mover == 0 for _, mover in twins], (1 + worth) / 2, (1 - worth) / 2)
        assert np.allclose(black[8:], 1 - black[0], atol=1e-6)


def squares(board):
    """The eight images of a board."""
    for turned in (board, [list(row) for row in zip(*board, strict=True)]):
        for rows in (turned, turned[::-1]):
            yield rows
            yield [row[::-1] for row in rows]


def set_up(game, board, side):
    cells = "".join(".xo"[cell] for row in board for cell in row)
    return game.set_up(cells, side, "")


def follow(games: int, theta, nets, sight, room, fresh, other, memory, dice: Dice, faults) -> None:
    """Play at random; compare what is kept and foretold with what is found from scratch."""
    state, words = memory.state, memory.words
    for _ in range(games):
        start(state)
        planes(state, words)
        clear(nets, sight, room)
        see(nets, sight, room, words, 0)
        while outcome(state) == ONGOING:
            side = wide(state[0] & U1)
            planes(state, memory.before)
            count = legal(state, memory.actions)
            choice = memory.actions[below(dice, count)]
            total = add_weights(nets, theta, sight, side, room)
            foretold = score_move(
                nets, theta, sight, side, room, state, memory.before, choice, memory.after, words,
                total,
            )  # fmt: skip
            play(state, choice)
            planes(state, words)
            see(nets, sight, room, words, 1 - side)
            clear(nets, fresh, other)
            see(nets, fresh, other, words, 1 - side)
            for view in range(2):
                for p in range(sight.codes.shape[1]):
                    faults[0] += sight.codes[view, p] != fresh.codes[view, p]
                for lane in range(2):
                    for p in range(sight.hashed.shape[1]):
                        faults[1] += sight.hashed[view, p, lane] != fresh.hashed[view, p, lane]
                    for p in range(sight.liberties.shape[1]):
                        faults[2] += (
                            sight.liberties[view, p, lane] != fresh.liberties[view, p, lane]
                        )
            if outcome(state) == ONGOING:
                found = add_weights(nets, theta, fresh, side, other)
                faults[3] += abs(found - foretold) > 1e-9
            faults[4] += 1


def count_faults(spec: str, sets: str, games: int) -> list[int]:
    value = value_of(spec, sets)
    game, tables = value.game, value.tables
    faults = np.zeros(5, dtype=np.int64)
    kernel = value.sensible_game.kernel(follow, **holes(game, tables))  # shares compiled parts
    kernel(
        games, value.theta, tables.nets, make_sight(tables), make_room(tables),
        make_sight(tables), make_room(tables), make_memory(game, tables),
        np.array([7], dtype=np.uint64), faults,
    )  # fmt: skip
    return faults.tolist()


def test_what_is_kept_is_what_is_found_from_scratch() -> None:
    *faults, moves = count_faults(GO, SETS, 60)
    assert faults == [0, 0, 0, 0]
    assert moves > 2000


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spec", "sets", "games", "least"),
    [
        (GO, SETS, 4_000, 150_000),
        ("go:size=9", "..3x3@", 9_000, 1_000_000),
        ("go:size=9", "..2x2@ ..3x3+@", 500, 50_000),
        ("othello", "..3x3@", 1_000, 50_000),
        ("connect4", "..3x3@", 1_000, 15_000),
        ("choko", "..2x2@ 4x3", 200, 10_000),
    ],
)
def test_a_million_moves(spec: str, sets: str, games: int, least: int) -> None:
    *faults, moves = count_faults(spec, sets, games)
    assert faults == [0, 0, 0, 0]
    assert moves >= least
