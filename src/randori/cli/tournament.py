"""Tournaments on the command line: progress, a crosstable, and how to go on after a stop."""

import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from randori.agents.registry import load_agent
from randori.arena.crew import play_tournament
from randori.arena.ratings import rate
from randori.arena.store import Store, StoredGame
from randori.arena.tournament import Plan
from randori.cli.match import OpeningWish, mean_length, note_forfeits, shown_progress
from randori.cli.ratings import cross, json_rows, print_ratings, results_of
from randori.cli.report import announced, note, print_json, program
from randori.errors import UserError
from randori.games.registry import load_game
from randori.spec import parse_spec

UNFINISHED = 1
ROUNDS = 10
OPENING_PLIES = 2
"""Random plies of a tournament if nothing is said: agents without dice repeat themselves."""


def make_plan(
    spec: str, agents: Sequence[str], rounds: int | None, seed: int, openings: OpeningWish
) -> Plan:
    """Load every agent once, so that a wrong one is told at once, and name it as matches do."""
    game = load_game(spec)
    book = openings.book(game, OPENING_PLIES)
    names = tuple(load_agent(agent, game).spec for agent in agents)
    return Plan(game.spec, names, ROUNDS if rounds is None else rounds, seed, book)


def is_outside(spec: str) -> bool:
    """Tell whether a spec names a program, or rules in a file."""
    name = parse_spec(spec).name
    return name == "gtp" or name.endswith(".py")


def recall_plan(tournament: str, path: Path, rounds: int | None) -> Plan:
    """Read the plan of a tournament from the store; it may be given other rounds."""
    with Store(path, create=False) as store:
        plan = Plan.from_dict(store.plan(tournament))
    outside = [spec for spec in (plan.game, *plan.agents) if is_outside(spec)]
    if outside:  # a store from elsewhere must not run what it names
        named = " ".join(shlex.quote(spec) for spec in (plan.game, *plan.agents))
        raise UserError(f"this tournament runs {outside[0]!r}: say it again yourself, as in "
                        f"tournament {named} --seed {plan.seed} --store {path}")  # fmt: skip
    return plan if rounds is None else replace(plan, rounds=rounds)


def run_tournament(plan: Plan, path: Path, *, processes: int, as_json: bool) -> int:
    """Play what is missing of a tournament, report it, and return the exit code."""
    if processes < 1:
        raise UserError(f"--jobs must be at least 1, not {processes}")
    game = load_game(plan.game)
    with Store(path) as store:
        over = len(plan.select(store.games(tournament=plan.id)))
        left = plan.num_games - over
        if over:
            note(f"tournament {plan.id}: {over} of {plan.num_games} games are in {path} already")
        resume = f"{program()} tournament --resume {plan.id} --store {shlex.quote(str(path))}"
        try:
            with announced(game.name), shown_progress(left, mean_length(game)) as progress:
                lost = play_tournament(
                    plan, store, processes=processes, progress=progress, tell=note
                )
        except KeyboardInterrupt:
            note(f"stopped; all finished games are kept, go on with\n  {resume}")
            raise
        games = plan.select(store.games(tournament=plan.id))
    if games:
        report_tournament(plan, games, as_json=as_json)
        note_forfeits([game.reason for game in games])
    if lost:
        count = sum(len(job.numbers) for job in lost)
        note(f"{count} games are missing, because processes died; try again with\n  {resume}")
        return UNFINISHED
    return 0


def report_tournament(plan: Plan, games: Sequence[StoredGame], *, as_json: bool) -> None:
    """Print the crosstable with ratings from these games alone."""
    ratings = rate(results_of(games))
    scores = cross(games)
    if as_json:
        print_json(json_rows(ratings, scores, {"tournament": plan.id}))
        return
    count = f"{len(plan.agents)} agents, {plan.rounds} rounds, {len(games)} games"
    print(f"{plan.game}: tournament {plan.id}, {count}")
    print_ratings(ratings, scores)
    distinct = len({(game.first, game.second, game.position, game.moves) for game in games})
    if distinct < len(games):
        note(f"note: only {distinct} of {len(games)} games differ, so the intervals are too narrow;"
             " longer openings (--opening-plies) make more of them differ")  # fmt: skip
