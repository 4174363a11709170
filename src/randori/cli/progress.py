"""How far a run is: the learner's newest status, and what the metrics say of the past."""

from dataclasses import dataclass
from time import monotonic
from typing import Any

from randori.learners.status import Status
from randori.learners.table import config_of
from randori.runs.folder import Run
from randori.runs.metrics import read_metrics

PREPARING = ("starting", "compiling")
"""Phases before the clock of the run goes."""
SETTLED = 2.0
"""Seconds after which the rates of an iteration say something."""
RATES = (
    "games_per_s",
    "evaluations_per_s",
    "bare_share",
    "policy_entropy",
    "search_overruled",
    "game_length",
    "first_player_score",
)


@dataclass(frozen=True)
class Past:
    """What the iterations so far have to say, oldest first."""

    rates: dict[str, float]
    """of the last iteration; nothing before there is one"""
    policy_losses: list[float]
    value_losses: list[float]
    scores: dict[str, list[float]]
    """opponent -> scores; only opponents that were met"""
    effective: dict[str, float]
    """opponent -> games behind the newest score that say something new; old metrics: all games"""
    gates: list[tuple[float, bool]]
    """score of each candidate, and whether it took over"""


class Progress:
    """A listener that keeps what a screen needs; `listen` is called very often."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.config = config_of(run)
        self.status = Status()
        self.note = ""
        """what is to be said while the learner prepares"""
        self._earlier = read_metrics(run.path)
        self._heard = monotonic()
        self._known: tuple[tuple[int, int], Past] | None = None

    def listen(self, status: Status) -> None:
        """Take the learner's word."""
        self.status = status
        self._heard = monotonic()
        if status.phase not in PREPARING:
            self.note = ""

    def compiling(self, message: str) -> None:
        """Hear that kernels are being compiled."""
        self.note = message

    @property
    def games(self) -> int:
        """Games so far."""
        return self.status.counters.games

    @property
    def rows(self) -> int:
        """Rows so far."""
        return self.status.counters.rows

    def seconds(self) -> float:
        """Return how long the run has been trained by now."""
        is_going = self.status.phase not in PREPARING
        waited = monotonic() - self._heard if is_going else 0.0
        return self.status.counters.seconds + waited

    def share(self) -> float:
        """Return how much of the run is done; 0 where it has no end."""
        minutes = self.config.stop.minutes
        by_clock = self.seconds() / (60 * minutes) if minutes else 0.0
        return min(1.0, max(self.status.progress, by_clock))

    def seconds_left(self) -> float | None:
        """Estimate the time left, or None where there is no end or no telling."""
        stop, seconds = self.config.stop, self.seconds()
        left = [60 * stop.minutes - seconds] if stop.minutes else []
        if self.status.progress > 0.02 and (stop.iterations or stop.games):
            left.append(seconds / self.status.progress - seconds)
        return max(0.0, min(left)) if left else None

    def rates(self) -> dict[str, float]:
        """Return self-play's rates: of this iteration, or of the last one while this is young."""
        tally, past = self.status.tally, self.past()
        if tally.seconds < SETTLED and past.rates:
            return past.rates
        seconds = max(1e-9, tally.seconds)
        rates = (
            tally.games / seconds, tally.evaluations / seconds, self.status.bare_share,
            tally.entropy, tally.overruled, tally.game_length or 0.0,
            tally.first_player_score or 0.0,
        )  # fmt: skip
        return dict(zip(RATES, rates, strict=True))

    def past(self) -> Past:
        """Return what the iterations so far say, read again only after a new one."""
        new = self.status.history
        first = int(new[0]["iteration"]) if new else self.status.counters.iteration + 1
        mark = (first, len(new))
        if self._known is None or self._known[0] != mark:
            # What an earlier process did after its last checkpoint is undone.
            earlier = [r for r in self._earlier if r.get("iteration", 0) < first]
            self._known = mark, self._read(earlier + new[: mark[1]])
        return self._known[1]

    def _read(self, records: list[dict[str, Any]]) -> Past:
        evaluation = getattr(self.config, "evaluation", None)
        scores: dict[str, list[float]] = {name: [] for name in getattr(evaluation, "opponents", ())}
        effective: dict[str, float] = {}
        games = getattr(evaluation, "games", 0)
        for record in records:
            noted = record.get("effective_games") or {}
            for opponent, score in (record.get("scores") or {}).items():
                scores.setdefault(opponent, []).append(score)
                effective[opponent] = noted.get(opponent, games)
        return Past(
            rates={key: records[-1].get(key) or 0.0 for key in RATES} if records else {},
            policy_losses=_known(records, "policy_loss"),
            value_losses=_known(records, "value_loss"),
            scores={opponent: found for opponent, found in scores.items() if found},
            effective=effective,
            gates=[
                (record["gate_score"], bool(record.get("gate_passed")))
                for record in records
                if record.get("gate_score") is not None
            ],
        )


def _known(records: list[dict[str, Any]], key: str) -> list[float]:
    return [record[key] for record in records if record.get(key) is not None]
