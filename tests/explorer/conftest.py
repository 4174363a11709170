"""Untrained networks, and the explorer's commands with what they print."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch

from randori.agents.models import model_info, signature_of
from randori.errors import UserError
from randori.explorer.commands import Commands
from randori.explorer.engines import open_engine
from randori.explorer.exploration import Exploration
from randori.games.registry import load_game
from randori.networks.build import build
from randori.networks.config import NetworkConfig
from randori.runs.checkpoint import write_model

TINY = NetworkConfig(blocks=1, channels=8, hidden=8, policy_channels=4, value_channels=4)

Say = Callable[..., str]


@pytest.fixture(autouse=True, scope="session")
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Return specs of two agents for Connect 4 with different untrained networks."""
    game, folder = load_game("connect4"), tmp_path_factory.mktemp("models")
    specs = []
    for seed in (3, 4):
        torch.manual_seed(seed)
        network = build(TINY, signature_of(game))
        weights = {name: tensor.numpy() for name, tensor in network.state_dict().items()}
        write_model(folder / f"{seed}.safetensors", weights, model_info(game, TINY))
        specs.append(f"az:{folder / f'{seed}.safetensors'},simulations=40,runtime=torch")
    return specs


def make_commands(game: str, agent: str, position: str = "start", seed: int = 0) -> Commands:
    rules = load_game(game)
    start = rules.position(position)
    exploration = Exploration(open_engine(agent, rules, seed), start, seed)
    return Commands(exploration, lambda at, last: print(at))


@pytest.fixture
def session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Say]:
    """Begin an exploration in an empty folder; saying lines to it returns what it prints."""
    monkeypatch.chdir(tmp_path)

    def begin(game: str, agent: str, position: str = "start") -> Say:
        commands = make_commands(game, agent, position)

        def say(*lines: str) -> str:
            for line in lines:
                capsys.readouterr()
                commands.obey(line)
            return capsys.readouterr().out

        return say

    return begin


def refusal(say: Say, line: str) -> str:
    """Return what is said about a wrong line."""
    with pytest.raises(UserError) as caught:
        say(line)
    return str(caught.value)
