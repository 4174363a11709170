"""A curriculum: settings that change as the run goes on, also across stops and resumes."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from randori.errors import UserError
from randori.games.registry import load_game
from randori.learners import alphazero
from randori.learners.settings import AlphaZeroConfig
from randori.learners.status import Status
from randori.learners.training import change_run, start_run, train
from randori.runs.checkpoint import read_model
from randori.runs.config import override
from randori.runs.metrics import read_metrics

TINY = (
    "network.blocks=1", "network.channels=8", "network.hidden=8", "network.policy_channels=4",
    "network.value_channels=4", "runtime=torch", "precision=fp32", "selfplay.slots=8",
    "selfplay.search.simulations=8", "selfplay.fast_simulations=3", "iteration_rows=30",
    "warm_up_rows=30", "window=100", "train.batch=16", "train.reuse=2", "train.warm_up_steps=1",
    "train.schedule=constant", "evaluation.every_iterations=100", "evaluation.opponents=[]",
    "stop.iterations=6", "checkpoint_iterations=1",
)  # fmt: skip
STAGES = 'stages=[[0.3,"train.learning_rate=0.001"],[0.6,"network.blocks=3 window=60"]]'


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alphazero, "measure_rate", lambda *_, **__: 1.0)
    torch.set_num_threads(1)


def make_run(path: Path, *settings: str) -> Any:
    config = override(AlphaZeroConfig(), [*TINY, *settings])
    return start_run(load_game("tictactoe"), config, seed=1, path=path, learner="alphazero")


def blocks_of(path: Path) -> int:
    names = read_model(path).weights
    return len({name.split(".")[1] for name in names if name.startswith("blocks.")})


def test_each_stage_holds_from_its_share_on(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", STAGES)
    train(run, lambda status: None)
    rates = [record["learning_rate"] for record in read_metrics(run.path)]
    assert rates == pytest.approx([0.002, 0.002, 0.001, 0.001, 0.001, 0.001])
    assert blocks_of(run.path) == 3
    assert read_model(run.path).info["network"]["blocks"] == 3
    assert blocks_of(run.path / "checkpoints" / "000003") == 1


def test_a_stopped_run_goes_on_in_its_stage(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", STAGES)
    learners = []

    def listen(status: Status) -> None:
        if status.counters.iteration == 5:
            learners[-1].stop()

    original = alphazero.AlphaZero.run

    def catch(self: alphazero.AlphaZero, until: float = 1.0) -> None:
        learners.append(self)
        original(self, until)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(alphazero.AlphaZero, "run", catch)
        train(run, listen)
    assert len(learners) == 3
    assert blocks_of(run.path) == 3
    longer = change_run(run.path, ["stop.iterations=8"])
    train(longer, lambda status: None)
    assert [record["iteration"] for record in read_metrics(run.path)] == list(range(1, 9))
    assert blocks_of(run.path) == 3


def test_other_slots_begin_their_games_anew(tmp_path: Path) -> None:
    """A run from a machine with many threads goes on where there is one."""
    run = make_run(tmp_path / "run", "stop.iterations=2")
    train(run, lambda status: None)
    before = read_model(run.path).weights
    train(change_run(run.path, ["selfplay.slots=5", "stop.iterations=3"]), lambda status: None)
    assert read_metrics(run.path)[-1]["iteration"] == 3
    assert "begin anew" in (run.path / "log").read_text()
    after = read_model(run.path).weights
    assert any(not np.array_equal(before[name], after[name]) for name in before)


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        (['stages=[[0.5,"window=50"]]', "stop.iterations=none"], "needs an end"),
        (['stages=[[0.5,"window=50"],[0.2,"window=60"]]'], "rising"),
        (['stages=[[1.5,"window=50"]]'], "rising|below 1"),
        (['stages=[[0.5,"train.optimizer=sgd"]]'], "train.optimizer cannot change"),
        (['stages=[[0.5,"trian.l2=0"]]'], "trian"),
        (['stages=[[0.5,"network.channels=16"]]'], "network.channels cannot change"),
        (["network.blocks=2", 'stages=[[0.5,"network.blocks=1"]]'], "may only grow|may grow"),
        (['stages=[[0.5,"window=minus"]]'], "window"),
        (['stages=[[0.5,"stages=[]"]]'], "stages cannot change"),
    ],
)
def test_wrong_stages_are_refused(settings: list[str], complaint: str) -> None:
    with pytest.raises(UserError, match=complaint):
        override(AlphaZeroConfig(), [*TINY, *settings])


def test_a_growing_window() -> None:
    config = override(AlphaZeroConfig(), ["first_window=1000", "window=5000"])
    sizes = [config.newest(rows) for rows in (10, 1000, 2000, 10_000, 10**6)]
    assert sizes[:2] == [1000, 1000]
    assert sizes == sorted(sizes)
    assert sizes[2] == int(1000 * (1 + 0.4 * (2**0.75 - 1) / 0.75))
    assert sizes[-1] == 5000
    assert AlphaZeroConfig().newest(5) == AlphaZeroConfig().window
