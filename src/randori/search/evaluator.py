"""The evaluator seam: packed planes in, policy logits and a value out, for a whole batch at once.

A search never calls a network. It owns a `Lane`: fixed arrays that it fills with positions, and
that the evaluator fills with answers. The arrays never move, so they can be pinned memory that a
GPU reads, or the input of a captured graph. `launch` may return at once; `wait` returns when the
answers are there. A search with two lanes keeps the device busy while it works on the other one.
"""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Lane(Protocol):
    """A batch in flight: inputs that a search writes, outputs that it reads after `wait`."""

    states: NDArray[np.uint64]
    """[B, S] the positions, for evaluators that play on from them."""
    words: NDArray[np.uint64]
    """[B, W] their packed planes, for evaluators that only look."""
    logits: NDArray[np.float32]
    """[B, P] policy logits, before the sum over factors and the softmax over legal actions."""
    values: NDArray[np.float32]
    """[B] value in [-1, 1] from the side to move."""

    def launch(self, count: int) -> None:
        """Start on rows ``[0, count)``; the caller leaves all arrays alone until `wait`."""

    def wait(self) -> None:
        """Return once the answers of the last `launch` are in `logits` and `values`."""


class Evaluator(Protocol):
    """Anything that judges positions: a network on some runtime, rollouts, a solver."""

    name: str

    def lane(self, batch: int) -> Lane:
        """Make a new lane of at most `batch` rows."""
