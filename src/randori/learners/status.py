"""Where a learner stands: counters that a checkpoint stores, and the status that a screen shows."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from randori.learners.losses import Losses
from randori.learners.settings import StopConfig
from randori.learners.yields import Tally


@dataclass
class Counters:
    """Where a run stands; stored with every checkpoint."""

    iteration: int = 0
    checkpoint: int = 0
    rows: int = 0
    games: int = 0
    plies: int = 0
    evaluations: int = 0
    steps: int = 0
    seconds: float = 0.0
    owed: float = 0.0
    """gradient steps that reuse still asks for"""
    evaluated_at: float = 0.0
    saved_at: float = 0.0


def clock_share(stop: StopConfig, counters: Counters) -> float:
    """Return the share of a run's minutes that is over; 0 where it has none."""
    return counters.seconds / (60 * stop.minutes) if stop.minutes else 0.0


def progress_of(stop: StopConfig, counters: Counters, *, steady: bool = False) -> float:
    """Return the share of a run that is done; `steady` leaves the clock out."""
    shares = [0.0 if steady else clock_share(stop, counters)]
    if stop.iterations:
        shares.append(counters.iteration / stop.iterations)
    if stop.games:
        shares.append(counters.games / stop.games)
    return max(shares)


@dataclass
class Status:
    """What a screen shows; the learner keeps it up to date."""

    phase: str = "starting"
    counters: Counters = field(default_factory=Counters)
    tally: Tally = field(default_factory=Tally)
    bare_rate: float = 0.0
    """evaluations a second of the network alone, at the same batch"""
    losses: Losses | None = None
    rate_share: float = 1.0
    scores: dict[str, tuple[float, int]] = field(default_factory=dict)
    """opponent -> score and games of the newest evaluation"""
    history: list[dict[str, Any]] = field(default_factory=list)
    gate: tuple[float, bool] | None = None
    """score of the newest candidate, and whether it took over"""
    progress: float = 0.0
    """share of the run that is done; 0 where it has no end"""
    evaluated: int = 0
    """iteration of the newest evaluation"""
    effective: dict[str, float] = field(default_factory=dict)
    """opponent -> games of that evaluation that say something new: `MatchResult.effective`"""
    warning: str = ""
    """what people have to know"""

    @property
    def bare_share(self) -> float:
        """Self-play's evaluations a second as a share of what the network alone can do."""
        rate = self.tally.evaluations / max(1e-9, self.tally.seconds)
        return rate / self.bare_rate if self.bare_rate else 0.0


Listener = Callable[[Status], None]


def iteration_metrics(
    status: Status, losses: Losses | None, learning_rate: float
) -> dict[str, Any]:
    """Return the line of metrics of the iteration that has just ended."""
    counters, tally = status.counters, status.tally
    return {
        "iteration": counters.iteration,
        "checkpoint": counters.checkpoint,
        "seconds": round(counters.seconds, 3),
        "rows": counters.rows,
        "games": counters.games,
        "evaluations": counters.evaluations,
        "steps": counters.steps,
        "games_per_s": tally.games / max(1e-9, tally.seconds),
        "evaluations_per_s": tally.evaluations / max(1e-9, tally.seconds),
        "bare_share": status.bare_share,
        "paused_share": tally.paused / max(1e-9, tally.seconds),
        "policy_loss": losses.policy if losses else None,
        "value_loss": losses.value if losses else None,
        "reply_loss": losses.reply if losses else None,
        "owner_loss": losses.owners if losses else None,
        "learning_rate": learning_rate,
        "policy_entropy": tally.entropy,
        "search_overruled": tally.overruled,
        "game_length": tally.game_length,
        "first_player_score": tally.first_player_score,
        "draw_share": tally.draw_share,
        "effective_games": status.effective if status.evaluated == counters.iteration else {},
    }
