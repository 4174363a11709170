"""What training looks like: a live screen in a terminal, a line every few seconds elsewhere.

The live screen draws in a thread of its own, so that its clock goes on while the learner is busy
with one long step. Its lines are put together by hand: rich's nested tables would cost five times
as much, and this runs beside the training.
"""

import shutil
import sys
from collections.abc import Iterator
from time import monotonic

from rich.console import Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.text import Text

from randori.arena.match import score_interval
from randori.cli.progress import Progress
from randori.cli.report import amount, beyond_bare, clock, console, note, percent, sparkline
from randori.learners.status import Status
from randori.runs.folder import Run
from randori.words import some

FRAMES = 4
"""Pictures a second."""
SILENCE = 5.0
"""Seconds between plain lines."""
WIDEST = 110
PHASE_WIDTH = 11
FIGURE_WIDTH = 8
NAME_WIDTHS = (13, 15)
"""Of the left and of the right column."""

Figure = tuple[str, str, str]
"""A name, a figure and a remark."""


class Lines:
    """A line every few seconds, for logs and pipes."""

    def __init__(self, run: Run) -> None:
        self._progress = Progress(run)
        self._told = monotonic()
        self._is_explained = False

    def __enter__(self) -> "Lines":
        return self

    def __exit__(self, *error: object) -> None:
        return

    def listen(self, status: Status) -> None:
        """Say how it goes, now and then."""
        self._progress.listen(status)
        if monotonic() - self._told >= SILENCE:
            self._told = monotonic()
            note(self.line())
            self._explain()

    def _explain(self) -> None:
        """Say once what a share of bare above 100 % means."""
        words = beyond_bare(self._progress.rates()["bare_share"])
        if words and not self._is_explained:
            self._is_explained = True
            note(words)

    def compiling(self, message: str) -> None:
        """Say that kernels are being compiled."""
        note(message)

    def line(self) -> str:
        """Say how it goes, in one line."""
        progress, status = self._progress, self._progress.status
        rates, left = progress.rates(), progress.seconds_left()
        parts = [
            clock(progress.seconds()) + (f" ({clock(left)} left)" if left is not None else ""),
            f"iteration {status.counters.iteration} {status.phase}",
            f"{some(progress.games, 'game', amount(progress.games))} "
            f"{amount(rates['games_per_s'])}/s",
        ]
        if status.counters.evaluations or status.bare_rate:
            parts.append(
                f"{amount(rates['evaluations_per_s'])} evaluations/s"
                f" ({percent(rates['bare_share'])} of bare)"
            )
            steps = status.counters.steps
            parts.append(some(steps, "step", amount(steps)))
        if status.losses is not None:
            parts.append(f"loss {status.losses.policy:.3f} + {status.losses.value:.3f}")
        scores = progress.past().scores.items()
        return "  ".join(parts + [f"{opponent} {percent(past[-1])}" for opponent, past in scores])


