"""The arena's memory: one SQLite file of games, which many processes may read and write at once.

A game is there as soon as it is over; `kill -9` loses only games that were still being played.
The file has a version number, and another version's file is refused rather than misread.
"""

import csv
import io
import json
import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from randori.arena.match import PlayedGame
from randori.errors import UserError
from randori.games.game import Game
from randori.games.position import RESULTS, Result
from randori.games.records import GameRecord

VERSION = 1
APPLICATION = 0x52414E44
"""Marks the file as ours: "RAND"."""
PATIENCE = 60.0
"""Seconds to wait for another process that writes."""

_TABLES = (
    """CREATE TABLE tournaments (
    id TEXT PRIMARY KEY,
    plan TEXT NOT NULL,       -- JSON
    time TEXT NOT NULL
)""",
    """CREATE TABLE games (
    id INTEGER PRIMARY KEY,   -- in the order in which games ended
    game TEXT NOT NULL,       -- spec
    first TEXT NOT NULL,      -- spec of the agent that plays the first side
    second TEXT NOT NULL,
    result TEXT NOT NULL,     -- first, second or draw
    reason TEXT NOT NULL,     -- why the loser gave up; empty if the rules decided
    plies INTEGER NOT NULL,
    position TEXT NOT NULL,   -- where the moves begin; empty stands for the start
    opening INTEGER NOT NULL, -- how many of the moves were its opening
    moves TEXT NOT NULL,      -- action ids with spaces between them
    seed INTEGER NOT NULL,
    round INTEGER NOT NULL,   -- both colours of a round share an opening
    tournament TEXT,          -- NULL for a match
    time TEXT NOT NULL,
    UNIQUE (tournament, round, first, second)
)""",
    "CREATE INDEX games_by_game ON games (game, first, second)",
)


@dataclass(frozen=True)
class StoredGame:
    """One row of the store, in words where people read it."""

    game: str
    first: str
    second: str
    result: Result
    reason: str
    plies: int
    position: str
    opening: int
    moves: str
    seed: int
    round: int
    tournament: str | None
    time: str

    @property
    def score(self) -> float:
        """1, 0.5 or 0 for the first player."""
        return {"first": 1.0, "draw": 0.5, "second": 0.0}[self.result]

    @property
    def actions(self) -> list[int]:
        """The moves as action ids."""
        return [int(word) for word in self.moves.split()]

    @property
    def begun(self) -> tuple[object, ...]:
        """Who began it, and its opening, as something to compare."""
        return self.first, self.second, self.position, *self.actions[: self.opening]


COLUMNS = tuple(field.name for field in fields(StoredGame))
_INSERT = (
    f"INSERT OR IGNORE INTO games ({', '.join(COLUMNS)}) VALUES ({', '.join('?' * len(COLUMNS))})"
)


def stored(
    game: Game,
    agents: tuple[str, str],
    played: PlayedGame,
    *,
    seed: int,
    round: int,
    tournament: str | None = None,
) -> StoredGame:
    """Make the row of a game that a, the first of `agents`, has just played with b."""
    result = RESULTS[played.outcome]
    assert result is not None
    first, second = agents if played.a_is_first else agents[::-1]
    return StoredGame(
        game.spec, first, second, result, played.reason, len(played.moves), played.position,
        played.opening, " ".join(map(str, played.moves)), seed, round, tournament, _now(),
    )  # fmt: skip


