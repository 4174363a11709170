"""Checkpoints come back as they went; what is damaged, foreign or pruned is told apart."""

import logging
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy

from randori import __version__
from randori.errors import UserError
from randori.runs import checkpoint
from randori.runs.checkpoint import (
    checkpoint_paths,
    latest_checkpoint,
    prune,
    read_checkpoint,
    read_model,
    write_checkpoint,
    write_model,
)
from randori.runs.formats import tensors_bytes

PARTS = ["learner.safetensors", "model.safetensors", "state.json"]


def write(folder: Path, number: int) -> Path:
    weights = {"w": np.full((2, 3), number, np.float32)}
    momentum, slots = np.full(4, number % 100, np.float16), np.full(2, number, np.uint64)
    state = {"step": number, "rng": {"state": 2**127 + number}, "best": float("-inf")}
    return write_checkpoint(
        folder, number, weights, {"game": "othello"}, {"momentum": momentum, "slots": slots}, state
    )


def parts(path: Path) -> list[str]:
    return sorted(entry.name for entry in path.iterdir())


def test_round_trip(tmp_path: Path) -> None:
    path = write(tmp_path, 12)
    assert path == tmp_path / "checkpoints" / "000012"
    assert parts(path) == PARTS
    read = read_checkpoint(path)
    assert read.number == 12
    np.testing.assert_array_equal(read.model.weights["w"], np.full((2, 3), 12, np.float32))
    assert read.model.info["game"] == "othello"
    assert read.model.info["format"] == checkpoint.FORMAT
    assert read.model.info["randori"] == __version__
    assert read.arrays["momentum"].dtype == np.float16
    np.testing.assert_array_equal(read.arrays["slots"], np.full(2, 12, np.uint64))
    assert read.state == {"step": 12, "rng": {"state": 2**127 + 12}, "best": float("-inf")}


def test_latest_is_by_number(tmp_path: Path) -> None:
    assert latest_checkpoint(tmp_path) is None
    paths = {number: write(tmp_path, number) for number in (9, 1_000_000, 999_999)}
    (tmp_path / "checkpoints" / ".tmp-2000000-ab").mkdir()
    (tmp_path / "checkpoints" / "notes").mkdir()
    assert latest_checkpoint(tmp_path) == paths[1_000_000]
    assert list(checkpoint_paths(tmp_path)) == [9, 999_999, 1_000_000]


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-2] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize(
    "damage", [Path.unlink, lambda path: path.write_bytes(b""), truncate, flip]
)
def test_a_damaged_newest_is_skipped(
    part: str, damage: Callable[[Path], object], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    before, newest = write(tmp_path, 1), write(tmp_path, 2)
    damage(newest / part)
    if part == "state.json" and damage is truncate:
        damage(newest / part)  # the first byte was only the newline
    assert latest_checkpoint(tmp_path) == before
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert str(newest / part) in record.getMessage()
    assert "going back to checkpoint 000001" in record.getMessage()


def test_no_usable_checkpoint(tmp_path: Path) -> None:
    for number in (1, 2):
        truncate(write(tmp_path, number) / "model.safetensors")
    with pytest.raises(UserError, match=r"no complete checkpoint .*000002/model\.safetensors is"):
        latest_checkpoint(tmp_path)
    with pytest.raises(UserError, match=r"000002/model\.safetensors is damaged"):
        read_model(tmp_path)


def test_a_damaged_one_is_replaced_but_not_a_good_one(tmp_path: Path) -> None:
    path = write(tmp_path, 1)
    with pytest.raises(ValueError, match="exists already"):
        write(tmp_path, 1)
    truncate(path / "learner.safetensors")
    write(tmp_path, 1)
    assert latest_checkpoint(tmp_path) == path


def test_read_model_takes_a_run_a_checkpoint_or_a_file(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    older, newest = write(tmp_path, 1), write(tmp_path, 2)
    write_model(tmp_path / "alone.safetensors", {"w": np.full(1, 5)}, {"game": "othello"})
    for path, value in (
        (tmp_path, 2),
        (older, 1),
        (older / "model.safetensors", 1),
        (tmp_path / "alone.safetensors", 5),
    ):
        model = read_model(path)
        assert model.weights["w"].flat[0] == value
        assert model.info["game"] == "othello"
        assert model.path.is_file()
    assert not caplog.records
    truncate(newest / "model.safetensors")
    assert read_model(tmp_path).path == older / "model.safetensors"
    assert "going back to checkpoint 000001" in caplog.text


def test_read_model_errors(tmp_path: Path) -> None:
    path = write(tmp_path, 1)
    model = path / "model.safetensors"
    (tmp_path / "text.safetensors").write_text("hello")
    (tmp_path / "empty.safetensors").touch()
    safetensors.numpy.save_file({"w": np.zeros(3)}, tmp_path / "foreign.safetensors")
    future = {"format": 2, "randori": "9.9", "kind": "model"}
    (tmp_path / "future.safetensors").write_bytes(tensors_bytes({}, future))
    (tmp_path / "cut.safetensors").write_bytes(model.read_bytes()[:-5])
    (tmp_path / "new" / "checkpoints").mkdir(parents=True)
    expected = "expected a run folder, a checkpoint folder or a .safetensors file"
    for name, message in {
        "text.safetensors": "is damaged or not a safetensors file",
        "empty.safetensors": "is damaged or not a safetensors file",
        "cut.safetensors": "is damaged or not a safetensors file",
        "foreign.safetensors": "was not written by Randori: expected metadata named 'randori'",
        "future.safetensors": f"has format 2, but Randori {__version__} reads format 1; use",
        "new": "has no checkpoint yet",
        "checkpoints": f"holds no model; {expected}",
        "checkpoints/000001/learner.safetensors": "holds a learner; expected a model",
        "futur.safetensors": f"does not exist; {expected}; did you mean",
    }.items():
        with pytest.raises(UserError) as caught:
            read_model(tmp_path / name)
        assert str(caught.value).startswith(f"{tmp_path / name} {message}")
        assert "\n" not in str(caught.value)


def test_state_of_another_format(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, 1)
    monkeypatch.setattr(checkpoint, "FORMAT", 2)
    with pytest.raises(UserError, match=r"state\.json has format 1, but Randori .* reads format 2"):
        read_checkpoint(path)


def test_prune_leaves_models(tmp_path: Path) -> None:
    paths = [write(tmp_path, number) for number in range(1, 6)]
    prune(tmp_path)
    assert [parts(path) for path in paths] == [["model.safetensors"]] * 3 + [PARTS] * 2
    assert read_model(paths[0]).weights["w"].flat[0] == 1
    with pytest.raises(UserError, match=r"000001/state\.json is missing"):
        read_checkpoint(paths[0])
    with pytest.raises(ValueError, match="at least one"):
        prune(tmp_path, keep=0)


def test_prune_counts_only_complete_ones(tmp_path: Path) -> None:
    paths = [write(tmp_path, number) for number in range(1, 5)]
    truncate(paths[3] / "learner.safetensors")
    shutil.rmtree(paths[2])
    prune(tmp_path)
    assert parts(paths[0]) == parts(paths[1]) == PARTS
    assert latest_checkpoint(tmp_path) == paths[1]


def test_prune_finishes_what_a_kill_left(tmp_path: Path) -> None:
    paths = [write(tmp_path, number) for number in range(1, 4)]
    (paths[0] / "state.json").unlink()
    prune(tmp_path)
    assert parts(paths[0]) == ["model.safetensors"]
