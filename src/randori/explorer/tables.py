"""Views as lines of text: moves with their figures, lines of play, two agents side by side."""

from collections.abc import Callable, Sequence
from itertools import zip_longest

from randori.explorer.view import Branch, View
from randori.games.position import Position

NOTHING = "–"
GAP = "   │   "


def signed(value: float | None) -> str:
    """Write a value with its sign; nothing is +0.00."""
    return NOTHING if value is None else f"{round(value, 2) + 0.0:+.2f}"


def _share(value: float | None) -> str:
    return NOTHING if value is None else f"{100 * value:.1f} %"


def _plain(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.2f}"


COLUMNS: dict[str, Callable[[Branch], str]] = {
    "visits": lambda one: str(one.visits),
    "prior": lambda one: _share(one.prior),
    "Q": lambda one: signed(one.q),
    "U": lambda one: _plain(one.u),
    "value": lambda one: signed(one.value),
    "proven": lambda one: one.proven or "",
}
"""What is shown of a move; a column about which nothing is known is left out."""


def describe(
    position: Position, view: View, count: int, wanted: Sequence[str] = tuple(COLUMNS)
) -> list[str]:
    """Write the first moves of a view as a table."""
    shown = view.branches[:count]
    columns = {name: [COLUMNS[name](one) for one in shown] for name in wanted}
    known = {name: cells for name, cells in columns.items() if set(cells) - {NOTHING, ""}}
    if not view.counted:
        known.pop("visits", None)
    heads = ["move", *(view.counted if name == "visits" else name for name in known)]
    names = [position.action_text(one.action) for one in shown]
    rows = [heads, *map(list, zip(names, *known.values(), strict=True))]
    lines = table(rows)
    left = len(view.branches) - len(shown)
    return [*lines, f"… and {left} more"] if left > 0 else lines


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Set rows in columns, the first to the left and the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for first, *rest in rows:
        cells = [f"{cell:>{width}}" for cell, width in zip(rest, widths[1:], strict=True)]
        lines.append("  ".join([f"{first:{widths[0]}}", *cells]).rstrip())
    return lines


def headline(position: Position, view: View) -> str:
    """Say in one line what a position is worth, and by whose count."""
    side = position.game.glyphs[position.to_move == "second"]
    if position.is_over:
        return f"the game is over: {position.outcome}"
    if view.value is None:
        return f"{side} to move, not searched yet"
    counted = view.counted.removesuffix("s") if view.visits == 1 else view.counted
    words = [f"{side} to move", *([f"{view.visits} {counted}"] if counted else [])]
    words.append(f"value {signed(view.value)}")
    words += [f"proven {view.proven}"] if view.proven else []
    words += [f"network {signed(view.own)}"] if view.own is not None else []
    words += [f"best {position.action_text(view.best.action)}"] if view.best else []
    return ", ".join(words)


def describe_line(position: Position, view: View) -> list[str]:
    """Write the expected line of play, a move a row, with what is known of each."""
    rows = [["move", "side", view.counted or "visits", "prior", "Q", "proven"]]
    for one in view.line:
        side = position.game.glyphs[position.to_move == "second"]
        cells = [str(one.visits) if one.visits else NOTHING, _share(one.prior), signed(one.q)]
        rows.append([position.action_text(one.action), side, *cells, one.proven or ""])
        position = position.play(one.action)
    kept = [i for i in range(6) if i < 2 or any(row[i] not in (NOTHING, "") for row in rows[1:])]
    return table([[row[i] for i in kept] for row in rows])


def beside(left: Sequence[str], right: Sequence[str]) -> list[str]:
    """Set two texts side by side."""
    width = max(map(len, left), default=0)
    pairs = zip_longest(left, right, fillvalue="")
    return [f"{one:{width}}{GAP}{other}".rstrip() for one, other in pairs]
