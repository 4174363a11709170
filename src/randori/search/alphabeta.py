"""Alpha-beta: full-width search to a depth, over an evaluation that costs next to nothing.

One kernel walks the tree with a stack of frames instead of recursion, so that it can stop after any
number of nodes and go on where it stood: that is how a clock ends it. Scores are for the side to
move; a win counts the more the sooner it comes. The table's keys cover the whole state, plies
included, and a remembered score counts only at the depth at which it was found: so pruning, order
and table change how many nodes are visited, and never the value.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from randori.games.captures import captures
from randori.games.game import Game
from randori.games.kernels import DRAW, ONGOING, U0, U1, State, mix, wide
from randori.games.rules import PASS_ACTION, STATE_WORDS, evaluate, legal, outcome, play

WIN = 1_000_000
"""The score of a won game, less its plies."""
INFINITE = 1 << 40
DECIDED = WIN - 200_000
"""Scores beyond this are wins and losses."""
UNIT = 400
"""A score that looks like a value of 0.76."""
MOST = 0.999
"""The value of what looks won but is not decided."""
REDUCTION = 2
"""Plies that a null move saves."""
BUDGET = 100_000
"""Nodes between two looks at the clock."""

COUNT, NEXT, ALPHA, BETA, BEST, CHOICE, DEPTH, PHASE = range(8)
"""Numbers of a frame: moves, the next one, the window, the best score and move, plies left."""
PLAIN, IN_NULL, AFTER_NULL = range(3)
"""Phases of a frame: its moves, its null move, its moves with no null move tried below."""
PLACE, RETURNING, SCORE, NODES = range(4)
"""Where a walk stands: its frame, whether it comes back with a score, which, and nodes visited."""
EXACT, AT_LEAST, AT_MOST = 1, 2, 3
NO_MOVE = -1


class Frames(NamedTuple):
    """A row a ply."""

    states: NDArray[np.uint64]
    actions: NDArray[np.int32]
    ranks: NDArray[np.int64]
    """[P, most_legal] moves with a larger rank are tried earlier"""
    numbers: NDArray[np.int64]
    lines: NDArray[np.int32]
    """[P, P] the moves expected from each frame on, NO_MOVE behind the last"""
    killers: NDArray[np.int32]
    """[P, 2] moves that last refuted something at this ply"""


class Table(NamedTuple):
    """Remembered scores, one place a key."""

    keys: NDArray[np.uint64]
    scores: NDArray[np.int64]
    actions: NDArray[np.int32]
    depths: NDArray[np.int16]
    kinds: NDArray[np.int8]


class Knobs(NamedTuple):
    """What a search may do to save nodes."""

    prune: bool
    ordering: bool
    null_move: bool
    quiescence: int
    salt: np.uint64
    """keeps what earlier searches left in the table apart"""


def key_of(state: State) -> np.uint64:
    """Hash a whole state."""
    key = U0
    for word in range(STATE_WORDS):
        key = mix(key, state[word])
    return key


def final_score(state: State, result: int) -> int:
    """Score a finished game for the side to move; sooner wins count more."""
    if result == DRAW:
        return 0
    first_moves = state[0] & U1 == U0
    score = WIN - wide(state[0])
    return score if (result == 1) == first_moves else -score


def recall(frames: Frames, table: Table, knobs: Knobs, ply: int) -> bool:
    """Use what the table knows: tell whether it settles the frame; else note its move."""
    numbers = frames.numbers[ply]
    key = key_of(frames.states[ply])
    place = wide(key & np.uint64(len(table.keys) - 1))
    if table.kinds[place] == 0 or table.keys[place] != key ^ knobs.salt:
        return False
    numbers[CHOICE] = table.actions[place]
    score, kind = table.scores[place], table.kinds[place]
    if table.depths[place] != numbers[DEPTH]:
        return False
    if (
        kind == EXACT
        or (kind == AT_LEAST and score >= numbers[BETA])
        or (kind == AT_MOST and score <= numbers[ALPHA])
    ):
        numbers[BEST] = score
        frames.lines[ply, 0] = table.actions[place]
        frames.lines[ply, 1] = NO_MOVE
        return True
    return False


def remember(frames: Frames, table: Table, knobs: Knobs, ply: int, low: int) -> None:
    """Write a frame's score into the table; `low` is its window's lower end at the beginning."""
    numbers = frames.numbers[ply]
    key = key_of(frames.states[ply])
    place = wide(key & np.uint64(len(table.keys) - 1))
    best = numbers[BEST]
    table.keys[place] = key ^ knobs.salt
    table.scores[place] = best
    table.actions[place] = numbers[CHOICE]
    table.depths[place] = numbers[DEPTH]
    table.kinds[place] = AT_LEAST if best >= numbers[BETA] else EXACT if best > low else AT_MOST


def open_frame(
    frames: Frames, table: Table, history: NDArray[np.int64], knobs: Knobs, ply: int
) -> bool:
    """Look at a new position: tell whether its score is known at once; else list its moves."""
    numbers, state = frames.numbers[ply], frames.states[ply]
    frames.lines[ply, 0] = NO_MOVE
    numbers[CHOICE] = NO_MOVE
    numbers[COUNT] = legal(state, frames.actions[ply])
    numbers[NEXT] = 0
    if numbers[COUNT] == 0:  # then, and only then, the game is over
        numbers[BEST] = final_score(state, outcome(state))
        return True
    numbers[BEST] = -INFINITE
    if numbers[DEPTH] <= 0:
        numbers[BEST] = evaluate(state)
        if numbers[DEPTH] <= -knobs.quiescence or numbers[BEST] >= numbers[BETA]:
            return True
        numbers[ALPHA] = max(numbers[ALPHA], numbers[BEST])
    elif len(table.keys) > 1 and recall(frames, table, knobs, ply):
        return True
    if knobs.ordering:
        side = wide(state[0] & U1)
        for i in range(numbers[COUNT]):
            action = frames.actions[ply, i]
            rank = history[side, action]
            if action == frames.killers[ply, 0] or action == frames.killers[ply, 1]:
                rank += 1 << 40
            if action == numbers[CHOICE]:
                rank += 1 << 50
            frames.ranks[ply, i] = rank
    numbers[CHOICE] = NO_MOVE
    return False


def pick(frames: Frames, knobs: Knobs, ply: int) -> int:
    """Take the frame's next move, the one with the largest rank of those left."""
    numbers = frames.numbers[ply]
    here = numbers[NEXT]
    if knobs.ordering:
        best = here
        for i in range(here + 1, numbers[COUNT]):
            if frames.ranks[ply, i] > frames.ranks[ply, best]:
                best = i
        action, rank = frames.actions[ply, best], frames.ranks[ply, best]
        for i in range(best, here, -1):  # the others keep their order
            frames.actions[ply, i] = frames.actions[ply, i - 1]
            frames.ranks[ply, i] = frames.ranks[ply, i - 1]
        frames.actions[ply, here] = action
        frames.ranks[ply, here] = rank
    numbers[NEXT] += 1
    return wide(frames.actions[ply, here])


