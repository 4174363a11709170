"""How far games are: a bar on a terminal, a line now and then elsewhere."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from randori.arena.match import Progression
from randori.arena.stats import LENGTH, random_games
from randori.cli.report import amount, clock, console, note
from randori.games.game import Game
from randori.words import some

RANDOM_GAMES = 32
"""Random games that tell how long a game may last, for the time left."""
SILENCE = 10.0
"""Seconds between lines of progress where there is no terminal."""


def mean_length(game: Game) -> float:
    """Estimate the plies of a game, by random ones."""
    return float(random_games(game, RANDOM_GAMES)[:, LENGTH].mean())


class Pace:
    """How fast plies come and how long the rest takes, once kernels and networks are loaded.

    How long a game lasts between these agents is not known before some are over: they may end it
    much sooner than chance does, or later. Until then the length of random games moves the bar, and
    no time is told. From then on a game that is over counts as one, and one under way as half of
    one; the bar goes no further before, so it never falls back. The clock starts with the first
    word of progress, and stands still while something is compiled: neither happens again.
    """

    def __init__(self, games: int, length: float, compiled: Callable[[], float]) -> None:
        self._games, self._length, self._compiled = games, length, compiled
        self._begun: tuple[float, int, float] | None = None
        self._now = (0.0, 0, 0.0)
        self._over = 0
        self._together = 0  # games seen side by side; of several processes, those of the largest

    def hear(self, over: int, plies: int) -> None:
        """Take the newest word of progress."""
        if over == self._over:
            # A word comes from one process, and each of its games has made one ply since its last.
            self._together = max(self._together, plies - self._now[1])
        self._over = over
        self._now = monotonic() - self._compiled(), plies, self.share(over, plies)
        self._begun = self._begun or self._now

    def share(self, over: int, plies: int) -> float:
        """Return how much of all games is played."""
        left = self._games - over
        under_way = min(self._together, left) / 2
        if not over:
            under_way = min(under_way, plies / self._length)
        return (over + under_way) / self._games

    @property
    def rate(self) -> float | None:
        """Plies a second; None while there is nothing to go by."""
        seconds, plies, _ = self._since()
        return plies / seconds if seconds > 0 and plies else None

    @property
    def seconds_left(self) -> float | None:
        """Seconds until all games are over; None while there is nothing to go by."""
        seconds, _, share = self._since()
        is_known = self._over > 0 and seconds > 0 and share > 0
        return seconds * (1 - self._now[2]) / share if is_known else None

    def _since(self) -> tuple[float, int, float]:
        """Return seconds, plies and share of the games since the first word."""
        begun = self._begun or self._now
        return self._now[0] - begun[0], self._now[1] - begun[1], self._now[2] - begun[2]


@contextmanager
def shown_progress(
    games: int, length: float, compiled: Callable[[], float] = float
) -> Iterator[Progression]:
    """Show games, plies a second and the time left on stderr.

    `length` is what a game may have of plies; `compiled` tells how many seconds went into kernels.
    """
    pace, last = Pace(games, length, compiled), monotonic()

    def tell(over: int, plies: int) -> None:
        nonlocal last
        pace.hear(over, plies)
        if monotonic() - last >= SILENCE and over < games:
            last = monotonic()
            words = [f"{over}/{some(games, 'game')} over"]
            words += [] if pace.rate is None else [f"{amount(pace.rate)} plies/s"]
            words += [] if pace.seconds_left is None else [f"about {clock(pace.seconds_left)} left"]
            note(", ".join(words))

    screen = console(stderr=True)
    if not screen.is_terminal:
        yield tell
        return
    columns = (
        TextColumn("{task.fields[over]}/{task.fields[games]}"),
        BarColumn(),
        TextColumn("{task.fields[rate]} plies/s"),
        TimeElapsedColumn(),  # shows that something goes on where a ply takes minutes
        TextColumn("{task.fields[left]}"),
    )
    with Progress(*columns, console=screen, transient=True) as bars:
        shown = some(games, "game")
        task = bars.add_task("", total=1.0, over=0, games=shown, rate="–", left="")

        def show(over: int, plies: int) -> None:
            pace.hear(over, plies)
            rate = "–" if pace.rate is None else amount(pace.rate)
            left = "" if pace.seconds_left is None else f"about {clock(pace.seconds_left)} left"
            bars.update(task, completed=pace.share(over, plies), over=over, rate=rate, left=left)

        yield show
