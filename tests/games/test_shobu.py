"""Shobu against a naive implementation on a mailbox, and the positions of paper A."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from randori.errors import UserError
from randori.games import Position, load_game
from randori.games.captures import captures
from randori.games.rules import weigh
from randori.games.shobu import DIRECTIONS, MOST_LEGAL, MOVES

GAME = load_game("shobu")
VECTORS = dict(
    zip(DIRECTIONS, [(0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1)],
        strict=True)
)  # fmt: skip
Board = dict[tuple[int, int], str]
"""(file, rank) -> x or o, empty squares left out"""


def read(text: str) -> tuple[Board, str]:
    rows, side = text.split()
    lines = rows.split("/")
    board = {(c, 7 - r): g for r, line in enumerate(lines) for c, g in enumerate(line) if g != "."}
    return board, "xo"["bw".index(side)]


def name(square: tuple[int, int]) -> str:
    return f"{'abcdefgh'[square[0]]}{square[1] + 1}"


def way(square: tuple[int, int], vector: tuple[int, int], steps: int) -> list[tuple[int, int]]:
    """Return the squares up to `steps` steps on, cut off at the edge of the board of four."""
    found = []
    for step in range(1, steps + 1):
        x, y = square[0] + step * vector[0], square[1] + step * vector[1]
        if (x // 4, y // 4) != (square[0] // 4, square[1] // 4):
            break
        found.append((x, y))
    return found


def moves(board: Board, side: str) -> dict[str, Board]:
    """List the legal moves of a mailbox as texts, each with the board after it."""
    found = {}
    stones = [square for square, glyph in board.items() if glyph == side]
    home = 0 if side == "x" else 1
    for passive in stones:
        if passive[1] // 4 != home:
            continue
        for word, vector in VECTORS.items():
            for steps in (1, 2):
                path = way(passive, vector, steps)
                if len(path) < steps or any(square in board for square in path):
                    continue
                for aggressive in stones:
                    if aggressive[0] // 4 == passive[0] // 4:
                        continue
                    after = push(board, side, aggressive, vector, steps)
                    if after is not None:
                        del after[passive]
                        after[path[-1]] = side
                        text = f"{name(passive)}{name(aggressive)}{word}{'2' if steps == 2 else ''}"
                        found[text] = after
    return found


def push(
    board: Board, side: str, stone: tuple[int, int], vector: tuple[int, int], steps: int
) -> Board | None:
    path = way(stone, vector, steps)
    if len(path) < steps or any(board.get(square) == side for square in path):
        return None
    pushed = [square for square in path if square in board]
    beyond = way(stone, vector, steps + 1)[steps:]
    if len(pushed) > 1 or (pushed and beyond and beyond[0] in board):
        return None
    after = dict(board)
    del after[stone]
    for square in pushed:
        glyph = after.pop(square)
        if beyond:
            after[beyond[0]] = glyph
    after[path[-1]] = side
    return after


def has_lost(board: Board, side: str) -> bool:
    return len({(x // 4, y // 4) for (x, y), glyph in board.items() if glyph == side}) < 4


def compare(position: Position) -> dict[str, Board]:
    board, side = read(position.text())
    found = {} if has_lost(board, side) else moves(board, side)
    assert sorted(position.legal()) == sorted(found)
    return found


@settings(max_examples=40, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**6))
def test_random_placements_have_the_moves_of_the_mailbox(seed: int) -> None:
    rng = np.random.default_rng(seed)
    assert GAME.placements is not None
    for state in GAME.placements(rng, 3):
        position = Position(GAME, state)
        found = compare(position)
        move = str(rng.choice(sorted(found)))
        after = position.play(move)
        assert read(after.text())[0] == found[move]
        assert (after.outcome == position.to_move) == (
            has_lost(found[move], "ox"[position.ply % 2])
            or not moves(found[move], "ox"[position.ply % 2])
        )


@settings(max_examples=6, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**6))
def test_random_games_keep_step_with_the_mailbox(seed: int) -> None:
    rng = np.random.default_rng(seed)
    position, board = GAME.start(), read(GAME.start().text())[0]
    for _ in range(40):
        found = moves(board, "xo"[position.ply % 2])
        assert sorted(position.legal()) == sorted(found)
        move = str(rng.choice(sorted(found)))
        position, board = position.play(move), found[move]
        assert read(position.text())[0] == board


FACTS = [
    ("FIG_1B", 88, (11, 11), ["h3b6NW", "d1f5N2", "f1a1NE", "d1h5N2", "f3b6SE"]),
    ("BLACK_MATE_IN_1", 92, (12, 4), ["b2f6NE2"]),
    ("MATERIAL_ADVANTAGE", 125, (14, 8), ["b2e5NE2"]),
    ("PUSH_OPTIONS", 86, (9, 9), ["a1f1E2", "b3f1E2", "e2a5NE2"]),
]


@pytest.mark.parametrize(("position", "count", "stones", "legal"), FACTS)
def test_positions_of_the_paper(
    position: str, count: int, stones: tuple[int, int], legal: list[str]
) -> None:
    place = GAME.position(position)
    assert place.text() == GAME.positions[position]
    assert GAME.position(position.lower()) == place
    assert len(place.legal()) == count == len(compare(place))
    rows = place.text().split()[0]
    assert (rows.count("x"), rows.count("o")) == stones
    assert set(legal) <= set(place.legal())


def wins(position: Position) -> list[str]:
    return [move for move in position.legal() if position.play(move).outcome == position.to_move]


def test_figure_1b_takes_exactly_a7() -> None:
    before = GAME.position("FIG_1B")
    assert wins(before) == []
    after, _ = read(before.play("h3b6NW").text())
    assert set(read(before.text())[0]) - set(after) == {(7, 2), (1, 5)}
    assert captures_of(before, "h3b6NW") == 1
    pushed, _ = read(before.play("f1a1NE").text())
    assert pushed[(2, 2)] == "o"
    assert captures_of(before, "f1a1NE") == 0


def captures_of(position: Position, move: str) -> int:
    return GAME.uncompiled(captures)(position.state, position.play(move).state)


def test_one_move_mates() -> None:
    assert wins(GAME.position("BLACK_MATE_IN_1")) == ["b2f6NE2"]


def test_one_move_forces_mate_in_two() -> None:
    start = GAME.position("MATERIAL_ADVANTAGE")
    assert wins(start) == []
    after = start.play("b2e5NE2")
    replies = [after.play(reply) for reply in after.legal()]
    assert len(replies) == 29
    assert all(wins(reply) for reply in replies)
    for move in start.legal()[::25]:
        other = start.play(move)
        assert any(not wins(other.play(reply)) for reply in other.legal()[::5])


def test_pushes_take_stones() -> None:
    start = GAME.position("PUSH_OPTIONS")
    taking = [move for move in start.legal() if captures_of(start, move)]
    assert sorted(taking) == ["a1f1E2", "b3f1E2", "e2b3NE", "f1b3NE"]
    white = GAME.position(start.text()[:-1] + "w")
    assert [m for m in white.legal() if captures_of(white, m) and "a2S" in m] == ["h6a2S", "g6a2S"]


def test_a_side_without_a_move_loses() -> None:
    """Black's stones at home are shut in, so that nothing can make the passive half of a move."""
    text = "x...x.../.o...o../......../......../......../......../oo....oo/xo....ox b"
    shut_in = GAME.position(text)
    assert compare(shut_in) == {}
    assert (shut_in.outcome, shut_in.legal()) == ("second", [])
    assert GAME.position(text[:-1] + "w").outcome is None


