"""Choko: drop twelve stones, step and jump; a jump takes two, and who drops first sets the pace.

5 20 21 22 23 24      A bit is a square, x + 5 * y. Blue (B) begins; all stones are in the hands.
4 15 16 17 18 19      Actions: 25 drops `C3`, by square; 100 steps `B2-B3`, 25 + 4 * square +
3 10 11 12 13 14      direction (north 0, east, south, west); 2500 jumps `B1xD1,E1`, 125 + 25 *
2  5  6  7  8  9      (4 * square + direction) + extra. This one goes from B1 over C1 to D1 and
1  0  1  2  3  4      takes E1 as well; `B1xD1` takes nothing extra.
   A  B  C  D  E

Who drops while nobody has the initiative gets it, and keeps it while dropping: the opponent must
drop too. It ends when its owner moves a stone instead. Blue has it at the start. A position text
ends with the hands and the owner of the initiative: `12,12 B`, or `-` for nobody.
"""

from typing import Literal

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
    has,
    lowest,
    popcount,
    wide,
    without_lowest,
)
from randori.games.look import Look, Stone, Tray
from randori.games.rules import Rules
from randori.games.symmetry import SQUARE, Table, symmetries

# Descriptions differ, so each choice has a name. There is no draw for few stones, as some have it.
OPTIONAL = False
"""Whether a jump may leave the second stone; else it takes one whenever there is another."""
LOST_HAND = np.uint64(0)
"""An empty board is lost with at most this many stones in hand; 11 would end it at once."""
STUCK = DRAW
"""How a game ends when the side to move has no legal move."""
CAP = np.uint64(100)
"""Plies after which the game is a draw."""
MOST_LEGAL = {"mandatory": 183, "optional": 199}
"""By `extra_capture`: 16 jumps of 11 or 12 kinds and 7 drops, on .BRB./B.BRB/RB.BR/BRB.B/.BRB. R

No board has more. A jump needs two pairs of neighbours, mine-theirs and theirs-empty, that serve no
other jump; a step needs a pair mine-empty. There are 40 pairs, so that 2 * jumps + steps <= 40 and
all actions are at most 252. The rest is counted: a test goes through all boards.
"""

STONES = 12
"""Of each side."""
DROPS, STEPS = 25, 100
"""Actions of these kinds; the jumps follow."""
OFFSETS = (5, 1, -5, -1)
"""From a square to its neighbour north, east, south and west."""
ENTERED = tuple(np.uint64(word) for word in (0x1FFFFE0, 0x1EF7BDE, 0x00FFFFF, 0x0F7BDEF))
"""Squares that a step in each direction can lead to."""
LEFT, RIGHT = (tuple(map(np.uint64, shifts)) for shifts in ((0, 0, 5, 1), (5, 1, 0, 0)))
"""Shifts that undo the step; one of the two is 0."""
ROW, BOARD = np.uint64(0b11111), np.uint64((1 << 25) - 1)
NOBODY, MOVER, OPPONENT = U0, U1, np.uint64(2)
"""Owners of the initiative."""
PLY, MINE, THEIRS, HAND, THEIR_HAND, INITIATIVE = range(6)
"""Words of a state: squares of the mover's and of the opponent's stones, and their hands."""
NUM_PLANES = 12


def start(state: State) -> None:
    """Give each side twelve stones and Blue the initiative."""
    state[:] = 0
    state[HAND] = STONES
    state[THEIR_HAND] = STONES
    state[INITIATIVE] = MOVER


def before(squares: np.uint64, direction: int) -> np.uint64:
    """Squares from which a step in `direction` leads to one of `squares`."""
    return ((squares & ENTERED[direction]) << LEFT[direction]) >> RIGHT[direction]


def is_gone(stones: np.uint64, hand: np.uint64) -> bool:
    """Tell whether a side has lost its last stone."""
    return bool(stones == U0 and hand <= LOST_HAND)


def is_cut(state: State) -> bool:
    """Tell whether the game is over whatever moves the board allows."""
    is_lost = is_gone(state[MINE], state[HAND])
    return bool(is_lost or is_gone(state[THEIRS], state[THEIR_HAND]) or state[PLY] >= CAP)


def must_drop(state: State) -> bool:
    """Tell whether the opponent's initiative binds the mover; it does not bind an empty hand."""
    return bool(state[INITIATIVE] == OPPONENT and state[HAND] != U0)


def count_legal(state: State) -> int:
    """Count the legal actions without listing them."""
    if is_cut(state):
        return 0
    mine, theirs = state[MINE], state[THEIRS]
    empty = BOARD & ~(mine | theirs)
    count = popcount(empty) if state[HAND] != U0 else 0
    if must_drop(state):
        return count
    jumps = 0
    for direction in range(4):
        near = before(empty, direction)
        count += popcount(mine & near)
        jumps += popcount(mine & before(theirs & near, direction))
    extras = popcount(theirs)
    if not OPTIONAL and extras > 1:
        extras -= 1
    return count + jumps * extras