class Screen:
    """A picture that keeps itself up to date."""

    def __init__(self, run: Run) -> None:
        self._progress = Progress(run)
        self.listen = self._progress.listen
        self.compiling = self._progress.compiling
        self._ending = ""
        self._live = Live(
            console=console(stderr=True), get_renderable=self.picture, refresh_per_second=FRAMES
        )

    def __enter__(self) -> "Screen":
        self._live.start(refresh=True)
        return self

    def __exit__(self, *error: object) -> None:
        self._ending = "complete" if self._progress.status.progress >= 1.0 else "stopped"
        self._live.stop()

    def picture(self) -> RenderableType:
        """Draw everything."""
        run = self._progress.run
        # Two columns stay free for the ^C that a terminal echoes: it must not wrap the line.
        width = min(shutil.get_terminal_size().columns - 2, WIDEST) - 4
        title = Text.assemble(("randori", "bold"), " · ", (run.game, "bold cyan"), f" · {run.path}")
        title.truncate(width - 2, overflow="ellipsis")
        lines = list(self._lines(width))
        for line in lines:
            line.no_wrap, line.overflow = True, "ellipsis"
        if not self._ending:
            lines += [Text(), Text(self._progress.note or "Ctrl-C saves and stops", style="dim")]
        return Panel(Group(*lines), title=title, title_align="left", width=width + 4)

    def _lines(self, width: int) -> Iterator[Text]:
        yield self._clock(width)
        yield Text()
        half = width // 2
        yield Text.assemble((f"{'self-play':<{half}}", "bold"), ("learning", "bold"))
        for left, right in zip(self._selfplay(), self._learning(half), strict=True):
            yield Text.assemble(
                *_figure(left, half, NAME_WIDTHS[0]), *_figure(right, half, NAME_WIDTHS[1])
            )
        words = beyond_bare(self._progress.rates()["bare_share"])
        if words:
            yield Text(words, style="dim")
        yield from self._scores(width)
        yield from self._gate()

    def _clock(self, width: int) -> Text:
        """Draw the phase, a bar where there is an end, and the time."""
        progress, left = self._progress, self._progress.seconds_left()
        phase = f"{self._ending or progress.status.phase:<{PHASE_WIDTH}}"
        times = clock(progress.seconds())
        if left is None:
            return Text.assemble((phase, "bold green"), (times, "bold"))
        times = f" {percent(progress.share()):>5}  {times} · {clock(left)} left"
        room = max(0, width - PHASE_WIDTH - len(times))
        done = round(room * progress.share())
        return Text.assemble(
            (phase, "bold green"), ("━" * done, "cyan"), ("─" * (room - done), "bright_black"),
            (times, "bold"),
        )  # fmt: skip

    def _selfplay(self) -> list[Figure]:
        progress, rates = self._progress, self._progress.rates()
        window = min(progress.rows, progress.config.window)
        return [
            ("iteration", str(progress.status.counters.iteration), ""),
            ("games", amount(progress.games), f"{amount(rates['games_per_s'])}/s"),
            ("evaluations", f"{amount(rates['evaluations_per_s'])}/s",
             f"{percent(rates['bare_share'])} of bare" if rates["bare_share"] else ""),
            ("rows", amount(progress.rows), f"window {amount(window)}"),
            ("game length", f"{rates['game_length']:.1f}", "plies"),
            ("first player", percent(rates["first_player_score"]), "score"),
        ]  # fmt: skip

    def _learning(self, width: int) -> list[Figure]:
        progress, status = self._progress, self._progress.status
        rates, past = progress.rates(), progress.past()
        bars = width - NAME_WIDTHS[1] - FIGURE_WIDTH - 2
        now = (status.losses.policy, status.losses.value) if status.losses else (None, None)
        losses = [
            (_latest(loss, series), sparkline(series, bars))
            for loss, series in zip(now, (past.policy_losses, past.value_losses), strict=True)
        ]
        rate = progress.config.train.learning_rate * status.rate_share
        return [
            ("gradient steps", amount(status.counters.steps), ""),
            ("learning rate", f"{rate:.1g}", ""),
            ("policy loss", *losses[0]),
            ("value loss", *losses[1]),
            ("policy entropy", f"{rates['policy_entropy']:.2f}", "nats"),
            ("overruled", percent(rates["search_overruled"]), "by search"),
        ]

    def _scores(self, width: int) -> Iterator[Text]:
        """Draw the scores against each opponent, with their 95 % intervals."""
        past = self._progress.past()
        scores = past.scores
        if not scores:
            return
        name_width = min(max(len("against"), *map(len, scores)), max(7, width - 46))
        yield Text()
        heads = f"{'against':<{name_width}}  score  95 % interval  history"
        yield Text(heads, style="bold")
        for opponent, found in scores.items():
            low, high = score_interval(found[-1], past.effective[opponent])
            name = opponent if len(opponent) <= name_width else f"{opponent[: name_width - 1]}…"
            interval = f"{percent(low)} – {percent(high)}"
            yield Text.assemble(
                f"{name:<{name_width}}  {percent(found[-1]):>5}  {interval:>13}  ",
                (sparkline(found, 18, (0.0, 1.0)), "cyan"),
            )

    def _gate(self) -> Iterator[Text]:
        threshold, gates = self._progress.config.gate.threshold, self._progress.past().gates
        if not threshold:
            return
        words = f"a candidate needs {percent(threshold)}"
        if gates:
            score, passed = gates[-1]
            words = (
                f"the last candidate scored {percent(score)} and "
                f"{'took over' if passed else 'was refused'}; "
                f"{sum(passed for _, passed in gates)} of {len(gates)} took over"
            )
        yield Text.assemble(("gate: ", "bold"), words)


def _latest(now: float | None, past: list[float]) -> str:
    value = now if now is not None else (past[-1] if past else None)
    return "–" if value is None else f"{value:.3f}"


def _figure(figure: Figure, width: int, name_width: int) -> list[tuple[str, str]]:
    """Return the styled parts of a figure, `width` columns in all."""
    name, value, remark = figure
    room = max(1, width - name_width - FIGURE_WIDTH - 1)
    style = "cyan" if remark[:1] > "~" else "dim"  # bars stand out, words do not
    return [
        (f"{name:<{name_width}}", "dim"),
        (f"{value:>{FIGURE_WIDTH}} ", ""),
        (f"{remark[: room - 1]:<{room}}", style),
    ]


def make_screen(run: Run, plain: bool) -> Lines | Screen:
    """Return the live screen, or plain lines where there is no terminal or none is wanted.

    The live screen is about networks and search; other learners get lines.
    """
    has_screen = run.learner == "alphazero" and sys.stderr.isatty()
    return Screen(run) if has_screen and not plain else Lines(run)
