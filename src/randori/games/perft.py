"""Perft: count the move sequences of exactly n plies, the sharpest test of a rule book.

The strict convention: a game that ends earlier counts nothing, and a forced pass is one ply.
"""

import numpy as np
from numpy.typing import NDArray

from randori.games.game import Game
from randori.games.kernels import State
from randori.games.rules import STATE_WORDS, legal, num_legal, play


def count_leaves(
    states: NDArray[np.uint64], actions: NDArray[np.int32], left: NDArray[np.int64], depth: int
) -> int:
    """Count the leaves `depth` plies below ``states[0]``; row d of each array serves ply d.

    A loop over the actions `left` at each ply instead of recursion, which Numba would not inline.
    The last ply is counted, not listed.
    """
    if depth == 1:
        return num_legal(states[0], actions[0])
    total = 0
    ply = 0
    left[0] = legal(states[0], actions[0])
    while ply >= 0:
        if left[ply] == 0:
            ply -= 1
            continue
        left[ply] -= 1
        for word in range(STATE_WORDS):
            states[ply + 1, word] = states[ply, word]
        play(states[ply + 1], actions[ply, left[ply]])
        if ply + 2 == depth:
            total += num_legal(states[ply + 1], actions[ply + 1])
        else:
            ply += 1
            left[ply] = legal(states[ply], actions[ply])
    return total


def perft(game: Game, depth: int, state: State | None = None) -> int:
    """Count the move sequences of exactly `depth` plies from `state`, or from the start."""
    if depth == 0:
        return 1
    states = np.zeros((depth + 1, game.num_words), dtype=np.uint64)
    states[0] = game.new_state() if state is None else state
    actions = np.zeros((depth + 1, game.num_actions), dtype=np.int32)
    left = np.zeros(depth + 1, dtype=np.int64)
    return int(game.kernel(count_leaves)(states, actions, left, depth))
