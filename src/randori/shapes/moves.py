"""One-ply search over a sum of shape weights: parts of kernels.

The sum after a move is the sum now plus what changes in the rectangles that the move touches,
captures included, so no move is evaluated from scratch. Sums are in double precision: that of
single precision weights is exact, and moves that are images of each other tie as they should.
"""

import numpy as np
from numpy.typing import NDArray

from randori.games.dice import Dice, below
from randori.games.kernels import (
    DRAW,
    FIRST,
    ONGOING,
    U0,
    Actions,
    State,
    has,
    lowest,
    wide,
    without_lowest,
)  # fmt: skip
from randori.games.rules import STATE_WORDS, STONE_WORDS, outcome, planes, play
from randori.shapes.hashing import hash_shape, imagine, touch_liberties
from randori.shapes.sight import HAS_HASHED, HAS_LIBERTIES, Room, Sight, Weights
from randori.shapes.tables import Hashed, Nets

WON = 1e6
"""The sum of a finished game."""


def add_weights(nets: Nets, theta: Weights, sight: Sight, side: int, room: Room) -> float:
    """Sum the weights that are on as a side sees the board, and note each rectangle's share."""
    exact = nets.exact
    total = 0.0
    for p in range(len(exact.base)):
        row = exact.base[p] + sight.codes[side, p]
        worth = np.float64(theta[exact.ids[row, 0]]) + np.float64(theta[exact.ids[row, 1]])
        room.exact_worth[p] = worth
        total += worth
    if HAS_HASHED:
        for p in range(len(nets.hashed.cells)):
            ids = sight.hashed[side, p]
            room.hashed_worth[p] = np.float64(theta[ids[0]]) + np.float64(theta[ids[1]])
            total += room.hashed_worth[p]
    if HAS_LIBERTIES:
        for p in range(len(nets.liberties.cells)):
            ids = sight.liberties[side, p]
            room.liberty_worth[p] = np.float64(theta[ids[0]]) + np.float64(theta[ids[1]])
            total += room.liberty_worth[p]
    return total


def find_changes(before: NDArray[np.uint64], after: NDArray[np.uint64], room: Room) -> int:
    """List the cells that a move changed; both are planes of whoever was to move there."""
    count = 0
    for word in range(STONE_WORDS):
        mine, theirs = after[STONE_WORDS + word], after[word]
        left = (mine ^ before[word]) | (theirs ^ before[STONE_WORDS + word])
        while left != U0:
            place = lowest(left)
            left = without_lowest(left)
            room.changed[count] = 64 * word + place
            room.kinds[count] = 1 if has(mine, place) else (2 if has(theirs, place) else 0)
            count += 1
    return count


def exact_gain(
    nets: Nets, theta: Weights, sight: Sight, side: int, room: Room, count: int
) -> float:
    """Return by how much `count` changes raise the sum of the exact rectangles."""
    exact, codes, cells = nets.exact, sight.codes[side], sight.cells[side]
    gain = 0.0
    if count == 1:
        cell = room.changed[0]
        step = wide(room.kinds[0]) - wide(cells[cell])
        for t in range(exact.starts[cell], exact.starts[cell + 1]):
            p = exact.around[t]
            row = exact.base[p] + codes[p] + step * exact.powers[t]
            gain += np.float64(theta[exact.ids[row, 0]]) + np.float64(theta[exact.ids[row, 1]])
            gain -= room.exact_worth[p]
        return gain
    touched = 0
    for i in range(count):
        cell = room.changed[i]
        step = wide(room.kinds[i]) - wide(cells[cell])
        for t in range(exact.starts[cell], exact.starts[cell + 1]):
            p = exact.around[t]
            if room.shifts[p] == 0:  # no digits add up to 0, so that this is the first time
                room.touched[touched] = p
                touched += 1
            room.shifts[p] += step * exact.powers[t]
    for i in range(touched):
        p = room.touched[i]
        row = exact.base[p] + codes[p] + room.shifts[p]
        gain += np.float64(theta[exact.ids[row, 0]]) + np.float64(theta[exact.ids[row, 1]])
        gain -= room.exact_worth[p]
        room.shifts[p] = 0
    return gain


def hashed_gain(
    nets: Nets, theta: Weights, sight: Sight, side: int, room: Room, count: int
) -> float:
    """Return by how much `count` changes raise the sum of the hashed rectangles."""
    imagine(sight, side, room, count)
    gain = 0.0
    if HAS_HASHED:
        table = nets.hashed
        touched = 0
        for i in range(count):
            cell = room.changed[i]
            for t in range(table.starts[cell], table.starts[cell + 1]):
                p = table.around[t]
                if room.marks[p] == 0:
                    room.marks[p] = 1
                    room.touched[touched] = p
                    touched += 1
        gain += rehash(table, theta, room, room.hashed_worth, touched)
    if HAS_LIBERTIES:
        touched = touch_liberties(nets, sight, side, room)
        gain += rehash(nets.liberties, theta, room, room.liberty_worth, touched)
    return gain


def rehash(
    table: Hashed, theta: Weights, room: Room, worth: NDArray[np.float64], touched: int
) -> float:
    """Return what changes in the rectangles on the list, and empty it."""
    gain = 0.0
    for i in range(touched):
        p = room.touched[i]
        room.marks[p] = 0
        hash_shape(table, p, room.cells, room.roots, room.breath, room.pair)
        gain += np.float64(theta[room.pair[0]]) + np.float64(theta[room.pair[1]]) - worth[p]
    return gain


def score_move(
    nets: Nets, theta: Weights, sight: Sight, side: int, room: Room,
    state: State, before: NDArray[np.uint64], action: int, after: State, words: NDArray[np.uint64],
    total: float,
) -> float:  # fmt: skip
    """Return the mover's sum after a move, `total` being that before; the end counts as it is.

    `before` are the planes of `state`; `after` and `words` are room for those after the move.
    """
    for word in range(STATE_WORDS):
        after[word] = state[word]
    play(after, action)
    result = outcome(after)
    if result != ONGOING:
        return 0.0 if result == DRAW else (WON if (result == FIRST) == (side == 0) else -WON)
    planes(after, words)
    count = find_changes(before, words, room)
    gain = exact_gain(nets, theta, sight, side, room, count)
    if (HAS_HASHED or HAS_LIBERTIES) and count > 0:
        gain += hashed_gain(nets, theta, sight, side, room, count)
    return total + gain


def best_move(
    nets: Nets, theta: Weights, sight: Sight, side: int, room: Room,
    state: State, before: NDArray[np.uint64], actions: Actions, count: int,
    after: State, words: NDArray[np.uint64], dice: Dice,
) -> int:  # fmt: skip
    """Return the index of the move after which the mover's sum is largest; equals by lot."""
    total = add_weights(nets, theta, sight, side, room)
    best, ties, choice = 0.0, 0, 0
    for i in range(count):
        score = score_move(
            nets, theta, sight, side, room, state, before, wide(actions[i]), after, words, total
        )
        if i == 0 or score > best:
            best = score
            ties = 0
        if score == best:
            ties += 1
            if ties == 1 or below(dice, ties) == 0:
                choice = i
    return choice
