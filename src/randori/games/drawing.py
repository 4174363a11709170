"""A board as SVG, derived for every grid game from its planes and its column names.

Plain shapes without ids or style sheets, so that many boards can stand in one page, on any
background; the same position always gives the same text.
"""

from xml.sax.saxutils import escape, quoteattr

from randori.games import text
from randori.games.game import Game
from randori.games.kernels import State

CELL = 48
MARGIN = 30
FRAME = 6
"""How far the board reaches beyond its cells."""
RADIUS = 19

BOARD, EDGE, GRID, LABEL = "#ecd9b0", "#c9ad78", "#cdb587", "#857a68"
STONES = (("#2b2f36", "#14161a", "#4a505a"), ("#fbf9f4", "#a99f8c", "#ffffff"))
"""Fill, rim and sheen of the first and of the second player's stones."""
LAST, DOT = "#e0533d", "#6f8f5a"


def draw_board(
    game: Game, state: State, last: int | None = None, *, show_legal: bool = False
) -> str:
    """Draw a position as an SVG document.

    `last` is the cell of the last move, which `last_cell` finds. `show_legal` puts a dot on every
    cell that a legal move fills.
    """
    height, width = game.board
    right, bottom = MARGIN + width * CELL, MARGIN + height * CELL
    across, down = right + FRAME + 4, bottom + FRAME + 4
    label = f"{game.title}: {text.position_text(game, state)}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {across} {down}" '
        f'width="{across}" height="{down}" role="img" aria-label={quoteattr(label)}>',
        f"<title>{escape(label)}</title>",
        _rectangle(MARGIN - FRAME, width * CELL + 2 * FRAME, height * CELL + 2 * FRAME),
        _grid(right, bottom, width, height),
        _labels(game),
    ]
    for cell, glyph in enumerate(text.cells(game, state)):
        if glyph != text.EMPTY:
            parts.append(_stone(*_centre(game, cell), game.glyphs.index(glyph)))
    if show_legal:
        parts += [_circle(*_centre(game, cell), 6, DOT) for cell in legal_cells(game, state)]
    if last is not None:
        parts.append(_circle(*_centre(game, last), 5, LAST))
    return "\n".join([*parts, "</svg>", ""])


def last_cell(game: Game, before: State, after: State) -> int | None:
    """Return the cell that a move filled, or None for a pass: of several, the mover's first one."""
    mover = game.glyphs[int(before[0]) & 1]
    was, now = text.cells(game, before), text.cells(game, after)
    changed = [cell for cell in range(game.board_cells) if now[cell] == mover != was[cell]]
    return next((cell for cell in changed if was[cell] == text.EMPTY), next(iter(changed), None))


def legal_cells(game: Game, state: State) -> list[int]:
    """List the cells that some legal move fills."""
    found = set()
    for action in game.legal_actions(state):
        after = state.copy()
        game.plain.play(after, action)
        found.add(last_cell(game, state, after))
    return sorted(cell for cell in found if cell is not None)


def _centre(game: Game, cell: int) -> tuple[int, int]:
    row, column = divmod(cell, game.board[1])
    return MARGIN + column * CELL + CELL // 2, MARGIN + row * CELL + CELL // 2


def _rectangle(start: int, width: int, height: int) -> str:
    return (
        f'<rect x="{start}" y="{start}" width="{width}" height="{height}" rx="8" '
        f'fill="{BOARD}" stroke="{EDGE}" stroke-width="1.5"/>'
    )


def _grid(right: int, bottom: int, width: int, height: int) -> str:
    """Draw the lines between and around the cells as one path."""
    down = (f"M{MARGIN + i * CELL} {MARGIN}V{bottom}" for i in range(width + 1))
    across = (f"M{MARGIN} {MARGIN + i * CELL}H{right}" for i in range(height + 1))
    path = "".join([*down, *across])
    return f'<path d="{path}" fill="none" stroke="{GRID}" stroke-linecap="square"/>'


def _labels(game: Game) -> str:
    """Write the column names above and the row numbers to the left."""
    height, width = game.board
    middle = (MARGIN - FRAME) // 2
    columns = [
        f'<text x="{MARGIN + i * CELL + CELL // 2}" y="{middle + 5}">{escape(name)}</text>'
        for i, name in enumerate(game.columns[:width])
    ]
    rows = [
        f'<text x="{middle}" y="{MARGIN + i * CELL + CELL // 2 + 5}">{name}</text>'
        for i, name in enumerate(text.row_number(game, row) for row in range(height))
    ]
    style = f'font-family="system-ui, sans-serif" font-size="14" fill="{LABEL}"'
    return "\n".join([f'<g {style} text-anchor="middle">', *columns, *rows, "</g>"])


def _stone(x: int, y: int, side: int) -> str:
    """Draw a shadow, the stone with its rim, and a sheen at the upper left."""
    fill, rim, sheen = STONES[side]
    return (
        f'<circle cx="{x}" cy="{y + 2}" r="{RADIUS}" fill="#3a2f1c" opacity="0.22"/>'
        f'<circle cx="{x}" cy="{y}" r="{RADIUS}" fill="{fill}" stroke="{rim}"/>'
        f'<ellipse cx="{x - 6}" cy="{y - 7}" rx="7" ry="5" fill="{sheen}" opacity="0.4"/>'
    )


def _circle(x: int, y: int, radius: int, fill: str) -> str:
    return f'<circle cx="{x}" cy="{y}" r="{radius}" fill="{fill}"/>'
