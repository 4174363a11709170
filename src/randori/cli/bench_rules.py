"""`randori bench perft`, `alphabeta` and `solver`: what needs the rules of a game and no network.

Moves are counted, played at random or searched with alpha-beta, all of it on one thread.
"""

from time import perf_counter, thread_time

import numpy as np
from numpy.typing import NDArray

from randori.cli.bench_work import REPEATS, Figures, Work, beside, random_positions
from randori.cli.report import announced
from randori.errors import UserError
from randori.games.dice import Dice, seed_dice
from randori.games.evaluation import find_evaluation
from randori.games.game import Game
from randori.games.kernels import wide
from randori.games.perft import perft
from randori.games.registry import GAMES, load_game
from randori.search.alphabeta import AlphaBeta, AlphaBetaConfig
from randori.search.uniform import play_out

PERFT_SECONDS = 0.4
"""A perft goes deeper until it takes this long."""
PEER_DEPTHS = {"go": 3}
"""Plies of the peer's perft, where they are not 7."""
ALPHABETA_DEPTH = 12
SOLVER_STONES, SOLVER_SECONDS = 10, 5.0


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
    } | beside(
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
    } | beside(work, game, "alphabeta", [], lambda peer: rate / peer["nodes_per_s"])


def bench_solver(work: Work) -> Figures:
    """Time the exact solver on random positions that are in its reach, the book left aside."""
    game = load_game(work.game or "connect4")
    if game.solver is None:
        raise UserError(f"{game.name} has no exact solver")
    solver, rng, times = game.solver(game), np.random.default_rng(0), []
    reach = max(0, game.board_cells - 4 - game.solvable)
    fewest = reach if game.solvable else SOLVER_STONES
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
