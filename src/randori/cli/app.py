"""The commands: each reads its arguments, hands over to the part that does the work, and prints.

Only typer is imported up front, so that `randori --help` answers at once.
"""

import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from randori import __version__
from randori.cli.report import go_silent, note, one_line, print_json
from randori.errors import UserError, nearest

# Typer 0.2x carries its own click and older ones import it; the class is the same to us.
UsageError: Any = typer.BadParameter.__bases__[0]

USER_MISTAKE, INTERRUPTED = 2, 130

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,  # plain help takes half the time
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Game = Annotated[str, typer.Argument(metavar="GAME", help="othello:size=6, my_game.py …")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
At = Annotated[str | None, typer.Option("--position", metavar="P", help="A position text or name.")]
Minutes = Annotated[float | None, typer.Option(help="Minutes of training in all.")]
Iterations = Annotated[int | None, typer.Option(help="Iterations in all.")]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Change a setting; may be repeated."),
]
Plain = Annotated[bool, typer.Option("--plain", help="Lines instead of the live screen.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of all dice.")]
OpeningPlies = Annotated[
    int | None,
    typer.Option(
        help="Random plies first, or behind those of --openings; the same in both games of a pair."
    ),
]
TwoPlies = Annotated[
    int | None,
    typer.Option(
        help="Random plies first, or behind those of --openings; 2 if no option names openings."
    ),
]
Openings = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Openings to begin with: moves or a position a line."),
]
OpeningAgent = Annotated[
    str | None,
    typer.Option(
        metavar="AGENT",
        help="Draw openings from its visits at temperature 3: 6 plies, or --opening-plies.",
    ),
]
Sprt = Annotated[
    str | None,
    typer.Option(
        metavar="E0,E1[,α,β]", help="Stop each pairing when one Elo difference is clearly right."
    ),
]
Stored = Annotated[Path, typer.Option(metavar="FILE", help="Where games are kept.")]


