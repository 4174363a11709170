"""Many search trees side by side in flat arrays, and the kernels that keep them.

Slot s holds one tree. Its nodes and edges stand in the order in which they were made, so a parent
comes before its children and node 0 is the root. A node owns a run of edges, one a legal action, in
the order of `legal`; an edge knows its child only once that was visited.

Values are from the side to move: a node's for the side to move there, an edge's `q` for the side
that plays the edge. An unvisited edge's q is its first-play urgency. An edge that is proven to
lose has q = −∞, so that no rule of selection has to ask.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from randori.errors import BrokenLaw
from randori.games.game import Game
from randori.games.kernels import DRAW, FIRST, ONGOING, State, wide
from randori.games.rules import MOST_LEGAL, STATE_WORDS, legal, outcome, play

UNKNOWN, WON, LOST, DRAWN = 0, 1, -1, 2
"""What is proven of a node, for the side to move there."""
NONE: int = wide(-1)
"""No such node or edge."""

NEVER = np.float32(-np.inf)
PATH = 15
"""Nodes of a descent that are noted."""


NODE = np.dtype(
    [
        ("first", np.int32),  # its first edge
        ("count", np.int32),  # how many edges it has; 0 when the game is over
        ("visits", np.int32),  # simulations that reached it, its own evaluation included
        ("parent", np.int32),  # the node above, NONE for the root
        ("via", np.int32),  # the edge that leads to it
        ("value", np.float32),  # its own evaluation
        ("proven", np.int8),  # UNKNOWN, WON, LOST or DRAWN
        ("expanded", np.int8),  # 1 once its edges have priors
    ],
    align=True,
)
EDGE = np.dtype(
    [
        ("q", np.float32),  # mean value of the simulations that went through it
        ("prior", np.float32),  # its probability by the evaluator
        ("tried", np.int32),  # how many simulations went through it
        ("child", np.int32),  # the node below, or NONE
        ("action", np.int32),
    ],
    align=True,
)
NODES, EDGES, BROKEN, RULE, SEIZED = range(5)
"""Indices of `used`."""
PLAIN, FORCED, GUMBEL = range(3)
"""How the root chooses, in RULE: like every node, with forced playouts, by sequential halving."""
TOO_MANY, NONE_LEFT, TOO_LONG = 1, 2, 3
"""What BROKEN holds when the rules break a law that the arrays rely on."""
_LAWS = {
    TOO_MANY: "law 'most_legal' broken: a position has more legal actions than it says",
    NONE_LEFT: "law 'ending' broken: a position without legal actions is not over",
    TOO_LONG: "law 'longest' broken: a game has more plies than it says",
}


class Trees(NamedTuple):
    """B trees of at most N nodes and E edges each; records keep what is read together together."""

    states: NDArray[np.uint64]
    """[B, N, S] the position of each node"""
    nodes: Any
    """[B, N] NODE"""
    edges: Any
    """[B, E] EDGE"""
    used: NDArray[np.int32]
    """[B, 5] how many nodes and edges there are, which law the rules have broken, or 0, how the
    root chooses, and whether it was searched for moves that win at once"""
    raw: NDArray[np.float32]
    """[B, most_legal] the priors of the root's moves before noise, once a search is opened"""
    luck: NDArray[np.float32]
    """[B, most_legal] Gumbel noise of the root's moves, where it is used"""
    actions: NDArray[np.int32]
    """[A] scratch for `legal`"""
    places: NDArray[np.int32]
    """[N] scratch for `reroot`"""
    weights: NDArray[np.float64]
    """[most_legal] scratch for drawing moves and noise"""
    odds: NDArray[np.float32]
    """[most_legal] scratch for the softmax"""
    paths: NDArray[np.int32]
    """[B, 1 + 3 * PATH] how far the last descent is noted, then its nodes, each with its first edge
    and the one after its last: what the next step will read"""


