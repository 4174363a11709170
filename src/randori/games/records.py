"""Games as text: JSON Lines, one object a game, the same for every game and every writer.

    {"game": "othello", "options": {"size": 6}, "moves": ["d5", "c5"], "result": null}

`game` is a name, or the path of somebody's own file; `options` are those that differ from the
defaults; `position` is where the game began, if not at the start; `result` may come before the end,
by resignation, and is null or missing where nobody has won or the moves say who did; `agents` and
`values` (a number or null a move, from the view of the side that moved) are there where they are
known. Other fields are kept.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from sys import float_info
from typing import Any

from randori.errors import IllegalAction, UserError, nearest
from randori.games import text
from randori.games.game import Game
from randori.games.position import RESULTS, Position, Result
from randori.games.registry import GAMES, load_game
from randori.spec import Spec, option_text, parse_spec
from randori.words import some

Option = bool | int | float | str


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_option(value: Any) -> bool:
    return _is_text(value) or (isinstance(value, int | float) and abs(value) <= float_info.max)


def _is_value(value: Any) -> bool:
    return value is None or (_is_option(value) and not isinstance(value, str | bool))


def _each(kind: Any, is_item: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """Expect a list or an object, and every item of it to be right."""
    return lambda v: isinstance(v, kind) and all(map(is_item, v if kind is list else v.values()))


_FIELDS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "game": (
        lambda v: _is_text(v) and v != "" and parse_spec(v) == Spec(v, None, {}),
        "a name or a path",
    ),
    "options": (_each(dict, _is_option), "an object of texts, numbers and booleans"),
    "position": (_is_text, "a position text"),
    "moves": (_each(list, _is_text), "a list of texts"),
    "result": (lambda v: v in RESULTS, '"first", "second", "draw" or null'),
    "agents": (
        lambda v: _each(dict, _is_text)(v) and v.keys() <= {"first", "second"},
        'an object of texts, "first" and "second"',
    ),
    "values": (_each(list, _is_value), "a list of numbers and nulls"),
}
"""What each field has to be, and how to say so; `game` and `moves` must be there."""


@dataclass(frozen=True)
class GameRecord:
    """One game that was played, finished or not."""

    game: str
    moves: tuple[str, ...]
    result: Result | None = None
    options: Mapping[str, Option] = field(default_factory=dict)
    position: str = ""
    """Where the game began; empty stands for the start."""
    agents: Mapping[str, str] = field(default_factory=dict)
    values: tuple[float | None, ...] = ()
    """What each mover thought of its position; empty where nobody knows."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Fields that mean nothing here."""

    @classmethod
    def from_actions(
        cls,
        game: Game,
        actions: Sequence[int],
        result: Result | None,
        *,
        start: Position | None = None,
        **known: Any,
    ) -> "GameRecord":
        """Record what was played by action ids, and how it ended; `known` are further fields."""
        state, moves = (start or game.start()).state.copy(), []
        for action in actions:
            moves.append(text.action_text(game, state, action))
            if game.action_text is not None:  # else a move's text does not depend on the position
                game.plain.play(state, action)
        began = start.text() if start is not None and start != game.start() else ""
        name, options = parse_spec(game.spec).name, read_options(game)
        return cls(name, tuple(moves), result, options, began, **known)

    @classmethod
    def from_json(cls, line: str, where: str = "game record") -> "GameRecord":
        """Read what `to_json` wrote; `where` is named in front of what is wrong."""
        try:
            fields = json.loads(line.rstrip())
        except json.JSONDecodeError as error:
            raise UserError(f"{where}: not JSON at column {error.colno}: {error.msg}") from None
        except (ValueError, RecursionError) as error:
            raise UserError(f"{where}: not JSON: {error}") from None
        if not isinstance(fields, dict):
            raise UserError(f"{where}: expected an object, found {_excerpt(fields)}")
        for name, (is_right, expected) in _FIELDS.items():
            if name not in fields and name in ("game", "moves"):
                raise UserError(f"{where}: this is no game record: it has no field {name!r}")
            if name in fields and not is_right(fields[name]):
                found = _excerpt(fields[name])
                raise UserError(f"{where}: {name}: expected {expected}, found {found}")
        known = {name: fields.pop(name) for name in _FIELDS if name in fields}
        moves, values = tuple(known["moves"]), tuple(known.get("values", ()))
        if "values" in known and len(values) != len(moves):
            played = some(len(moves), "move")
            raise UserError(f"{where}: values: {len(values)} of them for {played}")
        return cls(**known | {"moves": moves, "values": values}, extra=fields)

    def fields(self) -> dict[str, Any]:
        """Return what `to_json` writes: the fields that say something."""
        known = {name: getattr(self, name) for name in _FIELDS}
        said = {k: v for k, v in known.items() if v or k in ("game", "moves", "result")}
        return said | {k: v for k, v in self.extra.items() if k not in known}

    def to_json(self) -> str:
        """Write one line of a .jsonl file."""
        return json.dumps(self.fields())

    @property
    def spec(self) -> str:
        """How the registry finds the game."""
        options = {name: option_text(value) for name, value in self.options.items()}
        return str(Spec(self.game, None, options))

    def replay(self, game: Game | None = None) -> list[Position]:
        """Return the position before the first move, and the one after each.

        A record must not name a file of rules and have it run: such a game has to be given.
        """
        if game is None and self.game not in GAMES:
            own = "rules of your own have to be given along"
            known = own if self.game.endswith(".py") else nearest(self.game, GAMES)
            raise UserError(f"there is no game {self.game!r}; {known}")
        game = load_game(self.spec) if game is None else game
        positions = [game.position(self.position or "start")]
        for ply, move in enumerate(self.moves, start=1):
            try:
                positions.append(positions[-1].play(move))
            except IllegalAction as error:
                raise IllegalAction(f"ply {ply}: {error}") from None
        outcome = positions[-1].outcome
        if self.result is not None and outcome not in (None, self.result):
            raise UserError(f"result: {self.result}, but the moves end the game with {outcome}")
        return positions


