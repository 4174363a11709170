"""The search kernels are plain Python: uncompiled they do the same, bit by bit."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from randori.games.game import Game
from randori.games.kernels import specialise
from randori.games.registry import load_game
from randori.search import backup
from randori.search.priors import LONGER, SHORT
from randori.search.search import Search, SearchConfig, plant_all, step
from randori.search.tree import EDGES, NODES, SEIZED, WON
from randori.search.uniform import UniformEvaluator

Build = Callable[[Game], Any]


@pytest.mark.parametrize("leaves", [1, 3])
@pytest.mark.parametrize("solve", [True, False])
@pytest.mark.parametrize(("spec", "moves"), [("tictactoe", "b2 a1"), ("go:size=4", "B2 C3")])
def test_step_compiled_as_plain(
    leaves: int, solve: bool, spec: str, moves: str, hashed: Build
) -> None:
    """Past the room that trees start with, lists used up, and with a cache that overflows."""
    searches = []
    for compiled in (True, False):
        game = load_game(spec)
        if not compiled:
            for template in (plant_all, step):
                plain = specialise(template, game._bindings, compiled=False)
                game._kernels[template, ()] = plain
        config = SearchConfig(solve=solve, cache_mb=0.002)
        search = Search(game, hashed(game), config, slots=2, leaves=leaves)
        with np.errstate(over="ignore"):
            start = game.start()
            first, second = moves.split()
            search.set_roots(np.array([start.state, start.play(first).play(second).state]))
            search.run(500)
        searches.append(search)
    fast, slow = (search.trees for search in searches)
    assert searches[0].evaluations == searches[1].evaluations
    assert np.array_equal(fast.used, slow.used)
    assert fast.nodes.shape == slow.nodes.shape > (2, 256)
    for slot in (0, 1):
        nodes, edges = fast.used[slot, NODES], fast.used[slot, EDGES]
        assert np.array_equal(fast.states[slot, :nodes], slow.states[slot, :nodes])
        for name in fast.nodes.dtype.names:
            assert np.array_equal(fast.nodes[name][slot, :nodes], slow.nodes[name][slot, :nodes])
        for name in fast.moves.dtype.names:
            assert np.array_equal(fast.moves[name][slot, :edges], slow.moves[name][slot, :edges])
        for name in ("q", "tried", "child"):
            assert np.array_equal(fast.edges[name][slot, :edges], slow.edges[name][slot, :edges])
    assert spec == "tictactoe" or {SHORT, SHORT * LONGER} <= set(fast.nodes[0].held.tolist())


def test_lists_that_come_with_answers_have_room() -> None:
    """Choko has too many logits to keep: each of four answers in flight brings a list of moves."""
    game = load_game("choko")
    for template in (plant_all, step):
        game._kernels[template, ()] = specialise(template, game._bindings, compiled=False)
    position = game.position(".BRB./B.BRB/RB.BR/BRB.B/.BRB. R 0,6 -")
    search = Search(game, UniformEvaluator(game), SearchConfig(cache_mb=0.0), leaves=4)
    with np.errstate(over="ignore"):
        search.set_roots(position.state[None].copy())
        search.run(100, skip_forced=False)  # uncompiled, so that a list past the end is an error
    assert search.trees.used[0, EDGES] > 2000


@pytest.mark.parametrize(
    ("limit", "trials", "is_found"),
    [("MOST_TRIALS", 5, False), ("VAIN", 40_000, False), ("MOST_TRIALS", 200_000, True)],
)
def test_the_look_for_a_win_in_two_is_given_up(
    limit: str, trials: int, is_found: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backup, limit, trials)
    game = load_game("connect4")
    for template in (plant_all, step):
        game._kernels[template, ()] = specialise(template, game._bindings, compiled=False)
    search = Search(game, UniformEvaluator(game), SearchConfig(cache_mb=0.0))
    position = game.start()
    for move in ("4", "4", "5", "5"):
        position = position.play(move)
    search.set_roots(position.state[None].copy())
    with np.errstate(over="ignore"):
        search.run(1)
    assert (search.trees.nodes[0, 0].proven == WON) == is_found
    assert search.trees.used[0, SEIZED] == 2, "it is not tried again"
