"""Self-play kernels: every slot plays game after game and never waits for another.

When a slot's search is over, the kernel picks the move, writes the training row, moves the root
down (the subtree is kept) or starts a new game, and goes on until it needs the evaluator again. So
the batch of questions is always full, and Python runs once a step, not once a game.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from randori.games.dice import uniform
from randori.games.game import Game
from randori.games.kernels import DRAW, FIRST, wide
from randori.games.rules import STATE_WORDS, outcome, play, start
from randori.search.cache import Cache
from randori.search.puct import DONE, NO_ROOM, Knobs, Questions, absorb, add_noise, gather
from randori.search.tree import (
    BROKEN,
    LOST,
    NEVER,
    NONE,
    TOO_LONG,
    WON,
    Tree,
    Trees,
    plant,
    reroot,
    root_value,
    tree_of,
)

PATIENCE = 64
"""Moves a slot may make in one step without a question: a small game that is fully remembered would
otherwise keep the other slots waiting until the harvest is full."""


class Habits(NamedTuple):
    """How moves are chosen in self-play."""

    simulations: int
    """visits of a full search"""
    fast_simulations: int
    """visits of a search that only moves the game on"""
    full_share: float
    """how often a search is full: only those get noise and become training rows"""
    noise_alpha: float
    noise_share: float


class Slots(NamedTuple):
    """The game of each slot: what must survive a restart, besides the root positions."""

    budget: NDArray[np.int32]
    """[B] visits that the search runs to; 0 while the root has not been opened"""
    is_full: NDArray[np.int8]
    """[B] whether this search is a full one"""
    dice: NDArray[np.uint64]
    """[B, 1]"""
    plies: NDArray[np.int32]
    """[B] moves played in this game"""
    moves: NDArray[np.uint16]
    """[B, L] those moves"""
    rows: NDArray[np.int32]
    """[B] training rows of this game so far"""
    states: NDArray[np.uint64]
    """[B, L, S] their positions"""
    counts: NDArray[np.uint16]
    """[B, L, K] the visits of their moves, in the order of `legal`"""
    values: NDArray[np.float32]
    """[B, L] what the search made of them, for the side to move"""


class Harvest(NamedTuple):
    """Finished games, until Python takes them away."""

    states: NDArray[np.uint64]
    """[M, S]"""
    counts: NDArray[np.uint16]
    """[M, K]"""
    values: NDArray[np.float32]
    """[M]"""
    results: NDArray[np.int8]
    """[M] 1, 0 or −1 for the side to move in that row"""
    moves: NDArray[np.uint16]
    """[G, L]"""
    plies: NDArray[np.int32]
    """[G]"""
    outcomes: NDArray[np.int8]
    """[G]"""
    used: NDArray[np.int64]
    """[2] rows and games"""
    totals: NDArray[np.float64]
    """[4] moves, full searches, their entropy, how often search overruled the (noisy) prior"""


ROWS, GAMES = range(2)
MOVES, FULL, ENTROPY, OVERRULED = range(4)


def make_slots(game: Game, count: int, dice: NDArray[np.uint64]) -> Slots:
    """Allocate slots; `begin` starts their games."""
    length = game.longest
    return Slots(
        np.zeros(count, dtype=np.int32),
        np.zeros(count, dtype=np.int8),
        dice,
        np.zeros(count, dtype=np.int32),
        np.zeros((count, length), dtype=np.uint16),
        np.zeros(count, dtype=np.int32),
        np.zeros((count, length, game.num_words), dtype=np.uint64),
        np.zeros((count, length, game.most_legal), dtype=np.uint16),
        np.zeros((count, length), dtype=np.float32),
    )


def make_harvest(game: Game, slots: int) -> Harvest:
    """Allocate room for the games that may end in one step, and at least one."""
    games = slots + 1
    rows = 4 * slots + 2 * game.longest
    return Harvest(
        np.zeros((rows, game.num_words), dtype=np.uint64),
        np.zeros((rows, game.most_legal), dtype=np.uint16),
        np.zeros(rows, dtype=np.float32),
        np.zeros(rows, dtype=np.int8),
        np.zeros((games, game.longest), dtype=np.uint16),
        np.zeros(games, dtype=np.int32),
        np.zeros(games, dtype=np.int8),
        np.zeros(2, dtype=np.int64),
        np.zeros(4, dtype=np.float64),
    )


def draw_budget(slots: Slots, slot: int, habits: Habits) -> None:
    """Decide whether the next search is a full one (playout cap randomization)."""
    slots.is_full[slot] = 1 if uniform(slots.dice[slot]) < habits.full_share else 0
    slots.budget[slot] = 0


def new_game(tree: Tree, slots: Slots, slot: int, habits: Habits) -> None:
    """Put the first position on the board of a slot."""
    root = tree.states[0]
    start(root)
    plant(tree, root)
    slots.plies[slot] = 0
    slots.rows[slot] = 0
    draw_budget(slots, slot, habits)


def begin(trees: Trees, slots: Slots, habits: Habits) -> None:
    """Start a game in every slot."""
    for slot in range(len(slots.budget)):
        new_game(tree_of(trees, slot), slots, slot, habits)


def replant(trees: Trees, asked: Questions, slots: Slots, roots: NDArray[np.uint64]) -> None:
    """Begin the search in every slot anew from the positions `roots`."""
    for slot in range(len(slots.budget)):
        asked.in_flight[slot] = 0
        slots.budget[slot] = 0
        plant(tree_of(trees, slot), roots[slot])


def weigh_moves(tree: Tree) -> float:
    """Put the visits of the root's moves into `weights`; return their sum.

    A proven win takes all, and a proven loss gets nothing as long as there is anything else.
    """
    root = tree.nodes[0]
    total = 0.0
    for k in range(root.count):
        edge = tree.edges[root.first + k]
        weight = float(edge.tried)
        if root.proven == WON:
            wins = edge.child != NONE and tree.nodes[edge.child].proven == LOST
            weight = 1.0 if wins else 0.0
        elif root.proven != LOST and edge.q == NEVER:
            weight = 0.0
        tree.weights[k] = weight
        total += weight
    if total == 0.0:
        for k in range(root.count):
            tree.weights[k] = 0.0 if tree.edges[root.first + k].q == NEVER else 1.0
            total += tree.weights[k]
    return total


def pick_move(tree: Tree, temperature: float, dice: NDArray[np.uint64]) -> int:
    """Draw one of the root's moves by weight ** (1 / temperature); 0 takes the heaviest."""
    count = tree.nodes[0].count
    best = 0
    for k in range(1, count):
        if tree.weights[k] > tree.weights[best]:
            best = k
    if temperature <= 0.0:
        return best
    top = tree.weights[best]
    total = 0.0
    for k in range(count):
        if tree.weights[k] > 0.0:
            total += math.exp(math.log(tree.weights[k] / top) / temperature)
    point = uniform(dice) * total
    for k in range(count):
        if tree.weights[k] > 0.0:
            point -= math.exp(math.log(tree.weights[k] / top) / temperature)
            if point < 0.0:
                return k
    return best


