"""Shape sets: which rectangles of a board are looked at, and how generally (paper B, section 4).

A set is written ``2x2`` (location independent), ``2x2@`` (location dependent) and, with the
external liberties of the stones, ``2x2+`` and ``2x2+@``. A size stands for the rectangle and for
what turns make of it: ``3x2`` looks at 2×3 rectangles too.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from randori.errors import UserError

SIZES = ("1x1", "2x1", "2x2", "3x2", "3x3", "4x3", "4x4", "5x4", "5x5")
"""Those of the paper, from the most general to the most specific."""
EXACT_CELLS = 9
"""Rectangles of more cells share their weights by hashing; so do all liberty shapes."""


@dataclass(frozen=True, order=True)
class ShapeSet:
    """One set; `height` is never less than `width`."""

    height: int
    width: int
    is_placed: bool = False
    """Whether a shape has another weight at another place of the board."""
    has_liberties: bool = False
    """Whether stones count with their 0, 1 or more liberties outside of the rectangle."""

    def __post_init__(self) -> None:
        if not 1 <= self.width <= self.height <= 5:
            raise ValueError(f"shapes go from 1x1 to 5x5, not {self.height}x{self.width}")

    def __str__(self) -> str:
        return f"{self.size}{'+' if self.has_liberties else ''}{'@' if self.is_placed else ''}"

    @property
    def size(self) -> str:
        """The rectangle as people write it."""
        return f"{self.height}x{self.width}"

    @property
    def cells(self) -> int:
        """Cells of the rectangle."""
        return self.height * self.width

    @property
    def is_hashed(self) -> bool:
        """Whether there are too many shapes for a weight each."""
        return self.has_liberties or self.cells > EXACT_CELLS

    def is_as_general_as(self, other: "ShapeSet") -> bool:
        """Tell whether every shape here is a part of one there that says no less (the G of B)."""
        return (
            self.height <= other.height
            and self.width <= other.width
            and self.is_placed <= other.is_placed
            and self.has_liberties <= other.has_liberties
        )


def parse_set(text: str) -> ShapeSet:
    """Read ``3x2``, ``3x2@``, ``3x2+`` or ``3x2+@``."""
    found = re.fullmatch(r"([1-9])x([1-9])(\+?)(@?)", text.strip())
    try:
        if not found:
            raise ValueError(f"expected a shape set such as 2x2 or 3x3@, found {text!r}")
        width, height = sorted((int(found[1]), int(found[2])))
        return ShapeSet(height, width, bool(found[4]), bool(found[3]))
    except ValueError as error:
        raise UserError(str(error)) from None


def parse_sets(text: str) -> tuple[ShapeSet, ...]:
    """Read sets that a space or a ``/`` parts; ``..3x3@`` is all sets as general as the last."""
    found: list[ShapeSet] = []
    for word in re.split(r"[\s/]+", text.strip()):
        if word.startswith(".."):
            found += general_sets(parse_set(word[2:]))
        else:
            found.append(parse_set(word))
    return ordered(found)


def ordered(sets: Iterable[ShapeSet]) -> tuple[ShapeSet, ...]:
    """Return the sets once each, the general ones first."""
    return tuple(sorted(set(sets), key=lambda s: (s.has_liberties, s.cells, s.height, s.is_placed)))


def general_sets(last: ShapeSet) -> tuple[ShapeSet, ...]:
    """Return the paper's sets that are as general as one of them, itself included."""
    sizes = (parse_set(size) for size in SIZES)
    every = (
        ShapeSet(size.height, size.width, is_placed, has_liberties)
        for size in sizes
        for is_placed in (False, True)
        for has_liberties in (False, True)
    )
    return ordered(s for s in every if s.is_as_general_as(last))
