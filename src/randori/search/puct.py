"""PUCT: descend by value and prior, ask the evaluator about the leaf, back its answer up.

All trees move in lock step. A step takes the answers to the last batch of questions (`absorb`), and
walks each tree until it has a new one (`gather`); simulations that end in a known result or in a
remembered evaluation cost no question and go on at once, so the batch stays full.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from randori.games.kernels import inlined, wide
from randori.games.rules import HAS_THREATS, MOST_LEGAL, NUM_LOGITS, planes
from randori.search.backup import back_up, foil, force, outwit, proven_value, seize
from randori.search.cache import Cache, key_of, recall, remember
from randori.search.past import comes_again
from randori.search.priors import open_node, try_next, weigh_root
from randori.search.roots import pick_forced, pick_gumbel
from randori.search.tree import (
    AT,
    DRAWN,
    FORCED,
    GUMBEL,
    LATER,
    MOST_LOGITS,
    NEVER,
    NODES,
    NONE,
    PATH,
    PLAIN,
    RULE,
    SEIZED,
    UNKNOWN,
    Tree,
    follow,
    has_room,
    hear,
    keep_logits,
    recall_logits,
)

DONE: int = wide(-1)
NO_ROOM: int = wide(-2)
BUSY: int = wide(-3)
"""Why `next_leaf` has no leaf: the budget is spent; arrays are full; all leaves are in flight."""


NO_HALVING = np.zeros((1, 1), dtype=np.int32)


class Knobs(NamedTuple):
    """What steers a search."""

    exploration: float
    """γ, the weight of the prior against the value"""
    fpu: float
    """an unvisited move is worth its parent's own evaluation less this"""
    solve: bool
    """carry proven results up the tree"""
    leaves: int
    """leaves a tree may have in flight; more than one uses virtual losses"""
    skip_forced: bool
    """do not search where there is but one legal action"""
    forced: float = 0.0
    """k: a root with forced playouts gives every tried move √(k·P·N) of them"""
    considered: int = 0
    """moves that a Gumbel root begins with"""
    halving: NDArray[np.int32] = NO_HALVING
    """[m, n] see `halving_table`"""
    guard: bool = False
    """look whether the answer to any move that is tried wins at once, and whether a move of the
    root or of a node that is visited again wins in two; take what comes again for a draw; go on
    while all moves are lost; not for trees that are rerooted: nodes that are proven so lack most of
    their moves"""


class Questions(NamedTuple):
    """A batch in flight, and which leaf asked for which row."""

    states: NDArray[np.uint64]
    """[R, S]"""
    words: NDArray[np.uint64]
    """[R, W]"""
    logits: NDArray[Any]
    """[R, P] float32, or [R, compact_width] bytes (`byte_logits.py`)"""
    values: NDArray[np.float32]
    """[R]"""
    leaf: NDArray[np.int32]
    """[B, leaves] the nodes in flight"""
    keys: NDArray[np.uint64]
    """[B, leaves] under which their answers will be remembered"""
    first_row: NDArray[np.int32]
    """[B] the row of the first of them; the others follow"""
    in_flight: NDArray[np.int32]
    """[B] how many there are"""


@inlined
def urgency_of(tree: Tree, node: int, fpu: float) -> np.float32:
    """Return what an untried move of a node is taken to be worth."""
    return max(tree.nodes[node].value - np.float32(fpu), np.float32(-1.0))


@inlined
def pick_edge(tree: Tree, node: int, knobs: Knobs) -> int:
    """Return the edge with the largest Q + γ·P·√N / (1 + n), made if it is a new one.

    NONE where it may be one of the moves that are not listed. Untried moves differ in their prior
    alone and stand by it, so the first of them is the last that can win. Of equals a tried move
    goes before an untried one.
    """
    scale = np.float32(knobs.exploration * math.sqrt(tree.nodes[node].visits))
    is_sorted = node != 0 or tree.used[RULE] != GUMBEL  # luck tries moves in an order of its own
    first = wide(tree.nodes[node].first)
    best = first
    best_score = np.float32(-np.inf)
    for e in range(first, first + tree.nodes[node].live):
        bonus = scale * tree.edges[e].prior / np.float32(1 + tree.edges[e].tried)
        score = tree.edges[e].q + bonus
        if score > best_score:
            best_score = score
            best = e
        if tree.edges[e].tried == 0 and is_sorted:
            return best
    live = tree.nodes[node].live
    if live < tree.nodes[node].count:
        urgency = urgency_of(tree, node, knobs.fpu)
        is_listed = tree.nodes[node].next != LATER
        # What is not listed is no likelier than the last move that is.
        prior = tree.nodes[node].next if is_listed else tree.moves[first + live - 1].prior
        if urgency + scale * prior > best_score or live == 0:
            return try_next(tree, node, urgency) if is_listed else NONE
    return best


