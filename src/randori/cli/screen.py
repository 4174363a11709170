"""What training looks like: a live screen in a terminal, a line every few seconds elsewhere.

Both only read the learner's status. The live screen draws in a thread of its own, so that its clock
goes on while the learner is busy with one long step.
"""

import shutil
import sys
from collections.abc import Sequence
from time import monotonic
from types import TracebackType
from typing import Any

from rich.console import Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from randori.arena.match import score_interval
from randori.cli.report import amount, clock, console, note, percent, sparkline
from randori.learners.alphazero import AlphaZeroConfig
from randori.learners.status import Status
from randori.runs.config import from_dict
from randori.runs.folder import Run
from randori.runs.metrics import read_metrics

FRAMES = 4
"""Pictures a second."""
SILENCE = 5.0
"""Seconds between plain lines."""
WIDEST = 110
PHASE_WIDTH = 10
PREPARING = ("starting", "compiling")
"""Phases before the clock of the run goes."""
SETTLED = 2.0
"""Seconds after which the rates of an iteration say something."""


class Progress:
    """What both screens know: the run, its history and the newest status."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._config = from_dict(AlphaZeroConfig, run.config)
        self._past = read_metrics(run.path)
        self._status = Status()
        self._heard = monotonic()
        self._note = ""

    def listen(self, status: Status) -> None:
        """Take the learner's word; this is called very often."""
        self._status = status
        self._heard = monotonic()
        if status.phase not in PREPARING:
            self._note = ""

    def compiling(self, message: str) -> None:
        """Hear that kernels are being compiled."""
        self._note = message

    def history(self) -> list[dict[str, Any]]:
        """Return the records of all iterations, those of earlier processes first."""
        new = list(self._status.history)
        first = new[0]["iteration"] if new else self._status.counters.iteration + 1
        return [record for record in self._past if record.get("iteration", 0) < first] + new

    def seconds(self) -> float:
        """Return how long the run has been trained by now."""
        is_going = self._status.phase not in PREPARING
        waited = monotonic() - self._heard if is_going else 0.0
        return self._status.counters.seconds + waited

    def share(self) -> float:
        """Return how much of the run is done; 0 where it has no end."""
        minutes = self._config.stop.minutes
        by_clock = self.seconds() / (60 * minutes) if minutes else 0.0
        return min(1.0, max(self._status.progress, by_clock))

    def seconds_left(self) -> float | None:
        """Estimate the time left, or None where there is no end or no telling."""
        stop, seconds = self._config.stop, self.seconds()
        left = [60 * stop.minutes - seconds] if stop.minutes else []
        if self._status.progress > 0.02 and (stop.iterations or stop.games):
            left.append(seconds / self._status.progress - seconds)
        return max(0.0, min(left)) if left else None

    def rates(self) -> dict[str, float]:
        """Return self-play's rates: of this iteration, or of the last one while this is young."""
        tally, past = self._status.tally, self.history()
        if tally.seconds < SETTLED and past:
            return past[-1]
        games = max(1, tally.games)
        return {
            "games_per_s": tally.games / max(1e-9, tally.seconds),
            "evaluations_per_s": tally.evaluations / max(1e-9, tally.seconds),
            "bare_share": self._status.bare_share,
            "policy_entropy": tally.entropy,
            "search_overruled": tally.overruled,
            "game_length": tally.plies / games,
            "first_player_score": (tally.first_wins + 0.5 * tally.draws) / games,
        }

    def scores(self) -> dict[str, list[float]]:
        """Return the scores against each opponent, oldest first."""
        found: dict[str, list[float]] = {spec: [] for spec in self._config.evaluation.opponents}
        past = self.history()
        for record in past:
            for opponent, score in (record.get("scores") or {}).items():
                found.setdefault(opponent, []).append(score)
        return {opponent: scores for opponent, scores in found.items() if scores}


class Lines(Progress):
    """A line every few seconds, for logs and pipes."""

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._told = monotonic()

    def __enter__(self) -> "Lines":
        return self

    def __exit__(self, *error: object) -> None:
        return

    def listen(self, status: Status) -> None:
        """Say how it goes, now and then."""
        super().listen(status)
        if monotonic() - self._told >= SILENCE:
            self._told = monotonic()
            note(self.line())

    def compiling(self, message: str) -> None:
        """Say that kernels are being compiled."""
        note(message)

    def line(self) -> str:
        """Say how it goes, in one line."""
        status, rates = self._status, self.rates()
        counters, left = status.counters, self.seconds_left()
        parts = [
            clock(self.seconds()) + (f" ({clock(left)} left)" if left is not None else ""),
            f"iteration {counters.iteration} {status.phase}",
            f"{amount(counters.games + _unbooked(status))} games {amount(rates['games_per_s'])}/s",
            f"{amount(rates['evaluations_per_s'])} evaluations/s"
            f" ({percent(rates['bare_share'])} of bare)",
            f"{amount(counters.steps)} steps",
        ]
        if status.losses is not None:
            parts.append(f"loss {status.losses.policy:.3f} + {status.losses.value:.3f}")
        parts += [f"{name} {percent(scores[-1])}" for name, scores in self.scores().items()]
        return "  ".join(parts)


