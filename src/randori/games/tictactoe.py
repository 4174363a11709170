"""Tic-tac-toe: three in a row on nine cells.

  a b c
1 0 1 2      The number of a cell is its action and its bit.
2 3 4 5
3 6 7 8
"""

import numpy as np
from numpy.typing import NDArray

from randori.games.game import Game
from randori.games.kernels import (
    DRAW,
    FIRST,
    ONGOING,
    SECOND,
    U1,
    Actions,
    State,
    bit,
    has,
)
from randori.games.look import Look, Stone
from randori.games.rules import Rules
from randori.games.symmetry import SQUARE, cell_symmetries

LINES = np.array([0o007, 0o070, 0o700, 0o111, 0o222, 0o444, 0o421, 0o124], dtype=np.uint64)
PLY, MINE, THEIRS = range(3)
"""Words of a state: stones of the side to move, then of the other side."""


def start(state: State) -> None:
    """Empty the board."""
    state[:] = 0


def outcome(state: State) -> int:
    """Only the side that has just moved can have a line."""
    theirs = state[THEIRS]
    for line in LINES:
        if theirs & line == line:
            return FIRST if state[PLY] & U1 else SECOND
    return DRAW if state[PLY] == np.uint64(9) else ONGOING


def legal(state: State, actions: Actions) -> int:
    """Every empty cell, until somebody has a line."""
    count = 0
    if outcome(state) == ONGOING:
        taken = state[MINE] | state[THEIRS]
        for cell in range(9):
            if not has(taken, cell):
                actions[count] = cell
                count += 1
    return count


def play(state: State, action: int) -> None:
    """Place a stone and turn the board to the other side."""
    mine = state[MINE] | bit(action)
    state[MINE] = state[THEIRS]
    state[THEIRS] = mine
    state[PLY] += U1


def planes(state: State, words: NDArray[np.uint64]) -> None:
    """My stones, their stones."""
    words[0] = state[MINE]
    words[1] = state[THEIRS]


def set_up(cells: str, side: int) -> State:
    """Read a board of x and o; x has moved first."""
    crosses, noughts = cells.count("x"), cells.count("o")
    if crosses - noughts != side:
        raise ValueError(f"{crosses} x and {noughts} o with {'xo'[side]} to move cannot be reached")
    stones = [sum(1 << i for i, glyph in enumerate(cells) if glyph == g) for g in "xo"]
    if any(stones[side] & line == line for line in LINES):
        raise ValueError(f"{'xo'[side]} has three in line and yet is to move")
    return np.array([crosses + noughts, stones[side], stones[1 - side]], dtype=np.uint64)


BLUE = Stone("#2a4d9b", "#2a4d9b", "#2a4d9b", "#d9962b", "cross")
RED = Stone("#b8322a", "#b8322a", "#b8322a", "#d9962b", "nought")
PAPER = Look(
    board=("#fdfbf4",), edge="#cfc8b4", grid="#8d9ab8", legal="#7fa66a", stones=(BLUE, RED),
    radius=18,
)  # fmt: skip


def game() -> Game:
    """Tic-tac-toe."""
    return Game(
        name="tictactoe",
        title="Tic-tac-toe",
        rules=Rules(start, legal, play, outcome, planes),
        can_repeat=False,
        num_actions=9, num_words=3, num_planes=2, shape=(3, 3), longest=9,
        symmetries=cell_symmetries(SQUARE, (3, 3), 2, 9),
        set_up=set_up,
        look=PAPER,
    )  # fmt: skip
