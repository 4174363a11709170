"""Self-play kernels: every slot plays game after game and never waits for another.

When a slot's search is over, the kernel picks the move, writes the training row, moves the root
down (the subtree is kept) or starts a new game, and goes on until it needs the evaluator again. So
the batch of questions is always full, and Python runs once a step, not once a game.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from randori.games.dice import below, uniform
from randori.games.game import Game
from randori.games.kernels import wide
from randori.games.rules import STATE_WORDS, play, start
from randori.learners.archive import Archive, remember_beginning, wander
from randori.learners.harvest import (
    ENTROPY,
    FULL,
    MOVES,
    NONE_MADE,
    OVERRULED,
    GameSoFar,
    Harvest,
    amends_for,
    has_room_for,
    reap,
    surprise_of,
)
from randori.search.ahead import AHEAD, EARLY, MANY, foresee, press_on, set_out
from randori.search.backup import root_value
from randori.search.cache import Cache
from randori.search.priors import add_noise, open_root
from randori.search.puct import DONE, NO_ROOM, Knobs, Questions, absorb, gather, urgency_of
from randori.search.reroot import reroot
from randori.search.roots import (
    draw_gumbel,
    gumbel_choice,
    is_gumbel,
    prune_forced,
    weigh_improved,
)
from randori.search.tree import (
    BROKEN,
    FORCED,
    GUMBEL,
    LOST,
    NEVER,
    NONE,
    RULE,
    TOO_LONG,
    UNKNOWN,
    WON,
    Tree,
    Trees,
    plant,
    tree_of,
)

PATIENCE = 64
"""Moves a slot may make in one step without a question: a small game that is fully remembered would
otherwise keep the other slots waiting until the harvest is full."""
SETTLED, AT_RANDOM, BRANCHED = range(3)
"""How a game begins, as long as it is not settled that it is played; SETTLED where that is sure."""


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
    keep_tree: bool
    """whether a search goes on with what the last one found below the move that was made"""
    surprise_share: float
    """how much of the rows' weight goes by how far the search moved away from the network"""
    archive_share: float
    """how often a game starts from an earlier game's beginning"""
    random_share: float
    """how often a game starts with random moves"""
    random_plies: int
    """how many, at most"""
    balance: float
    """how often a game that starts decided is not played, at most"""
    deblunder: float
    """a move that gives away more value than this is a slip; 0 for no move"""


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
    begun: NDArray[np.int32]
    """[B] how many of them came from an earlier game or were drawn at random"""
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
    surprise: NDArray[np.float32]
    """[B, L] how far the search moved away from the network there, in nats"""
    origin: NDArray[np.int8]
    """[B] how the game began; SETTLED once it is played"""
    amends: NDArray[np.float32]
    """[B, L] what the best move was worth where another was made, ply by ply: see `GameSoFar`"""


def make_slots(game: Game, count: int, dice: NDArray[np.uint64]) -> Slots:
    """Allocate slots; `begin` starts their games."""
    length = game.longest
    return Slots(
        np.zeros(count, dtype=np.int32),
        np.zeros(count, dtype=np.int8),
        dice,
        np.zeros(count, dtype=np.int32),
        np.zeros(count, dtype=np.int32),
        np.zeros((count, length), dtype=np.uint16),
        np.zeros(count, dtype=np.int32),
        np.zeros((count, length, game.num_words), dtype=np.uint64),
        np.zeros((count, length, game.most_legal), dtype=np.uint16),
        np.zeros((count, length), dtype=np.float32),
        np.zeros((count, length), dtype=np.float32),
        np.zeros(count, dtype=np.int8),
        np.full((count, length), NONE_MADE, dtype=np.float32),
    )


def draw_budget(slots: Slots, slot: int, habits: Habits) -> None:
    """Decide whether the next search is a full one (playout cap randomization)."""
    slots.is_full[slot] = 1 if uniform(slots.dice[slot]) < habits.full_share else 0
    slots.budget[slot] = 0


def new_game(tree: Tree, slots: Slots, slot: int, archive: Archive, habits: Habits) -> None:
    """Begin a game at the first position, or near an earlier game, or anywhere."""
    dice = slots.dice[slot]
    chance = uniform(dice) if habits.archive_share + habits.random_share > 0.0 else 1.0
    origin = SETTLED
    if chance < habits.random_share:
        origin = AT_RANDOM
    elif chance < habits.random_share + habits.archive_share and archive.filled[0] > 0:
        origin = BRANCHED
    begin_game(tree, slots, slot, archive, habits, origin)