class Tree(NamedTuple):
    """One slot of `Trees`, without its axis B."""

    states: NDArray[np.uint64]
    nodes: Any
    edges: Any
    used: NDArray[np.int32]
    raw: NDArray[np.float32]
    luck: NDArray[np.float32]
    actions: NDArray[np.int32]
    places: NDArray[np.int32]
    weights: NDArray[np.float64]
    odds: NDArray[np.float32]
    path: NDArray[np.int32]


def make_trees(slots: int, nodes: int, edges: int, game: Game) -> Trees:
    """Allocate empty trees."""
    return Trees(
        np.zeros((slots, nodes, game.num_words), dtype=np.uint64),
        np.zeros((slots, nodes), dtype=NODE).view(np.recarray),
        np.zeros((slots, edges), dtype=EDGE).view(np.recarray),
        np.zeros((slots, 5), dtype=np.int32),
        np.zeros((slots, game.most_legal), dtype=np.float32),
        np.zeros((slots, game.most_legal), dtype=np.float32),
        np.zeros(game.num_actions, dtype=np.int32),
        np.zeros(nodes, dtype=np.int32),
        np.zeros(game.most_legal, dtype=np.float64),
        np.zeros(game.most_legal, dtype=np.float32),
        np.zeros((slots, 1 + 3 * PATH), dtype=np.int32),
    )


def enlarge(trees: Trees, game: Game) -> Trees:
    """Copy `trees` into arrays with room for twice as many nodes and edges."""
    slots, nodes = trees.nodes.shape
    edges = trees.edges.shape[1]
    larger = make_trees(slots, 2 * nodes, 2 * edges, game)
    larger.states[:, :nodes] = trees.states
    larger.nodes[:, :nodes] = trees.nodes
    larger.edges[:, :edges] = trees.edges
    larger.used[:] = trees.used
    larger.raw[:] = trees.raw
    larger.luck[:] = trees.luck
    return larger


def expect_lawful(trees: Trees, game: Game) -> None:
    """Raise `BrokenLaw` if the rules have done what the arrays have no room for."""
    broken = np.flatnonzero(trees.used[:, BROKEN])
    if broken.size:
        law = _LAWS[int(trees.used[broken[0], BROKEN])]
        raise BrokenLaw(f"{game.name}: {law}; `randori check {game.spec}` looks for the position")


def tree_of(trees: Trees, slot: int) -> Tree:
    """Look at one slot."""
    return Tree(
        trees.states[slot],
        trees.nodes[slot],
        trees.edges[slot],
        trees.used[slot],
        trees.raw[slot],
        trees.luck[slot],
        trees.actions,
        trees.places,
        trees.weights,
        trees.odds,
        trees.paths[slot],
    )


def has_room(tree: Tree) -> bool:
    """Tell whether one more node fits, with as many edges as a position can have."""
    nodes_fit = tree.used[NODES] < len(tree.nodes)
    return nodes_fit and tree.used[EDGES] + MOST_LEGAL <= len(tree.edges)


def add_node(tree: Tree, parent: int, via: int) -> int:
    """Make the node below edge `via` of `parent`, with its legal actions; there must be room."""
    node = tree.used[NODES]
    state = tree.states[node]
    above = tree.states[parent]
    for w in range(STATE_WORDS):
        state[w] = above[w]
    play(state, tree.edges[via].action)
    tree.edges[via].child = node
    finish_node(tree, parent, via)
    return node


def plant(tree: Tree, state: State) -> None:
    """Empty the tree and make `state` its root."""
    tree.used[NODES] = 0
    tree.used[EDGES] = 0
    tree.used[RULE] = PLAIN
    tree.used[SEIZED] = 0
    root = tree.states[0]
    for w in range(STATE_WORDS):
        root[w] = state[w]
    finish_node(tree, NONE, NONE)


