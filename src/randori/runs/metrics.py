"""Metrics: one JSON object a line, appended in one write, and TensorBoard events when asked for."""

import importlib
import json
import logging
import math
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from randori.errors import UserError
from randori.runs import atomic

_NAME = "metrics.jsonl"
_log = logging.getLogger(__name__)


def append_metrics(folder: Path, record: Mapping[str, Any]) -> None:
    """Add one record to the run's metrics; NaN and infinities become null."""
    path = folder / _NAME
    line = (json.dumps(_finite(record), allow_nan=False) + "\n").encode()
    with atomic.explained(path):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        try:
            end = _cut_torn_line(descriptor)
            try:
                # One write, unless the disk takes only a part: then the next one says why.
                while line:
                    line = line[os.write(descriptor, line) :]
            except OSError:
                with suppress(OSError):
                    os.ftruncate(descriptor, end)
                raise
        finally:
            os.close(descriptor)


def read_metrics(folder: Path) -> list[dict[str, Any]]:
    """Return the run's records, oldest first; a last line that a kill cut short is left out."""
    path = folder / _NAME
    try:
        *lines, _torn = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        return []
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from None
    records = []
    for number, line in enumerate(lines, start=1):
        try:
            record = json.loads(line)
        except ValueError:
            record = None
        if isinstance(record, dict):
            records.append(record)
        else:
            _log.warning("skipping line %d of %s: it is damaged", number, path)
    return records


def rewind(folder: Path, keep: Callable[[dict[str, Any]], bool]) -> None:
    """Drop the records that `keep` refuses: those later than the checkpoint one resumes from."""
    kept = [json.dumps(record) + "\n" for record in read_metrics(folder) if keep(record)]
    atomic.write_text(folder / _NAME, "".join(kept))


def event_writer(
    folder: Path, purge_step: int | None = None
) -> Callable[[int, Mapping[str, Any]], None]:
    """Return a function of (step, record) that writes a record's numbers as TensorBoard events.

    Events of an earlier process from `purge_step` on are hidden.
    """
    try:
        tensorboard = importlib.import_module("torch.utils.tensorboard")
    except ImportError:
        raise UserError(
            "TensorBoard is not installed: pip install 'randori[tensorboard]', or go on without"
        ) from None
    events = tensorboard.SummaryWriter(str(folder / "events"), purge_step=purge_step)

    def write(step: int, record: Mapping[str, Any]) -> None:
        for name, value in record.items():
            if isinstance(value, int | float | np.number):
                events.add_scalar(name, value, step)
        events.flush()

    return write


def _cut_torn_line(descriptor: int) -> int:
    """Remove the end of a line that a kill cut short, and return where the file ends now."""
    size = os.fstat(descriptor).st_size
    if size == 0 or os.pread(descriptor, 1, size - 1) == b"\n":
        return size
    end = os.pread(descriptor, size, 0).rfind(b"\n") + 1
    os.ftruncate(descriptor, end)
    return end


def _finite(value: Any) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value
