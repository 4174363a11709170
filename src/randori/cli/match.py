"""Matches on the command line: a progress bar while they run, a table, and the games as a file."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from randori.agents.agent import Agent
from randori.agents.human import Departure
from randori.agents.registry import load_agent
from randori.arena.match import (
    Ending,
    MatchResult,
    PlayedGame,
    Progression,
    expect_few_games,
    play_match,
)
from randori.arena.openings import AGENT_PLIES, Book, expect_policy, read_lines
from randori.arena.sprt import Sprt, parse_sprt, play_sprt
from randori.arena.store import Store, stored
from randori.cli.gauge import mean_length, shown_progress
from randori.cli.report import (
    announced,
    clock,
    expect_new_file,
    note,
    print_json,
    print_table,
    printable,
)
from randori.errors import Stopped, UserError
from randori.games.game import Game
from randori.games.position import RESULTS
from randori.games.records import GameRecord, write_records
from randori.games.registry import load_game
from randori.games.sgf import GAME, write_sgf
from randori.runs import atomic
from randori.words import are, some


@dataclass(frozen=True)
class OpeningWish:
    """What the command line says about openings."""

    plies: int | None
    file: Path | None
    agent: str | None

    def book(self, game: Game, usual: int = 0) -> Book:
        """Turn it into a book; `usual` plies are random if nothing is said."""
        if self.plies is not None and self.plies < 0:
            raise UserError(f"--opening-plies must not be negative: {self.plies}")
        if self.plies is not None and self.plies >= game.longest:
            most = some(game.longest, "ply")
            raise UserError(f"--opening-plies {self.plies}: a game of {game.spec} has at most "
                            f"{most}, and some must be left to play")  # fmt: skip
        lines = () if self.file is None else read_lines(game, self.file)
        agent = "" if self.agent is None else expect_policy(load_agent(self.agent, game)).spec
        plies = AGENT_PLIES if agent else 0 if lines else usual
        if self.plies is not None:  # behind the lines of a file, if there are any
            plies = self.plies
        return Book(plies, agent, lines=lines, file="" if self.file is None else str(self.file))


def book_fields(book: Book) -> dict[str, Any]:
    """Return what `--json` says of openings."""
    return {"opening_plies": book.plies, "openings": book.file or None,
            "opening_agent": book.agent or None}  # fmt: skip


def run_match(
    spec: str,
    a: str,
    b: str,
    games: int,
    *,
    seed: int,
    openings: OpeningWish,
    sprt: str | None,
    store: Path | None,
    save: Path | None,
    as_json: bool,
) -> None:
    """Play a match and report it."""
    expect_few_games(games)
    test = None if sprt is None else parse_sprt(sprt)
    game = load_game(spec)
    book = openings.book(game)
    if save is not None:
        expect_new_file(save)
        if save.suffix.lower() not in (".jsonl", ".sgf"):
            raise UserError(f"--save {save}: games are saved as .jsonl, or as .sgf for {GAME}")
        if save.suffix.lower() == ".sgf" and game.name != GAME:
            raise UserError(f"--save {save}: SGF is for {GAME}; save {game.name} as .jsonl")
    agents = load_agent(a, game), load_agent(b, game)
    with announced(game.name) as compiled:
        length = mean_length(game)
        start = perf_counter()
        gauge = shown_progress(games, length, compiled)
        with gauge as tell, kept(store, game, agents, seed) as keep:
            result, is_whole = play_or_stop(
                game, agents, games, test, seed=seed, book=book, progress=tell, keep=keep
            )
    seconds = perf_counter() - start
    if as_json:
        extra = {"seconds": seconds, "seed": seed, **book_fields(book)}
        verdict = {} if test is None else {"sprt": test.report(result.games)}
        print_json({"game": game.spec, **result.summary(), **extra, **verdict})
    else:
        print_result(game, result, seconds)
        if test is not None:
            print("\n".join(describe_verdict(test, result.games)))
    note_forfeits([one.reason for one in result.games])
    note_cut_openings(book, result.games)
    if result.fresh < len(result.games):
        note(
            f"note: only {result.fresh} of {len(result.games)} games differ, and the intervals are "
            f"as wide as of {result.effective:.0f}; --opening-plies {max(2, book.plies + 2)} makes "
            "more of them differ"
        )
    if save is not None:  # last: a disk that is full by now takes no result along
        write_games(game_records(game, result), save)
    if not is_whole:
        raise Stopped


def play_or_stop(
    game: Game,
    agents: tuple[Agent, Agent],
    games: int,
    test: Sprt | None,
    *,
    seed: int,
    book: Book,
    progress: Progression,
    keep: Ending | None,
) -> tuple[MatchResult, bool]:
    """Play a match; if it is stopped, return the games that are over, and that they are not all.

    Ctrl-C stops it, or a person who leaves.
    """
    ended: dict[int, PlayedGame] = {}

    def collect(over: Sequence[tuple[int, PlayedGame]]) -> None:
        ended.update(over)
        if keep is not None:
            keep(over)

    rest: dict[str, Any] = {"seed": seed, "book": book, "progress": progress, "on_end": collect}
    try:
        if test is None:
            return play_match(game, *agents, games, **rest), True
        return play_sprt(game, *agents, games, test, **rest), True
    except (KeyboardInterrupt, Departure) as stop:
        why = f"stopped: {stop}: " if isinstance(stop, Departure) else "stopped: "
        fair = "; short games end first, so they are no fair sample" if ended else ""
        note(f"{why}{len(ended)} of {some(games, 'game')} {are(games)} over{fair}")
        if not ended:
            raise Stopped from None
        over = [ended[number] for number in sorted(ended)]
        return MatchResult(agents[0].spec, agents[1].spec, over), False


def note_forfeits(reasons: Sequence[str]) -> None:
    """Say how many games were given up, and why."""
    counts = Counter(filter(None, reasons))
    if counts:
        why = ", ".join(
            f"{printable(reason)} ({some(count, 'game')})"
            for reason, count in counts.most_common(3)
        )
        were = "were" if len(reasons) > 1 else "was"
        note(f"note: {counts.total()} of {some(len(reasons), 'game')} {were} given up: {why}")


def note_cut_openings(book: Book, games: Sequence[PlayedGame]) -> None:
    """Say how many openings stopped short of the end of the game, which leave next to nothing."""
    cut = sum(one.opening < book.plies for one in games)
    if cut:
        of = some(len(games), "game")
        note(f"note: in {cut} of {of} an opening of {some(book.plies, 'ply')} would have ended the "
             "game and is shorter; ask for fewer (--opening-plies)")  # fmt: skip


@contextmanager
def kept(
    path: Path | None, game: Game, agents: tuple[Agent, Agent], seed: int
) -> Iterator[Ending | None]:
    """Offer what writes games to a store as they end, if there is one."""
    if path is None:
        yield None
        return
    names = agents[0].spec, agents[1].spec
    with Store(path) as store:

        def keep(ended: Sequence[tuple[int, PlayedGame]]) -> None:
            store.add(stored(game, names, one, seed=seed, round=i // 2) for i, one in ended)

        yield keep


def describe_verdict(test: Sprt, games: Sequence[PlayedGame]) -> list[str]:
    """Say what a sequential test makes of games, and which of them count for nothing."""
    found = test.report(games)
    words = {
        "elo0": f"Elo {test.elo0:+g} is taken",
        "elo1": f"Elo {test.elo1:+g} is taken",
        "undecided": "undecided",
    }
    lines = [
        f"SPRT {test.elo0:+g} against {test.elo1:+g} Elo: LLR {found['llr']:.2f}, bounds "
        f"{test.lower:.2f} and {test.upper:.2f}, after {some(found['pairs'], 'pair')}: "
        f"{words[found['verdict']]}"
    ]
    if repeated := found["repeated_pairs"]:
        are = "repeats another and counts" if repeated == 1 else "repeat others and count"
        lines.append(f"{some(repeated, 'more pair')} {are} for nothing: longer openings "
                     "(--opening-plies) make new ones")  # fmt: skip
    return lines


def print_result(game: Game, result: MatchResult, seconds: float) -> None:
    """Print the table of a match."""
    firsts = [one for one in result.games if one.a_is_first]
    seconds_ = [one for one in result.games if not one.a_is_first]
    rows = [_row("all", result.games)]
    if firsts and seconds_:
        rows += [_row("moving first", firsts), _row("moving second", seconds_)]
    print(f"{game.spec}: {result.a} against {result.b}, {some(len(result.games), 'game')}")
    heads = ("", "wins", "draws", "losses", "score", "95 % interval")
    print_table(rows, heads, numbers=(1, 2, 3, 4))
    summary: dict[str, Any] = result.summary()
    value, low, high = (round(summary[key]) for key in ("elo", "elo_low", "elo_high"))
    print(f"Elo {value:+d} [{low:+d}, {high:+d}] for {result.a}; {clock(seconds)}")


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
        start = game.position(one.position) if one.position else None
        extra = {"reason": one.reason} if one.reason else {}
        yield GameRecord.from_actions(
            game, one.moves, RESULTS[one.outcome], start=start, agents=agents, values=values,
            extra=extra,
        )  # fmt: skip


def write_games(games: Iterable[GameRecord], path: Path) -> None:
    """Write games as JSON Lines, or as SGF if the name says so."""
    is_sgf = path.suffix.lower() == ".sgf"
    text = "\n".join(map(write_sgf, games)) if is_sgf else write_records(games)
    atomic.write_text(path, text)
