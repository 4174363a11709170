"""Runs survive SIGKILL at any moment, and one folder has one trainer."""

import subprocess
import sys
from pathlib import Path

import pytest

from randori.errors import UserError
from randori.runs.folder import create_run, locked, open_run

WRITER = str(Path(__file__).with_name("crash_writer.py"))


def start(mode: str, path: Path) -> "subprocess.Popen[str]":
    command = [sys.executable, WRITER, mode, str(path)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1
    )


@pytest.mark.parametrize(("mode", "least"), [("everywhere", 50), ("random", 1)])
def test_a_killed_run_resumes(mode: str, least: int, tmp_path: Path) -> None:
    child = start(mode, tmp_path / "run")
    out, err = child.communicate()
    assert child.returncode == 0, err
    assert int(out.split()[1]) >= least, f"too little happened: {out}"


def test_a_run_has_one_trainer_until_it_is_killed(tmp_path: Path) -> None:
    run = create_run(tmp_path / "run", learner="toy", game="none", seed=0, config={})
    child = start("hold", run.path)
    assert child.stdout is not None
    assert child.stdout.readline() == "held\n"
    with pytest.raises(UserError, match=f"already being trained by process {child.pid};"):
        locked(run.path).__enter__()
    assert open_run(run.path) == run, "readers need no lock"
    child.kill()
    child.communicate()
    with locked(run.path):
        pass


def test_the_lock_ends_with_the_block(tmp_path: Path) -> None:
    run = create_run(tmp_path / "run", learner="toy", game="none", seed=0, config={})
    with pytest.raises(KeyboardInterrupt), locked(run.path):
        raise KeyboardInterrupt
    with (
        locked(run.path),
        pytest.raises(UserError, match="already being trained"),
        locked(run.path),
    ):
        pass


def test_only_the_trainer_sweeps(tmp_path: Path) -> None:
    run = create_run(tmp_path / "run", learner="toy", game="none", seed=0, config={})
    leftovers = [run.path / ".tmp-config.json-1", run.path / "checkpoints/.tmp-000001-1"]
    leftovers[0].write_text("half")
    leftovers[1].mkdir()
    (leftovers[1] / "state.json").write_text("half")
    open_run(run.path)
    assert all(path.exists() for path in leftovers)
    with locked(run.path):
        assert not any(path.exists() for path in leftovers)
