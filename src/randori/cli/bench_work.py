"""What benchmarks share: what to measure, positions to measure it on, and the peer beside it."""

import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from randori.agents.simple import RandomPlayer
from randori.arena.match import advance
from randori.cli.report import note
from randori.errors import UserError
from randori.games.game import Game
from randori.games.kernels import ONGOING

REPEATS = 5
"""Runs of which the fastest counts: what slows a run down is not our code."""
PEER_GAMES = {
    "othello": "othello",
    "connect4": "connect_four",
    "tictactoe": "tic_tac_toe",
    "go": "go(board_size=9)",
}
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


def megabytes(*parts: Any) -> float:
    """Add up the arrays among `parts` and inside their tuples, each once."""
    arrays: dict[int, NDArray[Any]] = {}
    for part in parts:
        for item in part if isinstance(part, tuple) else (part,):
            if isinstance(item, np.ndarray):
                arrays[item.ctypes.data] = item
    return sum(array.nbytes for array in arrays.values()) / 2**20


def beside(
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
    found = {"peer": peer, "times_peer": times(peer)}
    return found if moves is None else {**found, "moves_times_peer": moves(peer)}
