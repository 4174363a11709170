"""The walk of alpha-beta: one kernel over a stack of frames, a template for every game.

It walks the tree without recursion, so that it can stop after any number of nodes and go on where
it stood: that is how a clock ends it, and how values that come from outside are waited for. Scores
are for the side to move; a win counts the more the sooner it comes. The table's keys cover the
whole state, plies included, and a remembered score counts only at the depth at which it was found:
so pruning, order and table change how many nodes are visited, and never the value.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from randori.games.captures import captures
from randori.games.game import Game
from randori.games.kernels import DRAW, ONGOING, U0, U1, State, wide
from randori.games.rules import PASS_ACTION, STATE_WORDS, evaluate, key_behind, legal, outcome, play

WIN = 1_000_000
"""The score of a won game, less its plies."""
INFINITE = 1 << 40
DECIDED = WIN - 200_000
"""Scores beyond this are wins and losses."""
REDUCTION = 2
"""Plies that a null move saves."""
SUSPENDS = False
"""A hole: whether values come from outside, so that a walk stops to ask for them."""

COUNT, NEXT, ALPHA, BETA, BEST, CHOICE, DEPTH, PHASE = range(8)
"""Numbers of a frame: moves, the next one, the window, the best score and move, plies left."""
PLAIN, IN_NULL, AFTER_NULL = range(3)
"""Phases of a frame: its moves, its null move, its moves with no null move tried below."""
PLACE, RETURNING, SCORE, NODES, ASKED, ROW, NEXT_ROW = range(7)
"""Where a walk stands: its frame, whether it comes back with a score, which, and nodes visited; how
many values it waits for, the row of the first, and the row for the next question."""
NUMBERS = 8
Standing = NDArray[np.int64]
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


class Questions(NamedTuple):
    """What walks that suspend ask for; the others never look at it."""

    states: NDArray[np.uint64]
    """[R, S] positions"""
    scores: NDArray[np.int64]
    """[R] what they are worth, for the side to move"""


def key_of(state: State) -> np.uint64:
    """Hash a whole state."""
    return key_behind(state[0], state)


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


def open_frame(frames: Frames, table: Table, knobs: Knobs, ply: int) -> bool:
    """Look at a new position and list its moves: tell whether its score is known at once."""
    numbers, state = frames.numbers[ply], frames.states[ply]
    frames.lines[ply, 0] = NO_MOVE
    numbers[CHOICE] = NO_MOVE
    numbers[COUNT] = legal(state, frames.actions[ply])
    numbers[NEXT] = 0
    if numbers[COUNT] == 0:  # then, and only then, the game is over
        numbers[BEST] = final_score(state, outcome(state))
        return True
    numbers[BEST] = -INFINITE
    return numbers[DEPTH] > 0 and len(table.keys) > 1 and recall(frames, table, knobs, ply)


def own_score(frames: Frames, ply: int, standing: Standing, asked: Questions) -> int:
    """Score the position of a frame as it stands: a hole, for walks that suspend."""
    return evaluate(frames.states[ply])


def stand_pat(frames: Frames, knobs: Knobs, ply: int, standing: Standing, asked: Questions) -> bool:
    """Let the mover of a frame behind the horizon take nothing; tell whether that is the end."""
    numbers = frames.numbers[ply]
    numbers[BEST] = own_score(frames, ply, standing, asked)
    if numbers[DEPTH] <= -knobs.quiescence or numbers[BEST] >= numbers[BETA]:
        return True
    numbers[ALPHA] = max(numbers[ALPHA], numbers[BEST])
    return False


def rank_moves(frames: Frames, history: NDArray[np.int64], ply: int) -> None:
    """Rank the moves of a frame: the table's first, then refutations, then what cut before."""
    numbers = frames.numbers[ply]
    side = wide(frames.states[ply, 0] & U1)
    for i in range(numbers[COUNT]):
        action = frames.actions[ply, i]
        rank = history[side, action]
        if action == frames.killers[ply, 0] or action == frames.killers[ply, 1]:
            rank += 1 << 40
        if action == numbers[CHOICE]:
            rank += 1 << 50
        frames.ranks[ply, i] = rank