def descend(frames: Frames, knobs: Knobs, ply: int, action: int) -> bool:
    """Make the next frame from a move; false for a quiet move that quiescence leaves out."""
    numbers, below = frames.numbers[ply], frames.numbers[ply + 1]
    for word in range(STATE_WORDS):
        frames.states[ply + 1, word] = frames.states[ply, word]
    play(frames.states[ply + 1], action)
    if numbers[DEPTH] <= 0 and captures(frames.states[ply], frames.states[ply + 1]) <= 0:
        return False
    below[DEPTH] = numbers[DEPTH] - 1
    below[PHASE] = PLAIN
    below[ALPHA] = -numbers[BETA] if knobs.prune else -INFINITE
    below[BETA] = -max(numbers[ALPHA], numbers[BEST]) if knobs.prune else INFINITE
    return True


def sweep(frames: Frames, history: NDArray[np.int64], knobs: Knobs, ply: int) -> int:
    """Try all moves of a frame above the leaves, without frames for those; return how many."""
    numbers, leaf = frames.numbers[ply], frames.states[ply + 1]
    frames.lines[ply + 1, 0] = NO_MOVE
    visited = 0
    while numbers[NEXT] < numbers[COUNT]:
        action = pick(frames, knobs, ply)
        for word in range(STATE_WORDS):
            leaf[word] = frames.states[ply, word]
        play(leaf, action)
        result = outcome(leaf)
        score = evaluate(leaf) if result == ONGOING else final_score(leaf, result)
        take(frames, history, knobs, ply, -score)
        visited += 1
    return visited


