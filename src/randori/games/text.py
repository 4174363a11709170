"""Words for boards: derived for every grid game, unless the game brings its own.

A position is written as its rows from the top, a slash between them, and the stone of the side to
move: ``x../.o./... x``. A game without `set_up` is written as its raw words, ``@0.1f.3``, which
reads back but says little.
"""

from collections.abc import Callable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from randori.errors import UserError, nearest
from randori.games.game import Game
from randori.games.kernels import State, has

EMPTY = "."
T = TypeVar("T")


def cells(game: Game, state: State) -> str:
    """Write the board as one glyph a cell, row by row from the top."""
    words: NDArray[np.uint64] = np.zeros(game.input_words, dtype=np.uint64)
    game.plain.planes(state, words)
    mover = int(state[0]) & 1
    glyphs = []
    for cell in range(game.cells):
        owners = [has(words[p * game.plane_words + cell // 64], cell % 64) for p in (0, 1)]
        glyphs.append(game.glyphs[mover ^ owners.index(True)] if any(owners) else EMPTY)
    return "".join(glyphs)


def rows(game: Game, state: State) -> list[str]:
    """Write the board as one string a row, from the top."""
    board, width = cells(game, state), game.shape[1]
    return [board[i : i + width] for i in range(0, len(board), width)]


def action_text(game: Game, state: State, action: int) -> str:
    """Write one action."""
    if game.action_text is not None:
        return str(_ask(game, "action_text", game.action_text, state, action))
    return cell_text(game, action) if action < game.cells else "pass"


def _ask(game: Game, name: str, function: Callable[..., T], *arguments: object) -> T:
    """Call what a game brings for people; a bug in it is told in one line, not as a traceback."""
    try:
        return function(*arguments)
    except (ValueError, UserError):
        raise  # it refuses the input, which is its right
    except Exception as error:
        raise UserError(f"{game.name}: {name} raised {type(error).__name__}: {error}") from error


def cell_text(game: Game, cell: int) -> str:
    """Name a cell by column letter and row number, row 1 at the top."""
    row, column = divmod(cell, game.shape[1])
    return f"{game.columns[column]}{row + 1}"


def position_text(game: Game, state: State) -> str:
    """Write one position."""
    if game.position_text is not None:
        return str(_ask(game, "position_text", game.position_text, state))
    if game.set_up is None:
        return "@" + ".".join(f"{int(word):x}" for word in state)
    return f"{'/'.join(rows(game, state))} {game.glyphs[int(state[0]) & 1]}"


def parse_position(game: Game, words: str) -> State:
    """Read a position text or a name; say where it is wrong."""
    words = game.positions.get(words.strip(), words.strip())
    if words == "start":
        return game.new_state()
    try:
        if game.parse_position is not None:
            return _ask(game, "parse_position", game.parse_position, words)
        if words.startswith("@"):
            return _parse_words(game, words[1:])
        if game.set_up is None:
            known = ["start", *game.positions]
            raise ValueError(f"this game reads only '@…' and names; {nearest(words, known)}")
        return _ask(game, "set_up", game.set_up, *parse_rows(game, words))
    except ValueError as error:
        raise UserError(f"{game.name} position {words!r}: {error}") from None


def parse_rows(game: Game, words: str) -> tuple[str, int]:
    """Split ``rows side`` into the cells and the side to move; say where it is wrong.

    Capitals, ``-`` for an empty cell and rows without slashes are read too.
    """
    height, width = game.shape
    known = game.glyphs + EMPTY
    folded = (g.swapcase() if g not in known and g.swapcase() in known else g for g in words)
    board, _, side = "".join(folded).replace("-", EMPTY).rpartition(" ")
    if side not in game.glyphs or len(side) != 1:
        raise ValueError(
            f"expected rows, a space and the side to move ({' or '.join(game.glyphs)})"
        )
    lines = board.split("/") if "/" in board else _cut(board, width)
    if len(lines) != height:
        raise ValueError(f"expected {height} rows, found {len(lines)}")
    for number, line in enumerate(lines, start=1):
        if len(line) != width:
            raise ValueError(f"row {number} has {len(line)} cells instead of {width}: {line!r}")
        for column, glyph in enumerate(line, start=1):
            if glyph not in known:
                shown = " ".join(known)
                raise ValueError(f"row {number}, column {column}: {glyph!r} is none of {shown}")
    return "".join(lines), game.glyphs.index(side)


def _cut(board: str, width: int) -> list[str]:
    return [board[i : i + width] for i in range(0, len(board), width)]


def _parse_words(game: Game, words: str) -> State:
    parts = words.split(".")
    if len(parts) != game.num_words:
        raise ValueError(f"expected {game.num_words} words, found {len(parts)}")
    numbers = [int(part, 16) for part in parts]
    if not all(0 <= number < 2**64 for number in numbers):
        raise ValueError("a word is at most 16 hexadecimal digits")
    return np.array(numbers, dtype=np.uint64)


def show(game: Game, state: State) -> str:
    """Draw the board in characters, with its coordinates."""
    height, width = game.shape
    letters = "  " + " ".join(game.columns[:width])
    margin = len(str(height))
    lines = [f"{number:>{margin}} {' '.join(row)}"
             for number, row in enumerate(rows(game, state), start=1)]  # fmt: skip
    return "\n".join([" " * (margin - 1) + letters, *lines])
