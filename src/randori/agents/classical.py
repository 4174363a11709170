"""Agents that look ahead full width: one ply, or by alpha-beta over an evaluation or a value."""

import os
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue

import numpy as np
from numpy.typing import NDArray

from randori.agents.agent import Player
from randori.agents.simple import expect_no_value
from randori.errors import UserError
from randori.games.dice import Dice, below
from randori.games.evaluation import find_evaluation
from randori.games.game import Game
from randori.games.kernels import ONGOING, State
from randori.games.rules import STATE_WORDS, evaluate, legal, outcome, play
from randori.search.alphabeta import AlphaBeta, AlphaBetaConfig, Finding, value_of
from randori.search.search import Analysis, Move
from randori.search.valued import EvaluatorValues, ValuedAlphaBeta, Values
from randori.search.walk import DECIDED, final_score

DEPTH, CLOCK_DEPTH = 4, 60
"""Plies of alpha-beta if nobody says how many; and at most, if a clock decides."""
MOST_TOGETHER = 512
"""Positions that are searched side by side."""


def look_one_ply(
    states: NDArray[np.uint64],
    after: NDArray[np.uint64],
    actions: NDArray[np.int32],
    dice: Dice,
    picked: NDArray[np.int32],
    scores: NDArray[np.int64],
) -> None:
    """Pick the move whose position looks worst to the opponent; equals by lot."""
    for b in range(len(states)):
        ties = 0
        for i in range(legal(states[b], actions)):
            for word in range(STATE_WORDS):
                after[word] = states[b, word]
            play(after, actions[i])
            result = outcome(after)
            score = -evaluate(after) if result == ONGOING else -final_score(after, result)
            ties = 0 if i == 0 or score > scores[b] else ties
            if ties == 0 or score == scores[b]:
                ties += 1
                if below(dice, ties) == 0:
                    picked[b] = actions[i]
                scores[b] = score


class GreedyPlayer:
    """Plays the best move at first glance."""

    def __init__(self, game: Game, name: str | None) -> None:
        self._look = game.kernel(look_one_ply, evaluate=find_evaluation(game, name))
        self._after = np.zeros(game.num_words, dtype=np.uint64)
        self._actions = np.zeros(game.num_actions, dtype=np.int32)

    def act(self, states: NDArray[np.uint64], rng: np.random.Generator) -> NDArray[np.int32]:
        """Pick the best move after one ply, equals by lot."""
        return self.judge(states, rng)[0]

    def judge(
        self, states: NDArray[np.uint64], rng: np.random.Generator
    ) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Do the same, and return what the best moves are worth."""
        picked, scores = np.zeros(len(states), np.int32), np.zeros(len(states), np.int64)
        dice = rng.integers(0, 2**63, size=1, dtype=np.uint64)
        self._look(states, self._after, self._actions, dice, picked, scores)
        return picked, np.array([value_of(int(score)) for score in scores], dtype=np.float32)


def greedy(game: Game, value: str | None, *, evaluation: str | None = "material") -> GreedyPlayer:
    """Pick the move that looks best after one ply: most stones, or another evaluation."""
    expect_no_value("greedy", value)
    return GreedyPlayer(game, evaluation)


class AlphaBetaPlayer:
    """A search a thread, each with its own table; equal moves are not drawn by lot."""

    def __init__(self, game: Game, name: str | None, config: AlphaBetaConfig, threads: int) -> None:
        self._game = game
        judge = find_evaluation(game, name)
        self._idle: SimpleQueue[AlphaBeta] = SimpleQueue()
        for _ in range(threads):
            self._idle.put(AlphaBeta(game, judge, config))
        self._threads = threads
        self.depth, self._seconds = config.depth, config.seconds

    def act(self, states: NDArray[np.uint64], rng: np.random.Generator) -> NDArray[np.int32]:
        """Search every position."""
        return self.judge(states, rng)[0]

    def judge(
        self, states: NDArray[np.uint64], rng: np.random.Generator
    ) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Do the same, and return the searches' values too."""

        def search(state: State) -> tuple[int, float]:
            engine = self._idle.get()
            try:
                found = engine.run(state)
            finally:
                self._idle.put(engine)
            return found.line[0], found.value

        if len(states) == 1 or self._threads == 1:
            found = [search(state) for state in states]
        else:
            with ThreadPoolExecutor(self._threads) as pool:
                found = list(pool.map(search, states))
        actions, values = zip(*found, strict=True)
        return np.array(actions, dtype=np.int32), np.array(values, dtype=np.float32)

    def analyse(self, state: State, rng: np.random.Generator) -> Analysis:
        """Score every move by a search one ply less deep, the best one by its own search."""
        engine = self._idle.get()
        try:
            found = engine.run(state)
            actions, after = moves_from(self._game, state)
            share = self._seconds / len(actions)
            below = [engine.run(one, fewer=1, seconds=share) for one in after]
        finally:
            self._idle.put(engine)
        return report(found, actions, below)


