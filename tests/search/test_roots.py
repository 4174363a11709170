"""The roots of searches for training, against plain numpy."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from randori.games.dice import seed_dice
from randori.games.game import Game
from randori.games.kernels import specialise
from randori.games.registry import load_game
from randori.search.puct import Knobs, pick_edge
from randori.search.roots import (
    draw_gumbel,
    gumbel_choice,
    halving_table,
    pick_forced,
    pick_gumbel,
    prune_forced,
    weigh_improved,
)
from randori.search.search import Search, SearchConfig, step
from randori.search.tree import FORCED, GUMBEL, NEVER, NONE, RULE, Tree, make_trees, plant, tree_of

Build = Callable[[Game], Any]
GAME = load_game("tictactoe")


def plain(template: Callable[..., Any]) -> Callable[..., Any]:
    return specialise(template, GAME._bindings, compiled=False)


def random_root(seed: int, refuted: int = 0) -> Tree:
    """A root of Tic-tac-toe in the middle of a search; its first untaken moves are refuted."""
    rng = np.random.default_rng(seed)
    tree = tree_of(make_trees(1, 12, 40, GAME), 0)
    plain(plant)(tree, GAME.new_state())
    tree.moves.prior[:9] = rng.dirichlet(np.ones(9))
    tree.luck[:] = rng.gumbel(size=9)
    tree.nodes[0].value = rng.uniform(-1, 1)
    for e in range(9):
        tree.edges[e].tried = rng.integers(0, 6)
        tree.edges[e].q = rng.uniform(-1, 1)
        tree.edges[e].prior = 0.75 * tree.moves[e].prior + 0.25 * rng.dirichlet(np.ones(9))[e]
    for e in rng.permutation(9)[:refuted]:
        tree.edges[e].q = NEVER
    tree.nodes[0].visits = 1 + int(sum(edge.tried for edge in tree.edges[:9]))
    return tree


def columns(tree: Tree) -> tuple[Any, Any, Any, Any]:
    edges = tree.edges[:9]
    return (
        edges.tried.astype(int),
        edges.q.astype(float),
        edges.prior.astype(float),
        tree.moves.prior[:9].astype(float),
    )


@pytest.mark.parametrize(
    ("considered", "simulations", "expected"),
    [
        (1, 4, [0, 1, 2, 3]),
        (2, 6, [0, 0, 1, 1, 2, 2]),
        (3, 10, [0, 0, 0, 1, 1, 2, 2, 3, 3, 4]),
        (4, 8, [0, 0, 0, 0, 1, 1, 2, 2]),
        (4, 3, [0, 0, 0]),
        (8, 24, [0] * 8 + [1] * 4 + [2] * 4 + [3, 3, 4, 4, 5, 5, 6, 6]),
    ],
)
def test_halving_by_hand(considered: int, simulations: int, expected: list[int]) -> None:
    table = halving_table(considered, simulations)
    assert table.shape == (considered + 1, simulations)
    assert table[considered].tolist() == expected
    assert table[0].tolist() == table[1].tolist() == list(range(simulations))


@pytest.mark.parametrize("considered", [2, 3, 5, 16])
@pytest.mark.parametrize("simulations", [1, 16, 50, 200])
def test_halving_always_finds_a_move(considered: int, simulations: int) -> None:
    """Play it out: some move has the visits that the next simulation asks for."""
    visits = [0] * considered
    for wanted in halving_table(considered, simulations)[considered]:
        visits[visits.index(wanted)] += 1
    assert sum(visits) == simulations
    finalists = sorted(visits)[-2:]
    assert finalists[1] - finalists[0] <= 1
    assert max(visits) >= simulations / considered


@pytest.mark.parametrize("seed", range(12))
def test_the_luckiest_candidate_is_picked(seed: int) -> None:
    tree = random_root(seed, refuted=seed % 4)
    tried, q, _, raw = columns(tree)
    weight = 0.5 * (50 + tried.max())
    score = tree.luck + np.log(np.maximum(raw, 1e-9)) + np.where(tried > 0, weight * q, 0.0)
    for wanted in range(6):
        allowed = (tried == wanted) & (q > -np.inf)
        expected = int(np.argmax(np.where(allowed, score, -np.inf))) if allowed.any() else NONE
        assert plain(pick_gumbel)(tree, 9, np.full((10, 400), wanted, dtype=np.int32)) == expected
    most = tried[q > -np.inf].max()
    left = (tried == most) & (q > -np.inf)
    assert plain(gumbel_choice)(tree) == np.argmax(np.where(left, score, -np.inf))


def test_few_legal_moves_have_a_row_of_their_own() -> None:
    tree = random_root(0)
    tree.nodes[0].count = 3
    tree.nodes[0].visits = 4
    table = np.full((17, 20), 99, dtype=np.int32)
    table[3, 3] = tree.edges[1].tried
    assert plain(pick_gumbel)(tree, 16, table) in (0, 1, 2)
    table[3, 3] = 99
    assert plain(pick_gumbel)(tree, 16, table) == NONE


@pytest.mark.parametrize("seed", range(12))
def test_the_improved_policy(seed: int) -> None:
    """softmax(log P + σ(Q)), untried moves at the mixed value (Danihelka et al., appendix D)."""
    tree = random_root(seed, refuted=seed % 3)
    tried, q, _, raw = columns(tree)
    alive = q > -np.inf
    seen = alive & (tried > 0)
    mixed = float(tree.nodes[0].value)
    if seen.any():
        average = (raw * np.where(seen, q, 0))[seen].sum() / raw[seen].sum()
        mixed = (mixed + tried[seen].sum() * average) / (1 + tried[seen].sum())
    completed = np.where(seen, np.where(alive, q, 0), mixed)
    logits = np.log(np.maximum(raw, 1e-9)) + 0.5 * (50 + tried.max()) * completed
    policy = np.where(alive, np.exp(logits - logits[alive].max()), 0)
    policy /= policy.sum()
    total = plain(weigh_improved)(tree)
    assert total == tree.weights[:9].sum() == pytest.approx(10_000, abs=9)
    assert np.allclose(tree.weights[:9] / total, policy, atol=2e-4)
    assert (tree.weights[:9][~alive] == 0).all()


@pytest.mark.parametrize("seed", range(12))
def test_forced_playouts(seed: int) -> None:
    """A tried move is owed √(k·P·N) visits; the first that lacks some is taken."""
    tree = random_root(seed, refuted=seed % 4)
    tried, q, prior, _ = columns(tree)
    for forced in (0.1, 2.0, 8.0):
        owed = np.sqrt(forced * prior * tree.nodes[0].visits)
        lacking = np.flatnonzero((tried > 0) & (tried < owed) & (q > -np.inf))
        expected = lacking[0] if lacking.size else NONE
        assert plain(pick_forced)(tree, forced) == expected


@pytest.mark.parametrize("seed", range(20))
def test_forced_visits_are_taken_back(seed: int) -> None:
    """As many as leave a move's PUCT score at or below the best one's, and never more than owed."""
    tree = random_root(seed)
    tried, q, prior, _ = columns(tree)
    visits, gamma, forced = int(tree.nodes[0].visits), 1.5, 2.0
    best = int(tried.argmax())
    bound = q[best] + gamma * prior[best] * math.sqrt(visits) / (1 + tried[best])
    expected = tried.astype(float)
    for move in range(9):
        if move == best:
            continue
        owed = math.sqrt(forced * prior[move] * visits)
        kept = tried[move]
        while kept > 0 and tried[move] - (kept - 1) <= owed:
            if q[move] + gamma * prior[move] * math.sqrt(visits) / kept > bound:
                break  # with one visit less it would be chosen again
            kept -= 1
        expected[move] = kept if kept > 1 else 0
    tree.weights[:9] = tried
    total = plain(prune_forced)(tree, forced, gamma)
    assert total == tree.weights[:9].sum()
    assert tree.weights[best] == tried[best]
    assert (tree.weights[:9] <= tried).all()
    assert tree.weights[:9].tolist() == expected.tolist()


def test_the_luck_is_gumbels() -> None:
    trees = make_trees(1, 4, 40, GAME)
    tree = tree_of(trees, 0)
    plain(plant)(tree, GAME.new_state())
    dice = seed_dice(1, 1)[0]
    seen = []
    with np.errstate(over="ignore"):
        for _ in range(400):
            plain(draw_gumbel)(tree, dice)
            seen.append(tree.luck.copy())
    luck = np.array(seen).ravel()
    assert luck.mean() == pytest.approx(np.euler_gamma, abs=0.09)
    assert luck.var() == pytest.approx(math.pi**2 / 6, rel=0.15)
    assert np.mean(luck < 0) == pytest.approx(math.exp(-1), abs=0.03)


def search_with(rule: int, knobs: Knobs, simulations: int, hashed: Build) -> Tree:
    """Search the first position of Connect 4 with this rule at the root."""
    game = load_game("connect4")
    search = Search(game, hashed(game), SearchConfig(cache_mb=0.0))
    search.set_roots(game.new_state()[None])
    search.run(0, skip_forced=False)
    tree = tree_of(search.trees, 0)
    tree.used[RULE] = rule
    tree.luck[:] = np.random.default_rng(3).gumbel(size=7)
    budgets = np.array([simulations], dtype=np.int32)
    while True:
        rows, cramped = game.kernel(step)(
            search.trees, search._cache, search._asked, budgets, knobs
        )
        assert not cramped
        if not rows:
            return tree_of(search.trees, 0)
        search._lane.launch(rows)


@pytest.mark.parametrize(
    ("considered", "expected"),
    [(4, [0, 0, 0, 4, 4, 12, 12]), (2, [0, 0, 0, 0, 0, 16, 16]), (16, [1, 1, 1, 1, 4, 12, 12])],
)
def test_a_search_halves_its_candidates(
    considered: int, expected: list[int], hashed: Build
) -> None:
    """Seven legal moves: more are never considered."""
    knobs = Knobs(1.5, 0.1, False, 1, False, 0.0, considered, halving_table(considered, 32))
    tree = search_with(GUMBEL, knobs, 32, hashed)
    tried = tree.edges.tried[:7]
    assert tried.sum() == 32
    if considered < 7:
        assert sorted(tried.tolist()) == expected
        likely = np.argsort(-(tree.luck + np.log(tree.moves.prior[:7])))[:considered]
        assert set(np.flatnonzero(tried)) == set(likely.tolist())
    else:
        assert tried.min() >= 1


def test_a_search_gives_tried_moves_what_they_are_owed(hashed: Build) -> None:
    plain_search = search_with(0, Knobs(1.5, 0.1, False, 1, False), 200, hashed)
    forced = search_with(FORCED, Knobs(1.5, 0.1, False, 1, False, 8.0), 200, hashed)
    root = forced.nodes[0]
    edges = forced.edges[root.first : root.first + root.count]
    owed = np.sqrt(8.0 * edges.prior.astype(float) * root.visits)
    assert (edges.tried[edges.tried > 0] >= np.floor(owed[edges.tried > 0]) - 1).all()
    assert edges.tried.tolist() != plain_search.edges.tried[:7].tolist()
    assert edges.tried.sum() == 200


@pytest.mark.parametrize("seed", range(8))
def test_a_root_that_goes_by_luck_is_looked_at_whole(seed: int) -> None:
    """Where halving has no candidate, tried moves stand behind untried ones."""
    tree = random_root(seed)
    tree.nodes[0].judged = 1
    tree.used[RULE] = GUMBEL
    tried, q, prior, _ = columns(tree)
    scores = q + 1.5 * np.sqrt(float(tree.nodes[0].visits)) * prior / (1 + tried)
    found = plain(pick_edge)(tree, 0, Knobs(1.5, 0.1, False, 1, False))
    assert scores[int(found)] == pytest.approx(scores.max(), abs=1e-5)
