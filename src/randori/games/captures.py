"""Stones taken, counted for any game: what learners that are rewarded for captures ask."""

from randori.games.kernels import State, popcount, scratch
from randori.games.rules import INPUT_WORDS, STONE_WORDS, planes


def captures(before: State, after: State) -> int:
    """Count the stones of its opponent that a move from `before` to `after` took off the board.

    Stones that are turned, as in Othello, are not: they stay. A move adds at most one of its own.
    """
    here = scratch(INPUT_WORDS)
    there = scratch(INPUT_WORDS)
    planes(before, here)
    planes(after, there)
    lost, gained = 0, 0
    for word in range(STONE_WORDS):
        lost += popcount(here[STONE_WORDS + word]) - popcount(there[word])
        gained += popcount(there[STONE_WORDS + word]) - popcount(here[word])
    return lost - max(0, gained - 1)
