"""Permutation tables: how a position and its moves look after a turn or a reflection of the board.

A symmetry is two permutations. `inputs[s, i]` is where bit i of the planes goes (plane-major, then
row-major cells); `actions[s, a]` is the move that a becomes. Symmetry 0 is the identity.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from randori.games.kernels import has

Table = NDArray[np.int32]
Turn = Callable[[int, int, int, int], tuple[int, int]]
"""(row, column, height, width) -> where that cell goes."""


def identity(r: int, c: int, h: int, w: int) -> tuple[int, int]:
    """Leave the board as it is."""
    return r, c


def mirror(r: int, c: int, h: int, w: int) -> tuple[int, int]:
    """Swap left and right."""
    return r, w - 1 - c


def flip(r: int, c: int, h: int, w: int) -> tuple[int, int]:
    """Swap top and bottom."""
    return h - 1 - r, c


def half_turn(r: int, c: int, h: int, w: int) -> tuple[int, int]:
    """Turn by 180 degrees."""
    return h - 1 - r, w - 1 - c


def transpose(r: int, c: int, h: int, w: int) -> tuple[int, int]:
    """Swap rows and columns."""
    return c, r


def antitranspose(r: int, c: int, h: int, w: int) -> tuple[int, int]:
    """Reflect in the other diagonal."""
    return w - 1 - c, h - 1 - r


def quarter_turn(r: int, c: int, h: int, w: int) -> tuple[int, int]:
    """Turn by 90 degrees."""
    return c, h - 1 - r


def three_quarter_turn(r: int, c: int, h: int, w: int) -> tuple[int, int]:
    """Turn by 270 degrees."""
    return w - 1 - c, r


SQUARE: tuple[Turn, ...] = (
    identity, mirror, flip, half_turn, transpose, antitranspose, quarter_turn, three_quarter_turn,
)  # fmt: skip
"""All eight of a square board."""


@dataclass(frozen=True)
class Symmetries:
    """The tables of a game."""

    inputs: Table
    """[S, planes * cells]"""
    actions: Table
    """[S, A]"""

    def __len__(self) -> int:
        return len(self.actions)


NO_SYMMETRIES = Symmetries(np.zeros((0, 0), np.int32), np.zeros((0, 0), np.int32))


def cell_map(turn: Turn, shape: tuple[int, int]) -> Table:
    """Tabulate `turn` over the cells of a board, row by row."""
    height, width = shape
    places = (turn(r, c, height, width) for r in range(height) for c in range(width))
    return np.array([r * width + c for r, c in places], dtype=np.int32)


def cell_symmetries(
    turns: Iterable[Turn], shape: tuple[int, int], num_planes: int, num_actions: int
) -> Symmetries:
    """Tabulate `turns` for a game whose action i < cells is a move on cell i; others stay put."""
    return symmetries(turns, shape, num_planes, num_actions, lambda cells: cells)


def no_turns(shape: tuple[int, int], num_planes: int, num_actions: int) -> Symmetries:
    """Tabulate the identity alone, whatever the actions of the game are."""
    return symmetries([identity], shape, num_planes, num_actions, lambda cells: cells[:0])


def symmetries(
    turns: Iterable[Turn],
    shape: tuple[int, int],
    num_planes: int,
    num_actions: int,
    action_map: Callable[[Table], Table],
) -> Symmetries:
    """Tabulate `turns`; `action_map` turns a cell table into the table of the first actions."""
    cells = shape[0] * shape[1]
    inputs, actions = [], []
    for turn in turns:
        table = cell_map(turn, shape)
        inputs.append(np.concatenate([table + plane * cells for plane in range(num_planes)]))
        moved = np.arange(num_actions, dtype=np.int32)
        front = action_map(table)
        moved[: len(front)] = front
        actions.append(moved)
    return Symmetries(np.array(inputs, dtype=np.int32), np.array(actions, dtype=np.int32))


def turn_planes(
    words: NDArray[np.uint64],
    used: int,
    places: NDArray[np.int32],
    plane_cells: int,
    out: NDArray[np.uint64],
) -> None:
    """Kernel: write packed planes as they look when bit i goes to ``places[i]``."""
    plane_words = (plane_cells + 63) // 64
    for w in range(used):
        out[w] = 0
    for w in range(used):
        word = words[w]
        plane, first = w // plane_words, 64 * (w % plane_words)
        for i in range(min(64, plane_cells - first)):
            if has(word, i):
                to = places[plane * plane_cells + first + i]
                cell = to % plane_cells
                place = to // plane_cells * plane_words + cell // 64
                out[place] |= np.uint64(1) << np.uint64(cell % 64)


def turned_logits(actions: Table, factors: Table, num_logits: int) -> Table | None:
    """Tabulate where each logit goes, [S, P], or None where moves turn but their factors do not.

    The factors of a turned move must be the turned factors of the move.
    """
    table = np.full((len(actions), num_logits), -1, dtype=np.int32)
    for turn, moved in enumerate(actions):
        table[turn, factors] = factors[moved]
        if not np.array_equal(table[turn, factors], factors[moved]):
            return None
    identity_row = np.arange(num_logits, dtype=np.int32)
    return np.where(table < 0, identity_row, table)
