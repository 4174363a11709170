"""Go by Tromp-Taylor rules: area scoring, no position twice, two passes end the game.

  A  B  C  D  E                       A point is bit row * (size + 1) + column, row 0 at the top,
5 0  1  2  3  4 | 5                   in as many words as it takes: the column behind the last is
4 6  7  8  9 10 | 11                  always empty, so that no shift joins two rows. An action is
3 ..                                  row * size + column, as everywhere; the last one is the pass.
2                                     Black (x) moves first.
1
"""

from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from randori.games.game import Game
from randori.games.kernels import (
    DRAW,
    FIRST,
    ONGOING,
    SECOND,
    U0,
    U1,
    Actions,
    Bindings,
    State,
    bit,
    has,
    lowest,
    mix,
    popcount,
    scratch,
    specialise,
    wide,
    without_lowest,
)
from randori.games.look import Look, Stone
from randori.games.rules import Rules
from randori.games.symmetry import SQUARE, cell_symmetries

SIZE, STRIDE, POINTS, WORDS = 9, 10, 81, 2
PLANE_WORDS = 2
CAP = 162
"""Plies after which the board is scored as it stands."""
TWICE_KOMI = 15
"""What White gets on top, doubled: it may be half a point."""
SUICIDE = True
"""Whether a move may take its own chain of two or more; one stone would repeat the position."""
SUPERKO = True
"""Whether no earlier position may come back, not just the last but one."""
SPARED, SPARED_IF_SAFE = 1, 2
EYES = 0
"""Whether a side must not fill its own one-point eyes: never, all of them, or only those with too
few stones of the opponent at the corners to be false."""
FULL = np.zeros(2, dtype=np.uint64)
"""[words] all points"""
MARKS = np.zeros((2, 90), dtype=np.uint64)
"""[2, bits] what a stone adds to the key of a position; up to 5×5 keys are positions written out,
beyond that two positions share one of 2**64 keys by accident only."""
TURN = np.uint64(0)
"""What the side to move adds to the key, where positions differ by it (situational superko)."""
PLY, PASSES, KEY, STONES = range(4)
LOST, OPEN, HISTORY = 7, 11, 13
"""Words of a state: passes in a row, key of the position; then boards: black and white stones,
where stones of either side were ever taken, where the mover may play; then the keys of all
positions before this one, or of the last if only that one counts."""


def near(board: NDArray[np.uint64], at: int, word: int) -> np.uint64:
    """One word of the points next to those of a board that begins at ``board[at]``."""
    here = board[at + word]
    found = here << U1 | here >> U1 | here << np.uint64(STRIDE) | here >> np.uint64(STRIDE)
    if word > 0:
        before = board[at + word - 1]
        found |= before >> np.uint64(63) | before >> np.uint64(64 - STRIDE)
    if word + 1 < WORDS:
        after = board[at + word + 1]
        found |= after << np.uint64(63) | after << np.uint64(64 - STRIDE)
    return found & FULL[word]


def touches(
    chain: NDArray[np.uint64], stones: NDArray[np.uint64], at: int, goal: NDArray[np.uint64]
) -> bool:
    """Grow `chain` along the stones at ``stones[at]`` until it touches `goal`, or is whole."""
    while True:
        grown, touched = U0, U0
        for word in range(WORDS):
            around = near(chain, 0, word)
            touched |= around & goal[word]
            more = around & stones[at + word] & ~chain[word]
            chain[word] |= more
            grown |= more
        if touched != U0:
            return True
        if grown == U0:
            return False


def key_of(board: NDArray[np.uint64], side: int) -> np.uint64:
    """What the stones of one side add to the key of a position."""
    key = U0
    for word in range(WORDS):
        left = board[word]
        while left != U0:
            key ^= MARKS[side, 64 * word + lowest(left)]
            left = without_lowest(left)
    return key


