"""Hex: join your two edges with an unbroken chain. One file is all that a game needs.

    a  b  c  d             x joins top and bottom, o joins left and right; x moves first.
 1  0  1  2  3             A cell is row * size + column: its action, and its bit everywhere.
  2   4  5  6  7           Rows lean to the right, so a cell touches six others: left, right,
   3   8  9 10 11          up, up-right, down and down-left. A full board always has a winner.
    4  12 13 14 15

To write your own game, copy this file and run ``randori check your_file.py``. The five functions
`start`, `legal`, `play`, `outcome` and `planes` work on whole numbers and are compiled: they make
no lists and no arrays, and read nothing but their arguments and the constants in capitals.
"""

import numpy as np
from numpy.typing import NDArray

from randori.games import Game
from randori.games.kernels import FIRST, ONGOING, SECOND, U0, U1, Actions, State, bit, has
from randori.games.rules import Rules
from randori.games.symmetry import cell_symmetries, half_turn, identity

# What the option `size` changes; `game` below gives the values.
SIZE = 7
WORDS = 1  # how many words of 64 bits it takes to hold one bit for every cell
FULL = np.array([(1 << 49) - 1], dtype=np.uint64)  # a bit for every cell

# A state is a row of words. Word 0 counts the plies, so it is even when the first player moves.
# Then come three sets of cells, WORDS words each: the stones of x, the stones of o, and all stones
# that a chain links to the edge where their owner begins (the top for x, the left for o).
PLY, STONES = 0, 1
NEIGHBOURS = ((0, -1), (0, 1), (-1, 0), (-1, 1), (1, 0), (1, -1))


def is_in(state: State, which: int, cell: int) -> bool:
    return has(state[STONES + which * WORDS + cell // 64], cell % 64)


def put(state: State, which: int, cell: int) -> None:
    state[STONES + which * WORDS + cell // 64] |= bit(cell % 64)


def is_linked(state: State, side: int, row: int, column: int) -> bool:
    """Tell whether a linked stone of `side` stands there; beyond its first edge all is linked."""
    if (row, column)[side] < 0:
        return True
    if not (0 <= row < SIZE and 0 <= column < SIZE):
        return False
    cell = row * SIZE + column
    return is_in(state, side, cell) and is_in(state, 2, cell)


def touches_link(state: State, side: int, cell: int) -> bool:
    for down, right in NEIGHBOURS:
        if is_linked(state, side, cell // SIZE + down, cell % SIZE + right):
            return True
    return False


def start(state: State) -> None:
    """Write the first position. The row may hold an old game, so every word is written."""
    state[:] = 0


def outcome(state: State) -> int:
    """Whoever has a linked stone at the far edge has won."""
    for i in range(SIZE):
        if is_linked(state, 0, SIZE - 1, i):
            return FIRST
        if is_linked(state, 1, i, SIZE - 1):
            return SECOND
    return ONGOING


def legal(state: State, actions: Actions) -> int:
    """Write the legal actions and return their number: 0 exactly when the game is over."""
    count = 0
    if outcome(state) == ONGOING:
        for cell in range(SIZE * SIZE):
            if not (is_in(state, 0, cell) or is_in(state, 1, cell)):
                actions[count] = cell
                count += 1
    return count


def play(state: State, action: int) -> None:
    """Place a stone, spread the links until nothing changes, and count the ply: all in place."""
    side = int(state[PLY]) % 2
    put(state, side, action)
    spreads = touches_link(state, side, action)  # if the new stone does not, no other will
    while spreads:
        spreads = False
        for cell in range(SIZE * SIZE):
            is_loose = is_in(state, side, cell) and not is_in(state, 2, cell)
            if is_loose and touches_link(state, side, cell):
                put(state, 2, cell)
                spreads = True
    state[PLY] += U1


def planes(state: State, words: NDArray[np.uint64]) -> None:
    """Show the network the mover's stones, the opponent's, and a plane that is full for o.

    The sides join different edges, so the network must know which side it plays. A transposed
    board would tell it too, but then its policy would have to be transposed back.
    """
    side = int(state[PLY]) % 2
    for i in range(WORDS):
        words[i] = state[STONES + side * WORDS + i]
        words[WORDS + i] = state[STONES + (1 - side) * WORDS + i]
        words[2 * WORDS + i] = FULL[i] if side == 1 else U0


def game(size: int = 7) -> Game:
    """Hex; the parameters are its options: ``examples/hex.py:size=11``."""
    if not 2 <= size <= 11:
        raise ValueError(f"size goes from 2 to 11, not {size}")
    cells, words = size * size, (size * size + 63) // 64
    full = [min((1 << cells) - 1 >> 64 * i, 2**64 - 1) for i in range(words)]

    def set_up(board: str, side: int) -> State:
        """Read a board that somebody typed, by playing its stones."""
        stones = [[cell for cell in range(cells) if board[cell] == glyph] for glyph in "xo"]
        if len(stones[0]) - len(stones[1]) != side:
            raise ValueError(f"{len(stones[0])} x and {len(stones[1])} o: x moves first")
        state = hex_game.new_state()
        for ply in range(len(stones[0]) + len(stones[1])):
            hex_game.plain.play(state, stones[ply % 2][ply // 2])
        return state

    hex_game = Game(
        name="hex",
        title="Hex",
        rules=Rules(start, legal, play, outcome, planes),
        constants={"SIZE": size, "WORDS": words, "FULL": np.array(full, dtype=np.uint64)},
        num_actions=cells, num_words=1 + 3 * words, num_planes=3, shape=(size, size),
        longest=cells, can_repeat=False,
        symmetries=cell_symmetries((identity, half_turn), (size, size), 3, cells),
        set_up=set_up,
    )  # fmt: skip
    return hex_game
