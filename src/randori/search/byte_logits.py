"""Logits as bytes: how far each is below the best of its factor, in eighths of a nat, at most 255.

Memory is what limits self-play beside a fast card, and nearly all that goes through it is logits. A
byte each is a quarter of what a card sends otherwise, and half of what nodes keep. It does not
matter what is best: all actions lose the same, because each has one logit of every factor. But that
is often a move that is not legal, about which a network has learnt nothing and which may be far
above all others: so the steps are as large as eighths, and bytes reach 32 nats down.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from randori.games.kernels import inlined
from randori.search.evaluator import STEPS
from randori.search.tree import Tree

STEP = np.float32(1 / STEPS)


@inlined
def hear_bytes(logits: NDArray[np.uint8], said: NDArray[np.float32]) -> NDArray[np.float32]:
    """Put what the evaluator says into `said`, and return that."""
    for p in range(len(logits)):  # none where trees keep none
        said[p] = -STEP * np.float32(logits[p])
    return said


@inlined
def keep_bytes(tree: Tree, node: int, logits: NDArray[np.uint8]) -> None:
    """Keep what the evaluator said about a node's moves."""
    kept = tree.logits[node]
    for p in range(len(kept)):
        kept[p] = logits[p]


@inlined
def recall_bytes(tree: Tree, node: int) -> None:
    """Put what was kept of a node into `said`."""
    hear_bytes(tree.logits[node], tree.said)


BYTE_KERNELS: dict[str, Callable[..., Any]] = {
    "hear": hear_bytes, "keep_logits": keep_bytes, "recall_logits": recall_bytes
}  # fmt: skip
"""What takes the place of these functions in templates over a lane of bytes."""
