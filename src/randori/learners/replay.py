"""Replay: the newest rows, and batches drawn from them under random symmetries."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from randori.games.game import Game
from randori.games.kernels import has
from randori.games.rules import INPUT_WORDS, legal, planes
from randori.learners.selfplay import Rows


@dataclass(frozen=True)
class Samples:
    """A batch to learn from."""

    words: NDArray[np.uint64]
    """[B, W] packed planes"""
    policy: NDArray[np.float32]
    """[B, A] the share of visits of each legal action; −1 where an action is illegal"""
    values: NDArray[np.float32]
    """[B] target value for the side to move"""


def fill_samples(
    states: NDArray[np.uint64],
    counts: NDArray[np.uint16],
    turns: NDArray[np.int64],
    inputs: NDArray[np.int32],
    action_map: NDArray[np.int32],
    plane_cells: int,
    words: NDArray[np.uint64],
    policy: NDArray[np.float32],
    scratch: NDArray[np.uint64],
    actions: NDArray[np.int32],
) -> None:
    """Write planes and policies of rows as they look under symmetry ``turns[b]``."""
    plane_words = (plane_cells + 63) // 64
    for b in range(len(turns)):
        turn = turns[b]
        planes(states[b], scratch)
        for w in range(INPUT_WORDS):
            words[b, w] = 0
        for i in range(inputs.shape[1]):
            plane, cell = i // plane_cells, i % plane_cells
            if has(scratch[plane * plane_words + cell // 64], cell % 64):
                to_plane, to = inputs[turn, i] // plane_cells, inputs[turn, i] % plane_cells
                mark = np.uint64(1) << np.uint64(to % 64)
                words[b, to_plane * plane_words + to // 64] |= mark
        for a in range(policy.shape[1]):
            policy[b, a] = -1.0
        count = legal(states[b], actions)
        total = 0.0
        for k in range(count):
            total += counts[b, k]
        for k in range(count):
            policy[b, action_map[turn, actions[k]]] = counts[b, k] / total


class Replay:
    """A window over the newest rows, oldest first."""

    def __init__(self, game: Game, window: int) -> None:
        self._game = game
        self._states = np.zeros((window, game.num_words), dtype=np.uint64)
        self._counts = np.zeros((window, game.most_legal), dtype=np.uint16)
        self._values = np.zeros(window, dtype=np.float32)
        self._results = np.zeros(window, dtype=np.int8)
        self._next = 0
        self.size = 0
        self.total = 0

    def add(self, rows: Rows) -> None:
        """Append rows; the oldest leave the window."""
        window = len(self._values)
        skip = max(0, len(rows) - window)
        at = (self._next + np.arange(len(rows) - skip)) % window
        self._states[at] = rows.states[skip:]
        self._counts[at] = rows.counts[skip:]
        self._values[at] = rows.values[skip:]
        self._results[at] = rows.results[skip:]
        self._next = int((self._next + len(at)) % window)
        self.size = min(window, self.size + len(at))
        self.total += len(rows)

    def sample(self, rng: np.random.Generator, batch: int, search_share: float) -> Samples:
        """Draw rows uniformly, each under a random symmetry.

        The value target mixes the game's result with the search's own value by `search_share`.
        """
        game, window = self._game, len(self._values)
        age = rng.integers(0, self.size, size=batch)
        at = (self._next - self.size + age) % window
        turns = rng.integers(0, len(game.symmetries), size=batch)
        words = np.zeros((batch, game.input_words), dtype=np.uint64)
        policy = np.empty((batch, game.num_actions), dtype=np.float32)
        game.kernel(fill_samples)(
            self._states[at], self._counts[at], turns, game.symmetries.inputs,
            game.symmetries.actions, game.cells, words, policy,
            np.zeros(game.input_words, dtype=np.uint64), np.zeros(game.num_actions, np.int32),
        )  # fmt: skip
        share = np.float32(search_share)
        values = (1 - share) * self._results[at] + share * self._values[at]
        return Samples(words, policy, values.astype(np.float32))
