"""Alpha-beta finds what plain minimax finds, whatever it leaves out."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from randori.games import Position, load_game
from randori.games.captures import captures
from randori.games.evaluation import evaluations, find_evaluation, material
from randori.games.game import Game
from randori.games.kernels import State
from randori.games.registry import GAMES
from randori.games.rules import evaluate
from randori.search.alphabeta import SLICE, AlphaBeta, AlphaBetaConfig, value_of
from randori.search.walk import DECIDED, INFINITE, NODES, WIN, final_score

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
    rng = np.random.default_rng(seed)
    found: list[Position] = []
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


@pytest.mark.parametrize("cost", [1e-7, 1e-5, 1e-3])
def test_the_clock_is_looked_at_in_time(cost: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a node costs, the search ends soon after its time, with few looks at the clock."""
    game, now, looks = load_game("othello"), 5.0, 0

    def clock() -> float:
        nonlocal looks
        looks += 1
        return now

    engine = AlphaBeta(
        game, find_evaluation(game, None), AlphaBetaConfig(60, seconds=0.1), clock=clock
    )
    inner = engine._walk

    def walk(*arguments: Any) -> bool:
        nonlocal now
        before = int(engine.standing[NODES])
        is_done = inner(*arguments)
        now += cost * (int(engine.standing[NODES]) - before)
        return is_done

    monkeypatch.setattr(engine, "_walk", walk)
    found = engine.run(game.start().state)
    assert 0.1 <= now - 5.0 < 0.101 + 2 * SLICE + 20 * cost
    assert looks < 4 * 0.1 / SLICE + 2 * found.depth
    assert found.line[0] in game.start().actions()
    exact = AlphaBeta(game, find_evaluation(game, None), AlphaBetaConfig(found.depth))
    assert exact.run(game.start().state) == found


def test_a_first_depth_that_takes_too_long_still_gives_a_move() -> None:
    game, ticks = load_game("choko"), iter(range(10**9))
    config = AlphaBetaConfig(60, seconds=1.0, quiescence=20)
    engine = AlphaBeta(
        game, find_evaluation(game, "captures"), config, clock=lambda: float(next(ticks))
    )
    position = some_positions(game, 1, seed=3)[0]
    found = engine.run(position.state)
    assert found.depth == 1
    assert found.line[0] in position.actions()


class Reference:
    """Alpha-beta with null moves and quiescence by recursion, without order and table."""

    def __init__(self, game: Game, judge: Callable[[State], int], config: AlphaBetaConfig) -> None:
        self.game, self.judge, self.config = game, judge, config
        self.final, self.captures = game.uncompiled(final_score), game.uncompiled(captures)
        self.nulls = self.taken = 0

    def after(self, state: State, action: int) -> State:
        child = state.copy()
        self.game.plain.play(child, action)
        return child

    def score(
        self, state: State, depth: int, alpha: int = -INFINITE, beta: int = INFINITE,
        skips: bool = False,
    ) -> int:  # fmt: skip
        actions, best = self.game.legal_actions(state), -INFINITE
        if not actions:
            return self.final(state, self.game.plain.outcome(state))
        if depth <= 0:
            best = self.judge(state)
            if depth <= -self.config.quiescence or best >= beta:
                return best
        if skips and depth > 2 and abs(beta) < DECIDED and self.judge(state) >= beta:
            passed = self.after(state, self.game.pass_action)
            if -self.score(passed, depth - 3, -beta, 1 - beta) >= beta:
                self.nulls += 1
                return beta
        for action in actions:
            child = self.after(state, action)
            if depth <= 0:
                if self.captures(state, child) <= 0:
                    continue
                self.taken += 1
            low = max(alpha, best)
            best = max(best, -self.score(child, depth - 1, -beta, -low, self.config.null_move))
            if best >= beta:
                break
        return best


UNORDERED: Any = {"ordering": False, "table_mb": 0}


def test_null_moves_are_those_of_a_plain_recursion() -> None:
    game = load_game("othello:size=6")
    kernel = find_evaluation(game, "positional")
    config = AlphaBetaConfig(5, null_move=True, **UNORDERED)
    engine = AlphaBeta(game, kernel, config)
    reference = Reference(game, game.uncompiled(kernel), config)
    full = AlphaBeta(game, kernel, AlphaBetaConfig(5))
    differ = 0
    for position in some_positions(game, 16, seed=2):
        found = engine.run(position.state).score
        assert found == reference.score(position.state, 5), position.text()
        differ += found != full.run(position.state).score
    assert reference.nulls > 50
    assert differ > 0  # a pass is not always worse than the best move


def test_a_null_move_saves_nodes_and_keeps_wins() -> None:
    game = load_game("othello:size=6")
    kernel = find_evaluation(game, "positional")
    full, null = (AlphaBeta(game, kernel, AlphaBetaConfig(6, null_move=n)) for n in (False, True))
    nodes, wins = [0, 0], 0
    for position in some_positions(game, 40, seed=2):
        exact, found = full.run(position.state), null.run(position.state)
        if exact.score >= DECIDED:
            wins += 1
            assert found.score == exact.score, position.text()
        else:
            nodes[0] += exact.nodes
            nodes[1] += found.nodes
    assert nodes[1] < 0.7 * nodes[0]
    assert wins > 0


def test_null_moves_need_a_pass() -> None:
    game = load_game("shobu")
    kernel = find_evaluation(game, None)
    with pytest.raises(ValueError, match="shobu has no pass"):
        AlphaBeta(game, kernel, AlphaBetaConfig(null_move=True))


def restless(state: State) -> int:
    """Stones, and a little that quiet moves change too: to leave them out makes a difference."""
    return material(state) + int((state[1] ^ state[1] >> np.uint64(7)) % np.uint64(31))


@pytest.mark.parametrize(("depth", "quiescence"), [(1, 1), (1, 3), (2, 2)])
def test_quiescence_is_that_of_a_plain_recursion(depth: int, quiescence: int) -> None:
    game = load_game("choko")
    kernel = restless
    config = AlphaBetaConfig(depth, quiescence=quiescence, **UNORDERED)
    engine = AlphaBeta(game, kernel, config)
    ordered = AlphaBeta(game, kernel, AlphaBetaConfig(depth, quiescence=quiescence))
    shallow = AlphaBeta(game, kernel, AlphaBetaConfig(depth))
    reference = Reference(game, game.uncompiled(kernel), config)
    differ = 0
    for position in some_positions(game, 12, seed=5):
        found = engine.run(position.state)
        assert found.score == reference.score(position.state, depth), position.text()
        assert ordered.run(position.state).score == found.score
        differ += found.score != shallow.run(position.state).score
    assert reference.taken > 10
    assert differ > 0


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
