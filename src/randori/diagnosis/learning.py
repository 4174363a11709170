"""The rule about losses: does the policy come nearer to what the searches find?

A policy's loss cannot fall below the entropy of its targets, and that floor moves: it falls as the
searches learn what to play. So it is the distance between the two that is judged.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from randori.diagnosis.evidence import Evidence
from randori.diagnosis.findings import WORST, Finding, Measure, Verdict, percent
from randori.diagnosis.history import NO_METRICS
from randori.diagnosis.rules import EARLY
from randori.runs.shards import window_after

NO_RATE = 1e-7
"""Learning rates below this change no weight that counts."""
FAR = 0.7
"""Nats between a policy and its targets that are many; Othello comes to 0.4, Connect 4 to 0.1."""
SOME, MUCH = 0.2, 0.5
"""Rises that are odd and sick. A distance that grows evenly to nearly twice itself rises by 0.6."""
LEAST = 0.02
"""Losses that are too small to speak of rises."""


class Judgement(NamedTuple):
    """What is thought of the losses."""

    verdict: Verdict
    sentence: str
    advice: str
    """what to try"""


@dataclass(frozen=True)
class Course:
    """How learning went, an iteration an entry."""

    policy: list[float]
    """losses"""
    above: list[float]
    """the same above their floor, or as they are where no floor is known"""
    value: list[float]
    has_floor: bool

    def since(self, first: int) -> "Course":
        """Return the same from an iteration on."""
        return Course(
            self.policy[first:], self.above[first:], self.value[first:], self.has_floor
        )  # fmt: skip


def losses(evidence: Evidence) -> Finding:
    """Judge whether losses fall; the policy's is taken above the entropy of its targets."""
    measure = Measure("loss_trend", "policy loss above its floor")
    course, late = _courses(evidence)
    if not course.policy:
        return measure.missing(NO_METRICS)
    rates, value = evidence.series("learning_rate"), course.value
    rises = {"policy": _rise(late.above), "value": _rise(late.value)}
    verdict, sentence, advice = _judge(rises, late)
    rate = f"learning rate {rates[-1]:.2g}" if rates else ""
    if verdict == "ok":
        is_mixed = evidence.setting("train.search_share", 0.0) > 0
        against = ", against targets of which the search's value is a part" if is_mixed else ""
        remarks = [f"value loss {value[-1]:.3f}{against}"] if value else []
        if rises["policy"] > SOME:
            remarks += [f"{percent(rises['policy'])} above its best, as targets sharpened"]
        sentence = "; ".join(remarks)
        if course.has_floor and _lags(course.above):
            verdict = "odd"
            sentence = "the policy stays far from what the searches find: the network cannot say it"
            advice = (
                "network.policy=planes where the game has it; more network.channels and blocks; a "
                "game whose policy is a sum of factors may need others"
            )
    if rates and max(rates) < NO_RATE:
        verdict, sentence = "sick", f"the learning rate is practically nothing ({max(rates):.2g})"
        advice, rate = "raise train.learning_rate", ""
    now = course.above[-1]
    return measure.found(
        now, f"{now:.3f}", verdict, "; ".join(filter(None, (sentence, rate))), advice, course.above,
        value_loss=value[-1] if value else None, rises=rises,
    )  # fmt: skip


def _judge(rises: dict[str, float], late: Course) -> Judgement:
    """Judge how far losses are above their best, the worse one of the two."""
    is_behind = late.has_floor and _has_fallen(late)
    verdicts = {name: _grade(rise) for name, rise in rises.items()}
    if is_behind:
        verdicts["policy"] = "odd" if rises["policy"] > MUCH else "ok"
    worst = min(verdicts, key=lambda name: (WORST.index(verdicts[name]), -rises[name]))
    rise = percent(rises[worst])
    if worst == "policy" and is_behind:
        sentence = (
            f"the policy loss falls, but is {rise} farther above its floor than it was: the "
            "searches' policy has sharpened faster than the network follows"
        )
        advice = "raise train.reuse or train.final_share; more network.channels and blocks"
        return Judgement(verdicts[worst], sentence, advice)
    where = " above its floor" if worst == "policy" and late.has_floor else ""
    sentence = f"the {worst} loss{where} has risen by {rise} from its best"
    advice = "lower train.learning_rate or train.reuse; enlarge window, so that it forgets less"
    return Judgement(verdicts[worst], sentence, advice)