def bring_forward(
    actions: NDArray[np.int32], ranks: NDArray[np.int64], here: int, end: int
) -> None:
    """Put the move with the largest rank of those left at `here`; the others keep their order."""
    best = here
    for i in range(here + 1, end):
        if ranks[i] > ranks[best]:
            best = i
    action, rank = actions[best], ranks[best]
    for i in range(best, here, -1):
        actions[i] = actions[i - 1]
        ranks[i] = ranks[i - 1]
    actions[here] = action
    ranks[here] = rank


def pick(frames: Frames, knobs: Knobs, ply: int) -> int:
    """Take the frame's next move, the one with the largest rank of those left if they have any."""
    numbers, actions = frames.numbers[ply], frames.actions[ply]
    here = numbers[NEXT]
    if knobs.ordering:
        bring_forward(actions, frames.ranks[ply], here, numbers[COUNT])
    numbers[NEXT] = here + 1
    return wide(actions[here])


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


def sweep(
    frames: Frames, history: NDArray[np.int64], knobs: Knobs, ply: int, standing: Standing,
    asked: Questions,
) -> int:  # fmt: skip
    """Try all moves of a frame above the leaves, without frames for those; return how many.

    A hole, for walks that suspend.
    """
    numbers, leaf, here = frames.numbers[ply], frames.states[ply + 1], frames.states[ply]
    actions = frames.actions[ply]
    best, limit, count = numbers[BEST], numbers[BETA] if knobs.prune else INFINITE, numbers[COUNT]
    choice = NO_MOVE
    visited = 0
    while visited < count and best < limit:
        if knobs.ordering:
            bring_forward(actions, frames.ranks[ply], visited, count)
        action = wide(actions[visited])
        for word in range(STATE_WORDS):
            leaf[word] = here[word]
        play(leaf, action)
        result = outcome(leaf)
        score = -evaluate(leaf) if result == ONGOING else -final_score(leaf, result)
        visited += 1
        if score > best:
            best = score
            choice = action
    numbers[NEXT] = count
    numbers[BEST] = best
    if choice != NO_MOVE:
        numbers[CHOICE] = choice
        frames.lines[ply, 0] = choice
        frames.lines[ply, 1] = NO_MOVE
        if best >= limit:
            note_cut(frames, history, ply, choice)
    return visited


def may_skip(frames: Frames, knobs: Knobs, ply: int) -> bool:
    """Tell whether a null move is worth a thought: not twice in a row, and with plies to save."""
    numbers = frames.numbers[ply]
    if PASS_ACTION < 0 or not knobs.null_move or ply == 0 or numbers[PHASE] != PLAIN:
        return False
    return numbers[DEPTH] > REDUCTION and abs(numbers[BETA]) < DECIDED


def ask(frames: Frames, knobs: Knobs, ply: int, standing: Standing, asked: Questions) -> int:
    """Write down the positions whose values this frame needs; return how many: a hole."""
    return 0


