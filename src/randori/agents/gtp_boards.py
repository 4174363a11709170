"""Positions as GTP commands, and answers as moves: what engines of Go and Othello understand.

Go positions are set up stone by stone. The last pass and a simple ko come with them; more of the
history a position does not tell.
"""

from collections.abc import Callable

import numpy as np

from randori.agents.engine import EngineFailure, shorten
from randori.errors import IllegalAction, UserError
from randori.games import text
from randori.games.game import Game
from randori.games.kernels import State
from randori.games.position import Position

COLOURS = ("black", "white")
OTHELLO_SETUP = "grhino-setup_board"


def link(game: Game, before: State, after: State) -> list[int] | None:
    """Return the action that leads from one state to the other, none if they are the same.

    None stands for states that are further apart, or for a move that left no stone.
    """
    if np.array_equal(before, after):
        return []
    if int(after[0]) != int(before[0]) + 1:
        return None
    boards = zip(text.cells(game, before), text.cells(game, after), strict=True)
    new = [cell for cell, (old, now) in enumerate(boards) if old == text.EMPTY != now]
    action = new[0] if new else game.num_actions - 1
    reached = before.copy()
    game.plain.play(reached, action)
    return [action] if np.array_equal(reached, after) else None


def play_command(game: Game, state: State, action: int) -> str:
    """Write the command that plays an action."""
    return f"play {COLOURS[int(state[0]) & 1]} {text.action_text(game, state, action)}"


def set_up_go(game: Game, state: State, known: set[str]) -> list[str]:
    """Write the commands that put a Go position on the board: in any order, no stone is taken."""
    board, retaken = before_ko(game, state)
    mover = int(state[0]) & 1
    komi = game.constants["TWICE_KOMI"] / 2
    commands = [f"boardsize {game.board[1]}", "clear_board", f"komi {komi:g}"]
    for cell, glyph in enumerate(board):
        if glyph != text.EMPTY:
            colour = COLOURS[game.glyphs.index(glyph)]
            commands.append(f"play {colour} {text.cell_text(game, cell)}")
    if retaken is not None:
        commands.append(f"play {COLOURS[1 - mover]} {text.cell_text(game, retaken)}")
    if text.details(game, state).startswith("pass"):
        commands.append(f"play {COLOURS[1 - mover]} pass")
    return commands


def before_ko(game: Game, state: State) -> tuple[str, int | None]:
    """Return the board of a Go position; with a ko, as it was before, and the cell that took it.

    Where more than one point is barred no single move tells why, and the engine will not know.
    """
    board, details = text.cells(game, state), text.details(game, state)
    mover, names = int(state[0]) & 1, [text.cell_text(game, cell) for cell in range(game.cells)]
    if details.removeprefix("ko ") not in names:
        return board, None
    barred = names.index(details.removeprefix("ko "))
    for cell in (barred - 1, barred + 1, barred - game.board[1], barred + game.board[1]):
        if 0 <= cell < game.cells and board[cell] == game.glyphs[1 - mover]:
            earlier = list(board)
            earlier[cell], earlier[barred] = text.EMPTY, game.glyphs[mover]
            try:
                before = Position(game, text.set_up(game, "".join(earlier), 1 - mover))
                after = before.play(cell).state
            except (ValueError, UserError):
                continue  # no liberties, or a suicide: not the move that was played
            if (text.cells(game, after), text.details(game, after)) == (board, details):
                return "".join(earlier), cell
    return board, None


def set_up_othello(game: Game, state: State, known: set[str]) -> list[str]:
    """Write the commands that put an Othello position on the board.

    GTP has none for it, so other engines than GRhino can only play from the start.
    """
    commands = ["set_game Othello"] if "set_game" in known else []
    commands += [f"boardsize {game.board[1]}", "clear_board"]
    begin = game.new_state()
    steps = link(game, begin, state)
    if steps is not None:
        return commands + [play_command(game, begin, action) for action in steps]
    if OTHELLO_SETUP not in known:
        raise EngineFailure(
            "cannot be set up in the middle of a game; it needs processes=GAMES, and no openings"
        )
    return [*commands, f"{OTHELLO_SETUP} {game.formats['obf'](state).rstrip(';')}"]


SET_UPS: dict[str, Callable[[Game, State, set[str]], list[str]]] = {
    "go": set_up_go,
    "othello": set_up_othello,
}


def read_move(position: Position, answer: str) -> int:
    """Return the action that an engine answered, if it is legal."""
    try:
        return position.parse(answer)
    except IllegalAction:
        game = position.game
        names = [text.cell_text(game, cell).casefold() for cell in range(game.board_cells)]
        why = "no such move"
        if answer.casefold() in names:
            cell = names.index(answer.casefold())
            is_free = text.cells(game, position.state)[cell] == text.EMPTY
            why = "against the rules" if is_free else "the point is taken"
        elif answer.casefold() == "pass":
            why = "against the rules"
        raise EngineFailure(f"played illegal {shorten(answer) or 'nothing'} ({why})") from None
