"""Which move to play: what is surely worth most, and not always what has most visits.

A search that has just found something wrong with the move it liked has given it most of the visits
already. `docs/results/models.md` has what this rule is worth.
"""

import math

import numpy as np
from numpy.typing import NDArray

from randori.games.kernels import wide
from randori.search.backup import answers_to, proven_value, root_value
from randori.search.tree import DRAWN, LOST, NONE, UNKNOWN, WON, Tree, Trees, tree_of

DOUBT = 1.0
"""How far a value may be off after one visit; after n visits by a √n-th of that."""
TRUSTED = 0.1
"""Share of the most visited move's visits that a move needs, lest one lucky visit decide."""
WINS, HARDLY_TRIED, UNTRIED, LOSES = 3.0, -3.0, -4.0, -5.0
"""What stands for `surely` where visits do not tell; that is never below −2."""


def surely(value: float, visits: int) -> float:
    """Return what a move is worth at least, as far as its visits tell."""
    return value - DOUBT / math.sqrt(visits)


def best_edge(tree: Tree, node: int) -> int:
    """Return the edge to play from a node, NONE where it has none.

    Equals go by visits; of moves that lose those are preferred that have the fewest answers.
    """
    first = wide(tree.nodes[node].first)
    end = first + tree.nodes[node].live
    most = 0
    for e in range(first, end):
        if fate_of(tree, e) != WON:  # of the opponent's
            most = max(most, tree.edges[e].tried)
    best, worth = NONE, -math.inf
    for e in range(first, end):
        merit = merit_of(tree, e, TRUSTED * most)
        if merit > worth or (merit == worth and is_before(tree, e, best)):
            best, worth = e, merit
    return int(best)


def fate_of(tree: Tree, edge: int) -> int:
    """Return what is proven about the position after a move, for the side to move there."""
    child = tree.edges[edge].child
    return int(tree.nodes[child].proven) if child != NONE else UNKNOWN


def merit_of(tree: Tree, edge: int, enough: float) -> float:
    """Return what a move is surely worth, if it has `enough` visits to tell."""
    fate, tried = fate_of(tree, edge), wide(tree.edges[edge].tried)
    if fate == LOST:
        return WINS
    if fate == WON:
        return LOSES
    if fate == DRAWN:
        return 0.0
    if tried == 0:
        return UNTRIED
    return HARDLY_TRIED if tried < enough else surely(float(tree.edges[edge].q), tried)


def worth_of(tree: Tree, edge: int) -> float:
    """Return what a move is worth: what is proven of it, or else the mean of its visits."""
    fate = fate_of(tree, edge)
    return float(tree.edges[edge].q) if fate == UNKNOWN else -float(proven_value(fate))


def is_before(tree: Tree, edge: int, other: int) -> bool:
    """Tell which of two moves of equal merit is the better, by visits, answers and prior."""
    one, two = tree.edges[edge], tree.edges[other]
    if one.tried != two.tried:
        return bool(one.tried > two.tried)
    answers, others = answers_to(tree, edge), answers_to(tree, other)
    if answers != others:
        return bool(answers < others)
    return bool(one.prior > two.prior)


def likeliest_all(
    trees: Trees, count: int, actions: NDArray[np.int32], values: NDArray[np.float32]
) -> None:
    """Write down for the first `count` trees the move with the largest prior, and their values."""
    for slot in range(count):
        tree = tree_of(trees, slot)
        first = wide(tree.nodes[0].first)
        best = first
        for e in range(first, first + tree.nodes[0].count):
            if tree.moves[e].prior > tree.moves[best].prior:
                best = e
        actions[slot] = tree.moves[best].action
        values[slot] = root_value(tree)


def choose_all(
    trees: Trees, count: int, actions: NDArray[np.int32], values: NDArray[np.float32]
) -> None:
    """Write down for the first `count` trees the move to play and what the search makes of it."""
    for slot in range(count):
        tree = tree_of(trees, slot)
        edge = best_edge(tree, 0)
        actions[slot] = NONE if edge == NONE else wide(tree.moves[edge].action)
        values[slot] = root_value(tree)
