"""Shape sets as flat arrays: all that kernels need to go from stones to weights.

A position switches on one weight a set and rectangle. Rectangles of up to 9 cells keep a *code*,
their stones to the base of 3 (0 empty, 1 mine, 2 theirs), and a table from codes to weights; a
stone changes the codes of the rectangles around it by a power of 3. Larger rectangles, and all
whose stones count with their liberties, keep sums of random words, one a view, and the least of
them says which weight it is; images have the same sums, only in another order.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from randori.errors import UserError
from randori.games.game import Game
from randori.games.kernels import U0, bit, mix
from randori.shapes.placements import Home, Placement, place, transform_codes
from randori.shapes.sets import ShapeSet, ordered

BINS = 100_000
"""Weights of a hashed set, as in the paper."""
NO_SET = -1
VIEWS = 8
"""Of a rectangle; those that have fewer repeat their first."""
LIBERTY_KINDS = 7
"""What a cell of a liberty shape may be: empty, or mine or theirs with 0, 1 or more liberties."""
Ints = NDArray[np.int32]


class Exact(NamedTuple):
    """Rectangles with a table each; lane 0 is location independent, lane 1 dependent."""

    starts: Ints
    """[cells + 1] where the rectangles around a cell begin in the next two"""
    around: Ints
    powers: Ints
    base: Ints
    """[P] the row of `ids` at which a rectangle's table begins"""
    ids: Ints
    """[R, 2] weights by code; weight 0 stays 0 and stands for a set that is not there"""
    sets: Ints
    """[P, 2] which set a rectangle belongs to in each lane, or NO_SET"""


class Hashed(NamedTuple):
    """Rectangles whose weights are found by hashing."""

    starts: Ints
    """[cells + 1] where the rectangles around a cell begin in `around`"""
    around: Ints
    cells: Ints
    """[P, 25] the cells of a rectangle; -1 behind the last"""
    num_cells: Ints
    """[P]"""
    forms: Ints
    """[P] which of the next ones a rectangle goes by"""
    words: NDArray[np.uint64]
    """[F, 25, kinds, VIEWS] what a cell of each kind adds to the sum of each view; an empty one
    nothing"""
    num_home_views: Ints
    """[P] the first views: those that count where places matter"""
    salts: NDArray[np.uint64]
    """[P, 2] keeps sets, and rectangles of a location dependent set, apart"""
    sets: Ints
    """[P, 2]"""
    firsts: Ints
    """[P, 2] the first weight of the set in each lane"""
    masks: NDArray[np.uint64]
    """[P, words] the cells of a rectangle as bits"""
    bins: int
    has_liberties: bool


class Nets(NamedTuple):
    """All rectangles of a board: what kernels are handed."""

    exact: Exact
    hashed: Hashed
    liberties: Hashed
    slots: Ints
    """[A] the set of each weight that is on, in the order of `features.active_weights`"""


@dataclass(frozen=True)
class SetFacts:
    """How many weights a set has, where they begin, and how many are on in any position."""

    set: ShapeSet
    weights: int
    first: int
    active: int


@dataclass(frozen=True)
class Tables:
    """The sets of one board."""

    board: tuple[int, int]
    facts: tuple[SetFacts, ...]
    nets: Nets
    homes: dict[Home, int]
    """the row of `nets.exact.ids` at which each home's table begins"""

    @property
    def sets(self) -> tuple[ShapeSet, ...]:
        """The sets, general ones first."""
        return tuple(fact.set for fact in self.facts)

    @property
    def num_weights(self) -> int:
        """Weights of all sets, and the one that stays 0."""
        return 1 + sum(fact.weights for fact in self.facts)

    def generality(self) -> NDArray[np.float64]:
        """[i, j] 1 where set j is as general as set i (the paper's G, turned)."""
        return np.array([[float(j.is_as_general_as(i)) for j in self.sets] for i in self.sets])