def pick_root(tree: Tree, knobs: Knobs) -> int:
    """Return the edge of the root that its own rule asks for, or NONE to choose as everywhere."""
    if tree.used[RULE] == FORCED:
        return pick_forced(tree, knobs.forced)
    if tree.used[RULE] == GUMBEL:
        return pick_gumbel(tree, knobs.considered, knobs.halving)
    return NONE


@inlined
def descend(tree: Tree, knobs: Knobs) -> int:
    """Walk from the root, or from where `set_out` got to, to a leaf.

    That is a node that nobody has judged or whose result is known. Returns NO_ROOM if a node on the
    way needs a list that does not fit; nothing is lost then.
    """
    node = wide(tree.used[AT])
    if node == 0:
        tree.path[0] = 0
    while tree.nodes[node].judged and tree.nodes[node].proven == UNKNOWN:
        below = step_down(tree, node, knobs)
        if below == NO_ROOM:
            return NO_ROOM
        if below == node:
            break
        node = below
    note(tree, node)
    tree.used[AT] = 0
    return node


@inlined
def step_down(tree: Tree, node: int, knobs: Knobs) -> int:
    """Walk from a node that was judged to the one below where its best move leads.

    Returns the same node if it turns out to be proven, and NO_ROOM as `descend` does.
    """
    if knobs.guard and HAS_THREATS and node != 0 and tree.nodes[node].visits == 1:
        if not has_room(tree, 1):
            return NO_ROOM
        outwit(tree, node)
        if tree.nodes[node].proven != UNKNOWN:
            return node
    if tree.nodes[node].first == NONE:
        if not has_room(tree, 1):
            return NO_ROOM
        recall_logits(tree, node)
        open_node(tree, node, tree.said)
        if tree.nodes[node].proven != UNKNOWN:  # the rules have broken a law
            return node
    note(tree, node)
    below = best_below(tree, node, knobs)
    if below == NONE:  # its list is used up
        if not has_room(tree, 1):
            return NO_ROOM
        recall_logits(tree, node)
        open_node(tree, node, tree.said)
        below = best_below(tree, node, knobs)
    return below


@inlined
def best_below(tree: Tree, node: int, knobs: Knobs) -> int:
    """Return the node where the best move of a node leads; NONE if that may not be listed."""
    edge = NONE
    if node == 0 and tree.used[RULE] != PLAIN:
        edge = pick_root(tree, knobs)
    if edge == NONE:
        edge = pick_edge(tree, node, knobs)
    return follow(tree, node, edge) if edge != NONE else NONE


@inlined
def note(tree: Tree, node: int) -> None:
    """Add a node to the path, if there is room."""
    end = tree.path[0]
    if end < 3 * PATH:
        first = tree.nodes[node].first
        tree.path[end + 1] = node
        tree.path[end + 2] = first
        tree.path[end + 3] = first + tree.nodes[node].live
        tree.path[0] = end + 3


@inlined
def is_spent(tree: Tree, budget: int, knobs: Knobs) -> bool:
    """Tell whether the search of this tree is over."""
    if knobs.skip_forced and tree.nodes[0].count == 1:
        return True
    if tree.nodes[0].proven != UNKNOWN:
        return True
    return tree.nodes[0].visits > budget and not (knobs.guard and is_desperate(tree))


def is_desperate(tree: Tree) -> bool:
    """Tell whether all moves of the root that were tried are lost, and some were not tried."""
    root = tree.nodes[0]
    tried = 0
    for e in range(root.first, root.first + root.count):
        if tree.edges[e].tried > 0:
            tried += 1
            if tree.edges[e].q != NEVER:
                return False
    return 0 < tried < root.count


@inlined
def take_what_wins(tree: Tree, knobs: Knobs) -> bool:
    """Prove a root that was just judged if it wins in a few plies; false if that needs room."""
    if knobs.solve and tree.used[SEIZED] == 0:
        seize(tree)
    return force(tree) if knobs.guard and tree.used[SEIZED] == 1 else True


@inlined
def is_new(tree: Tree, node: int) -> bool:
    """Tell whether nothing is known of a node yet."""
    return tree.nodes[node].visits == 0 and tree.nodes[node].proven == UNKNOWN


