"""Shobu: a passive move at home, the same move again to push the opponent off a board.

8 56 57 58 59 | 60 61 62 63      Four boards of 4×4. A bit is file + 8 * rank, and the state always
7 48 49 50 51 | 52 53 54 55      has the side to move at the bottom: a turn ends with both words
6 40 41 42 43 | 44 45 46 47      reversed and swapped. Black (x) moves first from ranks 1 and 5.
5 32 33 34 35 | 36 37 38 39
  -----------   -----------      A move is a passive stone on one of the mover's two home boards
4 24 25 26 27 | 28 29 30 31      (below), an aggressive stone on a board of the other colour (the
3 16 17 18 19 | 20 21 22 23      other half of the files), one of eight directions, and a distance
2  8  9 10 11 | 12 13 14 15      of 1 or 2: `h3b6NW`, `d1f5N2`. Squares and directions of an action
1  0  1  2  3 |  4  5  6  7      are the mover's; texts are always Black's.
  a  b  c  d    e  f  g  h
"""

from collections.abc import Iterator
from typing import Any

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
    State,
    bit,
    lowest,
    popcount,
    reverse,
    scratch,
    without_lowest,
)
from randori.games.look import Look
from randori.games.rules import Rules
from randori.games.symmetry import SQUARE, Symmetries, Table, cell_map

CAP = 256
"""Plies after which the game is a draw; there is no rule of repetition."""
STUCK_LOSES = True
"""Whether a side without a legal move loses; rule books are silent, a draw is the alternative."""
MOST_LEGAL = 368
"""No placement of at most four stones a side and board allows more; a test counts them all out."""
MOST_STONES = 4
"""Of one side on one board."""
SUBHEADS = (64, 8, 2, 64)
"""Passive square, direction, distance, aggressive square: the policy of paper A."""

DIRECTIONS = ("N", "NE", "E", "SE", "S", "SW", "W", "NW")
STEPS = np.array([8, 9, 1, -7, -8, -9, -1, 7], dtype=np.int64)
LAST = np.uint64(1 << 63)
"""A square to take where there is none: h8, whatever stands there."""
HOME, LEFT = np.uint64(0x00000000FFFFFFFF), np.uint64(0x0F0F0F0F0F0F0F0F)
BOARDS = tuple(np.uint64(0x0F0F0F0F << shift) for shift in (0, 4, 32, 36))
"""Lower left, lower right, upper left, upper right."""
BOARD_NAMES = ("lower left", "lower right", "upper left", "upper right")
START_MINE, START_THEIRS = np.uint64(0x000000FF000000FF), np.uint64(0xFF000000FF000000)
PLY, MINE, THEIRS = range(3)
"""Words of a state: stones of the side to move, then of the other side."""


