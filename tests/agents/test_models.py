"""Models to hand on: small, for play alone, and found by the game they are for."""

from pathlib import Path

import numpy as np
import pytest
import torch

from randori.agents import models
from randori.agents.models import export_model, load_network, model_info, signature_of
from randori.agents.registry import load_agent
from randori.errors import UserError
from randori.games.registry import load_game
from randori.networks.build import build
from randori.networks.config import NetworkConfig
from randori.runs.checkpoint import read_model, write_model

SHAPE = NetworkConfig(blocks=1, channels=8, value="wdl", reply=True, ownership=True)


@pytest.fixture
def trained(tmp_path: Path) -> Path:
    torch.manual_seed(0)
    game = load_game("connect4")
    network = build(SHAPE, signature_of(game))
    weights = {name: tensor.numpy() for name, tensor in network.state_dict().items()}
    path = tmp_path / "full.safetensors"
    write_model(path, weights, model_info(game, SHAPE, iteration=7))
    return path


def test_an_exported_model_says_the_same_in_less_space(trained: Path, tmp_path: Path) -> None:
    game = load_game("connect4")
    small = tmp_path / "small.safetensors"
    size = export_model(trained, small)
    assert size == small.stat().st_size < 0.6 * trained.stat().st_size
    planes = torch.rand(5, 2, 6, 7)
    with torch.no_grad():
        for ours, theirs in zip(
            load_network(game, small)(planes), load_network(game, trained)(planes), strict=True
        ):
            assert torch.allclose(ours, theirs, atol=5e-3)
    model = read_model(small)
    assert model.info["iteration"] == 7
    assert not any(name.startswith(("reply.", "owners.")) for name in model.weights)
    again = export_model(small, tmp_path / "again.safetensors")
    assert again == size, "exporting twice changes nothing"


def test_a_model_from_before_there_were_planes_says_the_same(tmp_path: Path) -> None:
    game, shape = load_game("shobu"), NetworkConfig(blocks=1, channels=8, policy="dense")
    network = build(shape, signature_of(game)).eval()
    weights = {name: tensor.numpy() for name, tensor in network.state_dict().items()}
    info = model_info(game, shape)
    del info["network"]["policy"]
    old, exported = tmp_path / "old.safetensors", tmp_path / "exported.safetensors"
    write_model(old, weights, info)
    export_model(old, exported)
    assert read_model(exported).info["network"]["policy"] == "dense"
    planes = torch.rand(5, 8, 4, 4)
    with torch.no_grad():
        for path, tolerance in ((old, 0.0), (exported, 5e-3)):
            for ours, theirs in zip(load_network(game, path)(planes), network(planes), strict=True):
                assert torch.allclose(ours, theirs, rtol=0.0, atol=tolerance)


def test_az_alone_takes_the_shipped_model(
    trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models, "SHIPPED", tmp_path / "models")
    (tmp_path / "models").mkdir()
    game = load_game("connect4")
    with pytest.raises(UserError, match="no model for connect4 comes with Randori"):
        load_agent("az", game)
    export_model(trained, tmp_path / "models" / "connect4.safetensors")
    agent = load_agent("az:simulations=8,runtime=torch", game)
    actions = agent.act(np.array([game.new_state()]), np.random.default_rng(0))
    assert actions[0] in range(7)
    other = load_game("connect4:width=8")
    with pytest.raises(UserError, match="no model for connect4:width=8"):
        load_agent("az", other)


def test_every_shipped_model_plays_and_is_small() -> None:
    """At most 2 MB each, for a game that exists, with the way it was made in the docs."""
    results = Path(__file__).parents[2] / "docs" / "results" / "models.md"
    for path in sorted(models.SHIPPED.glob("*.safetensors")):
        assert path.stat().st_size <= 2_000_000, path.name
        if path.name.startswith("shapes-"):
            continue  # docs/shapes.md and the tests of shapes speak of these
        spec = read_model(path).info["game"]
        assert models.shipped_model(load_game(spec)) == path
        assert load_network(load_game(spec), path) is not None
        assert path.name in results.read_text(encoding="utf-8"), f"{path.name} has no record"