def capture(
    state: State, side: int, point: int, room: NDArray[np.uint64], taken: NDArray[np.uint64]
) -> bool:
    """Add to `taken` the chains that lose their last liberty to a stone of `side` on `point`.

    `room` is what is empty afterwards. The answer is whether there are any.
    """
    at = STONES + (1 - side) * WORDS
    stone = scratch(WORDS)
    stone[point >> 6] = bit(point & 63)
    found = False
    for word in range(WORDS):
        seeds = near(stone, 0, word) & state[at + word]
        while seeds != U0:
            chain = scratch(WORDS)
            chain[word] = bit(lowest(seeds))
            if not touches(chain, state, at, room):
                found = True
                for other in range(WORDS):
                    taken[other] |= chain[other]
            seeds &= ~chain[word]
    return found


def repeats(state: State, key: np.uint64) -> bool:
    """Tell whether the position with this key, after the move to come, was there before."""
    if not SUPERKO:
        return bool(state[PLY] > U0 and state[HISTORY] == key)
    found = False
    for ply in range(wide(state[PLY])):
        found |= state[HISTORY + ply] == key  # without a way out, so that it is vectorised
    return found


def is_eye(state: State, side: int, point: int) -> bool:
    """Tell whether an empty point surrounded by `side` counts as its eye."""
    if EYES != SPARED_IF_SAFE:
        return True
    row, column = point // STRIDE, point % STRIDE
    corners, hostile = 0, 0
    at = STONES + (1 - side) * WORDS
    for down in (-1, 1):
        for right in (-1, 1):
            r, c = row + down, column + right
            if 0 <= r < SIZE and 0 <= c < SIZE:
                corners += 1
                corner = r * STRIDE + c
                hostile += has(state[at + (corner >> 6)], corner & 63)
    return hostile <= (1 if corners == 4 else 0)


def may_play(
    state: State, side: int, point: int, empty: NDArray[np.uint64], was_lost: bool
) -> bool:
    """Tell whether a stone on an empty point neither kills itself unlawfully nor repeats.

    A stone that stays can repeat a position only where its side has lost one before.
    """
    room, taken, chain = scratch(WORDS), scratch(WORDS), scratch(WORDS)
    for word in range(WORDS):
        room[word] = empty[word]
    room[point >> 6] &= ~bit(point & 63)
    chain[point >> 6] = bit(point & 63)
    lives = touches(chain, state, STONES + side * WORDS, room)
    if lives and not was_lost:
        return True
    key = state[KEY] ^ TURN
    if capture(state, side, point, room, taken):
        return not (was_lost and repeats(state, key ^ MARKS[side, point] ^ key_of(taken, 1 - side)))
    if lives:
        return not repeats(state, key ^ MARKS[side, point])
    stones = 0
    for word in range(WORDS):
        stones += popcount(chain[word])
    if not SUICIDE or stones == 1:
        return False
    return not repeats(state, key ^ key_of(chain, side) ^ MARKS[side, point])


def find_open(state: State) -> None:
    """Write where the side to move may play; most points are settled a word at a time."""
    side = wide(state[PLY] & U1)
    mine, theirs = STONES + side * WORDS, STONES + (1 - side) * WORDS
    empty = scratch(WORDS)
    for word in range(WORDS):
        empty[word] = FULL[word] & ~(state[mine + word] | state[theirs + word])
    for word in range(WORDS):
        breathes = near(empty, 0, word)
        lost = state[LOST + side * WORDS + word]
        found = empty[word] & breathes & ~lost
        doubtful = empty[word] & ~found
        while doubtful != U0:
            index = lowest(doubtful)
            doubtful = without_lowest(doubtful)
            point = 64 * word + index
            is_mine = not has(breathes | near(state, theirs, word), index)
            if EYES != 0 and is_mine and is_eye(state, side, point):
                continue
            if may_play(state, side, point, empty, has(lost, index)):
                found |= bit(index)
        state[OPEN + word] = found


def start(state: State) -> None:
    """Empty the board."""
    state[:] = 0
    for word in range(WORDS):
        state[OPEN + word] = FULL[word]


def is_over(state: State) -> bool:
    """Tell whether both have passed, or the game has gone on for too long."""
    return bool(state[PASSES] >= np.uint64(2) or state[PLY] >= np.uint64(CAP))


def may_end(state: State) -> bool:
    """Only a pass after a pass ends a game, or the cap."""
    return bool(state[PASSES] > U0 or state[PLY] + U1 >= np.uint64(CAP))


