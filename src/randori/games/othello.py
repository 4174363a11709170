"""Othello: outflank and turn; more discs win. Also Reversi's small boards of 4 and 6.

  a  b  c  d  e  f  g  h
1 0  1  2  3  4  5  6  7       A cell is row * size + column, row 0 at the top: its action and
2 8  9 10 ..                   its bit. Action size² is the pass, legal only when nothing else
.                              is. Black (x) moves first: black d5 e4, white d4 e5.
8                       63
"""

import re
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from randori.games.game import ExactSolver, Game
from randori.games.kernels import (
    DRAW,
    FIRST,
    ONGOING,
    SECOND,
    U0,
    U1,
    Actions,
    Bindings,
    State,
    bit,
    lowest,
    popcount,
    specialise,
    without_lowest,
)
from randori.games.look import Look, Stone
from randori.games.rules import Rules
from randori.games.symmetry import SQUARE, cell_symmetries

SIZE = 8
EAST, SOUTH_WEST, SOUTH, SOUTH_EAST = np.uint64(1), np.uint64(7), np.uint64(8), np.uint64(9)
"""Steps from a cell to its neighbours; the other four go back."""
FULL = np.uint64(0xFFFFFFFFFFFFFFFF)
NOT_LEFT = np.uint64(0xFEFEFEFEFEFEFEFE)
"""All cells but column a."""
NOT_RIGHT = np.uint64(0x7F7F7F7F7F7F7F7F)
"""All cells but the last column."""
START_MINE = np.uint64(1 << 28 | 1 << 35)
START_THEIRS = np.uint64(1 << 27 | 1 << 36)
START_MOVES = np.uint64(1 << 19 | 1 << 26 | 1 << 37 | 1 << 44)
CORNERS = np.uint64(0x8100000000000081)
BESIDE = np.uint64(0x42C300000000C342)
"""The neighbours of corners."""
EDGES = np.uint64(0x3C0081818181003C)
"""The edges without corners and their neighbours."""
PLY, MINE, THEIRS, MOVES = range(4)
"""Words of a state: discs of the side to move, of the other side, and where the mover may play."""


def ray(mine: np.uint64, theirs: np.uint64, step: np.uint64) -> np.uint64:
    """Cells that outflank `theirs` along one line, both ways; `theirs` is cut at the edge."""
    ahead = (mine << step) & theirs
    back = (mine >> step) & theirs
    for _ in range(SIZE - 3):
        ahead |= (ahead << step) & theirs
        back |= (back >> step) & theirs
    return (ahead << step) | (back >> step)


def moves(mine: np.uint64, theirs: np.uint64) -> np.uint64:
    """All empty cells where `mine` turns at least one disc."""
    inner = theirs & NOT_LEFT & NOT_RIGHT
    found = ray(mine, inner, EAST) | ray(mine, inner, SOUTH_WEST) | ray(mine, inner, SOUTH_EAST)
    return (found | ray(mine, theirs, SOUTH)) & ~(mine | theirs) & FULL


def turned(disc: np.uint64, mine: np.uint64, theirs: np.uint64, step: np.uint64) -> np.uint64:
    """Discs of `theirs` between `disc` and another of `mine` along one line, both ways."""
    ahead = (disc << step) & theirs
    back = (disc >> step) & theirs
    for _ in range(SIZE - 3):
        ahead |= (ahead << step) & theirs
        back |= (back >> step) & theirs
    flips = U0
    if (ahead << step) & mine != U0:
        flips |= ahead
    if (back >> step) & mine != U0:
        flips |= back
    return flips


def flips(cell: int, mine: np.uint64, theirs: np.uint64) -> np.uint64:
    """All discs that a move on `cell` turns."""
    disc = bit(cell)
    inner = theirs & NOT_LEFT & NOT_RIGHT
    return (
        turned(disc, mine, inner, EAST)
        | turned(disc, mine, inner, SOUTH_WEST)
        | turned(disc, mine, inner, SOUTH_EAST)
        | turned(disc, mine, theirs, SOUTH)
    )


