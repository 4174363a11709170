"""The learner over a run folder: one seed one result across kills, growing boards, other games."""

from pathlib import Path

import numpy as np
import pytest

from randori.agents.registry import load_agent
from randori.agents.shapes import load_shapes
from randori.errors import UserError
from randori.games.registry import load_game
from randori.learners.settings import StopConfig
from randori.learners.shapes import Shapes, ShapesConfig, resized
from randori.runs.checkpoint import latest_checkpoint, read_checkpoint, read_model
from randori.runs.config import from_dict, override, to_dict
from randori.runs.folder import create_run
from randori.runs.metrics import read_metrics
from randori.shapes.pair import TdConfig

GO = "go:size=5,komi=7.5,ko=simple,suicide=no,cap=100"
SETS = "1x1@ 2x1 2x2 2x2@"
SMALL = ShapesConfig(
    sets=SETS,
    iteration_games=60,
    test_games=4,
    stop=StopConfig(iterations=10),
    td=TdConfig(average=1.0),
)


def start(folder: Path, config: ShapesConfig, spec: str = GO) -> Shapes:
    if not folder.exists():
        create_run(folder, learner="shapes", game=spec, seed=0, config=to_dict(config))
    return Shapes(load_game(spec), config, 0, folder, lambda status: None)


def weights(folder: Path) -> np.ndarray:
    newest = latest_checkpoint(folder)
    assert newest is not None
    return read_checkpoint(newest).arrays["thetas"]


def test_a_run_that_was_cut_ends_as_one_that_was_not(tmp_path: Path) -> None:
    start(tmp_path / "whole", SMALL).run()
    first = start(tmp_path / "cut", SMALL)
    first.run(until=0.5)
    assert first.counters.iteration == 5
    second = start(tmp_path / "cut", SMALL)
    newest = latest_checkpoint(tmp_path / "cut")
    assert newest is not None
    second.restore(read_checkpoint(newest))
    second.run()
    assert second.counters.games == 600
    assert (weights(tmp_path / "whole") == weights(tmp_path / "cut")).all()
    models = [read_model(tmp_path / name).weights["theta"] for name in ("whole", "cut")]
    assert (models[0] == models[1]).all()
    assert not (models[0] == weights(tmp_path / "whole")).all(), "the mean plays"
    records = read_metrics(tmp_path / "cut")
    assert [record["games"] for record in records] == list(range(60, 601, 60))
    assert all(0 <= score <= 1 for record in records for score in record["agent_scores"])


def test_what_was_learnt_plays_and_can_be_taken_over(tmp_path: Path) -> None:
    learner = start(tmp_path / "run", SMALL)
    learner.run()
    game = load_game(GO)
    assert load_agent(f"shapes:{tmp_path / 'run'}", game).choose(game.start())
    config = override(SMALL, [f"start_from={tmp_path / 'run'}"])
    other = start(tmp_path / "other", config)
    assert (other._pair.thetas == read_model(tmp_path / "run").weights["theta"]).all()
    fewer = override(config, ["sets=1x1@ 2x2 3x2"])
    third = start(tmp_path / "third", fewer)
    tables = third._pair.tables
    assert not third._pair.thetas[:, tables.facts[2].first :].any()
    assert third._pair.thetas[:, : tables.facts[2].first].any()


def test_settings_come_back_from_a_file_and_bad_ones_are_refused(tmp_path: Path) -> None:
    assert from_dict(ShapesConfig, to_dict(SMALL)) == SMALL
    for wrong in ("sets=9x9", "sets=", "iteration_games=0", "td.alpha=-1", "td.epsilon=2"):
        with pytest.raises(UserError):
            override(SMALL, [wrong])
    with pytest.raises(UserError, match="grow_from"):
        start(tmp_path / "a", override(SMALL, ["grow_from=6"]))
    with pytest.raises(UserError, match=r"missing|exist|expected"):
        start(tmp_path / "b", override(SMALL, [f"start_from={tmp_path / 'nothing'}"]))


def test_other_options_stay_when_the_board_grows() -> None:
    small = resized(load_game("go:size=9,komi=7.5,ko=simple"), 5)
    assert small.board == (5, 5)
    assert "komi=7.5" in small.spec
    assert "ko=simple" in small.spec


@pytest.mark.slow
def test_a_board_grows_and_keeps_what_it_knows(tmp_path: Path) -> None:
    config = override(SMALL, ["grow_from=3", "grow_games=40", "sets=1x1 2x2", "stop.iterations=8",
                              "iteration_games=20"])  # fmt: skip
    learner = start(tmp_path / "run", config)
    learner.run()
    sizes = [record["size"] for record in read_metrics(tmp_path / "run")]
    assert sizes == [3, 3, 4, 4, 5, 5, 5, 5]
    assert load_shapes(load_game(GO), tmp_path / "run").tables.board == (5, 5)


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["tictactoe", "connect4", "othello:size=6", "choko"])
def test_other_games_learn_too(spec: str, tmp_path: Path) -> None:
    config = override(SMALL, ["sets=1x1@ 2x1@ 2x2@", "iteration_games=1500", "stop.iterations=2",
                              "test_games=50"])  # fmt: skip
    learner = start(tmp_path / "run", config, spec)
    learner.run()
    assert max(learner._pair.test(agent, 200, at_random=True) for agent in range(2)) > 0.55
