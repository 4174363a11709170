"""Killed at any moment and resumed, a deterministic run ends with the same weights, bit for bit.

The trainers live in `crash_trainer.py`, which is run as a script: they are forked there, killed,
resumed until complete, and all that they leave is compared with an undisturbed run.
"""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from randori.runs.checkpoint import latest_checkpoint, read_checkpoint
from randori.runs.metrics import read_metrics

SCRIPT = str(Path(__file__).with_name("crash_trainer.py"))
GATED = (
    "network.kind=cnn", "train.optimizer=sgd", "gate.threshold=0.5", "gate.games=4",
    "gate.simulations=4", "gate.restore=true", "gate.every=2", "checkpoint_iterations=2",
    "stop.iterations=9", "train.average=4",
)  # fmt: skip
"""Dropout, so that torch's dice count; a gate and a mean, so that there are three networks."""


def start(*arguments: object) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, SCRIPT, *map(str, arguments)],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def outcome(child: "subprocess.Popen[str]") -> str:
    out, err = child.communicate()
    assert child.returncode == 0, err
    return out


def weather(child: "subprocess.Popen[str]") -> tuple[int, int]:
    """Return how many trainers were killed, and how many of them before a first checkpoint."""
    found = re.match(r"kills (\d+) before a checkpoint (\d+)", outcome(child))
    assert found is not None
    return int(found[1]), int(found[2])


@pytest.mark.parametrize("settings", [(), GATED], ids=["plain", "gated"])
def test_kills_do_not_change_the_weights(settings: tuple[str, ...], tmp_path: Path) -> None:
    kills, early = weather(start("storm", tmp_path / "runs", 8, 3, *settings))
    assert kills >= 8
    assert early >= 1


@pytest.mark.slow
@pytest.mark.parametrize("seed", [11, 12])
@pytest.mark.parametrize("settings", [(), GATED], ids=["plain", "gated"])
def test_many_kills_do_not_change_the_weights(
    settings: tuple[str, ...], seed: int, tmp_path: Path
) -> None:
    kills, early = weather(start("storm", tmp_path / "runs", 40, seed, *settings))
    assert kills >= 40
    assert early >= 1


def test_a_full_disk_loses_nothing(tmp_path: Path) -> None:
    """One line says so, and the resumed run ends as if there had been room."""
    files = {100: "metrics.jsonl", 3000: "replay", 9000: "checkpoints", 20_000: "checkpoints"}
    lines = outcome(start("refuse", tmp_path / "runs", *files)).splitlines()
    for line, (limit, file) in zip(lines, files.items(), strict=True):
        folder = tmp_path / "runs" / f"full-{limit}"
        assert line.startswith(f"file size limit reached while writing {folder / file}")
        assert "nothing saved before is lost" in line
        assert f"randori resume {folder}" in line


def test_processes_agree_bit_for_bit(tmp_path: Path) -> None:
    """One seed in two processes, one of which SIGTERM stops on the way."""
    names = ("whole", "stopped")
    children = {name: start("once", tmp_path / name, 5, "stop.iterations=20") for name in names}
    stopped = children["stopped"]
    while stopped.poll() is None and not read_metrics(tmp_path / "stopped"):
        time.sleep(0.02)
    stopped.send_signal(signal.SIGTERM)
    for child in children.values():
        outcome(child)
    assert read_metrics(tmp_path / "stopped")
    outcome(start("resume", tmp_path / "stopped"))
    weights = []
    for name in names:
        assert [r["iteration"] for r in read_metrics(tmp_path / name)] == list(range(1, 21))
        newest = latest_checkpoint(tmp_path / name)
        assert newest is not None
        weights.append(read_checkpoint(newest).model.weights)
    for name, weight in weights[0].items():
        assert np.array_equal(weight, weights[1][name])
