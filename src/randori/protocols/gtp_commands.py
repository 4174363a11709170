"""The commands that every game has: the protocol itself, moves, time, and GoGui's way to ask."""

import math
from time import process_time

from randori import __version__
from randori.agents.agent import RESIGN
from randori.agents.gtp_boards import COLOURS
from randori.games import text
from randori.protocols.clock import TimeSystem
from randori.protocols.gtp_session import GAMES, Command, Session
from randori.protocols.gtp_table import GtpError, read_colour


def expect(words: list[str], least: int, usage: str) -> None:
    """Refuse a command without its arguments."""
    if len(words) < least:
        raise GtpError(f"expected {usage}")


def whole(word: str) -> int:
    """Read a whole number."""
    try:
        return int(word)
    except ValueError:
        raise GtpError(f"expected a whole number, found {word!r}") from None


def number(word: str) -> float:
    """Read a number."""
    try:
        value = float(word)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise GtpError(f"expected a number, found {word!r}")
    return value


def seconds_of(word: str) -> float:
    """Read a time, which is not negative."""
    if (value := number(word)) < 0:
        raise GtpError(f"a time is not negative, found {word!r}")
    return value


def quit_session(session: Session, words: list[str]) -> str:
    """End."""
    session.is_over = True
    return ""


def set_game(session: Session, words: list[str]) -> str:
    """Agree to the game that is played anyway."""
    expect(words, 1, "a game")
    if words[0].casefold() != session.kind:
        raise GtpError("unsupported game")
    return ""


def boardsize(session: Session, words: list[str]) -> str:
    """Start on a board of another size."""
    expect(words, 1, "a size")
    if words[1:] and words[1] != words[0]:
        raise GtpError("unacceptable size")
    session.resize(whole(words[0]))
    return ""


def clear_board(session: Session, words: list[str]) -> str:
    """Start a new game."""
    session.clear()
    return ""


def komi(session: Session, words: list[str]) -> str:
    """Set komi, where there is one."""
    expect(words, 1, "a komi")
    wanted = number(words[0])
    if session.kind == "go":
        if abs(wanted) > 1000 or (2 * wanted) % 1:
            raise GtpError(f"komi is a multiple of 0.5, found {words[0]!r}")
        session.set_komi(wanted)
    return ""


def play(session: Session, words: list[str]) -> str:
    """Play a move of either side."""
    expect(words, 2, "a colour and a vertex")
    side = read_colour(words[0])
    if words[1].casefold() != "resign":  # there is nothing to do on the board
        session.table.play(side, words[1])
    return ""


def play_sequence(session: Session, words: list[str]) -> str:
    """Play several moves, or none."""
    if len(words) % 2:
        raise GtpError("expected colours and vertices in turn")
    with session.all_or_nothing():
        for colour, vertex in zip(words[::2], words[1::2], strict=True):
            session.table.play(read_colour(colour), vertex)
    return ""


def genmove(session: Session, words: list[str]) -> str:
    """Think, and play the move."""
    expect(words, 1, "a colour")
    side = read_colour(words[0])
    return commit(session, side, session.think(side).action)


def commit(session: Session, side: int, action: int) -> str:
    """Play what the agent picked, and name it."""
    if action == RESIGN:
        return "resign"
    vertex = session.table.vertex(action)
    if not session.table.facing(side).is_over:
        session.table.play(side, vertex)
    return vertex


def reg_genmove(session: Session, words: list[str]) -> str:
    """Think without playing."""
    expect(words, 1, "a colour")
    action = session.think(read_colour(words[0])).action
    return "resign" if action == RESIGN else session.table.vertex(action)


def undo(session: Session, words: list[str]) -> str:
    """Take one move back, or as many as are said."""
    session.table.undo(whole(words[0]) if words else 1)
    return ""


def showboard(session: Session, words: list[str]) -> str:
    """Draw the board."""
    here = session.table.position
    return f"\n{here}\n{COLOURS[int(here.state[0]) & 1].capitalize()} to play"


def time_settings(session: Session, words: list[str]) -> str:
    """Set main time and Canadian overtime."""
    expect(words, 3, "main time, overtime and stones")
    main, period, stones = seconds_of(words[0]), seconds_of(words[1]), whole(words[2])
    if stones < 0:
        raise GtpError(f"stones are not negative, found {words[2]!r}")
    session.clock.set(TimeSystem(main, period, stones))
    return ""


