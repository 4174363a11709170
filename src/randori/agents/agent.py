"""The agent seam: what picks moves for a batch of positions, and its face for people."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray

from randori.errors import UserError
from randori.games.game import Game
from randori.games.kernels import State
from randori.games.position import Position
from randori.search.past import Past, past_of
from randori.search.search import Analysis

RESIGN = -1
"""What a player answers for a position in which it gives the game up; `last_words` may say why."""


class Player(Protocol):
    """What an agent must be able to do; the rest is derived."""

    def act(self, states: NDArray[np.uint64], rng: np.random.Generator) -> NDArray[np.int32]:
        """Pick one legal action for each of the positions [B, S], none of which is over."""


class Judge(Player, Protocol):
    """A player that also says what it thinks of the positions."""

    def judge(
        self, states: NDArray[np.uint64], rng: np.random.Generator
    ) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Pick actions as `act` does; return them and the positions' values for their movers."""


class Analyst(Player, Protocol):
    """A player that can say why."""

    def analyse(self, state: State, rng: np.random.Generator) -> Analysis:
        """Look at one position that is not over."""


class Heeder(Player, Protocol):
    """A player that wants to know what a game has had, lest it go round in circles."""

    def heed(self, past: Past) -> None:
        """Hear the keys of what the games of the next call had before; none if it is not called.

        Threads that share a player must hold one lock from here to the end of that call.
        """


@dataclass(frozen=True)
class Agent:
    """A player by the name that its spec gives it."""

    spec: str
    game: Game
    player: Player
    _rng: np.random.Generator = field(default_factory=np.random.default_rng, repr=False)

    def act(self, states: NDArray[np.uint64], rng: np.random.Generator) -> NDArray[np.int32]:
        """Pick one legal action for each of the positions [B, S]."""
        return self.player.act(states, rng)

    def judge(
        self, states: NDArray[np.uint64], rng: np.random.Generator
    ) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Pick actions, and say what the positions are worth; NaN where the player cannot tell."""
        judge = getattr(self.player, "judge", None)
        if judge is None:
            return self.act(states, rng), np.full(len(states), np.nan, dtype=np.float32)
        actions, values = judge(states, rng)
        return actions, values

    def choose(self, position: Position) -> str:
        """Pick a move, as text."""
        self._expect_ongoing(position)
        self._tell(position)
        action = int(self.act(position.state[None].copy(), self._rng)[0])
        if action == RESIGN:
            raise UserError(f"agent {self.spec!r} gives up: {self.last_words.get(0, 'no reason')}")
        return position.action_text(action)

    def analyse(self, position: Position) -> Analysis:
        """Look at a position: its value, its moves with visits and values, the expected line."""
        self._expect_ongoing(position)
        analyse = getattr(self.player, "analyse", None)
        if analyse is None:
            raise UserError(f"agent {self.spec!r} picks moves but cannot analyse")
        self._tell(position)
        analysis: Analysis = analyse(position.state.copy(), self._rng)
        return analysis

    def heed(self, past: Past) -> None:
        """Tell the player what the games of the next call had before, if it wants to know."""
        if self.heeds:
            cast(Heeder, self.player).heed(past)

    @property
    def heeds(self) -> bool:
        """Whether `heed` makes a difference."""
        return hasattr(self.player, "heed")

    def _tell(self, position: Position) -> None:
        if self.heeds:
            self.heed(past_of(position))

    @property
    def last_words(self) -> Mapping[int, str]:
        """Why the player gave up, by row of the positions that it was asked for last."""
        words: Mapping[int, str] = getattr(self.player, "last_words", {})
        return words

    @property
    def can_analyse(self) -> bool:
        """Whether `analyse` works."""
        return hasattr(self.player, "analyse")

    def _expect_ongoing(self, position: Position) -> None:
        if position.game.spec != self.game.spec:
            raise UserError(f"agent {self.spec!r} plays {self.game.spec}, not {position.game.spec}")
        if position.is_over:
            raise UserError(f"the game is over ({position.outcome}): there is no move to choose")
