"""A position for people: a value with words in and words out, over any game."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Literal

import numpy as np

from randori.errors import IllegalAction
from randori.games import text
from randori.games.game import Game
from randori.games.kernels import ONGOING, State

FEW = 40
"""Legal moves that are listed to somebody who played none of them."""
Side = Literal["first", "second"]
Result = Literal["first", "second", "draw"]
RESULTS: tuple[Result | None, ...] = (None, "first", "second", "draw")
"""How people call ONGOING, FIRST, SECOND and DRAW."""


@dataclass(frozen=True, eq=False)
class Position:
    """One position of one game; playing a move gives a new one."""

    game: Game
    state: State
    before: "Position | None" = field(default=None, repr=False)
    """The one that a move led here from."""

    def __post_init__(self) -> None:
        self.state.setflags(write=False)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Position):
            return NotImplemented
        return self.game.spec == other.game.spec and np.array_equal(self.state, other.state)

    def __hash__(self) -> int:
        return hash(self.state.tobytes())

    def __str__(self) -> str:
        return text.show(self.game, self.state)

    def __repr__(self) -> str:
        return f"<Position {self.game.spec} {self.text()!r}>"

    @property
    def to_move(self) -> Side:
        """Whose turn it is (or would be, when the game is over)."""
        return "second" if int(self.state[0]) & 1 else "first"

    @property
    def outcome(self) -> Result | None:
        """Who won, or None while the game goes on."""
        return RESULTS[int(self.game.plain.outcome(self.state))]

    @property
    def is_over(self) -> bool:
        """Whether the game has ended."""
        return int(self.game.plain.outcome(self.state)) != ONGOING

    @property
    def ply(self) -> int:
        """Number of plies played."""
        return int(self.state[0])

    def actions(self) -> list[int]:
        """List the legal moves as action ids, in the order of `legal`."""
        return self.game.legal_actions(self.state)

    def legal(self) -> list[str]:
        """List the legal moves as text."""
        return [self.action_text(action) for action in self.actions()]

    def action_text(self, action: int) -> str:
        """Write an action as people do; raise `IllegalAction` for what is none of the game's."""
        top = self.game.num_actions - 1
        is_number = isinstance(action, int | np.integer) and not isinstance(action, bool)
        if not (is_number and 0 <= action <= top):
            raise IllegalAction(f"expected an action of {self.game.spec}, a whole number from 0 to "
                                f"{top}, not {action!r}; for text use `parse`")  # fmt: skip
        return text.action_text(self.game, self.state, action)

    def parse(self, move: str | int) -> int:
        """Turn a move, as text or id, into a legal action id; raise `IllegalAction` otherwise."""
        actions = self.actions()
        if isinstance(move, str):
            words = {self.action_text(a): a for a in actions}
            folded = {word.casefold(): a for word, a in words.items()}
            for word in (move.strip(), text.usual_move(self.game, move.strip())):
                found = words.get(word, folded.get(word.casefold()))
                if found is not None:
                    return found
            names: list[str] = list(words)
        else:
            if isinstance(move, int | np.integer) and move in actions:
                return int(move)
            names = [str(a) for a in actions]
        if not actions:
            raise IllegalAction(f"{move!r} cannot be played: the game is over ({self.outcome})")
        reason = text.explain(self.game, self.state, move) if isinstance(move, str) else ""
        if len(names) <= FEW:
            shown = f"legal: {' '.join(names)}"
        else:
            close = get_close_matches(str(move), names, n=3, cutoff=0.5)
            shown = f"{len(names)} moves are legal, such as {' '.join(close or names[:3])}"
        raise IllegalAction(f"illegal move {move!r}{reason and f' ({reason})'}; {shown}")

    def play(self, move: str | int) -> "Position":
        """Return the position after `move`, given as text or action id."""
        action = self.parse(move)
        state = self.state.copy()
        self.game.plain.play(state, action)
        return Position(self.game, state, self)

    def past(self) -> Iterator["Position"]:
        """Walk back through the positions before this one, the last first."""
        before = self.before
        while before is not None:
            yield before
            before = before.before

    def text(self) -> str:
        """Write the position so that `Game.position` reads it back."""
        return text.position_text(self.game, self.state)

    def svg(self) -> str:
        """Draw the position."""
        from randori.games.drawing import draw_board

        return draw_board(self.game, self.state)
