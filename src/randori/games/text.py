"""Words for boards: derived for every grid game, unless the game brings its own.

A position is written as its rows from the top, a slash between them, the side to move, and what no
board shows, if the game has `details`: ``x../.o./... x``. What follows a semicolon is a comment. A
game without `set_up` is written as its raw words, ``@0.1f.3``, which reads back but says little.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from randori.errors import IllegalAction, UserError, nearest
from randori.games.game import Game
from randori.games.kernels import State, has
from randori.games.look import Tray
from randori.words import some

EMPTY = "."
T = TypeVar("T")


def cells(game: Game, state: State) -> str:
    """Write the board as one glyph a cell, row by row from the top."""
    words: NDArray[np.uint64] = np.zeros(game.input_words, dtype=np.uint64)
    game.plain.planes(state, words)
    mover = int(state[0]) & 1
    glyphs = []
    for seen in game.seen[mover]:
        plane, cell = divmod(int(seen), game.cells)
        owners = (plane, plane + game.stone_planes)
        stones = [has(words[p * game.plane_words + cell // 64], cell % 64) for p in owners]
        glyphs.append(game.glyphs[mover ^ stones.index(True)] if any(stones) else EMPTY)
    return "".join(glyphs)


def rows(game: Game, state: State) -> list[str]:
    """Write the board as one string a row, from the top."""
    return _cut(cells(game, state), game.board[1])


def _cut(board: str, width: int) -> list[str]:
    return [board[i : i + width] for i in range(0, len(board), width)]


def row_number(game: Game, row: int) -> int:
    """Return what people call row `row`, which is counted from 0 at the top."""
    return game.board[0] - row if game.rows_up else row + 1


def cell_text(game: Game, cell: int) -> str:
    """Name a cell of the board by column and row."""
    row, column = divmod(cell, game.board[1])
    return f"{game.columns[column]}{row_number(game, row)}"


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


def details(game: Game, state: State) -> str:
    """Write what the board does not show; nothing for most games."""
    return str(_ask(game, "details", game.details, state)) if game.details is not None else ""


def trays(game: Game, state: State) -> tuple[Tray, ...]:
    """Return what the two sides hold beside the board; nothing for most games."""
    return _ask(game, "trays", game.look.trays, state) if game.look.trays is not None else ()


def usual_move(game: Game, move: str) -> str:
    """Write a move as the game does, where people have another way: ``--`` for a pass."""
    with suppress(ValueError):
        if game.split_moves is not None and len(moves := game.split_moves(move)) == 1:
            return moves[0]
    return move


def explain(game: Game, state: State, move: str) -> str:
    """Say why a move is not legal, where the game knows."""
    return str(_ask(game, "explain", game.explain, state, move)) if game.explain is not None else ""


def position_text(game: Game, state: State) -> str:
    """Write one position."""
    if game.position_text is not None:
        return str(_ask(game, "position_text", game.position_text, state))
    if game.set_up is None:
        return "@" + ".".join(f"{int(word):x}" for word in state)
    side = game.side_names[int(state[0]) & 1]
    return f"{'/'.join(rows(game, state))} {side} {details(game, state)}".rstrip()


def parse_position(game: Game, words: str) -> State:
    """Read a position text, a name, or moves from the start; say where it is wrong."""
    words = words.strip()
    if words.casefold() == "start":
        return game.new_state()
    named = {name.casefold(): text for name, text in game.positions.items()}
    words = named.get(words.casefold(), words)
    try:
        if game.parse_position is not None:
            return _ask(game, "parse_position", game.parse_position, words)
        if game.set_up is None and words.startswith("@"):
            return _parse_words(game, words[1:])
        if game.split_moves is not None and words and not set(words) & set("/ ;"):
            return _parse_moves(game, words)
        if game.set_up is None or words.replace("-", "_").isidentifier():
            reads = "names and raw words (@…)" if game.set_up is None else "rows and names"
            known = nearest(words, ["start", *game.positions])
            raise ValueError(f"this game reads {reads}; {known}")
        return set_up(game, *parse_rows(game, words))
    except ValueError as error:
        raise UserError(f"{game.name} position {words!r}: {error}") from None


def set_up(game: Game, board: str, side: int, tail: str = "") -> State:
    """Make the position with these cells, this side to move and these details."""
    assert game.set_up is not None
    if game.details is not None:
        return _ask(game, "set_up", game.set_up, board, side, tail)
    if tail:
        raise ValueError(f"expected nothing behind the side to move, found {tail!r}")
    return _ask(game, "set_up", game.set_up, board, side)


def parse_rows(game: Game, words: str) -> tuple[str, int, str]:
    """Split ``rows side details`` into cells, side to move and details; say where it is wrong.

    Capitals, ``-`` for an empty cell and rows without slashes are read too.
    """
    height, width = game.board
    board, _, rest = words.partition(";")[0].strip().partition(" ")
    side, _, tail = rest.strip().partition(" ")
    lines = board.split("/") if "/" in board else _cut(board, width)
    if len(lines) != height:
        raise ValueError(f"expected {some(height, 'row')}, found {len(lines)}")
    known = game.glyphs + EMPTY
    clean = [_fold(line, known) for line in lines]
    for row, line in enumerate(clean):
        place = f"row {row_number(game, row)}"
        if len(line) != width:
            raise ValueError(f"{place} has {some(len(line), 'cell')} instead of {width}: {line!r}")
        for column, glyph in enumerate(line):
            if glyph not in known:
                name = cell_text(game, row * width + column)
                raise ValueError(f"{place}, {name}: {glyph!r} is none of {' '.join(known)}")
    for names in (game.side_names, game.glyphs):
        if len(side) == 1 and _fold(side, names) in names:
            return "".join(clean), names.index(_fold(side, names)), tail.strip()
    expected = " or ".join(game.side_names)
    found = f"found {side!r}" if side else "found nothing"
    raise ValueError(f"expected the side to move ({expected}) behind the rows, {found}")


def _fold(line: str, known: str) -> str:
    """Write `line` with the glyphs of the game: other case, and ``-`` for an empty cell."""
    folded = (g.swapcase() if g not in known and g.swapcase() in known else g for g in line)
    return "".join(folded).replace("-", EMPTY)


def _parse_moves(game: Game, words: str) -> State:
    """Play the moves of `words`, which stand one behind another, from the start."""
    assert game.split_moves is not None
    position = game.start()
    for number, move in enumerate(game.split_moves(words), start=1):
        try:
            position = position.play(move)
        except IllegalAction as error:
            raise ValueError(f"move {number}: {error}") from None
    return position.state.copy()


def _parse_words(game: Game, words: str) -> State:
    parts = words.split(".")
    if len(parts) != game.num_words:
        raise ValueError(f"expected {some(game.num_words, 'word')}, found {len(parts)}")
    numbers = [int(part, 16) for part in parts]
    if not all(0 <= number < 2**64 for number in numbers):
        raise ValueError("a word is at most 16 hexadecimal digits")
    return np.array(numbers, dtype=np.uint64)


def show(game: Game, state: State) -> str:
    """Draw the board in characters, with its coordinates and what it does not show."""
    margin = len(str(game.board[0]))
    lines = [" " * margin + _spaced(game, game.columns[: game.board[1]])]
    for row, glyphs in enumerate(rows(game, state)):
        lines += [""] * game.look.is_apart(0, row)
        lines.append(f"{row_number(game, row):>{margin}}{_spaced(game, glyphs)}")
    return "\n".join([*lines, *filter(None, [details(game, state)])])


def _spaced(game: Game, glyphs: str) -> str:
    """Write a row with a space before each glyph, and a wide gap before a new block."""
    gaps = (" " if not game.look.is_apart(1, column) else "   " for column in range(len(glyphs)))
    return "".join(gap + glyph for gap, glyph in zip(gaps, glyphs, strict=True))