def _courses(evidence: Evidence) -> tuple[Course, Course]:
    """Return the course of all iterations, and of those by which a network has learnt something."""
    known = [
        (record, floor)
        for record, floor in zip(evidence.metrics, _floors(evidence), strict=True)
        if record.get("policy_loss") is not None
    ]
    has_floor = any(floor is not None for _, floor in known)
    known = [(record, floor) for record, floor in known if floor is not None or not has_floor]
    policy = [float(record["policy_loss"]) for record, _ in known]
    above = [
        max(0.0, loss - (floor or 0.0)) for loss, (_, floor) in zip(policy, known, strict=True)
    ]
    said = [record.get("value_loss") for record, _ in known]
    value = [float(loss) for loss in said if loss is not None]
    course = Course(policy, above, value if len(value) == len(known) else [], has_floor)
    early = sum(float(record.get("steps", EARLY)) < EARLY for record, _ in known)
    return course, course.since(early)


def _floors(evidence: Evidence) -> list[float | None]:
    """Return for each iteration the mean entropy of the targets in its window.

    The newest iteration alone is no floor: games that run side by side are all in the opening, and
    then all in the endgame, and the loss is of older rows as well.
    """
    window, first = evidence.setting("window", 0), evidence.setting("first_window", 0)
    known = [record for record in evidence.metrics if record.get("policy_entropy") is not None]
    entropies = np.array([float(record["policy_entropy"]) for record in known])
    rows = np.zeros(len(known) + 1)
    for i, record in enumerate(known):
        rows[i + 1] = max(rows[i], float(record.get("rows", rows[i])))
    oldest = np.array([max(0.0, end - window_after(end, window, first)) for end in rows[1:]])
    sums = np.concatenate([[0.0], np.cumsum(entropies * np.diff(rows))])
    # Metrics without rows: the newest iteration counts as one row, so it alone is the floor.
    lacking = np.maximum(0.0, 1.0 - (rows[1:] - np.maximum(rows[:-1], oldest)))
    total = sums[1:] - np.interp(oldest, rows, sums) + lacking * entropies
    floors = iter((total / (rows[1:] - oldest + lacking)).tolist())
    has_one = (record.get("policy_entropy") is not None for record in evidence.metrics)
    return [next(floors) if is_known else None for is_known in has_one]


def _grade(rise: float) -> Verdict:
    return "sick" if rise > MUCH else "odd" if rise > SOME else "ok"


def _stretches(series: Sequence[float]) -> list[float]:
    """Return the means of quarters, or of thirds where there are few; of nothing below that."""
    parts = 4 if len(series) >= 12 else 3 if len(series) >= 6 else 0
    if not parts:
        return []
    return [float(np.mean(part)) for part in np.array_split(np.asarray(series), parts)]


def _rise(series: Sequence[float]) -> float:
    """Return by how much the last stretch is above the best one before it."""
    *before, last = _stretches(series) or (0.0, 0.0)
    best = min(before)
    return (last - best) / best if best > LEAST else 0.0


def _has_fallen(course: Course) -> bool:
    """Tell whether the policy's loss is lower than when it was nearest to its floor."""
    *before, _ = _stretches(course.above) or (0.0, 0.0)
    losses = _stretches(course.policy) or [0.0, 0.0]
    return losses[-1] < losses[before.index(min(before))]


def _lags(above: Sequence[float]) -> bool:
    """Tell whether a policy is far above its floor, and is not on its way down."""
    if len(above) < 12:
        return False
    *_, before, last = _stretches(above)
    return last > FAR and last > 0.9 * before
