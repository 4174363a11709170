"""What a run folder holds, as arrays; whatever is missing or damaged is left out and noted."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from randori.diagnosis.opinions import look
from randori.errors import UserError
from randori.games.game import Game
from randori.games.registry import load_game
from randori.runs.checkpoint import Model, checkpoint_paths, read_model
from randori.runs.folder import Run, open_run
from randori.runs.formats import read_npz
from randori.runs.metrics import read_metrics
from randori.runs.shards import shard_numbers

MOST_ROWS = 40_000
"""Rows of the window that are looked at: the newest ones."""
SAMPLE = 1500
"""Rows of a shard that networks are asked about, evenly spaced."""

Pick = NDArray[np.int64] | slice


@dataclass(frozen=True)
class Rows:
    """Training rows of one game, in the order in which they were played."""

    game: Game
    states: NDArray[np.uint64]
    """[n, S]"""
    visits: NDArray[np.float64]
    """[n, K] weights of the policy target, in the order of `legal`"""
    results: NDArray[np.float64]
    """[n] how the game ended for the side to move"""
    values: NDArray[np.float64] | None
    """[n] what the search thought, where that was stored"""

    def __len__(self) -> int:
        return len(self.results)

    @cached_property
    def games(self) -> int:
        """Number of games that the rows come from: a row whose ply does not grow begins one."""
        plies = self.once.states[:, 0].astype(np.int64)
        return int(len(plies) > 0) + int(np.count_nonzero(np.diff(plies) <= 0))

    @cached_property
    def once(self) -> "Rows":
        """The rows without copies of the row before: learners may write one twice to weigh it."""
        is_new = np.any(self.states[1:] != self.states[:-1], axis=1)
        return self.pick(np.flatnonzero(np.concatenate([[True], is_new])[: len(self)]))

    @cached_property
    def legal(self) -> NDArray[np.int64]:
        """[n] numbers of legal moves."""
        return look(self.game, self.states).legal

    def pick(self, at: Pick) -> "Rows":
        """Return some of the rows."""
        values = None if self.values is None else self.values[at]
        return Rows(self.game, self.states[at], self.visits[at], self.results[at], values)

    def spread(self, most: int) -> "Rows":
        """Return at most so many rows, evenly spaced."""
        return self.pick(evenly(len(self), most))


def newest(most: int, count: int) -> Pick:
    """Name the last of `count` rows, at most so many."""
    return slice(max(0, count - most), None)


def evenly(count: int, most: int) -> Pick:
    """Name at most so many of `count` rows, evenly spaced."""
    return slice(None) if count <= most else np.linspace(0, count - 1, most).astype(np.int64)


def join(parts: Sequence[Rows]) -> Rows | None:
    """Put rows one after the other; None where there are none."""
    if not parts:
        return None
    has_values = all(part.values is not None for part in parts)
    return Rows(
        parts[0].game,
        np.concatenate([part.states for part in parts]),
        np.concatenate([part.visits for part in parts]),
        np.concatenate([part.results for part in parts]),
        np.concatenate([np.asarray(part.values) for part in parts]) if has_values else None,
    )


@dataclass(frozen=True)
class Evidence:
    """All that the doctor looks at."""

    run: Run
    game: Game
    metrics: list[dict[str, Any]]
    checkpoints: Mapping[int, Path]
    shards: Sequence[int]
    notes: list[str] = field(default_factory=list)
    """What could not be read, in sentences."""
    _samples: dict[int, Rows | None] = field(default_factory=dict)

    def series(self, *names: str) -> list[float]:
        """Return the history of the first of these metrics that has one."""
        for name in names:
            found = [m[name] for m in self.metrics if _is_number(m.get(name))]
            if found:
                return [float(value) for value in found]
        return []

    def setting(self, path: str, default: Any = None) -> Any:
        """Look up a setting such as ``train.reuse`` in the run's config."""
        value: Any = self.run.config
        for key in path.split("."):
            if not isinstance(value, Mapping) or key not in value:
                return default
            value = value[key]
        return value

    @cached_property
    def steps(self) -> float:
        """Gradient steps taken so far."""
        return max(self.series("steps"), default=0.0)

    @cached_property
    def window(self) -> Rows | None:
        """The newest rows of the replay window, in the order in which they were played."""
        parts: list[Rows] = []
        left = MOST_ROWS
        for number in reversed(self.shards):
            part = self._shard(number, partial(newest, left))
            if part is not None:
                parts.append(part)
                left -= len(part)
            if left <= 0:
                break
        return join(parts[::-1])

    def sample(self, number: int) -> Rows | None:
        """Return a few rows of a shard, evenly spaced; a shard is read only once for this."""
        if number not in self._samples:
            self._samples[number] = self._shard(number, lambda count: evenly(count, SAMPLE))
        return self._samples[number]

    def model(self, number: int) -> Model | None:
        """Read the weights of a checkpoint; None where they cannot be read."""
        try:
            return read_model(self.checkpoints[number])
        except UserError as error:
            self._note(str(error))
            return None

    def _shard(self, number: int, pick: Callable[[int], Pick]) -> Rows | None:
        """Read some rows of a shard: those that `pick` names, given how many there are."""
        name = f"replay/{number:06d}.npz"
        try:
            arrays = read_npz(self.run.path / name)
        except UserError as error:  # damaged, or deleted by the learner since we looked
            self._note(str(error))
            return None
        if not {"states", "counts", "results"} <= arrays.keys():
            self._note(f"{name} holds no rows with states, visits and results")
            return None
        states, counts = arrays["states"], arrays["counts"]
        fits = (
            states.ndim == 2
            and counts.ndim == 2
            and states.dtype == np.uint64
            and states.shape[1] == self.game.num_words
            and counts.shape[1] == self.game.most_legal
            and len(states) == len(counts) == len(arrays["results"])
        )
        if not fits:
            self._note(f"the rows of {name} do not fit {self.game.spec}")
            return None
        at, values = pick(len(states)), arrays.get("values")
        # Visits are wide: only the rows that are needed become floats.
        return Rows(
            self.game, states[at], counts[at].astype(np.float64),
            arrays["results"][at].astype(np.float64),
            None if values is None else values[at].astype(np.float64),
        )  # fmt: skip

    def _note(self, sentence: str) -> None:
        if sentence not in self.notes:
            self.notes.append(sentence)


def gather(path: Path) -> Evidence:
    """Look through a run folder; safe while it is being trained."""
    run = open_run(path)
    evidence = Evidence(
        run, load_game(run.game), read_metrics(path), checkpoint_paths(path), shard_numbers(path)
    )
    if not evidence.metrics:
        evidence.notes.append("there are no metrics yet: the first iteration has not ended")
    return evidence


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