def begin_game(
    tree: Tree, slots: Slots, slot: int, archive: Archive, habits: Habits, origin: int
) -> None:
    """Put the position on the board of a slot that a game of this origin begins with."""
    root = tree.states[0]
    start(root)
    plies = wide(0)
    dice = slots.dice[slot]
    if origin == AT_RANDOM:
        steps = wide(below(dice, 1 + habits.random_plies))
        plies = wide(wander(root, slots.moves[slot], plies, steps, archive.actions, dice))
    elif origin == BRANCHED:
        place = wide(below(dice, archive.filled[0]))
        plies = wide(archive.plies[place])
        for ply in range(plies):
            slots.moves[slot, ply] = archive.moves[place, ply]
            play(root, archive.moves[place, ply])
    plant(tree, root)
    slots.plies[slot] = plies
    slots.begun[slot] = plies
    slots.amends[slot, :plies] = NONE_MADE
    slots.origin[slot] = SETTLED if plies == 0 else origin
    slots.rows[slot] = 0
    draw_budget(slots, slot, habits)


def begin(trees: Trees, slots: Slots, archive: Archive, habits: Habits) -> None:
    """Start a game in every slot."""
    for slot in range(len(slots.budget)):
        new_game(tree_of(trees, slot), slots, slot, archive, habits)


def replant(trees: Trees, asked: Questions, slots: Slots, roots: NDArray[np.uint64]) -> None:
    """Begin the search in every slot anew from the positions `roots`."""
    for slot in range(len(slots.budget)):
        asked.in_flight[slot] = 0
        slots.budget[slot] = 0
        plant(tree_of(trees, slot), roots[slot])


def weigh_target(tree: Tree, knobs: Knobs) -> float:
    """Put what the network shall learn of the root's moves into `weights`; return their sum."""
    if is_gumbel(tree) and tree.nodes[0].proven == UNKNOWN:
        return weigh_improved(tree)
    total = weigh_moves(tree)
    if tree.used[RULE] == FORCED and tree.nodes[0].proven == UNKNOWN:
        return prune_forced(tree, knobs.forced, knobs.exploration)
    return total


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
    slots.surprise[slot, row] = surprise_of(tree, total)
    slots.counts[slot, row, :] = 0
    heaviest = 0
    likeliest = 0
    first = tree.nodes[0].first
    for k in range(tree.nodes[0].count):
        weight = tree.weights[k]
        rank = tree.moves[first + k].rank
        slots.counts[slot, row, rank] = np.uint16(min(weight, 65535.0))
        if weight > 0.0:
            harvest.totals[ENTROPY] -= weight / total * math.log(weight / total)
        if weight > tree.weights[heaviest]:
            heaviest = k
        if tree.edges[first + k].prior > tree.edges[first + likeliest].prior:
            likeliest = k
    harvest.totals[FULL] += 1.0
    harvest.totals[OVERRULED] += 1.0 if heaviest != likeliest else 0.0


def choose(tree: Tree, slots: Slots, slot: int, temperatures: NDArray[np.float64]) -> int:
    """Return the edge to play; the root's moves are weighed already."""
    first = wide(tree.nodes[0].first)
    if is_gumbel(tree) and tree.nodes[0].proven == UNKNOWN:
        return int(first + gumbel_choice(tree))
    temperature = temperatures[min(slots.plies[slot], len(temperatures) - 1)]
    return int(first + pick_move(tree, temperature, slots.dice[slot]))


def finish_move(
    tree: Tree,
    slots: Slots,
    slot: int,
    harvest: Harvest,
    archive: Archive,
    temperatures: NDArray[np.float64],
    knobs: Knobs,
    habits: Habits,
) -> bool:
    """Play the move that the search of this slot found; false when the harvest has no room."""
    if not has_room_for(harvest, slots.rows[slot] + 1):
        return False
    ply = slots.plies[slot]
    if ply >= slots.moves.shape[1]:
        tree.used[BROKEN] = TOO_LONG
        new_game(tree, slots, slot, archive, habits)
        return True
    total = weigh_target(tree, knobs)
    if slots.is_full[slot] and tree.nodes[0].count > 1:
        record_row(tree, slots, slot, total, harvest)
    edge = choose(tree, slots, slot, temperatures)
    action = wide(tree.moves[edge].action)
    slots.moves[slot, ply] = action
    slots.amends[slot, ply] = amends_for(tree, edge, habits.deblunder)
    slots.plies[slot] = ply + 1
    harvest.totals[MOVES] += 1.0
    draw_budget(slots, slot, habits)
    halves = knobs.considered > 0 and slots.is_full[slot] == 1
    if tree.edges[edge].child == NONE or not habits.keep_tree or halves:
        root = tree.states[0]
        play(root, action)
        plant(tree, root)
    else:
        reroot(tree, wide(tree.edges[edge].child))
        open_root(tree, urgency_of(tree, wide(0), knobs.fpu))
    if tree.nodes[0].count == 0:
        finish_game(tree, slots, slot, harvest, archive, habits)
    return True


