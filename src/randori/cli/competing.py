"""The commands about games between agents and their strength."""

from pathlib import Path
from typing import Annotated

import typer

from randori.cli.options import (
    Game,
    Json,
    OpeningAgent,
    OpeningPlies,
    Openings,
    Seed,
    Sprt,
    Stored,
    TwoPlies,
)
from randori.errors import UserError


def match(
    game: Game,
    a: Annotated[str, typer.Argument(metavar="A", help="An agent, such as az:runs/mine.")],
    b: Annotated[str, typer.Argument(metavar="B", help="Another, such as uct:simulations=100.")],
    number: Annotated[int, typer.Option("--games", "-n", help="Games; colours alternate.")] = 100,
    seed: Seed = 0,
    opening_plies: OpeningPlies = None,
    openings: Openings = None,
    opening_agent: OpeningAgent = None,
    sprt: Sprt = None,
    store: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Keep the games in this store too.")
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the games: .jsonl, a line each, or .sgf."),
    ] = None,
    json: Json = False,
) -> None:
    """Play two agents against each other."""
    from randori.cli.match import OpeningWish, run_match

    wish = OpeningWish(opening_plies, openings, opening_agent)
    run_match(game, a, b, number, seed=seed, openings=wish, sprt=sprt, store=store, save=save,
              as_json=json)  # fmt: skip


def tournament(
    game: Annotated[str | None, typer.Argument(metavar="GAME", show_default=False)] = None,
    agents: Annotated[
        list[str] | None, typer.Argument(metavar="AGENT...", show_default=False)
    ] = None,
    rounds: Annotated[
        int | None,
        typer.Option(
            "--rounds", "-t", help="Games of a pair, each colour; 10, or with --sprt at most 1000."
        ),
    ] = None,
    seed: Seed = 0,
    opening_plies: TwoPlies = None,
    openings: Openings = None,
    opening_agent: OpeningAgent = None,
    sprt: Sprt = None,
    jobs: Annotated[int, typer.Option(help="Processes that share the games.")] = 1,
    store: Stored = Path("arena.sqlite"),
    resume: Annotated[
        str | None, typer.Option(metavar="ID", help="Go on with a tournament of the store.")
    ] = None,
    json: Json = False,
) -> None:
    """Play every agent against every other, both colours; go on where an earlier call ended."""
    from randori.cli.match import OpeningWish
    from randori.cli.tournament import make_plan, recall_plan, run_tournament

    wish = OpeningWish(opening_plies, openings, opening_agent)
    if resume is not None:
        if game is not None or wish != OpeningWish(None, None, None):
            raise UserError("--resume knows the game, the agents and the openings; leave them out")
        plan = recall_plan(resume, store, rounds, sprt)
    elif game is None:
        raise UserError("Missing argument 'GAME' (see randori tournament --help)")
    else:
        plan = make_plan(game, agents or [], rounds, seed, wish, sprt)
    raise typer.Exit(run_tournament(plan, store, processes=jobs, as_json=json))


def ratings(
    game: Game,
    store: Stored = Path("arena.sqlite"),
    anchor: Annotated[
        list[str] | None,
        typer.Option(metavar="AGENT=ELO", help="Fix a rating; may be repeated."),
    ] = None,
    tournament: Annotated[
        str | None, typer.Option(metavar="ID", help="Only games of this tournament.")
    ] = None,
    elo: Annotated[
        bool, typer.Option("--elo", help="Elo in the order of play: 1200 at first, K = 24.")
    ] = False,
    csv: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the ratings to a file.")
    ] = None,
    export: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the games: .csv or .jsonl.")
    ] = None,
    json: Json = False,
) -> None:
    """Rate all agents by all games in the store."""
    from randori.cli.ratings import run_ratings

    run_ratings(game, store, anchors=anchor or [], tournament=tournament, by_elo=elo,
                csv_file=csv, export=export, as_json=json)  # fmt: skip


def exam(
    game: Game,
    suite: Annotated[
        str | None, typer.Argument(metavar="[SUITE]", help="A name or a file; none lists them.")
    ] = None,
    agent: Annotated[
        str | None,
        typer.Option("--agent", metavar="AGENT", help="Who takes it, such as az:runs/mine."),
    ] = None,
    failures: Annotated[
        int, typer.Option(min=0, metavar="N", help="How many wrong answers to show.")
    ] = 5,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Ask an agent for its move in positions whose best moves are known."""
    from randori.cli.exam import run_exam

    run_exam(game, suite, agent, failures=failures, seed=seed, as_json=json)


def make_suite(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A suite that is shipped.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write it to a file.")
    ] = None,
    count: Annotated[
        int | None, typer.Option(min=1, max=100_000, metavar="N", help="Positions of each class.")
    ] = None,
    seed: Seed = 0,
) -> None:
    """Make a suite of positions for exams anew, by exact search."""
    from randori.cli.exam import run_make_suite

    run_make_suite(name, output, count, seed)


def scaling(
    game: Game,
    agent: Annotated[
        str, typer.Option("--agent", metavar="AGENT", help="Who thinks longer and longer.")
    ],
    against: Annotated[str, typer.Option(metavar="AGENT", help="Who stays the same.")],
    simulations: Annotated[
        str | None, typer.Option(metavar="N,N,…", help="Budgets in simulations: 25,50,100,200,400.")
    ] = None,
    depth: Annotated[str | None, typer.Option(metavar="N,N,…", help="Budgets in plies.")] = None,
    seconds: Annotated[
        str | None, typer.Option(metavar="S,S,…", help="Budgets in seconds a move.")
    ] = None,
    number: Annotated[int, typer.Option("--games", "-n", help="Games for each budget.")] = 100,
    seed: Seed = 0,
    opening_plies: TwoPlies = None,
    openings: Openings = None,
    opening_agent: OpeningAgent = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE.svg", help="Draw score against budget.")
    ] = None,
    csv: Annotated[
        Path | None, typer.Option(metavar="FILE.csv", help="Write the table to a file.")
    ] = None,
    json: Json = False,
) -> None:
    """Measure what thinking longer is worth against a fixed opponent."""
    from randori.cli.match import OpeningWish
    from randori.cli.scaling import Output, run_scaling

    budgets = {"simulations": simulations, "depth": depth, "seconds": seconds}
    wish = OpeningWish(opening_plies, openings, opening_agent)
    run_scaling(game, agent, against, budgets, number, seed=seed, openings=wish,
                output=Output(plot, csv, json))  # fmt: skip
