"""Metrics are whole lines of strict JSON, whatever cut the last one."""

import json
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from randori.errors import UserError
from randori.runs.metrics import append_metrics, event_writer, read_metrics, rewind


def test_round_trip(tmp_path: Path) -> None:
    assert read_metrics(tmp_path) == []
    append_metrics(tmp_path, {"step": 1, "loss": 0.5, "by": {"a": [1, None]}, "note": "½\n"})
    append_metrics(tmp_path, {"step": 2})
    assert read_metrics(tmp_path) == [
        {"step": 1, "loss": 0.5, "by": {"a": [1, None]}, "note": "½\n"},
        {"step": 2},
    ]


def test_only_strict_json_is_written(tmp_path: Path) -> None:
    record = {
        "a": float("nan"),
        "b": np.float32("inf"),
        "c": {"d": (-np.inf, 1.5)},
        "e": np.array([1.0, np.nan]),
        "f": np.int64(3),
        "g": np.bool_(True),
    }
    append_metrics(tmp_path, record)

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    line = json.loads((tmp_path / "metrics.jsonl").read_text(), parse_constant=refuse)
    assert line == {
        "a": None,
        "b": None,
        "c": {"d": [None, 1.5]},
        "e": [1.0, None],
        "f": 3,
        "g": True,
    }


def test_every_cut_of_the_last_line_is_tolerated(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for step in (1, 2):
        append_metrics(tmp_path, {"step": step})
    path = tmp_path / "metrics.jsonl"
    whole = path.read_bytes()
    first = whole.index(b"\n") + 1
    for length in range(first, len(whole)):
        path.write_bytes(whole[:length])
        assert read_metrics(tmp_path) == [{"step": 1}]
        append_metrics(tmp_path, {"step": 3})
        assert path.read_bytes() == whole[:first] + b'{"step": 3}\n'
    path.write_bytes(whole[: first - 2])
    append_metrics(tmp_path, {"step": 3})
    assert read_metrics(tmp_path) == [{"step": 3}]
    assert not caplog.records


def test_damage_in_the_middle_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "metrics.jsonl").write_bytes(b'{"step": 1}\n{"st\xff\n7\n{"step": 2}\n')
    assert read_metrics(tmp_path) == [{"step": 1}, {"step": 2}]
    assert [record.getMessage().split(" of ")[0] for record in caplog.records] == [
        "skipping line 2",
        "skipping line 3",
    ]


def test_rewind(tmp_path: Path) -> None:
    rewind(tmp_path, lambda record: True)
    for step in range(5):
        append_metrics(tmp_path, {"step": step})
    rewind(tmp_path, lambda record: record["step"] <= 2)
    append_metrics(tmp_path, {"step": "again"})
    assert [record["step"] for record in read_metrics(tmp_path)] == [0, 1, 2, "again"]


def test_a_full_device(tmp_path: Path) -> None:
    (tmp_path / "metrics.jsonl").symlink_to("/dev/full")
    with pytest.raises(UserError, match=r"^disk full while writing .*metrics\.jsonl; free some"):
        append_metrics(tmp_path, {"step": 1})


def test_tensorboard_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(UserError, match=r"pip install 'randori\[tensorboard\]'"):
        event_writer(tmp_path)


def test_tensorboard_takes_the_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[Any, ...]] = []

    class SummaryWriter:
        def __init__(self, folder: str, purge_step: int | None) -> None:
            calls.append((folder, purge_step))

        def add_scalar(self, name: str, value: float, step: int) -> None:
            calls.append((name, value, step))

        def flush(self) -> None:
            calls.append(("flush",))

    module = types.ModuleType("torch.utils.tensorboard")
    vars(module)["SummaryWriter"] = SummaryWriter
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", module)
    write = event_writer(tmp_path, purge_step=3)
    write(4, {"loss": 0.5, "note": "text", "rows": np.int64(7), "gone": None})
    assert calls == [
        (str(tmp_path / "events"), 3),
        ("loss", 0.5, 4),
        ("rows", np.int64(7), 4),
        ("flush",),
    ]
