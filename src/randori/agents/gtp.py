"""Engines that speak GTP, the Go Text Protocol: Go, and Othello where they know it.

    gtp:gnugo --mode gtp --level 1,seconds=10        gtp:gtp-rhino -l 2,processes=8

The command is split as a shell would, quotes included, but no shell runs it. A comma ends it: what
needs one goes into a script. Which rules it plays is the engine's own affair: GNU Go plays our Go
with ``--chinese-rules --positional-superko --allow-suicide --capture-all-dead``.

An agent sees positions, not games. A game is found again as a board that is one move behind it, so
its engine goes on from there and knows the history; any other position is set up from its board.
An engine that fails loses its game and is replaced. One that does not start loses all games to come
at once: `start` seconds are waited for only once, unless another engine of the player had started.
"""

import shlex
import weakref
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from signal import SIGKILL

import numpy as np
from numpy.typing import NDArray

from randori.agents.agent import RESIGN
from randori.agents.engine import (
    Engine,
    EngineFailure,
    Limit,
    NotSpoken,
    Refusal,
    find_program,
    shorten,
    shut_down,
)
from randori.agents.gtp_boards import COLOURS, SET_UPS, link, play_command, read_move
from randori.errors import UserError
from randori.games.game import Game
from randori.games.kernels import State
from randori.games.position import Position

STARTS = 3
"""After so many engines in a row that did not start, no other is tried; if none ever did, after
one: a game that has been played shows that it can."""


@dataclass
class Table:
    """An engine, and the position on its board as far as it is known."""

    game: Game
    engine: Engine
    seconds: float
    known: set[str] = field(default_factory=set)
    state: State | None = None

    def introduce(self, clock: bool, start: float) -> None:
        """Hear whether the engine speaks GTP and what it knows; tell it the time if asked to."""
        limit = Limit(start)
        try:
            self._ask("protocol_version", limit)
        except NotSpoken as failure:
            hint = "does the command start it in GTP mode?"
            raise EngineFailure(f"{failure} ({hint})") from None
        self.known = set(self._ask("list_commands", limit).split())
        if clock and "time_settings" in self.known:
            self._ask(f"time_settings 0 {max(1, int(self.seconds))} 1", limit)

    def move(self, state: State, steps: Sequence[int] | None) -> int:
        """Go to a position, by `steps` from where it is or by setting it up; return the move.

        All commands together have the seconds of a move.
        """
        limit = Limit(self.seconds)
        here, self.state = self.state, None
        if here is None or steps is None or not self._follow(here, steps, limit):
            for command in SET_UPS[self.game.name](self.game, state, self.known):
                self._ask(command, limit)
        answer = self._ask(f"genmove {COLOURS[int(state[0]) & 1]}", limit)
        if answer.casefold() == "resign":
            return RESIGN
        position = Position(self.game, state.copy())
        action = read_move(position, answer)
        self.state = position.play(action).state
        return action

    def _follow(self, here: State, steps: Sequence[int], limit: Limit) -> bool:
        """Play a move of the opponent, if any; tell whether the engine could."""
        for action in steps:
            try:
                self.engine.ask(play_command(self.game, here, action), limit)
            except Refusal:
                # Some engines make forced passes by themselves; else it plays by other rules.
                return self.game.legal_actions(here) == [self.game.num_actions - 1]
        return True

    def _ask(self, command: str, limit: Limit) -> str:
        """Return the answer to a command that the engine must not refuse."""
        try:
            return self.engine.ask(command, limit)
        except Refusal as refusal:
            raise EngineFailure(f"refused {command}: {shorten(str(refusal))}") from None