def may_skip(frames: Frames, knobs: Knobs, ply: int) -> bool:
    """Tell whether a null move is worth a try: not twice in a row, and only when all looks well."""
    numbers = frames.numbers[ply]
    if PASS_ACTION < 0 or not knobs.null_move or ply == 0 or numbers[PHASE] != PLAIN:
        return False
    if numbers[DEPTH] <= REDUCTION or abs(numbers[BETA]) >= DECIDED:
        return False
    return evaluate(frames.states[ply]) >= numbers[BETA]


def walk(
    frames: Frames,
    table: Table,
    history: NDArray[np.int64],
    knobs: Knobs,
    standing: NDArray[np.int64],
    lows: NDArray[np.int64],
    budget: int,
) -> bool:
    """Go on from where `standing` says, for at most `budget` nodes; tell whether it is done."""
    ply, returning, score = standing[PLACE], standing[RETURNING] != 0, standing[SCORE]
    visited = 0
    while visited < budget:
        numbers = frames.numbers[ply]
        if not returning:
            visited += 1
            lows[ply] = numbers[ALPHA]
            if open_frame(frames, table, history, knobs, ply):
                returning = True
                score = numbers[BEST]
                continue
            if numbers[DEPTH] == 1 and knobs.quiescence == 0:
                visited += sweep(frames, history, knobs, ply)
                returning = True
                score = numbers[BEST]
                if len(table.keys) > 1:
                    remember(frames, table, knobs, ply, lows[ply])
                continue
            if may_skip(frames, knobs, ply):
                numbers[PHASE] = IN_NULL
                descend(frames, knobs, ply, PASS_ACTION)
                below = frames.numbers[ply + 1]
                below[PHASE] = AFTER_NULL
                below[DEPTH] -= REDUCTION
                below[ALPHA], below[BETA] = -numbers[BETA], -numbers[BETA] + 1
                ply += 1
                continue
        else:
            if ply == 0:
                break
            ply -= 1
            returning = False
            numbers = frames.numbers[ply]
            if numbers[PHASE] == IN_NULL:
                numbers[PHASE] = AFTER_NULL
                if -score >= numbers[BETA]:
                    returning = True
                    score = numbers[BETA]
                    continue
            else:
                take(frames, history, knobs, ply, -score)
        is_below = False
        while numbers[NEXT] < numbers[COUNT] and not is_below:
            is_below = descend(frames, knobs, ply, pick(frames, knobs, ply))
        if is_below:
            ply += 1
        else:
            returning = True
            score = numbers[BEST]
            if len(table.keys) > 1 and numbers[DEPTH] > 0:
                remember(frames, table, knobs, ply, lows[ply])
    standing[PLACE], standing[RETURNING], standing[SCORE] = ply, returning, score
    standing[NODES] += visited
    return returning and ply == 0


def take(frames: Frames, history: NDArray[np.int64], knobs: Knobs, ply: int, score: int) -> None:
    """Take the score of the move just searched into its frame; a cut-off ends the frame."""
    numbers = frames.numbers[ply]
    if score <= numbers[BEST]:
        return
    action = frames.actions[ply, numbers[NEXT] - 1]
    numbers[BEST] = score
    numbers[CHOICE] = action
    frames.lines[ply, 0] = action
    for i in range(1, frames.lines.shape[1]):
        frames.lines[ply, i] = frames.lines[ply + 1, i - 1]
        if frames.lines[ply, i] == NO_MOVE:
            break
    if knobs.prune and score >= numbers[BETA]:
        numbers[NEXT] = numbers[COUNT]
        if numbers[DEPTH] > 0:
            side = wide(frames.states[ply, 0] & U1)
            history[side, action] += numbers[DEPTH] * numbers[DEPTH]
            if frames.killers[ply, 0] != action:
                frames.killers[ply, 1] = frames.killers[ply, 0]
                frames.killers[ply, 0] = action


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
    line: list[int]
    depth: int
    nodes: int
    """visited in the last iteration"""
    total_nodes: int

    @property
    def value(self) -> float:
        """The score between −1 and 1, for the side to move."""
        return value_of(self.score)


