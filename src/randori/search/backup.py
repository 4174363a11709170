"""What a visit leaves behind: values on the way up, and what is proven.

A search of few simulations walks past a move that wins at once if the evaluator thinks little of
it, and into one that loses at once if the evaluator does not think of the answer. So the root's own
moves are looked at before anything else (`seize`), and in play so are the answers to every move
that is tried (`foil`).
"""

import numpy as np

from randori.games.kernels import DRAW, FIRST, ONGOING, State, inlined, scratch, wide
from randori.games.rules import STATE_WORDS, outcome, play
from randori.search.tree import (
    DRAWN,
    EDGES,
    LATER,
    LOST,
    NEVER,
    NODES,
    NONE,
    SEIZED,
    UNKNOWN,
    WON,
    Tree,
    add_node,
    enlist,
    find_moves,
    give_edge,
    word_of,
)


def proven_value(proven: int) -> np.float32:
    """Turn what is proven into a value."""
    return np.float32(0.0) if proven == DRAWN else np.float32(proven)


def root_value(tree: Tree) -> float:
    """Return what the search makes of the root, for the side to move.

    Moves that are proven to lose count for nothing, because they are never played.
    """
    root = tree.nodes[0]
    if root.proven != UNKNOWN:
        return float(proven_value(root.proven))
    total = float(root.value)
    visits = 1
    for e in range(root.first, root.first + root.count):
        if tree.edges[e].tried > 0 and tree.edges[e].q != NEVER:
            total += tree.edges[e].q * tree.edges[e].tried
            visits += tree.edges[e].tried
    return total / visits


@inlined
def back_up(tree: Tree, node: int, value: np.float32, solve: bool) -> None:
    """Count a visit to `node` worth `value` there, and to all nodes above it.

    With `solve`, what is proven below is proven above as far as it goes.
    """
    tree.nodes[node].visits += 1
    parent = tree.nodes[node].parent
    while parent != NONE:
        edge = tree.nodes[node].via
        value = -value
        tried = tree.edges[edge].tried + 1
        tree.edges[edge].tried = tried
        mean = tree.edges[edge].q
        if mean != NEVER:
            tree.edges[edge].q = value if tried == 1 else mean + (value - mean) / np.float32(tried)
        tree.nodes[parent].visits += 1
        if solve:
            if tree.nodes[node].proven != UNKNOWN and tree.nodes[parent].proven == UNKNOWN:
                settle(tree, parent, edge, tree.nodes[node].proven)
            if tree.nodes[parent].proven != UNKNOWN:
                value = proven_value(tree.nodes[parent].proven)
        node = parent
        parent = tree.nodes[node].parent


def settle(tree: Tree, parent: int, edge: int, proven: int) -> None:
    """Draw the conclusions for `parent` from a proven node below its `edge`."""
    if proven == LOST:
        tree.nodes[parent].proven = WON
        return
    if proven == WON:
        tree.edges[edge].q = NEVER
    if tree.nodes[parent].live < tree.nodes[parent].count:
        return
    best = LOST
    first = tree.nodes[parent].first
    for e in range(first, first + tree.nodes[parent].count):
        child = tree.edges[e].child
        if child == NONE or tree.nodes[child].proven == UNKNOWN:
            return
        if tree.nodes[child].proven == DRAWN:
            best = DRAWN
    tree.nodes[parent].proven = best


def wins_at_once(state: State, action: int, trial: State) -> bool:
    """Tell whether an action ends the game in favour of the side that plays it."""
    for w in range(STATE_WORDS):
        trial[w] = state[w]
    first_moves = state[0] & np.uint64(1) == np.uint64(0)
    play(trial, action)
    result = outcome(trial)
    return result != ONGOING and result != DRAW and (result == FIRST) == first_moves


def foil(tree: Tree, node: int) -> None:
    """Prove a new node won if the side to move there can win at once.

    Its list are the moves that do, and the first of them has a node: the fewer there are, the more
    an opponent has to see.
    """
    trial = scratch(STATE_WORDS)
    count = find_moves(tree, node)
    first = wide(tree.used[EDGES])
    answers = wide(0)
    for k in range(count):
        if wins_at_once(tree.states[node], wide(tree.actions[k]), trial):
            tree.packed[first + answers] = word_of(np.float32(0.0), k, tree.actions[k])
            answers += 1
    if answers == 0:
        return
    enlist(tree, node, count, answers)
    give_edge(tree, first, np.float32(0.0))
    tree.nodes[node].live = 1
    tree.nodes[node].next = LATER
    tree.nodes[node].proven = WON
    add_node(tree, node, first)


def answers_to(tree: Tree, edge: int) -> int:
    """Return how many answers to a move were found to win at once."""
    child = tree.edges[edge].child
    if child == NONE or tree.nodes[child].judged or tree.nodes[child].proven != WON:
        return 0
    return int(tree.nodes[child].held)


def seize(tree: Tree) -> None:
    """Look, once, whether a move of the judged root wins at once: then nothing else counts."""
    root = tree.nodes[0]
    if tree.used[SEIZED] or not root.judged or root.proven != UNKNOWN:
        return
    if tree.used[NODES] == len(tree.nodes):
        return
    tree.used[SEIZED] = 1
    trial = scratch(STATE_WORDS)
    for edge in range(root.first, root.first + root.count):
        if tree.edges[edge].child != NONE:
            continue
        if wins_at_once(tree.states[0], wide(tree.moves[edge].action), trial):
            node = add_node(tree, wide(0), edge)
            back_up(tree, node, proven_value(tree.nodes[node].proven), True)
            return
