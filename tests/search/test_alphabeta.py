"""Alpha-beta finds what plain minimax finds, whatever it leaves out."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from randori.games import Position, load_game
from randori.games.evaluation import evaluations, find_evaluation
from randori.games.game import Game
from randori.games.kernels import State
from randori.games.registry import GAMES
from randori.games.rules import evaluate
from randori.search.alphabeta import DECIDED, WIN, AlphaBeta, AlphaBetaConfig, final_score, value_of

HEX = str(Path(__file__).parents[2] / "examples" / "hex.py")
DEPTHS = {
    "tictactoe": 5, "connect4": 4, "othello": 3, "othello:size=4": 5, "choko": 2, "shobu": 1,
    "go:size=3": 3, f"{HEX}:size=3": 4,
}  # fmt: skip


def naive(game: Game, judge: Callable[[State], int], position: Position, depth: int) -> int:
    """Minimax in six lines."""
    if position.is_over:
        result = game.plain.outcome(position.state)
        return game.uncompiled(final_score)(position.state, result)
    if depth == 0:
        return judge(position.state)
    children = (position.play(action) for action in position.actions())
    return max(-naive(game, judge, child, depth - 1) for child in children)


def some_positions(game: Game, count: int, seed: int) -> list[Position]:
    rng, found = np.random.default_rng(seed), []
    while len(found) < count:
        position = game.start()
        for _ in range(rng.integers(0, 30)):
            after = position.play(int(rng.choice(position.actions())))
            if after.is_over:
                break
            position = after
        found.append(position)
    return found


def test_every_game_is_searched() -> None:
    assert {spec.partition(":")[0] for spec in DEPTHS} >= set(GAMES)


@pytest.mark.parametrize("spec", DEPTHS)
def test_equal_to_minimax(spec: str) -> None:
    game, depth = load_game(spec), DEPTHS[spec]
    kernel = find_evaluation(game, None)
    configs = [
        AlphaBetaConfig(depth),
        AlphaBetaConfig(depth, ordering=False),
        AlphaBetaConfig(depth, table_mb=0),
        AlphaBetaConfig(depth, table_mb=0.001),
        AlphaBetaConfig(depth, prune=False),
    ]
    engines = [AlphaBeta(game, kernel, config) for config in configs]
    judge = game.uncompiled(kernel)
    for position in some_positions(game, 6, seed=len(spec)):
        expected = naive(game, judge, position, depth)
        for engine in engines:
            found = engine.run(position.state)
            assert found.score == expected, position.text()
            assert found.line[0] in position.actions()
            after = position.play(found.line[0])
            assert -naive(game, judge, after, found.depth - 1) == expected


@pytest.mark.parametrize("spec", ["othello", "connect4", "choko", "othello:size=6"])
def test_order_saves_nodes_at_every_depth(spec: str) -> None:
    game = load_game(spec)
    kernel = find_evaluation(game, None)
    for depth in (3, 4, 5):
        settings = (True, False)
        ordered, plain = (AlphaBeta(game, kernel, AlphaBetaConfig(depth, ordering=o, table_mb=0))
                          for o in settings)  # fmt: skip
        nodes = [0, 0]
        for position in some_positions(game, 8, seed=depth):
            one, other = ordered.run(position.state), plain.run(position.state)
            assert one.score == other.score
            nodes[0] += one.nodes
            nodes[1] += other.nodes
        assert nodes[0] < nodes[1]


def test_the_sooner_win_is_taken() -> None:
    game = load_game("connect4")
    engine = AlphaBeta(game, find_evaluation(game, None), AlphaBetaConfig(6))
    position = game.position("112233")
    found = engine.run(position.state)
    assert (found.line, found.score) == ([3], WIN - 7)
    assert found.value == 1.0
    later = engine.run(game.position("4455").state)
    assert later.score == WIN - 7  # an open three wins one move later


def test_the_clock_ends_a_search() -> None:
    game = load_game("othello")
    engine = AlphaBeta(game, find_evaluation(game, None), AlphaBetaConfig(60, seconds=0.2))
    found = engine.run(game.start().state)
    assert 1 <= found.depth < 60
    assert found.line[0] in game.start().actions()


def test_a_null_move_saves_nodes_and_keeps_wins() -> None:
    game = load_game("othello")
    kernel = find_evaluation(game, "material")
    full, null = (AlphaBeta(game, kernel, AlphaBetaConfig(6, null_move=n)) for n in (False, True))
    nodes = [0, 0]
    for position in some_positions(game, 8, seed=2):
        nodes[0] += full.run(position.state).nodes
        nodes[1] += null.run(position.state).nodes
    assert nodes[1] < nodes[0]
    with pytest.raises(ValueError, match="shobu has no pass"):
        AlphaBeta(load_game("shobu"), kernel, AlphaBetaConfig(null_move=True))


def test_quiescence_sees_the_recapture() -> None:
    """Blue can jump and take two; behind the horizon Red takes back."""
    game = load_game("choko")
    kernel = find_evaluation(game, "captures")
    rng = np.random.default_rng(5)
    shallow = AlphaBeta(game, kernel, AlphaBetaConfig(1))
    quiet = AlphaBeta(game, kernel, AlphaBetaConfig(1, quiescence=4))
    deeper = differ = 0
    for position in some_positions(game, 40, seed=int(rng.integers(9))):
        one, other = shallow.run(position.state), quiet.run(position.state)
        differ += one.score != other.score
        deeper += other.total_nodes > one.total_nodes
        assert other.score <= one.score  # the opponent may stand pat or take, never must
    assert differ > 0
    assert deeper > 0


def test_values() -> None:
    assert value_of(0) == 0
    assert value_of(DECIDED) == 1
    assert value_of(-WIN) == -1
    assert 0.7 < value_of(400) < 0.8


def judge_all(states: NDArray[np.uint64], scores: NDArray[np.int64]) -> None:
    """Evaluate every position."""
    for i in range(len(states)):
        scores[i] = evaluate(states[i])


@pytest.mark.parametrize("spec", [*GAMES, "go:size=13"])
def test_compiled_evaluations_say_what_plain_ones_say(spec: str) -> None:
    game = load_game(spec)
    states = np.array([position.state for position in some_positions(game, 4, seed=1)])
    for kernel in evaluations(game).values():
        scores = np.zeros(len(states), dtype=np.int64)
        game.kernel(judge_all, evaluate=kernel)(states, scores)
        plain = game.uncompiled(kernel)
        assert scores.tolist() == [plain(state) for state in states]


def test_a_search_does_not_remember_the_one_before() -> None:
    """The table is kept, but what earlier searches left there counts nothing."""
    game = load_game("othello")
    kernel = find_evaluation(game, None)
    used, positions = AlphaBeta(game, kernel, AlphaBetaConfig(4)), some_positions(game, 6, seed=3)
    for position in positions:
        fresh = AlphaBeta(game, kernel, AlphaBetaConfig(4)).run(position.state)
        assert used.run(position.state) == fresh == used.run(position.state)


def test_only_decided_games_are_worth_one() -> None:
    assert value_of(9_000) < 1
    assert np.float32(value_of(100_000)) < 1