def start(state: State) -> None:
    """Set four discs."""
    state[PLY] = 0
    state[MINE] = START_MINE
    state[THEIRS] = START_THEIRS
    state[MOVES] = START_MOVES


def outcome(state: State) -> int:
    """Over when neither side can move; more discs win."""
    if state[MOVES] != U0 or moves(state[THEIRS], state[MINE]) != U0:
        return ONGOING
    lead = popcount(state[MINE]) - popcount(state[THEIRS])
    if lead == 0:
        return DRAW
    return FIRST if (lead > 0) == (state[PLY] & U1 == U0) else SECOND


def legal(state: State, actions: Actions) -> int:
    """Every outflanking cell; else the pass, unless the game is over."""
    left = state[MOVES]
    if left == U0:
        actions[0] = SIZE * SIZE
        return 1 if moves(state[THEIRS], state[MINE]) != U0 else 0
    count = 0
    while left != U0:
        actions[count] = lowest(left)
        left = without_lowest(left)
        count += 1
    return count


def play(state: State, action: int) -> None:
    """Place a disc and turn what it outflanks, or pass; then the board is the other side's."""
    mine, theirs = state[MINE], state[THEIRS]
    if action < SIZE * SIZE:
        caught = flips(action, mine, theirs)
        mine |= caught | bit(action)
        theirs &= ~caught
    state[MINE] = theirs
    state[THEIRS] = mine
    state[MOVES] = moves(theirs, mine)
    state[PLY] += U1


def material(state: State) -> int:
    """Count discs."""
    return 100 * (popcount(state[MINE]) - popcount(state[THEIRS]))


def mobility(state: State) -> int:
    """Compare the moves of both sides, and corners above all."""
    return corner_lead(state) + 30 * move_lead(state)


def positional(state: State) -> int:
    """Value corners, edges and moves, and fear the cells beside empty corners."""
    mine, theirs = state[MINE], state[THEIRS]
    edges = popcount(mine & EDGES) - popcount(theirs & EDGES)
    taken = (mine | theirs) & CORNERS
    risky = BESIDE & ~beside(taken)
    risk = popcount(mine & risky) - popcount(theirs & risky)
    return corner_lead(state) + 30 * move_lead(state) + 50 * edges - 200 * risk


def move_lead(state: State) -> int:
    """Count my moves less theirs."""
    return popcount(state[MOVES]) - popcount(moves(state[THEIRS], state[MINE]))


def corner_lead(state: State) -> int:
    """Value a corner like eight discs."""
    return 800 * (popcount(state[MINE] & CORNERS) - popcount(state[THEIRS] & CORNERS))


def beside(cells: np.uint64) -> np.uint64:
    """All neighbours of these cells."""
    rows = cells | ((cells & NOT_RIGHT) << EAST) | ((cells & NOT_LEFT) >> EAST)
    return (rows | rows << SOUTH | rows >> SOUTH) & FULL & ~cells


def margin(state: State) -> float:
    """Count the first player's discs less the second's."""
    lead = popcount(state[MINE]) - popcount(state[THEIRS])
    return lead if int(state[PLY]) % 2 == 0 else -lead


def planes(state: State, words: NDArray[np.uint64]) -> None:
    """My discs, their discs."""
    words[0] = state[MINE]
    words[1] = state[THEIRS]


BLACK = Stone("#23262b", "#08090a", "#9aa1ab", "#f6f3ea", "disc")
WHITE = Stone("#fafaf5", "#6f746c", "#ffffff", "#c8321f", "disc")
FELT = Look(
    board=("#2a8a57",), edge="#12452b", grid="#0d3622", legal="#9fe0a8", stones=(BLACK, WHITE)
)


def _points(size: int) -> tuple[tuple[int, int], ...]:
    """Dot the crossings two lines from the edges; a board of 4 has no room for them."""
    ends = (2, size - 2) if size > 4 else ()
    return tuple((row, column) for row in ends for column in ends)


