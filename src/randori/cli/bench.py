"""Benchmarks: how close each part is to what this machine can do, as ratios from one run."""

import json
import resource
import subprocess
import sys
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter, thread_time
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from randori.agents.simple import RandomPlayer
from randori.arena.match import advance
from randori.cli.bench_arena import bench_arena
from randori.cli.gauge import mean_length
from randori.cli.report import amount, announced, beyond_bare, note
from randori.errors import UserError
from randori.games.dice import Dice, seed_dice
from randori.games.evaluation import find_evaluation
from randori.games.game import Game
from randori.games.kernels import ONGOING, wide
from randori.games.perft import perft
from randori.games.registry import GAMES, load_game
from randori.search.alphabeta import AlphaBeta, AlphaBetaConfig
from randori.search.search import Search, SearchConfig
from randori.search.uniform import UniformEvaluator, play_out

if TYPE_CHECKING:
    from randori.learners.replay import Replay
    from randori.learners.trainer import Trainer

REPEATS = 5
"""Runs of which the fastest counts: what slows a run down is not our code."""
PERFT_SECONDS = 0.4
"""A perft goes deeper until it takes this long."""
BARE_SECONDS = 2.0
ROUNDS = 4
WARM_STEPS = 5
PIECE_SECONDS = 0.5
"""How long gradient steps of one precision go on before it is the other one's turn."""
TRAIN_ROWS = 20_000
PEER_GAMES = {
    "othello": "othello",
    "connect4": "connect_four",
    "tictactoe": "tic_tac_toe",
    "go": "go(board_size=9)",
}
PEER_DEPTHS = {"go": 3}
"""Plies of the peer's perft, where they are not 7."""
ALPHABETA_DEPTH = 12
SOLVER_STONES, SOLVER_SECONDS = 10, 5.0
PEERS = Path(__file__).parents[3] / "benchmarks" / "peers.py"

Figures = dict[str, Any]


@dataclass(frozen=True)
class Work:
    """What to measure."""

    game: str | None = None
    blocks: int = 6
    channels: int = 64
    slots: int = 256
    simulations: int = 400
    seconds: float = 20.0
    threads: int = 0
    batch: int = 256
    runtime: str = "auto"
    peers: str | None = None


def random_positions(
    game: Game, count: int, plies: int, rng: np.random.Generator
) -> tuple[NDArray[np.uint64], list[list[int]]]:
    """Play 0 to `plies` - 1 random moves in each of `count` games, never to the end."""
    states = np.repeat(game.new_state()[None], count, axis=0)
    moves: list[list[int]] = [[] for _ in range(count)]
    lengths = rng.integers(0, plies, size=count)
    player, kernel = RandomPlayer(game), game.kernel(advance)
    scratch = np.zeros(game.num_actions, dtype=np.int32)
    for ply in range(plies):
        active = np.flatnonzero(lengths > ply)
        if not active.size:
            break
        after, results = states[active], np.zeros(len(active), dtype=np.int32)
        actions = player.act(after, rng)
        kernel(after, actions, results, scratch)
        for i, state, action, result in zip(active, after, actions, results, strict=True):
            if result == ONGOING:
                states[i] = state
                moves[i].append(int(action))
            else:
                lengths[i] = 0
    return states, moves


