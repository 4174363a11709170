"""The move to play is what is surely worth most, not what was visited most."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from randori.games.game import Game
from randori.games.registry import load_game
from randori.search.choice import DOUBT, TRUSTED, best_edge
from randori.search.search import Move, Search, SearchConfig
from randori.search.tree import DRAWN, LOST, NONE, WON, Tree, tree_of
from randori.search.uct import Uct
from randori.search.uniform import UniformEvaluator

Build = Callable[[Game], Any]
NEVER_TRIED = (0, 0.0, None)


def root_with(*moves: tuple[int, float, int | None]) -> Tree:
    """Make the root of a Connect 4 tree: visits, value and fate of its first moves."""
    game = load_game("connect4")
    search = Search(game, UniformEvaluator(game), SearchConfig(), guard=False)
    search.set_roots(game.new_state()[None])
    search.run(20)
    tree = tree_of(search.trees, 0)
    first = int(tree.nodes[0].first)
    assert tree.nodes[0].live == 7
    for k, (visits, value, fate) in enumerate([*moves, *[NEVER_TRIED] * (7 - len(moves))]):
        edge = tree.edges[first + k]
        edge.tried, edge.q = visits, value
        assert edge.child != NONE
        if fate is None and visits == 0:
            edge.child = NONE
        elif fate is not None:
            tree.nodes[edge.child].proven = fate
    return tree


@pytest.mark.parametrize(
    ("moves", "best"),
    [
        ([(400, 0.10, None), (100, 0.30, None)], 1),
        ([(400, 0.10, None), (100, 0.14, None)], 0),
        ([(400, 0.10, None), (100, 0.14, None), (1, 1.0, LOST)], 2),
        ([(400, 0.10, None), (1, 0.0, DRAWN)], 0),
        ([(400, -0.10, None), (1, 0.0, DRAWN)], 1),
        ([(700, -0.50, None), (1, 0.51, None), (69, 0.40, None)], 0),
        ([(700, -0.50, None), (1, 0.51, None), (71, 0.40, None)], 2),
        ([(50, 1.0, WON), (20, -0.9, None)], 1),
        ([(50, 1.0, WON), (1, -0.9, None)], 1),
        ([(1, -1.0, WON), *[(9, -1.0, WON)] * 2, *[(1, -1.0, WON)] * 4], 1),
        ([(9, -1.0, WON), NEVER_TRIED], 1),
    ],
    ids=[
        "worth more", "hardly more, and less sure", "a win", "a draw is sure", "a sure draw",
        "one lucky visit", "few visits, but enough", "lost", "lost, visited most",
        "all lost: longest looked at", "lost or unknown",
    ],
)  # fmt: skip
def test_what_is_played(moves: list[tuple[int, float, int | None]], best: int) -> None:
    tree = root_with(*moves)
    assert best_edge(tree, 0) - tree.nodes[0].first == best


def rank(move: Move, most: int) -> tuple[float, ...]:
    """The same rule, once more."""
    if move.proven == "win":
        return (3, move.visits)
    if move.proven == "loss":
        return (-9, move.visits)
    if move.proven == "draw":
        return (2, 0.0, move.visits)
    if move.visits >= max(1, TRUSTED * most):
        return (2, move.value - DOUBT / math.sqrt(move.visits), move.visits)
    return (0, move.visits > 0, move.prior)


@pytest.mark.parametrize("spec", ["connect4", "othello:size=6", "tictactoe", "shobu"])
@pytest.mark.parametrize("simulations", [1, 12, 80])
def test_all_roots_at_once_and_one_by_one(spec: str, simulations: int, hashed: Build) -> None:
    game = load_game(spec)
    rng = np.random.default_rng(0)
    states = []
    while len(states) < 64:
        position = game.start()
        for _ in range(rng.integers(8)):
            position = position.play(int(rng.choice(position.actions())))
            if position.is_over:
                break
        else:
            states.append(position.state)
    search = Search(game, hashed(game), SearchConfig(simulations), slots=len(states))
    search.set_roots(np.stack(states))
    search.run()
    actions, values = search.choices()
    overruled = 0
    for i, action in enumerate(actions):
        analysis = search.analysis(i)
        assert (action, values[i]) == (analysis.best.action, pytest.approx(analysis.value))
        assert analysis.line[:1] == [action] * (analysis.best.visits > 0)
        open_moves = [move for move in analysis.moves if move.proven != "loss"]
        most = max((move.visits for move in open_moves), default=0)
        ranks = [rank(move, most) for move in analysis.moves]
        assert ranks[0][:2] == max(ranks)[:2]
        overruled += analysis.best.visits < most
        others = [move for move in analysis.moves[1:] if move.proven is None]
        assert [move.visits for move in others] == sorted((m.visits for m in others), reverse=True)
    assert overruled or simulations < 80


def test_uct_plays_by_the_same_rule() -> None:
    game = load_game("tictactoe")
    search = Uct(game, 1.4)
    analysis = search.run(game.new_state(), 200, np.array([3], np.uint64))
    most = max(move.visits for move in analysis.moves)
    assert rank(analysis.best, most) == max(rank(move, most) for move in analysis.moves)
