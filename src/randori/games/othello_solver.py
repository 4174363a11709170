"""Othello endgames solved: the exact difference in discs at the end, for the side to move.

Negamax over the two words of discs, with null windows behind the first move. Far from the end the
moves that leave the opponent fewest replies come first, and bounds are remembered; near it the
order is by parity alone: an odd region is where the last move can be had. Empty cells count for
nobody. 12 empties take milliseconds, 18 seconds, and each two more about ten times as long.
"""

import numpy as np
from numpy.typing import NDArray

from randori.games.game import Game
from randori.games.kernels import (
    U0,
    State,
    bit,
    lowest,
    mix,
    popcount,
    scratch,
    wide,
    without_lowest,
)
from randori.games.othello import CORNERS, FULL, MINE, THEIRS, flips, moves

SHALLOW = 5
"""Empty cells below which nothing is ordered by replies or remembered."""
PLACES = 1 << 20
"""Of the table: 18 MB."""
WORST = -128
"""Less than any score."""
NODES = 0
QUADRANTS = (U0, U0, U0, U0)
"""The four quarters of the board."""


def lead(mine: np.uint64, theirs: np.uint64) -> int:
    """Count my discs less theirs."""
    return popcount(mine) - popcount(theirs)


def odd_cells(empty: np.uint64) -> np.uint64:
    """The empty cells of quarters that have an odd number of them."""
    odd = U0
    for quarter in QUADRANTS:
        if popcount(empty & quarter) & 1:
            odd |= empty & quarter
    return odd


def finish(
    mine: np.uint64, theirs: np.uint64, alpha: int, beta: int, nodes: NDArray[np.int64]
) -> int:
    """Bound the score of a position with few empty cells."""
    nodes[NODES] += 1
    empty = FULL & ~(mine | theirs)
    odd = odd_cells(empty)
    best = WORST
    for part in (odd, empty & ~odd):
        left = part
        while left != U0:
            cell = lowest(left)
            left = without_lowest(left)
            caught = flips(cell, mine, theirs)
            if caught == U0:
                continue
            score = -finish(
                theirs & ~caught, mine | caught | bit(cell), -beta, -max(alpha, best), nodes
            )
            if score > best:
                best = score
                if best >= beta:
                    return best
    if best > WORST:
        return best
    if empty == U0 or moves(theirs, mine) == U0:
        return lead(mine, theirs)
    return -finish(theirs, mine, -beta, -alpha, nodes)


def negamax(
    mine: np.uint64,
    theirs: np.uint64,
    alpha: int,
    beta: int,
    keys: NDArray[np.uint64],
    bounds: NDArray[np.int8],
    nodes: NDArray[np.int64],
) -> int:
    """Bound the score of a position; exact if it lies between alpha and beta."""
    empty = FULL & ~(mine | theirs)
    if popcount(empty) <= SHALLOW:
        return finish(mine, theirs, alpha, beta, nodes)
    nodes[NODES] += 1
    left = moves(mine, theirs)
    if left == U0:
        if moves(theirs, mine) == U0:
            return lead(mine, theirs)
        return -negamax(theirs, mine, -beta, -alpha, keys, bounds, nodes)
    place = wide(mix(mix(U0, mine), theirs) & np.uint64(len(keys) - 1))
    is_known = keys[place, 0] == mine and keys[place, 1] == theirs
    low, high = (wide(bounds[place, 0]), wide(bounds[place, 1])) if is_known else (WORST, -WORST)
    alpha, beta = max(alpha, low), min(beta, high)
    if alpha >= beta:
        return low if low >= beta else high
    cells, ranks = scratch(64), scratch(64)
    count = sort_moves(mine, theirs, left, odd_cells(empty), cells, ranks)
    best = WORST
    for i in range(count):
        floor = max(alpha, best)
        caught = flips(wide(cells[i]), mine, theirs)
        after, other = theirs & ~caught, mine | caught | bit(wide(cells[i]))
        if i == 0 or floor + 1 >= beta:
            score = -negamax(after, other, -beta, -floor, keys, bounds, nodes)
        else:
            score = -negamax(after, other, -floor - 1, -floor, keys, bounds, nodes)
            if floor < score < beta:
                score = -negamax(after, other, -beta, -score, keys, bounds, nodes)
        best = max(best, score)
        if best >= beta:
            break
    remember(keys, bounds, place, mine, theirs, best if best > alpha else low,
             best if best < beta else high)  # fmt: skip
    return best


def sort_moves(
    mine: np.uint64,
    theirs: np.uint64,
    left: np.uint64,
    odd: np.uint64,
    cells: NDArray[np.uint64],
    ranks: NDArray[np.uint64],
) -> int:
    """Write the cells of `left` into `cells`, most promising first; return how many."""
    count = 0
    while left != U0:
        cell = lowest(left)
        left = without_lowest(left)
        caught = flips(cell, mine, theirs)
        replies = moves(theirs & ~caught, mine | caught | bit(cell))
        rank = 1024 - 8 * (popcount(replies) + popcount(replies & CORNERS))
        if CORNERS & bit(cell) != U0:
            rank += 12
        if odd & bit(cell) != U0:
            rank += 4
        at = count
        while at > 0 and ranks[at - 1] < np.uint64(rank):
            cells[at], ranks[at] = cells[at - 1], ranks[at - 1]
            at -= 1
        cells[at], ranks[at] = np.uint64(cell), np.uint64(rank)
        count += 1
    return count


def remember(
    keys: NDArray[np.uint64],
    bounds: NDArray[np.int8],
    place: int,
    mine: np.uint64,
    theirs: np.uint64,
    low: int,
    high: int,
) -> None:
    """Write what is now known of a position, in place of another one."""
    keys[place, 0], keys[place, 1] = mine, theirs
    bounds[place, 0], bounds[place, 1] = max(low, WORST), min(high, -WORST - 1)


class Solver:
    """Exact scores on one board size, with a table that it keeps."""

    def __init__(self, game: Game) -> None:
        size = game.board[0]
        half = size // 2
        quarters = [
            sum(1 << row * size + column for row in range(size) for column in range(size)
                if (row // half, column // half) == (y, x))
            for y in range(2) for x in range(2)
        ]  # fmt: skip
        masks = tuple(np.uint64(quarter) for quarter in quarters)
        self._game = game
        self._negamax = game.kernel(negamax, **game.constants, QUADRANTS=masks)
        self._keys = np.zeros((PLACES, 2), dtype=np.uint64)
        self._bounds = np.zeros((PLACES, 2), dtype=np.int8)
        self.nodes = np.zeros(1, dtype=np.int64)
        """How many positions were visited, ever."""

    def score(self, state: State) -> int:
        """Return the discs that the side to move will have more, with best play of both."""
        cells = self._game.board_cells
        mine, theirs = state[MINE], state[THEIRS]
        return int(self._negamax(mine, theirs, -cells, cells, self._keys, self._bounds, self.nodes))

    def scores(self, state: State) -> dict[int, int]:
        """Return the exact score of every legal move, for the side that plays it."""
        found = {}
        for action in self._game.legal_actions(state):
            after = state.copy()
            self._game.plain.play(after, action)
            found[action] = -self.score(after)
        return found
