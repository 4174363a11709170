"""Logits as bytes: how far each is below the best of its factor, in eighths of a nat, at most 255.

Memory is what limits self-play beside a fast card, and most of it goes through for logits. A byte
each is a quarter of what a card sends otherwise, and half of what nodes keep. Priors are the same:
what an action's logits lose together is what every action's lose. The best logits of a factor are
often those of moves that are not legal, of which a network never learns anything, so the bytes
reach 32 nats down.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from randori.games.kernels import inlined
from randori.search.tree import Tree

STEPS = 8
"""How many make a nat."""
STEP = np.float32(1 / STEPS)


@inlined
def hear_bytes(logits: NDArray[np.uint8], said: NDArray[np.float32]) -> NDArray[np.float32]:
    """Put what the evaluator says into `said`, and return that."""
    for p in range(len(said)):
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