def kgs_time_settings(session: Session, words: list[str]) -> str:
    """Set time as KGS does: none, absolute, byoyomi or canadian."""
    expect(words, 1, "a time system")
    system, values = words[0].casefold(), [seconds_of(word) for word in words[1:]]
    wanted = {"none": 0, "absolute": 1, "byoyomi": 3, "canadian": 3}.get(system)
    if wanted is None or len(values) < wanted:
        raise GtpError("expected none, absolute S, byoyomi S S N or canadian S S N")
    if system == "none":
        session.clock.set(TimeSystem())
    elif system == "absolute":
        session.clock.set(TimeSystem(values[0]))
    elif system == "byoyomi":
        session.clock.set(TimeSystem(values[0], values[1], 1, int(values[2])))
    else:
        session.clock.set(TimeSystem(values[0], values[1], int(values[2])))
    return ""


def time_left(session: Session, words: list[str]) -> str:
    """Take over how much time a side has left."""
    expect(words, 3, "a colour, seconds and stones")
    side = read_colour(words[0])
    session.clock.correct(side, max(0.0, number(words[1])), max(0, whole(words[2])))
    return ""


def final_score(session: Session, words: list[str]) -> str:
    """Count discs; Go has its own."""
    here = session.table.position
    if not here.is_over or session.game.margin is None:
        raise GtpError("cannot score")
    return write_score(session.game.margin(here.state))


def write_score(lead: float) -> str:
    """Write by how much Black is ahead: ``B+3.5``, or ``0``."""
    return f"{'B' if lead > 0 else 'W'}+{abs(lead):g}" if lead else "0"


def legal_vertices(session: Session, side: int) -> list[str]:
    """List what a side may play."""
    return [session.table.vertex(action) for action in session.table.facing(side).actions()]


def all_legal(session: Session, words: list[str]) -> str:
    """List what a side may play, but for the pass."""
    expect(words, 1, "a colour")
    return " ".join(v for v in legal_vertices(session, read_colour(words[0])) if v != "pass")


def is_legal(session: Session, words: list[str]) -> str:
    """Tell whether a move could be played."""
    expect(words, 2, "a colour and a vertex")
    try:
        session.table.play(read_colour(words[0]), words[1])
    except GtpError as error:
        if not str(error).startswith("illegal"):
            raise
        return "0"
    session.table.undo()
    return "1"


def colour_of(session: Session, words: list[str]) -> str:
    """Tell what is on a point."""
    expect(words, 1, "a vertex")
    vertex = session.table.read_vertex(words[0])
    if vertex == "pass":
        raise GtpError("invalid coordinate 'pass'")
    glyph = session.table.board[session.table.cell(vertex)]
    return "empty" if glyph == text.EMPTY else COLOURS[session.game.glyphs.index(glyph)]


def list_stones(session: Session, words: list[str]) -> str:
    """List the stones of a side."""
    expect(words, 1, "a colour")
    glyph = session.game.glyphs[read_colour(words[0])]
    cells = [cell for cell, found in enumerate(session.table.board) if found == glyph]
    return " ".join(map(session.table.vertex, cells))


def last_move(session: Session, words: list[str]) -> str:
    """Name the last move."""
    if not session.table.turns:
        raise GtpError("no previous move known")
    turn = session.table.turns[-1]
    return f"{COLOURS[turn.side]} {turn.vertex}"


def move_history(session: Session, words: list[str]) -> str:
    """List the moves, the last one first."""
    turns = reversed(session.table.turns)
    return "\n".join(f"{COLOURS[turn.side]} {turn.vertex}" for turn in turns)


COMMANDS: dict[str, Command] = {
    "protocol_version": lambda session, words: "2",
    "name": lambda session, words: "Randori",
    "version": lambda session, words: __version__,
    "quit": quit_session,
    "list_games": lambda session, words: GAMES[session.kind],
    "set_game": set_game,
    "boardsize": boardsize,
    "query_boardsize": lambda session, words: str(session.size),
    "clear_board": clear_board,
    "komi": komi,
    "get_komi": lambda session, words: f"{session.komi:g}",
    "play": play,
    "genmove": genmove,
    "reg_genmove": reg_genmove,
    "undo": lambda session, words: undo(session, []),
    "gg-undo": undo,
    "showboard": showboard,
    "final_score": final_score,
    "time_settings": time_settings,
    "kgs-time_settings": kgs_time_settings,
    "time_left": time_left,
    "all_legal": all_legal,
    "is_legal": is_legal,
    "color": colour_of,
    "list_stones": list_stones,
    "last_move": last_move,
    "move_history": move_history,
    "cputime": lambda session, words: f"{process_time():.3f}",
    "gogui-play_sequence": play_sequence,
    "gogui-interrupt": lambda session, words: "",
    "gogui-title": lambda session, words: f"Randori {session.mind.spec}",
}
