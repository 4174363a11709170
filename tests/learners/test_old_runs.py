"""What was stored before a setting existed is read as it was meant then."""

import json
from pathlib import Path

import numpy as np
import pytest

from randori.agents.models import model_info
from randori.games.registry import load_game
from randori.learners.settings import AlphaZeroConfig
from randori.learners.shapes import ShapesConfig
from randori.learners.table import config_of
from randori.learners.training import change_run, network_config
from randori.networks.config import NetworkConfig
from randori.runs.checkpoint import write_model
from randori.runs.config import override, to_dict
from randori.runs.folder import create_run, open_run

RESULTS = sorted((Path(__file__).parents[2] / "docs" / "results").glob("*.config.json"))


def without_policy(run: Path) -> Path:
    """Take out of a run's settings what older ones do not have."""
    header = json.loads((run / "config.json").read_text())
    del header["config"]["network"]["policy"]
    (run / "config.json").write_text(json.dumps(header))
    return run


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)
def test_settings_of_published_runs_are_still_allowed(path: Path, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_bytes(path.read_bytes())
    run = open_run(tmp_path)
    stored, read = run.config["train"], to_dict(config_of(run))["train"]
    assert {key: read[key] for key in stored} == stored


def test_policies_of_old_runs_are_dense(tmp_path: Path) -> None:
    config = override(AlphaZeroConfig(), ["network.policy=dense", "network.blocks=2"])
    path = tmp_path / "run"
    create_run(path, learner="alphazero", game="shobu", seed=0, config=to_dict(config))
    assert config_of(open_run(without_policy(path))) == config
    change_run(path, ["stop.iterations=3"])
    assert open_run(path).config["network"]["policy"] == "dense"


@pytest.mark.parametrize("policy", ["planes", "dense"])
def test_newer_runs_say_what_they_have(policy: str, tmp_path: Path) -> None:
    config = override(AlphaZeroConfig(), [f"network.policy={policy}"])
    path = tmp_path / "run"
    create_run(path, learner="alphazero", game="shobu", seed=0, config=to_dict(config))
    assert config_of(open_run(path)) == config


def test_learners_without_a_network_need_nothing_of_it(tmp_path: Path) -> None:
    config, path = ShapesConfig(), tmp_path / "run"
    create_run(path, learner="shapes", game="go", seed=0, config=to_dict(config))
    assert config_of(open_run(path)) == config


def test_a_run_from_an_old_model_has_its_shape(tmp_path: Path) -> None:
    shape = NetworkConfig(blocks=2, policy="dense")
    info = model_info(load_game("shobu"), shape)
    del info["network"]["policy"]
    model = tmp_path / "old.safetensors"
    write_model(model, {"weight": np.zeros(1, dtype=np.float32)}, info)
    assert network_config(model, NetworkConfig()) == shape
