"""Matches on the command line: a progress bar while they run, a table, and the games as a file."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, perf_counter
from typing import Any

from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from randori.agents.registry import load_agent
from randori.arena.match import MatchResult, PlayedGame, play_match
from randori.arena.stats import LENGTH, random_games
from randori.cli.report import amount, announced, clock, console, note, print_json, print_table
from randori.errors import UserError
from randori.games.game import Game
from randori.games.position import RESULTS
from randori.games.records import GameRecord, write_records
from randori.games.registry import load_game
from randori.games.sgf import GAME, write_sgf
from randori.runs import atomic

RANDOM_GAMES = 32
"""Random games that tell how long a game may last, for the time left."""
SILENCE = 10.0
"""Seconds between lines of progress where there is no terminal."""

Progression = Callable[[int, int], None]


def run_match(
    spec: str,
    a: str,
    b: str,
    games: int,
    *,
    seed: int,
    opening_plies: int,
    save: Path | None,
    as_json: bool,
) -> None:
    """Play a match and report it."""
    if games < 1:
        raise UserError(f"a match needs at least 1 game, not {games}")
    if opening_plies < 0:
        raise UserError(f"--opening-plies must not be negative: {opening_plies}")
    game = load_game(spec)
    if save is not None:
        expect_new_file(save)
        if save.suffix.lower() == ".sgf" and game.name != GAME:
            raise UserError(f"--save {save}: SGF is for {GAME}; save {game.name} as .jsonl")
    agents = load_agent(a, game), load_agent(b, game)
    with announced(game.name):
        length = mean_length(game)
        start = perf_counter()
        with shown_progress(games, length) as progress:
            result = play_match(
                game, *agents, games, seed=seed, opening_plies=opening_plies, progress=progress
            )
    seconds = perf_counter() - start
    if save is not None:
        write_games(game_records(game, result), save)
    if as_json:
        extra = {"seconds": seconds, "seed": seed, "opening_plies": opening_plies}
        print_json({"game": game.spec, **result.summary(), **extra})
    else:
        print_result(game, result, seconds)
    if result.distinct < games:
        note(
            f"note: only {result.distinct} of {games} games differ, so the intervals are too "
            f"narrow; --opening-plies {max(2, opening_plies + 2)} makes more of them differ"
        )


def expect_new_file(path: Path) -> None:
    """Refuse a file that cannot be made, before hours are spent on its content."""
    if path.exists():
        raise UserError(f"{path} exists already; choose another name")
    if not path.parent.is_dir():
        raise UserError(f"there is no folder {str(path.parent)!r} for {path.name}")


def mean_length(game: Game) -> float:
    """Estimate the plies of a game, by random ones."""
    return float(random_games(game, RANDOM_GAMES)[:, LENGTH].mean())


@contextmanager
def shown_progress(games: int, length: float) -> Iterator[Progression]:
    """Show games, plies a second and the time left on stderr.

    All games run side by side and most end late, so the plies tell how far the match is.
    """
    start = last = monotonic()

    def share(over: int, plies: int) -> float:
        return over / games if over == games else min(0.99, plies / (games * length))

    def tell(over: int, plies: int) -> None:
        nonlocal last
        now = monotonic()
        if now - last >= SILENCE and over < games:
            last = now
            done = share(over, plies)
            left = (now - start) * (1 - done) / done if done else 0.0
            rate = amount(plies / (now - start))
            note(f"{over}/{games} games over, {rate} plies/s, about {clock(left)} left")

    screen = console(stderr=True)
    if not screen.is_terminal:
        yield tell
        return
    columns = (
        TextColumn("{task.fields[over]}/{task.fields[games]} games"),
        BarColumn(),
        TextColumn("{task.fields[rate]} plies/s"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=screen, transient=True) as bars:
        task = bars.add_task("", total=1.0, over=0, games=games, rate="–")

        def show(over: int, plies: int) -> None:
            rate = amount(plies / max(1e-9, monotonic() - start))
            bars.update(task, completed=share(over, plies), over=over, rate=rate)

        yield show


def print_result(game: Game, result: MatchResult, seconds: float) -> None:
    """Print the table of a match."""
    firsts = [one for one in result.games if one.a_is_first]
    seconds_ = [one for one in result.games if not one.a_is_first]
    rows = [_row("all", result.games)]
    if firsts and seconds_:
        rows += [_row("moving first", firsts), _row("moving second", seconds_)]
    print(f"{game.spec}: {result.a} against {result.b}, {len(result.games)} games")
    heads = ("", "wins", "draws", "losses", "score", "95 % interval")
    print_table(rows, heads, numbers=(1, 2, 3, 4))
    summary: dict[str, Any] = result.summary()
    low, high = summary["elo_low"], summary["elo_high"]
    print(f"Elo {summary['elo']:+.0f} [{low:+.0f}, {high:+.0f}] for {result.a}; {clock(seconds)}")


def _row(name: str, games: list[PlayedGame]) -> tuple[str, ...]:
    part = MatchResult("", "", games)
    low, high = (f"{100 * bound:.1f}" for bound in part.interval)
    counts = (str(count) for count in (part.wins, part.draws, part.losses))
    return name, *counts, f"{100 * part.score:.1f} %", f"[{low}, {high}]"


def game_records(game: Game, result: MatchResult) -> Iterator[GameRecord]:
    """Yield the games of a match as records, with who played them."""
    for one in result.games:
        first, second = (result.a, result.b) if one.a_is_first else (result.b, result.a)
        agents = {"first": first, "second": second}
        values = () if all(value is None for value in one.values) else tuple(one.values)
        yield GameRecord.from_actions(
            game, one.moves, RESULTS[one.outcome], agents=agents, values=values
        )


def write_games(games: Iterable[GameRecord], path: Path) -> None:
    """Write games as JSON Lines, or as SGF if the name says so."""
    is_sgf = path.suffix.lower() == ".sgf"
    text = "\n".join(map(write_sgf, games)) if is_sgf else write_records(games)
    atomic.write_text(path, text)