class ValuedPlayer:
    """One search for all positions, over a value function that is asked in batches."""

    def __init__(self, game: Game, values: Values, config: AlphaBetaConfig) -> None:
        self._game = game
        self._engine = ValuedAlphaBeta(game, values, config)
        self.depth, self._seconds = config.depth, config.seconds

    def act(self, states: NDArray[np.uint64], rng: np.random.Generator) -> NDArray[np.int32]:
        """Search every position."""
        return self.judge(states, rng)[0]

    def judge(
        self, states: NDArray[np.uint64], rng: np.random.Generator
    ) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Do the same, and return the searches' values too."""
        parts = [states[i : i + MOST_TOGETHER] for i in range(0, len(states), MOST_TOGETHER)]
        found = [one for part in parts for one in self._engine.run(part)]
        actions = np.array([one.line[0] for one in found], dtype=np.int32)
        return actions, np.array([one.value for one in found], dtype=np.float32)

    def analyse(self, state: State, rng: np.random.Generator) -> Analysis:
        """Score every move by a search one ply less deep, the best one by its own search."""
        (found,) = self._engine.run(state[None])
        actions, after = moves_from(self._game, state)
        below = self._engine.run(after, fewer=1, seconds=self._seconds / len(actions))
        return report(found, actions, below)


def moves_from(game: Game, state: State) -> tuple[list[int], NDArray[np.uint64]]:
    """List the legal actions of a position, and the positions behind them."""
    actions = game.legal_actions(state)
    after = np.repeat(state[None], len(actions), axis=0)
    for row, action in zip(after, actions, strict=True):
        game.plain.play(row, action)
    return actions, after


def report(found: Finding, actions: list[int], below: list[Finding]) -> Analysis:
    """Put the search of a position and those behind its moves together, the best move first."""
    best = found.line[0]
    moves = []
    for action, one in zip(actions, below, strict=True):
        proven = None if abs(one.score) < DECIDED else ("loss" if one.score > 0 else "win")
        moves.append(Move(action, one.total_nodes, 0.0, -one.value, proven))
    order = sorted(moves, key=lambda move: (move.action != best, -move.value))
    return Analysis(found.value, order, found.line, found.total_nodes)


def load_values(game: Game, path: str, runtime: str) -> Values:
    """Read a value function: a run folder or a model file, as ``az`` takes it."""
    from randori.agents.network import load_evaluator

    return EvaluatorValues(game, load_evaluator(game, path, runtime, "none"))


def alphabeta(
    game: Game,
    bare: str | None,
    *,
    depth: int | None = None,
    seconds: float | None = None,
    evaluation: str | None = None,
    value: str | None = None,
    runtime: str = "auto",
    ordering: bool = True,
    null_move: bool = False,
    quiescence: int = 0,
    table_mb: float = 16.0,
    threads: int = 0,
) -> Player:
    """Search with pruning, to a depth (4) or for some seconds; ``value=RUN`` judges by a network.

    `evaluation` is one of the game's own, inside the kernel; `value` a run folder or a model file
    as ``az`` takes it, on `runtime`. `seconds` are for one move of one game.
    """
    expect_no_value("alphabeta", bare)
    if depth is None:
        depth = CLOCK_DEPTH if seconds else DEPTH
    if seconds is not None and seconds <= 0:
        raise ValueError("seconds must be more than 0; leave them out to search to a depth")
    config = AlphaBetaConfig(depth, seconds or 0.0, True, ordering, null_move, quiescence, table_mb)
    return _player(game, config, evaluation, value, runtime, threads)


def minimax(
    game: Game,
    bare: str | None,
    *,
    depth: int = 3,
    evaluation: str | None = None,
    value: str | None = None,
    runtime: str = "auto",
    threads: int = 0,
) -> Player:
    """Search to a depth without pruning (paper C); ``value=RUN`` judges by a network."""
    expect_no_value("minimax", bare)
    config = AlphaBetaConfig(depth, prune=False)
    return _player(game, config, evaluation, value, runtime, threads)


def _player(
    game: Game, config: AlphaBetaConfig, evaluation: str | None, value: str | None, runtime: str,
    threads: int,
) -> Player:  # fmt: skip
    cores = _cores(threads)
    if value is None:
        return AlphaBetaPlayer(game, evaluation, config, cores)
    if evaluation is not None:
        raise UserError("evaluation and value exclude each other: give one of them")
    return ValuedPlayer(game, load_values(game, value, runtime), config)


def _cores(threads: int) -> int:
    if threads < 0:
        raise ValueError("threads must not be negative; 0 stands for all cores")
    return threads or os.cpu_count() or 1
