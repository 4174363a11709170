"""Tournaments on the command line: progress, a crosstable, and how to go on after a stop."""

import hashlib
import shlex
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from randori.agents.human import Departure
from randori.agents.registry import load_agent
from randori.arena.crew import play_tournament
from randori.arena.openings import Book
from randori.arena.ratings import rate
from randori.arena.sprt import games_tested, parse_sprt
from randori.arena.store import Store, StoredGame
from randori.arena.tournament import Plan
from randori.cli.gauge import mean_length, shown_progress
from randori.cli.match import OpeningWish, book_fields, describe_verdict, note_forfeits
from randori.cli.ratings import cross, json_rows, note_repeats, print_ratings, results_of
from randori.cli.report import announced, note, print_json, program
from randori.errors import Stopped, UserError
from randori.games.registry import load_game
from randori.runs.checkpoint import read_model
from randori.spec import parse_spec
from randori.words import some

UNFINISHED = 1
STORE = "arena.sqlite"
"""Where games are kept if nothing is said."""
ROUNDS, MOST_ROUNDS = 10, 1000
"""Rounds if nothing is said; the second where a test stops each pairing."""
MOST_PROCESSES = 1024
DIGITS = 12
"""Hexadecimal digits of a digest."""
OPENING_PLIES = 2
"""Random plies of a tournament if nothing is said: agents without dice repeat themselves."""


def make_plan(
    spec: str,
    agents: Sequence[str],
    rounds: int | None,
    seed: int,
    openings: OpeningWish,
    sprt: str | None = None,
) -> Plan:
    """Load every agent once, so that a wrong one is told at once, and name it as matches do."""
    test = None if sprt is None else parse_sprt(sprt)
    game = load_game(spec)
    book = openings.book(game, OPENING_PLIES)
    names = tuple(load_agent(agent, game).spec for agent in agents)
    count = usual_rounds(rounds, sprt)
    return Plan(game.spec, names, count, seed, book, test, find_models(names, book))


def usual_rounds(rounds: int | None, sprt: str | None) -> int:
    """Return how many rounds there are if nobody says; a test decides when to stop, so many."""
    return rounds if rounds is not None else ROUNDS if sprt is None else MOST_ROUNDS


def find_models(agents: Sequence[str], book: Book) -> dict[str, str]:
    """Return a digest of the model file of each agent that names one, the openings' included."""
    found = {}
    for agent in filter(None, (*agents, book.agent)):
        path = model_file(agent)
        if path is not None:
            with path.open("rb") as file:
                found[agent] = hashlib.file_digest(file, "sha256").hexdigest()[:DIGITS]
    return found


def model_file(text: str) -> Path | None:
    """Return the file of weights that a spec leads to, if it names a run, a checkpoint or a file.

    A run leads to its newest model, so that one spec may lead to another file tomorrow.
    """
    spec = parse_spec(text)
    for given in filter(None, (spec.value, *spec.options.values())):
        with suppress(UserError, OSError):
            return read_model(Path(given)).path
    return None


def is_outside(spec: str) -> bool:
    """Tell whether a spec names a program, or rules in a file."""
    name = parse_spec(spec).name
    return name == "gtp" or name.endswith(".py")


def recall_plan(tournament: str, path: Path, rounds: int | None, sprt: str | None = None) -> Plan:
    """Read the plan of a tournament from the store; it may be given other rounds and a test."""
    test = None if sprt is None else parse_sprt(sprt)
    with Store(path, create=False) as store:
        plan = Plan.from_dict(store.plan(tournament))
    outside = [spec for spec in (plan.game, *plan.agents) if is_outside(spec)]
    if outside:  # a store from elsewhere must not run what it names
        again = resume_command(plan, path)
        raise UserError(f"this tournament runs {outside[0]!r}: say it again yourself: {again}")
    plan = replace(plan, models=find_models(plan.agents, plan.book))
    if test is not None:
        plan = replace(plan, sprt=test)
        rounds = max(plan.rounds, MOST_ROUNDS) if rounds is None else rounds
    return plan if rounds is None else replace(plan, rounds=rounds)


