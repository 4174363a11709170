"""Dirichlet noise at the root."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from randori.games.dice import seed_dice
from randori.games.game import Game
from randori.games.registry import load_game
from randori.search.priors import add_noise
from randori.search.search import Search, SearchConfig
from randori.search.tree import Trees, tree_of

Build = Callable[[Game], Any]
DRAWS = 20_000


def add_noise_often(
    trees: Trees,
    dice: NDArray[np.uint64],
    alpha: float,
    share: float,
    clean: NDArray[np.float32],
    seen: NDArray[np.float32],
) -> None:
    """Template: put noise on the same priors again and again."""
    tree = tree_of(trees, 0)
    for draw in range(len(seen)):
        for k in range(len(clean)):
            tree.edges[k].prior = clean[tree.moves[k].rank]
        add_noise(tree, dice, alpha, share)
        for k in range(len(clean)):
            seen[draw, tree.moves[k].rank] = tree.edges[k].prior


def draw_noise(hashed: Build, alpha: float, share: float) -> tuple[Any, Any]:
    game = load_game("tictactoe")
    search = Search(game, hashed(game), SearchConfig(cache_mb=0.0))
    search.set_roots(game.new_state()[None])
    search.run(0)
    clean = np.zeros(9, dtype=np.float32)
    clean[search.trees.moves[0, :9].rank] = search.trees.edges[0, :9].prior
    seen = np.zeros((DRAWS, 9), dtype=np.float32)
    dice = seed_dice(3, 1)[0]
    game.kernel(add_noise_often)(search.trees, dice, alpha, share, clean, seen)
    with_noise = search.trees.edges[0, :9].prior
    assert (np.diff(with_noise) <= 0).all(), "the likeliest first, noise and all"
    assert np.array_equal(search.trees.moves[0, :9].prior, clean[search.trees.moves[0, :9].rank])
    return clean, seen


@pytest.mark.parametrize(("alpha", "share"), [(0.3, 0.25), (2.0, 1.0), (10.0, 0.5), (0.03, 0.25)])
def test_the_mixture(alpha: float, share: float, hashed: Build) -> None:
    """A Dirichlet has mean 1/9 and variance (1/9)(8/9) / (9 alpha + 1), here times share²."""
    clean, seen = draw_noise(hashed, alpha, share)
    assert clean.sum() == pytest.approx(1, abs=1e-6)
    assert np.allclose(seen.sum(axis=1), 1, atol=1e-5)
    assert (seen >= (1 - share) * clean - 1e-6).all()
    assert np.allclose(seen.mean(axis=0), (1 - share) * clean + share / 9, atol=0.01 * share)
    spread = share**2 * (1 / 9) * (8 / 9) / (9 * alpha + 1)
    assert np.allclose(seen.var(axis=0), spread, rtol=0.08)


def test_alpha_0_stands_for_10_over_the_legal_actions(hashed: Build) -> None:
    _, automatic = draw_noise(hashed, 0.0, 0.25)
    _, by_hand = draw_noise(hashed, 10 / 9, 0.25)
    assert np.array_equal(automatic, by_hand)


def test_no_share_no_noise(hashed: Build) -> None:
    clean, seen = draw_noise(hashed, 1.0, 0.0)
    assert np.array_equal(seen, np.tile(clean, (DRAWS, 1)))
