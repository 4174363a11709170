"""Remembered evaluations, shared by all trees of a search and emptied when the weights change.

A table with one place a key: a new entry takes the place of an old one. The key covers the planes
and the legal actions, so that rules which look further back than the planes stay right.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from randori.games.kernels import U0, mix, wide
from randori.games.rules import INPUT_WORDS
from randori.search.tree import Tree


class Cache(NamedTuple):
    """C places, a power of two."""

    keys: NDArray[np.uint64]
    """[C] 0 where nothing is remembered"""
    values: NDArray[np.float32]
    """[C]"""
    priors: NDArray[np.float32]
    """[C, most_legal] in the order of `legal`"""


def make_cache(megabytes: float, most_legal: int) -> Cache:
    """Allocate as many places as fit, at least one."""
    fit = int(megabytes * 2**20) // (12 + 4 * most_legal)
    places = 1 << max(0, fit.bit_length() - 1)
    return Cache(
        np.zeros(places, dtype=np.uint64),
        np.zeros(places, dtype=np.float32),
        np.zeros((places, most_legal), dtype=np.float32),
    )


def node_key(tree: Tree, node: int, words: NDArray[np.uint64]) -> np.uint64:
    """Hash a node's planes, given in `words`, and its legal actions."""
    key = np.uint64(tree.nodes[node].count)
    for w in range(INPUT_WORDS):
        key = mix(key, words[w])
    first = tree.nodes[node].first
    for e in range(first, first + tree.nodes[node].count):
        key = (key ^ np.uint64(tree.edges[e].action)) * np.uint64(0x9E3779B97F4A7C15)
    return mix(key, U0) | np.uint64(1)


def place_of(cache: Cache, key: np.uint64) -> int:
    """Return where `key` stands if it is there."""
    return wide((key >> np.uint64(1)) & np.uint64(len(cache.keys) - 1))


def recall(cache: Cache, key: np.uint64) -> int:
    """Return the place of `key`, or -1."""
    place = place_of(cache, key)
    return place if cache.keys[place] == key else wide(-1)


def remember(cache: Cache, key: np.uint64, tree: Tree, node: int) -> None:
    """Store the value and priors of an expanded node."""
    place = place_of(cache, key)
    cache.keys[place] = key
    cache.values[place] = tree.nodes[node].value
    first = tree.nodes[node].first
    for k in range(tree.nodes[node].count):
        cache.priors[place, k] = tree.edges[first + k].prior