def num_legal(state: State, actions: Actions) -> int:
    """Count the legal actions; no room to list them is needed."""
    return count_legal(state)


def outcome(state: State) -> int:
    """Won by taking the opponent's last stone; nobody wins at the cap."""
    if count_legal(state) != 0:
        return ONGOING
    is_lost = is_gone(state[MINE], state[HAND])
    is_won = is_gone(state[THEIRS], state[THEIR_HAND])
    if is_lost == is_won:
        return DRAW if state[PLY] >= CAP else STUCK
    return FIRST if is_won == (state[PLY] & U1 == U0) else SECOND


def write(actions: Actions, count: int, squares: np.uint64, first: int, stride: int) -> int:
    """Append ``first + stride * square`` for each square; return the new count."""
    while squares != U0:
        actions[count] = first + stride * lowest(squares)
        squares = without_lowest(squares)
        count += 1
    return count


def legal(state: State, actions: Actions) -> int:
    """Drops, then steps, then jumps with each stone that they can take as well."""
    if is_cut(state):
        return 0
    mine, theirs = state[MINE], state[THEIRS]
    empty = BOARD & ~(mine | theirs)
    count = write(actions, 0, empty, 0, 1) if state[HAND] != U0 else 0
    if must_drop(state):
        return count
    for direction in range(4):
        movers = mine & before(empty, direction)
        count = write(actions, count, movers, DROPS + direction, 4)
    for direction in range(4):
        jumpers = mine & before(theirs & before(empty, direction), direction)
        while jumpers != U0:
            square = lowest(jumpers)
            jumpers = without_lowest(jumpers)
            jumped = bit(square + OFFSETS[direction])
            # The jumped square as the extra one stands for none: it can be nothing else.
            extras = theirs if OPTIONAL or theirs == jumped else theirs ^ jumped
            first = DROPS + STEPS + 25 * (4 * square + direction)
            count = write(actions, count, extras, first, 1)
    return count


def play(state: State, action: int) -> None:
    """Drop, step or jump; then the board is the other side's."""
    mine, theirs, hand = state[MINE], state[THEIRS], state[HAND]
    initiative = NOBODY
    if action < DROPS:
        mine |= bit(action)
        hand -= U1
        # As the other side sees it: a drop under force leaves it there, any other one takes it.
        initiative = MOVER if state[INITIATIVE] == OPPONENT else OPPONENT
    elif action < DROPS + STEPS:
        square, direction = (action - DROPS) // 4, (action - DROPS) % 4
        mine ^= bit(square) | bit(square + OFFSETS[direction])
    else:
        jump = action - DROPS - STEPS
        square, offset = jump // 100, OFFSETS[jump // 25 % 4]
        mine ^= bit(square) | bit(square + 2 * offset)
        theirs &= ~(bit(square + offset) | bit(jump % 25))
    state[MINE], state[THEIRS] = theirs, mine
    state[HAND], state[THEIR_HAND] = state[THEIR_HAND], hand
    state[INITIATIVE] = initiative
    state[PLY] += U1


def planes(state: State, words: NDArray[np.uint64]) -> None:
    """My stones, theirs; then full or empty: initiative mine, theirs, 4 bits of my hand, of theirs.

    Four bits say a hand exactly, and a first layer can weigh them as the number that they make.
    """
    for side in range(2):
        words[side] = U0
        for row in range(5):
            line = (state[MINE + side] >> np.uint64(5 * row)) & ROW
            words[side] |= line << np.uint64(20 - 5 * row)
        words[2 + side] = BOARD if state[INITIATIVE] == np.uint64(1 + side) else U0
        for digit in range(4):
            words[4 + 4 * side + digit] = BOARD if has(state[HAND + side], digit) else U0


def captures(state: State) -> int:
    """Count stones, those in hand too: what nobody has taken."""
    in_hand: int = wide(state[HAND]) - wide(state[THEIR_HAND])
    return 100 * (popcount(state[MINE]) - popcount(state[THEIRS]) + in_hand)


def action_text(state: State, action: int) -> str:
    """Write a drop `C3`, a step `B2-B3` or a jump `B1xD1,E1`."""
    names = [f"{column}{row}" for row in "12345" for column in "ABCDE"]
    if action < DROPS:
        return names[action]
    if action < DROPS + STEPS:
        square, direction = divmod(action - DROPS, 4)
        return f"{names[square]}-{names[square + OFFSETS[direction]]}"
    step, extra = divmod(action - DROPS - STEPS, 25)
    square, offset = step // 4, OFFSETS[step % 4]
    tail = "" if extra == square + offset else f",{names[extra]}"
    return f"{names[square]}x{names[square + 2 * offset]}{tail}"


