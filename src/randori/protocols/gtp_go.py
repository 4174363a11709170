"""What only Go needs: handicap, the count, dead stones, and games as SGF."""

from pathlib import Path

from randori.agents.gtp_boards import COLOURS
from randori.errors import UserError
from randori.games import text
from randori.games.registry import load_game
from randori.games.sgf import LETTERS, read_sgf, write_rules
from randori.games.sgf_syntax import (
    decode_sgf,
    main_lines,
    simple_text,
    wrap,
    write_property,
)
from randori.games.text import EMPTY
from randori.protocols.dead_stones import status_of_chains
from randori.protocols.gtp_commands import expect, genmove, whole, write_score
from randori.protocols.gtp_session import Command, Session, komi_of
from randori.protocols.gtp_table import PASS, GtpError
from randori.runs import atomic

NAMES = ("B", "W")
"""What SGF calls the two sides."""


def star_vertices(session: Session, stones: int) -> list[str]:
    """Return where handicap stones stand by custom."""
    size = session.size
    most = 0 if size < 7 else 9 if size % 2 and size > 7 else 4
    if not 2 <= stones <= most:
        raise GtpError("invalid number of stones")
    edge = 2 if size < 13 else 3
    low, high, middle = edge, size - 1 - edge, size // 2
    corners = [(high, low), (low, high), (low, low), (high, high)]  # row from the top, column
    sides = [(middle, low), (middle, high), (low, middle), (high, middle)]
    points = corners[:stones] if stones < 4 else corners + sides[: (stones - 4) // 2 * 2]
    points += [(middle, middle)] if stones > 4 and stones % 2 else []
    return [text.cell_text(session.game, row * size + column) for row, column in points]


def place(session: Session, vertices: list[str]) -> str:
    """Put handicap stones on an empty board; White is next."""
    if not session.table.is_empty:
        raise GtpError("board not empty")
    board = [EMPTY] * session.game.board_cells
    for vertex in vertices:
        name = session.table.read_vertex(vertex)
        if name == PASS or board[session.table.cell(name)] != EMPTY:
            raise GtpError("bad vertex list")
        board[session.table.cell(name)] = session.game.glyphs[0]
    try:
        session.table.begin(text.set_up(session.game, "".join(board), 1))
    except ValueError:
        raise GtpError("bad vertex list") from None
    return " ".join(vertices)


def fixed_handicap(session: Session, words: list[str]) -> str:
    """Place handicap stones by custom."""
    expect(words, 1, "a number of stones")
    return place(session, star_vertices(session, whole(words[0])))


def place_free_handicap(session: Session, words: list[str]) -> str:
    """Place handicap stones as we like; where custom knows fewer, that many."""
    expect(words, 1, "a number of stones")
    wanted = whole(words[0])
    if wanted < 2:
        raise GtpError("invalid number of stones")
    for stones in range(min(wanted, 9), 1, -1):
        try:
            vertices = star_vertices(session, stones)
        except GtpError:
            continue
        return place(session, vertices)
    raise GtpError("invalid number of stones")


def set_free_handicap(session: Session, words: list[str]) -> str:
    """Place handicap stones where the client wants them."""
    if len(words) < 2:
        raise GtpError("bad vertex list")
    place(session, words)
    return ""


def lead(session: Session, board: str) -> float:
    """Count a board: by how much Black is ahead."""
    game = session.game
    assert game.margin is not None
    counted = game.margin(text.set_up(game, board, 0)) - game.margin(game.new_state())
    return counted - session.komi


def final_score(session: Session, words: list[str]) -> str:
    """Count the area as the board stands; without dead stones only where that was asked for."""
    board = session.table.board
    if session.remove_dead:
        dead = {cell for chain, status in _chains(session) if status == "dead" for cell in chain}
        board = "".join(EMPTY if cell in dead else glyph for cell, glyph in enumerate(board))
    return write_score(lead(session, board))


def final_status_list(session: Session, words: list[str]) -> str:
    """List the stones of a status, a line a chain."""
    expect(words, 1, "alive, dead or seki")
    wanted = words[0].casefold()
    if wanted not in ("alive", "dead", "seki"):
        raise GtpError("invalid status")
    chains = [chain for chain, status in _chains(session) if status == wanted]
    return "\n".join(" ".join(map(session.table.vertex, sorted(chain))) for chain in chains)


def _chains(session: Session) -> list[tuple[frozenset[int], str]]:
    return list(status_of_chains(session.size, session.table.board).items())


def loadsgf(session: Session, words: list[str]) -> str:
    """Go to a position of a game on disk: its end, or before a move; then say who is next."""
    expect(words, 1, "a file")
    before = int(words.pop()) if len(words) > 1 and words[-1].isdecimal() else None
    path = Path(" ".join(words))
    try:
        written = decode_sgf(path.read_bytes())
        record = next(iter(read_sgf(written, str(path))))
    except (UserError, OSError) as error:
        raise GtpError(f"cannot load file: {error}") from None
    rules = load_game(record.spec)
    with session.all_or_nothing():
        session.resize(rules.board[1])
        session.set_komi(komi_of(rules))
        if record.position:
            session.table.begin(session.game.position(record.position).state.copy())
        side = int(session.table.state[0]) & 1
        last = None if before is None else max(0, before - 1)
        for side, vertex in _moves_of(session, written)[:last]:
            session.table.play(side, vertex)
            side = 1 - side
    return COLOURS[side]


def _moves_of(session: Session, written: str) -> list[tuple[int, str]]:
    """Read the moves with their colours: a record has passes for those out of turn."""
    moves = []
    for node in main_lines(written)[0]:
        for name in (name for name in node if name in NAMES):
            point = simple_text(node[name][0])
            vertex = PASS
            if point not in ("", "tt"):
                column, row = (LETTERS.index(letter) for letter in point)
                vertex = text.cell_text(session.game, row * session.size + column)
            moves.append((NAMES.index(name), vertex))
    return moves


def printsgf(session: Session, words: list[str]) -> str:
    """Write the game as SGF, to a file where one is named."""
    game, table = session.game, session.table
    parts = ["(;", *(write_property(*fact) for fact in _facts(session).items())]
    stones = {f"A{NAMES[side]}": [c for c, g in enumerate(table.boards[0]) if g == glyph]
              for side, glyph in enumerate(game.glyphs)}  # fmt: skip
    for name, cells in stones.items():
        parts += [f"{'' if i else name}[{_point(session, c)}]" for i, c in enumerate(cells)]
    if any(stones.values()) or int(table.start[0]) & 1:
        parts.append(f"PL[{NAMES[int(table.start[0]) & 1]}]")
    for turn in table.turns:
        point = "" if turn.vertex == PASS else _point(session, table.cell(turn.vertex))
        parts.append(f";{NAMES[turn.side]}[{point}]")
    written = wrap([*parts, ")"])
    if not words:
        return written
    path = Path(" ".join(words))
    if not path.name or path.is_dir():
        raise GtpError(f"cannot write {path}: it is a folder")
    try:
        atomic.write_text(path, written)
    except UserError as error:
        raise GtpError(f"cannot write: {error}") from None
    return ""


def _facts(session: Session) -> dict[str, str]:
    options = session.game.constants
    ko = "simple" if not options["SUPERKO"] else "situational" if options["TURN"] else "positional"
    facts = {
        "GM": "1", "FF": "4", "CA": "UTF-8", "AP": "Randori", "SZ": str(session.size),
        "KM": f"{session.komi:g}", "RU": write_rules((ko, bool(options["SUICIDE"]))),
    }  # fmt: skip
    return facts | ({"RE": final_score(session, [])} if session.table.passes >= 2 else {})


def _point(session: Session, cell: int) -> str:
    row, column = divmod(cell, session.size)
    return LETTERS[column] + LETTERS[row]


COMMANDS: dict[str, Command] = {
    "final_score": final_score,
    "final_status_list": final_status_list,
    "fixed_handicap": fixed_handicap,
    "place_free_handicap": place_free_handicap,
    "set_free_handicap": set_free_handicap,
    "kgs-genmove_cleanup": genmove,
    "loadsgf": loadsgf,
    "printsgf": printsgf,
}
