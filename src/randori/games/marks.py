"""Which logits a position has use for: those whose bit of its planes is set (`Game.marks`).

A policy with a logit for every stone, wherever it may stand, has a few for those that do stand
somewhere. Only these need to travel from a card, or be kept: factor by factor, in the order of
their bits, one after the other. A bit's logits follow each other, so they are a run.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Runs(NamedTuple):
    """Where a bit's logits stand, for F factors and the 64 places in each of W words.

    Small planes share a word, so that few words have all that is to be looked through.
    """

    masks: NDArray[np.uint64]
    """[F, W] the places that are somebody's mark"""
    first: NDArray[np.uint16]
    """[F, 64 W] the first logit of a place"""
    length: NDArray[np.uint16]
    """[F, 64 W] how many it has"""
    begins: NDArray[np.int64]
    """[F + 1] where a factor's logits begin among those that matter, and where the last's end"""
    shared: int
    """how many planes share a word"""
    span: int
    """what the longest run fits into, a power of two: so many may be read at once, or written"""

    @property
    def width(self) -> int:
        """How long a row of those that matter is, with room to read a span anywhere."""
        return int(self.begins[-1]) + self.span


def runs_of(
    marks: Sequence[int] | NDArray[np.int32],
    factor_sizes: Sequence[int],
    most_marked: Sequence[int],
    cells: int,
) -> Runs:
    """Tabulate the runs of a game's marks; without marks there are none."""
    marks = np.asarray(marks, dtype=np.int64)
    shared = max(1, 64 // cells)
    plane, cell = np.divmod(marks, cells)
    words_a_plane = -(-cells // 64)
    places = 64 * words_a_plane * (plane // shared) + plane % shared * cells + cell
    words = int(places.max()) // 64 + 1 if len(places) else 0
    factors = len(factor_sizes)
    first = np.zeros((factors, 64 * words), dtype=np.uint16)
    length = np.zeros((factors, 64 * words), dtype=np.uint16)
    ends = np.cumsum((0, *factor_sizes))
    for factor in range(factors if words else 0):
        own = places[ends[factor] : ends[factor + 1]]
        found, where, counts = np.unique(own, return_index=True, return_counts=True)
        first[factor, found] = ends[factor] + where
        length[factor, found] = counts
    are_set = (length > 0).reshape(factors, words, 64)
    masks = (are_set.astype(np.uint64) << np.arange(64, dtype=np.uint64)).sum(2, dtype=np.uint64)
    begins = np.cumsum((0, *most_marked)) if words else np.zeros(factors + 1, dtype=np.int64)
    widest = int(length.max(initial=0))
    span = 1 << (widest - 1).bit_length() if widest else 0
    return Runs(masks, first, length, begins, shared, span)
