"""Networks of the run before rows that they have learnt from, and before rows that came later.

A checkpoint and the shard of the same number are written together, so that the model of checkpoint
n has never seen the shards after n. No rows have to be kept out of training for this.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from randori.diagnosis.evidence import SAMPLE, Evidence, Rows, join
from randori.diagnosis.opinions import Opinion, ask, divergences
from randori.errors import UserError
from randori.runs.health import Floats, shares

BRIEF = 500
"""Rows that older networks are asked about, for the trend."""
FEWEST = 64
"""With fewer rows nothing is said."""
ENOUGH = 600
"""New rows that make a trial worth its name: where the newest checkpoint has fewer, an older one is
tried instead."""
LATER = 3
"""Shards after a checkpoint that count as new: those much later are another game altogether."""
TINY = 0.05
"""Errors that are too small to be worth a comparison."""
HISTORY = 5
"""Earlier checkpoints for the trend."""


@dataclass(frozen=True)
class Part:
    """Rows and what the network thinks of them."""

    rows: Rows
    opinion: Opinion

    @cached_property
    def value_errors(self) -> Floats:
        """Squared distance of the value from the result, a row each."""
        return np.asarray((self.opinion.values - self.rows.results) ** 2)

    @cached_property
    def policy_errors(self) -> Floats:
        """KL from the search's policy to the network's, a row each."""
        return divergences(shares(self.rows.visits), self.opinion.policy)

    @property
    def games(self) -> int:
        """Independent results among the rows."""
        return max(1, min(self.rows.games, len(self.rows)))


@dataclass(frozen=True)
class Trial:
    """A checkpoint's network before old and new rows; `fresh` is None where there are none."""

    checkpoint: int
    old: Part | None
    fresh: Part | None

    @property
    def best(self) -> Part:
        """New rows where there are any, else old ones."""
        part = self.fresh or self.old
        assert part is not None
        return part

    @property
    def value_gap(self) -> float:
        """How much of the value's error on new rows it does not make on old ones."""
        return self._gap("value_errors")

    @property
    def policy_gap(self) -> float:
        """The same of the policy's."""
        return self._gap("policy_errors")

    def _gap(self, name: str) -> float:
        if self.old is None or self.fresh is None:
            return float("nan")
        old, new = (float(getattr(part, name).mean()) for part in (self.old, self.fresh))
        return (new - old) / max(new, TINY)

    @property
    def doubt(self) -> float:
        """Standard error of `value_gap`; the rows of a game share one result."""
        if self.old is None or self.fresh is None:
            return float("nan")
        parts = (self.old, self.fresh)
        variance = sum(float(part.value_errors.var()) / part.games for part in parts)
        return float(np.sqrt(variance)) / max(float(self.fresh.value_errors.mean()), TINY)


def hold_trials(evidence: Evidence) -> list[Trial]:
    """Try the newest network that has rows to be tried on, and a few older ones before it."""
    first, last = min(evidence.shards, default=0), max(evidence.shards, default=0)
    ready = [number for number in evidence.checkpoints if first <= number < last]
    while len(ready) > 1 and _count_after(evidence, ready[-1]) < ENOUGH:
        ready.pop()  # the last shard of a run may hold next to nothing
    if not ready:
        ready = list(evidence.checkpoints)[-1:]
    at = np.unique(np.linspace(0, len(ready) - 1, min(HISTORY, len(ready))).astype(int))
    found = (_try(evidence, ready[i], brief=i != at[-1]) for i in at)
    return [trial for trial in found if trial is not None]


def _after(evidence: Evidence, number: int) -> list[int]:
    """Return the next shards that the network of a checkpoint has not learnt from."""
    return [shard for shard in evidence.shards if shard > number][:LATER]


def _count_after(evidence: Evidence, number: int) -> int:
    samples = (evidence.sample(shard) for shard in _after(evidence, number))
    return sum(len(sample) for sample in samples if sample is not None)


def _try(evidence: Evidence, number: int, *, brief: bool) -> Trial | None:
    model = evidence.model(number)
    if model is None:
        return None
    before = [shard for shard in evidence.shards if shard <= number]
    most = BRIEF if brief else SAMPLE
    parts: list[Part | None] = []
    for shards in (_ends(before), _after(evidence, number)):
        samples = [evidence.sample(shard) for shard in shards]
        rows = join([sample for sample in samples if sample is not None])
        if rows is None or len(rows) < FEWEST:
            parts.append(None)
            continue
        chosen = rows.spread(most)
        try:
            parts.append(Part(chosen, ask(evidence.game, model, chosen.states)))
        except UserError as error:
            evidence.notes.append(str(error))
            return None
    if parts == [None, None]:
        return None
    return Trial(number, *parts)


def _ends(shards: list[int]) -> list[int]:
    """Return the oldest, the middle and the newest one: of all ages, without reading every file."""
    return sorted({shards[0], shards[len(shards) // 2], shards[-1]}) if shards else []
