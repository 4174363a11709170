"""Replay: the newest rows, and batches drawn from them under random symmetries."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from randori.games.game import Game
from randori.games.kernels import scratch
from randori.games.rules import INPUT_WORDS, OWNER_WORDS, legal, planes
from randori.games.symmetry import turn_planes
from randori.learners.harvest import NO_REPLY
from randori.learners.yields import Rows

T = TypeVar("T")
BATCHES_AHEAD = 2
"""Batches that are drawn before their turn."""


@dataclass(frozen=True)
class Samples:
    """A batch to learn from."""

    words: NDArray[np.uint64]
    """[B, W] packed planes"""
    actions: NDArray[np.int32]
    """[B, K] the legal actions; 0 past the last of them"""
    shares: NDArray[np.float32]
    """[B, K] the share of visits of each; −1 past the last of them"""
    values: NDArray[np.float32]
    """[B] what the search made of it, for the side to move"""
    results: NDArray[np.float32]
    """[B] how the game ended for the side to move"""
    replies: NDArray[np.int32]
    """[B] what was answered to the move that was made; −1 at the end of a game"""
    owners: NDArray[np.uint64]
    """[B, O] packed planes of who has which cell in the end: the side to move, then its opponent"""
    amends: NDArray[np.float32]
    """[B] what stands for the result where a slip decided it, and NONE_MADE elsewhere"""


def fill_samples(
    states: NDArray[np.uint64],
    counts: NDArray[np.uint16],
    replies: NDArray[np.uint16],
    owners: NDArray[np.uint64],
    at: NDArray[np.int64],
    turns: NDArray[np.int64],
    inputs: NDArray[np.int32],
    action_map: NDArray[np.int32],
    plane_cells: int,
    words: NDArray[np.uint64],
    to_actions: NDArray[np.int32],
    shares: NDArray[np.float32],
    to_replies: NDArray[np.int32],
    to_owners: NDArray[np.uint64],
    actions: NDArray[np.int32],
) -> None:
    """Write planes and targets of rows ``at[b]`` as they look under symmetry ``turns[b]``."""
    seen = scratch(INPUT_WORDS)
    for b in range(len(turns)):
        turn = turns[b]
        row = at[b]
        planes(states[row], seen)
        turn_planes(seen, INPUT_WORDS, inputs[turn], plane_cells, words[b])
        if owners.shape[1] > 0:
            turn_planes(owners[row], OWNER_WORDS, inputs[turn], plane_cells, to_owners[b])
        count = legal(states[row], actions)
        total = 0.0
        for k in range(count):
            total += counts[row, k]
        for k in range(shares.shape[1]):
            to_actions[b, k] = action_map[turn, actions[k]] if k < count else 0
            shares[b, k] = counts[row, k] / total if k < count else -1.0
        to_replies[b] = -1 if replies[row] == NO_REPLY else action_map[turn, replies[row]]


def drawn_ahead(draw: Callable[[], T], count: int) -> Iterator[T]:
    """Yield what `count` calls of `draw` return, each of them made while the last one is in use.

    The calls come one after the other in a thread of their own, so the dice fall as ever.
    """
    with ThreadPoolExecutor(1) as worker:
        coming = [worker.submit(draw) for _ in range(min(BATCHES_AHEAD, count))]
        for place in range(count):
            drawn = coming.pop(0).result()
            if place + BATCHES_AHEAD < count:
                coming.append(worker.submit(draw))
            yield drawn


class Replay:
    """A window over the newest rows, oldest first."""

    def __init__(self, game: Game, window: int) -> None:
        self._game = game
        self._window = window
        self._rows = Rows(
            np.zeros((window, game.num_words), dtype=np.uint64),
            np.zeros((window, game.most_legal), dtype=np.uint16),
            np.zeros(window, dtype=np.float32),
            np.zeros(window, dtype=np.int8),
            np.zeros(window, dtype=np.uint16),
            np.zeros((window, game.owner_words), dtype=np.uint64),
            np.zeros(window, dtype=np.float32),
        )
        self._next = 0
        self.size = 0
        self.total = 0

    def add(self, rows: Rows) -> None:
        """Append rows; the oldest leave the window."""
        skip = max(0, len(rows) - self._window)
        at = (self._next + np.arange(len(rows) - skip)) % self._window
        for part in fields(Rows):
            getattr(self._rows, part.name)[at] = getattr(rows, part.name)[skip:]
        self._next = int((self._next + len(at)) % self._window)
        self.size = min(self._window, self.size + len(at))
        self.total += len(rows)

    def sample(self, rng: np.random.Generator, batch: int, newest: int | None = None) -> Samples:
        """Draw rows evenly from the `newest`, or all, each under a random symmetry."""
        game = self._game
        size = self.size if newest is None else max(1, min(self.size, newest))
        age = rng.integers(0, size, size=batch)
        at = (self._next - size + age) % self._window
        turns = rng.integers(0, len(game.symmetries), size=batch)
        rows = self._rows
        samples = Samples(
            np.empty((batch, game.input_words), dtype=np.uint64),
            np.empty((batch, game.most_legal), dtype=np.int32),
            np.empty((batch, game.most_legal), dtype=np.float32),
            rows.values[at],
            rows.results[at].astype(np.float32),
            np.empty(batch, dtype=np.int32),
            np.empty((batch, game.owner_words), dtype=np.uint64),
            rows.amends[at],
        )
        game.kernel(fill_samples)(
            rows.states, rows.counts, rows.replies, rows.owners, at, turns,
            game.symmetries.inputs, game.symmetries.actions, game.cells, samples.words,
            samples.actions, samples.shares, samples.replies, samples.owners,
            np.zeros(game.num_actions, np.int32),
        )  # fmt: skip
        return samples
