"""A search tree as SVG: the best moves and the most visited, left to right, with visits and Q.

Plain shapes on white, without style sheets, so that any viewer shows the same. A box is a move: its
colour tells who it is good for, the line to it is as thick as its share of the visits.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from randori.explorer.studies import Study
from randori.explorer.tables import NOTHING, signed
from randori.explorer.view import Branch, View
from randori.games.position import Position

BOX_HEIGHT, ROW, GAP, MARGIN, HEAD = 40, 52, 64, 24, 64
LETTER, LEGEND_WIDTH = 8.4, 556
"""Width of a letter of a move's name, and of the line below the title."""
INK, FAINT, LINE = "#1f2430", "#68707f", "#9aa3b2"
GOOD, EVEN, BAD = (31, 119, 104), (244, 242, 236), (190, 82, 44)
"""Colours of a sure win, of an even game and of a sure loss."""
FONT = 'font-family="system-ui, DejaVu Sans, sans-serif"'


@dataclass(frozen=True)
class Twig:
    """A position in the picture: how it is called, what is written below, and what follows."""

    name: str
    caption: str
    worth: float | None
    """for the side to move at the root"""
    share: float
    """of the visits of the position above"""
    is_main: bool
    """whether the search would play it"""
    below: Sequence["Twig"]

    @property
    def rows(self) -> int:
        """Rows that it needs."""
        return max(1, sum(twig.rows for twig in self.below))

    @property
    def depth(self) -> int:
        """Columns below it."""
        return max((1 + twig.depth for twig in self.below), default=0)


def grow(study: Study, position: Position, path: Sequence[int], count: int, depth: int) -> Twig:
    """Collect the best and the most visited moves of every position, down to `depth` plies."""
    view = study.look(path)
    below = _grow_below(study, position, view, path, count, depth, 1)
    searched = f"{view.visits} {view.counted} · " if view.counted else ""
    caption = f"{searched}{signed(view.value)}"
    side = position.game.glyphs[position.to_move == "second"]
    return Twig(f"{side} to move", caption, view.value, 1.0, True, below)


def _grow_below(
    study: Study, position: Position, view: View, path: Sequence[int],
    count: int, depth: int, sign: int,
) -> list[Twig]:  # fmt: skip
    if depth == 0:
        return []
    total = max(1, sum(one.visits for one in view.branches))
    twigs = []
    for one in [one for one in view.branches if one.visits or one.proven][:count]:
        after, further = position.play(one.action), [*path, one.action]
        deeper: list[Twig] = []
        if depth > 1 and not after.is_over:
            deeper = _grow_below(
                study, after, study.look(further), further, count, depth - 1, -sign
            )
        is_main = view.best is not None and one.action == view.best.action
        worth = None if one.q is None else sign * one.q
        name = position.action_text(one.action)
        twigs.append(Twig(name, _caption(one), worth, one.visits / total, is_main, deeper))
    return twigs


def _caption(one: Branch) -> str:
    value = f"proven {one.proven}" if one.proven else signed(one.q)
    return f"{one.visits} · {value}" if one.visits else value


def draw_tree(trunk: Twig, title: str) -> str:
    """Draw a tree as an SVG document."""
    width_of_box = _box_width(trunk)
    step = width_of_box + GAP
    title_width = round(len(title) * 8.4)
    width = 2 * MARGIN + max(trunk.depth * step + width_of_box, title_width, LEGEND_WIDTH)
    height = HEAD + MARGIN + trunk.rows * ROW
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" {FONT}>',
        f"<title>{escape(title)}</title>",
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        f'<text x="{MARGIN}" y="30" font-size="14" font-weight="600" fill="{INK}">'
        f"{escape(title)}</text>",
        f'<text x="{MARGIN}" y="49" font-size="12" fill="{FAINT}">visits and Q for the side that '
        "moves; green is good for the side to move at the left, red bad</text>",
    ]
    lines: list[str] = []
    boxes: list[str] = []
    for kind, text in _shapes(trunk, 0, 0, step, width_of_box):
        (lines if kind == "line" else boxes).append(text)
    return "\n".join([*parts, *lines, *boxes, "</svg>", ""])


def _box_width(trunk: Twig) -> int:
    def widest(twig: Twig) -> float:
        own = max(len(twig.name) * LETTER, len(twig.caption) * 6.8)
        return max([own, *map(widest, twig.below)])

    return max(84, round(widest(trunk)) + 20)


def _centre(twig: Twig, row: int) -> float:
    """Return the height of a box: the middle of the rows that it and all below it need."""
    return HEAD + (row + twig.rows / 2) * ROW


def _shapes(twig: Twig, row: int, column: int, step: int, width: int) -> Iterator[tuple[str, str]]:
    """Yield the lines and boxes of a twig and of everything below it."""
    x, y = MARGIN + column * step, _centre(twig, row)
    yield "box", _box(twig, x, y, width)
    for one in twig.below:
        there = _centre(one, row)
        start, end = x + width, x + step
        middle = (start + end) / 2
        stroke = INK if one.is_main else LINE
        yield (
            "line",
            f'<path d="M{start} {y:g} C{middle:g} {y:g} {middle:g} {there:g} {end} {there:g}" '
            f'fill="none" stroke="{stroke}" stroke-width="{1 + 6 * one.share:.1f}"/>',
        )
        yield from _shapes(one, row, column + 1, step, width)
        row += one.rows


def _box(twig: Twig, x: int, y: float, width: int) -> str:
    fill = shade(twig.worth)
    strength = abs(twig.worth or 0.0)
    ink = "#ffffff" if strength > 0.6 else INK
    faint = FAINT if strength < 0.25 else ink
    border = INK if twig.is_main else LINE
    centre = x + width / 2
    return (
        f'<rect x="{x}" y="{y - BOX_HEIGHT / 2:g}" width="{width}" height="{BOX_HEIGHT}" rx="7" '
        f'fill="{fill}" stroke="{border}" stroke-width="{1.6 if twig.is_main else 1}"/>'
        f'<text x="{centre:g}" y="{y - 3:g}" font-size="14" font-weight="600" '
        f'text-anchor="middle" fill="{ink}">{escape(twig.name)}</text>'
        f'<text x="{centre:g}" y="{y + 13:g}" font-size="11.5" text-anchor="middle" '
        f'fill="{faint}">{escape(twig.caption or NOTHING)}</text>'
    )


def shade(worth: float | None) -> str:
    """Return the colour of a value: from bad over even to good."""
    if worth is None:
        return "#ffffff"
    towards = GOOD if worth > 0 else BAD
    part = min(1.0, abs(worth))
    mixed = (round(e + (t - e) * part) for e, t in zip(EVEN, towards, strict=True))
    return "#" + "".join(f"{channel:02x}" for channel in mixed)