def finish_node(tree: Tree, parent: int, via: int) -> None:
    """Fill in the newest node, whose state is already there."""
    node = tree.used[NODES]
    edge = tree.used[EDGES]
    state = tree.states[node]
    result = outcome(state)
    count = 0
    proven = UNKNOWN
    if result == ONGOING:
        count = legal(state, tree.actions)
        if count > MOST_LEGAL:
            tree.used[BROKEN] = TOO_MANY
            count = MOST_LEGAL
        elif count == 0:
            tree.used[BROKEN] = NONE_LEFT
            proven = DRAWN
    elif result == DRAW:
        proven = DRAWN
    else:
        first_moves = state[0] & np.uint64(1) == np.uint64(0)
        proven = WON if (result == FIRST) == first_moves else LOST
    for k in range(count):
        e = edge + k
        tree.edges[e].action = tree.actions[k]
        tree.edges[e].q = 0.0
        tree.edges[e].tried = 0
        tree.edges[e].child = NONE
    tree.nodes[node].first = edge
    tree.nodes[node].count = count
    tree.nodes[node].visits = 0
    tree.nodes[node].value = 0.0
    tree.nodes[node].parent = parent
    tree.nodes[node].via = via
    tree.nodes[node].proven = proven
    tree.nodes[node].expanded = 0
    tree.used[NODES] = node + 1
    tree.used[EDGES] = edge + count


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
    best = LOST
    first = tree.nodes[parent].first
    for e in range(first, first + tree.nodes[parent].count):
        child = tree.edges[e].child
        if child == NONE or tree.nodes[child].proven == UNKNOWN:
            return
        if tree.nodes[child].proven == DRAWN:
            best = DRAWN
    tree.nodes[parent].proven = best


def seize(tree: Tree) -> None:
    """Look, once, whether a move of the expanded root wins at once: then nothing else counts.

    A search of few simulations would otherwise walk past it if the evaluator thinks little of it.
    """
    root = tree.nodes[0]
    if tree.used[SEIZED] or not root.expanded or root.proven != UNKNOWN or not has_room(tree):
        return
    tree.used[SEIZED] = 1
    trial = tree.states[tree.used[NODES]]
    for edge in range(root.first, root.first + root.count):
        if tree.edges[edge].child != NONE:
            continue
        for w in range(STATE_WORDS):
            trial[w] = tree.states[0, w]
        play(trial, tree.edges[edge].action)
        result = outcome(trial)
        if result != ONGOING and result != DRAW:
            child_moves_first = trial[0] & np.uint64(1) == np.uint64(0)
            if (result == FIRST) != child_moves_first:
                node = add_node(tree, wide(0), edge)
                back_up(tree, node, proven_value(tree.nodes[node].proven), True)
                return


def reroot(tree: Tree, root: int) -> None:
    """Make node `root` the root of its slot and forget everything that is not below it.

    Everything moves towards the front, so one ascending pass works in place.
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
    edges = 0
    for node in range(root, tree.used[NODES]):
        to = places[node]
        if to == NONE:
            continue
        for w in range(STATE_WORDS):
            tree.states[to, w] = tree.states[node, w]
        first = tree.nodes[node].first
        count = tree.nodes[node].count
        for k in range(count):
            child = tree.edges[first + k].child
            tree.edges[edges + k].action = tree.edges[first + k].action
            tree.edges[edges + k].prior = tree.edges[first + k].prior
            tree.edges[edges + k].tried = tree.edges[first + k].tried
            tree.edges[edges + k].q = tree.edges[first + k].q
            tree.edges[edges + k].child = NONE if child == NONE else places[child]
            if child != NONE:
                tree.nodes[child].via = edges + k
        tree.nodes[to].first = edges
        tree.nodes[to].count = count
        tree.nodes[to].visits = tree.nodes[node].visits
        tree.nodes[to].parent = NONE if node == root else places[tree.nodes[node].parent]
        tree.nodes[to].via = tree.nodes[node].via
        tree.nodes[to].value = tree.nodes[node].value
        tree.nodes[to].proven = tree.nodes[node].proven
        tree.nodes[to].expanded = tree.nodes[node].expanded
        edges += count
    tree.used[NODES] = kept
    tree.used[EDGES] = edges
    tree.used[RULE] = PLAIN
    tree.used[SEIZED] = 0