def value_of(score: int) -> float:
    """Squeeze a score into [−1, 1]; only a decided game is worth 1."""
    if abs(score) >= DECIDED:
        return math.copysign(1.0, score)
    return MOST * math.tanh(score / UNIT)


class AlphaBeta:
    """A search with its memory."""

    def __init__(self, game: Game, judge: Callable[[State], int], config: AlphaBetaConfig) -> None:
        if config.null_move and game.pass_action < 0:
            raise ValueError(f"{game.name} has no pass, so null_move cannot be")
        self._config = config
        self._walk = game.kernel(walk, evaluate=judge)
        self._frames = make_frames(game, config.depth + config.quiescence + 1)
        self._table = make_table(config.table_mb if config.prune else 0.0)
        self._history = np.zeros((2, game.num_actions), dtype=np.int64)
        self._knobs = Knobs(
            config.prune, config.prune and config.ordering, config.null_move, config.quiescence, U0
        )
        self._searches = 0

    def run(self, state: State, fewer: int = 0, seconds: float | None = None) -> Finding:
        """Deepen ply by ply up to the depth, or until the time is up.

        `fewer` plies less than the depth are searched; `seconds` replaces those of the settings.
        """
        seconds = self._config.seconds if seconds is None else seconds
        end = perf_counter() + seconds if seconds else math.inf
        self._searches += 1
        salt = np.uint64((self._searches * 0x9E3779B97F4A7C15) & (2**64 - 1))
        self._knobs = self._knobs._replace(salt=salt)
        self._history[:] = 0
        self._frames.killers[:] = NO_MOVE
        self._frames.states[0] = state
        last = self._config.depth - fewer
        first = min(1, last) if self._config.prune or self._config.seconds else last
        found, total = None, 0
        for depth in range(first, last + 1):
            deeper, nodes = self._search(depth, end if found is not None else math.inf)
            total += nodes
            if deeper is None:
                break
            found = Finding(deeper.score, deeper.line, depth, nodes, total)
            if abs(found.score) >= DECIDED or perf_counter() >= end:
                break
        assert found is not None
        return found

    def _search(self, depth: int, end: float) -> tuple[Finding | None, int]:
        """Search to one depth; nothing is found if the time is up before."""
        standing, lows = np.zeros(4, np.int64), np.zeros(len(self._frames.states), np.int64)
        numbers = self._frames.numbers[0]
        numbers[ALPHA], numbers[BETA], numbers[DEPTH] = -INFINITE, INFINITE, depth
        numbers[PHASE] = PLAIN
        while not self._walk(
            self._frames, self._table, self._history, self._knobs, standing, lows, BUDGET
        ):
            if perf_counter() >= end:
                return None, int(standing[NODES])
        line = self._frames.lines[0].tolist()
        nodes = int(standing[NODES])
        return Finding(
            int(standing[SCORE]), line[: line.index(NO_MOVE)], depth, nodes, nodes
        ), nodes


def make_frames(game: Game, plies: int) -> Frames:
    """Allocate a stack for searches of so many plies."""
    rows = plies + 1
    return Frames(
        np.zeros((rows, game.num_words), dtype=np.uint64),
        np.zeros((rows, game.most_legal), dtype=np.int32),
        np.zeros((rows, game.most_legal), dtype=np.int64),
        np.zeros((rows, 8), dtype=np.int64),
        np.full((rows, rows + 1), NO_MOVE, dtype=np.int32),
        np.full((rows, 2), NO_MOVE, dtype=np.int32),
    )


def make_table(megabytes: float) -> Table:
    """Allocate as many places as fit, a power of two; one place stands for no table."""
    bytes_a_place = 8 + 8 + 4 + 2 + 1
    fit = int(megabytes * 2**20) // bytes_a_place
    places = 1 << max(0, fit.bit_length() - 1)
    kinds: tuple[Any, ...] = (np.uint64, np.int64, np.int32, np.int16, np.int8)
    return Table(*(np.zeros(places, dtype=kind) for kind in kinds))
