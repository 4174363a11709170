"""Replay shards are joined in order, newest first to be kept; a damaged one is told and skipped."""

from pathlib import Path

import numpy as np
import pytest

from randori.errors import UserError
from randori.runs.shards import drop_shards, read_shards, shard_numbers, write_shard


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number in (3, 1, 2, 4):
        rows = np.arange(number * 10, number * 10 + 3, dtype=np.uint64)
        write_shard(tmp_path, number, {"row": rows, "policy": np.full((3, 2), number, np.float16)})
    (tmp_path / "replay" / ".tmp-000005.npz-ab").write_text("half")
    return tmp_path


def read(folder: Path, upto: int, rows: int) -> list[int]:
    return [int(row) // 10 for row in read_shards(folder, upto, rows, "row")["row"][::3]]


def test_round_trip(folder: Path) -> None:
    arrays = read_shards(folder, upto=2, newest_rows=100, rows_key="row")
    assert arrays["row"].tolist() == [10, 11, 12, 20, 21, 22]
    assert arrays["row"].dtype == np.uint64
    assert arrays["policy"].dtype == np.float16
    assert arrays["policy"][:, 1].tolist() == [1, 1, 1, 2, 2, 2]


@pytest.mark.parametrize(
    ("upto", "rows", "expected"),
    [(4, 100, [1, 2, 3, 4]), (4, 6, [3, 4]), (4, 7, [2, 3, 4]), (3, 1, [3]), (9, 3, [4])],
)
def test_only_the_newest_are_taken(upto: int, rows: int, expected: list[int], folder: Path) -> None:
    assert read(folder, upto, rows) == expected


def test_what_older_shards_lack_is_filled_in(folder: Path) -> None:
    rows = np.arange(50, 53, dtype=np.uint64)
    late = {"row": rows, "policy": np.full((3, 2), 5, np.float16), "mark": np.arange(3.0)}
    write_shard(folder, 5, late)
    assert read(folder, 5, 100) == [5], "otherwise they are skipped"
    arrays = read_shards(folder, 5, 9, "row", {"mark": np.float64(7)})
    assert arrays["row"].tolist() == [30, 31, 32, 40, 41, 42, 50, 51, 52]
    assert arrays["mark"].tolist() == [7.0] * 6 + [0.0, 1.0, 2.0]


def test_none(tmp_path: Path, folder: Path) -> None:
    assert read_shards(tmp_path / "elsewhere", 5, 10, "row") == {}
    assert read_shards(folder, 0, 10, "row") == {}
    assert read_shards(folder, 4, 0, "row") == {}


def test_a_damaged_shard_is_skipped(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = folder / "replay" / "000003.npz"
    path.write_bytes(path.read_bytes()[:100])
    assert read(folder, 4, 6) == [2, 4]
    (record,) = caplog.records
    assert record.getMessage().startswith(f"skipping a replay shard: {path} is damaged")


@pytest.mark.parametrize("policy", [np.zeros((3, 2)), np.zeros((3, 4), np.float16), None])
def test_a_shard_of_other_arrays_is_skipped(
    policy: "np.ndarray[tuple[int, int], np.dtype[np.floating]] | None",
    folder: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    arrays = {"row": np.zeros(3, np.uint64)}
    write_shard(folder, 3, arrays if policy is None else {**arrays, "policy": policy})
    assert read(folder, 4, 6) == [2, 4]
    assert "000003.npz holds other arrays" in caplog.text


def test_a_shard_without_its_rows_is_skipped(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert read_shards(folder, 4, 6, "rows") == {}
    assert len(caplog.records) == 4


def test_drop(folder: Path) -> None:
    drop_shards(folder)
    assert shard_numbers(folder) == [1, 2, 3, 4]
    drop_shards(folder, after=3)
    assert shard_numbers(folder) == [1, 2, 3]
    drop_shards(folder, before=2)
    assert shard_numbers(folder) == [2, 3]
    drop_shards(folder, after=2, before=3)
    assert shard_numbers(folder) == []
    drop_shards(folder / "elsewhere", after=0)


def test_a_gone_run_folder_is_a_user_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no such file .*replay/000001\.npz"):
        write_shard(tmp_path / "gone", 1, {"row": np.zeros(1)})