def spread(state: State, side: int, reach: NDArray[np.uint64]) -> None:
    """Write a side's stones and all empty points that they reach."""
    free, nothing = scratch(WORDS), scratch(WORDS)
    for word in range(WORDS):
        theirs = state[STONES + (1 - side) * WORDS + word]
        reach[word] = state[STONES + side * WORDS + word]
        free[word] = FULL[word] & ~theirs
    touches(reach, free, 0, nothing)


def score(state: State) -> int:
    """Count Black's area less White's: stones, and empty points that reach one colour only."""
    lead = 0
    reach = scratch(WORDS)
    for side in range(2):
        spread(state, side, reach)
        for word in range(WORDS):
            lead += (1 - 2 * side) * popcount(reach[word])
    return lead


def owners(state: State, words: NDArray[np.uint64]) -> None:
    """Give every point to the side whose area it is in; neutral points to nobody."""
    side = wide(state[PLY] & U1)
    mine, theirs = scratch(WORDS), scratch(WORDS)
    spread(state, side, mine)
    spread(state, 1 - side, theirs)
    for word in range(WORDS):
        both = mine[word] & theirs[word]
        mine[word] ^= both
        theirs[word] ^= both
    words[:] = 0
    pack(mine, 0, words, 0)
    pack(theirs, 0, words, 1)


def outcome(state: State) -> int:
    """Larger area wins, komi included."""
    if not is_over(state):
        return ONGOING
    lead = 2 * score(state) - TWICE_KOMI
    if lead == 0:
        return DRAW
    return FIRST if lead > 0 else SECOND


def liberties(state: State) -> int:
    """Compare the mean number of liberties of a side's chains, as paper B's opponent does."""
    mover = wide(state[PLY] & U1)
    lead = 0
    empty, left, chain, reach = scratch(WORDS), scratch(WORDS), scratch(WORDS), scratch(WORDS)
    for word in range(WORDS):
        empty[word] = FULL[word] & ~(state[STONES + word] | state[STONES + WORDS + word])
    for side in range(2):
        at = STONES + side * WORDS
        chains, total = 0, 0
        for word in range(WORDS):
            left[word] = state[at + word]
        for word in range(WORDS):
            while left[word] != U0:
                for other in range(WORDS):
                    chain[other] = U0
                    reach[other] = U0
                chain[word] = bit(lowest(left[word]))
                touches(chain, state, at, reach)  # nothing to touch: it grows to the whole chain
                for other in range(WORDS):
                    left[other] &= ~chain[other]
                    total += popcount(near(chain, 0, other) & empty[other])
                chains += 1
        mean = 100 * total // chains if chains else 0
        lead += mean if side == mover else -mean
    return lead


def area(state: State) -> int:
    """Count the area as if the game were over, komi included."""
    lead = 100 * score(state) - 50 * TWICE_KOMI
    return lead if state[PLY] & U1 == U0 else -lead


def legal(state: State, actions: Actions) -> int:
    """Every open point, row by row, then the pass."""
    if is_over(state):
        return 0
    count = 0
    for word in range(WORDS):
        left = state[OPEN + word]
        while left != U0:
            point = 64 * word + lowest(left)
            actions[count] = point - point // STRIDE
            left = without_lowest(left)
            count += 1
    actions[count] = POINTS
    return count + 1


def num_legal(state: State, actions: Actions) -> int:
    """Count the open points and the pass."""
    if is_over(state):
        return 0
    count = 1
    for word in range(WORDS):
        count += popcount(state[OPEN + word])
    return count


