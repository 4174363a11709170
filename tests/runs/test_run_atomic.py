"""What the disk refuses is said in one line, and leaves what was there as it was."""

import errno
import os
import resource
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from randori.errors import UserError
from randori.runs import atomic
from randori.runs.folder import create_run


def make_run(path: Path) -> Path:
    return create_run(path, learner="toy", game="none", seed=0, config={}).path


def test_write_replaces(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    atomic.write_text(path, "one")
    atomic.write_text(path, "zwei ½")
    assert path.read_text(encoding="utf-8") == "zwei ½"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_write_folder_replaces(tmp_path: Path) -> None:
    path = tmp_path / "a"
    atomic.write_folder(path, {"x": b"1", "y": b"2"})
    atomic.write_folder(path, {"x": b"3"})
    assert {entry.name: entry.read_bytes() for entry in path.iterdir()} == {"x": b"3"}
    assert os.listdir(tmp_path) == ["a"]


@pytest.mark.parametrize(
    ("code", "reason", "remedy"),
    [
        (errno.ENOSPC, "disk full", "free some space"),
        (errno.EDQUOT, "disk quota used up", "free some space"),
        (errno.EFBIG, "file size limit reached", "raise the limit (`ulimit -f`)"),
        (errno.EACCES, "permission denied", "make it writable"),
        (errno.EROFS, "read-only file system", "make it writable"),
        (errno.EIO, "input/output error", "put that right"),
    ],
)
def test_refusals(
    code: int, reason: str, remedy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make_run(tmp_path / "run")
    atomic.write_text(run / "log", "before")

    def refuse(descriptor: int) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "fsync", refuse)
    ending = f"nothing saved before is lost: {remedy}, then `randori resume {run}`"
    with pytest.raises(UserError) as caught:
        atomic.write_text(run / "log", "after")
    assert str(caught.value) == f"{reason} while writing {run}/log; {ending}"
    with pytest.raises(UserError) as caught:
        atomic.write_folder(run / "checkpoints" / "000001", {"x": b"1"})
    assert str(caught.value) == f"{reason} while writing {run}/checkpoints/000001; {ending}"
    assert (run / "log").read_text() == "before"
    assert not (run / "checkpoints" / "000001").exists()
    assert not list(run.rglob(".tmp-*"))


def test_a_folder_that_cannot_be_synced_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.fsync

    def only_files(descriptor: int) -> None:
        if os.path.isdir(f"/proc/self/fd/{descriptor}"):
            raise OSError(errno.EINVAL, "Invalid argument")
        real(descriptor)

    monkeypatch.setattr(os, "fsync", only_files)
    atomic.write_text(tmp_path / "a", "x")
    assert (tmp_path / "a").read_text() == "x"


def test_outside_a_run_nothing_is_said_of_resuming(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("someone else's")
    with pytest.raises(UserError, match=r"no such file .* put that right and try again"):
        atomic.write_text(tmp_path / "nowhere" / "a", "x")


def run_limited(code: str, path: Path) -> str:
    """Run `code` where no file may grow beyond 20,000 bytes, and return what it prints."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    command = [sys.executable, "-c", textwrap.dedent(code), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=limit, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_checkpoint_and_a_shard_on_a_full_disk(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run")
    out = run_limited(
        """
        import sys
        from pathlib import Path
        import numpy as np
        from randori.errors import UserError
        from randori.runs.checkpoint import latest_checkpoint, read_checkpoint, write_checkpoint
        from randori.runs.shards import read_shards, write_shard

        run = Path(sys.argv[1])
        for number, size in ((1, 1000), (2, 30_000)):
            arrays = {"a": np.full(size, number, np.int8)}
            for write in (
                lambda: write_shard(run, number, arrays),
                lambda: write_checkpoint(run, number, arrays, {}, arrays, {}),
            ):
                try:
                    write()
                except UserError as error:
                    print(error)
        print(read_checkpoint(latest_checkpoint(run)).arrays["a"].sum())
        print(read_shards(run, 2, 10_000, "a")["a"].sum())
        """,
        run,
    )
    ending = (
        f"nothing saved before is lost: raise the limit (`ulimit -f`), then `randori resume {run}`"
    )
    assert out.splitlines() == [
        f"file size limit reached while writing {run}/replay/000002.npz; {ending}",
        f"file size limit reached while writing {run}/checkpoints/000002; {ending}",
        "1000",
        "1000",
    ]
    assert not list(run.rglob(".tmp-*"))


def test_metrics_on_a_full_disk_keep_whole_lines(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run")
    out = run_limited(
        """
        import sys
        from pathlib import Path
        from randori.errors import UserError
        from randori.runs.metrics import append_metrics, read_metrics

        run, written = Path(sys.argv[1]), 0
        try:
            while True:
                append_metrics(run, {"step": written, "padding": "x" * 300})
                written += 1
        except UserError as error:
            print(error)
        print(written == len(read_metrics(run)) == 61)
        """,
        run,
    )
    message, same = out.splitlines()
    assert message.startswith(f"file size limit reached while writing {run}/metrics.jsonl; nothing")
    assert same == "True"
    assert (run / "metrics.jsonl").read_bytes().endswith(b"}\n")