@inlined
def next_leaf(
    tree: Tree,
    cache: Cache,
    asked: Questions,
    slot: int,
    row: int,
    budget: int,
    knobs: Knobs,
) -> int:
    """Run simulations until one needs the evaluator; write its question to `row`."""
    while not is_spent(tree, budget, knobs):
        # Where logits are not kept, answers bring lists of moves: to this leaf and those in flight.
        lists = 1 + asked.in_flight[slot] if NUM_LOGITS > MOST_LOGITS else wide(0)
        is_full = knobs.guard and tree.used[NODES] + 2 > len(tree.nodes)  # a node, and its answer
        if tree.used[AT] == 0 and (is_full or not has_room(tree, lists)):
            return NO_ROOM
        node = descend(tree, knobs)
        if node == NO_ROOM:
            return NO_ROOM
        if knobs.guard and node != 0 and is_new(tree, node):
            foil(tree, node, wide(MOST_LEGAL))
            if is_new(tree, node) and comes_again(tree, node):
                tree.nodes[node].proven = DRAWN
        if tree.nodes[node].proven != UNKNOWN:
            back_up(tree, node, proven_value(tree.nodes[node].proven), knobs.solve)
            continue
        for k in range(asked.in_flight[slot]):
            if asked.leaf[slot, k] == node:
                return BUSY
        state = tree.states[node]
        planes(state, asked.words[row])
        key = key_of(asked.words[row])
        place = recall(cache, key)
        if place >= 0:
            judge(tree, node, cache.values[place], cache.logits[place], knobs)
            if node == 0 and not take_what_wins(tree, knobs):
                return NO_ROOM
            continue
        asked.keys[slot, asked.in_flight[slot]] = key
        for w in range(asked.states.shape[1]):
            asked.states[row, w] = state[w]
        return node
    return DONE


@inlined
def judge(
    tree: Tree,
    node: int,
    value: np.float32,
    logits: NDArray[Any],
    knobs: Knobs,
) -> None:
    """Take what the evaluator says about a node, and back its value up."""
    tree.nodes[node].value = value
    tree.nodes[node].judged = 1
    if node == 0:
        weigh_root(tree, hear(tree, node, logits, tree.said), urgency_of(tree, node, knobs.fpu))
    elif NUM_LOGITS > MOST_LOGITS:
        open_node(tree, node, hear(tree, node, logits, tree.said))
    else:
        keep_logits(tree, node, logits)
    back_up(tree, node, value, knobs.solve)


def lend(tree: Tree, node: int) -> None:
    """Count a virtual loss on every edge from the root to `node`, to send others elsewhere."""
    parent = tree.nodes[node].parent
    tree.nodes[node].visits += 1
    while parent != NONE:
        edge = tree.nodes[node].via
        tried = tree.edges[edge].tried
        total = tree.edges[edge].q * np.float32(tried) if tried > 0 else np.float32(0.0)
        tree.edges[edge].tried = tried + 1
        tree.edges[edge].q = (total - np.float32(1.0)) / np.float32(tried + 1)
        tree.nodes[parent].visits += 1
        node = parent
        parent = tree.nodes[node].parent


def repay(tree: Tree, node: int) -> None:
    """Take back what `lend` did."""
    parent = tree.nodes[node].parent
    tree.nodes[node].visits -= 1
    while parent != NONE:
        edge = tree.nodes[node].via
        tried = tree.edges[edge].tried - 1
        total = tree.edges[edge].q * np.float32(tried + 1) + np.float32(1.0)
        tree.edges[edge].tried = tried
        if tried > 0:
            tree.edges[edge].q = total / np.float32(tried)
        tree.nodes[parent].visits -= 1
        node = parent
        parent = tree.nodes[node].parent


@inlined
def absorb(
    tree: Tree,
    cache: Cache,
    asked: Questions,
    slot: int,
    knobs: Knobs,
) -> None:
    """Take the answers for one tree: judge its leaves and back their values up."""
    for k in range(asked.in_flight[slot]):
        row = asked.first_row[slot] + k
        node = wide(asked.leaf[slot, k])
        value = asked.values[row]
        if knobs.leaves > 1:
            repay(tree, node)
        remember(cache, asked.keys[slot, k], value, asked.logits[row])
        judge(tree, node, value, asked.logits[row], knobs)
    asked.in_flight[slot] = 0


@inlined
def gather(
    tree: Tree,
    cache: Cache,
    asked: Questions,
    slot: int,
    row: int,
    budget: int,
    knobs: Knobs,
) -> int:
    """Put the next questions of one tree into rows from `row` on.

    Returns DONE, NO_ROOM or BUSY, whatever ended the search for more, or 0; `in_flight` tells how
    many questions there are.
    """
    asked.first_row[slot] = row
    if not take_what_wins(tree, knobs):
        return NO_ROOM
    for k in range(knobs.leaves):
        node = next_leaf(tree, cache, asked, slot, row + k, budget, knobs)
        if node < 0:
            return node
        if knobs.leaves > 1:
            lend(tree, node)
        asked.leaf[slot, k] = node
        asked.in_flight[slot] = k + 1
    return 0
