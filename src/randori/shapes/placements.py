"""Where the rectangles of a size lie on a board, and which of them are images of each other.

Every rectangle has a home: of all its images under the symmetries of the board, the first one in
reading order, upright ones before those that lie. The views of a rectangle are the ways to lay it
on its home, written as the cells in the order in which the home's are read. Shapes are compared at
home, so that images share weights; and homes are named by their distance from the upper left
corner, so that boards of other sizes have the same ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Cells = tuple[int, ...]


@dataclass(frozen=True)
class Home:
    """A rectangle that others are images of: upper left corner, height and width."""

    row: int
    column: int
    height: int
    width: int


@dataclass(frozen=True)
class Placement:
    """A rectangle of the board; its cells are those of its first view."""

    home: Home
    views: tuple[Cells, ...]
    """All ways to lay it on a rectangle of its home's height and width, wherever that is; the
    first `num_home_views` lay it on its home itself."""
    num_home_views: int

    @property
    def cells(self) -> Cells:
        """The cells, in the order in which those of the home are read."""
        return self.views[0]


def place(
    sides: tuple[int, int], board: tuple[int, int], turns: NDArray[np.int32]
) -> list[Placement]:
    """List the rectangles of a size, turned ones too if the board's symmetries have turns.

    `turns` [S, cells] says where each symmetry takes a cell.
    """
    return [
        _placement(Home(row, column, height, width), board, turns)
        for height, width in dict.fromkeys((sides, sides[::-1]))
        for row in range(board[0] - height + 1)
        for column in range(board[1] - width + 1)
    ]


def _placement(here: Home, board: tuple[int, int], turns: NDArray[np.int32]) -> Placement:
    cells = _cells(here, board[1])
    images = [_image(cells, turn, board[1]) for turn in turns]
    home = min((image for image, _ in images), key=lambda h: (-h.height, h.row, h.column))
    alike = [(image, view) for image, view in images if image.height == home.height]
    at_home = dict.fromkeys(view for image, view in alike if image == home)
    views = dict.fromkeys([*at_home, *(view for _, view in alike)])
    return Placement(home, tuple(views), len(at_home))


def _cells(home: Home, width: int) -> Cells:
    return tuple(
        (home.row + r) * width + home.column + c
        for r in range(home.height)
        for c in range(home.width)
    )


def _image(cells: Cells, turn: NDArray[np.int32], width: int) -> tuple[Home, Cells]:
    """Return where a symmetry takes a rectangle, and its cells in the order of the image's."""
    source = {int(turn[cell]): cell for cell in cells}
    places = sorted(source)
    (top, left), (bottom, right) = divmod(places[0], width), divmod(places[-1], width)
    image = Home(top, left, bottom - top + 1, right - left + 1)
    return image, tuple(source[place] for place in places)


def transform_codes(order: Sequence[int], cells: int) -> NDArray[np.int64]:
    """Return the code of each of the 3**cells shapes after its cells are read in another order.

    A shape's code has cell k as its k-th digit to the base of 3.
    """
    codes = np.arange(3**cells, dtype=np.int64)
    turned = np.zeros_like(codes)
    for digit, source in enumerate(order):
        turned += codes // 3**source % 3 * 3**digit
    return turned
