"""What the runtimes share: a lane's fixed host arrays, their common face, a one-off evaluation."""

from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from randori.errors import UserError, nearest
from randori.networks.config import Signature
from randori.search.evaluator import Evaluator

PRECISIONS = {"fp32": torch.float32, "bf16": torch.bfloat16}


class NetworkEvaluator(Evaluator, Protocol):
    """An evaluator with a network inside."""

    def load(self, network: nn.Module) -> None:
        """Take over this network's weights; every lane uses them from its next launch on.

        The network must be of the shape that the evaluator was made with. It is copied. Safe to
        call from another thread than those that launch.
        """


class HostArrays:
    """The four arrays of a lane, and tensors that share their memory."""

    def __init__(
        self,
        batch: int,
        signature: Signature,
        pinned: bool = False,
        said: torch.dtype = torch.float32,
        width: int | None = None,
    ) -> None:
        if batch < 1:
            raise ValueError(f"a lane needs at least one row, not {batch}")
        self.batch = batch
        self.words_tensor = _host((batch, signature.num_words), torch.int64, pinned)
        self.logits_tensor = _host((batch, width or signature.num_logits), said, pinned)
        self.values_tensor = _host((batch,), torch.float32, pinned)
        self.states: NDArray[np.uint64] = np.zeros((batch, 0), np.uint64)
        self.words: NDArray[np.uint64] = self.words_tensor.numpy().view(np.uint64)
        self.logits: NDArray[Any] = self.logits_tensor.numpy()
        self.values: NDArray[np.float32] = self.values_tensor.numpy()

    def wait(self) -> None:
        """Return once the answers are there; a runtime that works in the background overrides."""

    def __del__(self) -> None:
        self.wait()  # a batch still in flight writes into these arrays: they must outlive it

    def check(self, count: int) -> None:
        """Refuse a count of rows that the lane does not have."""
        if not 1 <= count <= self.batch:
            raise ValueError(f"launch of {count} rows in a lane of {self.batch}")


def _host(shape: tuple[int, ...], dtype: torch.dtype, pinned: bool) -> Tensor:
    return torch.zeros(shape, dtype=dtype, pin_memory=pinned)


def parse_precision(precision: str) -> torch.dtype:
    """The dtype that a precision's name stands for."""
    if precision not in PRECISIONS:
        raise UserError(f"no precision {precision!r}: {nearest(precision, PRECISIONS)}")
    return PRECISIONS[precision]


def evaluate(
    evaluator: Evaluator, words: NDArray[np.uint64]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Judge packed positions [B, W] once: fresh logits [B, P] and values [B].

    It makes a lane for the occasion (on CUDA that captures a graph); keep a lane to do it often.
    """
    lane = evaluator.lane(len(words))
    lane.words[:] = words
    lane.launch(len(words))
    lane.wait()
    return lane.logits.copy(), lane.values.copy()
