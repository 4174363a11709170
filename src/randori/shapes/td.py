"""TD(0) by coadaptive self-play: whole training games in one kernel (paper B, sections 5 to 8).

Two agents, each with its own weights, play each other, in turn with Black. An agent judges the
board after its own moves; when it has moved again, it pulls its judgement of the board before
towards the new one, and at the end towards 1 for a win and 0 for a loss. With the online cascade
every set has an error of its own: that of the value which it and the more general sets make up.
Without it all sets share the error of the whole sum.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from randori.games.dice import Dice, below, uniform
from randori.games.game import Game
from randori.games.kernels import DRAW, FIRST, ONGOING, U1, Actions, State, wide
from randori.games.rules import STATE_WORDS, evaluate, legal, outcome, planes, play, start
from randori.shapes.features import active_weights, clear, see
from randori.shapes.moves import best_move
from randori.shapes.sight import Ids, Room, Sight, Weights
from randori.shapes.tables import Nets, Tables

GAMES, PLIES, FIRST_WINS, DRAWS, ERRORS, UPDATES = range(6)
"""What a tally counts; the last two give the mean squared error of all updates."""
RANDOM, GREEDY = range(2)
"""Opponents in tests: at random, or by the evaluation that fills the hole `evaluate`."""


class Memory(NamedTuple):
    """What games are played in."""

    state: State
    after: State
    before: NDArray[np.uint64]
    """planes of the position"""
    words: NDArray[np.uint64]
    """planes of positions one ply later"""
    actions: Actions
    now: Ids
    """[A] weights that are on"""
    then: Ids
    """[2, A] those after each side's last move"""
    judged: NDArray[np.int64]
    """[2] whether there is such a board in this game"""
    sums: NDArray[np.float64]
    """[3, J] sums of the sets, now and then, and what each set's weights shall change by"""


def make_memory(game: Game, tables: Tables) -> Memory:
    """Allocate it."""
    active, sets = len(tables.nets.slots), len(tables.facts)
    return Memory(
        np.zeros(game.num_words, np.uint64), np.zeros(game.num_words, np.uint64),
        np.zeros(game.input_words, np.uint64), np.zeros(game.input_words, np.uint64),
        np.zeros(game.num_actions, np.int32),
        np.zeros(active, np.int32), np.zeros((2, active), np.int32),
        np.zeros(2, np.int64), np.zeros((3, sets), np.float64),
    )  # fmt: skip


class Rates(NamedTuple):
    """How learning goes."""

    steps: NDArray[np.float64]
    """[J] α / (m·n) of each set"""
    generality: NDArray[np.float64]
    """[J, J] which sets' sums make up the value that set i is corrected by"""
    epsilon: float
    from_random: bool
    """whether a judgement is also pulled towards what followed a random move"""


def reward_of(result: int, side: int) -> float:
    """Return what the end of a game is worth to a side."""
    if result == DRAW:
        return 0.5
    return 1.0 if (result == FIRST) == (side == 0) else 0.0


def squash(total: float) -> float:
    """Turn a sum into the probability of a win."""
    return 1.0 / (1.0 + math.exp(-total))


def sum_sets(theta: Weights, active: Ids, slots: Ids, sums: NDArray[np.float64]) -> None:
    """Sum the weights that are on, set by set."""
    sums[:] = 0.0
    for a in range(len(active)):
        sums[slots[a]] += np.float64(theta[active[a]])


def correct(
    theta: Weights, nets: Nets, memory: Memory, side: int, rates: Rates, reward: float,
    has_next: bool, tally: NDArray[np.float64],
) -> None:  # fmt: skip
    """Update the weights of the board after a side's last move (equations 2, 3 and 4 to 6).

    `has_next` tells whether the board that followed, `memory.now`, is judged too, or is the end.
    """
    then, sums = memory.then[side], memory.sums
    if has_next:
        sum_sets(theta, memory.now, nets.slots, sums[0])
    sum_sets(theta, then, nets.slots, sums[1])
    count = len(rates.steps)
    for i in range(count):
        later, earlier = 0.0, 0.0
        for j in range(count):
            later += rates.generality[i, j] * sums[0, j]
            earlier += rates.generality[i, j] * sums[1, j]
        value = squash(earlier)
        error = reward - value
        if has_next:
            error += squash(later)
        sums[2, i] = rates.steps[i] * error * value * (1.0 - value)
        if i == count - 1:
            tally[ERRORS] += error * error
            tally[UPDATES] += 1
    for a in range(len(then)):
        theta[then[a]] += np.float32(sums[2, nets.slots[a]])


