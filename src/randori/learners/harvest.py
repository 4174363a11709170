"""Where finished games of self-play wait as training rows, until Python takes them away."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from randori.games.dice import Dice, uniform
from randori.games.game import Game
from randori.games.kernels import DRAW, FIRST, State, scratch, wide
from randori.games.rules import OWNER_WORDS, STATE_WORDS, STONE_WORDS, outcome, owners
from randori.search.choice import best_edge, worth_of
from randori.search.tree import NONE, UNKNOWN, Tree

NO_REPLY = 65535
"""What stands for the reply in the last position of a game."""
NONE_MADE = 2.0
"""What stands for amends where there was no slip: no result is that."""


class Harvest(NamedTuple):
    """Rows and games, M and G of them at most."""

    states: NDArray[np.uint64]
    """[M, S]"""
    counts: NDArray[np.uint16]
    """[M, K]"""
    values: NDArray[np.float32]
    """[M]"""
    results: NDArray[np.int8]
    """[M] 1, 0 or −1 for the side to move in that row"""
    replies: NDArray[np.uint16]
    """[M] what was answered to the move made there"""
    owners: NDArray[np.uint64]
    """[M, 2 * stone words] who has which cell in the end: the side to move, then its opponent"""
    amends: NDArray[np.float32]
    """[M] what stands for the result for the side to move; NONE_MADE where it stands itself"""
    moves: NDArray[np.uint16]
    """[G, L]"""
    plies: NDArray[np.int32]
    """[G]"""
    begun: NDArray[np.int32]
    """[G] how many of them came from an earlier game or were drawn at random"""
    outcomes: NDArray[np.int8]
    """[G]"""
    used: NDArray[np.int64]
    """[2] rows and games"""
    totals: NDArray[np.float64]
    """[4] moves, full searches, their entropy, how often search overruled the (noisy) prior"""


ROWS, GAMES = range(2)
MOVES, FULL, ENTROPY, OVERRULED = range(4)
TOTALS = 4


def make_harvest(game: Game, slots: int) -> Harvest:
    """Allocate room for the games that may end in one step, and at least one."""
    games = slots + 1
    rows = 4 * slots + 4 * game.longest
    return Harvest(
        np.zeros((rows, game.num_words), dtype=np.uint64),
        np.zeros((rows, game.most_legal), dtype=np.uint16),
        np.zeros(rows, dtype=np.float32),
        np.zeros(rows, dtype=np.int8),
        np.zeros(rows, dtype=np.uint16),
        np.zeros((rows, game.owner_words), dtype=np.uint64),
        np.zeros(rows, dtype=np.float32),
        np.zeros((games, game.longest), dtype=np.uint16),
        np.zeros(games, dtype=np.int32),
        np.zeros(games, dtype=np.int32),
        np.zeros(games, dtype=np.int8),
        np.zeros(2, dtype=np.int64),
        np.zeros(TOTALS, dtype=np.float64),
    )


class GameSoFar(NamedTuple):
    """The rows and moves of one slot's game."""

    rows: int
    states: NDArray[np.uint64]
    counts: NDArray[np.uint16]
    values: NDArray[np.float32]
    surprise: NDArray[np.float32]
    """[L] how far the search moved away from the network, in nats"""
    plies: int
    begun: int
    """plies that came from an earlier game or were drawn at random"""
    moves: NDArray[np.uint16]
    amends: NDArray[np.float32]
    """[L] what the best move was worth to the side to move, ply by ply, where another one was made
    that gave some of it away; NONE_MADE elsewhere"""


def has_room_for(harvest: Harvest, rows: int) -> bool:
    """Tell whether one more game of so many rows fits; surprise may write a row twice."""
    fits = harvest.used[ROWS] + 2 * rows + 1 <= len(harvest.results)
    return bool(fits and harvest.used[GAMES] < len(harvest.plies))


def copies(game: GameSoFar, row: int, share: float, total: float, dice: Dice) -> int:
    """Return how often a row is written: once, or by its part of the game's surprise.

    `share` of all copies go by surprise, the rest evenly; at most two a row keeps the room bounded.
    """
    if share == 0.0 or total <= 0.0:
        return 1
    weight = 1.0 - share + share * game.surprise[row] * game.rows / total
    whole = int(weight)
    return min(2, whole + (1 if uniform(dice) < weight - whole else 0))


def amends_for(tree: Tree, edge: int, allowed: float) -> float:
    """Return what the root's best move is worth, if `edge` is worth less by more than allowed.

    NONE_MADE if it is not, or if the root is proven: then nobody errs any more.
    """
    if allowed == 0.0 or tree.nodes[0].proven != UNKNOWN:
        return NONE_MADE
    best = best_edge(tree, 0)
    if best == NONE or tree.edges[best].tried == 0 or tree.edges[edge].tried == 0:
        return NONE_MADE
    worth = worth_of(tree, best)
    return worth if worth - worth_of(tree, edge) > allowed else NONE_MADE


def next_slip(game: GameSoFar, ply: int) -> int:
    """Return the first ply from this one on at which somebody slipped; past the last if nobody."""
    while ply < game.plies and game.amends[ply] == NONE_MADE:
        ply += 1
    return ply


def reap(harvest: Harvest, game: GameSoFar, last: State, surprise_share: float, dice: Dice) -> None:
    """Write the rows of a game that is over in position `last`, and the game itself."""
    result = outcome(last)
    final = scratch(OWNER_WORDS)
    owners(last, final)
    ended_first = last[0] & np.uint64(1) == np.uint64(0)
    total = 0.0
    for row in range(game.rows):
        total += game.surprise[row]
    at = harvest.used[ROWS]
    slip = wide(0)
    for row in range(game.rows):
        ply = wide(game.states[row, 0])
        slip = wide(next_slip(game, max(slip, ply)))
        amends = np.float32(NONE_MADE)
        if slip < game.plies:  # what the side to move there could have had, or its opponent
            amends = game.amends[slip] if (slip - ply) % 2 == 0 else -game.amends[slip]
        for _ in range(copies(game, row, surprise_share, total, dice)):
            for w in range(STATE_WORDS):
                harvest.states[at, w] = game.states[row, w]
            for k in range(game.counts.shape[1]):
                harvest.counts[at, k] = game.counts[row, k]
            harvest.values[at] = game.values[row]
            first_moves = game.states[row, 0] & np.uint64(1) == np.uint64(0)
            score = 1 if (result == FIRST) == first_moves else -1
            harvest.results[at] = 0 if result == DRAW else score
            harvest.amends[at] = amends
            harvest.replies[at] = game.moves[ply + 1] if ply + 1 < game.plies else NO_REPLY
            turn = 0 if first_moves == ended_first else STONE_WORDS
            for w in range(harvest.owners.shape[1]):
                harvest.owners[at, w] = final[(w + turn) % OWNER_WORDS]
            at += 1
    harvest.used[ROWS] = at
    place = harvest.used[GAMES]
    for ply in range(game.plies):
        harvest.moves[place, ply] = game.moves[ply]
    harvest.plies[place] = game.plies
    harvest.begun[place] = game.begun
    harvest.outcomes[place] = result
    harvest.used[GAMES] = place + 1


def surprise_of(tree: Tree, total: float) -> float:
    """Return the Kullback-Leibler divergence of the root's `weights` from its clean priors."""
    nats = 0.0
    first = tree.nodes[0].first
    for k in range(tree.nodes[0].count):
        share = tree.weights[k] / total
        if share > 0.0:
            nats += share * np.log(share / max(float(tree.moves[first + k].prior), 1e-9))
    return max(nats, 0.0)
