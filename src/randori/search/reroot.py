"""Move the root of a tree down and forget the rest, in place."""

from randori.games.kernels import wide
from randori.games.rules import STATE_WORDS
from randori.search.tree import (
    EDGES,
    LISTS,
    NODES,
    NONE,
    PLAIN,
    RULE,
    SEIZED,
    Tree,
    is_whole,
    move_edge,
)


def reroot(tree: Tree, root: int) -> None:
    """Make node `root` the root of its slot and forget everything that is not below it.

    Everything moves towards the front, so ascending passes work in place. Then its moves must be
    opened as a root's are.
    """
    places = tree.places
    kept = 1
    places[root] = 0
    for node in range(root + 1, tree.used[NODES]):
        above = tree.nodes[node].parent
        if above >= root and places[above] != NONE:
            places[node] = kept
            kept += 1
        else:
            places[node] = NONE
    lists = 0
    edges = 0
    for i in range(tree.used[LISTS]):
        node = wide(tree.listed[i])
        if node >= root and places[node] != NONE:
            tree.listed[lists] = places[node]
            move_list(tree, node, edges)
            lists += 1
            edges += tree.nodes[node].held
    for node in range(root, tree.used[NODES]):
        if places[node] != NONE:
            move_node(tree, node, wide(places[node]))
    tree.nodes[0].parent = NONE
    tree.used[NODES] = kept
    tree.used[EDGES] = edges
    tree.used[LISTS] = lists
    tree.used[RULE] = PLAIN
    tree.used[SEIZED] = 0  # and AT is 0: no descent is under way where a search is over


def move_list(tree: Tree, node: int, to: int) -> None:
    """Move the moves and edges of a node to the front; its children are about to move, too."""
    first = wide(tree.nodes[node].first)
    for k in range(tree.nodes[node].held):
        tree.packed[to + k] = tree.packed[first + k]
    for k in range(tree.nodes[node].live):
        move_edge(tree, first + k, to + k)
        child = tree.edges[to + k].child
        if child != NONE:
            tree.edges[to + k].child = tree.places[child]
    tree.nodes[node].first = to


def move_node(tree: Tree, node: int, to: int) -> None:
    """Move a node to the front; its parent has moved already."""
    for w in range(STATE_WORDS):
        tree.states[to, w] = tree.states[node, w]
    if not is_whole(tree, node):
        for p in range(tree.logits.shape[1]):
            tree.logits[to, p] = tree.logits[node, p]
    tree.nodes[to].first = tree.nodes[node].first
    tree.nodes[to].count = tree.nodes[node].count
    tree.nodes[to].held = tree.nodes[node].held
    tree.nodes[to].live = tree.nodes[node].live
    tree.nodes[to].visits = tree.nodes[node].visits
    tree.nodes[to].parent = tree.places[tree.nodes[node].parent]
    tree.nodes[to].via = tree.nodes[node].via
    tree.nodes[to].value = tree.nodes[node].value
    tree.nodes[to].next = tree.nodes[node].next
    tree.nodes[to].proven = tree.nodes[node].proven
    tree.nodes[to].judged = tree.nodes[node].judged
