"""Which weights a position switches on, kept up to date move by move: parts of kernels."""

import numpy as np
from numpy.typing import NDArray

from randori.games.kernels import has, wide
from randori.games.rules import STONE_WORDS
from randori.shapes.hashing import hash_shape, imagine, rehash_all, touch_liberties
from randori.shapes.sight import CELL_WORDS, CELLS, HAS_HASHED, HAS_LIBERTIES, Ids, Room, Sight
from randori.shapes.tables import NO_SET, Nets


def see(
    nets: Nets,
    sight: Sight,
    room: Room,
    words: NDArray[np.uint64],
    mover: int,
) -> None:
    """Bring both sides' sight up to date with the planes of the side to move, `mover`."""
    count = 0
    for cell in range(CELLS):
        mine = has(words[cell >> 6], cell & 63)
        theirs = has(words[STONE_WORDS + (cell >> 6)], cell & 63)
        kind = 1 if mine else (2 if theirs else 0)
        if kind != sight.cells[mover, cell]:
            room.changed[count] = cell
            room.kinds[count] = kind
            count += 1
    breathed = 0
    if HAS_LIBERTIES and count > 0:
        imagine(sight, mover, room, count)
        breathed = touch_liberties(nets, sight, mover, room)
        for cell in range(CELLS):
            sight.roots[cell] = room.roots[cell]
            for word in range(CELL_WORDS):
                sight.breath[cell, word] = room.breath[cell, word]
    for i in range(count):
        change(nets, sight, mover, wide(room.changed[i]), wide(room.kinds[i]))
    for side in range(2):
        cells = sight.cells[side]
        if HAS_LIBERTIES:
            for i in range(breathed):
                p = room.touched[i]
                room.marks[p] = 0
                hash_shape(
                    nets.liberties, p, cells, sight.roots, sight.breath,
                    sight.liberties[side, p],
                )  # fmt: skip
        if HAS_HASHED:
            for i in range(count):
                cell = room.changed[i]
                for t in range(nets.hashed.starts[cell], nets.hashed.starts[cell + 1]):
                    p = nets.hashed.around[t]
                    hash_shape(
                        nets.hashed, p, cells, sight.roots, sight.breath,
                        sight.hashed[side, p],
                    )  # fmt: skip


def change(nets: Nets, sight: Sight, mover: int, cell: int, kind: int) -> None:
    """Make a cell `kind` as `mover` sees it, and the codes of the rectangles around it right."""
    exact = nets.exact
    old = wide(sight.cells[mover, cell])
    sight.cells[mover, cell] = kind
    sight.cells[1 - mover, cell] = swapped(kind)
    shift, other_shift = kind - old, swapped(kind) - swapped(old)
    for t in range(exact.starts[cell], exact.starts[cell + 1]):
        sight.codes[mover, exact.around[t]] += shift * exact.powers[t]
        sight.codes[1 - mover, exact.around[t]] += other_shift * exact.powers[t]


def swapped(kind: int) -> int:
    """Return what a cell is to the opponent."""
    return 3 - kind if kind else 0


def clear(nets: Nets, sight: Sight, room: Room) -> None:
    """Look at an empty board."""
    sight.cells[:] = 0
    sight.codes[:] = 0
    sight.roots[:] = -1
    for side in range(2):
        if HAS_HASHED:
            rehash_all(nets.hashed, sight.hashed[side], side, sight, room)
        if HAS_LIBERTIES:
            rehash_all(nets.liberties, sight.liberties[side], side, sight, room)


def active_weights(nets: Nets, sight: Sight, side: int, active: Ids) -> None:
    """List the weights that are on as one side sees the board, in the order of `Nets.slots`."""
    count = 0
    exact = nets.exact
    for p in range(len(exact.base)):
        row = exact.base[p] + sight.codes[side, p]
        for lane in range(2):
            if exact.sets[p, lane] != NO_SET:
                active[count] = exact.ids[row, lane]
                count += 1
    if HAS_HASHED:
        for p in range(len(nets.hashed.cells)):
            for lane in range(2):
                if nets.hashed.sets[p, lane] != NO_SET:
                    active[count] = sight.hashed[side, p, lane]
                    count += 1
    if HAS_LIBERTIES:
        for p in range(len(nets.liberties.cells)):
            for lane in range(2):
                if nets.liberties.sets[p, lane] != NO_SET:
                    active[count] = sight.liberties[side, p, lane]
                    count += 1
