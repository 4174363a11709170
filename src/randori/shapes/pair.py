"""A pair of agents that learn from playing each other, and their tests against fixed opponents."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from randori.errors import UserError
from randori.games.game import Game
from randori.shapes.growth import grow
from randori.shapes.sensible import sensible
from randori.shapes.sets import ShapeSet
from randori.shapes.sight import Weights, holes, make_room, make_sight
from randori.shapes.tables import BINS, board_turns, build_tables
from randori.shapes.td import (
    DRAWS,
    ERRORS,
    FIRST_WINS,
    GAMES,
    GREEDY,
    PLIES,
    RANDOM,
    UPDATES,
    Rates,
    make_memory,
    test_games,
    train_games,
)  # fmt: skip
from randori.shapes.value import ShapeValue

AVERAGE_EVERY = 100
"""Games between two looks at the weights that go into their mean."""


@dataclass(frozen=True)
class TdConfig:
    """How a pair learns."""

    alpha: float = 0.1
    """step size, shared by all sets"""
    epsilon: float = 0.1
    """share of random moves in training"""
    cascade: bool = False
    """an error of its own for every set, of the value that more general sets make up (section 8)"""
    from_random: bool = True
    """whether judgements are also corrected by what followed a random move"""
    average: float = 0.1
    """agents are tested and stored with the mean of their weights over about this share of all
    games so far, the last ones, since steps of one size never let weights come to rest; 0 takes
    the weights as they are"""
    bins: int = BINS
    """weights of a hashed set"""

    def __post_init__(self) -> None:
        if not 0 < self.alpha <= 100 or not 0 <= self.epsilon <= 1:
            raise ValueError("expected 0 < alpha <= 100 and 0 <= epsilon <= 1")
        if not 0 <= self.average <= 1:
            raise ValueError(f"average is a share from 0 to 1, not {self.average}")
        if not 1 <= self.bins <= 100_000_000:
            raise ValueError(f"bins goes from 1 to 100 million, not {self.bins}")


@dataclass(frozen=True)
class Tally:
    """What a stretch of training games was like."""

    games: int
    plies: int
    first_wins: int
    draws: int
    error: float
    """root mean square of the errors of the whole value"""


class Pair:
    """Two agents with their own weights on one board; all memory belongs to the pair alone."""

    def __init__(self, game: Game, sets: tuple[ShapeSet, ...], config: TdConfig, seed: int) -> None:
        self.game, self.config = game, config
        if not sets:
            raise UserError("expected at least one shape set, such as 2x2")
        self.tables = build_tables(sets, game.board, board_turns(game), config.bins)
        self.thetas: Weights = np.zeros((2, self.tables.num_weights), dtype=np.float32)
        self.means = self.thetas.copy()
        """what agents play by in tests and after training; see `TdConfig.average`"""
        self.looks = 0
        """how often weights went into the mean"""
        self.games = 0
        self.dice: NDArray[np.uint64] = np.random.default_rng(seed).integers(
            0, 2**63, size=2, dtype=np.uint64
        )
        """of training and of tests: how often one tests does not change what is learnt"""
        play, facts = sensible(game), self.tables.facts
        filled = holes(game, self.tables)
        self._train = play.kernel(train_games, **filled)
        self._test = play.kernel(test_games, **filled)
        self._memory = (
            make_sight(self.tables),
            make_room(self.tables),
            make_memory(game, self.tables),
        )
        count = len(facts)
        self._rates = Rates(
            np.array([config.alpha / (count * fact.active) for fact in facts]),
            self.tables.generality() if config.cascade else np.ones((count, count)),
            config.epsilon,
            config.from_random,
        )

    def train(self, games: int) -> Tally:
        """Play so many games and learn from them."""
        tally = np.zeros(6)
        last = self.games + games
        while self.games < last:
            # Looks lie at the same games however the training is cut into stretches.
            stretch = min(last, (self.games // AVERAGE_EVERY + 1) * AVERAGE_EVERY) - self.games
            self._train(
                stretch, self.games, self.thetas, self.tables.nets, self._rates, *self._memory,
                self.dice[:1], tally,
            )  # fmt: skip
            self.games += stretch
            if self.games % AVERAGE_EVERY == 0:
                self._look()
        error = float(np.sqrt(tally[ERRORS] / max(1.0, tally[UPDATES])))
        played, plies, first_wins, draws = (
            int(tally[i]) for i in (GAMES, PLIES, FIRST_WINS, DRAWS)
        )
        return Tally(played, plies, first_wins, draws, error)

    def _look(self) -> None:
        """Move the mean towards the weights, by less the more of them it has seen.

        A step of 1 / (share · looks) lets the mean follow the run without knowing its end.
        """
        self.looks += 1
        step = 1.0 / max(1.0, self.config.average * self.looks)
        self.means += np.float32(step) * (self.thetas - self.means)

    def playing(self, agent: int) -> Weights:
        """Return the weights that an agent plays by when it does not learn."""
        is_mean = self.config.average > 0 and self.looks > 0
        weights: Weights = (self.means if is_mean else self.thetas)[agent]
        return weights

    def test(self, agent: int, games: int, *, at_random: bool = False) -> float:
        """Return an agent's mean score against the game's usual evaluation, or random moves."""
        score = np.zeros(1)
        opponent = RANDOM if at_random else GREEDY
        self._test(
            games, self.playing(agent), self.tables.nets, opponent, *self._memory, self.dice[1:],
            score,
        )  # fmt: skip
        return float(score[0]) / games

    def tests(self, games: int) -> tuple[float, float]:
        """Test both agents."""
        return self.test(0, games), self.test(1, games)

    def value(self, agent: int) -> ShapeValue:
        """Return the value function that an agent plays by now."""
        return ShapeValue(self.game, self.tables, self.playing(agent).copy())

    def start_from(self, other: "Pair") -> None:
        """Take over what a pair on a smaller board, or with fewer sets, knows, and its dice.

        Means begin anew: what was worth knowing on a smaller board is in the weights.
        """
        self.thetas = grow(other.thetas, other.tables, self.tables)
        self.games = other.games
        self.dice[:] = other.dice
