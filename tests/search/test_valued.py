"""Alpha-beta over a value function finds what plain minimax finds over the same values."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from randori.errors import UserError
from randori.games import Position, load_game
from randori.games.evaluation import find_evaluation
from randori.games.game import Game
from randori.games.kernels import State
from randori.games.rules import evaluate
from randori.search.alphabeta import AlphaBeta, AlphaBetaConfig
from randori.search.evaluator import Evaluator
from randori.search.uniform import ArrayLane
from randori.search.valued import SCALE, EvaluatorValues, ValuedAlphaBeta, score_of
from randori.search.walk import WIN, final_score

DEPTHS = {
    "tictactoe": 4, "connect4": 3, "othello": 3, "othello:size=4": 4, "choko": 2, "shobu": 1,
    "go:size=3": 3,
}  # fmt: skip


class RandomLinear:
    """Weights drawn once for the bits of a position; counts what it is asked."""

    def __init__(self, game: Game, seed: int) -> None:
        self._game = game
        self._weights = np.random.default_rng(seed).normal(size=64 * game.input_words)
        self.batches: list[int] = []

    def values(self, states: NDArray[np.uint64]) -> NDArray[np.float64]:
        self.batches.append(len(states))
        return np.array([self.value(state) for state in states])

    def value(self, state: NDArray[np.uint64]) -> float:
        words = np.zeros(self._game.input_words, dtype=np.uint64)
        self._game.plain.planes(state.copy(), words)
        bits = np.unpackbits(words.view(np.uint8), bitorder="little")
        return float(np.tanh(self._weights @ bits / 8))


def naive(values: RandomLinear, position: Position, depth: int) -> int:
    """Minimax in a few lines, over the values as scores."""
    game = position.game
    if position.is_over:
        result = game.plain.outcome(position.state)
        return game.uncompiled(final_score)(position.state, result)
    if depth == 0:
        return round(values.value(position.state) * SCALE)
    children = (position.play(action) for action in position.actions())
    return max(-naive(values, child, depth - 1) for child in children)


def some_positions(game: Game, count: int, seed: int) -> list[Position]:
    rng = np.random.default_rng(seed)
    found: list[Position] = []
    while len(found) < count:
        position = game.start()
        for _ in range(rng.integers(0, 20)):
            after = position.play(int(rng.choice(position.actions())))
            if after.is_over:
                break
            position = after
        found.append(position)
    return found


@pytest.mark.parametrize("spec", DEPTHS)
def test_equal_to_minimax(spec: str) -> None:
    game, depth = load_game(spec), DEPTHS[spec]
    values = RandomLinear(game, seed=depth)
    positions = some_positions(game, 4, seed=len(spec))
    states = np.array([position.state for position in positions])
    expected = [naive(values, position, depth) for position in positions]
    for config in (
        AlphaBetaConfig(depth),
        AlphaBetaConfig(depth, table_mb=0),
        AlphaBetaConfig(depth, table_mb=0.001, ordering=False),
        AlphaBetaConfig(depth, prune=False),
    ):
        found = ValuedAlphaBeta(game, values, config).run(states)
        assert [one.score for one in found] == expected
        for one, position in zip(found, positions, strict=True):
            after = position.play(one.line[0])
            assert -naive(values, after, one.depth - 1) == one.score


def judge_all(states: NDArray[np.uint64], scores: NDArray[np.int64]) -> None:
    """Judge every position by an evaluation of the game."""
    for i in range(len(states)):
        scores[i] = evaluate(states[i])


class Outside:
    """An evaluation of the game as if it were a function of values."""

    def __init__(self, game: Game, evaluation: Callable[[State], int]) -> None:
        self._judge = game.kernel(judge_all, evaluate=evaluation)

    def values(self, states: NDArray[np.uint64]) -> NDArray[np.float64]:
        scores = np.zeros(len(states), dtype=np.int64)
        self._judge(states, scores)
        return scores / SCALE


@pytest.mark.parametrize(
    ("spec", "name", "config"),
    [
        ("choko", "captures", AlphaBetaConfig(2, quiescence=3)),
        ("choko", "captures", AlphaBetaConfig(1, quiescence=1, prune=False)),
        ("othello", "material", AlphaBetaConfig(5, null_move=True)),
        ("othello", "material", AlphaBetaConfig(5, null_move=True, table_mb=0)),
    ],
)
def test_the_same_walk_as_over_an_evaluation_inside(
    spec: str, name: str, config: AlphaBetaConfig
) -> None:
    """Null moves and quiescence change values, so plain minimax says nothing about them."""
    game = load_game(spec)
    evaluation = find_evaluation(game, name)
    inside = AlphaBeta(game, evaluation, config)
    outside = ValuedAlphaBeta(game, Outside(game, evaluation), config)
    positions = some_positions(game, 5, seed=3)
    found = outside.run(np.array([position.state for position in positions]))
    assert [one.score for one in found] == [inside.run(p.state).score for p in positions]


def test_all_positions_ask_together() -> None:
    game = load_game("othello")
    values = RandomLinear(game, seed=1)
    states = np.array([position.state for position in some_positions(game, 16, seed=5)])
    engine = ValuedAlphaBeta(game, values, AlphaBetaConfig(2))
    together = engine.run(states)
    assert len(values.batches) < 60
    assert np.mean(values.batches) > 20
    assert engine.evaluations == sum(values.batches)
    for state, one in zip(states, together, strict=True):
        alone = ValuedAlphaBeta(game, values, AlphaBetaConfig(2)).run(state[None])
        assert alone == [one] == engine.run(state[None])


def test_one_position_has_the_whole_table_again_after_many() -> None:
    game = load_game("othello")
    values = Outside(game, find_evaluation(game, "positional"))
    engine = ValuedAlphaBeta(game, values, AlphaBetaConfig(6, table_mb=1))
    positions = some_positions(game, 256, seed=3)
    states = np.array([position.state for position in positions])
    (first,) = engine.run(states[:1])
    asked = engine.evaluations
    engine.run(states, fewer=5)
    before = engine.evaluations
    assert engine.run(states[:1]) == [first]
    assert engine.evaluations - before == asked


def test_the_clock_is_shared() -> None:
    """Each position has its seconds, spent by all together; a depth that is begun is dropped."""
    game = load_game("othello")
    values, now = RandomLinear(game, seed=1), [0.0]

    def clock() -> float:
        now[0] += 0.25  # a look costs as much as a batch
        return now[0]

    states = np.array([position.state for position in some_positions(game, 8, seed=5)])
    engine = ValuedAlphaBeta(game, values, AlphaBetaConfig(60, seconds=1.0), clock=clock)
    found = engine.run(states)
    assert now[0] == 8.25  # the look that found 8 s gone was the last
    assert 0 < len(values.batches) <= 32
    for state, one in zip(states, found, strict=True):
        again = ValuedAlphaBeta(game, values, AlphaBetaConfig(one.depth)).run(state[None])
        assert again == [one]


def test_wins_are_worth_more_than_values() -> None:
    game = load_game("connect4")

    class Sure:
        def values(self, states: NDArray[np.uint64]) -> NDArray[np.float32]:
            return np.full(len(states), 7.0, dtype=np.float32)  # too much: it counts as 1

    (found,) = ValuedAlphaBeta(game, Sure(), AlphaBetaConfig(3)).run(
        game.position("112233").state[None]
    )
    assert (found.line, found.score, found.value) == ([3], WIN - 7, 1.0)
    (found,) = ValuedAlphaBeta(game, Sure(), AlphaBetaConfig(2)).run(game.start().state[None])
    assert (found.score, found.value) == (SCALE, 1.0)


def test_what_is_no_number_is_refused() -> None:
    assert score_of(np.array([-2.0, 0.5], dtype=np.float32)).tolist() == [-SCALE, SCALE // 2]
    with pytest.raises(UserError, match="not a number"):
        score_of(np.array([0.5, np.nan]))


class FirstWord(Evaluator):
    """Values from the packed planes, to see that they arrive."""

    name = "first word"

    def __init__(self, game: Game) -> None:
        self._game = game

    def lane(self, batch: int) -> ArrayLane:
        lane = ArrayLane(self._game, batch)

        def launch(count: int) -> None:
            lane.values[:count] = np.tanh((lane.words[:count, 0] % np.uint64(101)) / 101)

        lane.launch = launch  # type: ignore[method-assign]
        return lane


def test_an_evaluator_gives_values() -> None:
    game = load_game("othello")
    states = np.array([position.state for position in some_positions(game, 1500, seed=2)])
    found = EvaluatorValues(game, FirstWord(game)).values(states)
    words = np.zeros(game.input_words, dtype=np.uint64)
    for state, value in zip(states, found, strict=True):
        game.plain.planes(state, words)
        assert value == pytest.approx(np.tanh(int(words[0]) % 101 / 101), abs=1e-6)
