"""The evaluator seam: packed planes in, policy logits and a value out, for a whole batch at once.

A search never calls a network. It owns a `Lane`: fixed arrays that it fills with positions, and
that the evaluator fills with answers. The arrays never move, so they can be pinned memory that a
GPU reads, or the input of a captured graph. `launch` may return at once; `wait` returns when the
answers are there. A search with two lanes keeps the device busy while it works on the other one.
"""

from time import perf_counter
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

STEPS = 8
"""What bytes count in, of a nat (`byte_logits.py` says why)."""


class AnyLane(Protocol):
    """A batch in flight: inputs that a search writes, outputs that it reads after `wait`."""

    states: NDArray[np.uint64]
    """[B, S] the positions, for evaluators that play on from them; [B, 0] for the others."""
    words: NDArray[np.uint64]
    """[B, W] their packed planes, for evaluators that only look."""
    values: NDArray[np.float32]
    """[B] value in [-1, 1] from the side to move."""

    def launch(self, count: int) -> None:
        """Start on rows ``[0, count)``; the caller leaves all arrays alone until `wait`."""

    def wait(self) -> None:
        """Return once the answers of the last `launch` are in `logits` and `values`."""


class Lane(AnyLane, Protocol):
    """What every search can use."""

    logits: NDArray[np.float32]
    """[B, P] policy logits, before the sum over factors and the softmax over legal actions."""


class ByteLane(AnyLane, Protocol):
    """What self-play uses where there are many logits: a quarter of the memory, or less."""

    logits: NDArray[np.uint8]
    """[B, compact_width] how far each is below the best of its factor: STEPS a nat, at most 255.
    Where the game has marks, only logits that matter come, one after the other, and the best is
    that of these (`games/marks.py`)."""


class Evaluator(Protocol):
    """Anything that judges positions: a network on some runtime, rollouts, a solver."""

    name: str

    def lane(self, batch: int) -> Lane:
        """Make a new lane of at most `batch` rows."""


@runtime_checkable
class CompactEvaluator(Protocol):
    """An evaluator that can do with less memory; most cannot, and need not."""

    def compact_lane(self, batch: int) -> Lane | ByteLane:
        """Make a new lane of at most `batch` rows, of bytes where that pays."""


def selfplay_lane(evaluator: Evaluator, batch: int, is_compact: bool) -> Lane | ByteLane:
    """Make a new lane for self-play, a compact one if that is asked for and there is such."""
    if is_compact and isinstance(evaluator, CompactEvaluator):
        return evaluator.compact_lane(batch)
    return evaluator.lane(batch)


def measure_rate(
    evaluator: Evaluator,
    batch: int,
    lanes_at_once: int = 2,
    seconds: float = 0.7,
    *,
    is_compact: bool = False,
) -> float:
    """Measure the evaluations a second of the bare evaluator, over lanes of self-play in turn."""
    lanes = [selfplay_lane(evaluator, batch, is_compact) for _ in range(max(2, lanes_at_once))]
    rng = np.random.default_rng(0)
    for lane in lanes:
        lane.words[:] = rng.integers(0, 2**63, size=lane.words.shape, dtype=np.uint64)
        lane.launch(batch)
    for lane in lanes:
        lane.wait()
    start, done = perf_counter(), 0
    while perf_counter() - start < seconds:
        for lane in lanes:
            lane.wait()
            lane.launch(batch)
        done += len(lanes)
    for lane in lanes:
        lane.wait()
    return done * batch / (perf_counter() - start)
