"""Measure other systems on the work Randori does, so that our figures stand beside theirs.

It runs in an environment of its own (requirements-peers.txt) and never imports randori. One JSON
object goes to stdout, a table for people to stderr:

    python benchmarks/peers.py selfplay --game othello --batch 64 --simulations 100   # Pgx + mctx
    python benchmarks/peers.py tree --game othello --batch 256 --simulations 400      # Pgx + mctx
    python benchmarks/peers.py perft --game othello --depth 7                         # OpenSpiel
    python benchmarks/peers.py alphabeta --game othello --depth 5                     # OpenSpiel
"""

import argparse
import json
import math
import os
import random
import sys
import time
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any, NoReturn

PGX_GAMES = ("othello", "connect_four", "go_9x9")
SEARCHES = ("gumbel", "puct")

# Move sequences of exactly n plies, n = 1, 2, …; a game that ended earlier counts nothing.
PERFT = {
    "othello": (4, 12, 56, 244, 1396, 8200, 55092, 390216, 3005288, 24571284),
    "connect_four": (7, 49, 343, 2401, 16807, 117649, 823536, 5673234),
    "tic_tac_toe": (9, 72, 504, 3024, 15120, 54720, 148176, 200448, 127872),
    "go(board_size=9)": (82, 6643, 531522),
}
UNDOABLE = {"tic_tac_toe"}  # the only one of these whose OpenSpiel state can take a move back


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line, without the usage."""

    def error(self, message: str) -> NoReturn:
        """Print the message and leave with status 2."""
        self.exit(2, f"{self.prog}: {message}; see --help\n")


def positive(text: str) -> int:
    """Read a whole number of at least 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number of at least 1, got {text!r}")
    return int(text)