def record_row(tree: Tree, slots: Slots, slot: int, total: float, harvest: Harvest) -> None:
    """Keep the root as a training row of the slot's game; its moves are weighed already."""
    row = slots.rows[slot]
    slots.rows[slot] = row + 1
    for w in range(STATE_WORDS):
        slots.states[slot, row, w] = tree.states[0, w]
    slots.values[slot, row] = root_value(tree)
    slots.counts[slot, row, :] = 0
    heaviest = 0
    likeliest = 0
    first = tree.nodes[0].first
    for k in range(tree.nodes[0].count):
        weight = tree.weights[k]
        slots.counts[slot, row, k] = np.uint16(min(weight, 65535.0))
        if weight > 0.0:
            harvest.totals[ENTROPY] -= weight / total * math.log(weight / total)
        if weight > tree.weights[heaviest]:
            heaviest = k
        if tree.edges[first + k].prior > tree.edges[first + likeliest].prior:
            likeliest = k
    harvest.totals[FULL] += 1.0
    harvest.totals[OVERRULED] += 1.0 if heaviest != likeliest else 0.0


def reap(tree: Tree, slots: Slots, slot: int, harvest: Harvest) -> None:
    """Move the rows of a finished game to the harvest, each with the result of the game."""
    result = outcome(tree.states[0])
    at = harvest.used[ROWS]
    for row in range(slots.rows[slot]):
        for w in range(STATE_WORDS):
            harvest.states[at, w] = slots.states[slot, row, w]
        for k in range(slots.counts.shape[2]):
            harvest.counts[at, k] = slots.counts[slot, row, k]
        harvest.values[at] = slots.values[slot, row]
        first_moves = slots.states[slot, row, 0] & np.uint64(1) == np.uint64(0)
        score = 1 if (result == FIRST) == first_moves else -1
        harvest.results[at] = 0 if result == DRAW else score
        at += 1
    harvest.used[ROWS] = at
    game = harvest.used[GAMES]
    for ply in range(slots.plies[slot]):
        harvest.moves[game, ply] = slots.moves[slot, ply]
    harvest.plies[game] = slots.plies[slot]
    harvest.outcomes[game] = result
    harvest.used[GAMES] = game + 1


