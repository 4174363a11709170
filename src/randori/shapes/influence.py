"""Influence: every stone counts for its surroundings, less with every step away from it.

A stone counts as much as its chain has liberties, up to `STRONG`: so that stones about to be taken
hold nothing.
"""

import numpy as np
from numpy.typing import NDArray

from randori.games.game import Game
from randori.games.kernels import State, bit, has, scratch, wide
from randori.games.rules import INPUT_WORDS, STONE_WORDS, planes
from randori.shapes.sensible import Evaluation, bound

WIDTH, CELLS = 0, 1
"""Of the board; `influence_of` fills them in."""
REACH = 6
"""Steps after which a stone counts no more; each halves what it counts."""
STRONG = 4
POINT = 100


def stone_at(words: NDArray[np.uint64], cell: int) -> int:
    """Return 1 for a stone of the mover, −1 for its opponent's, 0 for neither."""
    if has(words[cell >> 6], cell & 63):
        return 1
    return -1 if has(words[STONE_WORDS + (cell >> 6)], cell & 63) else 0


def strength(words: NDArray[np.uint64], cell: int) -> int:
    """Count the liberties of the chain at a cell, as far as `STRONG`."""
    seen, queue = scratch(INPUT_WORDS), scratch(CELLS)
    seen[cell >> 6] |= bit(cell & 63)
    queue[0] = np.uint64(cell)
    head, tail, liberties = 0, 1, 0
    while head < tail and liberties < STRONG:
        at = wide(queue[head])
        head += 1
        for direction in range(4):
            other = at + (1, -1, WIDTH, -WIDTH)[direction]
            if other < 0 or other >= CELLS or (direction < 2 and other // WIDTH != at // WIDTH):
                continue
            if has(seen[other >> 6], other & 63):
                continue
            stone = stone_at(words, other)
            if stone == 0:
                liberties += 1
            elif stone == stone_at(words, cell):
                queue[tail] = np.uint64(other)
                tail += 1
            else:
                continue
            seen[other >> 6] |= bit(other & 63)
    return min(liberties, STRONG)


def influence(state: State) -> int:
    """Count the points where the mover's stones outweigh its opponent's, less the others."""
    words, mine, theirs = scratch(INPUT_WORDS), scratch(CELLS), scratch(CELLS)
    planes(state, words)
    for cell in range(CELLS):
        stone = stone_at(words, cell)
        if stone == 0:
            continue
        force = np.uint64(strength(words, cell))
        for other in range(CELLS):
            steps = abs(cell // WIDTH - other // WIDTH) + abs(cell % WIDTH - other % WIDTH)
            if steps <= REACH:
                weight = force << np.uint64(REACH - steps)
                if stone > 0:
                    mine[other] += weight
                else:
                    theirs[other] += weight
    lead = 0
    for cell in range(CELLS):
        lead += wide(mine[cell] > theirs[cell]) - wide(mine[cell] < theirs[cell])
    return POINT * lead


def influence_of(game: Game) -> Evaluation:
    """Return the evaluation for the board of a game."""
    facts = {"WIDTH": game.board[1], "CELLS": game.board_cells}
    return bound(influence, strength=bound(strength, **facts), **facts)
