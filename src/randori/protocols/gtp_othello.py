"""What only Othello needs: positions set up as GRhino does, and GoGui's way to learn the rules."""

from randori.agents.gtp_boards import COLOURS, OTHELLO_SETUP
from randori.errors import UserError
from randori.games import text
from randori.protocols.gtp_commands import expect, write_score
from randori.protocols.gtp_session import GAMES, Command, Session
from randori.protocols.gtp_table import GtpError


def rules_board(session: Session, words: list[str]) -> str:
    """Draw the board as GoGui does, row 1 at the bottom whatever the game says."""
    rows = text.rows(session.game, session.table.state)
    rows = rows if session.game.rows_up else rows[::-1]
    return "\n" + "\n".join(" ".join(row.upper()) for row in rows)


def rules_legal_moves(session: Session, words: list[str]) -> str:
    """List what may be played now; nothing once the game is over."""
    here = session.table.position
    return " ".join(session.table.vertex(action) for action in here.actions())


def rules_side_to_move(session: Session, words: list[str]) -> str:
    """Tell who is to move."""
    return COLOURS[int(session.table.state[0]) & 1]


def rules_final_result(session: Session, words: list[str]) -> str:
    """Tell the result, or nothing while the game goes on."""
    here = session.table.position
    if not here.is_over or session.game.margin is None:
        return ""
    return write_score(session.game.margin(here.state))


def set_up_othello(session: Session, words: list[str]) -> str:
    """Put a position on the board, written as discs and the side to move."""
    expect(words, 2, "discs (X, O and -) and the side to move")
    try:
        session.table.begin(session.game.position(" ".join(words)).state.copy())
    except UserError as error:
        raise GtpError(f"bad position: {error}") from None
    return ""


COMMANDS: dict[str, Command] = {
    OTHELLO_SETUP: set_up_othello,
    "gogui-rules_game_id": lambda session, words: GAMES[session.kind],
    "gogui-rules_board": rules_board,
    "gogui-rules_board_size": lambda session, words: str(session.size),
    "gogui-rules_legal_moves": rules_legal_moves,
    "gogui-rules_side_to_move": rules_side_to_move,
    "gogui-rules_final_result": rules_final_result,
}
