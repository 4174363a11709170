"""Several leaves of one tree at once: as many visits as asked for, and no trace of the loans."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from randori.games.game import Game
from randori.games.registry import load_game
from randori.search.priors import LONGER, SHORT
from randori.search.search import Search, SearchConfig
from randori.search.tree import DRAWN, LOST, NODES, NONE, UNKNOWN, WON, Tree, tree_of
from randori.search.uniform import UniformEvaluator

Build = Callable[[Game], Any]
WORTH = {WON: 1.0, LOST: -1.0, DRAWN: 0.0}
LEAVES = 4


def search_with_leaves(
    game: Game, evaluator: Any, simulations: int, moves: str = "", **options: Any
) -> Search:
    position = game.start()
    for move in moves.split():
        position = position.play(move)
    config = SearchConfig(**{"cache_mb": 0.0, **options})
    search = Search(game, evaluator, config, leaves=LEAVES)
    search.set_roots(position.state[None].copy())
    search.run(simulations)
    return search


def check_sums(tree: Tree) -> None:
    """Add up, bottom up, what every simulation was worth; nothing else may be in the tree."""
    sums = np.zeros(int(tree.used[NODES]))
    for at in reversed(range(len(sums))):
        node = tree.nodes[at]
        edges = [tree.edges[node.first + k] for k in range(node.live)]
        if node.proven != UNKNOWN:
            sums[at] = node.visits * WORTH[int(node.proven)]
            continue
        assert node.visits == 1 + sum(edge.tried for edge in edges)
        sums[at] = node.value
        for edge in edges:
            assert (edge.child == NONE) == (edge.tried == 0)
            if edge.tried:
                assert edge.tried == tree.nodes[edge.child].visits
                assert edge.q == pytest.approx(-sums[edge.child] / edge.tried, abs=2e-4)
                sums[at] -= sums[edge.child]


@pytest.mark.parametrize("spec", ["tictactoe", "connect4", "othello:size=6", "go:size=4"])
@pytest.mark.parametrize("simulations", [1, 2, 3, 50, 401])
@pytest.mark.parametrize("cache_mb", [0.0, 1.0])
def test_what_is_lent_is_repaid(
    spec: str, simulations: int, cache_mb: float, hashed: Build
) -> None:
    game = load_game(spec)
    search = search_with_leaves(
        game, hashed(game), simulations, solve=False, cache_mb=cache_mb, exploration=3.0
    )
    assert search.trees.nodes[0, 0].visits == simulations + 1
    check_sums(tree_of(search.trees, 0))
    if (spec, simulations) == ("go:size=4", 401):
        assert SHORT * LONGER in search.trees.nodes[0].held, "lists grew with leaves in flight"


@pytest.mark.parametrize("guard", [True, False])
def test_no_leaf_is_asked_about_twice(guard: bool, hashed: Build) -> None:
    game = load_game("connect4")
    evaluator = hashed(game)
    asked_in_all = []
    config = SearchConfig(cache_mb=0.0)
    search = Search(game, evaluator, config, slots=2, leaves=LEAVES, guard=guard)
    launch = search._lane.launch

    def watch(count: int) -> None:
        asked = search._asked
        batch = [
            (slot, int(asked.leaf[slot, k]))
            for slot in (0, 1)
            for k in range(asked.in_flight[slot])
        ]
        assert len(batch) == count
        asked_in_all.extend(batch)
        launch(count)

    search._lane.launch = watch  # type: ignore[method-assign]
    search.set_roots(np.array([game.new_state(), game.start().play("4").state]))
    search.run(300)
    assert len(set(asked_in_all)) == len(asked_in_all) > 300
    assert max(evaluator.batches) == 2 * LEAVES
    judged = sum(
        int(search.trees.nodes[slot, : search.trees.used[slot, NODES]].judged.sum())
        for slot in (0, 1)
    )
    assert len(asked_in_all) == search.evaluations
    if not guard:  # with it, a node that is found to win in two forgets what was said of it
        assert judged == len(asked_in_all)


@pytest.mark.parametrize(
    ("moves", "best"),
    [("4 1 4 1 4 1", "4"), ("4 1 4 1 4", "4"), ("1 3 1 4 7 5", "26"), ("4 4 5 5", "36")],
)
@pytest.mark.parametrize("which", ["uniform", "hash"])
def test_the_best_move_is_found(moves: str, best: str, which: str, hashed: Build) -> None:
    """Win at once, block a stack, block one end of an open three, make an open three."""
    game = load_game("connect4")
    evaluator = UniformEvaluator(game) if which == "uniform" else hashed(game)
    search = search_with_leaves(game, evaluator, 1500, moves)
    assert str(search.analysis().best.action + 1) in best
