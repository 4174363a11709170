"""Agents that do not look ahead: the floor that every other one must clear."""

import numpy as np
from numpy.typing import NDArray

from randori.errors import UserError
from randori.games.game import Game
from randori.games.rules import legal


def pick_random(
    states: NDArray[np.uint64],
    draws: NDArray[np.float64],
    actions: NDArray[np.int32],
    picked: NDArray[np.int32],
) -> None:
    """Pick the legal action that each draw from [0, 1) points at."""
    for b in range(len(states)):
        count = legal(states[b], actions)
        picked[b] = actions[int(draws[b] * count)]


class RandomPlayer:
    """Every legal move alike."""

    def __init__(self, game: Game) -> None:
        self._game = game

    def act(self, states: NDArray[np.uint64], rng: np.random.Generator) -> NDArray[np.int32]:
        """Pick legal actions at random."""
        picked = np.zeros(len(states), dtype=np.int32)
        scratch = np.zeros(self._game.num_actions, dtype=np.int32)
        self._game.kernel(pick_random)(states, rng.random(len(states)), scratch, picked)
        return picked


def random(game: Game, value: str | None) -> RandomPlayer:
    """Pick legal moves at random."""
    expect_no_value("random", value)
    return RandomPlayer(game)


def expect_no_value(name: str, value: str | None) -> None:
    """Refuse a bare value where only options make sense."""
    if value is not None:
        raise UserError(f"{name}: options are written key=value, found {value!r}")
