"""Search over a graph: positions that several lines lead to have one node, and one opinion.

A tree searches a position anew for every order of moves that leads to it, and each of its nodes
knows a part of what is known. Here an edge that leads to a position which is there already leads to
that node. So a node may be reached from several others; it counts as the child of the one that the
last descent came from, wherefore there is one descent at a time. An edge is worth what its node is
worth, by all visits and not only those through the edge; values are made anew on the way up, and
edges that others have to a node learn of it when they are next walked.

Positions are the same only if their plies are, so that no way leads back. Games whose positions may
come again are searched as trees, because what is a draw there depends on the way (`past.py`).
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from randori.games.kernels import wide
from randori.games.rules import STATE_WORDS, key_behind
from randori.search.backup import proven_value, settle
from randori.search.tree import (
    NEVER,
    NODES,
    NONE,
    UNKNOWN,
    Tree,
    Trees,
    finish_node,
    tree_of,
    write_state,
)


def with_twins(trees: Trees) -> Trees:
    """Give trees two places for every node there is room for, a power of two."""
    slots, nodes = trees.nodes.shape
    return trees._replace(twins=np.zeros((slots, 2 * nodes), dtype=np.int32))


def find_twins(trees: Trees) -> None:
    """Put all nodes but the roots into places that are free."""
    for slot in range(len(trees.used)):
        tree = tree_of(trees, slot)
        for node in range(1, tree.used[NODES]):
            place = place_of_twin(tree, wide(node))
            if tree.twins[place] == 0:
                tree.twins[place] = node


def place_of_twin(tree: Tree, node: int) -> int:
    """Return the place of the node that has the position of `node`, or a free one for it."""
    state = tree.states[node]
    last = wide(len(tree.twins) - 1)
    place = wide(key_behind(state[0], state)) & last
    while tree.twins[place] != 0:
        other = tree.states[tree.twins[place]]
        is_same = True
        for w in range(STATE_WORDS):
            is_same &= other[w] == state[w]
        if is_same:
            break
        place = (place + 1) & last
    return place


def follow_graph(tree: Tree, node: int, edge: int) -> int:
    """Return the node below an edge of `node`; one with its position, or made if there is none."""
    child = wide(tree.edges[edge].child)
    if child == NONE:
        child = wide(tree.used[NODES])
        write_state(tree, node, edge)
        place = place_of_twin(tree, child)
        if tree.twins[place] == 0:
            tree.twins[place] = child
            finish_node(tree, node, edge)
        child = wide(tree.twins[place])
        tree.edges[edge].child = child
    tree.nodes[child].parent = node
    tree.nodes[child].via = edge
    return child


def node_worth(tree: Tree, node: int) -> np.float32:
    """Return what is proven of a node, or the mean of its own value and what its moves are worth.

    Moves that are proven to lose count for nothing, because they are never played.
    """
    if tree.nodes[node].proven != UNKNOWN:
        return proven_value(tree.nodes[node].proven)
    total = tree.nodes[node].value
    visits = np.float32(1.0)
    first = wide(tree.nodes[node].first)
    for e in range(first, first + tree.nodes[node].live):
        if tree.edges[e].tried > 0 and tree.edges[e].q != NEVER:
            total += tree.edges[e].q * np.float32(tree.edges[e].tried)
            visits += np.float32(tree.edges[e].tried)
    return total / visits


def back_up_graph(tree: Tree, node: int, value: np.float32, solve: bool) -> None:
    """Count a visit to `node` and to all above it on the way that led there.

    What it is worth there stands in the node already.
    """
    tree.nodes[node].visits += 1
    parent = wide(tree.nodes[node].parent)
    while parent != NONE:
        edge = wide(tree.nodes[node].via)
        tree.edges[edge].tried += 1
        tree.nodes[parent].visits += 1
        proven = tree.nodes[node].proven
        if solve and proven != UNKNOWN and tree.nodes[parent].proven == UNKNOWN:
            settle(tree, parent, edge, proven)
        if tree.edges[edge].q != NEVER:
            tree.edges[edge].q = -node_worth(tree, node)
        node = parent
        parent = wide(tree.nodes[node].parent)


GRAPH_KERNELS: dict[str, Callable[..., Any]] = {
    "follow": follow_graph, "back_up": back_up_graph
}  # fmt: skip
"""What takes the place of these functions in templates over graphs."""
