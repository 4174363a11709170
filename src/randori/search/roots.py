"""How a search for training chooses at its root: forced playouts, or Gumbel with halving.

Forced playouts (KataGo) make sure that a move which noise has raised is looked at; the visits that
were forced and found nothing are taken back before the row is written. The Gumbel root (Danihelka
et al., 2022) draws a few moves without replacement and halves their number again and again; its
target is the policy that the values improve, so that few simulations suffice.
"""

import math

import numpy as np
from numpy.typing import NDArray

from randori.games.dice import Dice, uniform
from randori.search.tree import GUMBEL, NEVER, NONE, RULE, Tree

VISIT_WEIGHT = 50.0
"""How many visits the values at a Gumbel root count as before there are any."""
GRAIN = 10_000.0
"""Steps in which a policy that is not made of visits is stored."""


def halving_table(considered: int, simulations: int) -> NDArray[np.int32]:
    """Tabulate sequential halving: [m, n] visits that the move of simulation n has had before.

    Row m is for m moves that are considered.
    """
    table = np.zeros((considered + 1, max(1, simulations)), dtype=np.int32)
    for moves in range(considered + 1):
        table[moves] = _halving(moves, table.shape[1])
    return table


def _halving(considered: int, simulations: int) -> list[int]:
    if considered <= 1:
        return list(range(simulations))
    rounds = math.ceil(math.log2(considered))
    visits = [0] * considered
    sequence: list[int] = []
    left = considered
    while len(sequence) < simulations:
        for _ in range(max(1, simulations // (rounds * left))):
            sequence += visits[:left]
            for i in range(left):
                visits[i] += 1
        left = max(2, left // 2)
    return sequence[:simulations]


def draw_gumbel(tree: Tree, dice: Dice) -> None:
    """Draw the luck of each of the root's moves."""
    for k in range(tree.nodes[0].count):
        tree.luck[k] = np.float32(-math.log(-math.log(1.0 - uniform(dice) + 1e-300) + 1e-300))


def value_weight(tree: Tree) -> float:
    """Return how much a full point of value counts against a nat of the prior."""
    root = tree.nodes[0]
    most = 0
    for e in range(root.first, root.first + root.count):
        most = max(most, tree.edges[e].tried)
    return 0.5 * (VISIT_WEIGHT + most)


def pick_gumbel(tree: Tree, considered: int, halving: NDArray[np.int32]) -> int:
    """Return the edge that sequential halving tries next, or NONE where it has no candidate."""
    root = tree.nodes[0]
    now = min(max(root.visits - 1, 0), halving.shape[1] - 1)
    wanted = halving[min(considered, root.count), now]
    return _luckiest(tree, wanted)


def _luckiest(tree: Tree, wanted: int) -> int:
    """Among the root's moves with so many visits, the one with the most luck, prior and value."""
    root = tree.nodes[0]
    weight = value_weight(tree)
    best = NONE
    best_score = -np.inf
    for k in range(root.count):
        edge = tree.edges[root.first + k]
        if edge.tried != wanted or edge.q == NEVER:
            continue
        score = tree.luck[k] + math.log(max(tree.moves[root.first + k].prior, np.float32(1e-9)))
        if edge.tried > 0:
            score += weight * edge.q
        if score > best_score:
            best_score = score
            best = root.first + k
    return best


def gumbel_choice(tree: Tree) -> int:
    """Return the place among the root's moves of the one that halving has left over."""
    root = tree.nodes[0]
    most = 0
    for e in range(root.first, root.first + root.count):
        if tree.edges[e].q != NEVER:
            most = max(most, tree.edges[e].tried)
    edge = _luckiest(tree, most)
    return 0 if edge == NONE else edge - root.first


def weigh_improved(tree: Tree) -> float:
    """Put the policy that the search's values improve into `weights`; return its sum.

    A move without visits is worth what the visited ones say of the position.
    """
    root = tree.nodes[0]
    visits = 0
    mass = 0.0
    mean = 0.0
    for k in range(root.count):
        edge = tree.edges[root.first + k]
        if edge.tried > 0 and edge.q != NEVER:
            visits += edge.tried
            prior = tree.moves[root.first + k].prior
            mass += prior
            mean += prior * edge.q
    mixed = float(root.value)
    if mass > 0.0:
        mixed = (mixed + visits * mean / mass) / (1 + visits)
    weight = value_weight(tree)
    top = -np.inf
    for k in range(root.count):
        edge = tree.edges[root.first + k]
        tree.weights[k] = -np.inf
        if edge.q != NEVER:
            value = edge.q if edge.tried > 0 else mixed
            prior = tree.moves[root.first + k].prior
            tree.weights[k] = math.log(max(prior, np.float32(1e-9))) + weight * value
            top = max(top, tree.weights[k])
    total = 0.0
    for k in range(root.count):
        tree.weights[k] = math.exp(tree.weights[k] - top) if tree.weights[k] > -np.inf else 0.0
        total += tree.weights[k]
    rounded = 0.0
    for k in range(root.count):
        tree.weights[k] = math.floor(GRAIN * tree.weights[k] / total + 0.5)
        rounded += tree.weights[k]
    return rounded


def pick_forced(tree: Tree, forced: float) -> int:
    """Return a move that has had fewer visits than its prior forces, or NONE."""
    root = tree.nodes[0]
    for e in range(root.first, root.first + root.count):
        tried = tree.edges[e].tried
        owed = forced * tree.edges[e].prior * root.visits
        if tried > 0 and tried * tried < owed and tree.edges[e].q != NEVER:
            return e
    return NONE


def prune_forced(tree: Tree, forced: float, exploration: float) -> float:
    """Take back the visits in `weights` that only force explains; return what is left.

    A move keeps as many visits as its value and prior would have earned beside the best one.
    """
    root = tree.nodes[0]
    best = 0
    for k in range(1, root.count):
        if tree.weights[k] > tree.weights[best]:
            best = k
    scale = exploration * math.sqrt(root.visits)
    leader = tree.edges[root.first + best]
    limit = leader.q + scale * leader.prior / (1 + leader.tried)
    total = 0.0
    for k in range(root.count):
        edge = tree.edges[root.first + k]
        if k != best and tree.weights[k] > 0.0:
            gap = limit - edge.q
            earned = math.inf  # it beats the best one whatever its visits
            if gap > 0.0:
                earned = np.ceil(scale * edge.prior / gap - 1.0)
            owed = math.floor(math.sqrt(forced * edge.prior * root.visits))
            tree.weights[k] = max(min(tree.weights[k], earned), tree.weights[k] - owed)
            if tree.weights[k] <= 1.0:
                tree.weights[k] = 0.0
        total += tree.weights[k]
    return total


def is_gumbel(tree: Tree) -> bool:
    """Tell whether the root of this tree goes by sequential halving."""
    return tree.used[RULE] == GUMBEL
