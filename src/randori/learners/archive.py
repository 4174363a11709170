"""Where some games of self-play branch off from earlier ones, or from the first position at random.

Games from the first position alone see ever the same lines as the network grows sure of itself.
Starts from earlier positions (Go-Exploit, 2023) keep the training rows wide; the random moves lead
to positions that good play never reaches, and that opponents and exams do. A beginning is kept as
moves, not as a position, so a game that starts from one is a whole game.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from randori.games.dice import Dice, below
from randori.games.game import Game
from randori.games.kernels import ONGOING, Actions, State, scratch, wide
from randori.games.rules import STATE_WORDS, legal, outcome, play, start

SIZE = 512
"""Beginnings that a group of slots remembers."""
MOST_RANDOM = 9
"""Random moves behind a beginning are fewer than this; few are likelier than many."""


class Archive(NamedTuple):
    """The beginnings of one group."""

    moves: NDArray[np.uint16]
    """[SIZE, L]"""
    plies: NDArray[np.int32]
    """[SIZE]"""
    filled: NDArray[np.int32]
    """[1]"""
    actions: NDArray[np.int32]
    """[A] room for `legal`"""


def make_archive(game: Game, size: int) -> Archive:
    """Allocate an empty archive."""
    return Archive(
        np.zeros((size, game.longest), dtype=np.uint16),
        np.zeros(size, dtype=np.int32),
        np.zeros(1, dtype=np.int32),
        np.zeros(game.num_actions, dtype=np.int32),
    )


def remember_beginning(archive: Archive, moves: NDArray[np.uint16], plies: int, dice: Dice) -> None:
    """Keep a random part of a finished game, and random moves from there on.

    It takes the place of a random older one if there is no room.
    """
    size = len(archive.plies)
    if plies < 2 or size == 0:
        return
    if archive.filled[0] < size:
        place = wide(archive.filled[0])
        archive.filled[0] += 1
    else:
        place = wide(below(dice, size))
    state = scratch(STATE_WORDS)
    start(state)
    kept = wide(below(dice, plies - 1))
    for ply in range(kept):
        archive.moves[place, ply] = moves[ply]
        play(state, moves[ply])
    steps = wide(below(dice, 1 + below(dice, MOST_RANDOM)))
    archive.plies[place] = wander(state, archive.moves[place], kept, steps, archive.actions, dice)


def wander(
    state: State, moves: NDArray[np.uint16], plies: int, steps: int, actions: Actions, dice: Dice
) -> int:
    """Add random moves that do not end the game; return how many moves there are then."""
    after = scratch(STATE_WORDS)
    for _ in range(min(steps, len(moves) - plies)):
        count = legal(state, actions)
        for w in range(STATE_WORDS):
            after[w] = state[w]
        action = actions[below(dice, count)]
        play(after, action)
        if outcome(after) != ONGOING:
            break
        for w in range(STATE_WORDS):
            state[w] = after[w]
        moves[plies] = action
        plies += 1
    return plies