def read_options(game: Game) -> dict[str, Option]:
    """Return the options of a game that differ from its defaults."""
    return read_options_text(game.spec.partition(":")[2])


def read_options_text(words: str) -> dict[str, Option]:
    """Read ``key=value,key=value`` as a spec has them behind its colon."""
    return {name: _read_option(value) for name, value in parse_spec(f":{words}").options.items()}


def _read_option(words: str) -> Option:
    if words in ("yes", "no"):
        return words == "yes"
    for kind in (int, float):
        with suppress(ValueError):
            # A text that only looks like a number, such as 007, must come back as it is.
            if option_text(number := kind(words)) == words and _is_option(number):
                return number
    return words


def _excerpt(value: Any) -> str:
    written = json.dumps(value)
    return written if len(written) <= 60 else f"{written[:57]}…"


def read_records(path: Path) -> Iterator[GameRecord]:
    """Yield the games of a .jsonl or .sgf file one by one."""
    try:
        with open(path, "rb") as file:
            if path.suffix.lower() == ".sgf":
                # These make records: they come after them.
                from randori.games.sgf import read_sgf
                from randori.games.sgf_syntax import decode_sgf

                yield from read_sgf(decode_sgf(file.read()), str(path))
                return
            for number, line in enumerate(file, start=1):
                words = _decode(line, where := f"{path}, line {number}")
                if words.strip():
                    yield GameRecord.from_json(words, where)
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror or error}") from None


def _decode(data: bytes, where: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"{where}: not UTF-8 text (byte {error.start + 1})") from None


def write_records(records: Iterable[GameRecord]) -> str:
    """Write the text of a .jsonl file."""
    return "".join(f"{record.to_json()}\n" for record in records)
