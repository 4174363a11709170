"""The commands: each reads its arguments, hands over to the part that does the work, and prints.

Only typer is imported up front, so that `randori --help` answers at once.
"""

import io
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from randori import __version__
from randori.cli import competing, learning
from randori.cli.options import AgentSeed, At, Game, Json, Seed
from randori.cli.report import go_silent, note, one_line, print_json
from randori.errors import Stopped, UserError, nearest

# Typer 0.2x carries its own click and older ones import it; the class is the same to us.
UsageError: Any = typer.BadParameter.__bases__[0]

USER_MISTAKE, INTERRUPTED = 2, 130

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,  # plain help takes half the time
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


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


def games(json: Json = False) -> None:
    """List the games and their options."""
    from randori.cli.catalogue import print_games

    print_games(json)


def agents(json: Json = False) -> None:
    """List the agents and their options."""
    from randori.cli.catalogue import print_agents

    print_agents(json)


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
    from randori.words import some

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
        print(f"{rules.spec} depth {depth}: {some(nodes, 'node')}")
        note(f"{seconds:.3g} s, {amount(nodes / max(1e-9, seconds))} nodes/s")


def check(
    game: Game,
    games: Annotated[
        int, typer.Option(min=1, help="Random games to try; none begins after 600 plies.")
    ] = 20,
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


def play(
    game: Game,
    against: Annotated[str, typer.Option(metavar="AGENT")] = "uct:simulations=800",
    side: Annotated[str, typer.Option(help="Yours: first, second, both or none.")] = "first",
    position: At = None,
    seed: AgentSeed = None,
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


def bench(
    what: Annotated[
        str,
        typer.Argument(
            metavar="[WHAT]",
            help="search, selfplay, perft, alphabeta, solver, train, arena or all, which is "
            "without solver and arena.",
        ),
    ] = "all",
    game: Annotated[str | None, typer.Argument(metavar="[GAME]", help="othello if none.")] = None,
    blocks: Annotated[int, typer.Option(help="Residual blocks.")] = 6,
    channels: Annotated[int, typer.Option(help="Channels of the network.")] = 64,
    slots: Annotated[int, typer.Option(min=1, help="Trees side by side.")] = 256,
    simulations: Annotated[int, typer.Option(min=1, help="Visits a search.")] = 400,
    seconds: Annotated[
        float, typer.Option(help="Seconds of selfplay, train and arena.", min=0.1)
    ] = 20.0,
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
    from randori.cli.bench import BENCHES, print_figures
    from randori.cli.bench_work import Work

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


def gtp(
    game: Game,
    agent: Annotated[
        str,
        typer.Option("--agent", metavar="AGENT", help="Who plays: az:runs/mine, uct, alphabeta …"),
    ] = "uct:simulations=800",
    seed: AgentSeed = None,
    remove_dead: Annotated[
        bool, typer.Option("--remove-dead", help="Count final_score without dead stones.")
    ] = False,
) -> None:
    """Serve an agent of Go or Othello to GoGui, Sabaki and other clients of GTP."""
    from randori.cli.gtp import run_gtp

    run_gtp(game, agent, seed=seed, remove_dead=remove_dead)


def interruptible(command: Callable[..., object]) -> Callable[..., object]:
    """Let Ctrl-C through typer, which makes an exit code of it, to where something is said."""

    @wraps(command)
    def run(*args: Any, **options: Any) -> object:
        try:
            return command(*args, **options)
        except KeyboardInterrupt as stop:
            raise typer.Abort from stop

    return run


for command in (
    games,
    agents,
    show,
    perft,
    check,
    stats,
    learning.train,
    learning.resume,
    learning.doctor,
    learning.openings,
    learning.export,
    play,
    competing.match,
    competing.tournament,
    competing.ratings,
    competing.exam,
    competing.make_suite,
    explore,
    competing.scaling,
    bench,
    learning.reproduce,
    gtp,
):
    app.command()(interruptible(command))


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
    except (KeyboardInterrupt, typer.Abort) as stop:
        if not isinstance(stop.__cause__ or stop, Stopped):
            note("stopped")
        return INTERRUPTED
    except MemoryError as error:
        return _complain(f"out of memory: {error}")
    except OSError as error:
        about = f": {error.filename}" if error.filename else ""
        return _complain(f"{error.strerror or error}{about}")
    except Exception as error:
        from randori.games.compile_errors import complaint
        from randori.games.registry import newest_file

        words = complaint(error, newest_file())
        if not words:  # the fault is ours
            raise
        return _complain(words)
    return code if isinstance(code, int) else 0


def _complain(message: str) -> int:
    note(f"randori: {one_line(message)}")
    return USER_MISTAKE
