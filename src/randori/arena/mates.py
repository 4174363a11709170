"""Forced wins found by search: whether a side wins within a few plies whatever the other does.

A win in 1 is a move that ends the game; a win in 3 leaves the opponent only moves that allow a win
in 1; and so on. Nothing is evaluated, so one good reply refutes a move, and the reply that refuted
the last move is tried first.
"""

import numpy as np
from numpy.typing import NDArray

from randori.games.game import Game
from randori.games.kernels import FIRST, ONGOING, SECOND, U0, U1, State
from randori.games.rules import STATE_WORDS, legal, outcome, play

NO_MOVE = -1


def try_move(states: NDArray[np.uint64], row: int, action: int) -> int:
    """Play a move from one row of `states` into the next; return the outcome."""
    for word in range(STATE_WORDS):
        states[row + 1, word] = states[row, word]
    play(states[row + 1], action)
    return outcome(states[row + 1])


def is_forced(
    states: NDArray[np.uint64],
    actions: NDArray[np.int32],
    refutations: NDArray[np.int32],
    row: int,
    plies: int,
) -> bool:
    """Tell whether the side to move in a row wins within `plies`, or loses if they are even."""
    attacks = plies % 2 == 1
    first_moves = states[row, 0] & U1 == U0
    count = legal(states[row], actions[row])
    if attacks:
        win = FIRST if first_moves else SECOND
        for i in range(count):
            if try_move(states, row, actions[row, i]) == win:
                return True
        if plies == 1:
            return False
    else:
        for i in range(count):
            if actions[row, i] == refutations[row]:
                actions[row, i], actions[row, 0] = actions[row, 0], actions[row, i]
    loss = SECOND if first_moves else FIRST
    for i in range(count):
        result = try_move(states, row, actions[row, i])
        if result == ONGOING:
            has_come = is_forced(states, actions, refutations, row + 1, plies - 1)
        else:
            has_come = not attacks and result == loss
        if has_come == attacks:
            refutations[row] = actions[row, i]
            return attacks
    return not attacks


class MateFinder:
    """Finds wins that take at most so many plies."""

    def __init__(self, game: Game, plies: int = 5) -> None:
        self._states = np.zeros((plies + 1, game.num_words), dtype=np.uint64)
        self._actions = np.zeros((plies + 1, game.most_legal), dtype=np.int32)
        self._refutations = np.full(plies + 1, NO_MOVE, dtype=np.int32)
        self._game = game
        self._kernel = game.kernel(is_forced)

    def shortest(self, state: State, most: int) -> int:
        """Return in how many plies the side to move can force a win; 0 if in more than `most`."""
        for plies in range(1, most + 1, 2):
            self._states[0] = state
            if self._is_forced(plies):
                return plies
        return 0

    def winning_moves(self, state: State, plies: int) -> list[int]:
        """List the moves that force a win within so many plies, an odd number."""
        return [
            action for action in self._game.legal_actions(state) if self._wins(state, action, plies)
        ]

    def _wins(self, state: State, action: int, plies: int) -> bool:
        after = self._states[0]
        after[:] = state
        self._game.plain.play(after, action)
        result = int(self._game.plain.outcome(after))
        if result != ONGOING:
            return result == (SECOND if int(state[0]) & 1 else FIRST)
        return plies > 1 and self._is_forced(plies - 1)

    def _is_forced(self, plies: int) -> bool:
        if plies >= len(self._states):
            raise ValueError(f"there is room for {len(self._states) - 1} plies, not for {plies}")
        return bool(self._kernel(self._states, self._actions, self._refutations, 0, plies))
