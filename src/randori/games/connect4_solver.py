"""Connect 4 solved: the exact score of any position, for the side to move.

A score of k > 0 is a win with one's k-th last stone, the last stone counting 1; k < 0 a loss, 0 a
draw. Negamax with a null window, moves ordered by the threats they make, positions remembered as
the mover's stones and the first empty cell of each column; openings come from a book.
"""

import io
import lzma
from dataclasses import dataclass
from functools import cache
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from randori.errors import UserError
from randori.games.connect4 import BOARD, FLOOR, HEIGHT, MINE, THEIRS, WIDTH
from randori.games.game import Game
from randori.games.kernels import (
    DRAW,
    ONGOING,
    U0,
    U1,
    State,
    lowest,
    mix,
    popcount,
    scratch,
    wide,
    without_lowest,
)

CELLS = WIDTH * HEIGHT
ROWS_UP = np.uint64(WIDTH + 1)
"""The step from a cell to the one above."""
LEAST = 96
"""Marks a remembered bound as a lower one."""
PLACES = 1 << 23
"""Of the table: 72 MB."""
NODES = 0
BOOK, BOOK_PLIES = "connect4-book.npz.xz", 10
"""Scores of all positions with at most so many stones, mirrored ones left out."""


def playable(taken: np.uint64) -> np.uint64:
    """The first empty cell of each column; above the board where it is full."""
    return ((taken << ROWS_UP) | FLOOR) & ~taken


def winning(stones: np.uint64, taken: np.uint64) -> np.uint64:
    """Empty cells that complete four of `stones`, whether they can be reached or not."""
    up = ROWS_UP
    found = (stones << up) & (stones << (up + up)) & (stones << (up + up + up))
    for step in (U1, up - U1, up + U1):
        pair = (stones << step) & (stones << (step + step))
        found |= pair & (stones << (step + step + step))
        found |= pair & (stones >> step)
        pair = (stones >> step) & (stones >> (step + step))
        found |= pair & (stones << step)
        found |= pair & (stones >> (step + step + step))
    return found & BOARD & ~taken


def safe_moves(mine: np.uint64, theirs: np.uint64) -> np.uint64:
    """Moves after which the opponent does not win at once; I have no winning move myself."""
    taken = mine | theirs
    moves = playable(taken) & BOARD
    threats = winning(theirs, taken)
    forced = moves & threats
    if forced != U0:
        if without_lowest(forced) != U0:
            return U0  # two threats cannot both be met
        moves = forced
    return moves & ~(threats >> ROWS_UP)  # not below a cell where the opponent wins


def place_of(key: np.uint64, places: int) -> int:
    """Where a key is remembered."""
    place: int = wide(mix(U0, key) & np.uint64(places - 1))
    return place