def board_turns(game: Game) -> NDArray[np.int32]:
    """Return where each symmetry of a game takes a cell; refuse boards that are no plain grid."""
    cells = game.board_cells
    plain = np.array_equal(game.seen, np.tile(np.arange(cells), (2, 1)))
    if game.stone_planes != 1 or not plain:
        raise UserError(f"local shapes need one plane of cells a side; {game.name} has another")
    turns: NDArray[np.int32] = game.symmetries.inputs[:, :cells]
    return turns


def build_tables(
    sets: tuple[ShapeSet, ...], board: tuple[int, int], turns: NDArray[np.int32], bins: int = BINS
) -> Tables:
    """Lay the sets on a board with the given symmetries."""
    sets = ordered(sets)
    for one in sets:
        if one.height > max(board) or one.width > min(board):
            raise UserError(f"{one} does not fit on a board of {board[0]}x{board[1]}")
    laid = {
        sides: place(sides, board, turns)
        for sides in dict.fromkeys((one.height, one.width) for one in sets)
    }
    exact, counts, homes = _build_exact(sets, laid, board)
    facts, first = [], 1
    for one in sets:
        weights = bins if one.is_hashed else counts[one]
        facts.append(SetFacts(one, weights, first, len(laid[one.height, one.width])))
        first += weights
    if first > np.iinfo(np.int32).max:
        raise UserError(f"{first - 1} weights are too many; choose fewer bins or sets")
    for lane, fact in ((int(fact.set.is_placed), fact) for fact in facts):
        here = exact.sets[:, lane] == facts.index(fact)
        for row in np.unique(exact.base[here]):  # tables hold numbers within a set until here
            size = 3**fact.set.cells
            exact.ids[row : row + size, lane] += fact.first
    hashed = _build_hashed(facts, laid, board, bins, has_liberties=False)
    liberties = _build_hashed(facts, laid, board, bins, has_liberties=True)
    lanes = np.concatenate([exact.sets, hashed.sets, liberties.sets]).reshape(-1)
    nets = Nets(exact, hashed, liberties, lanes[lanes != NO_SET].copy())
    return Tables(board, tuple(facts), nets, homes)


Laid = dict[tuple[int, int], list[Placement]]


def _build_exact(
    sets: tuple[ShapeSet, ...], laid: Laid, board: tuple[int, int]
) -> tuple[Exact, dict[ShapeSet, int], dict[Home, int]]:
    """Make the tables; weights are numbered from 0 within each set."""
    places: list[Placement] = []
    lanes: list[list[int]] = []
    counts: dict[ShapeSet, int] = {}
    homes: dict[Home, int] = {}
    rows: list[NDArray[np.int32]] = []
    num_rows = 0
    for sides, found in laid.items():
        indices = [NO_SET, NO_SET]
        for index, one in enumerate(sets):
            if (one.height, one.width) == sides and not one.is_hashed:
                indices[one.is_placed] = index
        if indices == [NO_SET, NO_SET]:
            continue
        places += found
        lanes += [indices] * len(found)
        shared: dict[tuple[int, int], NDArray[np.int32]] = {}
        total = [0, 0]
        for spot in found:
            if spot.home in homes:
                continue
            homes[spot.home] = num_rows
            form = (spot.home.height, spot.home.width)
            if form not in shared:
                shared[form] = _number(spot, len(spot.views)) + total[0]
                total[0] = int(shared[form].max()) + 1
            placed = _number(spot, spot.num_home_views) + total[1]
            total[1] = int(placed.max()) + 1
            both = (shared[form], placed)
            rows.append(
                np.stack(
                    [both[i] if indices[i] != NO_SET else 0 * placed for i in range(2)], axis=1
                )
            )
            num_rows += len(placed)
        for lane, index in enumerate(indices):
            if index != NO_SET:
                counts[sets[index]] = total[lane]
    starts, around, powers = _touches([p.cells for p in places], board)
    exact = Exact(
        starts, around, 3**powers,
        np.array([homes[p.home] for p in places], dtype=np.int32),
        np.concatenate(rows) if rows else np.zeros((1, 2), dtype=np.int32),
        np.array(lanes, dtype=np.int32).reshape(-1, 2),
    )  # fmt: skip
    return exact, counts, homes


