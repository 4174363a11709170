"""Many search trees side by side in flat arrays, and the kernels that keep them.

Slot s holds one tree. Its nodes stand in the order in which they were made, so a parent comes
before its children and node 0 is the root. Half of all nodes are visited once and never again, and
most moves are never tried, so nothing is done before it is needed:

- A new node has a position and, once the evaluator has answered, a value and logits. Its moves are
  listed, with their priors, when a second visit goes through it.
- A listed node owns a run of moves and of edges: its likeliest moves in order, a few at first
  (`priors.py`). They are tried in that order, because untried moves differ in their prior alone;
  only those that were tried have an edge. When the run is used up, a longer one takes its place.
- The root is searched by rules of its own, so all its moves have edges; the untried ones stand by
  their priors, with noise.

Values are from the side to move: a node's for the side to move there, an edge's `q` for the side
that plays the edge. An edge that is proven to lose has q = −∞, so that no rule of selection has to
ask.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from randori.errors import BrokenLaw
from randori.games.game import Game
from randori.games.kernels import DRAW, FIRST, ONGOING, State, inlined, wide
from randori.games.rules import MOST_LEGAL, STATE_WORDS, legal, outcome, play

UNKNOWN, WON, LOST, DRAWN = 0, 1, -1, 2
"""What is proven of a node, for the side to move there."""
NONE: int = wide(-1)
"""No such node or edge."""

NEVER = np.float32(-np.inf)
LATER = np.float32(np.inf)
"""What stands for the prior of the next move where it is not listed yet."""
LINE = 64
"""Bytes that memory hands over at once."""
PATH = 15
"""Nodes of a descent that are noted."""
SPARE = 3
"""Whole lists that trees have room for at first: the root's, a new one, and the next root's."""
MOST_LOGITS = 1024
"""Where there are more than this, moves are listed at once instead of keeping logits."""
HALF, UPPER = np.uint32(0x8000), np.uint32(16)
"""A float32 without its lower half, rounded, is as exact as what a network computes in bf16."""


NODE = np.dtype(
    [
        ("first", np.int32),  # its first move and edge; NONE until they are listed
        ("visits", np.int32),  # simulations that reached it, its own evaluation included
        ("parent", np.int32),  # the node above, NONE for the root
        ("via", np.int32),  # the edge that leads to it
        ("value", np.float32),  # its own evaluation
        ("next", np.float32),  # the prior of the first move without an edge, NEVER or LATER
        ("count", np.int16),  # how many moves it has; 0 until they are listed
        ("held", np.int16),  # how many of them are listed
        ("live", np.int16),  # how many of those have edges
        ("proven", np.int8),  # UNKNOWN, WON, LOST or DRAWN
        # 1 once the evaluator has answered; 0 again once a win is found by looking: then its list
        # is only what wins
        ("judged", np.int8),
    ],
    align=True,
)
MOVE = np.dtype(
    [
        ("action", np.uint16),
        ("rank", np.int16),  # its place in the order of `legal`
        ("prior", np.float32),  # its probability by the evaluator, without noise
    ],
    align=True,
)
RANK_SHIFT, PRIOR_SHIFT = np.uint64(16), np.uint64(32)
"""Where rank and prior stand in a MOVE that is read as one word, on a little-endian machine."""
EDGE = np.dtype(
    [
        ("q", np.float32),  # mean value of the simulations that went through it; urgency before
        ("prior", np.float32),  # of its move, with noise at the root
        ("tried", np.int32),  # how many simulations went through it
        ("child", np.int32),  # the node below, or NONE
    ],
    align=True,
)
USES = 7
NODES, EDGES, LISTS, BROKEN, RULE, SEIZED, AT = range(USES)
"""Indices of `used`."""
PLAIN, FORCED, GUMBEL = range(3)
"""How the root chooses, in RULE: like every node, with forced playouts, by sequential halving."""
TOO_MANY, NONE_LEFT, TOO_LONG, TOO_MARKED = 1, 2, 3, 4
"""What BROKEN holds when the rules break a law that the arrays rely on."""
_LAWS = {
    TOO_MANY: "law 'most_legal' broken: a position has more legal actions than it says",
    NONE_LEFT: "law 'ending' broken: a position without legal actions is not over",
    TOO_LONG: "law 'longest' broken: a game has more plies than it says",
    TOO_MARKED: "law 'marks' broken: a position marks more logits than most_marked says",
}


class Trees(NamedTuple):
    """B trees of at most N nodes and E edges each; records keep what is read together together."""

    states: NDArray[np.uint64]
    """[B, N, S] the position of each node"""
    nodes: Any
    """[B, N] NODE"""
    moves: Any
    """[B, E] MOVE"""
    packed: NDArray[np.uint64]
    """[B, E] the same memory, a move a word"""
    edges: Any
    """[B, E] EDGE"""
    logits: NDArray[Any]
    """[B, N, P] what the evaluator said about the moves of nodes that are not all listed: the
    upper halves of float32, or [B, N, compact_width] bytes (`byte_logits.py`)"""
    used: NDArray[np.int32]
    """[B, USES] how many nodes, edges and lists of moves there are, which law the rules have
    broken, or 0, how the root chooses, how far it was searched for moves that win: in no, one or
    two, and to which node a descent that is under way has got; 0 for none"""
    listed: NDArray[np.int32]
    """[B, N] the nodes whose moves are listed, in the order of their runs"""
    luck: NDArray[np.float32]
    """[B, most_legal] Gumbel noise of the root's moves, where it is used"""
    actions: NDArray[np.int32]
    """[A] scratch for `legal`"""
    places: NDArray[np.int32]
    """[N] scratch for `reroot`"""
    weights: NDArray[np.float64]
    """[most_legal] scratch for drawing moves and noise"""
    odds: NDArray[np.float32]
    """[A] scratch for the softmax"""
    said: NDArray[np.float32]
    """[P] scratch for the logits of a node, and room behind it (`marks.py`)"""
    order: NDArray[np.int64]
    """[most_legal] scratch for the order of moves, and for the answers to one"""
    past: NDArray[np.uint64]
    """[B, L] keys of what each game has had before its root (`past.py`); 0 for none"""
    paths: NDArray[np.int32]
    """[B, 1 + 3 * PATH] how far the last descent is noted, then its nodes, each with its first edge
    and the one after its last: what the next step will read"""
    twins: NDArray[np.int32]
    """[B, H] where nodes are found by their position (`graph.py`), 0 for none; H is 0 in trees"""


