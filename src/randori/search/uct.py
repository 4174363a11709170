"""UCT: UCB1 over random games, the search that needs no knowledge (paper E).

One tree at a time, whole searches in one kernel: without a network there is nothing to batch.
"""

import math

import numpy as np
from numpy.typing import NDArray

from randori.games.dice import Dice, below
from randori.games.game import Game
from randori.games.kernels import wide
from randori.search.backup import back_up, proven_value
from randori.search.search import Analysis, analyse_tree
from randori.search.tree import (
    NONE,
    SPARE,
    UNKNOWN,
    Tree,
    Trees,
    add_node,
    enlarge,
    expect_lawful,
    has_room,
    list_moves,
    make_trees,
    plant,
    tree_of,
)
from randori.search.uniform import play_out


def pick_by_ucb(tree: Tree, node: int, exploration: float, dice: Dice) -> int:
    """Return an untried edge, drawn at random, or the one with the largest Q + c·√(ln N / n)."""
    first = wide(tree.nodes[node].first)
    count = wide(tree.nodes[node].count)
    untried = 0
    best = first
    best_score = -np.inf
    log_visits = math.log(tree.nodes[node].visits)
    for e in range(first, first + count):
        tried = tree.edges[e].tried
        if tried == 0:
            untried += 1
            if below(dice, untried) == 0:
                best = e
        elif untried == 0:
            score = tree.edges[e].q + exploration * math.sqrt(log_visits / tried)
            if score > best_score:
                best_score = score
                best = e
    return best


def simulate(
    trees: Trees, simulations: int, exploration: float, dice: Dice, scratch: NDArray[np.uint64]
) -> bool:
    """Simulate until the root has that many visits or is proven; false when room runs out."""
    tree = tree_of(trees, 0)
    while tree.nodes[0].visits < simulations and tree.nodes[0].proven == UNKNOWN:
        if not has_room(tree, 1):
            return False
        node = wide(0)
        is_new = tree.nodes[0].visits == 0
        while not is_new and tree.nodes[node].proven == UNKNOWN:
            if tree.nodes[node].first == NONE:
                list_moves(tree, node)
                if tree.nodes[node].proven != UNKNOWN:  # the rules have broken a law
                    break
            edge = pick_by_ucb(tree, node, exploration, dice)
            is_new = tree.edges[edge].child == NONE
            node = add_node(tree, node, edge) if is_new else wide(tree.edges[edge].child)
        value = proven_value(tree.nodes[node].proven)
        if tree.nodes[node].proven == UNKNOWN:
            value = np.float32(play_out(tree.states[node], scratch, tree.actions, dice))
        back_up(tree, node, value, True)
    return True


def plant_one(trees: Trees, state: NDArray[np.uint64]) -> None:
    """Start a new tree."""
    plant(tree_of(trees, 0), state)


class Uct:
    """One tree that is used again for every search; not for two threads at once."""

    def __init__(self, game: Game, exploration: float) -> None:
        self._game = game
        self._exploration = exploration
        edges = 256 * min(game.most_legal, 16) + SPARE * game.most_legal
        self._trees = make_trees(1, 256, edges, game)
        self._scratch = np.zeros(game.num_words, dtype=np.uint64)

    def run(self, state: NDArray[np.uint64], simulations: int, dice: Dice) -> Analysis:
        """Search `state` and report; the first simulation judges the root itself."""
        self.begin(state)
        return self.go_on(simulations, dice)

    @property
    def tree(self) -> Tree:
        """The tree as it stands; another search or growth makes it stale."""
        return tree_of(self._trees, 0)

    def begin(self, state: NDArray[np.uint64]) -> None:
        """Start a new tree from `state`."""
        self._game.kernel(plant_one)(self._trees, state)

    def go_on(self, simulations: int, dice: Dice) -> Analysis:
        """Search the same tree until its root has that many visits or is proven, and report."""
        search = self._game.kernel(simulate)
        while not search(self._trees, simulations, self._exploration, dice, self._scratch):
            self._trees = enlarge(self._trees, self._game)
        expect_lawful(self._trees, self._game)
        return analyse_tree(self.tree)
