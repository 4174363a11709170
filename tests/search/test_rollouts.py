"""Evaluators that know nothing: uniform, and random games to the end."""

from typing import Any

import numpy as np
import pytest

from randori.games.game import Game
from randori.games.registry import load_game
from randori.search.search import Search, SearchConfig
from randori.search.uniform import RolloutEvaluator, UniformEvaluator


def expectation(game: Game, state: Any) -> float:
    """Mean result of random play for the side to move, exactly."""
    result = int(game.plain.outcome(state))
    if result:
        return (0.0, 1.0, -1.0, 0.0)[result] * (-1 if int(state[0]) % 2 else 1)
    values = []
    for action in game.legal_actions(state):
        below = state.copy()
        game.plain.play(below, action)
        values.append(-expectation(game, below))
    return sum(values) / len(values)


def late_positions(spec: str, ply: int, count: int) -> Any:
    """Positions after that many random plies or one more, none of them over."""
    game, found, seed = load_game(spec), [], 0
    while len(found) < count:
        rng = np.random.default_rng(seed)
        seed += 1
        state = game.new_state()
        while int(state[0]) < ply + seed % 2 and (actions := game.legal_actions(state)):
            game.plain.play(state, int(rng.choice(actions)))
        if game.legal_actions(state):
            found.append(state)
    return np.array(found)


@pytest.mark.parametrize(
    ("spec", "ply"),
    [("tictactoe", 4), ("connect4:width=4,height=4", 11), ("othello:size=4", 7)],
)
def test_rollouts_approach_the_exact_mean(spec: str, ply: int) -> None:
    game = load_game(spec)
    states = late_positions(spec, ply, 8)
    lane = RolloutEvaluator(game, rollouts=4000, seed=1).lane(10)
    lane.states[:8] = states
    lane.launch(8)
    lane.wait()
    exact = [expectation(game, state) for state in states]
    assert np.allclose(lane.values[:8], exact, atol=0.07)  # more than four standard errors
    assert np.ptp(exact) > 0.3
    assert (lane.logits == 0).all()
    assert (lane.states[:8] == states).all(), "the questions are left as they were"


def test_lanes_roll_dice_of_their_own() -> None:
    game = load_game("othello:size=6")
    values = []
    for seed in (1, 1, 2):
        evaluator = RolloutEvaluator(game, seed=seed)
        for _ in range(2):
            lane = evaluator.lane(64)
            lane.states[:] = game.new_state()
            lane.launch(64)
            values.append(lane.values.tolist())
    assert values[0] == values[2] != values[1] == values[3]
    assert set(values[0]) <= {-1.0, 0.0, 1.0}


@pytest.mark.parametrize("which", [UniformEvaluator, RolloutEvaluator])
def test_a_search_over_them_finds_a_win(which: Any) -> None:
    game = load_game("connect4")
    position = game.start()
    for move in "414141":
        position = position.play(move)
    search = Search(game, which(game), SearchConfig())
    search.set_roots(position.state[None].copy())
    search.run()
    assert position.action_text(search.analysis().best.action) == "4"