class Tree(NamedTuple):
    """One slot of `Trees`, without its axis B."""

    states: NDArray[np.uint64]
    nodes: Any
    moves: Any
    packed: NDArray[np.uint64]
    edges: Any
    logits: NDArray[Any]
    used: NDArray[np.int32]
    listed: NDArray[np.int32]
    luck: NDArray[np.float32]
    actions: NDArray[np.int32]
    places: NDArray[np.int32]
    weights: NDArray[np.float64]
    odds: NDArray[np.float32]
    said: NDArray[np.float32]
    order: NDArray[np.int64]
    past: NDArray[np.uint64]
    path: NDArray[np.int32]
    twins: NDArray[np.int32]


def lined(shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """Make zeros that begin with a line of memory, so that few records lie in two."""
    size = math.prod(shape) * np.dtype(dtype).itemsize
    room = np.zeros(size + LINE, dtype=np.uint8)
    start = -room.ctypes.data % LINE
    return room[start : start + size].view(dtype).reshape(shape)


def make_trees(
    slots: int, nodes: int, edges: int, game: Game, kept: type[np.unsignedinteger] = np.uint16
) -> Trees:
    """Allocate empty trees that keep logits as `kept`."""
    width = game.compact_width if kept is np.uint8 else game.num_logits
    kept_logits = width if game.num_logits <= MOST_LOGITS else 0
    moves = lined((slots, edges), MOVE)
    return Trees(
        lined((slots, nodes, game.num_words), np.uint64),
        lined((slots, nodes), NODE).view(np.recarray),
        moves.view(np.recarray),
        moves.view(np.uint64),
        lined((slots, edges), EDGE).view(np.recarray),
        lined((slots, nodes, kept_logits), kept),
        np.zeros((slots, USES), dtype=np.int32),
        np.zeros((slots, nodes), dtype=np.int32),
        np.zeros((slots, game.most_legal), dtype=np.float32),
        np.zeros(game.num_actions, dtype=np.int32),
        np.zeros(nodes, dtype=np.int32),
        np.zeros(game.most_legal, dtype=np.float64),
        np.zeros(game.num_actions, dtype=np.float32),
        np.zeros(game.num_logits + game.runs.span, dtype=np.float32),
        np.zeros(game.most_legal, dtype=np.int64),
        np.zeros((slots, 0), dtype=np.uint64),
        np.zeros((slots, 1 + 3 * PATH), dtype=np.int32),
        np.zeros((slots, 0), dtype=np.int32),
    )


def enlarge(trees: Trees, game: Game) -> Trees:
    """Copy `trees` into arrays with room for twice as many nodes and edges.

    But for `paths`, which only tell what to ask memory for.
    """
    slots, nodes = trees.nodes.shape
    edges = trees.edges.shape[1]
    larger = make_trees(slots, 2 * nodes, 2 * edges, game, trees.logits.dtype.type)
    larger.states[:, :nodes] = trees.states
    larger.nodes[:, :nodes] = trees.nodes
    larger.moves[:, :edges] = trees.moves
    larger.edges[:, :edges] = trees.edges
    larger.logits[:, :nodes] = trees.logits
    larger.used[:] = trees.used
    larger.listed[:, :nodes] = trees.listed
    larger.luck[:] = trees.luck
    return larger._replace(past=trees.past)


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
        trees.moves[slot],
        trees.packed[slot],
        trees.edges[slot],
        trees.logits[slot],
        trees.used[slot],
        trees.listed[slot],
        trees.luck[slot],
        trees.actions,
        trees.places,
        trees.weights,
        trees.odds,
        trees.said,
        trees.order,
        trees.past[slot],
        trees.paths[slot],
        trees.twins[slot],
    )


