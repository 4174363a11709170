"""The move to play is what is surely worth most, not what was visited most."""

from collections.abc import Callable
from math import inf, sqrt

import numpy as np
import pytest

from randori.games.game import Game
from randori.games.registry import load_game
from randori.search.evaluator import Evaluator
from randori.search.search import DOUBT, Move, Search, SearchConfig


@pytest.mark.parametrize(
    ("visits", "value", "proven", "surely"),
    [
        (400, 0.10, None, 0.10 - DOUBT / 20),
        (100, 0.30, None, 0.30 - DOUBT / 10),
        (0, 0.90, None, -inf),
        (1, 0.0, "draw", 0.0),
        (3, 1.0, "win", 1.0),
        (9, -1.0, "loss", -1.0),
    ],
)
def test_doubt_shrinks_with_visits(
    visits: int, value: float, proven: str | None, surely: float
) -> None:
    assert Move(0, visits, 0.5, value, proven).surely == pytest.approx(surely)


@pytest.mark.parametrize("spec", ["connect4", "othello:size=6"])
def test_the_best_is_surely_worth_most(spec: str, hashed: Callable[[Game], Evaluator]) -> None:
    game = load_game(spec)
    rng = np.random.default_rng(0)
    states = []
    for _ in range(64):
        position = game.start()
        for _ in range(8):
            position = position.play(str(rng.choice(position.legal())))
        states.append(position.state)
    search = Search(game, hashed(game), SearchConfig(simulations=60), slots=len(states))
    search.set_roots(np.stack(states))
    search.run()
    overruled = 0
    for i in range(len(states)):
        analysis = search.analysis(i)
        open_moves = [move for move in analysis.moves if move.proven is None and move.visits]
        if analysis.best not in open_moves:
            continue
        bounds = [move.value - DOUBT / sqrt(move.visits) for move in open_moves]
        assert bounds[0] == max(bounds)
        assert bounds == sorted(bounds, reverse=True)
        assert analysis.line[0] == analysis.best.action
        overruled += analysis.best.visits < max(move.visits for move in analysis.moves)
    assert 0 < overruled < len(states) / 2
