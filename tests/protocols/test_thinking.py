"""Thinking in pieces is thinking: the same search, cut by simulations, time and impatience."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from randori.agents.agent import Agent
from randori.errors import UserError
from randori.games.game import Game
from randori.games.kernels import State
from randori.games.registry import load_game
from randori.protocols import thinking
from randori.protocols.thinking import TreeMind, best_lines, open_mind
from randori.search.search import Analysis, Move
from randori.search.uct import Uct
from randori.search.uniform import UniformEvaluator
from randori.spec import parse_spec

GAME = load_game("tictactoe")


class Now:
    """A clock that only the search moves."""

    def __init__(self) -> None:
        self.time = 100.0

    def __call__(self) -> float:
        return self.time


class SlowGrowth:
    """A search without thoughts, at a thousand simulations a second after a slow start."""

    node_bytes = 1000

    def __init__(self, now: Now, start: float) -> None:
        self._now, self.start = now, start
        self.done = 0

    def begin(self, state: State) -> None:
        self.done = 0

    def go_on(self, simulations: int) -> Analysis:
        self._now.time += (simulations - self.done) / 1000 + (self.start if not self.done else 0)
        self.done = simulations
        return Analysis(0.0, [Move(0, simulations, 0.0, 0.0, None)], [0])

    @property
    def tree(self) -> Any:
        class Node:
            visits = 10**9

        class Forest:
            nodes = (Node(),)

        return Forest()


def slow_mind(
    monkeypatch: pytest.MonkeyPatch, spec: str, start: float = 0.0
) -> tuple[TreeMind, SlowGrowth, Now]:
    now = Now()
    monkeypatch.setattr(thinking, "monotonic", now)
    growth = SlowGrowth(now, start)
    options: Mapping[str, Any] = {"simulations": 500}
    return TreeMind(parse_spec(spec), GAME, growth, options, np.random.default_rng(0)), growth, now


@pytest.mark.parametrize("seconds", [0.02, 0.1, 1.0, 7.5])
def test_time_decides_where_nobody_said_how_much(
    monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    mind, growth, now = slow_mind(monkeypatch, "uct")
    list(mind.ponder(GAME.start(), seconds))
    assert now.time - 100 <= seconds + 0.001
    assert growth.done >= 1000 * seconds * 0.9 - 5


def test_simulations_that_were_asked_for_are_the_most(monkeypatch: pytest.MonkeyPatch) -> None:
    mind, growth, _ = slow_mind(monkeypatch, "uct:simulations=500")
    list(mind.ponder(GAME.start(), 60.0))
    assert growth.done == 500
    list(mind.ponder(GAME.start(), 0.1))
    assert 90 <= growth.done <= 100
    list(mind.ponder(GAME.start(), None))
    assert growth.done == 500


def test_a_slow_start_is_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    mind, growth, now = slow_mind(monkeypatch, "uct", start=5.0)
    list(mind.ponder(GAME.start(), 1.0))
    assert growth.done == thinking.FIRST_STEP
    list(mind.ponder(GAME.start(), 20.0))
    assert now.time < 125 + 1
    assert growth.done > 10_000


def test_a_search_in_pieces_is_the_search_of_the_agent() -> None:
    mind = open_mind("uct:simulations=300", GAME, np.random.default_rng(5))
    start = GAME.start()
    choices = list(mind.ponder(start, None))
    dice = np.random.default_rng(5).integers(0, 2**63, size=1, dtype=np.uint64)
    search = Uct(GAME, 1.4)
    whole = search.run(start.state.copy(), 300, dice)
    found = choices[-1].report
    assert found is not None
    assert list(found.analysis.moves) == list(whole.moves)
    assert choices[-1].action == whole.best.action
    lines = best_lines(search.tree)
    assert {move.action for move in whole.moves if move.visits} == set(lines)
    for action, line in lines.items():
        assert line[0] == action
        position = start
        for step in line:
            position = position.play(step)


def test_watching_goes_on_beyond_the_agents_own_budget() -> None:
    mind = open_mind("uct:simulations=10", GAME, np.random.default_rng(0))
    reports = mind.watch(GAME.start())
    visits = [sum(move.visits for move in next(reports).analysis.moves) for _ in range(4)]
    assert visits == sorted(set(visits))
    assert visits[-1] > 10


class Opinionated:
    """A player that answers at once."""

    def act(self, states: NDArray[np.uint64], rng: np.random.Generator) -> NDArray[np.int32]:
        return np.zeros(len(states), dtype=np.int32)


def test_agents_with_a_clock_get_their_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[str] = []

    def load(text: str, game: Game) -> Agent:
        loaded.append(text)
        return Agent(text, game, Opinionated())

    monkeypatch.setattr(thinking, "load_agent", load)
    rng = np.random.default_rng(0)
    for spec in ("alphabeta:depth=2", "alphabeta:seconds=0.01", "greedy", "gtp:x,seconds=9"):
        mind = open_mind(spec, GAME, rng)
        for seconds in (None, 0.02):
            assert [choice.action for choice in mind.ponder(GAME.start(), seconds)] == [0]
    assert loaded == [
        "alphabeta:depth=2", "alphabeta:depth=2,seconds=0.02",
        "alphabeta:seconds=0.01", "alphabeta:seconds=0.01", "greedy", "gtp:x,seconds=9",
    ]  # fmt: skip
    with pytest.raises(UserError, match="cannot analyse"):
        next(open_mind("greedy", GAME, rng).watch(GAME.start()))


def test_a_network_is_asked_as_its_options_say(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def load(*asked: Any) -> UniformEvaluator:
        seen.append(asked)
        return UniformEvaluator(GAME)

    monkeypatch.setattr(thinking, "load_evaluator", load)
    for spec in ("az:RUN,turns=all,runtime=torch", "az:RUN"):
        open_mind(spec, GAME, np.random.default_rng(0))
    assert seen == [(GAME, "RUN", "torch", "all"), (GAME, "RUN", "auto", "auto")]
    with pytest.raises(UserError, match="leave graph=yes out"):
        open_mind("az:RUN,graph=yes", GAME, np.random.default_rng(0))