def train_games(
    games: int, first: int, thetas: Weights, nets: Nets, rates: Rates,
    sight: Sight, room: Room, memory: Memory, dice: Dice, tally: NDArray[np.float64],
) -> None:  # fmt: skip
    """Play `games` games, the first of which has number `first`, and learn from them.

    `thetas` [2, weights] are the agents; agent 0 begins the games with even numbers.
    """
    state, words = memory.state, memory.words
    for number in range(first, first + games):
        start(state)
        planes(state, words)
        clear(nets, sight, room)
        see(nets, sight, room, words, 0)
        memory.judged[:] = 0
        moves = 0
        result = outcome(state)
        while result == ONGOING:
            side = wide(state[0] & U1)
            theta = thetas[side ^ (number & 1)]
            planes(state, memory.before)
            count = legal(state, memory.actions)
            is_random = uniform(dice) < rates.epsilon
            if is_random:
                choice = wide(below(dice, count))
            else:
                choice = best_move(
                    nets, theta, sight, side, room, state, memory.before, memory.actions, count,
                    memory.after, words, dice,
                )  # fmt: skip
            play(state, wide(memory.actions[choice]))
            planes(state, words)
            see(nets, sight, room, words, 1 - side)
            moves += 1
            result = outcome(state)
            if result == ONGOING:
                active_weights(nets, sight, side, memory.now)
                if memory.judged[side] and (rates.from_random or not is_random):
                    correct(theta, nets, memory, side, rates, 0.0, True, tally)
                for a in range(len(memory.now)):
                    memory.then[side, a] = memory.now[a]
                memory.judged[side] = 1
        for side in range(2):
            if memory.judged[side]:
                theta = thetas[side ^ (number & 1)]
                reward = reward_of(result, side)
                correct(theta, nets, memory, side, rates, reward, False, tally)
        tally[GAMES] += 1
        tally[PLIES] += moves
        tally[FIRST_WINS] += result == FIRST
        tally[DRAWS] += result == DRAW


def glance(state: State, actions: Actions, count: int, after: State, dice: Dice) -> int:
    """Return the index of the move that the evaluation likes best; equals by lot."""
    best, ties, choice = wide(0), 0, 0
    for i in range(count):
        for word in range(STATE_WORDS):
            after[word] = state[word]
        play(after, wide(actions[i]))
        result = outcome(after)
        score = wide(-evaluate(after))
        if result != ONGOING and result != DRAW:
            score = wide(1 << 40) if (result == FIRST) == (state[0] & U1 == 0) else wide(-1 << 40)
        if i == 0 or score > best:
            best = score
            ties = 0
        if score == best:
            ties += 1
            if ties == 1 or below(dice, ties) == 0:
                choice = i
    return choice


def test_games(
    games: int, theta: Weights, nets: Nets, opponent: int,
    sight: Sight, room: Room, memory: Memory, dice: Dice, score: NDArray[np.float64],
) -> None:  # fmt: skip
    """Play `games` games without exploring against an opponent, in turn as first; add the score."""
    state, words = memory.state, memory.words
    for number in range(games):
        start(state)
        planes(state, words)
        clear(nets, sight, room)
        see(nets, sight, room, words, 0)
        mine = number & 1
        while outcome(state) == ONGOING:
            side = wide(state[0] & U1)
            planes(state, memory.before)
            count = legal(state, memory.actions)
            if side == mine:
                choice = best_move(
                    nets, theta, sight, side, room, state, memory.before, memory.actions, count,
                    memory.after, words, dice,
                )  # fmt: skip
            elif opponent == GREEDY:
                choice = glance(state, memory.actions, count, memory.after, dice)
            else:
                choice = wide(below(dice, count))
            play(state, wide(memory.actions[choice]))
            planes(state, words)
            see(nets, sight, room, words, 1 - side)
        score[0] += reward_of(outcome(state), mine)