def resume_command(plan: Plan, path: Path, processes: int = 1) -> str:
    """Write the line that goes on with a tournament; a program or rules must be named again."""
    words = ["--resume", plan.id]
    if any(is_outside(spec) for spec in (plan.game, *plan.agents)):
        words = [plan.game, *plan.agents, "-t", str(plan.rounds), "--seed", str(plan.seed)]
        words += ["--opening-plies", str(plan.book.plies)]
        words += ["--openings", plan.book.file] if plan.book.file else []
        words += ["--opening-agent", plan.book.agent] if plan.book.agent else []
        if plan.sprt is not None:
            test = plan.sprt
            words.append(f"--sprt={test.elo0:g},{test.elo1:g},{test.alpha:g},{test.beta:g}")
    words += ["--jobs", str(processes)] if processes > 1 else []
    words += ["--store", str(path)] if str(path) != STORE else []
    return f"{program()} tournament {shlex.join(words)}"


def run_tournament(plan: Plan, path: Path, *, processes: int, as_json: bool) -> int:
    """Play what is missing of a tournament, report it, and return the exit code."""
    if not 1 <= processes <= MOST_PROCESSES:
        raise UserError(f"--jobs goes from 1 to {MOST_PROCESSES}, not {processes}")
    people = [agent for agent in plan.agents if parse_spec(agent).name == "human"]
    if people and processes > 1:
        raise UserError(f"{people[0]} plays at this terminal: leave --jobs out")
    game = load_game(plan.game)
    with Store(path) as store:
        over = len(plan.select(store.games(tournament=plan.id)))
        left = plan.num_games - over
        if over:
            plan = keep_models(plan, Plan.from_dict(store.plan(plan.id)), left)
        most = "at most " if plan.sprt is not None else ""
        if over:
            of = f"{over} of {most}{some(plan.num_games, 'game')}"
            note(f"tournament {plan.id}: {of} are in {path} already")
        else:
            note(f"tournament {plan.id}: {most}{some(plan.num_games, 'game')}, kept in {path}")
        resume = resume_command(plan, path, processes)
        try:
            with (
                announced(game.name) as compiled,
                shown_progress(left, mean_length(game), compiled) as progress,
            ):
                lost = play_tournament(
                    plan, store, processes=processes, progress=progress, tell=note
                )
        except (KeyboardInterrupt, Departure) as stop:
            if isinstance(stop, Departure):
                note(str(stop))
            note(f"stopped; all finished games are kept, go on with\n  {resume}")
            raise Stopped from None
        games = plan.select(store.games(tournament=plan.id))
    if games:
        report_tournament(plan, games, as_json=as_json)
        note_forfeits([game.reason for game in games])
    if lost:
        count = sum(len(job.numbers) for job in lost)
        are = "is" if count == 1 else "are"
        note(f"{some(count, 'game')} {are} missing, because processes died; try again with\n"
             f"  {resume}")  # fmt: skip
        return UNFINISHED
    return 0


def keep_models(plan: Plan, before: Plan, left: int) -> Plan:
    """Return the plan with the models that its games were played by.

    An agent that was trained since may not play on: two would share one name.
    """
    for agent, digest in plan.models.items():
        if left and before.models.get(agent, digest) != digest:
            raise UserError(
                f"tournament {plan.id}: the model of {agent} has changed since its games were "
                "played; name a checkpoint or a copy instead, or begin anew with another --store"
            )
    return replace(plan, models={**plan.models, **before.models})


def report_tournament(plan: Plan, games: Sequence[StoredGame], *, as_json: bool) -> None:
    """Print the crosstable with ratings from these games alone."""
    results = results_of(games)
    ratings, scores = rate(results), cross(results)
    tested = {
        pair: games_tested(plan.sprt, played, 2 * plan.rounds)
        for pair, played in plan.by_pair(games).items()
        if plan.sprt is not None and played
    }
    if as_json:
        rows = json_rows(ratings, scores, {"tournament": plan.id, **book_fields(plan.book)})
        for (a, b), played in tested.items():
            assert plan.sprt is not None
            row = next(row for row in rows if row["agent"] == a)
            row["against"][b]["sprt"] = plan.sprt.report(played)
        print_json(rows)
        return
    most = "at most " if plan.sprt is not None else ""
    count = f"{most}{some(plan.rounds, 'round')}, {some(len(games), 'game')}"
    print(f"{plan.game}: tournament {plan.id}, {some(len(plan.agents), 'agent')}, {count}")
    print_ratings(ratings, scores)
    for (a, b), played in tested.items():
        assert plan.sprt is not None
        first, *rest = describe_verdict(plan.sprt, played)
        print("\n  ".join([f"{a} against {b}: {first}", *rest]))
    note_repeats(results)
