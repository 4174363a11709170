"""Where the parts of a drawn board lie, in pixels from the upper left corner of the picture."""

from dataclasses import dataclass

from randori.games.game import Game

CELL = 48
HALF = CELL // 2
FRAME = 6
"""How far a board reaches beyond its cells."""
SLIM = FRAME + 4
"""The margin at a side without names."""
MARGIN = 30
GAP = 2 * FRAME + 18
"""Between the cells of two blocks."""
TRAY = 34
"""Height of what one side holds."""


@dataclass(frozen=True)
class Block:
    """A part of the board that stands by itself."""

    number: int
    """Which column of blocks it is in, from the left."""
    columns: tuple[int, ...]
    """The left edges of its columns, then the right edge of the last one."""
    rows: tuple[int, ...]
    """The upper edges of its rows, then the lower edge of the last one."""


@dataclass(frozen=True)
class Layout:
    """The edges of rows and columns, and the size of the picture."""

    columns: tuple[int, ...]
    """The left edge of every column."""
    rows: tuple[int, ...]
    """The upper edge of every row."""
    blocks: tuple[Block, ...]
    right: int
    """Where the cells end."""
    bottom: int
    names: int
    """The height at which the column names stand: beside row 1."""
    trays: int
    """Where the trays begin."""
    width: int
    height: int

    def centre(self, cell: int) -> tuple[int, int]:
        """Return the middle of a cell of the board, x first."""
        row, column = divmod(cell, len(self.columns))
        return self.columns[column] + HALF, self.rows[row] + HALF


def lay_out(game: Game) -> Layout:
    """Give every part of a game's board its place."""
    look = game.look
    left = MARGIN if look.row_names or look.trays else SLIM
    above, below = (SLIM, MARGIN) if game.rows_up else (MARGIN, SLIM)
    rows, columns = _starts(game, 0, above), _starts(game, 1, left)
    blocks = tuple(
        Block(number, across, down)
        for down in _cut(game, 0, rows)
        for number, across in enumerate(_cut(game, 1, columns))
    )
    right, bottom = columns[-1] + CELL, rows[-1] + CELL
    return Layout(
        columns, rows, blocks, right, bottom,
        names=bottom + (FRAME + below) // 2 if game.rows_up else (above - FRAME) // 2,
        trays=bottom + below,
        width=right + SLIM,
        height=bottom + below + (2 * TRAY + FRAME if look.trays else 0),
    )  # fmt: skip


def _starts(game: Game, axis: int, at: int) -> tuple[int, ...]:
    """Return the edges of the rows (axis 0) or columns, the first of them being at `at`."""
    starts = []
    for index in range(game.board[axis]):
        at += GAP if game.look.is_apart(axis, index) else 0
        starts.append(at + index * CELL)
    return tuple(starts)


def _cut(game: Game, axis: int, starts: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Cut edges into those of the blocks, and close each with its far edge."""
    size = game.look.block[axis] or len(starts)
    parts = [starts[i : i + size] for i in range(0, len(starts), size)]
    return [(*part, part[-1] + CELL) for part in parts]