class Screen(Progress):
    """A picture that keeps itself up to date."""

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._ending = ""
        self._live = Live(
            console=console(stderr=True),
            get_renderable=self.picture,
            refresh_per_second=FRAMES,
            vertical_overflow="crop",
        )

    def __enter__(self) -> "Screen":
        self._live.start(refresh=True)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ending = "complete" if self._status.progress >= 1.0 else "stopped"
        self._live.stop()

    def picture(self) -> RenderableType:
        """Draw everything."""
        columns = shutil.get_terminal_size().columns
        # Two columns stay free for the ^C that a terminal echoes: it must not wrap the line.
        inner = min(columns - 2, WIDEST) - 4
        title = Text.assemble(
            ("randori", "bold"), " · ", (self._run.game, "bold cyan"), f" · {self._run.path}"
        )
        title.truncate(inner - 2, overflow="ellipsis")
        parts: list[RenderableType] = [self._clock_row(inner), "", self._figures(inner)]
        if scores := self.scores():
            parts += ["", self._scores(scores, inner)]
        parts += [Text(line, style="yellow") for line in self._gate_lines()]
        if not self._ending:
            parts += ["", Text(self._note or "Ctrl-C saves and stops", style="dim")]
        return Panel(Group(*parts), title=title, title_align="left", width=inner + 4)

    def _clock_row(self, width: int) -> RenderableType:
        left = self.seconds_left()
        phase = Text(self._ending or self._status.phase, style="bold green")
        row = Table.grid(padding=(0, 1))
        row.add_column(width=PHASE_WIDTH, no_wrap=True)
        if left is None:
            row.add_row(phase, Text(clock(self.seconds()), style="bold"))
            return row
        times = f"{percent(self.share()):>5}  {clock(self.seconds())} · {clock(left)} left"
        room = width - PHASE_WIDTH - len(times) - 2
        bar = ProgressBar(total=1.0, completed=self.share(), width=room)
        row.add_row(phase, bar, Text(times, style="bold"))
        return row

    def _figures(self, width: int) -> RenderableType:
        """Draw two columns: what self-play does, and what the learner does."""
        status, rates, past = self._status, self.rates(), self.history()
        counters = status.counters
        rows = counters.rows + (status.tally.rows if _unbooked(status) else 0)
        left = [
            ("iteration", str(counters.iteration), ""),
            ("games", amount(counters.games + _unbooked(status)),
             f"{amount(rates['games_per_s'])}/s"),
            ("evaluations", f"{amount(rates['evaluations_per_s'])}/s",
             f"{percent(rates['bare_share'])} of bare" if rates["bare_share"] else ""),
            ("rows", amount(rows), f"window {amount(min(rows, self._config.window))}"),
            ("game length", f"{rates['game_length']:.1f}", "plies"),
            ("first player", percent(rates["first_player_score"]), "score"),
        ]  # fmt: skip
        bars = width // 2 - 24
        losses = status.losses
        policy, value = (
            [record[key] for record in past if record.get(key) is not None]
            for key in ("policy_loss", "value_loss")
        )
        rate = self._config.train.learning_rate * status.rate_share
        right = [
            ("gradient steps", amount(counters.steps), ""),
            ("learning rate", f"{rate:.1g}", ""),
            ("policy loss", _latest(losses.policy if losses else None, policy),
             sparkline(policy, bars)),
            ("value loss", _latest(losses.value if losses else None, value),
             sparkline(value, bars)),
            ("policy entropy", f"{rates['policy_entropy']:.2f}", "nats"),
            ("overruled", percent(rates["search_overruled"]), "by search"),
        ]  # fmt: skip
        grid = Table.grid(padding=(0, 2))
        grid.add_column(width=width // 2 - 2)
        grid.add_column(width=width - width // 2)
        grid.add_row(_block("self-play", left, 12), _block("learning", right, 14))
        return grid

    def _scores(self, scores: dict[str, list[float]], width: int) -> RenderableType:
        """Draw a table of the scores against each opponent."""
        games = self._config.evaluation.games
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
        table.add_column("against", no_wrap=True, max_width=width - 48)
        table.add_column("score", justify="right")
        table.add_column("95 % interval", justify="right", no_wrap=True)
        table.add_column("history", no_wrap=True)
        for opponent, past in scores.items():
            low, high = score_interval(past[-1], games)
            table.add_row(
                opponent,
                percent(past[-1]),
                f"{percent(low)} – {percent(high)}",
                Text(sparkline(past, 18, (0.0, 1.0)), style="cyan"),
            )
        return table

    def _gate_lines(self) -> list[str]:
        if not self._config.gate.threshold:
            return []
        past = [r for r in self.history() if r.get("gate_score") is not None]
        if not past:
            return [f"gate: a candidate needs {percent(self._config.gate.threshold)}"]
        score, passed = past[-1]["gate_score"], past[-1]["gate_passed"]
        done = sum(bool(record["gate_passed"]) for record in past)
        verdict = "took over" if passed else "was refused"
        return [f"gate: the last candidate scored {percent(score)} and {verdict}; "
                f"{done} of {len(past)} took over"]  # fmt: skip


def _unbooked(status: Status) -> int:
    """Return the games of this iteration that the counters do not hold yet."""
    return status.tally.games if status.phase == "self-play" else 0


def _latest(now: float | None, past: Sequence[float]) -> str:
    value = now if now is not None else (past[-1] if past else None)
    return "–" if value is None else f"{value:.3f}"


def _block(title: str, rows: list[tuple[str, str, str]], width: int) -> RenderableType:
    """Draw lines of name, figure and remark under a title."""
    grid = Table.grid(padding=(0, 1))
    grid.add_column(width=width, style="dim", no_wrap=True)
    grid.add_column(justify="right", width=8, no_wrap=True)
    grid.add_column(no_wrap=True)
    for name, figure, remark in rows:
        grid.add_row(name, figure, Text(remark, style="cyan" if remark[:1] > "~" else "dim"))
    return Group(Text(title, style="bold"), grid)


def make_screen(run: Run, plain: bool) -> Lines | Screen:
    """Return the live screen, or plain lines where there is no terminal or none is wanted."""
    return Lines(run) if plain or not sys.stderr.isatty() else Screen(run)