@inlined
def hear(
    tree: Tree, node: int, logits: NDArray[Any], said: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Return what the evaluator says of a node as float32; `said` is room for it, if need be."""
    return logits


@inlined
def keep_logits(tree: Tree, node: int, logits: NDArray[np.float32]) -> None:
    """Keep what the evaluator said about a node's moves."""
    kept, bits = tree.logits[node], logits.view(np.uint32)
    for p in range(len(kept)):
        kept[p] = np.uint16((bits[p] + HALF) >> UPPER)


@inlined
def recall_logits(tree: Tree, node: int) -> None:
    """Put what was kept of a node into `said`."""
    kept, bits = tree.logits[node], tree.said.view(np.uint32)
    for p in range(len(kept)):
        bits[p] = np.uint32(kept[p]) << UPPER


def live_edges(tree: Tree, node: int) -> range:
    """List the edges that a node has: all its moves at the root, those that were tried below."""
    first = int(tree.nodes[node].first)
    return range(first, first + int(tree.nodes[node].live))


def tried_edges(tree: Tree, node: int) -> list[int]:
    """List the edges of a node that lead to another."""
    return [e for e in live_edges(tree, node) if tree.edges[e].child != NONE]


@inlined
def has_room(tree: Tree, lists: int) -> bool:
    """Tell whether one more node fits, and so many lists of moves.

    One more list stays free, for a node that becomes the root and gets all its moves; `reroot`
    drops the old root's before another is asked for.
    """
    nodes_fit = tree.used[NODES] < len(tree.nodes)
    return nodes_fit and tree.used[EDGES] + (lists + 1) * MOST_LEGAL <= len(tree.edges)


@inlined
def write_state(tree: Tree, parent: int, via: int) -> None:
    """Put the position below edge `via` of `parent` where the next node's is to be."""
    state = tree.states[tree.used[NODES]]
    above = tree.states[parent]
    for w in range(STATE_WORDS):
        state[w] = above[w]
    play(state, wide(tree.moves[via].action))


@inlined
def add_node(tree: Tree, parent: int, via: int) -> int:
    """Make the node below edge `via` of `parent`; there must be room."""
    node = tree.used[NODES]
    write_state(tree, parent, via)
    tree.edges[via].child = node
    finish_node(tree, parent, via)
    return node


@inlined
def follow(tree: Tree, node: int, edge: int) -> int:
    """Return the node below an edge of `node`, made if there is none."""
    child = wide(tree.edges[edge].child)
    return add_node(tree, node, edge) if child == NONE else child


def plant(tree: Tree, state: State) -> None:
    """Empty the tree and make `state` its root."""
    tree.used[NODES] = 0
    tree.used[EDGES] = 0
    tree.used[LISTS] = 0
    tree.used[RULE] = PLAIN
    tree.used[SEIZED] = 0
    tree.used[AT] = 0
    for place in range(len(tree.twins)):
        tree.twins[place] = 0
    root = tree.states[0]
    for w in range(STATE_WORDS):
        root[w] = state[w]
    finish_node(tree, NONE, NONE)
    if tree.nodes[0].proven == UNKNOWN:
        list_moves(tree, wide(0))


@inlined
def is_win(result: int, state: State) -> bool:
    """Tell whether a result is a win of the side to move in `state`."""
    first_moves = state[0] & np.uint64(1) == np.uint64(0)
    return result != ONGOING and result != DRAW and (result == FIRST) == first_moves


@inlined
def finish_node(tree: Tree, parent: int, via: int) -> None:
    """Fill in the newest node, whose state is already there."""
    node = tree.used[NODES]
    state = tree.states[node]
    result = outcome(state)
    proven = UNKNOWN
    if result == DRAW:
        proven = DRAWN
    elif result != ONGOING:
        proven = WON if is_win(result, state) else LOST
    tree.nodes[node].first = NONE
    tree.nodes[node].count = 0
    tree.nodes[node].held = 0
    tree.nodes[node].live = 0
    tree.nodes[node].visits = 0
    tree.nodes[node].value = 0.0
    tree.nodes[node].parent = parent
    tree.nodes[node].via = via
    tree.nodes[node].proven = proven
    tree.nodes[node].judged = 0
    tree.used[NODES] = node + 1


@inlined
def find_moves(tree: Tree, node: int) -> int:
    """Put the legal actions of a node whose game goes on into `actions`; return how many."""
    return admit(tree, node, wide(legal(tree.states[node], tree.actions)))


@inlined
def admit(tree: Tree, node: int, count: int) -> int:
    """Return how many of so many moves there is room for; note which law the rules break."""
    if count > MOST_LEGAL:
        tree.used[BROKEN] = TOO_MANY
        count = wide(MOST_LEGAL)
    elif count == 0:
        tree.used[BROKEN] = NONE_LEFT
        tree.nodes[node].proven = DRAWN
    return count


@inlined
def enlist(tree: Tree, node: int, count: int, held: int) -> None:
    """Give a node a run for `held` of its `count` moves; there must be room."""
    if tree.nodes[node].first != NONE:
        strike_off(tree, node)
    tree.nodes[node].first = tree.used[EDGES]
    tree.nodes[node].count = count
    tree.nodes[node].held = held
    tree.used[EDGES] += held
    tree.listed[tree.used[LISTS]] = node
    tree.used[LISTS] += 1


def strike_off(tree: Tree, node: int) -> None:
    """Forget where the moves of a node were listed."""
    first = tree.nodes[node].first
    place = 0
    end = tree.used[LISTS]
    while end - place > 1:  # runs ascend in the order of `listed`
        middle = (place + end) // 2
        if tree.nodes[tree.listed[middle]].first <= first:
            place = middle
        else:
            end = middle
    tree.used[LISTS] -= 1
    for i in range(place, tree.used[LISTS]):
        tree.listed[i] = tree.listed[i + 1]


@inlined
def is_whole(tree: Tree, node: int) -> bool:
    """Tell whether all moves of a node are listed."""
    return tree.nodes[node].first != NONE and tree.nodes[node].held == tree.nodes[node].count


@inlined
def move_edge(tree: Tree, at: int, to: int) -> None:
    """Move an edge to another place, and tell the node below."""
    child = tree.edges[at].child
    tree.edges[to].q = tree.edges[at].q
    tree.edges[to].prior = tree.edges[at].prior
    tree.edges[to].tried = tree.edges[at].tried
    tree.edges[to].child = child
    if child != NONE:
        tree.nodes[child].via = to


@inlined
def word_of(prior: np.float32, rank: int, action: int) -> np.uint64:
    """Pack a move."""
    bits = np.uint64(np.float32(prior).view(np.uint32)) << PRIOR_SHIFT
    return bits | np.uint64(rank) << RANK_SHIFT | np.uint64(action)


def list_moves(tree: Tree, node: int) -> None:
    """List all legal actions of a node whose game goes on, as they come, and give them edges."""
    count = find_moves(tree, node)
    enlist(tree, node, count, count)
    first = wide(tree.nodes[node].first)
    for k in range(count):
        tree.packed[first + k] = word_of(np.float32(0.0), k, tree.actions[k])
    wake(tree, node, np.float32(0.0))


def wake(tree: Tree, node: int, urgency: np.float32) -> None:
    """Give edges to all moves of a node that have none; all are listed."""
    first = wide(tree.nodes[node].first)
    for e in range(first + tree.nodes[node].live, first + tree.nodes[node].count):
        give_edge(tree, e, urgency)
    tree.nodes[node].live = tree.nodes[node].count
    tree.nodes[node].next = NEVER


@inlined
def give_edge(tree: Tree, edge: int, urgency: np.float32) -> None:
    """Make the edge of a move that nobody has tried."""
    tree.edges[edge].q = urgency
    tree.edges[edge].prior = tree.moves[edge].prior
    tree.edges[edge].tried = 0
    tree.edges[edge].child = NONE