def positive_or_best(text: str) -> int | str:
    """Read a whole number of at least 1, or the word best."""
    return text if text == "best" else positive(text)


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = Parser(prog="peers.py", description="Measure other systems on the work Randori does.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(run: Callable[..., dict[str, Any]], games: tuple[str, ...], seconds: int) -> Parser:
        summary = (run.__doc__ or "").splitlines()[0]
        added: Parser = commands.add_parser(run.__name__, help=summary, description=summary)
        added.set_defaults(run=run)
        added.add_argument("--game", choices=games, default="othello")
        added.add_argument("--seconds", type=positive, default=seconds, help="time to measure for")
        return added

    play = command(selfplay, PGX_GAMES, 20)
    play.add_argument("--blocks", type=positive, default=6)
    play.add_argument("--channels", type=positive, default=64)
    play.add_argument("--batch", type=positive_or_best, default=64, help='games at once, or "best"')
    play.add_argument("--simulations", type=positive, default=100)
    play.add_argument("--precision", choices=("fp32", "bf16"), default="fp32")
    play.add_argument("--search", choices=SEARCHES, default="gumbel")

    search = command(tree, PGX_GAMES, 10)
    search.add_argument("--batch", type=positive, default=256)
    search.add_argument("--simulations", type=positive, default=400)
    search.add_argument("--search", choices=SEARCHES, default="puct")

    rules = command(perft, tuple(PERFT), 3)
    rules.add_argument("--depth", type=positive, default=7)
    leaves = "count the last ply's legal moves (faster), or play each of them"
    rules.add_argument("--leaves", choices=("counted", "played"), default="counted", help=leaves)

    ahead = command(alphabeta, tuple(PERFT), 3)
    ahead.add_argument("--depth", type=positive, default=5)
    return parser.parse_args(arguments)


def selfplay(args: argparse.Namespace) -> dict[str, Any]:
    """Time AlphaZero self-play by Pgx and mctx, and their network alone."""
    return measure_in_jax(args)


def tree(args: argparse.Namespace) -> dict[str, Any]:
    """Time mctx's tree work and Pgx's rules, with a network that costs nothing."""
    return measure_in_jax(args)


def measure_in_jax(args: argparse.Namespace) -> dict[str, Any]:
    """Call the function of the command's name in peers_jax, on every core or on a GPU."""
    is_stock = bool(os.environ.get("PEERS_STOCK"))  # as jax comes, without our tuning for CPUs
    if not is_stock:
        os.environ.setdefault("JAX_NUM_CPU_DEVICES", str(os.cpu_count()))
    import peers_jax

    measured = getattr(peers_jax, args.command)(**settings(args), seconds=args.seconds)
    return {"peer": "pgx+mctx", "tuned": not is_stock, **measured, **versions("jax", "pgx", "mctx")}


def perft(args: argparse.Namespace) -> dict[str, Any]:
    """Time OpenSpiel's rules on one core: the fastest run among those that fit the time."""
    import pyspiel

    count = count_by_undo if args.game in UNDOABLE else count_by_copy
    state = pyspiel.load_game(args.game).new_initial_state()
    best, spent = math.inf, 0.0
    while spent < args.seconds:
        start = time.perf_counter()
        nodes = count(state, args.depth, args.leaves == "counted")
        elapsed = time.perf_counter() - start
        best, spent = min(best, elapsed), spent + elapsed
    moves = random_moves(state, args.seconds)
    known = dict(enumerate(PERFT[args.game], start=1)).get(args.depth)
    if known not in (None, nodes):
        raise SystemExit(f"peers.py: OpenSpiel counts {nodes} sequences where {known} are known")
    result = {"peer": "open_spiel", "nodes": nodes, "seconds": best, "nodes_per_s": nodes / best}
    result |= {"random_moves_per_s": moves, "verified": known is not None}
    return result | versions("open_spiel")


def random_moves(start: Any, seconds: float) -> float:
    """Play random games and count the moves a second, listing the legal moves before each."""
    moves, began = 0, time.perf_counter()
    while time.perf_counter() - began < seconds:
        state = start.clone()
        while not state.is_terminal():
            state.apply_action(random.choice(state.legal_actions()))
            moves += 1
    return moves / (time.perf_counter() - began)


def alphabeta(args: argparse.Namespace) -> dict[str, Any]:
    """Time OpenSpiel's alpha-beta in Python; leaves are worth 0, so that rules and search count."""
    import pyspiel
    from open_spiel.python.algorithms import minimax

    game, visited = pyspiel.load_game(args.game), 0
    search = minimax._alpha_beta

    def counting(*arguments: Any, **named: Any) -> Any:
        nonlocal visited
        visited += 1
        return search(*arguments, **named)

    minimax._alpha_beta = counting  # it calls itself by this name, so every node is counted
    start = time.thread_time()  # as our own side: what else runs on the machine does not count
    while (elapsed := time.thread_time() - start) < args.seconds:
        minimax.alpha_beta_search(game, None, lambda state: 0.0, args.depth, 0)
    figures = {"nodes": visited, "nodes_per_s": visited / elapsed}
    return {"peer": "open_spiel", **figures, **versions("open_spiel")}


def count_by_copy(state: Any, depth: int, counted: bool) -> int:
    """Count move sequences with `child`, OpenSpiel's clone and apply in one call."""
    if depth == 0:
        return 1
    actions = state.legal_actions()
    if depth == 1 and counted:
        return len(actions)
    return sum([count_by_copy(state.child(action), depth - 1, counted) for action in actions])


def count_by_undo(state: Any, depth: int, counted: bool) -> int:
    """Count move sequences on one state that takes its moves back."""
    if depth == 0:
        return 1
    actions = state.legal_actions()
    if depth == 1 and counted:
        return len(actions)
    player, nodes = state.current_player(), 0
    for action in actions:
        state.apply_action(action)
        nodes += count_by_undo(state, depth - 1, counted)
        state.undo_action(player, action)
    return nodes


def settings(args: argparse.Namespace) -> dict[str, Any]:
    """Keep what describes the work, not how it is run."""
    return {k: v for k, v in vars(args).items() if k not in ("command", "run", "seconds")}


def versions(*packages: str) -> dict[str, dict[str, str]]:
    """Name the packages' versions; one that is only on PYTHONPATH may have no metadata."""
    found = {}
    for package in packages:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = getattr(sys.modules.get(package), "__version__", "unknown")
    return {"versions": found}


def others_seconds() -> float:
    """Sum the processor time that other processes have used on this machine (0 if unknown)."""
    stat = Path("/proc/stat")
    if not stat.exists():
        return 0.0
    user, nice, system, _idle, _wait, *stolen = map(int, stat.read_text().split()[1:9])
    busy = (user + nice + system + sum(stolen)) / os.sysconf("SC_CLK_TCK")
    return busy - sum(os.times()[:2])


def main(arguments: list[str] | None = None) -> int:
    """Run one measurement and print it."""
    args = parse(arguments)
    start, others = time.perf_counter(), others_seconds()
    try:
        measured = args.run(args)
    except ModuleNotFoundError as missing:
        advice = "install benchmarks/requirements-peers.txt"
        print(f"peers.py: no module named {missing.name!r}; {advice}", file=sys.stderr)
        return 2
    except RuntimeError as error:
        if "RESOURCE_EXHAUSTED" not in str(error):  # how XLA says that it is out of memory
            raise
        print("peers.py: this does not fit in memory; try a smaller --batch", file=sys.stderr)
        return 2
    shared = (others_seconds() - others) / (time.perf_counter() - start)
    if shared > 0.1 * (os.cpu_count() or 1):
        print("Other programs kept the cores busy: these figures are too low.", file=sys.stderr)
    result = {"peer": "", **settings(args), **measured, "cores_used_by_others": round(shared, 2)}
    width = max(map(len, result))
    for name, value in result.items():
        text = f"{value:,.{0 if value > 100 else 4}f}" if isinstance(value, float) else value
        print(f"{name:<{width}}  {text}", file=sys.stderr)
    print(json.dumps(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
