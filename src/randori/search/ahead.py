"""Memory is asked for ahead: with thousands of trees nothing is near, and each step would wait.

While one slot is worked on, what a later slot will read of its last path is asked for (`foresee`).
In self-play a slot's next descent sets out before its turn (`set_out`), and goes one node down, or
asks for what it will read there, each time that it is passed by (`press_on`). The trees are those
of descents that begin at their turn, node by node; only a cache of evaluations has the answers of
the next slots a step sooner.
"""

from typing import Any

from numpy.typing import NDArray

from randori.games.kernels import inlined, prefetch, wide
from randori.games.rules import NUM_LOGITS
from randori.search.cache import Cache, place_of
from randori.search.puct import Knobs, Questions, best_below, is_spent, note
from randori.search.tree import (
    AT,
    EDGE,
    EDGES,
    LINE,
    LISTS,
    MOST_LOGITS,
    NODES,
    NONE,
    SEIZED,
    UNKNOWN,
    Tree,
    Trees,
    has_room,
    tree_of,
)

EDGES_A_LINE = LINE // EDGE.itemsize
AHEAD = 3
"""How many slots before its turn a slot's memory is asked for."""
EARLY = 6
"""How many slots before its turn a slot's next descent sets out."""
MANY = 512
"""Slots from which on that pays: fewer find much of what they read nearby."""
NEAR = 24
"""How many edges of a node are asked for: untried ones of a root are rarely read."""


@inlined
def foresee(trees: Trees, cache: Cache, asked: Questions, slot: int) -> None:
    """Ask memory for what a slot will read when its turn comes.

    With thousands of trees nothing is near any more, and a walk from node to node would wait for
    each of them. The answer goes up the last path, and the next descent mostly follows it.
    """
    states = trees.states[slot]
    nodes = trees.nodes[slot]
    edges = trees.edges[slot]
    path = trees.paths[slot]
    moves = trees.moves[slot]
    prefetch(nodes, wide(trees.used[slot, NODES]))
    prefetch(states, wide(trees.used[slot, NODES]))
    prefetch(edges, wide(trees.used[slot, EDGES]))
    prefetch(moves, wide(trees.used[slot, EDGES]))
    prefetch(trees.listed[slot], wide(trees.used[slot, LISTS]))
    for k in range(asked.in_flight[slot]):
        place = place_of(cache, asked.keys[slot, k])
        prefetch(cache.keys, place)
        prefetch(cache.values, place)
        prefetch(cache.logits[place], 0)
    for i in range(1, path[0], 3):
        prefetch(nodes, wide(path[i]))
        for e in range(path[i + 1], min(path[i + 2], path[i + 1] + NEAR), EDGES_A_LINE):
            prefetch(edges, e)
        prefetch(edges, wide(path[i + 2]))
        prefetch(moves, wide(path[i + 2]))
    if path[0] > 3:
        prefetch(states, wide(path[path[0] - 5]))
    if NUM_LOGITS <= MOST_LOGITS:
        ask_for_logits(trees.logits[slot, trees.used[slot, NODES] - 1])


@inlined
def set_out(tree: Tree, budget: int, knobs: Knobs) -> None:
    """Begin a descent before its turn, if there will be one: its first move, from a near root.

    In self-play one leaf is in flight, and its answer has come. One is under way already where the
    last step lacked room.
    """
    if budget == 0 or is_spent(tree, budget, knobs) or not tree.nodes[0].judged:
        return
    if knobs.solve and tree.used[SEIZED] == 0:  # what wins at once is looked for first
        return
    if tree.used[AT] == 0 and has_room(tree, 1):
        tree.path[0] = 0
        go_on(tree, wide(0), knobs)


@inlined
def press_on(trees: Trees, turn: int, knobs: Knobs) -> None:
    """Take each descent that is under way a step further: those of the slots before this turn.

    One turn after a descent has reached a node the node is there, and says what else to ask for;
    one turn later that is there, too, and the descent goes on.
    """
    for slot in range(max(turn - EARLY + 1, 0), min(turn, len(trees.used))):
        tree = tree_of(trees, slot)
        node = wide(tree.used[AT])
        if node != 0 and (turn - slot) % 2 == 1:
            look_around(tree, node)
        elif node != 0:
            go_on(tree, node, knobs)


@inlined
def go_on(tree: Tree, node: int, knobs: Knobs) -> None:
    """Take a descent that was begun one move further, and ask memory for the node there."""
    if tree.nodes[node].first == NONE or tree.nodes[node].proven != UNKNOWN:
        return
    note(tree, node)
    below = best_below(tree, node, knobs)
    if below != NONE:
        tree.used[AT] = below
        prefetch(tree.nodes, below)
        prefetch(tree.states, below)


@inlined
def look_around(tree: Tree, node: int) -> None:
    """Ask memory for what a descent will read of a node that it has reached."""
    first = tree.nodes[node].first
    if first == NONE:
        if NUM_LOGITS <= MOST_LOGITS and tree.nodes[node].judged:
            ask_for_logits(tree.logits[node])
        return
    for e in range(first, first + min(tree.nodes[node].live, NEAR), EDGES_A_LINE):
        prefetch(tree.edges, e)
    prefetch(tree.edges, first + tree.nodes[node].live)
    prefetch(tree.moves, first + tree.nodes[node].live)


@inlined
def ask_for_logits(kept: NDArray[Any]) -> None:
    """Ask memory for what a node keeps of its logits."""
    for p in range(0, len(kept), LINE // kept.itemsize):
        prefetch(kept, p)
