"""Alpha-beta: full-width search to a depth, over an evaluation that costs next to nothing.

Iterative deepening around the walk of `walk.py`, with an eye on the clock. Values that cost more,
such as a network's, are asked for in batches: see `valued.py`.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from randori.games.game import Game
from randori.games.kernels import U0, State
from randori.search.walk import (
    BEST,
    CHOICE,
    DECIDED,
    NO_MOVE,
    NODES,
    SCORE,
    Frames,
    Knobs,
    Questions,
    Standing,
    frames_of,
    make_frames,
    make_table,
    set_root,
    table_of,
    walk,
)

UNIT = 400
"""A score that looks like a value of 0.76."""
MOST = 0.999
"""The value of what looks won but is not decided."""
SLICE = 0.004
"""Seconds between two looks at the clock."""
FIRST_BUDGET, GROWTH = 64, 8
"""Nodes before the first look, and how many times as many the next look may wait for."""

Clock = Callable[[], float]


@dataclass(frozen=True)
class AlphaBetaConfig:
    """How deep, and by what means."""

    depth: int = 4
    """plies to look ahead; with `seconds`, at most"""
    seconds: float = 0.0
    """time for a move; 0 stands for no limit"""
    prune: bool = True
    """false is plain minimax"""
    ordering: bool = True
    """try promising moves first: the table's, refutations, those that cut before"""
    null_move: bool = False
    """let the opponent move twice: what is still good enough is not searched to the full depth"""
    quiescence: int = 0
    """plies of taking moves behind the last"""
    table_mb: float = 16.0
    """memory for remembered scores"""

    def __post_init__(self) -> None:
        if not 1 <= self.depth <= 200:
            raise ValueError(f"depth goes from 1 to 200, not {self.depth}")
        if not 0 <= self.quiescence <= 50:
            raise ValueError(f"quiescence goes from 0 to 50, not {self.quiescence}")
        if self.seconds < 0 or not 0 <= self.table_mb <= 100_000:
            raise ValueError("seconds must not be negative, and table_mb goes from 0 to 100000")


@dataclass(frozen=True)
class Finding:
    """What a search found."""

    score: int
    value: float
    """the score between −1 and 1, for the side to move"""
    line: list[int]
    depth: int
    nodes: int
    """visited in the last iteration"""
    total_nodes: int


def value_of(score: int) -> float:
    """Squeeze a score into [−1, 1]; only a decided game is worth 1."""
    if abs(score) >= DECIDED:
        return math.copysign(1.0, score)
    return MOST * math.tanh(score / UNIT)


class Pace:
    """How many nodes to visit until the next look at the clock, whatever a node costs."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        self.budget = FIRST_BUDGET
        self._clock = clock
        self._then = clock()
        self._end = self._then + seconds if seconds else math.inf

    def is_up(self, nodes: int) -> bool:
        """Look at the clock, `nodes` after the last look; tell whether the time is up."""
        now = self._clock()
        elapsed, left = now - self._then, self._end - now
        self._then = now
        most = self.budget * GROWTH  # a clock that has not moved yet says nothing
        fit = nodes * min(SLICE, left) / elapsed if elapsed > 0 else most
        self.budget = int(max(1, min(fit, most)))
        return left <= 0


class Deepening:
    """One position's way from depth to depth: what is to be searched next, and what was found."""

    def __init__(self, config: AlphaBetaConfig, fewer: int, value: Callable[[int], float]) -> None:
        self._value = value
        self._last = config.depth - fewer
        goes_by_ply = config.prune or config.seconds
        self.depth = min(1, self._last) if goes_by_ply else self._last
        self.found: Finding | None = None
        self._total = 0

    def take(self, frames: Frames, standing: Standing) -> bool:
        """Read off a finished search; tell whether there is a deeper one to do."""
        self._note(frames, standing, int(standing[SCORE]))
        assert self.found is not None
        self.depth += 1
        return self.depth <= self._last and abs(self.found.score) < DECIDED

    def give_up(self, frames: Frames, standing: Standing) -> bool:
        """End here, the time being up: tell whether there is a move, if only of the first depth."""
        if self.found is None and frames.numbers[0, CHOICE] != NO_MOVE:
            self._note(frames, standing, int(frames.numbers[0, BEST]))
        return self.found is not None

    def _note(self, frames: Frames, standing: Standing, score: int) -> None:
        line = frames.lines[0].tolist()
        nodes = int(standing[NODES])
        self._total += nodes
        self.found = Finding(
            score, self._value(score), line[: line.index(NO_MOVE)], self.depth, nodes, self._total
        )


def knobs_of(game: Game, config: AlphaBetaConfig) -> Knobs:
    """Turn settings into what the walk reads; null moves need a game in which one can pass."""
    if config.null_move and game.pass_action < 0:
        raise ValueError(f"{game.name} has no pass, so null_move cannot be")
    ordering = config.prune and config.ordering
    return Knobs(config.prune, ordering, config.null_move, config.quiescence, U0)


def new_salt(searches: int) -> np.uint64:
    """Keep the table's entries of one search apart from those of all others."""
    return np.uint64((searches * 0x9E3779B97F4A7C15) & (2**64 - 1))


class AlphaBeta:
    """A search with its memory."""

    def __init__(
        self,
        game: Game,
        judge: Callable[[State], int],
        config: AlphaBetaConfig,
        *,
        clock: Clock = perf_counter,
    ) -> None:
        self._config = config
        self._knobs = knobs_of(game, config)
        self._walk = game.kernel(walk, evaluate=judge)
        self._frames = frames_of(make_frames(game, config.depth + config.quiescence + 1), 0)
        self._table = table_of(make_table(config.table_mb if config.prune else 0.0), 0)
        self._history = np.zeros((2, game.num_actions), dtype=np.int64)
        self._lows = np.zeros(len(self._frames.states), dtype=np.int64)
        self._no_questions = Questions(np.zeros((0, game.num_words), np.uint64), np.zeros(0, int))
        self._clock = clock
        self._searches = 0
        self.standing: Standing = np.zeros(8, dtype=np.int64)
        """Where the walk stands."""

    def run(self, state: State, fewer: int = 0, seconds: float | None = None) -> Finding:
        """Deepen ply by ply up to the depth, or until the time is up.

        `fewer` plies less than the depth are searched; `seconds` replaces those of the settings.
        """
        pace = Pace(self._clock, self._config.seconds if seconds is None else seconds)
        self._searches += 1
        self._knobs = self._knobs._replace(salt=new_salt(self._searches))
        self._history[:] = 0
        self._frames.killers[:] = NO_MOVE
        self._frames.states[0] = state
        deepening = Deepening(self._config, fewer, value_of)
        goes_on = True
        while goes_on:
            goes_on = self._search(deepening, pace)
        assert deepening.found is not None
        return deepening.found

    def _search(self, deepening: Deepening, pace: Pace) -> bool:
        """Search to one depth; tell whether to go on with the next."""
        frames, standing = self._frames, self.standing
        set_root(frames, standing, deepening.depth)
        is_done = False
        while not is_done:
            before = int(standing[NODES])
            is_done = self._walk(
                frames, self._table, self._history, self._knobs, standing, self._lows,
                self._no_questions, pace.budget,
            )  # fmt: skip
            is_up = pace.is_up(int(standing[NODES]) - before)
            if is_up and not is_done and deepening.give_up(frames, standing):
                return False
        return deepening.take(frames, standing) and not is_up
