"""Alpha-beta judged by a trained network, and what the solver's spec may say."""

from pathlib import Path

import numpy as np
import pytest
import torch

from randori.agents.models import load_network, model_info, signature_of
from randori.agents.registry import load_agent
from randori.errors import UserError
from randori.games import Position, load_game
from randori.networks.build import build
from randori.networks.config import NetworkConfig
from randori.networks.planes import unpack
from randori.runs.checkpoint import write_model

GAME = load_game("connect4")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An untrained model."""
    config = NetworkConfig(blocks=1, channels=8)
    torch.manual_seed(5)
    network = build(config, signature_of(GAME))
    weights = {name: tensor.numpy() for name, tensor in network.state_dict().items()}
    path = tmp_path_factory.mktemp("model") / "connect4.safetensors"
    write_model(path, weights, model_info(GAME, config))
    return path


def positions(count: int, seed: int) -> list[Position]:
    rng = np.random.default_rng(seed)
    found: list[Position] = []
    while len(found) < count:
        position = GAME.start()
        for _ in range(rng.integers(0, 16)):
            after = position.play(int(rng.choice(position.actions())))
            position = position if after.is_over else after
        found.append(position)
    return found


def minimax(network: torch.nn.Module, position: Position, depth: int) -> float:
    """What the position is worth by the network's own values, a win being 1."""
    if position.is_over:
        return 0.0 if position.outcome == "draw" else -1.0
    if depth:
        return max(-minimax(network, position.play(a), depth - 1) for a in position.actions())
    words = np.zeros((1, GAME.input_words), dtype=np.uint64)
    GAME.plain.planes(position.state.copy(), words[0])
    with torch.no_grad():
        planes = unpack(torch.from_numpy(words.view(np.int64)), signature_of(GAME))
        return float(network(planes)[1].reshape(-1)[0])


@pytest.mark.parametrize("spec", ["alphabeta:depth=2", "minimax:depth=2"])
def test_a_network_is_searched_as_minimax_would(spec: str, model: Path) -> None:
    agent = load_agent(f"{spec},value={model},runtime=torch", GAME)
    network = load_network(GAME, model)
    some = positions(5, seed=1)
    states = np.array([position.state for position in some])
    actions, values = agent.judge(states, np.random.default_rng(0))
    for position, action, value in zip(some, actions, values, strict=True):
        assert value == pytest.approx(minimax(network, position, 2), abs=1e-4)
        assert -minimax(network, position.play(int(action)), 1) == pytest.approx(value, abs=1e-4)
        analysis = agent.analyse(position)
        assert analysis.value == pytest.approx(value, abs=1e-4)
        for move in analysis.moves:
            after = -minimax(network, position.play(move.action), 1)
            assert move.value == pytest.approx(after, abs=1e-4)


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ("alphabeta:value=nowhere.safetensors", "does not exist"),
        ("alphabeta:value={model},evaluation=lines", "exclude each other"),
        ("alphabeta:{model}", "options are written key=value"),
        ("alphabeta:value={model},depth=0,runtime=torch", "depth goes from 1"),
        ("alphabeta:value={model},null_move=yes,runtime=torch", "has no pass"),
        ("alphabeta:value={model},runtime=gpu", "no runtime 'gpu'"),
        ("solver:exact", "options are written key=value, found 'exact'"),
        ("solver:exact=most", "expected a whole number"),
        ("solver:exact=10", "every position of connect4 is exact"),
        ("solver:depth=0", "depth goes from 1"),
        ("solver:dept=3", "did you mean 'depth'"),
    ],
)
def test_what_makes_no_sense_is_refused(spec: str, reason: str, model: Path) -> None:
    with pytest.raises(UserError, match=reason) as caught:
        load_agent(spec.format(model=model), GAME)
    assert "\n" not in str(caught.value)


def test_the_endgame_solver_takes_its_options() -> None:
    othello = load_game("othello:size=6")
    for spec in ("solver:exact=-1", "solver:exact=37"):
        with pytest.raises(UserError, match="solver:exact goes from 0 to 36"):
            load_agent(spec, othello)
    agent = load_agent("solver:exact=6,depth=2", othello)
    assert agent.choose(othello.start()) in othello.start().legal()
    with pytest.raises(UserError, match="tictactoe has no exact solver"):
        load_agent("solver", load_game("tictactoe"))
