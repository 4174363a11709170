"""Run folders made by hand, healthy or sick on purpose, without any training."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from randori.diagnosis.evidence import Evidence, Rows, gather
from randori.diagnosis.opinions import Opinion, look
from randori.games.game import Game
from randori.games.registry import load_game
from randori.runs.folder import create_run
from randori.runs.health import shares
from randori.runs.metrics import append_metrics
from randori.runs.shards import write_shard

METRICS = {
    "policy_loss": 1.2,
    "policy_entropy": 0.9,
    "value_loss": 0.5,
    "learning_rate": 0.001,
    "evaluations_per_s": 1000.0,
    "bare_share": 0.9,
    "first_player_score": 0.55,
    "draw_share": 0.1,
    "game_length": 20.0,
}

Made = Callable[..., Path]


def random_states(game: Game, games: int, rng: np.random.Generator) -> np.ndarray:
    """Play random games and keep about half of their positions, in order."""
    states = []
    for _ in range(games):
        position = game.start()
        while not position.is_over:
            actions = position.actions()
            if len(actions) > 1 and rng.random() < 0.5:
                states.append(position.state)
            position = position.play(int(rng.choice(actions)))
    return np.stack(states)


def make_rows(game: Game, games: int = 60, seed: int = 0) -> dict[str, np.ndarray]:
    """Rows whose visits depend on the position, and values that come true as they say."""
    rng = np.random.default_rng(seed)
    states = random_states(game, games, rng)
    legal = look(game, states).legal
    counts = np.zeros((len(states), game.most_legal), np.uint16)
    for row, state in enumerate(states):
        own = np.random.default_rng(state)
        counts[row, : legal[row]] = np.ceil(100 * own.dirichlet(np.full(legal[row], 0.3)) - 0.2)
    values = rng.uniform(-1, 1, len(states)).astype(np.float32)
    results = np.where(rng.random(len(states)) < (1 + values) / 2, 1, -1).astype(np.int8)
    return {"states": states, "counts": counts, "values": values, "results": results}


def healthy(rows: Rows, seed: int = 0) -> Opinion:
    """A network that has learnt most of what the search knows."""
    rng = np.random.default_rng(seed)
    noise = rng.lognormal(0, 0.3, rows.visits.shape)
    policy = shares(np.sqrt(rows.visits) * noise)
    blind = shares((np.arange(rows.visits.shape[1]) < rows.legal[:, None]).astype(float))
    assert rows.values is not None
    return Opinion(policy, blind, rows.values)


@pytest.fixture
def made(tmp_path: Path) -> Made:
    """Make a run folder from shards of rows and lines of metrics."""

    def make(
        spec: str = "connect4",
        shards: dict[int, dict[str, Any]] | None = None,
        iterations: int = 20,
        **metrics: Any,
    ) -> Path:
        path = tmp_path / "made"
        create_run(path, learner="alphazero", game=spec, seed=0, config={})
        for number, rows in (shards or {}).items():
            write_shard(path, number, rows)
        for i in range(1, iterations + 1):
            said = {
                name: value(i) if callable(value) else value
                for name, value in {**METRICS, **metrics}.items()
            }
            clock = {"iteration": i, "steps": 100 * i, "seconds": 10.0 * i, "evaluations": 9000 * i}
            append_metrics(path, {**clock, **said})
        return path

    return make


@pytest.fixture(scope="session")
def connect4() -> Game:
    return load_game("connect4")


@pytest.fixture(scope="session")
def rows_of() -> Callable[..., dict[str, np.ndarray]]:
    """Rows of a game, made once for all tests that ask for the same."""
    known: dict[Any, dict[str, np.ndarray]] = {}

    def find(spec: str, games: int = 60, seed: int = 0) -> dict[str, np.ndarray]:
        key = (spec, games, seed)
        if key not in known:
            known[key] = make_rows(load_game(spec), games, seed)
        return known[key]

    return find


@pytest.fixture
def evidence(made: Made, rows_of: Callable[..., Any]) -> Evidence:
    """A healthy run of Connect 4."""
    return gather(made(shards={1: rows_of("connect4", 60, 0), 2: rows_of("connect4", 60, 1)}))