@app.callback(invoke_without_command=True)
def randori(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Learn two-player board games by self-play."""
    if version:
        print(f"randori {__version__}")
    elif context.invoked_subcommand is None:
        print(context.get_help())


@app.command()
def games(json: Json = False) -> None:
    """List the games and their options."""
    from randori.cli.catalogue import print_games

    print_games(json)


@app.command()
def agents(json: Json = False) -> None:
    """List the agents and their options."""
    from randori.cli.catalogue import print_agents

    print_agents(json)


@app.command()
def show(
    source: Annotated[
        str, typer.Argument(metavar="GAME|FILE", help="A game, or a .jsonl or .sgf file of games.")
    ],
    position: At = None,
    moves: Annotated[str, typer.Option(help='Moves to play first, "f5 d6 …" or "f5d6…".')] = "",
    number: Annotated[
        int | None,
        typer.Option("--game", min=1, metavar="N", help="Which game of the file; 1 if not given."),
    ] = None,
    rules: Annotated[
        str | None,
        typer.Option(metavar="GAME", help="Replay the file by these rules: for games of your own."),
    ] = None,
    ply: Annotated[
        int | None, typer.Option(min=0, metavar="K", help="The position after K plies.")
    ] = None,
    boards: Annotated[bool, typer.Option("--boards", help="Draw every position.")] = False,
    form: Annotated[
        str | None,
        typer.Option("--format", metavar="F", help="Write it as jsonl, moves, sgf, obf …"),
    ] = None,
    svg: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw it to a file.")] = None,
    dots: Annotated[bool, typer.Option("--dots", help="Draw where legal moves lead.")] = False,
    json: Json = False,
) -> None:
    """Show a position, or replay a recorded game: board, side to move, legal moves, outcome."""
    from randori.cli.replay import Pick, Wish
    from randori.cli.replay import show as show_game

    wish = Wish(ply, boards, form, svg, dots, json)
    show_game(source, position, moves, Pick(number, rules), wish)


@app.command()
def perft(
    game: Game,
    depth: Annotated[int, typer.Argument(min=0, max=1000, help="Plies.")],
    position: At = None,
    json: Json = False,
) -> None:
    """Count the move sequences of exactly DEPTH plies."""
    from time import perf_counter

    from randori.cli.report import amount, announced
    from randori.games.perft import perft as count
    from randori.games.registry import load_game

    rules = load_game(game)
    state = rules.position("start" if position is None else position).state
    with announced(rules.name):
        count(rules, min(depth, 1), state)
    start = perf_counter()
    nodes = count(rules, depth, state)
    seconds = perf_counter() - start
    if json:
        rate = nodes / max(1e-9, seconds)
        print_json({"game": rules.spec, "depth": depth, "nodes": nodes, "seconds": seconds,
                    "nodes_per_s": rate})  # fmt: skip
    else:
        print(f"{rules.spec} depth {depth}: {nodes} nodes")
        note(f"{seconds:.3g} s, {amount(nodes / max(1e-9, seconds))} nodes/s")


@app.command()
def check(
    game: Game,
    games: Annotated[int, typer.Option(min=1, help="Random games to try.")] = 20,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Try the laws that every game keeps, on a game or on your own file."""
    from randori.cli.report import announced
    from randori.games.check import check as try_laws
    from randori.games.registry import load_game

    rules = load_game(game)
    with announced(rules.name):
        report = try_laws(rules, games, seed)
    if json:
        print_json({**vars(report), "notes": list(report.notes)})
    else:
        print(report)


@app.command()
def stats(
    game: Game,
    games: Annotated[int, typer.Option(min=30, max=10**7, help="Random games to play.")] = 5000,
    positions: Annotated[
        int, typer.Option(min=30, max=10**7, help="Random positions, for games that draw them.")
    ] = 100_000,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Measure a game by random play: its length, its branching, who wins."""
    from randori.cli.stats import print_stats

    print_stats(game, games, positions, seed, json)


def _list_settings(wanted: bool) -> None:
    if wanted:
        from randori.cli.training import print_settings

        print_settings()
        raise typer.Exit


@app.command()
def train(
    game: Game,
    learner: Annotated[str, typer.Option(help="What learns: alphazero or shapes.")] = "alphazero",
    preset: Annotated[
        str, typer.Option(help="auto, laptop, demo, gpu …; auto is gpu where there is one.")
    ] = "auto",
    minutes: Minutes = None,
    iterations: Iterations = None,
    settings: Settings = None,
    seed: Seed = 0,
    name: Annotated[str | None, typer.Option(help="Train in runs/NAME.")] = None,
    run: Annotated[Path | None, typer.Option(metavar="PATH", help="Train in this folder.")] = None,
    source: Annotated[
        Path | None,
        typer.Option(
            "--from", metavar="MODEL", help="Begin with its weights: a run, a file, or az."
        ),
    ] = None,
    runtime: Annotated[
        str | None, typer.Option(help="auto, cuda, openvino or torch: runs the network.")
    ] = None,
    plain: Plain = False,
    json: Json = False,
    list_settings: Annotated[
        bool,
        typer.Option(
            "--list-settings",
            is_eager=True,
            callback=_list_settings,
            help="Print all settings and presets.",
        ),
    ] = False,
) -> None:
    """Train an agent in a new run folder, from zero or from a trained model."""
    if name is not None and run is not None:
        raise UserError("--name and --run both say where to train; give one of them")
    from randori.games.registry import load_game

    load_game(game)  # a wrong name should not wait for torch
    from randori.cli.training import limits, start_training

    chosen = [*limits(minutes, iterations), *(settings or [])]
    if runtime is not None:
        chosen.append(f"runtime={runtime}")
    path = Path("runs") / name if name is not None else run
    raise typer.Exit(
        start_training(game, learner=learner, preset=preset, settings=chosen, seed=seed,
                       path=path, source=source, plain=plain, as_json=json)
    )  # fmt: skip


@app.command()
def resume(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.")],
    minutes: Minutes = None,
    iterations: Iterations = None,
    settings: Settings = None,
    plain: Plain = False,
    json: Json = False,
) -> None:
    """Go on training in a run folder, from wherever it stands."""
    from randori.runs.folder import open_run

    open_run(run)
    from randori.cli.training import limits, resume_training

    chosen = [*limits(minutes, iterations), *(settings or [])]
    raise typer.Exit(resume_training(run, settings=chosen, plain=plain, as_json=json))


@app.command()
def doctor(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.")],
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a report with charts.")
    ] = None,
    json: Json = False,
) -> None:
    """Examine a training run: what looks sick, and what to try."""
    from randori.runs.folder import open_run

    open_run(run)
    from randori.cli.doctor import run_doctor

    run_doctor(run, html=html, as_json=json)


@app.command()
def openings(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.")],
    plies: Annotated[int, typer.Option(min=1, max=40, help="Plies of a line.")] = 4,
    top: Annotated[int, typer.Option(min=1, max=200, help="Lines to list.")] = 12,
    fold: Annotated[bool, typer.Option("--fold", help="Take mirror images as one line.")] = False,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a report with boards and charts.")
    ] = None,
    json: Json = False,
) -> None:
    """Show which openings a run plays as training goes on, and how they score."""
    from randori.runs.folder import open_run

    open_run(run)
    from randori.cli.openings import run_openings

    run_openings(run, plies=plies, top=top, fold=fold, html=html, as_json=json)


@app.command()
def export(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder, checkpoint or model.")],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where to: a .safetensors file.")],
    as_json: Json = False,
) -> None:
    """Write a trained model for play alone, small enough to hand on."""
    from randori.agents.models import export_model
    from randori.runs.checkpoint import read_model

    if file.suffix != ".safetensors":
        raise UserError(f"{file} should end in .safetensors")
    size = export_model(run, file)
    if as_json:
        print_json({"file": str(file), "bytes": size})
        return
    agent = "shapes" if "sets" in read_model(file).info else "az"
    print(f"{file}: {size / 1e6:.2f} MB; use it as {agent}:{file}")


@app.command()
def play(
    game: Game,
    against: Annotated[str, typer.Option(metavar="AGENT")] = "uct:simulations=800",
    side: Annotated[str, typer.Option(help="Yours: first, second, both or none.")] = "first",
    position: At = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of the agent's dice.")] = None,
) -> None:
    """Play against an agent in the terminal, or watch it play itself."""
    import secrets

    from randori.agents.registry import load_agent
    from randori.cli.report import announced, console
    from randori.cli.terminal import SIDES, Session
    from randori.games.registry import load_game

    if side not in SIDES:
        raise UserError(f"--side: there is no side {side!r}; {nearest(side, SIDES)}")
    rules = load_game(game)
    start = rules.position("start" if position is None else position)
    agent = load_agent(against, rules)
    dice = secrets.randbits(32) if seed is None else seed
    with announced(rules.name):
        Session(start, agent, SIDES[side], dice, console()).play()


@app.command()
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


@app.command()
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


@app.command()
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


@app.command()
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


@app.command()
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


@app.command()
def explore(
    game: Game,
    agent: Annotated[
        str,
        typer.Option(
            "--agent", metavar="AGENT", help="Whose search: az:runs/mine, uct, alphabeta …"
        ),
    ] = "uct:simulations=800",
    position: At = None,
    against: Annotated[
        str | None, typer.Option(metavar="AGENT", help="Whom `compare` asks as well.")
    ] = None,
    seed: Seed = 0,
) -> None:
    """Look into an agent's search of a position, move by move, from a prompt."""
    from randori.cli.report import announced, console
    from randori.cli.terminal import draw, is_fancy
    from randori.explorer.repl import explore as ask_and_obey
    from randori.games.registry import load_game

    rules = load_game(game)
    start = rules.position("start" if position is None else position)
    screen = console()
    with announced(rules.name):
        ask_and_obey(
            start, agent, against=against, seed=seed,
            show_board=lambda at, last: screen.print(draw(at, last, fancy=is_fancy(screen))),
        )  # fmt: skip


@app.command()
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


@app.command()
def bench(
    what: Annotated[
        str,
        typer.Argument(metavar="[WHAT]", help="search, selfplay, perft, alphabeta, arena …"),
    ] = "all",
    game: Annotated[str | None, typer.Argument(metavar="[GAME]", help="othello if none.")] = None,
    blocks: Annotated[int, typer.Option(help="Residual blocks.")] = 6,
    channels: Annotated[int, typer.Option(help="Channels of the network.")] = 64,
    slots: Annotated[int, typer.Option(min=1, help="Trees side by side.")] = 256,
    simulations: Annotated[int, typer.Option(min=1, help="Visits a search.")] = 400,
    seconds: Annotated[float, typer.Option(help="Seconds of selfplay, train and arena.")] = 20.0,
    threads: Annotated[int, typer.Option(min=0, help="Threads of selfplay.")] = 0,
    batch: Annotated[int, typer.Option(min=2, help="Rows of a gradient step.")] = 256,
    runtime: Annotated[str, typer.Option(help="auto, cuda, openvino or torch.")] = "auto",
    peers: Annotated[
        str | None,
        typer.Option(metavar="PYTHON", help="A python with pgx, mctx and open_spiel."),
    ] = None,
    json: Json = False,
) -> None:
    """Measure how fast the parts are."""
    from randori.cli.bench import BENCHES, Work, print_figures

    if what not in ("all", *BENCHES):
        raise UserError(f"there is no benchmark {what!r}; {nearest(what, ['all', *BENCHES])}")
    work = Work(game, blocks, channels, slots, simulations, seconds, threads, batch, runtime, peers)
    found = {}
    # Few games have a solver, and a match takes long, so that these must be asked for.
    every = [name for name in BENCHES if name not in ("solver", "arena")]
    for name in every if what == "all" else [what]:
        found[name] = BENCHES[name](work)
        if not json:
            print_figures(name, found[name])
    if json:
        print_json(found if what == "all" else found[what])


@app.command()
def reproduce(
    paper: Annotated[str, typer.Argument(metavar="PAPER", help="go-shapes.")],
    figure: Annotated[
        str | None,
        typer.Argument(metavar="[EXPERIMENT]", help="figure3 to figure6; all if none is named."),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="A small version, in a few minutes.")
    ] = False,
    runs: Annotated[int | None, typer.Option(min=1, help="Runs of an experiment.")] = None,
    number: Annotated[
        int | None,
        typer.Option("--games", min=1, help="Training games of a run; in ratings, games a pair."),
    ] = None,
    sets: Annotated[
        str | None,
        typer.Option(metavar="A,B …", help="Shape sets to learn with: 2x2, 2x2@, ..3x3@ …"),
    ] = None,
    board: Annotated[
        str | None, typer.Option(metavar="GAME", help="Learn by these rules, not on 5×5.")
    ] = None,
    average: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Last share of games whose mean weights play."),
    ] = None,
    minutes: Annotated[
        float | None, typer.Option(min=0.01, help="Training of each agent that is rated.")
    ] = None,
    size: Annotated[int, typer.Option(min=3, max=19, help="Board of the ratings.")] = 9,
    depth: Annotated[int, typer.Option(min=1, help="Plies of the rated search.")] = 2,
    shapes: Annotated[
        str | None, typer.Option(metavar="MODEL", help="Trained shapes to rate and to draw.")
    ] = None,
    liberties: Annotated[
        str | None, typer.Option(metavar="MODEL", help="Trained liberty shapes to rate.")
    ] = None,
    train: Annotated[
        bool, typer.Option("--train", help="Train what is rated, not the shipped shapes.")
    ] = False,
    jobs: Annotated[int, typer.Option(min=1, help="Runs side by side.")] = 1,
    seed: Seed = 0,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FOLDER", help="Where results go.")
    ] = None,
    json: Json = False,
) -> None:
    """Run the experiments of a paper: tables here, results and plots in a folder."""
    from randori.cli.reproduce import Wish
    from randori.cli.reproduce import reproduce as run_paper

    folder = output or Path("runs") / f"{paper}{'-quick' if quick else ''}"
    wish = Wish(
        quick, runs, number, sets, board, average, minutes, size, depth, shapes, liberties,
        train, jobs, seed, folder, json,
    )  # fmt: skip
    run_paper(paper, figure, wish)


