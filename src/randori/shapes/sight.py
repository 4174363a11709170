"""What both sides see of a board, and room for boards that are only imagined: kernels' memory.

A side sees empty cells, its own stones and the opponent's (0, 1, 2); what it sees after its own
move is what its weights judge. Everything is kept for both sides at once, because each of them may
have weights of its own.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from randori.games.evaluation import find_evaluation
from randori.games.game import Game
from randori.shapes.tables import Tables

CELLS = 0
WIDTH = 0
"""Of the board; the game fills them in, and the next ones."""
CELL_WORDS = 0
HAS_HASHED = False
HAS_LIBERTIES = False

Weights = NDArray[np.float32]
Ids = NDArray[np.int32]


class Sight(NamedTuple):
    """What both sides see: axis 0 is the side."""

    cells: NDArray[np.int8]
    """[2, cells]"""
    codes: NDArray[np.int32]
    """[2, P] of the exact rectangles"""
    hashed: Ids
    """[2, P, 2] weights of the hashed rectangles"""
    liberties: Ids
    """[2, P, 2] weights of the liberty rectangles"""
    roots: NDArray[np.int16]
    """[cells] a stone of the same chain, the same for all its stones; -1 where there is none"""
    breath: NDArray[np.uint64]
    """[cells, words] the liberties of the chain that a root stands for"""


class Room(NamedTuple):
    """Memory for looking at moves that are not played."""

    changed: NDArray[np.int32]
    """[cells] the cells that a move changes"""
    kinds: NDArray[np.int8]
    """[cells] what they become, as the mover sees it"""
    shifts: NDArray[np.int32]
    """[P] by how much codes change; all 0 between two moves"""
    touched: NDArray[np.int32]
    marks: NDArray[np.int32]
    """[P] the number of the move for which a rectangle was last looked at"""
    cells: NDArray[np.int8]
    roots: NDArray[np.int16]
    breath: NDArray[np.uint64]
    queue: NDArray[np.int16]
    pair: Ids
    """[2] the weights of a rectangle"""
    exact_worth: NDArray[np.float64]
    """[P] what each rectangle adds to the sum now"""
    hashed_worth: NDArray[np.float64]
    liberty_worth: NDArray[np.float64]


def sizes(tables: Tables) -> tuple[int, int, int]:
    """Count the exact, the hashed and the liberty rectangles."""
    nets = tables.nets
    return len(nets.exact.base), len(nets.hashed.cells), len(nets.liberties.cells)


def make_sight(tables: Tables) -> Sight:
    """Allocate what `read_board` fills."""
    cells = tables.board[0] * tables.board[1]
    counts = sizes(tables)
    return Sight(
        np.zeros((2, cells), np.int8),
        np.zeros((2, counts[0]), np.int32),
        np.zeros((2, counts[1], 2), np.int32),
        np.zeros((2, counts[2], 2), np.int32),
        np.zeros(cells, np.int16),
        np.zeros((cells, -(-cells // 64)), np.uint64),
    )


def make_room(tables: Tables) -> Room:
    """Allocate memory for one board."""
    cells = tables.board[0] * tables.board[1]
    counts = sizes(tables)
    most = max(*counts, cells)
    return Room(
        np.zeros(cells, np.int32), np.zeros(cells, np.int8),
        np.zeros(counts[0], np.int32), np.zeros(most, np.int32), np.zeros(most + 1, np.int32),
        np.zeros(cells, np.int8), np.zeros(cells, np.int16),
        np.zeros((cells, -(-cells // 64)), np.uint64), np.zeros(cells, np.int16),
        np.zeros(2, np.int32),
        np.zeros(counts[0]), np.zeros(counts[1]), np.zeros(counts[2]),
    )  # fmt: skip


def holes(game: Game, tables: Tables) -> dict[str, Any]:
    """Return what all kernels over shapes leave open: the same for all, so that they share code."""
    cells = game.board_cells
    return {
        "evaluate": find_evaluation(game, None),
        "CELLS": cells,
        "WIDTH": game.board[1],
        "CELL_WORDS": -(-cells // 64),
        "HAS_HASHED": len(tables.nets.hashed.cells) > 0,
        "HAS_LIBERTIES": len(tables.nets.liberties.cells) > 0,
    }
