"""What self-play yields: training rows, games, and counts of both."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from randori.learners.harvest import ENTROPY, FULL, MOVES, NONE_MADE, OVERRULED, TOTALS


@dataclass(frozen=True)
class Rows:
    """Training rows."""

    states: NDArray[np.uint64]
    """[n, S]"""
    counts: NDArray[np.uint16]
    """[n, K] visits, in the order of `legal`"""
    values: NDArray[np.float32]
    """[n] the search's own value, for the side to move"""
    results: NDArray[np.int8]
    """[n] how the game ended for the side to move"""
    replies: NDArray[np.uint16]
    """[n] the action that answered the move made there; NO_REPLY at the end of a game"""
    owners: NDArray[np.uint64]
    """[n, 2 * stone words] who has which cell in the end: the side to move, then its opponent"""
    amends: NDArray[np.float32]
    """[n] what stands for the result, where a slip decided that; NONE_MADE elsewhere"""

    def __len__(self) -> int:
        return len(self.results)


SINCE = {"amends": np.float32(NONE_MADE)}
"""What rows of older versions lack, and what stands for it."""


@dataclass(frozen=True)
class FinishedGame:
    """A game of self-play."""

    moves: list[int]
    outcome: int
    begun: int = 0
    """how many of the moves came from an earlier game or were drawn at random"""


@dataclass(frozen=True)
class Batch:
    """What one group produced since it was last asked."""

    rows: Rows
    games: list[FinishedGame]
    totals: NDArray[np.float64]
    evaluations: int


@dataclass
class Tally:
    """What self-play did, added up."""

    rows: int = 0
    games: int = 0
    evaluations: int = 0
    seconds: float = 0.0
    paused: float = 0.0
    """seconds of these in which the mean thread waited for the learner"""
    whole: int = 0
    """games from the first position; what follows is of them alone, because where a game begins may
    decide how it ends"""
    plies: int = 0
    first_wins: int = 0
    second_wins: int = 0
    draws: int = 0
    totals: NDArray[np.float64] = field(default_factory=lambda: np.zeros(TOTALS))

    def add(self, batch: Batch) -> None:
        """Count one batch."""
        self.rows += len(batch.rows)
        self.games += len(batch.games)
        self.evaluations += batch.evaluations
        for game in batch.games:
            if game.begun:
                continue
            self.whole += 1
            self.plies += len(game.moves)
            self.first_wins += game.outcome == 1
            self.second_wins += game.outcome == 2
            self.draws += game.outcome == 3
        self.totals += batch.totals

    @property
    def moves(self) -> int:
        """Moves played, those of unfinished games included."""
        return int(self.totals[MOVES])

    @property
    def game_length(self) -> float | None:
        """Mean plies of a whole game."""
        return self.plies / self.whole if self.whole else None

    @property
    def first_player_score(self) -> float | None:
        """Mean score of the side that moves first in them."""
        return (self.first_wins + 0.5 * self.draws) / self.whole if self.whole else None

    @property
    def draw_share(self) -> float | None:
        """How many of them are drawn."""
        return self.draws / self.whole if self.whole else None

    @property
    def entropy(self) -> float:
        """Mean entropy, in nats, of the visits of full searches."""
        return float(self.totals[ENTROPY] / max(1.0, self.totals[FULL]))

    @property
    def overruled(self) -> float:
        """How often a full search preferred another move than the network."""
        return float(self.totals[OVERRULED] / max(1.0, self.totals[FULL]))