def play(state: State, action: int) -> None:
    """Set a stone and take what has no liberty, the opponent's first; or pass."""
    side = wide(state[PLY] & U1)
    state[HISTORY + (wide(state[PLY]) if SUPERKO else 0)] = state[KEY]
    if action == POINTS:
        state[PASSES] += U1
    else:
        state[PASSES] = U0
        place(state, side, action + action // SIZE)
    state[KEY] ^= TURN
    state[PLY] += U1
    find_open(state)


def place(state: State, side: int, point: int) -> None:
    """Set a stone and take what has no liberty, the opponent's first."""
    mine = STONES + side * WORDS
    state[mine + (point >> 6)] |= bit(point & 63)
    state[KEY] ^= MARKS[side, point]
    room, taken = scratch(WORDS), scratch(WORDS)
    for word in range(WORDS):
        room[word] = FULL[word] & ~(state[STONES + word] | state[STONES + WORDS + word])
    loser = 1 - side
    if not capture(state, side, point, room, taken):
        taken[point >> 6] = bit(point & 63)
        if touches(taken, state, mine, room):
            return
        loser = side
    state[KEY] ^= key_of(taken, loser)
    for word in range(WORDS):
        state[STONES + loser * WORDS + word] &= ~taken[word]
        state[LOST + loser * WORDS + word] |= taken[word]


def pack(board: NDArray[np.uint64], at: int, words: NDArray[np.uint64], plane: int) -> None:
    """Write a board as a plane, without the empty column."""
    for row in range(SIZE):
        low, shift = (row * STRIDE) >> 6, np.uint64((row * STRIDE) & 63)
        line = board[at + low] >> shift
        if shift > np.uint64(64 - SIZE):
            line |= board[at + low + 1] << (np.uint64(64) - shift)
        line &= np.uint64((1 << SIZE) - 1)
        low, shift = (row * SIZE) >> 6, np.uint64((row * SIZE) & 63)
        words[plane * PLANE_WORDS + low] |= line << shift
        if shift > np.uint64(64 - SIZE):
            words[plane * PLANE_WORDS + low + 1] |= line >> (np.uint64(64) - shift)


def planes(state: State, words: NDArray[np.uint64]) -> None:
    """My stones, theirs, where I must not play, whether they passed, whether I am Black."""
    side = wide(state[PLY] & U1)
    words[:] = 0
    closed = scratch(WORDS)
    for word in range(WORDS):
        stones = state[STONES + word] | state[STONES + WORDS + word]
        closed[word] = FULL[word] & ~(stones | state[OPEN + word])
    pack(state, STONES + side * WORDS, words, 0)
    pack(state, STONES + (1 - side) * WORDS, words, 1)
    pack(closed, 0, words, 2)
    if state[PASSES] > U0:
        pack(FULL, 0, words, 3)
    if side == 0:
        pack(FULL, 0, words, 4)


KOMI = {2: 0.5, 3: 0.5, 4: 0.5, 5: 0.5, 7: 9.0}
"""By size, where it is not 7.5: Black wins 5×5 by the whole board, and 7×7 by 9."""
UNKNOWN = bit(62)
"""A key in the history that no position has; up to 5×5 by its making, else all but surely."""
COLUMNS = "ABCDEFGHJKLMNOPQRST"

SLATE = Stone("#24272b", "#0c0d0f", "#8d96a3", "#f7f4ec")
SHELL = Stone("#f8f6f0", "#8e897c", "#ffffff", "#24272b")
KAYA = Look(
    board=("#e3b667",), edge="#b98a3e", grid="#4a3512", grain="#b07f30", legal="#5f7f3a",
    stones=(SLATE, SHELL), radius=23, on_lines=True,
)  # fmt: skip


def star_points(size: int) -> tuple[tuple[int, int], ...]:
    """Dot the crossings that players count from: corners, middle, and sides where there is room."""
    if size < 5:
        return ()
    if size < 7:
        return ((size // 2, size // 2),) if size % 2 else ()
    edge = 2 if size < 12 else 3
    lines = [edge, size - 1 - edge]
    middle = [size // 2] * (size % 2)
    corners = [(row, column) for row in lines for column in lines]
    sides = [(row, column) for row in lines for column in middle] if size > 14 else []
    sides += [(column, row) for row, column in sides]
    return (*corners, *sides, *((row, row) for row in middle))


def game(
    size: int = 9,
    komi: float | None = None,
    ko: Literal["positional", "situational", "simple"] = "positional",
    suicide: bool = True,
    eyes: Literal["fill", "spare", "spare-safe"] = "fill",
    cap: int | None = None,
) -> Game:
    """Go on a board of 2 to 19; `cap` is 2 * size * size plies, `komi` goes by the size."""
    if not 2 <= size <= 19:
        raise ValueError(f"size goes from 2 to 19, not {size}")
    komi = KOMI.get(size, 7.5) if komi is None else komi
    if not abs(komi) <= 1000 or 2 * komi != int(2 * komi):
        raise ValueError(f"komi is a multiple of 0.5 up to 1000, not {komi:g}")
    cap = 2 * size * size if cap is None else cap
    most = max(1000, 8 * size * size)
    if not 1 <= cap <= most:  # a state carries a word for each ply
        raise ValueError(f"cap goes from 1 to {most} plies, not {cap}")
    constants = _constants(size) | {
        "CAP": cap,
        "TWICE_KOMI": int(2 * komi),
        "SUICIDE": suicide,
        "SUPERKO": ko != "simple",
        "EYES": ("fill", "spare", "spare-safe").index(eyes),
        "TURN": bit(63) if ko == "situational" else U0,
    }
    texts = Texts(size, constants)
    return Game(
        name="go",
        title="Go",
        rules=Rules(start, legal, play, outcome, planes, num_legal, owners, may_end=may_end),
        constants=constants,
        evaluations={"liberties": liberties, "area": area},
        has_threats=False,
        can_repeat=ko == "simple",
        pass_action=size * size,
        num_actions=size * size + 1,
        num_words=constants["HISTORY"] + (cap if ko != "simple" else 1),
        num_planes=5, shape=(size, size),
        longest=cap,
        symmetries=cell_symmetries(SQUARE, (size, size), 5, size * size + 1),
        sides="bw", columns=COLUMNS, rows_up=True,
        look=replace(KAYA, points=star_points(size)),
        details=texts.details, explain=texts.explain,
        set_up=texts.set_up,
        margin=texts.margin,
    )  # fmt: skip


def _constants(size: int) -> dict[str, Any]:
    """Work out what depends on the size alone."""
    stride, bits = size + 1, size * (size + 1)
    words = -(-bits // 64)
    full = sum(1 << row * stride + column for row in range(size) for column in range(size))
    if size <= 5:
        marks = [[1 << side * bits + point for point in range(bits)] for side in range(2)]
    else:
        with np.errstate(over="ignore"):
            marks = [[int(mix(U1, np.uint64(2 * point + side))) for point in range(bits)]
                     for side in range(2)]  # fmt: skip
    return {
        "SIZE": size, "STRIDE": stride, "POINTS": size * size, "WORDS": words,
        "PLANE_WORDS": -(-size * size // 64),
        "FULL": np.array([full >> 64 * word & (1 << 64) - 1 for word in range(words)], np.uint64),
        "MARKS": np.array(marks, dtype=np.uint64),
        "LOST": STONES + 2 * words, "OPEN": STONES + 4 * words, "HISTORY": STONES + 5 * words,
    }  # fmt: skip


class Texts:
    """What people read and write about positions of one size: passes, and points barred by ko."""

    def __init__(self, size: int, constants: dict[str, Any]) -> None:
        bindings = Bindings("go", globals(), constants)
        self._size = size
        self._constants = constants
        self._find_open = specialise(find_open, bindings, compiled=False)
        self._place = specialise(place, bindings, compiled=False)
        self._score = specialise(score, bindings, compiled=False)
        self._touches = specialise(touches, bindings, compiled=False)

    def details(self, state: State) -> str:
        """Write ``pass`` for each pass before, and the points that are closed by ko alone."""
        free = self._without_ko(state)
        barred = [
            self._vertex(point)
            for point in range(self._size * (self._size + 1))
            if self._has(free, "OPEN", point) and not self._has(state, "OPEN", point)
        ]
        ko = ["ko", ",".join(barred)] if barred else []
        return " ".join(["pass"] * int(state[PASSES]) + ko)

    def explain(self, state: State, move: str) -> str:
        """Say whether a point is taken, barred by ko, or suicide."""
        try:
            point = self._point(move)
        except ValueError:
            return ""
        if any(self._has(state, board, point) for board in ("BLACK", "WHITE")):
            return f"{self._vertex(point)} is taken"
        if self._has(self._without_ko(state), "OPEN", point):
            return "ko: the board was like this before"
        return "its own eye" if self._constants["EYES"] else "suicide"

    def margin(self, state: State) -> float:
        """Count by how much Black is ahead, komi included."""
        return float(self._score(state)) - float(self._constants["TWICE_KOMI"]) / 2

    def set_up(self, cells: str, side: int, details: str) -> State:
        """Place stones, all of them with a liberty; then passes and barred points."""
        c = self._constants
        passes, barred = self._read(details)
        state = np.zeros(c["HISTORY"] + (c["CAP"] if c["SUPERKO"] else 1), dtype=np.uint64)
        state[c["HISTORY"] :] = UNKNOWN
        while int(state[PLY]) < max(passes, len(barred)) or int(state[PLY]) & 1 != side:
            state[PLY] += U1
        if int(state[PLY]) > c["CAP"]:
            raise ValueError(f"this takes more than the {c['CAP']} plies of the cap")
        state[PASSES] = passes
        state[KEY] = c["TURN"] if side else U0
        state[c["LOST"] : c["OPEN"]] = np.tile(c["FULL"], 2)  # any stone may have been taken
        for cell, glyph in enumerate(cells):
            if glyph != ".":
                point, owner = cell + cell // self._size, "xo".index(glyph)
                state[STONES + owner * c["WORDS"] + (point >> 6)] |= bit(point & 63)
                state[KEY] ^= c["MARKS"][owner, point]
        self._expect_liberties(state)
        self._find_open(state)
        for number, point in enumerate(barred):
            if not self._has(state, "OPEN", point):
                raise ValueError(f"ko {self._vertex(point)}: nobody could play there anyway")
            after = state.copy()
            self._place(after, side, point)
            state[c["HISTORY"] + number] = after[KEY] ^ c["TURN"]
        self._find_open(state)
        return state

    def _without_ko(self, state: State) -> State:
        """Return the position as it were without a past."""
        free = state.copy()
        free[self._constants["HISTORY"] :] = UNKNOWN
        self._find_open(free)
        return free

    def _read(self, details: str) -> tuple[int, list[int]]:
        """Split ``pass pass ko C3,D4`` into the number of passes and the points."""
        words = details.split()
        passes = 0
        while passes < len(words) and words[passes].casefold() == "pass":
            passes += 1
        rest = words[passes:]
        if passes > 2:
            raise ValueError(f"{passes} passes in a row; two end the game")
        if not rest:
            return passes, []
        if rest[0].casefold() != "ko" or len(rest) != 2:
            expected = "expected pass, pass pass or ko C3,D4 behind the side to move"
            raise ValueError(f"{expected}, found {' '.join(rest)!r}")
        barred = [self._point(word) for word in rest[1].split(",")]
        if len(barred) > 1 and not self._constants["SUPERKO"]:
            raise ValueError("simple ko bars one point at most")
        return passes, barred

    def _expect_liberties(self, state: State) -> None:
        c = self._constants
        boards = [state[STONES + side * c["WORDS"] :][: c["WORDS"]] for side in range(2)]
        empty = c["FULL"] & ~(boards[0] | boards[1])
        for point in range(self._size * (self._size + 1)):
            for board in boards:
                if has(board[point >> 6], point & 63):
                    chain = np.zeros_like(board)
                    chain[point >> 6] = bit(point & 63)
                    if not self._touches(chain, board, 0, empty):
                        raise ValueError(f"the chain at {self._vertex(point)} has no liberty")

    def _has(self, state: State, board: str, point: int) -> bool:
        at = {"BLACK": STONES, "WHITE": STONES + self._constants["WORDS"], **self._constants}[board]
        return has(state[at + (point >> 6)], point & 63)

    def _vertex(self, point: int) -> str:
        row, column = divmod(point, self._size + 1)
        return f"{COLUMNS[column]}{self._size - row}"

    def _point(self, vertex: str) -> int:
        column, number = COLUMNS.find(vertex[:1].upper()), vertex[1:]
        row = self._size - int(number) if number.isdecimal() else -1
        if not (0 <= column < self._size and 0 <= row < self._size):
            raise ValueError(f"{vertex}: there is no such point")
        return row * (self._size + 1) + column
