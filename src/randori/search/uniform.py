"""Evaluators that know nothing: every move alike, and a value of 0 or of random play."""

import numpy as np
from numpy.typing import NDArray

from randori.games.dice import Dice, below, seed_dice
from randori.games.game import Game
from randori.games.kernels import DRAW, FIRST, ONGOING
from randori.games.rules import STATE_WORDS, legal, outcome, play


class ArrayLane:
    """Plain arrays; an evaluator answers inside `launch`."""

    def __init__(self, game: Game, batch: int) -> None:
        self.states = np.zeros((batch, game.num_words), dtype=np.uint64)
        self.words = np.zeros((batch, game.input_words), dtype=np.uint64)
        self.logits = np.zeros((batch, game.num_logits), dtype=np.float32)
        self.values = np.zeros(batch, dtype=np.float32)

    def launch(self, count: int) -> None:
        """Leave the zeros as they are: all moves alike, value 0."""

    def wait(self) -> None:
        """Nothing is under way."""


class UniformEvaluator:
    """Every move alike, every position even."""

    name = "uniform"

    def __init__(self, game: Game) -> None:
        self._game = game

    def lane(self, batch: int) -> ArrayLane:
        """Make a lane whose answers are always zero."""
        return ArrayLane(self._game, batch)


class RolloutEvaluator:
    """Every move alike; a position is worth the mean result of random games from it."""

    name = "rollout"

    def __init__(self, game: Game, *, rollouts: int = 1, seed: int = 0) -> None:
        self._game = game
        self._rollouts = rollouts
        self._seed = seed

    def lane(self, batch: int) -> "RolloutLane":
        """Make a lane with dice of its own."""
        self._seed += 1
        return RolloutLane(self._game, batch, self._rollouts, self._seed)


class RolloutLane(ArrayLane):
    """Plays its questions out inside `launch`."""

    def __init__(self, game: Game, batch: int, rollouts: int, seed: int) -> None:
        super().__init__(game, batch)
        self._play_out = game.kernel(play_out_all)
        self._rollouts = rollouts
        self._dice = seed_dice(seed, 1)[0]
        self._scratch = np.zeros(game.num_words, dtype=np.uint64)
        self._actions = np.zeros(game.num_actions, dtype=np.int32)

    def launch(self, count: int) -> None:
        """Play the random games."""
        self._play_out(
            self.states[:count], self.values, self._rollouts, self._scratch, self._actions,
            self._dice,
        )  # fmt: skip


def play_out(
    state: NDArray[np.uint64], scratch: NDArray[np.uint64], actions: NDArray[np.int32], dice: Dice
) -> float:
    """Play random moves from `state` to the end; return the value for the side to move there."""
    for w in range(STATE_WORDS):
        scratch[w] = state[w]
    result = outcome(scratch)
    while result == ONGOING:
        play(scratch, actions[below(dice, legal(scratch, actions))])
        result = outcome(scratch)
    if result == DRAW:
        return 0.0
    first_moves = state[0] & np.uint64(1) == np.uint64(0)
    return 1.0 if (result == FIRST) == first_moves else -1.0


def play_out_all(
    states: NDArray[np.uint64],
    values: NDArray[np.float32],
    rollouts: int,
    scratch: NDArray[np.uint64],
    actions: NDArray[np.int32],
    dice: Dice,
) -> None:
    """Fill ``values[i]`` with the mean of `rollouts` random games from ``states[i]``."""
    for i in range(len(states)):
        total = 0.0
        for _ in range(rollouts):
            total += play_out(states[i], scratch, actions, dice)
        values[i] = total / rollouts
