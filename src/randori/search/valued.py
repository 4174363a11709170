"""Alpha-beta over values that cost something: a network's, or any function of many positions.

The walks of all positions run side by side. Each goes on until it needs values, of the leaves
below a frame or of a frame itself, and stops there; all that they ask for is judged in one batch,
and they go on. What is searched, and what is found, is the same as over an evaluation inside.
"""

from time import perf_counter
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from randori.errors import UserError
from randori.games.game import Game
from randori.games.kernels import ONGOING
from randori.games.rules import STATE_WORDS, outcome, planes, play
from randori.search.alphabeta import (
    AlphaBetaConfig,
    Clock,
    Deepening,
    Finding,
    Pace,
    knobs_of,
    new_salt,
)
from randori.search.evaluator import Evaluator, Lane
from randori.search.walk import (
    ASKED,
    COUNT,
    DECIDED,
    DEPTH,
    NEXT,
    NEXT_ROW,
    NO_MOVE,
    ROW,
    Frames,
    Knobs,
    Questions,
    Standing,
    Table,
    final_score,
    frames_of,
    make_frames,
    make_table,
    may_skip,
    set_root,
    table_of,
    take,
    walk,
)

SCALE = 700_000
"""The score of a value of 1, less than that of any won game; values differ by 1e-6 at least."""
WALK_NODES = 100_000
"""Nodes that a walk which needs no values may visit until the others have their turn."""
CHUNK = 1024
"""Rows that an evaluator judges at once."""


class Values(Protocol):
    """Anything that says what positions are worth."""

    def values(self, states: NDArray[np.uint64]) -> NDArray[np.floating]:
        """Return values [B] in [−1, 1], for the side to move, of positions [B, S] not over."""


class EvaluatorValues:
    """The values of an evaluator, such as a network; its policy is not used."""

    def __init__(self, game: Game, evaluator: Evaluator) -> None:
        self._encode = game.kernel(encode)
        self._evaluator = evaluator
        self._lanes: dict[int, Lane] = {}

    def values(self, states: NDArray[np.uint64]) -> NDArray[np.float32]:
        """Judge positions, by batches of a few sizes."""
        found = np.zeros(len(states), dtype=np.float32)
        for first in range(0, len(states), CHUNK):
            part = states[first : first + CHUNK]
            lane = self._lane(len(part))
            self._encode(part, lane.states, lane.words)
            lane.launch(len(part))
            lane.wait()
            found[first : first + len(part)] = lane.values[: len(part)]
        return found

    def _lane(self, rows: int) -> Lane:
        size = 1 << (rows - 1).bit_length()
        if size not in self._lanes:
            self._lanes[size] = self._evaluator.lane(size)
        return self._lanes[size]


def encode(states: NDArray[np.uint64], room: NDArray[np.uint64], words: NDArray[np.uint64]) -> None:
    """Write positions and their packed planes into a lane."""
    for b in range(len(states)):
        for word in range(room.shape[1]):
            room[b, word] = states[b, word]
        planes(states[b], words[b])


def score_of(values: NDArray[np.floating]) -> NDArray[np.int64]:
    """Turn values into scores; what is not a number is refused."""
    if not np.isfinite(values).all():
        raise UserError("the value function returned what is not a number")
    return np.rint(np.clip(values.astype(np.float64), -1.0, 1.0) * SCALE).astype(np.int64)


def linear_value(score: int) -> float:
    """Turn a score back into a value; only a decided game is more than the function said."""
    if abs(score) >= DECIDED:
        return 1.0 if score > 0 else -1.0
    return score / SCALE


def ask_outside(
    frames: Frames, knobs: Knobs, ply: int, standing: Standing, asked: Questions
) -> int:
    """Ask for the leaves below a frame, or for its own position; return how many rows."""
    depth, state = frames.numbers[ply, DEPTH], frames.states[ply]
    row = standing[NEXT_ROW]
    standing[ROW] = row
    if depth <= 0 or may_skip(frames, knobs, ply):
        for word in range(STATE_WORDS):
            asked.states[row, word] = state[word]
        return 1
    if depth > 1 or knobs.quiescence > 0:
        return 0
    for i in range(frames.numbers[ply, COUNT]):
        leaf = asked.states[row]
        for word in range(STATE_WORDS):
            leaf[word] = state[word]
        play(leaf, frames.actions[ply, i])
        if outcome(leaf) == ONGOING:
            row += 1
    return row - standing[ROW]


def answered_score(frames: Frames, ply: int, standing: Standing, asked: Questions) -> int:
    """Read what a frame's own position is worth."""
    return asked.scores[standing[ROW]]