def walk(
    frames: Frames,
    table: Table,
    history: NDArray[np.int64],
    knobs: Knobs,
    standing: Standing,
    lows: NDArray[np.int64],
    asked: Questions,
    budget: int,
) -> bool:
    """Go on from where `standing` says, for at most `budget` nodes; tell whether it is done."""
    ply, returning, score = standing[PLACE], standing[RETURNING] != 0, standing[SCORE]
    visited = 0
    while visited < budget:
        numbers = frames.numbers[ply]
        if not returning:
            if not SUSPENDS or standing[ASKED] == 0:
                visited += 1
                lows[ply] = numbers[ALPHA]
                if open_frame(frames, table, knobs, ply):
                    returning = True
                    score = numbers[BEST]
                    continue
            if SUSPENDS:
                is_answered = standing[ASKED] > 0
                standing[ASKED] = 0 if is_answered else ask(frames, knobs, ply, standing, asked)
                if standing[ASKED] > 0:
                    break
            if numbers[DEPTH] <= 0 and stand_pat(frames, knobs, ply, standing, asked):
                returning = True
                score = numbers[BEST]
                continue
            if knobs.ordering:
                rank_moves(frames, history, ply)
            numbers[CHOICE] = NO_MOVE
            if numbers[DEPTH] == 1 and knobs.quiescence == 0:
                visited += sweep(frames, history, knobs, ply, standing, asked)
                returning = True
                score = numbers[BEST]
                if len(table.keys) > 1:
                    remember(frames, table, knobs, ply, lows[ply])
                continue
            if (
                may_skip(frames, knobs, ply)
                and own_score(frames, ply, standing, asked) >= numbers[BETA]
            ):
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
    if score > numbers[ALPHA]:  # nobody will ask for the line of a move that is too weak
        frames.lines[ply, 0] = action
        for i in range(1, frames.lines.shape[1]):
            frames.lines[ply, i] = frames.lines[ply + 1, i - 1]
            if frames.lines[ply, i] == NO_MOVE:
                break
    if knobs.prune and score >= numbers[BETA]:
        numbers[NEXT] = numbers[COUNT]
        if numbers[DEPTH] > 0:
            note_cut(frames, history, ply, action)


def note_cut(frames: Frames, history: NDArray[np.int64], ply: int, action: int) -> None:
    """Remember that a move was good enough to end its frame, so that it is tried early."""
    side, depth = wide(frames.states[ply, 0] & U1), frames.numbers[ply, DEPTH]
    history[side, action] += depth * depth
    if frames.killers[ply, 0] != action:
        frames.killers[ply, 1] = frames.killers[ply, 0]
        frames.killers[ply, 0] = action


def make_frames(game: Game, plies: int, slots: int = 1) -> Frames:
    """Allocate stacks for so many searches of so many plies; `frames_of` takes one."""
    rows = plies + 1
    return Frames(
        np.zeros((slots, rows, game.num_words), dtype=np.uint64),
        np.zeros((slots, rows, game.most_legal), dtype=np.int32),
        np.zeros((slots, rows, game.most_legal), dtype=np.int64),
        np.zeros((slots, rows, NUMBERS), dtype=np.int64),
        np.full((slots, rows, rows + 1), NO_MOVE, dtype=np.int32),
        np.full((slots, rows, 2), NO_MOVE, dtype=np.int32),
    )


def frames_of(all_frames: Frames, slot: int) -> Frames:
    """Take the stack of one search."""
    return Frames(
        all_frames.states[slot],
        all_frames.actions[slot],
        all_frames.ranks[slot],
        all_frames.numbers[slot],
        all_frames.lines[slot],
        all_frames.killers[slot],
    )


def make_table(megabytes: float, slots: int = 1) -> Table:
    """Allocate as many places as fit, a power of two a search; one place stands for no table."""
    bytes_a_place = 8 + 8 + 4 + 2 + 1
    fit = int(megabytes * 2**20) // (bytes_a_place * slots)
    places = 1 << max(0, fit.bit_length() - 1)
    kinds: tuple[Any, ...] = (np.uint64, np.int64, np.int32, np.int16, np.int8)
    return Table(*(np.zeros((slots, places), dtype=kind) for kind in kinds))


def table_of(tables: Table, slot: int) -> Table:
    """Take the table of one search."""
    return Table(
        tables.keys[slot],
        tables.scores[slot],
        tables.actions[slot],
        tables.depths[slot],
        tables.kinds[slot],
    )


def set_root(frames: Frames, standing: Standing, depth: int) -> None:
    """Begin a search to a depth from the position in frame 0."""
    numbers = frames.numbers[0]
    numbers[ALPHA], numbers[BETA], numbers[DEPTH] = -INFINITE, INFINITE, depth
    numbers[BEST], numbers[CHOICE], numbers[PHASE] = -INFINITE, NO_MOVE, PLAIN
    standing[:] = 0