def finish_game(
    tree: Tree, slots: Slots, slot: int, harvest: Harvest, archive: Archive, habits: Habits
) -> None:
    """Hand the rows of a slot's game over and start the next one."""
    played = GameSoFar(
        slots.rows[slot], slots.states[slot], slots.counts[slot], slots.values[slot],
        slots.surprise[slot], slots.plies[slot], slots.begun[slot], slots.moves[slot],
        slots.amends[slot],
    )  # fmt: skip
    reap(harvest, played, tree.states[0], habits.surprise_share, slots.dice[slot])
    if habits.archive_share > 0.0:
        remember_beginning(archive, slots.moves[slot], slots.plies[slot], slots.dice[slot])
    new_game(tree, slots, slot, archive, habits)


def settle(tree: Tree, slots: Slots, slot: int, archive: Archive, habits: Habits) -> bool:
    """Draw whether a new game is played, or another of its origin begun instead.

    The more decided it is where it starts, by the network's opinion, the more rarely it is played.
    """
    origin = wide(slots.origin[slot])
    slots.origin[slot] = SETTLED
    if origin == SETTLED or habits.balance == 0.0:
        return True
    value = root_value(tree)
    if uniform(slots.dice[slot]) >= habits.balance * value * value:
        return True
    begin_game(tree, slots, slot, archive, habits, origin)
    return False


def open_search(tree: Tree, slots: Slots, slot: int, knobs: Knobs, habits: Habits) -> None:
    """Give the search of a slot its budget, and noise and its rule if it is a full one."""
    slots.budget[slot] = habits.fast_simulations
    if slots.is_full[slot]:
        slots.budget[slot] = habits.simulations
        if not tree.nodes[0].judged:
            return
        if knobs.considered > 0:
            tree.used[RULE] = GUMBEL
            draw_gumbel(tree, slots.dice[slot])
        elif habits.noise_share > 0.0:
            add_noise(tree, slots.dice[slot], habits.noise_alpha, habits.noise_share)
            if knobs.forced > 0.0:
                tree.used[RULE] = FORCED


def play_on(
    trees: Trees,
    cache: Cache,
    asked: Questions,
    slots: Slots,
    harvest: Harvest,
    archive: Archive,
    temperatures: NDArray[np.float64],
    knobs: Knobs,
    habits: Habits,
) -> tuple[int, bool]:
    """Take the answers and play on in every slot until each has a new question.

    Returns the number of questions, and whether some tree lacks room.
    """
    rows = wide(0)
    cramped = False
    count = len(slots.budget)
    early = EARLY if count >= MANY else 0
    for turn in range(count + early):
        if turn + AHEAD < count:
            foresee(trees, cache, asked, turn + AHEAD)
        if turn < count:
            tree = tree_of(trees, turn)
            absorb(tree, cache, asked, turn, knobs)
            if early > 0:
                set_out(tree, wide(slots.budget[turn]), knobs)
        if early > 0:
            press_on(trees, turn, knobs)
        slot = turn - early
        if slot < 0:
            continue
        tree = tree_of(trees, slot)
        why = DONE
        for _ in range(PATIENCE):
            budget = wide(slots.budget[slot])
            why = gather(tree, cache, asked, slot, rows, budget, knobs)
            if why != DONE:
                break
            if slots.budget[slot] == 0:
                if settle(tree, slots, slot, archive, habits):
                    open_search(tree, slots, slot, knobs, habits)
            elif not finish_move(tree, slots, slot, harvest, archive, temperatures, knobs, habits):
                break
        rows += asked.in_flight[slot]
        cramped |= why == NO_ROOM
    return rows, cramped
