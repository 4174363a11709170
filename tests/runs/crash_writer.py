"""A toy trainer to be killed: run as a script by `test_run_crash.py`.

Every array of checkpoint or shard N is full of N, so that a mixture of two would show.
"""

import mmap
import os
import random
import shutil
import signal
import sys
import time
from itertools import count
from pathlib import Path
from unittest import mock

import numpy as np

from randori.runs import folder as run_folder
from randori.runs.checkpoint import (
    latest_checkpoint,
    prune,
    read_checkpoint,
    read_model,
    write_checkpoint,
)
from randori.runs.folder import create_run, locked, open_run
from randori.runs.metrics import append_metrics, read_metrics, rewind
from randori.runs.shards import drop_shards, read_shards, shard_numbers, write_shard

WINDOW = 1


def create(path: Path) -> None:
    if not (path / "config.json").exists():
        create_run(path, learner="toy", game="none", seed=0, config={})


def resume(path: Path) -> int:
    """Check all that a resumed trainer relies on, go back to the checkpoint, return its number."""
    open_run(path)
    assert not list(path.rglob(".tmp-*"))
    latest = latest_checkpoint(path)
    number = 0
    if latest is not None:
        checkpoint = read_checkpoint(latest)
        number = checkpoint.number
        assert latest.name == f"{number:06d}"
        assert checkpoint.state == {"number": number}
        assert checkpoint.model.info["step"] == number
        for array in (*checkpoint.model.weights.values(), *checkpoint.arrays.values()):
            assert (array == number).all()
        assert read_model(path).info == checkpoint.model.info
    drop_shards(path, after=number)
    rewind(path, lambda record: record["number"] <= number)
    first = max(1, number - WINDOW + 1)
    assert set(shard_numbers(path)) >= set(range(first, number + 1))
    rows = read_shards(path, number, 5 * WINDOW, "rows").get("rows", np.zeros(0))
    assert rows.tolist() == np.repeat(np.arange(first, number + 1), 5).tolist()
    assert [record["number"] for record in read_metrics(path)] == list(range(1, number + 1))
    return number


def step(path: Path, number: int, size: int) -> None:
    write_shard(path, number, {"rows": np.full(5, number), "wide": np.full((5, size), number)})
    append_metrics(path, {"number": number, "padding": "x" * size})
    arrays = {"a": np.full((10, size), number), "b": np.full(3, number, np.float32)}
    write_checkpoint(path, number, arrays, {"step": number}, arrays, {"number": number})
    prune(path, keep=2)
    drop_shards(path, before=number - WINDOW)


def train_until(path: Path, last: int) -> None:
    create(path)
    with locked(path):
        for number in range(resume(path) + 1, last + 1):
            step(path, number, 10)
            if number == 2:  # a disk fault, to be gone back from on the way
                (path / "checkpoints/000002/model.safetensors").write_text("?")
                assert resume(path) == 1
                step(path, 2, 10)


def kill_before(event: int) -> None:
    """Arrange that this process is killed just before its `event`-th change to the disk."""
    left = event

    def hook(name: str, arguments: tuple[object, ...]) -> None:
        nonlocal left
        changes = name in ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate")
        if name == "open" and isinstance(arguments[2], int):
            changes = bool(arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
        if changes:
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)


def kill_everywhere(path: Path) -> None:
    """Kill a short training before each of its changes in turn, and see it resume every time."""
    for event in count(1):
        shutil.rmtree(path, ignore_errors=True)
        child = os.fork()
        if child == 0:
            kill_before(event)
            train_until(path, 3)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if status == 0:
            print("kills", event - 1)
            return
        assert os.WTERMSIG(status) == signal.SIGKILL, f"failed by itself at {event}"
        train_until(path, 3)
        with locked(path):
            assert resume(path) == 3


def kill_at_random(path: Path) -> None:
    """Kill a long training at random moments; whatever it had finished must be there."""
    create(path)
    rng = random.Random(1)
    finished = mmap.mmap(-1, 8)  # shared with the child
    for _ in range(30):
        child = os.fork()
        if child == 0:
            with locked(path):
                for number in count(resume(path) + 1):
                    step(path, number, 2000)
                    finished[:] = number.to_bytes(8, "little")
        time.sleep(rng.uniform(0, 0.2))
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        assert os.WTERMSIG(status) == signal.SIGKILL, "failed by itself"
        with locked(path):
            assert resume(path) >= int.from_bytes(finished, "little"), "a checkpoint was lost"
    print("checkpoints", int.from_bytes(finished, "little"))


def hold(path: Path) -> None:
    """Be the trainer until killed."""
    with locked(path):
        print("held", flush=True)
        signal.pause()


if __name__ == "__main__":
    modes = {"everywhere": kill_everywhere, "random": kill_at_random, "hold": hold}
    # A kill loses nothing that the kernel has: fsync is for power cuts, and slow. Git is slower.
    with mock.patch("os.fsync"), mock.patch.object(run_folder, "source_commit", return_value=None):
        modes[sys.argv[1]](Path(sys.argv[2]))
