"""Figure 6 of paper B: the most and the least valued shapes of each set, as a picture."""

from collections.abc import Iterator
from dataclasses import dataclass
from xml.sax.saxutils import escape

import numpy as np

from randori.shapes.placements import Home
from randori.shapes.sets import ShapeSet
from randori.shapes.value import ShapeValue

CELL, GAP, MARGIN = 26, 24, 16
BOARD, LINE, EDGE = "#e3b667", "#4a3512", "#4a3512"
STONES = {1: "#24272b", 2: "#f8f6f0"}


@dataclass(frozen=True)
class Shape:
    """A shape at its home, and its weight; a code's digit k is cell k of the home."""

    set: ShapeSet
    home: Home
    code: int
    weight: float

    @property
    def cells(self) -> tuple[int, ...]:
        """0 empty, 1 mine, 2 theirs, row by row."""
        return tuple(self.code // 3**k % 3 for k in range(self.set.cells))


def extremes(value: ShapeValue, count: int) -> dict[ShapeSet, tuple[list[Shape], list[Shape]]]:
    """Return the most and the least valued shapes of each set that has a table."""
    tables, found = value.tables, {}
    for fact in tables.facts:
        if fact.set.is_hashed:
            continue
        weights = value.theta[fact.first : fact.first + fact.weights]
        order = np.argsort(weights, kind="stable")
        where = _find(value, fact.set)
        best = [_shape(value, fact.set, fact.first + int(i), where) for i in order[::-1][:count]]
        worst = [_shape(value, fact.set, fact.first + int(i), where) for i in order[:count]]
        found[fact.set] = best, worst
    return found


def _find(value: ShapeValue, one: ShapeSet) -> dict[int, tuple[Home, int]]:
    """Map each weight of a set to a shape that has it."""
    found: dict[int, tuple[Home, int]] = {}
    tables = value.tables
    for home, row in tables.homes.items():
        if {home.height, home.width} == {one.height, one.width}:
            ids = tables.nets.exact.ids[row : row + 3**one.cells, int(one.is_placed)]
            for weight, code in zip(*np.unique(ids, return_index=True), strict=True):
                found.setdefault(int(weight), (home, int(code)))
    return found


def _shape(
    value: ShapeValue, one: ShapeSet, weight: int, where: dict[int, tuple[Home, int]]
) -> Shape:
    home, code = where[weight]
    return Shape(one, home, code, float(value.theta[weight]))


def draw_extremes(value: ShapeValue, count: int = 5) -> str:
    """Draw them: a row a set, the most valued at the left; where places matter, with the edges."""
    found = extremes(value, count)
    column = 3 * CELL + GAP
    width = 2 * MARGIN + 70 + 2 * count * column + GAP
    parts, y = [], MARGIN + 34
    middle = MARGIN + 70 + count * column + GAP / 2
    for one, (best, worst) in found.items():
        height = one.height * CELL
        parts.append(_text(MARGIN, y + height / 2 + 4, str(one), 'font-weight="600"'))
        for i, shape in enumerate(best):
            parts += _draw(shape, value.tables.board, MARGIN + 70 + i * column, y)
        for i, shape in enumerate(worst):
            parts += _draw(shape, value.tables.board, middle + GAP / 2 + i * column, y)
        y += height + 40
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {y:g}" '
            f'width="{width:g}" height="{y:g}" font-size="12" '
            'font-family="system-ui, DejaVu Sans, sans-serif">',
            "<title>Most and least valued shapes</title>",
            f'<rect width="{width:g}" height="{y:g}" fill="#ffffff"/>',
            _text(MARGIN + 70, 26, "most valued (own stones are black)", 'font-weight="600"'),
            _text(middle + GAP / 2, 26, "least valued", 'font-weight="600"'),
            *parts,
            "</svg>",
            "",
        ]
    )


def _draw(shape: Shape, board: tuple[int, int], left: float, top: float) -> Iterator[str]:
    """Draw lines as on a Go board: they end where the board does, if the place is known."""
    home, one = shape.home, shape.set
    width, height = home.width * CELL, home.height * CELL
    yield f'<rect x="{left:g}" y="{top:g}" width="{width}" height="{height}" fill="{BOARD}"/>'
    for r in range(home.height):
        for c in range(home.width):
            x, y = left + (c + 0.5) * CELL, top + (r + 0.5) * CELL
            row, column = home.row + r, home.column + c
            west = 0 if one.is_placed and column == 0 else CELL / 2
            east = 0 if one.is_placed and column == board[1] - 1 else CELL / 2
            north = 0 if one.is_placed and row == 0 else CELL / 2
            south = 0 if one.is_placed and row == board[0] - 1 else CELL / 2
            yield (
                f'<path d="M{x - west:g} {y:g}H{x + east:g}M{x:g} {y - north:g}V{y + south:g}" '
                f'stroke="{LINE}"/>'
            )
            stone = shape.cells[r * home.width + c]
            if stone:
                yield (
                    f'<circle cx="{x:g}" cy="{y:g}" r="{0.44 * CELL:g}" fill="{STONES[stone]}" '
                    f'stroke="{EDGE}" stroke-width="0.8"/>'
                )
    yield _text(left, top + height + 16, f"{shape.weight:+.3f}")


def _text(x: float, y: float, words: str, extra: str = "") -> str:
    return f'<text x="{x:g}" y="{y:g}" fill="#1f2430" {extra}>{escape(words)}</text>'
