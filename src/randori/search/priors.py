"""What the evaluator says about moves, and the order in which they are tried.

Few of a node's moves are ever tried, so only the likeliest are kept: SHORT of them, and LONGER
times as many whenever these are used up. What is not listed follows from the logits.
"""

import math

import numpy as np
from numpy.typing import NDArray

from randori.games.dice import Dice, gamma
from randori.games.kernels import inlined, wide
from randori.games.rules import MOST_LEGAL, NUM_LOGITS, weigh
from randori.search.tree import (
    LATER,
    MOST_LOGITS,
    NEVER,
    NONE,
    UNKNOWN,
    Tree,
    admit,
    enlist,
    give_edge,
    is_whole,
    move_edge,
    recall_logits,
    wake,
    word_of,
)

FEW = 12
"""A node with no more moves than this lists them all at once."""
SHORT, LONGER = 4, 4
"""How many a node begins with that has more; how many times as long its next list is."""
EARLIER = np.uint64(0xFFFF0000)
"""Turned over, these bits make the larger word the likelier move, and of equals the earlier."""
ABOVE_ALL: int = wide(2**63 - 1)
"""Larger than any move's word, read as a number with a sign."""
LN2_HIGH = np.float32(355 / 512)
LN2_LOW = np.float32(math.log(2.0) - 355 / 512)


@inlined
def open_node(tree: Tree, node: int, logits: NDArray[np.float32]) -> None:
    """List the likeliest moves of a node that was judged, more than before; there must be room."""
    before = wide(tree.nodes[node].held)
    held = LONGER * before if before else wide(SHORT)
    list_likeliest(tree, node, MOST_LEGAL if NUM_LOGITS > MOST_LOGITS else held, logits)


def open_wholly(tree: Tree, node: int, logits: NDArray[np.float32]) -> None:
    """List all moves of a node that was judged, if they are not; there must be room."""
    if not is_whole(tree, node):
        list_likeliest(tree, node, wide(MOST_LEGAL), logits)


@inlined
def list_likeliest(tree: Tree, node: int, most: int, logits: NDArray[np.float32]) -> None:
    """List so many moves at most, the likeliest first; edges that there are come along."""
    count = weigh_moves(tree, node, logits)
    before = wide(tree.nodes[node].first)
    live = wide(tree.nodes[node].live)
    enlist(tree, node, count, count if count <= FEW else min(count, most))
    first = wide(tree.nodes[node].first)
    pick_likeliest(tree, first, count, wide(tree.nodes[node].held))
    for k in range(live):
        move_edge(tree, before + k, first + k)
    look_ahead(tree, node)


@inlined
def pick_likeliest(tree: Tree, first: int, count: int, held: int) -> None:
    """Write `held` of the moves from `first` on, the likeliest first."""
    for k in range(count):
        tree.order[k] = wide(word_of(tree.odds[k], k, tree.actions[k]) ^ EARLIER)
    if held == count:
        for k in range(count):
            e = first + number_above(tree.order, count, tree.order[k])
            tree.packed[e] = np.uint64(tree.order[k]) ^ EARLIER
        return
    best = ABOVE_ALL
    for e in range(first, first + held):
        best = largest_below(tree.order, count, best)
        tree.packed[e] = np.uint64(best) ^ EARLIER


@inlined
def number_above(words: NDArray[np.int64], count: int, word: int) -> int:
    """Count the larger ones of so many words; no branch, so that it uses vectors."""
    above = wide(0)
    for k in range(count):
        above += wide(words[k] > word)
    return above


@inlined
def largest_below(words: NDArray[np.int64], count: int, limit: int) -> int:
    """Return the largest of so many words that are smaller than `limit`; no branch here either."""
    best = wide(-1)
    for k in range(count):
        best = max(best, words[k] | -wide(words[k] >= limit))
    return best


@inlined
def look_ahead(tree: Tree, node: int) -> None:
    """Note the prior of the move that would be tried next."""
    live = wide(tree.nodes[node].live)
    if live < tree.nodes[node].held:
        tree.nodes[node].next = tree.moves[wide(tree.nodes[node].first) + live].prior
    else:
        tree.nodes[node].next = LATER if live < tree.nodes[node].count else NEVER


@inlined
def try_next(tree: Tree, node: int, urgency: np.float32) -> int:
    """Give the likeliest move without an edge one, and return it."""
    edge = wide(tree.nodes[node].first) + tree.nodes[node].live
    give_edge(tree, edge, urgency)
    tree.nodes[node].live += 1
    look_ahead(tree, node)
    return edge


def weigh_root(tree: Tree, logits: NDArray[np.float32], urgency: np.float32) -> None:
    """Give priors to the moves of a root that is new, and all of them edges."""
    root = wide(0)
    count = weigh_moves(tree, root, logits)
    pick_likeliest(tree, wide(tree.nodes[root].first), count, count)
    tree.nodes[root].live = 0
    wake(tree, root, urgency)


