"""A board as SVG, derived for every grid game from its cells, its names and its look.

Plain shapes without ids or style sheets, so that many boards can stand in one page, on any
background; the same position always gives the same text.
"""

from collections.abc import Iterator, Sequence
from xml.sax.saxutils import escape, quoteattr

from randori.games import text
from randori.games.game import Game
from randori.games.kernels import State
from randori.games.layout import FRAME, GAP, HALF, TRAY, Block, Layout, lay_out
from randori.games.look import Look, Tray
from randori.games.stones import draw_dot, draw_ring, draw_stone

LABEL = "#857a68"
"""Readable on white and on black."""
FONT = 'font-family="system-ui, sans-serif" font-size="14" text-anchor="middle"'
PEG, PEG_STEP = 6, 13
"""Radius and distance of the pieces in a tray."""

Cells = int | Sequence[int] | None
"""Cells of the last move: one, several or none."""


def draw_board(game: Game, state: State, last: Cells = None, *, show_legal: bool = False) -> str:
    """Draw a position as an SVG document.

    `last` is what the last move filled, which `last_cells` finds. `show_legal` puts a dot on every
    cell that a legal move fills.
    """
    look, layout = game.look, lay_out(game)
    width, height = layout.width, layout.height
    label = f"{game.title}: {text.position_text(game, state)}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img" aria-label={quoteattr(label)}>',
        f"<title>{escape(label)}</title>",
        *(_block(look, block) for block in layout.blocks),
        *_ropes(look, layout),
        _names(game, layout),
    ]
    if look.hole:
        holes = (layout.centre(cell) for cell in range(game.board_cells))
        parts += [draw_dot(x, y, look.hole_radius, look.hole) for x, y in holes]
    stones = {
        cell: look.stones[game.glyphs.index(glyph)]
        for cell, glyph in enumerate(text.cells(game, state))
        if glyph != text.EMPTY
    }
    parts += [
        draw_stone(stone, *layout.centre(cell), look.radius) for cell, stone in stones.items()
    ]
    if show_legal:
        centres = (layout.centre(cell) for cell in legal_cells(game, state))
        parts += [draw_dot(x, y, 5, look.legal) for x, y in centres]
    marked = [cell for cell in as_cells(last) if cell in stones]
    parts += [draw_ring(stones[cell], *layout.centre(cell), look.radius) for cell in marked]
    trays = enumerate(text.trays(game, state))
    parts += [_tray(tray, side, look, layout) for side, tray in trays]
    return "\n".join([*parts, "</svg>", ""])


def as_cells(cells: Cells) -> tuple[int, ...]:
    """Return cells in the order of the board, however they are given."""
    if cells is None:
        return ()
    return (cells,) if isinstance(cells, int) else tuple(sorted(set(cells)))


def last_cells(game: Game, before: State, after: State) -> list[int]:
    """List the cells that a move filled with stones of the mover; none for a pass."""
    mover = game.glyphs[int(before[0]) & 1]
    return _filled(mover, text.cells(game, before), text.cells(game, after))


def last_cell(game: Game, before: State, after: State) -> int | None:
    """Return the first of `last_cells`, or None for a pass."""
    return next(iter(last_cells(game, before, after)), None)


def legal_cells(game: Game, state: State) -> list[int]:
    """List the cells that some legal move fills."""
    actions = game.legal_actions(state)
    if game.action_text is None:  # then actions are named after the cells that they fill
        return sorted(action for action in actions if action < game.cells)
    mover, was = game.glyphs[int(state[0]) & 1], text.cells(game, state)
    found: set[int] = set()
    for action in actions:
        after = state.copy()
        game.plain.play(after, action)
        found.update(_filled(mover, was, text.cells(game, after)))
    return sorted(found)


def _filled(mover: str, was: str, now: str) -> list[int]:
    """List the cells that stones of the mover moved or were placed to."""
    gained = [cell for cell, glyph in enumerate(now) if glyph == mover != was[cell]]
    placed = [cell for cell in gained if was[cell] == text.EMPTY]
    # Where no stone of the mover left its cell, those that stood there before were turned.
    has_moved = any(glyph == mover != now[cell] for cell, glyph in enumerate(was))
    return gained if has_moved or not placed else placed


