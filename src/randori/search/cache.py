"""Remembered evaluations, shared by all trees of a search and emptied when the weights change.

A table with one place a key: a new entry takes the place of an old one. The key is the planes, so
positions that look alike share an answer; which moves are legal is the tree's matter.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from randori.games.kernels import U0, U1, mix, wide
from randori.games.rules import INPUT_WORDS


class Cache(NamedTuple):
    """C places, a power of two."""

    keys: NDArray[np.uint64]
    """[C] 0 where nothing is remembered"""
    values: NDArray[np.float32]
    """[C]"""
    logits: NDArray[Any]
    """[C, P] float32, or [C, compact_width] bytes (`byte_logits.py`)"""


def make_cache(megabytes: float, width: int, said: type[np.generic] = np.float32) -> Cache:
    """Allocate as many places as fit, at least one, for rows of logits that come as `said`."""
    fit = int(megabytes * 2**20) // (12 + np.dtype(said).itemsize * width)
    places = 1 << max(0, fit.bit_length() - 1)
    return Cache(
        np.zeros(places, dtype=np.uint64),
        np.zeros(places, dtype=np.float32),
        np.zeros((places, width), dtype=said),
    )


def key_of(words: NDArray[np.uint64]) -> np.uint64:
    """Hash packed planes; never 0.

    Each word is stirred on its own, with a salt for its place, so that none waits for another.
    """
    key = U0
    for w in range(INPUT_WORDS):
        key += mix(mix(U0, np.uint64(w)), words[w])
    return mix(key, U0) | U1


def place_of(cache: Cache, key: np.uint64) -> int:
    """Return where `key` stands if it is there."""
    return wide((key >> np.uint64(1)) & np.uint64(len(cache.keys) - 1))


def recall(cache: Cache, key: np.uint64) -> int:
    """Return the place of `key`, or -1."""
    place = place_of(cache, key)
    return place if cache.keys[place] == key else wide(-1)


def remember(cache: Cache, key: np.uint64, value: np.float32, logits: NDArray[Any]) -> None:
    """Store an answer; a cache of one place is one that is switched off."""
    if len(cache.keys) == 1:
        return
    place = place_of(cache, key)
    cache.keys[place] = key
    cache.values[place] = value
    kept = cache.logits[place]
    for p in range(len(kept)):
        kept[p] = logits[p]
