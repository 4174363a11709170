"""A person at the terminal as an agent: moves as text, a line each.

The board and what is said go to standard error, so that a command's results stay clean. Who leaves
(the end of input) has lost nothing: the games that are not over are nobody's.
"""

import sys

import numpy as np
from numpy.typing import NDArray

from randori.agents.agent import RESIGN
from randori.errors import IllegalAction, UserError
from randori.games.game import Game
from randori.games.position import Position

RESIGN_WORD, MOVES_WORD = "resign", "moves"


class Departure(UserError):
    """Somebody has left in the middle of a game."""


class HumanPlayer:
    """Somebody who reads boards and types moves."""

    def __init__(self, game: Game, name: str) -> None:
        self.last_words: dict[int, str] = {}
        self._game = game
        self._name = name

    def act(self, states: NDArray[np.uint64], rng: np.random.Generator) -> NDArray[np.int32]:
        """Show one board after another and ask for its move; raise `Departure` if none comes."""
        self.last_words = {}
        picked = np.full(len(states), RESIGN, dtype=np.int32)
        for row, state in enumerate(states):
            number = f", board {row + 1} of {len(states)}" if len(states) > 1 else ""
            picked[row] = self._ask(row, Position(self._game, state.copy()), number)
        return picked

    def _ask(self, row: int, position: Position, number: str) -> int:
        """Ask until there is a legal move, or a word for none."""
        glyph = self._game.glyphs[position.to_move == "second"]
        say(f"\n{position}")
        say(f"{self._name} to move as {glyph}{number}: a move, {MOVES_WORD} or {RESIGN_WORD}")
        while line := sys.stdin.readline():
            if not (line := line.strip()):
                continue
            if line == RESIGN_WORD:
                self.last_words[row] = f"{self._name}: resigned"
                return RESIGN
            if line == MOVES_WORD:
                say(" ".join(position.legal()))
                continue
            try:
                return position.parse(line)
            except IllegalAction as error:
                say(str(error))
        raise Departure(f"{self._name} has left: the input has ended")


def say(words: str) -> None:
    """Say something at once; always whole lines, which a progress bar lets through."""
    print(words, file=sys.stderr, flush=True)


def human(game: Game, value: str | None) -> HumanPlayer:
    """Ask a person at the terminal, as in human or human:Ann."""
    return HumanPlayer(game, value or "human")