def _block(look: Look, block: Block) -> str:
    """Draw one board: wood, grain, lines and points."""
    (left, *_, right), (top, *_, bottom) = block.columns, block.rows
    parts = [
        f'<rect x="{left - FRAME}" y="{top - FRAME}" width="{right - left + 2 * FRAME}" '
        f'height="{bottom - top + 2 * FRAME}" rx="8" '
        f'fill="{look.board[block.number % len(look.board)]}" stroke="{look.edge}" '
        'stroke-width="2"/>'
    ]
    if look.grain:
        path = "".join(_grain(left, right, top - FRAME + 2, bottom - top + 2 * FRAME - 4))
        parts.append(f'<path d="{path}" fill="none" stroke="{look.grain}" opacity="0.25"/>')
    columns, rows = (_lines(look, edges) for edges in (block.columns, block.rows))
    if look.grid:
        down = (f"M{x} {rows[0]}V{rows[-1]}" for x in columns)
        across = (f"M{columns[0]} {y}H{columns[-1]}" for y in rows)
        path = "".join([*down, *across])
        parts.append(
            f'<path d="{path}" fill="none" stroke="{look.grid}" stroke-width="1.5" '
            'stroke-linecap="square"/>'
        )
    parts += [draw_dot(columns[column], rows[row], 4, look.grid) for row, column in look.points]
    return "\n".join(parts)


def _lines(look: Look, edges: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(edge + HALF for edge in edges[:-1]) if look.on_lines else edges


def _grain(left: int, right: int, top: int, height: int) -> Iterator[str]:
    """Yield lines that bend a little and keep no even distance, the same ones every time."""
    for i, x in enumerate(range(left - 2, right + 2, 11)):
        bend = i * 29 % 9 - 4
        yield f"M{x + i * i * 7 % 9 - 4} {top}q{bend} {height // 2} {bend // 2} {height}"


def _ropes(look: Look, layout: Layout) -> Iterator[str]:
    """Yield a twisted rope for every gap between rows of blocks."""
    for row, y in enumerate(layout.rows):
        if look.rope and look.is_apart(0, row):
            line = f'<path d="M{layout.columns[0] - FRAME} {y - GAP // 2}H{layout.right + FRAME}"'
            yield f'{line} stroke="{look.rope}" stroke-width="8" stroke-linecap="round"/>'
            yield f'{line} stroke="#000000" stroke-width="7" stroke-dasharray="2 6" opacity="0.3"/>'


def _names(game: Game, layout: Layout) -> str:
    """Write the column names beside row 1 and the row numbers to the left."""
    columns = [
        f'<text x="{x + HALF}" y="{layout.names + 5}">{escape(name)}</text>'
        for x, name in zip(layout.columns, game.columns, strict=False)
    ]
    middle = (layout.columns[0] - FRAME) // 2
    rows = [
        f'<text x="{middle}" y="{y + HALF + 5}">{text.row_number(game, row)}</text>'
        for row, y in enumerate(layout.rows)
        if game.look.row_names
    ]
    return "\n".join([f'<g {FONT} fill="{LABEL}">', *columns, *rows, "</g>"])


def _tray(tray: Tray, side: int, look: Look, layout: Layout) -> str:
    """Draw the pieces in a hand, their number, and the note as a badge at the right."""
    stone, top = look.stones[side], layout.trays + side * TRAY
    left, right, middle = layout.columns[0], layout.right, top + TRAY // 2
    wide = 7 * len(tray.note)
    step = min(PEG_STEP, (right - left - wide) // max(tray.count, 1))
    parts = [
        f'<g {FONT} fill="{LABEL}" font-weight="bold">',
        f'<text x="{(left - FRAME) // 2}" y="{middle + 5}">{tray.count}</text>',
        f'<rect x="{left - FRAME}" y="{top + 3}" width="{right - left + 2 * FRAME}" '
        f'height="{TRAY - 6}" rx="8" fill="{look.board[0]}" stroke="{look.edge}" '
        'stroke-width="2"/>',
        *(draw_stone(stone, left + PEG + i * step, middle, PEG) for i in range(tray.count)),
    ]
    if tray.note:
        parts += [
            f'<rect x="{right - wide}" y="{middle - 9}" width="{wide}" height="18" rx="9" '
            f'fill="{stone.fill}"/>',
            f'<text x="{right - wide // 2}" y="{middle + 4}" font-size="11" fill="{stone.mark}">'
            f"{escape(tray.note)}</text>",
        ]
    return "\n".join([*parts, "</g>"])
