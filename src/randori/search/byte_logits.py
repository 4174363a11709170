"""Logits as bytes: how far each is below the best of its factor, in eighths of a nat, at most 255.

Memory is what limits self-play beside a fast card, and nearly all that goes through it is logits. A
byte each is a quarter of what a card sends otherwise, and half of what nodes keep. Where a game
says which logits matter to a position (`games/marks.py`), only these come, and a row is what is the
best of them below. It does not matter what is best: all actions lose the same, because each has one
logit of every factor. But that is often a move that is not legal, about which a network has learnt
nothing and which may be far above all others: so the steps are as large as eighths, and bytes reach
32 nats down.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from randori.games.game import Game
from randori.games.kernels import U0, inlined, lowest, scratch, wide, without_lowest
from randori.games.rules import (
    INPUT_WORDS,
    NUM_FACTORS,
    NUM_RUN_WORDS,
    RUN_BEGINS,
    RUN_CELLS,
    RUN_FIRST,
    RUN_LENGTH,
    RUN_MASKS,
    RUN_SHARED,
    RUN_SPAN,
    planes,
)
from randori.search.evaluator import STEPS
from randori.search.tree import BROKEN, MOST_LOGITS, TOO_MARKED, Tree

STEP = np.float32(1 / STEPS)


@inlined
def hear_bytes(
    tree: Tree, node: int, logits: NDArray[np.uint8], said: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Put what the evaluator says of a node into `said`, and return that."""
    for p in range(len(logits)):  # none where trees keep none
        said[p] = -STEP * np.float32(logits[p])
    return said


@inlined
def hear_marked(
    tree: Tree, node: int, logits: NDArray[np.uint8], said: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Do the same where only logits that matter come; what stands at others means nothing then.

    Runs ascend, so a span may be written of each: what is too much belongs to nobody, or to a run
    that follows. A loop of one length has no branch that goes either way.
    """
    words = scratch(INPUT_WORDS)
    planes(tree.states[node], words)
    for f in range(NUM_FACTORS):
        due, end = wide(RUN_BEGINS[f]), wide(RUN_BEGINS[f + 1])
        for w in range(NUM_RUN_WORDS):
            marked = U0
            for k in range(RUN_SHARED):
                plane = words[min(RUN_SHARED * w + k, INPUT_WORDS - 1)]
                marked |= plane << np.uint64(RUN_CELLS * k)
            marked &= RUN_MASKS[f, w]
            while marked != U0:
                place = 64 * w + lowest(marked)
                marked = without_lowest(marked)
                first, at = wide(RUN_FIRST[f, place]), min(due, end)
                for k in range(RUN_SPAN):
                    said[first + k] = -STEP * np.float32(logits[at + k])
                due += wide(RUN_LENGTH[f, place])
        if due > end:
            tree.used[BROKEN] = TOO_MARKED
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
    hear_bytes(tree, node, tree.logits[node], tree.said)


@inlined
def recall_marked(tree: Tree, node: int) -> None:
    """Do the same where only logits that matter were kept."""
    hear_marked(tree, node, tree.logits[node], tree.said)


def byte_kernels(game: Game) -> dict[str, Callable[..., Any]]:
    """Return what takes the place of three functions in templates over a lane of bytes."""
    marked = len(game.marks) > 0
    are_kept = game.num_logits <= MOST_LOGITS
    return {
        "hear": hear_marked if marked else hear_bytes,
        "keep_logits": keep_bytes,
        "recall_logits": recall_marked if marked and are_kept else recall_bytes,
    }