class Store:
    """An open store; close it, or use it as a context."""

    def __init__(self, path: Path, *, create: bool = True) -> None:
        self.path = path
        if not create and not path.exists():
            raise UserError(f"there is no store {path}; a tournament or match --store makes one")
        if not path.parent.is_dir():
            raise UserError(f"there is no folder {str(path.parent)!r} for {path.name}")
        with self._explained():
            self._base = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)
        try:
            with self._explained():
                self._prepare()
        except BaseException:
            self._base.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        self._base.close()

    def add(self, games: Iterable[StoredGame]) -> None:
        """Write games that are over; one that the tournament has already is left as it is."""
        rows = [tuple(vars(game).values()) for game in games]
        with self._explained(), self._writing():
            self._base.executemany(_INSERT, rows)

    def games(self, game: str | None = None, tournament: str | None = None) -> Iterator[StoredGame]:
        """Yield games in the order in which they ended, all of them or only some."""
        wanted = {"game": game, "tournament": tournament}
        chosen = {name: value for name, value in wanted.items() if value is not None}
        where = " AND ".join(f"{name} = :{name}" for name in chosen) or "1"
        query = f"SELECT {', '.join(COLUMNS)} FROM games WHERE {where} ORDER BY id"
        with self._explained():
            for row in self._base.execute(query, chosen):
                yield StoredGame(*row)

    def count_by_game(self) -> dict[str, int]:
        """Return how many games there are of each game."""
        with self._explained():
            return dict(self._base.execute("SELECT game, COUNT(*) FROM games GROUP BY game"))

    def save_plan(self, tournament: str, plan: dict[str, Any]) -> None:
        """Remember what a tournament plays; its newest plan counts."""
        with self._explained(), self._writing():
            self._base.execute(
                "INSERT INTO tournaments VALUES (?, ?, ?) "
                "ON CONFLICT (id) DO UPDATE SET plan = excluded.plan",
                (tournament, json.dumps(plan), _now()),
            )

    def plan(self, tournament: str) -> dict[str, Any]:
        """Return the plan of a tournament, found by its id or the beginning of it."""
        with self._explained():
            found = dict(self._base.execute("SELECT id, plan FROM tournaments ORDER BY time"))
        close = [name for name in found if name.startswith(tournament)]
        if len(close) != 1:
            known = ", ".join(list(found)[-5:]) or "none"
            raise UserError(f"{self.path} has no tournament {tournament!r}; the last ones: {known}")
        plan: dict[str, Any] = json.loads(found[close[0]])
        return plan

    def _prepare(self) -> None:
        """Make a new file ours, and look whether an old one is."""
        self._base.execute("PRAGMA synchronous = NORMAL")  # enough for WAL: a kill loses nothing
        is_empty = not self._base.execute("SELECT 1 FROM sqlite_master").fetchone()
        if self._pragma("user_version") == 0 and is_empty:
            self._use_wal()
            with self._writing():  # another process may have come first: look again
                is_new = not self._base.execute("SELECT 1 FROM sqlite_master").fetchone()
                if is_new:
                    for statement in _TABLES:
                        self._base.execute(statement)
                    self._base.execute(f"PRAGMA application_id = {APPLICATION}")
                    self._base.execute(f"PRAGMA user_version = {VERSION}")
        if self._pragma("application_id") != APPLICATION:
            raise UserError(f"{self.path} is a database of another program, not an arena's store")
        if (version := self._pragma("user_version")) != VERSION:
            raise UserError(
                f"{self.path} is a store of version {version}, but this Randori reads version "
                f"{VERSION}; use the Randori that wrote it, or another file (--store)"
            )

    def _use_wal(self) -> None:
        """Turn to write-ahead logging; SQLite does not wait for others who do the same."""
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                self._base.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)

    def _pragma(self, name: str) -> int:
        return int(self._base.execute(f"PRAGMA {name}").fetchone()[0])

    @contextmanager
    def _writing(self) -> Iterator[None]:
        self._base.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._base.execute("COMMIT")
        except BaseException:
            if self._base.in_transaction:
                self._base.execute("ROLLBACK")
            raise

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise UserError(f"store {self.path}: {error}") from error


def without_replays(games: Iterable[StoredGame]) -> list[StoredGame]:
    """Leave out what a match with the same seed has played before: it says nothing new.

    A tournament never plays a game twice.
    """
    seen: set[tuple[object, ...]] = set()
    kept = []
    for one in games:
        key = (one.game, one.first, one.second, one.seed, one.round, one.position, one.moves,
               one.result)  # fmt: skip
        if one.tournament is not None or key not in seen:
            kept.append(one)
        if one.tournament is None:
            seen.add(key)
    return kept


def write_csv(game: Game, games: Iterable[StoredGame]) -> str:
    """Write games as a table with a header, moves as people write them."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for one in games:
        moves = " ".join(as_record(game, one).moves)
        writer.writerow({**vars(one), "moves": moves}.values())
    return text.getvalue()


def as_record(game: Game, stored: StoredGame) -> GameRecord:
    """Turn a row into a record that `randori show` reads; what the record does not know is kept."""
    start = game.position(stored.position) if stored.position else None
    kept = ("reason", "opening", "seed", "round", "tournament", "time")
    known = {name: getattr(stored, name) for name in kept}
    extra = {name: value for name, value in known.items() if value not in (None, "")}
    agents = {"first": stored.first, "second": stored.second}
    return GameRecord.from_actions(
        game, stored.actions, stored.result, start=start, agents=agents, extra=extra
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