def open_root(tree: Tree, urgency: np.float32) -> None:
    """Give all its moves to a root that was an inner node."""
    root = wide(0)
    if tree.nodes[root].first != NONE or tree.nodes[root].proven == UNKNOWN:
        recall_logits(tree, root)
        open_wholly(tree, root, tree.said)
    wake(tree, root, urgency)
    sort_root(tree)


def sort_root(tree: Tree) -> None:
    """Put the root's untried moves in the order of their priors, of equals the earlier first.

    What was tried stands before them already, unless it wins at once: then order does not matter.
    """
    front = wide(tree.nodes[0].first)
    end = front + tree.nodes[0].count
    while front < end and tree.edges[front].tried > 0:
        front += 1
    count = end - front
    is_sorted = True
    for k in range(count):
        if tree.edges[front + k].tried > 0:
            return
        word = word_of(tree.edges[front + k].prior, tree.moves[front + k].rank, 0)
        tree.order[k] = wide(word ^ EARLIER)
        is_sorted &= k == 0 or tree.order[k] < tree.order[k - 1]
    if is_sorted:
        return
    for k in range(count):
        tree.actions[k] = number_above(tree.order, count, tree.order[k])
        tree.odds[k] = tree.edges[front + k].prior
    for k in range(count):
        tree.order[k] = tree.packed[front + k]
    for k in range(count):
        to = front + tree.actions[k]
        tree.packed[to] = tree.order[k]
        tree.edges[to].prior = tree.odds[k]


@inlined
def weigh_moves(tree: Tree, node: int, logits: NDArray[np.float32]) -> int:
    """Put a node's legal actions into `actions` and their priors into `odds`; return how many."""
    count = admit(tree, node, wide(weigh(tree.states[node], tree.actions, logits, tree.odds)))
    soften(tree.odds, count)
    return count


def exp_of(x: np.float32) -> np.float32:
    """Return e ** x for x ≤ 0, within two units in the last place; below −87 as at −87.

    A loop over it uses vector instructions, and it has the same bits everywhere; the C library's
    does neither.
    """
    x = max(x, np.float32(-87.0))
    twos = np.int32(x * np.float32(1.44269504) - np.float32(0.5))
    n = np.float32(twos)
    r = x - n * LN2_HIGH - n * LN2_LOW
    series = np.float32(1 / 720) + r * np.float32(1 / 5040)
    series = np.float32(1 / 120) + r * series
    series = np.float32(1 / 24) + r * series
    series = np.float32(1 / 6) + r * series
    series = np.float32(0.5) + r * series
    series = np.float32(1.0) + r * (np.float32(1.0) + r * series)
    power = np.int32(twos + np.int32(127)) << np.int32(23)
    return series * np.int32(power).view(np.float32)


def soften(odds: NDArray[np.float32], count: int) -> None:
    """Turn logits into probabilities; all alike where they are no numbers that allow it."""
    whole = count - count % 4
    a = b = c = d = np.float32(-np.inf)  # four at once need not wait for each other
    for k in range(0, whole, 4):
        a = max(a, odds[k])
        b = max(b, odds[k + 1])
        c = max(c, odds[k + 2])
        d = max(d, odds[k + 3])
    for k in range(whole, count):
        a = max(a, odds[k])
    top = max(max(a, b), max(c, d))
    for k in range(count):
        odds[k] = exp_of(odds[k] - top)
    a = b = c = d = np.float32(0.0)
    for k in range(0, whole, 4):
        a += odds[k]
        b += odds[k + 1]
        c += odds[k + 2]
        d += odds[k + 3]
    for k in range(whole, count):
        a += odds[k]
    total = (a + b) + (c + d)
    if not 0.0 < total < np.inf:  # an evaluator whose weights have gone astray
        for k in range(count):
            odds[k] = np.float32(1.0)
        total = np.float32(count)
    for k in range(count):
        odds[k] /= total


def add_noise(tree: Tree, dice: Dice, alpha: float, share: float) -> None:
    """Mix Dirichlet noise into the priors at the root; alpha 0 stands for 10 / legal actions."""
    first = tree.nodes[0].first
    count = tree.nodes[0].count
    if alpha == 0.0:
        alpha = 10.0 / count
    total = 0.0
    noise = tree.weights
    for k in range(count):
        noise[k] = gamma(dice, alpha)
        total += noise[k]
    if total > 0.0:
        for k in range(count):
            prior = tree.edges[first + k].prior
            tree.edges[first + k].prior = (1.0 - share) * prior + share * noise[k] / total
    sort_root(tree)