MOVE = re.compile("([a-h][1-8])|--|pass|ps", re.ASCII | re.IGNORECASE)
"""A move in a line of moves: a cell, or one of the ways to write a pass."""


def split_moves(line: str) -> list[str]:
    """Cut ``f5d6C3--`` into its moves."""
    found, place = [], 0
    while place < len(line):
        move = MOVE.match(line, place)
        if move is None:
            there = line[place : place + 2]
            raise ValueError(f"character {place + 1}: {there!r} is neither a cell nor a pass (--)")
        found.append(move[1].lower() if move[1] else "pass")
        place = move.end()
    return found


def solver(game: Game) -> ExactSolver:
    """Make the exact solver of endgames."""
    from randori.games.othello_solver import Solver  # it needs the constants of this file

    return Solver(game)


def game(size: int = 8) -> Game:
    """Othello on a square board of 4, 6 or 8."""
    if size not in (4, 6, 8):
        raise ValueError(f"size is 4, 6 or 8, not {size}")
    cells = size * size
    middle = (size // 2 - 1) * (size + 1)
    mine, theirs = 1 << middle + 1 | 1 << middle + size, 1 << middle | 1 << middle + size + 1
    ends = (0, size - 1)
    corners = {row * size + column for row in ends for column in ends}
    by_corners = {
        i for i in range(cells) for c in corners
        if i != c and abs(i // size - c // size) <= 1 and abs(i % size - c % size) <= 1
    }  # fmt: skip
    constants: dict[str, Any] = {
        "SIZE": size,
        "SOUTH_WEST": np.uint64(size - 1),
        "SOUTH": np.uint64(size),
        "SOUTH_EAST": np.uint64(size + 1),
        "FULL": np.uint64((1 << cells) - 1),
        "NOT_LEFT": np.uint64(sum(1 << i for i in range(cells) if i % size != 0)),
        "NOT_RIGHT": np.uint64(sum(1 << i for i in range(cells) if i % size != size - 1)),
        "CORNERS": np.uint64(sum(1 << i for i in corners)),
        "BESIDE": np.uint64(sum(1 << i for i in by_corners)),
        "EDGES": np.uint64(
            sum(
                1 << i
                for i in range(cells)
                if i not in corners | by_corners
                and (i % size in (0, size - 1) or i // size in (0, size - 1))
            )
        ),
        "START_MINE": np.uint64(mine),
        "START_THEIRS": np.uint64(theirs),
    }
    find_moves = specialise(moves, Bindings("othello", globals(), constants), compiled=False)
    constants["START_MOVES"] = find_moves(constants["START_MINE"], constants["START_THEIRS"])

    def set_up(board: str, side: int) -> State:
        discs = [sum(1 << i for i, glyph in enumerate(board) if glyph == g) for g in "xo"]
        mine, theirs = np.uint64(discs[side]), np.uint64(discs[1 - side])
        ply = max(0, cells - board.count(".") - 4)
        ply += (ply ^ side) & 1
        return np.array([ply, mine, theirs, find_moves(mine, theirs)], dtype=np.uint64)

    def obf(state: State) -> str:
        side = int(state[PLY]) & 1
        black, white = (int(state[MINE + (side ^ colour)]) for colour in range(2))
        discs = ("X" if black >> i & 1 else "O" if white >> i & 1 else "-" for i in range(cells))
        return f"{''.join(discs)} {'XO'[side]};"

    return Game(
        name="othello",
        title="Othello",
        rules=Rules(start, legal, play, outcome, planes),
        constants=constants,
        evaluations={"positional": positional, "mobility": mobility, "material": material},
        pass_action=cells,
        can_repeat=False,
        solver=solver,
        solvable=18,
        num_actions=cells + 1, num_words=4, num_planes=2, shape=(size, size),
        longest=2 * (cells - 4),
        symmetries=cell_symmetries(SQUARE, (size, size), 2, cells + 1),
        split_moves=split_moves,
        set_up=set_up,
        margin=margin,
        formats={"obf": obf},
        look=replace(FELT, points=_points(size)),
    )  # fmt: skip
