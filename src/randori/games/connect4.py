"""Connect 4: drop stones into columns until four stand in line.

 1  2  3  4  5  6  7
40 41 42 43 44 45 46 |47      A bit is row * (width + 1) + column, row 0 at the bottom.
..                            The extra column (47, 39, …) is always empty, so that a shift
 8  9 10 11 12 13 14 |15      never carries a line round the edge.
 0  1  2  3  4  5  6 | 7      An action is a column, 0 at the left; people count from 1.
"""

import numpy as np
from numpy.typing import NDArray

from randori.games.game import ExactSolver, Game
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
    popcount,
    specialise,
)
from randori.games.look import Look, Stone
from randori.games.rules import Rules
from randori.games.symmetry import Table, identity, mirror, symmetries

WIDTH, HEIGHT = 7, 6
FLOOR = np.uint64(0x7F)
"""The bottom row."""
BOARD = np.uint64(0x7F7F7F7F7F7F)
"""All cells."""
COLUMN = np.uint64(0x010101010101)
"""The leftmost column."""
PLY, MINE, THEIRS = range(3)
"""Words of a state: stones of the side to move, then of the other side."""


def start(state: State) -> None:
    """Empty the board."""
    state[:] = 0


def fours(stones: np.uint64, step: int) -> np.uint64:
    """Mark the lower end of every four in line, a cell being `step` bits from the next."""
    pairs = stones & (stones >> np.uint64(step))
    return pairs & (pairs >> np.uint64(2 * step))


def has_four(stones: np.uint64) -> bool:
    """Tell whether four stones stand in line, in any of four directions; without a branch."""
    level = fours(stones, 1) | fours(stones, WIDTH + 1)
    return bool(level | fours(stones, WIDTH) | fours(stones, WIDTH + 2) != U0)


def outcome(state: State) -> int:
    """Only the side that has just moved can have four."""
    if has_four(state[THEIRS]):
        return FIRST if state[PLY] & U1 else SECOND
    return DRAW if state[PLY] == np.uint64(WIDTH * HEIGHT) else ONGOING


def legal(state: State, actions: Actions) -> int:
    """Every column with room, from the left, until somebody has four."""
    count = 0
    if outcome(state) == ONGOING:
        taken = (state[MINE] | state[THEIRS]) >> np.uint64((HEIGHT - 1) * (WIDTH + 1))
        for column in range(WIDTH):
            if taken & bit(column) == U0:
                actions[count] = column
                count += 1
    return count


def play(state: State, action: int) -> None:
    """Drop a stone on the lowest empty cell and turn the board to the other side."""
    room = ~(state[MINE] | state[THEIRS]) & (COLUMN << np.uint64(action))
    mine = state[MINE] | (room & (~room + U1))
    state[MINE] = state[THEIRS]
    state[THEIRS] = mine
    state[PLY] += U1


def material(state: State) -> int:
    """Count stones; none is ever taken, so that it says nothing but whose turn it is."""
    return 100 * (popcount(state[MINE]) - popcount(state[THEIRS]))


def lines(state: State) -> int:
    """Count the fours that are still open to either side."""
    return 10 * (open_lines(state[THEIRS]) - open_lines(state[MINE]))


def open_lines(hostile: np.uint64) -> int:
    """Count the fours without any of these stones."""
    room = BOARD & ~hostile
    count = popcount(fours(room, 1)) + popcount(fours(room, WIDTH + 1))
    return count + popcount(fours(room, WIDTH)) + popcount(fours(room, WIDTH + 2))


def planes(state: State, words: NDArray[np.uint64]) -> None:
    """My stones, their stones, from the top row down."""
    for side in range(2):
        stones = state[MINE + side]
        packed = U0
        for row in range(HEIGHT):
            line = (stones >> np.uint64((HEIGHT - 1 - row) * (WIDTH + 1))) & FLOOR
            packed |= line << np.uint64(row * WIDTH)
        words[side] = packed


RED = Stone("#d8392b", "#8f1d13", "#ff9d8f", "#ffffff", "disc")
YELLOW = Stone("#f6c52d", "#a97c08", "#fff3b8", "#1c2f63", "disc")
UPRIGHT = Look(
    board=("#2463c5",), edge="#163f85", grid="", hole="#10264f", legal="#8fb6f2",
    stones=(RED, YELLOW), inks=("bright_red", "bright_yellow"), row_names=False,
)  # fmt: skip


def solver(game: Game) -> ExactSolver:
    """Make the exact solver."""
    from randori.games.connect4_solver import Solver  # it needs the constants of this file

    return Solver(game)


def game(width: int = 7, height: int = 6) -> Game:
    """Connect 4 on a board of any size that fits in a word."""
    if not (4 <= width <= 9 and height >= 4 and (width + 1) * height <= 64):
        raise ValueError(
            "width goes from 4 to 9 and height from 4, with (width + 1) * height <= 64"
        )
    constants = {
        "WIDTH": width,
        "HEIGHT": height,
        "FLOOR": np.uint64((1 << width) - 1),
        "BOARD": np.uint64(sum(((1 << width) - 1) << row * (width + 1) for row in range(height))),
        "COLUMN": np.uint64(sum(1 << (row * (width + 1)) for row in range(height))),
    }
    is_won = specialise(has_four, Bindings("connect4", globals(), constants), compiled=False)

    def set_up(cells: str, side: int) -> State:
        stones = [0, 0]
        for index, glyph in enumerate(cells):
            row, column = height - 1 - index // width, index % width
            if glyph != ".":
                stones["xo".index(glyph)] |= 1 << (row * (width + 1) + column)
                if row and cells[index + width] == ".":
                    raise ValueError(f"column {column + 1}: a stone hangs over an empty cell")
        crosses, noughts = cells.count("x"), cells.count("o")
        if crosses - noughts != side:
            raise ValueError(
                f"{crosses} x and {noughts} o with {'xo'[side]} to move: not reachable"
            )
        if is_won(np.uint64(stones[side])):
            raise ValueError(f"{'xo'[side]} has four in line and yet is to move")
        return np.array([crosses + noughts, stones[side], stones[1 - side]], dtype=np.uint64)

    def split_moves(line: str) -> list[str]:
        for place, column in enumerate(line, start=1):
            if column not in "123456789"[:width]:
                raise ValueError(f"character {place}: {column!r} is no column from 1 to {width}")
        return list(line)

    def columns(cells: Table) -> Table:
        return cells[:width]

    return Game(
        name="connect4",
        title="Connect 4",
        rules=Rules(start, legal, play, outcome, planes),
        constants=constants,
        evaluations={"lines": lines, "material": material},
        solver=solver,
        can_repeat=False,
        num_actions=width, num_words=3, num_planes=2, shape=(height, width),
        longest=width * height,
        symmetries=symmetries((identity, mirror), (height, width), 2, width, columns),
        action_text=lambda state, action: str(action + 1),
        split_moves=split_moves,
        columns="123456789",
        look=UPRIGHT,
        set_up=set_up,
    )  # fmt: skip