def action_map(cells: Table) -> Table:
    """Turn a table of plane cells, which begin with row 5, into the one of actions."""
    flipped = np.arange(25).reshape(5, 5)[::-1].ravel()
    squares = flipped[cells[flipped]]
    directions = [OFFSETS.index(squares[12 + offset] - squares[12]) for offset in OFFSETS]
    steps = (4 * squares[:, None] + directions).ravel()
    jumps = (25 * steps[:, None] + squares).ravel()
    return np.concatenate([squares, DROPS + steps, DROPS + STEPS + jumps]).astype(np.int32)


def details(state: State) -> str:
    """Write the hands, Blue's first, and the owner of the initiative."""
    side, owner = int(state[PLY] & U1), int(state[INITIATIVE])
    letter = "BR"[(owner - 1) ^ side] if owner else "-"
    return f"{state[HAND + side]},{state[THEIR_HAND - side]} {letter}"


def read_details(tail: str) -> tuple[list[int], str]:
    """Read the hands and the owner of the initiative."""
    hands, _, owner = tail.partition(" ")
    numbers = hands.split(",")
    if len(numbers) != 2 or not all(number.isascii() and number.isdigit() for number in numbers):
        raise ValueError(f"expected the hands behind the side to move, as 12,12; found {hands!r}")
    owner = owner.strip()
    if owner.upper() not in ("B", "R", "-"):
        found = f"found {owner!r}" if owner else "found nothing"
        raise ValueError(f"expected the initiative (B, R or -) behind the hands, {found}")
    return [int(number) for number in numbers], owner.upper()


def set_up(cells: str, side: int, tail: str) -> State:
    """Make a position; without details no stone is lost and nobody has the initiative."""
    counts = [cells.count(glyph) for glyph in "BR"]
    hands, owner = read_details(tail) if tail else ([max(0, STONES - n) for n in counts], "-")
    for glyph, count, hand in zip("BR", counts, hands, strict=True):
        if hand > STONES:
            raise ValueError(f"{glyph}: {hand} in hand are over {STONES}")
        if count + hand > STONES:
            raise ValueError(f"{glyph}: {count} on the board and {hand} in hand are over {STONES}")
    rows = "".join(cells[first : first + 5] for first in (20, 15, 10, 5, 0))
    stones = [sum(1 << i for i in range(25) if rows[i] == glyph) for glyph in "BR"]
    initiative = 0 if owner == "-" else 1 + ("BR".index(owner) ^ side)
    words = [side, stones[side], stones[1 - side], hands[side], hands[1 - side], initiative]
    return np.array(words, dtype=np.uint64)


def explain(state: State, move: str) -> str:
    """Say when a drop is a duty."""
    is_drop = "-" not in move and "x" not in move.casefold()
    owner = "BR"[1 - int(state[PLY] & U1)]
    return "" if is_drop or not must_drop(state) else f"{owner} has the initiative: drop a stone"


def trays(state: State) -> tuple[Tray, Tray]:
    """Show the hands, and who has the initiative."""
    (blue, red), owner = read_details(details(state))
    notes = ["initiative" if glyph == owner else "" for glyph in "BR"]
    return Tray(blue, notes[0]), Tray(red, notes[1])


BLUE = Stone("#3f78c4", "#1d3f70", "#b9d4f5", "#ffffff", "peg")
RED = Stone("#cf4a3c", "#7a211a", "#f6b7ae", "#ffffff", "peg")
EARTH = Look(
    board=("#c69a6b",), edge="#8a6238", grid="#b2855a", hole="#7d5832", hole_radius=9,
    legal="#f2dc9b", stones=(BLUE, RED), radius=16, inks=("bright_blue", "bright_red"),
    trays=trays,
)  # fmt: skip


def game(extra_capture: Literal["mandatory", "optional"] = "mandatory", cap: int = 100) -> Game:
    """Choko with the second stone of a jump a duty or a choice, and a draw after `cap` plies."""
    if not 1 <= cap <= 10_000:
        raise ValueError(f"cap goes from 1 to 10000, not {cap}")
    num_actions = DROPS + STEPS + 25 * STEPS
    return Game(
        name="choko",
        title="Choko",
        rules=Rules(start, legal, play, outcome, planes, num_legal),
        constants={"OPTIONAL": extra_capture == "optional", "CAP": np.uint64(cap)},
        evaluations={"captures": captures, "material": captures},
        num_actions=num_actions, num_words=6, num_planes=NUM_PLANES, shape=(5, 5),
        longest=cap,
        most_legal=MOST_LEGAL[extra_capture],
        symmetries=symmetries(SQUARE, (5, 5), NUM_PLANES, num_actions, action_map),
        glyphs="BR", columns="ABCDE", rows_up=True,
        look=EARTH,
        action_text=action_text, details=details, set_up=set_up, explain=explain,
    )  # fmt: skip