def bench_search(work: Work) -> Figures:
    """Time the tree work alone: searches over an evaluator that costs nothing, on one thread.

    As in self-play, and as in play, where it also looks for wins that are near.
    """
    game = load_game(work.game or "othello")
    with announced(game.name):
        roots, _ = random_positions(game, work.slots, game.longest // 2, np.random.default_rng(0))
        config = SearchConfig(work.simulations, cache_mb=1e-4)
        times, looks = [], []
        for guard in (True, False):  # one after the other: each may have gigabytes
            search = Search(game, UniformEvaluator(game), config, slots=work.slots, guard=guard)
            seconds, visits = _time_search(search, roots, work.simulations)
            times.append(seconds / visits)
            looks.append(_time_search(search, roots, 1)[0] / work.slots)
        in_play, best = times
    return {
        "game": game.spec,
        "trees": work.slots,
        "simulations": work.simulations,
        "microseconds_per_simulation": 1e6 * best,
        "in_play_microseconds": 1e6 * in_play,
        "root_look_milliseconds": 1e3 * (looks[0] - looks[1]),
        "simulations_per_s": 1 / best,
        "trees_mb": megabytes(search.trees),
    } | _beside(work, game, "tree", ["--batch", work.slots, "--simulations", work.simulations],
                lambda peer: peer["microseconds_per_simulation"] / (1e6 * best))  # fmt: skip


def _time_search(search: Search, roots: NDArray[np.uint64], simulations: int) -> tuple[float, int]:
    """Return the seconds of the fastest of a few equal searches, and their visits."""
    best = np.inf
    for _ in range(1 + REPEATS):  # the first compiles, and lets the trees grow
        search.set_roots(roots)
        start = thread_time()  # what else runs on the machine does not count
        search.run(simulations)
        best = min(best, thread_time() - start)
    return best, int(search.trees.nodes["visits"][:, 0].sum())


def bench_selfplay(work: Work) -> Figures:
    """Time self-play against its own network alone, at the same batch, before and after."""
    from randori.agents.models import signature_of
    from randori.learners.harvest import NONE_MADE
    from randori.learners.selfplay import SelfPlay
    from randori.learners.settings import SelfPlayConfig
    from randori.learners.yields import Tally
    from randori.networks.build import build
    from randori.networks.choose import make_evaluator
    from randori.networks.config import NetworkConfig
    from randori.search.evaluator import measure_rate

    game = load_game(work.game or "othello")
    network = build(NetworkConfig(blocks=work.blocks, channels=work.channels), signature_of(game))
    evaluator = make_evaluator(network, signature_of(game), work.runtime)
    config = SelfPlayConfig(
        work.slots, work.threads, SearchConfig(work.simulations), full_share=1.0
    )
    with announced(game.name):
        selfplay = SelfPlay(game, evaluator, config, seed=0)
        rng = np.random.default_rng(0)
        for group in selfplay.groups:
            arrays, _ = group.save()
            arrays["roots"], moves = random_positions(game, work.slots, game.longest // 2, rng)
            arrays["plies"] = np.array([len(played) for played in moves])
            arrays["moves"] = np.concatenate(moves)
            arrays["amends"] = np.full(len(arrays["moves"]), NONE_MADE)
            group.restore(arrays)
        # Rounds in turn, so that what else runs on the machine meets both alike.
        tally, elapsed, evaluations, bare_rates = Tally(), 0.0, 0, []
        for group in selfplay.groups:
            group.step()
        rounds = 1 if work.threads else ROUNDS  # threads play on while the network is measured
        for _ in range(rounds):
            bare_rates.append(measure_rate(evaluator, work.slots, 2 * work.threads, BARE_SECONDS))
            start, before = perf_counter(), selfplay.evaluations
            for batch in selfplay.collect(sys.maxsize):
                tally.add(batch)
                if perf_counter() - start > work.seconds / rounds:
                    break
            elapsed += perf_counter() - start
            evaluations += selfplay.evaluations - before
    selfplay.close()
    bare_rates.append(measure_rate(evaluator, work.slots, 2 * work.threads, BARE_SECONDS))
    bare = sum(bare_rates) / len(bare_rates)
    rate, move_rate = evaluations / elapsed, tally.moves / elapsed
    arguments = ["--blocks", work.blocks, "--channels", work.channels, "--batch",
                 "best" if evaluator.name.startswith("cuda") else 64,
                 "--simulations", work.simulations, "--search", "puct"]  # fmt: skip
    return {
        "game": game.spec,
        "network": f"{work.blocks}×{work.channels}",
        "runtime": evaluator.name,
        "slots": work.slots,
        "threads": work.threads,
        "simulations": work.simulations,
        "seconds": elapsed,
        "evaluations_per_s": rate,
        "bare_evaluations_per_s": bare,
        "ratio": rate / bare,
        "moves_per_s": move_rate,
        "games_per_s": move_rate / mean_length(game),
        "search_mb": sum(megabytes(*vars(group).values()) for group in selfplay.groups),
        "peak_rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    } | _beside(
        work, game, "selfplay", arguments, lambda peer: rate / peer["evaluations_per_s"],
        lambda peer: move_rate * (peer["simulations"] + 1) / peer["evaluations_per_s"],
    )  # fmt: skip


def bench_perft(work: Work) -> Figures:
    """Count move sequences as deep as fits in a moment, one game or all of them."""
    if work.game is None:
        rows = [_perft(Work(game=name, peers=work.peers)) for name in GAMES]
        return {"nodes_per_s": {row["game"]: row["nodes_per_s"] for row in rows}, "games": rows}
    return _perft(work)


def _perft(work: Work) -> Figures:
    game = load_game(work.game or "othello")
    with announced(game.name):
        perft(game, 2)
    depth = 2
    nodes, seconds = _timed_perft(game, depth)
    while seconds < PERFT_SECONDS and depth < game.longest:
        depth += 1
        nodes, seconds = _timed_perft(game, depth)
    for _ in range(REPEATS - 1 if seconds < 1 else 1):
        seconds = min(seconds, _timed_perft(game, depth)[1])
    rate, moves = nodes / seconds, _random_moves_per_s(game)
    return {
        "game": game.spec,
        "depth": depth,
        "nodes": nodes,
        "seconds": seconds,
        "nodes_per_s": rate,
        "random_moves_per_s": moves,
    } | _beside(
        work, game, "perft", ["--depth", PEER_DEPTHS.get(game.spec, 7)],
        lambda peer: rate / peer["nodes_per_s"],
        lambda peer: moves / peer["random_moves_per_s"],
    )  # fmt: skip


def _timed_perft(game: Game, depth: int) -> tuple[int, float]:
    start = perf_counter()
    return perft(game, depth), perf_counter() - start


def play_random(
    first: NDArray[np.uint64],
    scratch: NDArray[np.uint64],
    actions: NDArray[np.int32],
    dice: Dice,
    moves: int,
) -> int:
    """Play random games from `first` until `moves` moves were made; return how many."""
    made = 0
    while made < moves:
        play_out(first, scratch, actions, dice)
        made += wide(scratch[0])
    return made


def _random_moves_per_s(game: Game) -> float:
    """Time random games on one thread; the legal moves are listed before each move."""
    kernel, dice = game.kernel(play_random), seed_dice(0, 1)[0]
    first, scratch = game.new_state(), game.new_state()
    actions = np.zeros(game.num_actions, dtype=np.int32)
    with announced(game.name):
        kernel(first, scratch, actions, dice, 1)
    moves, rates = 1000, [0.0]
    while len(rates) <= REPEATS:
        start = perf_counter()
        made = kernel(first, scratch, actions, dice, moves)
        seconds = perf_counter() - start
        if seconds < PERFT_SECONDS / 2:
            moves *= 2
        else:
            rates.append(made / seconds)
    return max(rates)


def bench_train(work: Work) -> Figures:
    """Time gradient steps, with the drawing of their samples from a replay."""
    import torch

    from randori.agents.models import signature_of
    from randori.learners.harvest import NO_REPLY, NONE_MADE
    from randori.learners.replay import Replay
    from randori.learners.settings import TrainConfig
    from randori.learners.trainer import Trainer, has_bf16
    from randori.learners.yields import Rows
    from randori.networks.build import build
    from randori.networks.config import NetworkConfig

    game = load_game(work.game or "othello")
    rng = np.random.default_rng(0)
    network = build(NetworkConfig(blocks=work.blocks, channels=work.channels), signature_of(game))
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    replay = Replay(game, TRAIN_ROWS)
    with announced(game.name):
        states, _ = random_positions(game, TRAIN_ROWS, game.longest // 2, rng)
        replay.add(Rows(
            states, np.ones((TRAIN_ROWS, game.most_legal), dtype=np.uint16),
            rng.uniform(-1, 1, TRAIN_ROWS).astype(np.float32),
            rng.integers(-1, 2, TRAIN_ROWS).astype(np.int8),
            np.full(TRAIN_ROWS, NO_REPLY, dtype=np.uint16),
            np.zeros((TRAIN_ROWS, game.owner_words), dtype=np.uint64),
            np.full(TRAIN_ROWS, NONE_MADE, dtype=np.float32),
        ))  # fmt: skip
    exact = TrainConfig(batch=work.batch, precision="fp32")
    configs = [exact, replace(exact, precision="bf16")] if has_bf16(device) else [exact]
    # Without `Threads`: what else runs on the machine shall meet both alike.
    trainers = [Trainer(game, deepcopy(network), config, device) for config in configs]
    taken = _time_steps(trainers, replay, work)
    rates = [steps / seconds for steps, seconds in taken]
    rate = rates[-1]
    return {
        "game": game.spec,
        "network": f"{work.blocks}×{work.channels}",
        "device": device.type,
        "precision": configs[-1].precision,
        "seconds": taken[-1][1],
        "batch": work.batch,
        "steps_per_s": rate,
        "samples_per_s": rate * work.batch,
        "times_fp32": rate / rates[0],
    }


def _time_steps(trainers: list["Trainer"], replay: "Replay", work: Work) -> list[tuple[int, float]]:
    """Let trainers take gradient steps in turn; return how many each took, in which seconds."""
    from randori.learners.replay import drawn_ahead

    rng = np.random.default_rng(1)
    ready = drawn_ahead(lambda: trainers[0].targets_of(replay.sample(rng, work.batch)), sys.maxsize)
    for trainer in trainers:
        for _ in range(WARM_STEPS):
            trainer.step(next(ready), 1.0)
        trainer.finish()
    taken = [(0, 0.0) for _ in trainers]
    piece = min(PIECE_SECONDS, work.seconds)
    while taken[0][0] == 0 or min(seconds for _, seconds in taken) < work.seconds:
        for turn, trainer in enumerate(trainers):
            steps, before = taken[turn]
            start = perf_counter()
            for targets in ready:
                trainer.step(targets, 1.0)
                steps += 1
                if perf_counter() - start >= piece:
                    break
            trainer.finish()
            taken[turn] = steps, before + perf_counter() - start
    return taken


def bench_alphabeta(work: Work) -> Figures:
    """Count the nodes a second of alpha-beta with a material evaluation, on one thread.

    Without table and order, as the peer searches: they save nodes, but each costs more.
    """
    game = load_game(work.game or "othello")
    judge = find_evaluation(game, "material")
    with announced(game.name):
        roots, _ = random_positions(game, 16, game.longest // 2, np.random.default_rng(0))
        AlphaBeta(game, judge, AlphaBetaConfig(2)).run(roots[0])
    depth, nodes, seconds = 3, 0, 0.0
    while seconds < 4 * PERFT_SECONDS and depth < ALPHABETA_DEPTH:
        depth += 1
        engine = AlphaBeta(game, judge, AlphaBetaConfig(depth, ordering=False, table_mb=0))
        start = thread_time()
        nodes = sum(engine.run(root).total_nodes for root in roots)
        seconds = thread_time() - start
    rate = nodes / max(1e-9, seconds)
    return {
        "game": game.spec,
        "depth": depth,
        "nodes": nodes,
        "seconds": seconds,
        "nodes_per_s": rate,
    } | _beside(work, game, "alphabeta", [], lambda peer: rate / peer["nodes_per_s"])


def bench_solver(work: Work) -> Figures:
    """Time the exact solver on random positions that are in its reach, the book left aside."""
    game = load_game(work.game or "connect4")
    if game.solver is None:
        raise UserError(f"{game.name} has no exact solver")
    solver, rng, times = game.solver(game), np.random.default_rng(0), []
    fewest = game.board_cells - 4 - game.solvable if game.solvable else SOLVER_STONES
    with announced(game.name):
        found = random_positions(game, 4000, fewest + 8, rng)
        states = [state for state, line in zip(*found, strict=True) if len(line) >= fewest]
        solver.score(states[0])
    before = int(solver.nodes[0])
    for state in states[1:]:
        start = thread_time()
        solver.score(state)
        times.append(thread_time() - start)
        if sum(times) > SOLVER_SECONDS:
            break
    return {
        "game": game.spec,
        "positions": len(times),
        "plies": f"{fewest} to {fewest + 7}",
        "nodes_per_s": (int(solver.nodes[0]) - before) / sum(times),
        "mean_ms": 1000 * sum(times) / len(times),
        "longest_ms": 1000 * max(times),
    }


BENCHES: dict[str, Callable[[Work], Figures]] = {
    "search": bench_search,
    "selfplay": bench_selfplay,
    "perft": bench_perft,
    "alphabeta": bench_alphabeta,
    "solver": bench_solver,
    "train": bench_train,
    "arena": bench_arena,
}


def megabytes(*parts: Any) -> float:
    """Add up the arrays among `parts` and inside their tuples, each once."""
    arrays: dict[int, NDArray[Any]] = {}
    for part in parts:
        for item in part if isinstance(part, tuple) else (part,):
            if isinstance(item, np.ndarray):
                arrays[item.ctypes.data] = item
    return sum(array.nbytes for array in arrays.values()) / 2**20


def _beside(
    work: Work, game: Game, command: str, arguments: list[object],
    times: Callable[[Figures], float], moves: Callable[[Figures], float] | None = None,
) -> Figures:  # fmt: skip
    """Measure the peer on the same work, and say how many times as fast we are."""
    if work.peers is None:
        return {}
    if not PEERS.is_file():
        raise UserError("--peers needs a source checkout: benchmarks/peers.py is not installed")
    if game.spec not in PEER_GAMES:
        note(f"no peer plays {game.spec}")
        return {}
    line = [work.peers, str(PEERS), command, "--game", PEER_GAMES[game.spec]]
    note(f"measuring the peer: {command} {PEER_GAMES[game.spec]}")
    try:
        done = subprocess.run(
            [*line, *map(str, arguments)], capture_output=True, text=True, check=True
        )
        peer: Figures = json.loads(done.stdout)
    except subprocess.CalledProcessError as error:
        last = (error.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise UserError(f"--peers: {last}") from None
    except (OSError, ValueError) as error:
        raise UserError(f"--peers: cannot run {work.peers}: {error}") from None
    beside = {"peer": peer, "times_peer": times(peer)}
    return beside if moves is None else {**beside, "moves_times_peer": moves(peer)}


def print_figures(name: str, figures: Figures) -> None:
    """Print the figures of one benchmark, a line each."""
    if "games" in figures:
        for row in figures["games"]:
            print_figures(name, row)
        return
    peer = figures.get("peer", {})
    heading = f"{'randori':<12}{peer['peer']}" if peer else ""
    print(f"{name + ' ' + figures['game']:<36}{heading}".rstrip())
    for key, value in figures.items():
        if key not in ("game", "peer"):
            label = LABELS.get(key, key.replace("_", " "))
            other = _figure(key, peer[key]) if key in peer else ""
            print(f"  {label:<34}{_figure(key, value):<12}{other}".rstrip())
    words = beyond_bare(figures.get("ratio", 0.0))
    if words:
        print(f"  {words}")


LABELS = {
    "ratio": "share of the bare network",
    "times_peer": "times as fast as the peer",
    "moves_times_peer": "times as many moves as the peer",
    "random_moves_per_s": "moves of random play per s",
    "microseconds_per_simulation": "microseconds a simulation",
    "in_play_microseconds": "the same in play",
    "times_fp32": "times as fast as in fp32",
    "root_look_milliseconds": "a look for wins in two, ms",
    "trees_mb": "trees, MB",
    "search_mb": "search arrays, MB",
    "peak_rss_mb": "peak memory of the process, MB",
}


def _figure(key: str, value: Any) -> str:
    if key == "ratio":
        return f"{100 * value:.1f} %"
    if isinstance(value, float):
        return f"{value:.2f}" if key.startswith("micro") else amount(value)
    return str(value)