def _inside(direction: int, distance: int) -> list[int]:
    """List the squares from which a stone stays on its board."""
    rise, run = ((int(STEPS[direction]) + 12) // 8 - 1, (int(STEPS[direction]) + 12) % 8 - 4)
    return [
        square
        for square in range(64)
        if 0 <= square // 8 % 4 + distance * rise < 4 and 0 <= square % 4 + distance * run < 4
    ]


KINDS = [(direction, distance) for direction in range(8) for distance in (1, 2)]
"""What the two halves of a move share: kind 2 * direction + distance - 1."""
FORWARD = np.repeat(np.maximum(STEPS, 0), 2).astype(np.uint64)
BACKWARD = np.repeat(np.maximum(-STEPS, 0), 2).astype(np.uint64)
"""[16] shifts that take a square one step; one of the two is 0."""
FROM = np.array([sum(1 << s for s in _inside(*kind)) for kind in KINDS], dtype=np.uint64)
"""[16] squares from which a stone can go, by kind."""
STEP_FROM = np.repeat(FROM[::2], 2)
"""[16] squares from which it can go one step."""
TWICE = np.array([0, 2**64 - 1] * 8, dtype=np.uint64)
"""[16] all bits where the distance is 2: what has no branches is done for all kinds at once."""
ROOM = np.array([len(_inside(*kind)) // 4 for kind in KINDS], dtype=np.int64)
"""[16] how many of them a board has."""
OFFSET = np.concatenate([[0], np.cumsum(4 * ROOM**2)[:-1]])
"""[16] the first action of a kind."""
RANK = np.zeros((16, 64), dtype=np.int64)
"""[16, 64] a square's number among the squares of its board in FROM."""
for _kind, _word in enumerate(FROM):
    for _board in BOARDS:
        _own = [square for square in range(64) if int(_word & _board) >> square & 1]
        RANK[_kind, _own] = np.arange(len(_own))


_ROWS = RANK[:, :32] + ROOM[:, None] * (np.arange(32) & 4 > 0)
ROW = (OFFSET[:, None] + _ROWS * 2 * ROOM[:, None]).astype(np.uint16)
"""[16, 32] the first action of a kind and a passive square (left board first)."""
COLUMN = (RANK + ROOM[:, None] * (np.arange(64) >= 32)).astype(np.uint8)
"""[16, 64] what an aggressive square adds to it (lower board first)."""


BIT = (
    16 * (2 * (np.arange(64) // 32) + np.arange(64) // 4 % 2)
    + 4 * (3 - np.arange(64) // 8 % 4)
    + np.arange(64) % 4
)
"""[64] the bit of the mover's planes that shows a square."""


def _numbered(first: int, squares: int) -> NDArray[np.uint16]:
    """Number pairs of a kind and one of the lowest `squares` in FROM, from `first` on.

    The kinds of one square follow each other: they matter if the mover has a stone there.
    """
    order = np.argsort(BIT[:squares])
    is_from = FROM >> order[:, None].astype(np.uint64) & U1 == U1
    numbers = np.zeros((squares, 16), dtype=np.uint16)
    numbers[is_from] = first + np.arange(is_from.sum())
    return numbers[np.argsort(order)].T.copy()


FACTOR_SIZES = (2 * int(ROOM.sum()), 4 * int(ROOM.sum()))
"""A policy has a logit for each passive stone with its kind, and each aggressive one with its kind.

That of paper A has one for each square, direction and distance by itself; then no stone can go
another way than others, and searches overrule it in six of ten positions."""
PASSIVE, AGGRESSIVE = _numbered(0, 32), _numbered(FACTOR_SIZES[0], 64)
"""[16, squares] their places."""
MOST_KINDS = 11
"""Of a square in the middle of its board, of which there are as many as stones."""
MOST_MARKED = (2 * MOST_STONES * MOST_KINDS, 4 * MOST_STONES * MOST_KINDS)


def action_of(kind: int, passive: int, aggressive: int) -> int:
    """Number a move: by kind, then passive square, then aggressive square."""
    return int(ROW[kind, passive]) + int(COLUMN[kind, aggressive])


def _all_moves() -> NDArray[np.int64]:
    """Tabulate kind, passive and aggressive square of every action."""
    moves = [
        (action_of(kind, passive, aggressive), kind, passive, aggressive)
        for kind in range(16)
        for passive in range(32)
        for aggressive in range(64)
        if int(FROM[kind]) >> passive & int(FROM[kind]) >> aggressive & 1
        and (passive ^ aggressive) & 4
    ]
    return np.array(sorted(moves), dtype=np.int64)[:, 1:].copy()  # in one piece, or no cache


MOVES = _all_moves()
"""[4880, 3]"""
PACKED = (MOVES @ [1, 1 << 4, 1 << 10]).astype(np.uint16)
"""[4880] the same in sixteen bits each, which stay near the processor."""


def back(word: np.uint64, kind: int) -> np.uint64:
    """Take squares one step back; those that cross an edge are for the caller to mask."""
    return (word >> FORWARD[kind]) << BACKWARD[kind]


def passive_stones(mine: np.uint64, theirs: np.uint64, kind: int) -> np.uint64:
    """Stones at home whose whole way is empty."""
    empty = ~(mine | theirs)
    near = back(empty, kind)
    far = back(empty & near, kind)
    return mine & HOME & FROM[kind] & (near ^ (far ^ near) & TWICE[kind])


def aggressive_stones(mine: np.uint64, theirs: np.uint64, kind: int) -> np.uint64:
    """Stones with no friend on the way and at most one to push, which has room or falls."""
    empty = ~(mine | theirs)
    yields = back(empty, kind) | ~STEP_FROM[kind]
    near = back(empty | (theirs & yields), kind)
    far = back((empty & near) | (theirs & back(empty & yields, kind)), kind)
    return mine & FROM[kind] & (near ^ (far ^ near) & TWICE[kind])


def other_colour(square: int) -> np.uint64:
    """Return the boards of the other colour."""
    return LEFT if square & 4 else ~LEFT


def start(state: State) -> None:
    """Set 16 stones a side."""
    state[PLY] = 0
    state[MINE] = START_MINE
    state[THEIRS] = START_THEIRS


def lacks_a_board(stones: np.uint64) -> bool:
    """Tell whether some board holds none of `stones`."""
    lower_left, lower_right, upper_left, upper_right = BOARDS
    return (
        stones & lower_left == U0
        or stones & lower_right == U0
        or stones & upper_left == U0
        or stones & upper_right == U0
    )


def is_stuck(mine: np.uint64, theirs: np.uint64) -> bool:
    """Tell whether no move is left."""
    for kind in range(16):
        movers = passive_stones(mine, theirs, kind)
        if movers != U0:
            pushers = aggressive_stones(mine, theirs, kind)
            if (movers & LEFT != U0 and pushers & ~LEFT != U0) or (
                movers & ~LEFT != U0 and pushers & LEFT != U0
            ):
                return False
    return True


def outcome(state: State) -> int:
    """Only the side to move can have lost its stones on a board."""
    opponent = FIRST if state[PLY] & U1 else SECOND
    if lacks_a_board(state[MINE]):
        return opponent
    if is_stuck(state[MINE], state[THEIRS]):
        return opponent if STUCK_LOSES else DRAW
    return DRAW if state[PLY] >= np.uint64(CAP) else ONGOING


def may_end(state: State) -> bool:
    """Tell whether the other side may lose its last stone on a board or its last move.

    A turn changes two boards of different colours: one where the mover lives, and another. If the
    other side has a move on two boards that such a turn leaves alone, whichever they are, then it
    will have a move.
    """
    lone = lone_stones(state[THEIRS])
    if lone != U0 and can_take(state[MINE], state[THEIRS], lone):
        return True
    if state[PLY] + U1 >= np.uint64(CAP) or lacks_a_board(state[THEIRS]):
        return True
    theirs = reverse(state[THEIRS])
    mine = reverse(state[MINE])
    safe = U0
    for kind in range(16):
        movers = passive_stones(theirs, mine, kind)
        pushers = aggressive_stones(theirs, mine, kind)
        for side in range(2):
            own = LEFT if side else ~LEFT
            for half in range(2):
                other = ~own & (HOME if half else ~HOME)
                if movers & own != U0 and pushers & other != U0:
                    safe |= bit(2 * side + half)
    return safe != np.uint64(15)


def lone_stones(stones: np.uint64) -> np.uint64:
    """Return those of `stones` that are the only ones on their boards."""
    lone = U0
    for board in BOARDS:
        own = stones & board
        if without_lowest(own) == U0:
            lone |= own
    return lone


def can_take(mine: np.uint64, theirs: np.uint64, prey: np.uint64) -> bool:
    """Tell whether a turn can push one of some stones off its board."""
    is_possible = False
    for kind in range(16):
        edge = ~STEP_FROM[kind]
        near = back(prey & edge, kind)
        far = back(near | prey & back(edge, kind), kind)
        takers = aggressive_stones(mine, theirs, kind) & (near ^ (far ^ near) & TWICE[kind])
        movers = passive_stones(mine, theirs, kind)
        on_right = movers & LEFT != U0 and takers & ~LEFT != U0
        on_left = movers & ~LEFT != U0 and takers & LEFT != U0
        is_possible |= on_left or on_right
    return is_possible


def find_stones(state: State, movers: NDArray[np.uint64], pushers: NDArray[np.uint64]) -> None:
    """Fill [16] the stones for the two halves of a move of each kind.

    If the game is over there are none, and what the arrays hold stays: zeros.
    """
    mine, theirs = state[MINE], state[THEIRS]
    if lacks_a_board(mine) or state[PLY] >= np.uint64(CAP):
        return
    for kind in range(16):
        movers[kind] = passive_stones(mine, theirs, kind)
        pushers[kind] = aggressive_stones(mine, theirs, kind)


def legal(state: State, actions: Actions) -> int:
    """Every passive stone with every aggressive one of the other colour, kind by kind."""
    movers, pushers = scratch(16), scratch(16)
    find_stones(state, movers, pushers)
    count = U0
    for kind in range(16):
        while movers[kind] != U0:
            passive = lowest(movers[kind])
            movers[kind] = without_lowest(movers[kind])
            left = pushers[kind] & other_colour(passive)
            while left != U0:
                actions[count] = action_of(kind, passive, lowest(left))
                left = without_lowest(left)
                count += U1
    return int(count)


def weigh(
    state: State, actions: Actions, logits: NDArray[np.float32], odds: NDArray[np.float32]
) -> int:
    """Add up the logits while listing: the moves of a passive stone share one of two.

    Branches that go either way would cost more than the work they spare. So both distances of a
    direction are one word, and aggressive stones are listed by fours, though there be fewer.
    """
    movers, pushers = scratch(16), scratch(16)
    find_stones(state, movers, pushers)
    count = U0
    for near in range(0, 16, 2):
        ways = movers[near] | movers[near + 1] << np.uint64(32)  # movers are at home
        while ways != U0:
            way = lowest(ways)
            ways = without_lowest(ways)
            kind, passive = near + (way >> 5), way & 31
            found = pushers[kind] & other_colour(passive)
            left = weigh_four(kind, passive, found, count, actions, logits, odds)
            if popcount(found) > 4:
                weigh_four(kind, passive, left, count + np.uint64(4), actions, logits, odds)
            count += np.uint64(popcount(found))
    return int(count)


def weigh_four(
    kind: int,
    passive: int,
    found: np.uint64,
    count: np.uint64,
    actions: Actions,
    logits: NDArray[np.float32],
    odds: NDArray[np.float32],
) -> np.uint64:
    """List a passive stone's moves with the lowest four that are found; return all others."""
    first, shared = ROW[kind, passive], logits[PASSIVE[kind, passive]]
    for k in range(4):
        some = found | LAST
        found &= some - U1
        actions[count + np.uint64(k)] = first + COLUMN[kind, lowest(some)]
        odds[count + np.uint64(k)] = shared + logits[AGGRESSIVE[kind, lowest(some)]]
    return found


def num_legal(state: State, actions: Actions) -> int:
    """Count the moves, unless the game is over."""
    if lacks_a_board(state[MINE]) or state[PLY] >= np.uint64(CAP):
        return 0
    return count_moves(state[MINE], state[THEIRS])


def count_moves(mine: np.uint64, theirs: np.uint64) -> int:
    """Multiply the stones on one colour by those on the other, kind by kind."""
    count = 0
    for kind in range(16):
        movers = passive_stones(mine, theirs, kind)
        if movers != U0:
            pushers = aggressive_stones(mine, theirs, kind)
            count += popcount(movers & LEFT) * popcount(pushers & ~LEFT)
            count += popcount(movers & ~LEFT) * popcount(pushers & LEFT)
    return count


def play(state: State, action: int) -> None:
    """Move both stones, push what is in the way, and turn the board to the other side."""
    move = int(PACKED[action])
    kind, passive, aggressive = move & 15, move >> 4 & 63, move >> 10
    step = STEPS[kind >> 1]
    way = (1 + (kind & 1)) * step
    target = aggressive + way
    mine, theirs = state[MINE], state[THEIRS]
    mine ^= bit(passive) | bit(passive + way) | bit(aggressive) | bit(target)
    pushed = theirs & (bit(aggressive + step) | bit(target))
    if pushed != U0:
        theirs &= ~pushed
        if STEP_FROM[kind] & bit(target) != U0:
            theirs |= bit(target + step)
    state[MINE] = reverse(theirs)
    state[THEIRS] = reverse(mine)
    state[PLY] += U1


def planes(state: State, words: NDArray[np.uint64]) -> None:
    """My stones on the four boards, then theirs."""
    for side in range(2):
        for board in range(4):
            corner = np.uint64(4 * (board & 1) + 32 * (board >> 1))
            stones, packed = state[MINE + side] >> corner, U0
            for row in range(4):
                line = (stones >> np.uint64(8 * (3 - row))) & np.uint64(15)
                packed |= line << np.uint64(4 * row)
            words[4 * side + board] = packed


def stones(state: State) -> int:
    """Count stones, and moves for a hundredth of one."""
    mine, theirs = state[MINE], state[THEIRS]
    moves = count_moves(mine, theirs) - count_moves(reverse(theirs), reverse(mine))
    return 100 * (popcount(mine) - popcount(theirs)) + moves


def action_text(state: State, action: int) -> str:
    """Write passive square, aggressive square, direction, and 2 if the distance is 2."""
    kind, *squares = (int(number) for number in MOVES[action])
    if int(state[PLY]) & 1:
        squares = [63 - square for square in squares]
        kind ^= 8
    names = "".join(f"{'abcdefgh'[s % 8]}{s // 8 + 1}" for s in squares)
    return f"{names}{DIRECTIONS[kind >> 1]}{'2' if kind & 1 else ''}"


def set_up(cells: str, side: int) -> State:
    """Place stones, at most four a side and board."""
    stones = [sum(1 << _square(i) for i, g in enumerate(cells) if g == glyph) for glyph in "xo"]
    for glyph, word in zip("xo", stones, strict=True):
        for name, board in zip(BOARD_NAMES, BOARDS, strict=True):
            count = (word & int(board)).bit_count()
            if count > MOST_STONES:
                raise ValueError(f"{count} {glyph} on the {name} board; a side has at most 4 there")
            if not count and glyph != "xo"[side]:
                raise ValueError(
                    f"no {glyph} on the {name} board: {glyph} has lost, and must be to move"
                )
    mine, theirs = (np.uint64(stones[s]) for s in (side, 1 - side))
    if side:
        mine, theirs = reverse(mine), reverse(theirs)
    return np.array([side, mine, theirs], dtype=np.uint64)


def _square(cell: int) -> int:
    """Turn a cell, row 0 at the top, into its bit; and back."""
    return cell ^ 56


def placements(rng: np.random.Generator, number: int) -> NDArray[np.uint64]:
    """Draw positions: 1 to 4 stones of each side on each board, on random squares.

    Their mean number of moves, 62.1, explains the 62.2 of paper A.
    """
    order = rng.permuted(np.tile(np.arange(16), (number, 4, 1)), axis=2)
    squares = np.array([[s for s in range(64) if int(board) >> s & 1] for board in BOARDS])
    marks = np.uint64(1) << np.take_along_axis(squares[None], order, axis=2).astype(np.uint64)
    mine, theirs = rng.integers(1, MOST_STONES + 1, size=(2, number, 4, 1))
    rank = np.arange(16)
    states = np.zeros((number, 3), dtype=np.uint64)
    states[:, PLY] = rng.integers(0, 2, size=number)
    for word, chosen in ((MINE, rank < mine), (THEIRS, (rank >= mine) & (rank < mine + theirs))):
        states[:, word] = np.where(chosen, marks, U0).sum(axis=(1, 2), dtype=np.uint64)
    return states


def _symmetries() -> Symmetries:
    """Turn all four boards alike, with or without exchanging left and right boards."""
    numbers = np.zeros((16, 64, 64), dtype=np.int32)
    numbers[tuple(MOVES.T)] = np.arange(len(MOVES))
    kind, passive, aggressive = MOVES.T
    way = (1 + (kind & 1)) * STEPS[kind >> 1]
    direction_of = np.zeros(32, dtype=np.int64)
    direction_of[STEPS] = np.arange(8)
    inputs, actions = [], []
    for swap in (0, 1):
        for turn in SQUARE:
            cells = cell_map(turn, (4, 4))
            bits = np.concatenate([cells + 16 * (board ^ swap) for board in range(8)])
            squares = np.argsort(SEEN[0])[bits[SEEN[0]]] ^ 56
            moved = squares[np.arange(64) ^ 56]
            distance = 1 + (kind & 1)
            steps = (moved[passive + way] - moved[passive]) // distance
            kinds = 2 * direction_of[steps] + distance - 1
            inputs.append(bits)
            actions.append(numbers[kinds, moved[passive], moved[aggressive]])
    return Symmetries(np.array(inputs, dtype=np.int32), np.array(actions, dtype=np.int32))


def _seen() -> Table:
    """Tabulate the bit of the mover's planes that shows a cell to each side."""
    squares = np.arange(64) ^ 56
    return BIT[np.stack([squares, 63 - squares])].astype(np.int32)


SEEN = _seen()


def _factors() -> NDArray[np.int32]:
    kind, passive, aggressive = MOVES.T
    parts = [PASSIVE[kind, passive], AGGRESSIVE[kind, aggressive]]
    return np.stack(parts, axis=1).astype(np.int32)


def _stones() -> Iterator[tuple[int, int, int, bool]]:
    """Walk through all stones with their kinds: logit, kind, square, and whether it is passive."""
    for table, is_passive in ((PASSIVE, True), (AGGRESSIVE, False)):
        for kind, square in np.ndindex(table.shape):
            if int(FROM[kind]) >> square & 1:
                yield int(table[kind, square]), kind, square, is_passive


def _spots() -> NDArray[np.int32]:
    """Give a plane to each board and kind, passive stones behind aggressive ones; see `planes`."""
    spots = np.zeros(sum(FACTOR_SIZES), dtype=np.int32)
    for logit, kind, square, is_passive in _stones():
        board, cell = divmod(int(BIT[square]), 16)
        spots[logit] = 16 * (16 * board + kind + 64 * is_passive) + cell
    return spots


def _marks() -> NDArray[np.int32]:
    """Give the bit of its stone to each logit."""
    marks = np.zeros(sum(FACTOR_SIZES), dtype=np.int32)
    for logit, _, square, _ in _stones():
        marks[logit] = BIT[square]
    return marks


def _parts() -> NDArray[np.int32]:
    """List for every logit which of paper A's add up to it; −1 stands for none."""
    parts = np.full((sum(FACTOR_SIZES), 3), -1, dtype=np.int32)
    squares, directions, distances, _ = SUBHEADS
    for logit, kind, square, is_passive in _stones():
        if is_passive:
            parts[logit] = square, squares + kind // 2, squares + directions + kind % 2
        else:
            parts[logit, 0] = squares + directions + distances + square
    return parts


POSITIONS = {
    "FIG_1B":
        ".....o../oo.x..../ox..o.../...x.x.x/..xo...o/.....x.x/oo.....o/xo.x.x.. b",
    "BLACK_MATE_IN_1":
        "..x....o/...x..../...oxxx./x......x/.xo...o./......../.x.x...x/x....... b",
    "MATERIAL_ADVANTAGE":
        ".x....../......o./..o...../xo.xxxxx/o.o.x.ox/o......./.xxx.x../x.....o. b",
    "PUSH_OPTIONS":
        ".o....../.o..x.../..x.x.oo/x......./o.o.x.../.x....o./o...x.../x....x.o b",
}  # fmt: skip
"""The figures of paper A, rebuilt from its text."""


WOOD = Look(
    board=("#8a5a35", "#dcb57c"), edge="#5f3d22", grid="#4c2f18", grain="#6b431f",
    legal="#3fae49", block=(4, 4), rope="#cdb98c",
)  # fmt: skip
"""Dark boards at the left, light ones at the right, and a rope between the players' homes."""


def game(cap: int = 256) -> Game:
    """Shobu; after `cap` plies it is a draw."""
    if not 1 <= cap <= 10_000:
        raise ValueError(f"cap goes from 1 to 10000, not {cap}")
    constants: dict[str, Any] = {"CAP": cap}
    return Game(
        name="shobu",
        title="Shobu",
        rules=Rules(start, legal, play, outcome, planes, num_legal, weigh=weigh,
                    may_end=may_end),
        constants=constants,
        evaluations={"stones": stones},
        num_actions=len(MOVES), num_words=3, num_planes=8, shape=(4, 4),
        longest=cap,
        most_legal=MOST_LEGAL,
        symmetries=_symmetries(),
        factors=_factors(),
        factor_sizes=FACTOR_SIZES,
        spots=_spots(), marks=_marks(), most_marked=MOST_MARKED,
        subheads=SUBHEADS, parts=_parts(),
        board=(8, 8), seen=SEEN, sides="bw", rows_up=True, pushes=True,
        action_text=action_text,
        set_up=set_up,
        positions=POSITIONS,
        placements=placements,
        look=WOOD,
    )  # fmt: skip
