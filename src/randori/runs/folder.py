"""A run folder: what is trained, how, and by which version, in one place that can be resumed.

runs/NAME/  config.json    what was asked for, resolved; written first, so a run has it always
            metrics.jsonl  one record a line (`metrics`)
            checkpoints/   000012/ … (`checkpoint`)
            replay/        000012.npz … (`shards`)
            games/  log    for learners to fill
            lock           held while a process trains
"""

import fcntl
import logging
import os
import re
import shlex
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from randori import __version__
from randori.errors import UserError
from randori.runs import atomic
from randori.runs.config import from_dict, to_dict
from randori.runs.formats import json_bytes, read_json
from randori.runs.seeds import LAST_SEED

FORMAT = 1
CONFIG = "config.json"

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Header:
    """What `config.json` says; `config` is the learner's own, as `config.to_dict` gives it."""

    format: int
    randori: str
    commit: str | None
    learner: str
    game: str
    seed: int
    config: dict[str, Any]

    def __post_init__(self) -> None:
        if not 0 <= self.seed <= LAST_SEED:
            raise UserError(f"seed must be from 0 to {LAST_SEED}, not {self.seed}")


@dataclass(frozen=True)
class Run(Header):
    """A run folder on disk."""

    path: Path

    @property
    def log(self) -> Path:
        """The text log."""
        return self.path / "log"


def create_run(
    path: Path | None,
    *,
    learner: str,
    game: str,
    seed: int,
    config: Mapping[str, Any],
    root: Path = Path("runs"),
) -> Run:
    """Make a new run folder at `path`, or under `root` with a name from the game and the time."""
    path = _claim_new(root, game) if path is None else _claim(path)
    header = Header(FORMAT, __version__, source_commit(), learner, game, seed, dict(config))
    run = Run(**vars(header), path=path)
    save_run(run)
    with atomic.explained(path):
        for name in ("checkpoints", "replay", "games"):
            (path / name).mkdir(exist_ok=True)
        atomic.sync_folder(path)
    return run


def save_run(run: Run) -> None:
    """Write `config.json` again, for a run resumed with other settings."""
    header = {key: value for key, value in to_dict(run).items() if key != "path"}
    atomic.write_bytes(run.path / CONFIG, json_bytes(header))


def open_run(path: Path) -> Run:
    """Read the run folder at `path`; changes nothing, so it is safe while another trains there."""
    file = path / CONFIG
    if not path.is_dir():
        what = "is a file" if path.exists() else "does not exist"
        raise UserError(f"{path} {what}; expected a run folder{neighbour(path)}")
    if not file.exists():
        raise UserError(f"{path} is not a run folder: it has no {CONFIG}")
    data = read_json(file)
    if data.get("format") != FORMAT:
        raise UserError(
            f"{file} has format {data.get('format')!r}, but Randori {__version__} reads format "
            f"{FORMAT}; use the version that wrote it ({data.get('randori', 'unknown')})"
        )
    return Run(**vars(from_dict(Header, data, where=str(file))), path=path)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the run folder as its only trainer, and clear away what a killed one left half written.

    The system drops the lock with the process, however that ends. A forked child shares it.
    """
    file = path / "lock"
    with atomic.explained(file):
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(descriptor, 20, 0).decode("ascii", "replace").strip()
            raise UserError(
                f"{path} is already being trained by process {holder or 'unknown'}; "
                "stop it first, or train in another folder"
            ) from None
        except OSError as error:
            _log.warning("cannot lock %s (%s); make sure nothing else trains there", path, error)
        with atomic.explained(file):
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        atomic.sweep(path)
        try:
            yield
        finally:
            os.ftruncate(descriptor, 0)
    finally:
        os.close(descriptor)


def numbered(folder: Path, suffix: str = "") -> dict[int, Path]:
    """Return the entries of `folder` that are named by a number, lowest first."""
    pattern = re.compile(r"\d{6,}" + re.escape(suffix), re.ASCII)
    names = sorted(os.listdir(folder)) if folder.is_dir() else []
    found = {int(n.removesuffix(suffix)): folder / n for n in names if pattern.fullmatch(n)}
    return dict(sorted(found.items()))


def neighbour(path: Path) -> str:
    """Say which entry beside `path` its name may have meant, or nothing."""
    names = [entry.name for entry in path.parent.glob("*") if entry.name != path.name]
    close = get_close_matches(path.name, names, n=1)
    return f"; did you mean {str(path.with_name(close[0]))!r}?" if close else ""


def source_commit() -> str | None:
    """Return the commit of this source tree, with `-dirty` if files differ, or None outside git."""
    here = Path(__file__)
    git = ["git", "-C", str(here.parent)]
    tracked = [*git, "ls-files", "--error-unmatch", here.name]  # not a virtualenv in another tree
    describe = [*git, "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        answers = [
            subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
            for command in (tracked, describe)
        ]
    except (OSError, subprocess.SubprocessError):
        return None
    return answers[1].stdout.strip()


def _claim(path: Path) -> Path:
    """Make an empty folder at `path`, or refuse."""
    with atomic.explained(path):
        try:
            path.mkdir(parents=True)
        except FileExistsError:
            if not path.is_dir():
                raise UserError(f"{path} is a file; choose another name for the run") from None
            # A process killed in this very function leaves a folder without config.json.
            if any(not name.startswith(atomic.TEMPORARY) for name in os.listdir(path)):
                resume = f"use `randori resume {shlex.quote(str(path))}` or "
                raise UserError(
                    f"{path} exists and is not empty; "
                    f"{resume if (path / CONFIG).exists() else ''}choose another name"
                ) from None
    return path


def _claim_new(root: Path, game: str) -> Path:
    """Make a folder such as `runs/othello-20261115-104500`, with a suffix if that is taken."""
    stem = re.sub(r"[^a-z0-9]+", "-", Path(game.partition(":")[0]).stem.lower()).strip("-")
    name = f"{stem or 'run'}-{datetime.now():%Y%m%d-%H%M%S}"
    suffix = 1
    with atomic.explained(root / name):
        root.mkdir(parents=True, exist_ok=True)
        while True:
            path = root / (name if suffix == 1 else f"{name}-{suffix}")
            try:
                path.mkdir()
                return path
            except FileExistsError:
                suffix += 1
