"""Checkpoints: a folder that appears whole, holding all that a learner needs to go on.

checkpoints/000012/  model.safetensors    weights and what they are for; enough to play
                     learner.safetensors  optimizer, self-play and random-generator arrays
                     state.json           counters and the rest; removed first, so that a
                                          checkpoint being pruned never looks complete
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from randori import __version__
from randori.errors import UserError
from randori.runs import atomic
from randori.runs.folder import neighbour, numbered
from randori.runs.formats import Arrays, json_bytes, read_json, read_tensors, tensors_bytes

FORMAT = 1
_MODEL, _LEARNER, _STATE = "model.safetensors", "learner.safetensors", "state.json"
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Model:
    """Weights, what they are for (`info`), and the file they came from."""

    weights: dict[str, NDArray[Any]]
    info: dict[str, Any]
    path: Path


@dataclass(frozen=True)
class Checkpoint:
    """All that a learner stored: `arrays` and `state` are its own business."""

    number: int
    model: Model
    arrays: dict[str, NDArray[Any]]
    state: dict[str, Any]


def write_checkpoint(
    folder: Path,
    number: int,
    model: Arrays,
    model_info: Mapping[str, Any],
    arrays: Arrays,
    state: Mapping[str, Any],
) -> Path:
    """Write `checkpoints/NUMBER/`, in place of a damaged one of that number but never a good one.

    `model_info` describes the weights: game spec, network config, signature, counters. The keys
    `format`, `randori` (the version) and `kind` are added.
    """
    path = folder / "checkpoints" / f"{number:06d}"
    if path.exists() and _fault(path) is None:
        raise ValueError(f"{path} exists already")
    files = {
        _MODEL: tensors_bytes(model, {**model_info, **_stamp("model")}),
        _LEARNER: tensors_bytes(arrays, _stamp("learner")),
        _STATE: json_bytes({**_stamp("state"), "number": number, "state": state}),
    }
    with atomic.explained(path):
        path.parent.mkdir(exist_ok=True)
    atomic.write_folder(path, files)
    return path


def write_model(path: Path, weights: Arrays, info: Mapping[str, Any]) -> None:
    """Write a model alone, as `read_model` takes it."""
    atomic.write_bytes(path, tensors_bytes(weights, {**info, **_stamp("model")}))


def checkpoint_paths(folder: Path) -> dict[int, Path]:
    """Return the run's checkpoints by number, lowest first; older ones may hold only a model."""
    return numbered(folder / "checkpoints")


def latest_checkpoint(folder: Path) -> Path | None:
    """Return the newest complete checkpoint, or None if none was written yet.

    A damaged one is skipped with a warning; if nothing complete is left, that is a `UserError`.
    """
    faults: list[str] = []
    for path in reversed(checkpoint_paths(folder).values()):
        fault = _fault(path)
        if fault is None:
            for skipped in faults:
                _log.warning("%s; going back to checkpoint %s", skipped, path.name)
            return path
        faults.append(fault)
    if faults:
        raise UserError(f"{folder} has no complete checkpoint to resume from: {faults[0]}")
    return None


def read_checkpoint(path: Path) -> Checkpoint:
    """Read a complete checkpoint folder."""
    document = read_json(path / _STATE)
    _check(path / _STATE, document, "state")
    state, number = document.get("state"), document.get("number")
    if not isinstance(state, dict) or not isinstance(number, int):
        raise UserError(f"{path / _STATE} is damaged: expected 'number' and 'state'")
    arrays, info = read_tensors(path / _LEARNER)
    _check(path / _LEARNER, info, "learner")
    return Checkpoint(number, _read_model_file(path / _MODEL), arrays, state)


def read_model(path: Path) -> Model:
    """Read the weights at `path`: a run folder (its newest), a checkpoint folder or a file."""
    if (path / _MODEL).exists():
        return _read_model_file(path / _MODEL)
    if (path / "checkpoints").is_dir():
        return _read_newest_model(path)
    if path.is_file():
        return _read_model_file(path)
    what = "holds no model" if path.exists() else "does not exist"
    raise UserError(
        f"{path} {what}; expected a run folder, a checkpoint folder or a .safetensors file"
        f"{neighbour(path)}"
    )


def prune(folder: Path, keep: int = 2) -> None:
    """Leave only the model in all but the newest `keep` complete checkpoints."""
    if keep < 1:
        raise ValueError("at least one checkpoint must stay complete")
    complete = 0
    for path in reversed(checkpoint_paths(folder).values()):
        if complete < keep:
            complete += _fault(path) is None
            continue
        with atomic.explained(path):
            (path / _STATE).unlink(missing_ok=True)
            (path / _LEARNER).unlink(missing_ok=True)


def _read_newest_model(folder: Path) -> Model:
    faults: list[UserError] = []
    for path in reversed(checkpoint_paths(folder).values()):
        try:
            model = _read_model_file(path / _MODEL)
        except UserError as error:
            faults.append(error)
            continue
        for fault in faults:
            _log.warning("%s; going back to checkpoint %s", fault, path.name)
        return model
    raise faults[0] if faults else UserError(f"{folder} has no checkpoint yet; train it for longer")


def _read_model_file(path: Path) -> Model:
    weights, info = read_tensors(path)
    _check(path, info, "model")
    return Model(weights, info, path)


def _stamp(kind: str) -> dict[str, Any]:
    return {"format": FORMAT, "randori": __version__, "kind": kind}


def _check(path: Path, info: Mapping[str, Any], kind: str) -> None:
    if info.get("format") != FORMAT:
        raise UserError(
            f"{path} has format {info.get('format')!r}, but Randori {__version__} reads format "
            f"{FORMAT}; use the version that wrote it ({info.get('randori', 'unknown')})"
        )
    if info.get("kind") != kind:
        raise UserError(f"{path} holds a {info.get('kind')}; expected a {kind}")


def _fault(path: Path) -> str | None:
    try:
        read_checkpoint(path)
    except UserError as error:
        return str(error)
    return None