def test_the_cap_draws() -> None:
    position = load_game("shobu:cap=3").start()
    for _ in range(3):
        assert position.outcome is None
        position = position.play(position.actions()[0])
    assert position.outcome == "draw"
    assert position.legal() == []


def test_no_placement_has_more_moves_than_the_bound() -> None:
    """Each board counts for itself: stones of the opponent can only take moves away."""
    subsets = [set(s) for k in range(5) for s in combinations(range(16), k)]
    counts = np.zeros((len(subsets), 16), dtype=np.int64)
    for row, stones in enumerate(subsets):
        for kind, (vector, steps) in enumerate((v, n) for v in VECTORS.values() for n in (1, 2)):
            for stone in stones:
                path = way((stone % 4, stone // 4), vector, steps)
                free = len(path) == steps and all(x + 4 * y not in stones for x, y in path)
                counts[row, kind] += free
    pairs = counts @ counts.T  # passive stones of one board with aggressive ones of another
    best = pairs.max(axis=1)
    assert (pairs + pairs.T + best[:, None] + best[None, :]).max() == MOST_LEGAL


def test_actions_are_the_geometrically_possible_moves() -> None:
    assert len(MOVES) == GAME.num_actions == 4880 == 16 * (12**2 + 9**2 + 8**2 + 4**2)
    assert len(set(map(tuple, MOVES.tolist()))) == 4880
    assert GAME.factor_sizes == (2 * 132, 4 * 132)
    assert len(set(map(tuple, GAME.factors.tolist()))) == 4880
    assert len(GAME.symmetries) == 16


def weigh_all(
    states: NDArray[np.uint64], actions: NDArray[np.int32], logits: NDArray[np.float32],
    odds: NDArray[np.float32], counts: NDArray[np.int32],
) -> None:  # fmt: skip
    for i in range(len(states)):
        counts[i] = weigh(states[i], actions[i], logits, odds[i])


def test_weigh_is_legal_with_the_sums_of_logits() -> None:
    """Compiled, to the last bit, as the rules of a game that knows no better."""
    assert GAME.placements is not None
    states = GAME.placements(np.random.default_rng(2), 1000)
    logits = np.random.default_rng(3).normal(0, 3, GAME.num_logits).astype(np.float32)
    plain = replace(GAME, rules=GAME.rules._replace(weigh=weigh))
    told = []
    for game in (GAME, plain):
        actions = np.zeros((len(states), GAME.num_actions), dtype=np.int32)
        odds, counts = np.zeros(actions.shape, np.float32), np.zeros(len(states), np.int32)
        game.kernel(weigh_all)(states, actions, logits, odds, counts)
        told.append([(actions[i, :n].tolist(), odds[i, :n].tolist()) for i, n in enumerate(counts)])
    assert told[0] == told[1]
    assert max(len(moves) for moves, _ in told[0]) > 150


def test_branching_of_random_placements() -> None:
    assert GAME.placements is not None
    states = GAME.placements(np.random.default_rng(1), 4000)
    scratch = np.zeros(MOST_LEGAL, dtype=np.int32)
    counts = [GAME.plain.num_legal(state, scratch) for state in states]
    assert abs(np.mean(counts) - 62.10) < 3 * 29.7 / np.sqrt(len(counts))


WRONG = [
    ("oooooooo/......../......../xxxxxxxx/oooooooo/......../......../xxxxxxx b",
     "row 1 has 7 cells instead of 8: 'xxxxxxx'"),
    ("ooooooooo/......../......../xxxxxxxx/oooooooo/......../......../xxxxxxxx b",
     "row 8 has 9 cells instead of 8: 'ooooooooo'"),
    ("oooooooo/......../......../xxxxxxxx/oooooooo/...z..../......../xxxxxxxx b",
     "row 3, d3: 'z' is none of x o ."),
    ("oooooooo/o......./......../xxxxxxxx/oooooooo/......../......../xxxxxxxx b",
     "5 o on the upper left board; a side has at most 4 there"),
    ("....oooo/......../......../xxxxxxxx/oooooooo/......../......../xxxxxxxx b",
     "no o on the upper left board: o has lost, and must be to move"),
    ("oooooooo/......../......../xxxxxxxx/oooooooo/......../......../xxxxxxxx q",
     "expected the side to move (b or w) behind the rows, found 'q'"),
    ("PUSH_OPTION", "this game reads rows and names; did you mean 'PUSH_OPTIONS'?"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), WRONG)
def test_wrong_positions(text: str, message: str) -> None:
    with pytest.raises(UserError) as caught:
        GAME.position(text)
    assert str(caught.value) == f"shobu position {text!r}: {message}"


def test_a_lost_position_can_be_set_up() -> None:
    rows = "oooooooo/......../......../....xxxx/oooooooo/......../......../xxxxxxxx"
    lost = GAME.position(f"{rows} b")
    assert (lost.outcome, lost.legal()) == ("second", [])
