"""SGF, in which Go games are kept: FF[4] and its ancestors in, FF[4] out.

A point is written column and row from the top left, ``aa``; records name it as GTP does, ``A9``:
columns without I, rows from the bottom. Only the main line is read, and stones can be set up only
before its first move. A move out of turn gets a pass of the other side in front of it. RU says how
ko and suicide are. Where other rules count territory, or take dead stones off when both have
passed, our count may contradict RE: then RE is right, and the last two passes are left out.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from randori import __version__
from randori.errors import UserError
from randori.games import text as board_text
from randori.games.game import Game
from randori.games.position import Position, Result, Side
from randori.games.records import GameRecord, Option, read_options, read_options_text
from randori.games.registry import load_game
from randori.games.sgf_syntax import Node, main_lines, simple_text, wrap, write_property
from randori.spec import option_text

GAME = "go"
"""The one game that SGF is read and written for."""
COLUMNS = "ABCDEFGHJKLMNOPQRST"
LETTERS = "abcdefghijklmnopqrs"
SET_UP = {"AB": "x", "AW": "o", "AE": "."}
SIDES: Mapping[str, Side] = {"B": "first", "W": "second"}
OWN = "XR"
"""Our own property, for options that SGF has no words for."""
KEPT = ("RE", "RU", "HA", "DT", "EV", "RO", "PC", "GN", "BR", "WR", "TM", "OT", "SO", "CP")
"""What a root may say that records have no field for: they keep it as it is, under ``sgf``."""
RULES = {
    "Tromp-Taylor": ("positional", True),
    "Chinese": ("positional", False),
    "NZ": ("situational", True),
    "AGA": ("situational", False),
}
"""Ko and suicide by the name of the rules, for those that count area."""
TERRITORY = ("simple", False)
OTHER_NAMES = {"new zealand": RULES["NZ"], "japanese": TERRITORY, "korean": TERRITORY}
_RULES = {name.casefold(): rules for name, rules in RULES.items()} | OTHER_NAMES

_VALUE = re.compile(r"value (-?\d+(?:\.\d+)?(?:e[-+]?\d+)?)\b")
_KATAGO = re.compile(r"ko(SIMPLE|POSITIONAL|SITUATIONAL).*sui([01])")
"""How KataGo writes rules, those without a name too."""


def read_sgf(text: str, where: str = "SGF") -> Iterator[GameRecord]:
    """Yield the games of a collection; `where` is named in front of what is wrong."""
    try:
        games = main_lines(text)
    except UserError as error:
        raise UserError(f"{where}, {error}") from None
    for number, nodes in enumerate(games, start=1):
        try:
            record = _read_game(nodes)
        except UserError as error:
            raise UserError(f"{where}, game {number}: {error}") from None
        yield record


def _read_game(nodes: list[Node]) -> GameRecord:
    root = {name: simple_text(values[0]) for name, values in nodes[0].items()}
    if root.get("GM", "1") != "1":
        raise UserError(f"GM[{root['GM']}] is another game; only Go, GM[1], is read")
    options: dict[str, Option] = {"size": _read_size(root.get("SZ", "19"))}
    if rules := read_rules(root.get("RU", "")):
        options["ko"], options["suicide"] = rules
    game = load_game(GameRecord(GAME, (), options=options).spec)
    if root.get("KM") and (komi := _read_komi(root["KM"])) != _komi(game):
        options["komi"] = komi
    options |= _read_own(root.get(OWN, ""))
    game = load_game(GameRecord(GAME, (), options=options).spec)
    position, side = _read_start(nodes, game)
    moves, values = _read_moves(nodes, game.board[0], side)
    if len(moves) > game.longest:  # no rules but ours end a game for its length
        game = load_game(GameRecord(GAME, (), options={**options, "cap": len(moves) + 2}).spec)
    agents = {str(SIDES[side]): root[name] for side in SIDES if root.get(name := f"P{side}")}
    kept = {name: root[name] for name in KEPT if root.get(name)}
    record = GameRecord(
        GAME, tuple(moves), read_result(root.get("RE", "")), read_options(game), position, agents,
        tuple(values) if any(value is not None for value in values) else (),
        {"sgf": kept} if kept else {},
    )  # fmt: skip
    return _settle(record) if moves[-2:] == ["pass", "pass"] else record


def _settle(record: GameRecord) -> GameRecord:
    """Let RE have the last word about a game that ended with two passes."""
    try:
        outcome = replace(record, moves=record.moves[:-1]).replay()[-1].play("pass").outcome
    except UserError:
        return record  # whoever replays it will hear of it
    if "RE" not in record.extra.get("sgf", {}):
        return replace(record, result=outcome)
    if outcome == record.result:
        return record
    note = "the last two passes are left out: the file's result is not that of the area"
    extra = {**record.extra, "note": note}
    return replace(record, moves=record.moves[:-2], values=record.values[:-2], extra=extra)


def _komi(game: Game) -> float:
    """Return what White is ahead by on an empty board."""
    assert game.margin is not None
    return -game.margin(game.new_state())


def _read_komi(written: str) -> float:
    """Read KM; some servers write 3.75 stones, or 375 hundredths, where 7.5 points are meant."""
    try:
        komi = float(written)
    except ValueError:
        raise UserError(f"KM[{written}] is no number") from None
    if abs(komi) >= 100:
        komi /= 100
    return 2 * komi if abs(komi) < 100 and (2 * komi) % 1 and not (4 * komi) % 1 else komi


def _read_own(written: str) -> dict[str, Option]:
    """Read the options that SGF has no words for, in our own property."""
    try:
        return dict(read_options_text(written))
    except ValueError:
        raise UserError(f"{OWN}[{written}]: expected options such as cap=200") from None


def _read_size(written: str) -> int:
    width, _, height = written.partition(":")
    if height and width != height:
        raise UserError(f"SZ[{written}]: only square boards can be read")
    if not re.fullmatch(r"\d{1,3}", width):
        raise UserError(f"SZ[{written}] is no number of lines")
    return int(width)


def read_result(written: str) -> Result | None:
    """Return who won by the text of RE; None for what is unknown, void or no result at all."""
    if re.match(r"[BbWw]\+", written):
        return SIDES[written[0].upper()]
    return "draw" if written.casefold() in ("0", "draw", "jigo") else None


def read_rules(written: str) -> tuple[str, bool] | None:
    """Return ko and suicide by the text of RU, if it is known."""
    if found := _KATAGO.match(written):
        return found[1].lower(), found[2] == "1"
    return _RULES.get(written.casefold().replace("_", "-"))


def _read_start(nodes: list[Node], game: Game) -> tuple[str, str]:
    """Return the position before the first move, empty for the start, and who moves there."""
    board, named, first = ["."] * game.board_cells, "", ""
    for node in nodes:
        for name, values in node.items():
            if name in SET_UP and first:
                raise UserError(f"{name} behind the first move: stones are set up before it only")
            for value in values if name in SET_UP else ():
                for cell in _read_cells(name, value, game.board[0]):
                    board[cell] = SET_UP[name]
            named = simple_text(values[0])[:1].upper() if name == "PL" and not first else named
            first = first or (name if name in SIDES else "")
    # Handicap stones are Black's moves: White goes on.
    side = named or first or ("W" if "x" in board and "o" not in board else "B")
    if side not in SIDES:
        raise UserError(f"PL[{side}]: expected B or W")
    if side == "B" and set(board) == {"."}:
        return "", side
    height, width = game.board
    rows = ("".join(board[row * width : (row + 1) * width]) for row in range(height))
    return game.position(f"{'/'.join(rows)} {side.lower()}").text(), side


def _read_cells(name: str, value: str, size: int) -> Iterator[int]:
    """Yield the cells of a point, or of a rectangle such as ``aa:cc``."""
    ends = [_read_point(name, point, size) for point in value.split(":")]
    (top, left), (bottom, right) = ends[0], ends[-1]
    if len(ends) > 2 or top > bottom or left > right:
        raise UserError(f"{name}[{value}]: expected a point, or upper left and lower right")
    for row in range(top, bottom + 1):
        yield from range(row * size + left, row * size + right + 1)


def _read_point(name: str, value: str, size: int) -> tuple[int, int]:
    point = value.strip()
    places = [LETTERS[:size].find(letter) for letter in point]
    if len(places) != 2 or -1 in places:
        raise UserError(f"{name}[{value}] is no point of a board of {size}")
    return places[1], places[0]


def _read_moves(nodes: list[Node], size: int, turn: str) -> tuple[list[str], list[float | None]]:
    """Return the moves as GTP names them, and what comments say about their values."""
    moves: list[str] = []
    values: list[float | None] = []
    for node in nodes:
        said = _VALUE.match(node.get("C", [""])[0])
        for name in (name for name in node if name in SIDES):
            vertex, point = "pass", simple_text(node[name][0])
            if point not in ("", "tt"):
                row, column = _read_point(name, point, size)
                vertex = f"{COLUMNS[column]}{size - row}"
            moves += [vertex] if name == turn else ["pass", vertex]
            value = max(-1.0, min(1.0, float(said[1]))) if said else None
            values += [None] * (len(moves) - len(values) - 1) + [value]
            turn = "W" if name == "B" else "B"
    while moves[-3:] == ["pass"] * 3:  # under AGA rules White passes last; two end our game
        del moves[-1], values[-1]
    return moves, values


def write_sgf(record: GameRecord) -> str:
    """Write one game tree; it must be legal, and begin where a board says it all."""
    if record.game != GAME:
        raise UserError(f"SGF is for {GAME}, not for {record.game}")
    positions = record.replay()
    kept = record.extra.get("sgf")
    root = {"RU": "", "RE": ""}
    root |= {name: str(kept[name]) for name in KEPT if isinstance(kept, dict) and name in kept}
    rules = str(record.options.get("ko", "positional")), bool(record.options.get("suicide", True))
    if read_rules(root["RU"]) != rules:
        root["RU"] = write_rules(rules)
    if not root["RE"] or read_result(root["RE"]) != record.result:
        root["RE"] = write_result(record.result, positions[-1])
    players = {f"P{side}": record.agents.get(SIDES[side], "") for side in SIDES}
    size = positions[0].game.board[0]
    own = {k: v for k, v in record.options.items() if k in ("cap", "eyes")}
    facts = {"SZ": str(size), "KM": f"{_komi(positions[0].game):g}", **players, **root,
             OWN: ",".join(f"{k}={option_text(v)}" for k, v in own.items())}  # fmt: skip
    parts = ["(;GM[1]", "FF[4]", "CA[UTF-8]", f"AP[Randori:{__version__}]"]
    parts += [write_property(name, value) for name, value in facts.items() if value]
    parts += _write_start(positions[0]) if record.position else []
    values = record.values or (None,) * len(record.moves)
    for position, move, value in zip(positions, record.moves, values, strict=False):
        name = "B" if position.to_move == "first" else "W"
        parts.append(f";{name}[{_write_move(move.strip(), size)}]")
        parts += [f"C[value {value}]"] if value is not None else []
    return wrap([*parts, ")"])


def write_rules(rules: tuple[str, bool]) -> str:
    """Name rules of ko and suicide; as KataGo does where they have no name."""
    names = [name for name, meant in RULES.items() if meant == rules]
    ko, suicide = rules
    return names[0] if names else f"ko{ko.upper()}scoreAREAtaxNONEsui{int(suicide)}"


def write_result(result: Result | None, last: Position) -> str:
    """Write RE: by points where the game was counted, else by resignation."""
    if result is None or result == "draw":
        return "0" if result else ""
    margin = last.game.margin
    by = f"{abs(margin(last.state)):g}" if last.is_over and margin is not None else "R"
    return f"{'B' if result == 'first' else 'W'}+{by}"


def _write_start(start: Position) -> list[str]:
    """Write the stones of a position, and who moves."""
    if details := board_text.details(start.game, start.state):
        raise UserError(f"SGF has no words for a beginning with {details!r}")
    size, cells = start.game.board[0], board_text.cells(start.game, start.state)
    parts = []
    for name, glyph in (("AB", "x"), ("AW", "o")):
        points = [LETTERS[i % size] + LETTERS[i // size] for i, g in enumerate(cells) if g == glyph]
        parts += [f"{'' if i else name}[{point}]" for i, point in enumerate(points)]
    return [*parts, f"PL[{'B' if start.to_move == 'first' else 'W'}]"]


def _write_move(move: str, size: int) -> str:
    if move.casefold() == "pass":
        return ""
    return LETTERS[COLUMNS.index(move[0].upper())] + LETTERS[size - int(move[1:])]