class GtpPlayer:
    """As many engines as there are games, up to a bound; beyond it games take turns."""

    def __init__(
        self,
        game: Game,
        command: Sequence[str],
        *,
        seconds: float,
        start: float,
        processes: int,
        clock: bool,
    ) -> None:
        self.last_words: dict[int, str] = {}
        self._game, self._command = game, command
        self._seconds, self._start_seconds, self._clock = seconds, start, clock
        self._has_started = False
        self._tables: list[Table | None] = [None] * processes
        self._used = [0] * processes
        self._failed_starts: list[str] = []
        weakref.finalize(self, close_tables, self._tables)

    def act(self, states: NDArray[np.uint64], rng: np.random.Generator) -> NDArray[np.int32]:
        """Ask an engine for each position; where it fails, resign with its last words."""
        self.last_words = {}
        picked = np.full(len(states), RESIGN, dtype=np.int32)
        queues = self._deal(states)

        def serve(seat: int) -> None:
            for row, steps in queues[seat]:
                picked[row] = self._move(seat, row, states[row], steps)

        busy = [seat for seat, queue in enumerate(queues) if queue]
        with ThreadPoolExecutor(len(self._tables)) as pool:
            try:
                list(pool.map(serve, busy))
            except BaseException:  # an interrupt: nobody waits for these answers any more
                for seat in busy:
                    queues[seat].clear()
                    table = self._tables[seat]
                    if table is not None:
                        table.engine.tell(SIGKILL)
                raise
        return picked

    def close(self) -> None:
        """End all engines."""
        close_tables(self._tables)

    def _deal(self, states: NDArray[np.uint64]) -> list[list[tuple[int, list[int] | None]]]:
        """Give every row to an engine: to its own first, else to the least and longest idle one."""
        for seat, table in enumerate(self._tables):
            if table is not None and not table.engine.is_ours:
                self._tables[seat] = None  # this is a fork, and the engine is its parent's
        queues: list[list[tuple[int, list[int] | None]]] = [[] for _ in self._tables]
        strangers = []
        for row, state in enumerate(states):
            for seat, table in enumerate(self._tables):
                if not queues[seat] and table is not None and table.state is not None:
                    steps = link(self._game, table.state, state)
                    if steps is not None:
                        queues[seat].append((row, steps))
                        break
            else:
                strangers.append(row)
        for row in strangers:
            seat = min(
                range(len(queues)),
                key=lambda s: (len(queues[s]), self._tables[s] is not None, self._used[s]),
            )
            queues[seat].append((row, None))
        turn = max(self._used) + 1
        self._used = [
            turn if queue else used for queue, used in zip(queues, self._used, strict=True)
        ]
        return queues

    def _move(self, seat: int, row: int, state: State, steps: list[int] | None) -> int:
        """Ask one engine; a new one if there is none, or if it died between two games."""
        name = Path(self._command[0]).name
        table = self._tables[seat]
        try:
            if table is None or (steps is None and not table.engine.is_alive):
                table = self._start(seat)
            action = table.move(state, steps)
        except EngineFailure as failure:
            self._dismiss(seat)
            self.last_words[row] = f"{name}: {failure}"
            return RESIGN
        if action == RESIGN:
            self.last_words[row] = f"{name}: resigned"
        return action

    def _start(self, seat: int) -> Table:
        """Start an engine on a seat, instead of what may be there."""
        self._dismiss(seat)
        if len(self._failed_starts) >= (STARTS if self._has_started else 1):
            raise EngineFailure(self._failed_starts[-1])
        try:
            table = self._tables[seat] = Table(self._game, Engine(self._command), self._seconds)
            table.introduce(self._clock, self._start_seconds)
        except EngineFailure as failure:
            self._failed_starts.append(f"{failure}; not tried again")
            raise
        self._failed_starts.clear()
        self._has_started = True
        return table

    def _dismiss(self, seat: int) -> None:
        """End the engine of a seat."""
        table = self._tables[seat]
        if table is not None:
            table.engine.kill()
            self._tables[seat] = None


def close_tables(tables: list[Table | None]) -> None:
    """End the engines of all tables."""
    shut_down([table.engine for table in tables if table is not None])
    tables[:] = [None] * len(tables)


def gtp(
    game: Game,
    value: str | None,
    *,
    seconds: float = 30.0,
    start: float = 20.0,
    processes: int = 4,
    clock: bool = False,
) -> GtpPlayer:
    """Play by a GTP engine, as in gtp:gnugo --mode gtp: `seconds` for a move, and 1 s of grace.

    `start` is its limit for the first answers; one that does not start loses all games to come.
    Either may be late by 1 s (`engine.GRACE`): a busy machine is not the program's fault.
    `processes` bounds how many run at once; `clock` tells them the limit, which GNU Go takes as
    leave to think for longer than its level says.
    """
    if game.name not in SET_UPS:
        raise UserError(f"gtp: engines play {' and '.join(SET_UPS)}, not {game.name}")
    if seconds <= 0 or start <= 0:
        raise ValueError(f"{'seconds' if seconds <= 0 else 'start'} must be more than 0")
    if processes < 1:
        raise ValueError("processes must be at least 1")
    try:
        program, *arguments = shlex.split(value or "")
    except ValueError as error:
        if value is None:
            raise UserError("gtp: expected a command, as in gtp:gnugo --mode gtp") from None
        raise UserError(
            f"gtp: {value!r}: {error}; a comma ends the command, so put it into a script"
        ) from None
    command = [find_program(program), *arguments]
    return GtpPlayer(game, command, seconds=seconds, start=start, processes=processes, clock=clock)
