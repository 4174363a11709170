"""What a GTP client talks to: a board, the agent that plays on it, and a clock."""

import math
import sys
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from copy import copy, deepcopy
from time import monotonic

import numpy as np

from randori.agents.agent import RESIGN
from randori.errors import UserError
from randori.games.game import Game
from randori.games.position import Position
from randori.games.registry import load_game
from randori.protocols.clock import LAG, Clock
from randori.protocols.gtp_table import GtpError, Table
from randori.protocols.lines import Lines
from randori.protocols.thinking import Choice, Mind, Report, open_mind
from randori.spec import Spec, option_text, parse_spec

GAMES = {"go": "Go", "othello": "Othello"}
"""The games that the protocol is spoken for, and what clients call them."""


class Session:
    """One client and one agent."""

    def __init__(self, game: str, agent: str, *, seed: int | None = None) -> None:
        spec = parse_spec(game)
        if spec.name not in GAMES:
            raise UserError(f"GTP is spoken for {' and '.join(GAMES)}, not for {spec.name!r}")
        load_game(game)  # says what is wrong with the options
        self.kind = spec.name
        self.agent_spec = agent
        self.clock = Clock()
        self.lines = Lines(())
        self.is_over = False
        self.remove_dead = False
        """whether the final score leaves out stones that seem to be dead"""
        self._rng = np.random.default_rng(seed)
        self._options = dict(spec.options)
        self._komi = float(self._options["komi"]) if "komi" in self._options else None
        self.mind, self.table = self._open(self._options)

    @property
    def game(self) -> Game:
        """The rules that the agent plays by."""
        return self.mind.game

    @property
    def size(self) -> int:
        """Lines of the board."""
        return self.table.game.board[1]

    @property
    def komi(self) -> float:
        """What White gets on top by the client's word, whatever the agent believes."""
        return komi_of(self.game) if self._komi is None else self._komi

    def resize(self, size: int) -> None:
        """Start on a board of another size; if that cannot be, nothing changes."""
        options = {**self._options, "size": str(size)}
        try:
            load_game(str(Spec(self.kind, None, options)))
        except UserError:
            raise GtpError("unacceptable size") from None
        try:
            if size != self.size:
                self.mind, self.table = self._open(options)
        except UserError as error:
            raise GtpError(f"unacceptable size: {error}") from None
        self._options = options
        self.clear()

    def set_komi(self, komi: float) -> None:
        """Count with another komi; an agent that was trained for its own goes on with that."""
        before, self._komi = self._komi, komi
        try:
            if komi != komi_of(self.game):
                self.mind = self._open_with_komi(self.game)
                self.table.change_rules(self.game)
        except UserError:
            self._komi = before
            raise

    def clear(self) -> None:
        """Start a new game."""
        self.table.begin(self.game.new_state())
        self.clock.restart()

    @contextmanager
    def all_or_nothing(self) -> Iterator[None]:
        """Leave everything as it was if what is done inside fails."""
        kept = self.mind, copy(self.table), deepcopy(self.clock), self._options, self._komi
        try:
            yield
        except Exception:
            self.mind, self.table, self.clock, self._options, self._komi = kept
            raise

    def _open(self, options: Mapping[str, str]) -> tuple[Mind, Table]:
        """Load the rules and the agent, which must know them."""
        attempts = [dict(options)]
        if self.kind == "go" and "suicide" not in options:
            attempts.insert(0, {**options, "suicide": "no"})  # few clients would understand
        for attempt in attempts:
            attempt.pop("komi", None)
            try:
                game = load_game(str(Spec(self.kind, None, attempt)))
                mind = self._open_with_komi(game)
                break
            except UserError:
                if attempt is attempts[-1]:
                    raise
        suicide = self.kind == "go" and options.get("suicide", "yes") != "no"
        return mind, Table(mind.game, suicide=suicide)

    def _open_with_komi(self, game: Game) -> Mind:
        """Load the agent for these rules and the komi; if it knows another one only, for that."""
        spec = parse_spec(game.spec)
        options = {key: value for key, value in spec.options.items() if key != "komi"}
        plain = load_game(str(Spec(self.kind, None, options)))
        if self._komi is None or self._komi == komi_of(plain):
            return open_mind(self.agent_spec, plain, self._rng)
        options["komi"] = option_text(self._komi)
        try:
            exact = load_game(str(Spec(self.kind, None, options)))
            return open_mind(self.agent_spec, exact, self._rng)
        except UserError as error:
            mind = open_mind(self.agent_spec, plain, self._rng)
            log(f"{error}; it plays as with komi {komi_of(plain):g}")
            return mind

    def facing(self, side: int) -> Position:
        """Return the position with a side to move, far enough from the longest game."""
        return self.table.facing(side, plies=self.table.game.board_cells)

    def think(self, side: int) -> Choice:
        """Let the agent pick a move that every client takes for legal, in its time."""
        thoughts = self.think_aloud(side)
        while True:
            try:
                next(thoughts)
            except StopIteration as end:
                choice: Choice = end.value
                return choice

    def think_aloud(self, side: int) -> Generator[Report, None, Choice]:
        """Yield what the agent sees while it thinks, and return its choice."""
        began = monotonic()
        here = self.facing(side)
        if here.is_over:
            return Choice(self.game.pass_action, math.nan)
        if len(only := here.actions()) == 1:
            return Choice(only[0], math.nan)
        choice = Choice(RESIGN, math.nan)
        for choice in self.mind.ponder(here, self.clock.allot(side, self._moves_left(side))):
            if choice.report is not None:
                yield choice.report
            if self.lines.is_hurried:
                break
        self.clock.spend(side, monotonic() - began + LAG)
        if choice.action == RESIGN or self.table.is_acceptable(here, choice.action):
            return choice
        seen = choice.report.analysis.moves if choice.report is not None else []
        fitting = [m.action for m in seen if self.table.is_acceptable(here, m.action)]
        return Choice(fitting[0] if fitting else self.game.pass_action, choice.value)

    def _moves_left(self, side: int) -> float:
        """Guess how many more moves a side will make."""
        cells = self.table.game.board_cells
        if self.kind == "othello":
            return self.table.board.count(".") / 2
        made = sum(turn.side == side for turn in self.table.turns)
        return max(0.45 * cells - made, 0.12 * cells, 5.0)


Command = Callable[[Session, list[str]], str | Iterator[str]]
"""Takes a command's words; returns the answer, or yields the lines of a stream."""


def log(words: str) -> None:
    """Say something beside the protocol."""
    print(f"randori gtp: {words}", file=sys.stderr, flush=True)


def komi_of(game: Game) -> float:
    """Return what the second player is ahead by at the start."""
    assert game.margin is not None
    return 0.0 - game.margin(game.new_state())
