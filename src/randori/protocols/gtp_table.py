"""The board as a GTP client sees it: either side may move at any time, and nothing ever ends it.

Our games alternate strictly and end by themselves. So a side that moves twice gets a pass of the
other between, and where no pass will do the position is set up anew: after two passes, at the
longest game, or by a move that other rules allow. A position that was set up has no past; the
table remembers the boards itself, so that no move of ours ever repeats one.
"""

from dataclasses import dataclass
from typing import NoReturn

from randori.agents.gtp_boards import COLOURS
from randori.errors import IllegalAction, UserError
from randori.games import text
from randori.games.game import Game
from randori.games.kernels import State
from randori.games.position import Position
from randori.games.registry import load_game
from randori.games.text import EMPTY

PASS = "pass"


class GtpError(Exception):
    """What a client hears behind a ``?``."""


@dataclass(frozen=True)
class Turn:
    """One move as it came, and what it led to."""

    side: int
    vertex: str
    state: State
    board: str


class Table:
    """A game under way; a shallow copy is one of its own, for nothing in it changes in place."""

    def __init__(self, game: Game, *, suicide: bool) -> None:
        self.game = game
        self._may_kill_itself = suicide
        """whether others may take their own stones off, whatever our own rules are"""
        self.turns: list[Turn] = []
        self.begin(game.new_state())

    def begin(self, state: State) -> None:
        """Start from a position, with no moves before it."""
        self.start, self.turns = state, []
        self._first_board = text.cells(self.game, state)

    def change_rules(self, game: Game) -> None:
        """Go on by the rules of a game that differs in nothing that a state holds, as komi."""
        self.game = game

    @property
    def state(self) -> State:
        """The position now."""
        return self.turns[-1].state if self.turns else self.start

    @property
    def board(self) -> str:
        """The cells now."""
        return self.turns[-1].board if self.turns else self._first_board

    @property
    def boards(self) -> list[str]:
        """All boards so far, the one now included."""
        return [self._first_board, *(turn.board for turn in self.turns)]

    @property
    def position(self) -> Position:
        """The position now, for people."""
        return Position(self.game, self.state)

    @property
    def is_empty(self) -> bool:
        """Whether nothing was played and no stone stands."""
        return not self.turns and set(self.board) == {EMPTY}

    @property
    def passes(self) -> int:
        """How many passes were played in a row."""
        vertices = [turn.vertex for turn in self.turns]
        return next((i for i, v in enumerate(reversed(vertices)) if v != PASS), len(vertices))

    def facing(self, side: int, *, plies: int = 0) -> Position:
        """Return the position with `side` to move, and at least so many plies before its end."""
        here = self.position
        if here.is_over or self.game.longest - here.ply <= plies:
            here = self._renewed(here)
        if int(here.state[0]) & 1 == side or here.is_over:
            return here
        skip = self.game.pass_action
        if skip in here.actions():
            after = here.play(skip)
            if not after.is_over:
                return after
        return Position(self.game, text.set_up(self.game, self.board, side))

    def _renewed(self, here: Position) -> Position:
        """Set the same position up without its past; two passes before it count as one."""
        if self.game.details is None:
            return here
        try:
            return self.game.position(here.text().replace(" pass pass", " pass"))
        except UserError:  # what is barred now may not be said of a position without a past
            return Position(self.game, text.set_up(self.game, self.board, int(here.state[0]) & 1))

    def vertex(self, action: int) -> str:
        """Name an action as GTP does."""
        return text.action_text(self.game, self.state, action).upper().replace("PASS", PASS)

    def read_vertex(self, word: str) -> str:
        """Return the name of a cell, or pass, as we write it; raise `GtpError` for nonsense."""
        names = {text.cell_text(self.game, c).upper() for c in range(self.game.board_cells)}
        if word.casefold() == PASS:
            return PASS
        if word.upper() not in names:
            raise GtpError(f"invalid coordinate {word!r}")
        return word.upper()

    def cell(self, vertex: str) -> int:
        """Return the cell that a vertex names."""
        cells = range(self.game.board_cells)
        return next(c for c in cells if text.cell_text(self.game, c).upper() == vertex)

    def play(self, side: int, word: str) -> None:
        """Play a move of either side."""
        vertex = self.read_vertex(word)
        here = self.facing(side)
        try:
            state = here.play(vertex).state
        except IllegalAction:
            state = self._tolerate(here, side, vertex)
        self.turns = [*self.turns, Turn(side, vertex, state, text.cells(self.game, state))]

    def undo(self, number: int = 1) -> None:
        """Take moves back."""
        if not 0 < number <= len(self.turns):
            raise GtpError("cannot undo")
        self.turns = self.turns[:-number]

    def is_acceptable(self, here: Position, action: int) -> bool:
        """Tell whether a move of ours is legal for everybody: no suicide, no board twice."""
        if action not in here.actions():
            return False
        if action == self.game.pass_action or self.game.name != "go":
            return True
        board = text.cells(self.game, here.play(action).state)
        may_repeat = self.game.constants.get("SUPERKO") is False
        stays = board[action] != EMPTY or self.game.constants.get("SUICIDE") is True
        return stays and (may_repeat or board not in self.boards)

    def _tolerate(self, here: Position, side: int, vertex: str) -> State:
        """Return the position after a move that only our rules forbid: others have simple ko."""
        if self.game.name != "go" or vertex == PASS:
            self._refuse(here, vertex)
        loose = load_game(f"go:size={self.game.board[1]},ko=simple")
        try:
            before = Position(loose, text.set_up(loose, self.board, side))
            board = text.cells(loose, before.play(vertex).state)
        except (IllegalAction, ValueError):
            self._refuse(here, vertex)
        is_suicide = board[self.cell(vertex)] == EMPTY
        last = self.turns[-1] if self.turns else None
        is_ko = last is not None and last.side != side and board == self.boards[-2]
        if is_ko or (is_suicide and not self._may_kill_itself):
            self._refuse(here, vertex)
        return text.set_up(self.game, board, 1 - side)

    def _refuse(self, here: Position, vertex: str) -> NoReturn:
        if here.is_over:
            raise GtpError("illegal move: the game is over")
        reason = text.explain(self.game, here.state, vertex)
        raise GtpError(f"illegal move{reason and f': {reason}'}")


def read_colour(word: str) -> int:
    """Return the side that a colour names."""
    for side, colour in enumerate(COLOURS):
        if word.casefold() in (colour, colour[0]):
            return side
    raise GtpError(f"invalid color {word!r}")