def finish_move(
    tree: Tree,
    slots: Slots,
    slot: int,
    harvest: Harvest,
    habits: Habits,
    temperatures: NDArray[np.float64],
) -> bool:
    """Play the move that the search of this slot found; false when the harvest has no room."""
    fits = harvest.used[ROWS] + slots.rows[slot] + 1 <= len(harvest.results)
    if not fits or harvest.used[GAMES] == len(harvest.plies):
        return False
    ply = slots.plies[slot]
    if ply == slots.moves.shape[1]:
        tree.used[BROKEN] = TOO_LONG
        new_game(tree, slots, slot, habits)
        return True
    total = weigh_moves(tree)
    if slots.is_full[slot] and tree.nodes[0].count > 1:
        record_row(tree, slots, slot, total, harvest)
    temperature = temperatures[min(ply, len(temperatures) - 1)]
    edge = tree.nodes[0].first + pick_move(tree, temperature, slots.dice[slot])
    slots.moves[slot, ply] = tree.edges[edge].action
    slots.plies[slot] = ply + 1
    harvest.totals[MOVES] += 1.0
    if tree.edges[edge].child == NONE:
        root = tree.states[0]
        play(root, tree.edges[edge].action)
        plant(tree, root)
    else:
        reroot(tree, wide(tree.edges[edge].child))
    if tree.nodes[0].count == 0:
        reap(tree, slots, slot, harvest)
        new_game(tree, slots, slot, habits)
    else:
        draw_budget(slots, slot, habits)
    return True


def open_search(tree: Tree, slots: Slots, slot: int, habits: Habits) -> None:
    """Give the search of a slot its budget, and noise if it is a full one."""
    slots.budget[slot] = habits.fast_simulations
    if slots.is_full[slot]:
        slots.budget[slot] = habits.simulations
        if habits.noise_share > 0.0 and tree.nodes[0].expanded:
            add_noise(tree, slots.dice[slot], habits.noise_alpha, habits.noise_share)


def play_on(
    trees: Trees,
    cache: Cache,
    asked: Questions,
    slots: Slots,
    harvest: Harvest,
    temperatures: NDArray[np.float64],
    factors: NDArray[np.int32],
    knobs: Knobs,
    habits: Habits,
) -> tuple[int, bool]:
    """Take the answers and play on in every slot until each has a new question.

    Returns the number of questions, and whether some tree lacks room.
    """
    rows = wide(0)
    cramped = False
    for slot in range(len(slots.budget)):
        tree = tree_of(trees, slot)
        absorb(tree, cache, asked, slot, factors, knobs)
        why = DONE
        for _ in range(PATIENCE):
            why = gather(tree, cache, asked, slot, rows, wide(slots.budget[slot]), knobs)
            if why != DONE:
                break
            if slots.budget[slot] == 0:
                open_search(tree, slots, slot, habits)
            elif not finish_move(tree, slots, slot, harvest, habits, temperatures):
                break
        rows += asked.in_flight[slot]
        cramped |= why == NO_ROOM
    return rows, cramped
