"""Colours and shapes of a drawn board: facts of a game that only pictures use."""

from collections.abc import Callable
from dataclasses import dataclass

from randori.games.kernels import State


@dataclass(frozen=True)
class Stone:
    """How the stones of one side are drawn."""

    fill: str
    rim: str
    sheen: str
    """The light that falls on it."""
    mark: str
    """The ring on the stones of the last move: it must stand out from `fill`."""
    shape: str = "stone"
    """``stone``, ``disc``, ``peg``, or, drawn with a pen, ``cross`` and ``nought``."""


@dataclass(frozen=True)
class Tray:
    """What one side holds beside the board."""

    count: int
    """Pieces in hand."""
    note: str = ""
    """A word about that side, such as a right that it owns just now."""


DARK = Stone("#2b2f36", "#14161a", "#8a929e", "#f3efe4")
LIGHT = Stone("#fbf9f4", "#8f866f", "#ffffff", "#c8321f")


@dataclass(frozen=True)
class Look:
    """How a board is drawn; the default is a plain wooden grid with dark and light stones."""

    board: tuple[str, ...] = ("#ecd9b0",)
    """The board; if it stands in blocks, the columns of blocks take these colours in turn."""
    edge: str = "#c9ad78"
    grid: str = "#cdb587"
    """The lines; empty for a board without."""
    grain: str = ""
    """The grain of wood; empty for a smooth board."""
    legal: str = "#4e8f3a"
    """The dots on cells that a legal move fills."""

    stones: tuple[Stone, Stone] = (DARK, LIGHT)
    radius: int = 19
    """Of a stone; a cell is 48 wide."""
    inks: tuple[str, str] = ("bright_red", "bright_cyan")
    """Colours of the stones in a terminal, which has a handful of them."""

    hole: str = ""
    """A round hole in every cell; empty for none."""
    hole_radius: int = 20
    on_lines: bool = False
    """Whether stones stand on the crossings of the lines instead of between them."""
    points: tuple[tuple[int, int], ...] = ()
    """Crossings with a dot: horizontal and vertical line, counted from 0 at the top left."""
    block: tuple[int, int] = (0, 0)
    """Rows and columns of the blocks, if the board has gaps between blocks; 0 stands for all."""
    rope: str = ""
    """A rope in the gaps between rows of blocks; empty for none."""
    row_names: bool = True
    """Whether the rows are numbered at the left."""

    trays: Callable[[State], tuple[Tray, Tray]] | None = None
    """What the first and the second player hold beside the board; None for games without hands."""

    def is_apart(self, axis: int, index: int) -> bool:
        """Tell whether a gap is before row (axis 0) or column (axis 1) `index`."""
        size = self.block[axis]
        return size > 0 and index > 0 and index % size == 0


PLAIN = Look()