def negamax(
    mine: np.uint64,
    theirs: np.uint64,
    stones: int,
    alpha: int,
    beta: int,
    keys: NDArray[np.uint64],
    bounds: NDArray[np.int8],
    counts: NDArray[np.int64],
) -> int:
    """Bound the score of a position in which the mover has no winning move at once."""
    counts[NODES] += 1
    moves = safe_moves(mine, theirs)
    if moves == U0:
        return -((CELLS - stones) // 2)
    if stones >= CELLS - 2:
        return 0
    alpha = max(alpha, -((CELLS - 2 - stones) // 2))
    beta = min(beta, (CELLS - 1 - stones) // 2)
    if alpha >= beta:
        return alpha
    taken = mine | theirs
    key = mine | playable(taken)
    place = place_of(key, len(keys))
    if keys[place] == key:
        bound = wide(bounds[place])
        if bound > LEAST // 2:
            alpha = max(alpha, bound - LEAST)
        else:
            beta = min(beta, bound)
        if alpha >= beta:
            return alpha
    order, ranks = scratch(10), scratch(10)
    count = 0
    while moves != U0:  # sorted by threats, then from the middle
        move = moves & (~moves + U1)
        moves ^= move
        distance = abs(2 * (lowest(move) % (WIDTH + 1)) - (WIDTH - 1))
        rank = np.uint64(32 * popcount(winning(mine | move, taken | move)) + 31 - distance)
        at = count
        while at > 0 and ranks[at - 1] < rank:
            order[at], ranks[at] = order[at - 1], ranks[at - 1]
            at -= 1
        order[at], ranks[at] = move, rank
        count += 1
    for i in range(count):  # a move may be known to be good enough
        other = theirs | playable(taken | order[i])
        there = place_of(other, len(keys))
        if keys[there] == other:
            reached: int = -wide(bounds[there])
            if reached >= max(beta, -LEAST // 2):
                keys[place] = key
                bounds[place] = reached + LEAST
                return reached
    for i in range(count):
        score = -negamax(theirs, mine | order[i], stones + 1, -beta, -alpha, keys, bounds, counts)
        if score >= beta:
            keys[place] = key
            bounds[place] = score + LEAST
            return score
        alpha = max(alpha, score)
    keys[place] = key
    bounds[place] = alpha
    return alpha


def solve(
    mine: np.uint64,
    theirs: np.uint64,
    keys: NDArray[np.uint64],
    bounds: NDArray[np.int8],
    counts: NDArray[np.int64],
) -> int:
    """Return the exact score, by null windows that close in on it from the middle."""
    taken = mine | theirs
    stones = popcount(taken)
    if stones == CELLS:
        return 0
    if winning(mine, taken) & playable(taken) != U0:
        return (CELLS + 1 - stones) // 2
    low, high = -((CELLS - stones) // 2), (CELLS + 1 - stones) // 2
    while low < high:
        middle = low + (high - low) // 2
        if middle <= 0 and low // 2 < middle:
            middle = -(-low // 2)
        elif middle >= 0 and high // 2 > middle:
            middle = high // 2
        score = negamax(mine, theirs, stones, middle, middle + 1, keys, bounds, counts)
        if score <= middle:
            high = score
        else:
            low = score
    return low


class Solver:
    """Exact scores of one board size, with a table that it keeps."""

    def __init__(self, game: Game, *, book: bool = True) -> None:
        height, width = game.board
        if (height + 1) * (width + 1) > 64:  # the mark above a full column needs its bit
            raise ValueError("the solver is for boards with (height + 1) * (width + 1) <= 64")
        self._game = game
        self._solve = game.kernel(
            solve, **game.constants, CELLS=width * height, ROWS_UP=np.uint64(width + 1)
        )
        self._keys = np.zeros(PLACES, dtype=np.uint64)
        self._bounds = np.zeros(PLACES, dtype=np.int8)
        self.nodes = np.zeros(1, dtype=np.int64)
        """How many positions were visited, ever."""
        is_usual = (height, width) == (HEIGHT, WIDTH)
        self._book = load_book() if book and is_usual else NO_BOOK

    def score(self, state: State) -> int:
        """Return the exact score for the side to move of a position that is not over."""
        mine, theirs = state[MINE], state[THEIRS]
        if len(self._book.keys) and int(state[0]) <= BOOK_PLIES:
            known = self._book.find(book_key(int(mine), int(theirs)))
            if known is None:
                raise UserError(
                    "no game reaches this position, and with so few stones only the opening book "
                    "answers in good time"
                )
            return known
        return int(self._solve(mine, theirs, self._keys, self._bounds, self.nodes))

    def scores(self, state: State) -> dict[int, int]:
        """Return the exact score of every legal move, for the side that plays it."""
        return {action: self._weigh(state, action) for action in self._game.legal_actions(state)}

    def _weigh(self, state: State, action: int) -> int:
        after = state.copy()
        self._game.plain.play(after, action)
        result = self._game.plain.outcome(after)
        if result == ONGOING:
            return -self.score(after)
        return 0 if result == DRAW else (self._game.board_cells + 2 - int(after[0])) // 2


def book_key(mine: int, theirs: int) -> int:
    """Number a position so that its mirror image has the same number."""
    taken = mine | theirs
    marks = ((taken << WIDTH + 1) | int(FLOOR)) & ~taken
    key = mine | marks
    mirrored = 0
    for row in range(HEIGHT + 1):
        line = key >> row * (WIDTH + 1)
        for column in range(WIDTH):
            mirrored |= (line >> column & 1) << row * (WIDTH + 1) + WIDTH - 1 - column
    return min(key, mirrored)


@dataclass(frozen=True)
class Book:
    """Scores of openings, by ascending keys."""

    keys: NDArray[np.uint64]
    scores: NDArray[np.int8]

    def find(self, key: int) -> int | None:
        """Return the score of a position, if it is there."""
        place = int(np.searchsorted(self.keys, np.uint64(key)))
        is_there = place < len(self.keys) and int(self.keys[place]) == key
        return int(self.scores[place]) if is_there else None


NO_BOOK = Book(np.zeros(0, np.uint64), np.zeros(0, np.int8))


@cache
def load_book() -> Book:
    """Read the scores of the openings; the file holds the steps between keys, which pack better."""
    path = resources.files("randori.games") / BOOK
    plain = io.BytesIO(lzma.decompress(path.read_bytes()))
    with np.load(plain, allow_pickle=False) as arrays:
        return Book(np.cumsum(arrays["steps"], dtype=np.uint64), arrays["scores"])
