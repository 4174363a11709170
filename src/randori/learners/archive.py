"""Beginnings of earlier games: some games of self-play start from there (Go-Exploit, 2023).

A beginning is kept as moves, not as a position, so a game that starts from one is a whole game.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from randori.games.dice import Dice, below
from randori.games.game import Game
from randori.games.kernels import wide

SIZE = 512
"""Beginnings that a group of slots remembers."""


class Archive(NamedTuple):
    """The beginnings of one group."""

    moves: NDArray[np.uint16]
    """[SIZE, L]"""
    plies: NDArray[np.int32]
    """[SIZE]"""
    filled: NDArray[np.int32]
    """[1]"""


def make_archive(game: Game, size: int) -> Archive:
    """Allocate an empty archive."""
    return Archive(
        np.zeros((size, game.longest), dtype=np.uint16),
        np.zeros(size, dtype=np.int32),
        np.zeros(1, dtype=np.int32),
    )


def remember_beginning(archive: Archive, moves: NDArray[np.uint16], plies: int, dice: Dice) -> None:
    """Keep a random part of a finished game, in place of a random older one if there is no room."""
    size = len(archive.plies)
    if plies < 2 or size == 0:
        return
    if archive.filled[0] < size:
        place = wide(archive.filled[0])
        archive.filled[0] += 1
    else:
        place = wide(below(dice, size))
    kept = 1 + wide(below(dice, plies - 1))
    for ply in range(kept):
        archive.moves[place, ply] = moves[ply]
    archive.plies[place] = kept
