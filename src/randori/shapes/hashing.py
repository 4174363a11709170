"""Weights that are found by hashing, and the chains whose liberties they may depend on."""

import numpy as np
from numpy.typing import NDArray

from randori.games.kernels import U0, bit, mix, popcount, scratch, wide
from randori.shapes.sight import CELL_WORDS, CELLS, HAS_LIBERTIES, WIDTH, Ids, Room, Sight
from randori.shapes.tables import NO_SET, VIEWS, Hashed, Nets


def neighbour(cell: int, direction: int) -> int:
    """Return the next cell to the right, left, below or above, or -1 off the board."""
    column = cell % WIDTH
    if direction == 0:
        return cell + 1 if column + 1 < WIDTH else -1
    if direction == 1:
        return cell - 1 if column > 0 else -1
    if direction == 2:
        return cell + WIDTH if cell + WIDTH < CELLS else -1
    return cell - WIDTH


def find_chains(
    cells: NDArray[np.int8],
    roots: NDArray[np.int16],
    breath: NDArray[np.uint64],
    queue: NDArray[np.int16],
) -> None:
    """Find the chains of a board and their liberties."""
    for cell in range(CELLS):
        roots[cell] = -1
    for root in range(CELLS):
        if cells[root] == 0 or roots[root] >= 0:
            continue
        for word in range(CELL_WORDS):
            breath[root, word] = U0
        roots[root] = root
        queue[0] = root
        head, tail = 0, 1
        while head < tail:
            cell = wide(queue[head])
            head += 1
            for direction in range(4):
                other = neighbour(cell, direction)
                if other < 0:
                    continue
                if cells[other] == 0:
                    breath[root, other >> 6] |= bit(other & 63)
                elif cells[other] == cells[root] and roots[other] < 0:
                    roots[other] = root
                    queue[tail] = other
                    tail += 1


def kind_of(
    table: Hashed,
    p: int,
    cell: int,
    cells: NDArray[np.int8],
    roots: NDArray[np.int16],
    breath: NDArray[np.uint64],
) -> int:
    """Return what a cell is in a rectangle: with liberty shapes, 1 to 3 mine, 4 to 6 theirs."""
    stone: int = wide(cells[cell])
    if stone == 0 or not table.has_liberties:
        return stone
    outside, root = 0, roots[cell]
    for word in range(CELL_WORDS):
        outside += popcount(breath[root, word] & ~table.masks[p, word])
    return 3 * stone - 2 + min(outside, 2)


def hash_shape(
    table: Hashed,
    p: int,
    cells: NDArray[np.int8],
    roots: NDArray[np.int16],
    breath: NDArray[np.uint64],
    pair: Ids,
) -> None:
    """Find the weights of a rectangle, one a lane."""
    sums = scratch(VIEWS)
    words = table.words[table.forms[p]]
    for k in range(table.num_cells[p]):
        kind = kind_of(table, p, table.cells[p, k], cells, roots, breath)
        if kind != 0:
            for view in range(VIEWS):
                sums[view] += words[k, kind, view]
    least = ~U0
    at_home = least
    for view in range(VIEWS):
        least = min(least, sums[view])
        if view < table.num_home_views[p]:
            at_home = least
    for lane in range(2):
        pair[lane] = 0
        if table.sets[p, lane] != NO_SET:
            key = mix(table.salts[p, lane], at_home if lane == 1 else least)
            place = (key >> np.uint64(32)) * np.uint64(table.bins) >> np.uint64(32)
            pair[lane] = table.firsts[p, lane] + wide(place)


def rehash_all(table: Hashed, weights: Ids, side: int, sight: Sight, room: Room) -> None:
    """Find the weights of all hashed rectangles as one side sees the board."""
    for p in range(len(table.cells)):
        hash_shape(table, p, sight.cells[side], sight.roots, sight.breath, weights[p])


def imagine(sight: Sight, side: int, room: Room, count: int) -> None:
    """Write the board with the changes of a move into `room`, with its chains if they matter."""
    for cell in range(CELLS):
        room.cells[cell] = sight.cells[side, cell]
    for i in range(count):
        room.cells[room.changed[i]] = room.kinds[i]
    if HAS_LIBERTIES:
        find_chains(room.cells, room.roots, room.breath, room.queue)


def touch_liberties(nets: Nets, sight: Sight, side: int, room: Room) -> int:
    """List the liberty rectangles that the imagined board changes; return how many."""
    table = nets.liberties
    touched = 0
    for cell in range(CELLS):
        if is_same(sight, side, room, cell):
            continue
        few = -1
        if sight.cells[side, cell] == room.cells[cell]:
            few = fewest(sight, room, cell)
        for t in range(table.starts[cell], table.starts[cell + 1]):
            p = table.around[t]
            # Of so many liberties two are outside whatever the rectangle holds.
            if room.marks[p] != 0 or few > table.num_cells[p]:
                continue
            old = kind_of(table, p, cell, sight.cells[side], sight.roots, sight.breath)
            if old != kind_of(table, p, cell, room.cells, room.roots, room.breath):
                room.marks[p] = 1
                room.touched[touched] = p
                touched += 1
    return touched


def fewest(sight: Sight, room: Room, cell: int) -> int:
    """Return the liberties of a stone's chain, now or on the imagined board, if that is less."""
    now, then = 0, 0
    for word in range(CELL_WORDS):
        now += popcount(sight.breath[sight.roots[cell], word])
        then += popcount(room.breath[room.roots[cell], word])
    return min(now, then)


def is_same(sight: Sight, side: int, room: Room, cell: int) -> bool:
    """Tell whether the imagined board leaves a cell and the liberties of its chain alone."""
    if sight.cells[side, cell] != room.cells[cell]:
        return False
    if room.cells[cell] == 0:
        return True
    old, new = sight.roots[cell], room.roots[cell]
    differs = False
    for word in range(CELL_WORDS):
        differs |= sight.breath[old, word] != room.breath[new, word]
    return not differs