@app.command()
def gtp(
    game: Game,
    agent: Annotated[
        str,
        typer.Option("--agent", metavar="AGENT", help="Who plays: az:runs/mine, uct, alphabeta …"),
    ] = "uct:simulations=800",
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of the agent's dice.")] = None,
    remove_dead: Annotated[
        bool, typer.Option("--remove-dead", help="Count final_score without dead stones.")
    ] = False,
) -> None:
    """Serve an agent of Go or Othello to GoGui, Sabaki and other clients of GTP."""
    from randori.cli.gtp import run_gtp

    run_gtp(game, agent, seed=seed, remove_dead=remove_dead)


def main() -> int:
    """Run the command line and return its exit code."""
    return guarded(lambda: app(prog_name="randori", standalone_mode=False))


def guarded(run: Callable[[], object]) -> int:
    """Call `run` and return the exit code: a user's mistake is one line and 2, no traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without × still gets its answer
    try:
        code = run()
        sys.stdout.flush()
    except BrokenPipeError:
        go_silent()
        return 1
    except UserError as error:
        return _complain(str(error))
    except UsageError as error:
        where = error.ctx.command_path if error.ctx else "randori"
        return _complain(f"{error.format_message()} (see {where} --help)")
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except MemoryError as error:
        return _complain(f"out of memory: {error}")
    except OSError as error:
        about = f": {error.filename}" if error.filename else ""
        return _complain(f"{error.strerror or error}{about}")
    return code if isinstance(code, int) else 0


def _complain(message: str) -> int:
    note(f"randori: {one_line(message)}")
    return USER_MISTAKE
