"""Stones taken, counted for any game: what learners that are rewarded for captures ask."""

from randori.games.kernels import State, popcount, scratch
from randori.games.rules import INPUT_WORDS, STONE_WORDS, planes


def captures(before: State, after: State) -> int:
    """Count the stones of its opponent that a move from `before` to `after` took."""
    here = scratch(INPUT_WORDS)
    there = scratch(INPUT_WORDS)
    planes(before, here)
    planes(after, there)
    taken = 0
    for word in range(STONE_WORDS):
        taken += popcount(here[STONE_WORDS + word]) - popcount(there[word])
    return taken