def _number(spot: Placement, num_views: int) -> NDArray[np.int32]:
    """Number the shapes of a rectangle; those that its first views make of each other are one."""
    here = {cell: k for k, cell in enumerate(spot.cells)}
    least = np.full(3 ** len(spot.cells), 3 ** len(spot.cells), dtype=np.int64)
    for view in spot.views[:num_views]:
        order = [here[cell] for cell in view]
        least = np.minimum(least, transform_codes(order, len(order)))
    numbers: NDArray[np.int64] = np.unique(least, return_inverse=True)[1]
    return numbers.astype(np.int32).reshape(-1)


def _touches(places: list[tuple[int, ...]], board: tuple[int, int]) -> tuple[Ints, Ints, Ints]:
    """List, for each cell, the rectangles that it is in and its place in them."""
    around: list[list[tuple[int, int]]] = [[] for _ in range(board[0] * board[1])]
    for p, cells in enumerate(places):
        for k, cell in enumerate(cells):
            around[cell].append((p, k))
    starts = np.cumsum([0, *(len(one) for one in around)])
    pairs = np.array([pair for one in around for pair in one], dtype=np.int32).reshape(-1, 2)
    return starts.astype(np.int32), pairs[:, 0].copy(), pairs[:, 1].copy()


def _build_hashed(
    facts: list[SetFacts], laid: Laid, board: tuple[int, int], bins: int, *, has_liberties: bool
) -> Hashed:
    places: list[Placement] = []
    lanes: list[list[int]] = []
    for sides, found in laid.items():
        indices = [NO_SET, NO_SET]
        for index, fact in enumerate(facts):
            one = fact.set
            is_alike = one.is_hashed and one.has_liberties == has_liberties
            if is_alike and (one.height, one.width) == sides:
                indices[one.is_placed] = index
        if indices != [NO_SET, NO_SET]:
            places += found
            lanes += [indices] * len(found)
    count = len(places)
    cells = np.full((count, 25), -1, dtype=np.int32)
    salts, firsts = np.zeros((count, 2), np.uint64), np.zeros((count, 2), np.int32)
    masks = np.zeros((count, -(-board[0] * board[1] // 64)), dtype=np.uint64)
    forms: dict[tuple[tuple[int, ...], ...], int] = {}
    form_of = np.zeros(count, dtype=np.int32)
    for p, spot in enumerate(places):
        cells[p, : len(spot.cells)] = spot.cells
        for cell in spot.cells:
            masks[p, cell >> 6] |= bit(cell & 63)
        orders = tuple(tuple(view.index(cell) for cell in spot.cells) for view in spot.views)
        form_of[p] = forms.setdefault(orders, len(forms))
        home = spot.home
        with np.errstate(over="ignore"):
            form = mix(np.uint64(home.height), np.uint64(100 * home.width + has_liberties))
            salts[p] = form, mix(form, np.uint64(1000 * (home.row + 1) + home.column))
        firsts[p] = [facts[i].first if i != NO_SET else 0 for i in lanes[p]]
    starts, around, _ = _touches([spot.cells for spot in places], board)
    return Hashed(
        starts, around, cells,
        np.array([len(spot.cells) for spot in places], dtype=np.int32),
        form_of, _view_words(list(forms), LIBERTY_KINDS if has_liberties else 3),
        np.array([spot.num_home_views for spot in places], dtype=np.int32),
        salts, np.array(lanes, dtype=np.int32).reshape(-1, 2), firsts, masks, bins, has_liberties,
    )  # fmt: skip


def _view_words(forms: list[tuple[tuple[int, ...], ...]], kinds: int) -> NDArray[np.uint64]:
    """Draw a word for each place and kind, and lay them out by views."""
    with np.errstate(over="ignore"):
        drawn = np.array(
            [[mix(U0, np.uint64(7 * k + kind + 1)) for kind in range(kinds)] for k in range(25)]
        )
    drawn[:, 0] = 0
    words = np.zeros((max(1, len(forms)), 25, kinds, VIEWS), dtype=np.uint64)
    for f, orders in enumerate(forms):
        for v in range(VIEWS):
            for k, spot in enumerate(orders[v if v < len(orders) else 0]):
                words[f, k, :, v] = drawn[spot]
    return words