def sweep_answers(
    frames: Frames, history: NDArray[np.int64], knobs: Knobs, ply: int, standing: Standing,
    asked: Questions,
) -> int:  # fmt: skip
    """Take the scores of all leaves below a frame, whatever the window: they are paid for."""
    numbers, leaf = frames.numbers[ply], frames.states[ply + 1]
    frames.lines[ply + 1, 0] = NO_MOVE
    row = standing[ROW]
    for i in range(numbers[COUNT]):
        for word in range(STATE_WORDS):
            leaf[word] = frames.states[ply, word]
        play(leaf, frames.actions[ply, i])
        result = outcome(leaf)
        if result == ONGOING:
            score = asked.scores[row]
            row += 1
        else:
            score = final_score(leaf, result)
        numbers[NEXT] = i + 1
        take(frames, history, knobs, ply, -score)
    return numbers[COUNT]


def walk_all(
    frames: Frames,
    tables: Table,
    histories: NDArray[np.int64],
    knobs: Knobs,
    standings: NDArray[np.int64],
    lows: NDArray[np.int64],
    asked: Questions,
    running: NDArray[np.bool_],
    budget: int,
) -> int:
    """Let all walks go on until they ask or end; return the number of rows they ask for."""
    rows = 0
    for slot in range(len(running)):
        if not running[slot]:
            continue
        standing = standings[slot]
        standing[NEXT_ROW] = rows
        is_done = walk(
            frames_of(frames, slot), table_of(tables, slot), histories[slot], knobs, standing,
            lows[slot], asked, budget,
        )  # fmt: skip
        running[slot] = not is_done
        rows += standing[ASKED]
    return rows


class ValuedAlphaBeta:
    """Searches side by side over one value function, with their memory."""

    def __init__(
        self, game: Game, values: Values, config: AlphaBetaConfig, *, clock: Clock = perf_counter
    ) -> None:
        self._game = game
        self._values = values
        self._config = config
        self._knobs = knobs_of(game, config)
        self._walk_all = game.kernel(
            walk_all, SUSPENDS=True, ask=ask_outside, own_score=answered_score, sweep=sweep_answers
        )
        self._clock = clock
        self._searches = 0
        self.evaluations = 0
        """Values asked for, ever."""
        self._make_room(1)

    def _make_room(self, slots: int) -> None:
        game, config = self._game, self._config
        self._frames = make_frames(game, config.depth + config.quiescence + 1, slots)
        self._tables = make_table(config.table_mb if config.prune else 0.0, slots)
        self._histories = np.zeros((slots, 2, game.num_actions), dtype=np.int64)
        self._standings = np.zeros((slots, 8), dtype=np.int64)
        self._lows = np.zeros(self._frames.states.shape[:2], dtype=np.int64)
        rows = slots * game.most_legal + 1  # one leaf that is over may stand behind the last row
        self._asked = Questions(
            np.zeros((rows, game.num_words), dtype=np.uint64), np.zeros(rows, dtype=np.int64)
        )

    def run(
        self, states: NDArray[np.uint64], fewer: int = 0, seconds: float | None = None
    ) -> list[Finding]:
        """Deepen ply by ply from every position, up to the depth or until the time is up.

        `fewer` plies less than the depth are searched; `seconds` a position, for all together,
        replace those of the settings.
        """
        count = len(states)
        slots = 1 << max(0, count - 1).bit_length()
        if slots != len(self._standings):  # also for fewer: they share the memory of all tables
            self._make_room(slots)
        seconds = self._config.seconds if seconds is None else seconds
        pace = Pace(self._clock, seconds * count)
        self._searches += 1
        self._knobs = self._knobs._replace(salt=new_salt(self._searches))
        self._histories[:] = 0
        self._frames.killers[:] = NO_MOVE
        self._frames.states[:count, 0] = states
        ways = [Deepening(self._config, fewer, linear_value) for _ in range(count)]
        running = np.zeros(len(self._standings), dtype=np.bool_)
        for slot in range(count):
            self._begin(slot, ways[slot], running)
        while running.any():
            before = running.copy()
            self._step(running)
            is_up = pace.is_up(1)
            for slot in np.flatnonzero(before).tolist():
                frames, standing = frames_of(self._frames, slot), self._standings[slot]
                if not running[slot]:
                    if ways[slot].take(frames, standing) and not is_up:
                        self._begin(slot, ways[slot], running)
                elif is_up:
                    running[slot] = not ways[slot].give_up(frames, standing)
        return [way.found for way in ways if way.found is not None]

    def _begin(self, slot: int, way: Deepening, running: NDArray[np.bool_]) -> None:
        set_root(frames_of(self._frames, slot), self._standings[slot], way.depth)
        running[slot] = True

    def _step(self, running: NDArray[np.bool_]) -> None:
        """Let the walks go on to their next questions, and answer them."""
        asked = self._asked
        rows = self._walk_all(
            self._frames, self._tables, self._histories, self._knobs, self._standings, self._lows,
            asked, running, WALK_NODES,
        )  # fmt: skip
        if rows:
            asked.scores[:rows] = score_of(self._values.values(asked.states[:rows]))
            self.evaluations += rows
