"""A game in figures, from random play: how long it lasts, how many moves there are, who wins."""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from randori.arena.match import score_interval
from randori.errors import BrokenLaw
from randori.games.captures import captures
from randori.games.dice import Dice, below, seed_dice
from randori.games.game import Game
from randori.games.kernels import DRAW, FIRST, ONGOING
from randori.games.rules import LONGEST, STATE_WORDS, legal, num_legal, outcome, play, start

Z = 1.959964
"""Standard errors to either side of a mean in a 95 % interval."""
CHUNK = 200
"""Games between two words about progress."""
LENGTH, MOVES, TAKEN, RESULT = range(4)
"""What is noted of a game: plies, legal moves over all its positions, stones taken, outcome."""


def play_games(
    notes: NDArray[np.int64], states: NDArray[np.uint64], actions: NDArray[np.int32], dice: Dice
) -> None:
    """Play a random game for each row of `notes` [games, 4]; `states` are two rows of room."""
    here, before = states[0], states[1]
    for game in range(len(notes)):
        start(here)
        length, moves, taken = 0, 0, 0
        result = outcome(here)
        while result == ONGOING and length < LONGEST:
            count = legal(here, actions)
            for word in range(STATE_WORDS):
                before[word] = here[word]
            play(here, actions[below(dice, count)])
            moves += count
            length += 1
            taken += captures(before, here)
            result = outcome(here)
        notes[game, LENGTH] = length
        notes[game, MOVES] = moves
        notes[game, TAKEN] = taken
        notes[game, RESULT] = result


def count_all(
    states: NDArray[np.uint64], actions: NDArray[np.int32], counts: NDArray[np.int64]
) -> None:
    """Count the legal moves of each position."""
    for i in range(len(states)):
        counts[i] = num_legal(states[i], actions)


@dataclass(frozen=True)
class Mean:
    """A mean with its 95 % interval."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        digits = 2 if abs(self.high - self.low) < 1 else 1
        return f"{self.mean:.{digits}f} [{self.low:.{digits}f}, {self.high:.{digits}f}]"


@dataclass(frozen=True)
class Stats:
    """What random games say about a game."""

    game: str
    games: int
    positions: int
    length: Mean
    """Plies of a game."""
    branching: Mean
    """Legal moves, mean over all positions with a move; games are what is independent."""
    branching_per_game: Mean
    """The same, each game counting once."""
    captures: Mean
    """Stones taken in a game."""
    first_score: Mean
    """Share of the points that the first player makes, a draw counting half."""
    first: int
    second: int
    draws: int
    longest: int
    """Plies that no game exceeds."""
    cut_off: int
    """Games that were so long."""
    placed: int = 0
    """Positions that the game itself drew at random."""
    placed_branching: Mean | None = None
    """Their legal moves."""

    def summary(self) -> dict[str, Any]:
        """Return what `--json` prints."""
        return asdict(self)


def measure(
    game: Game,
    games: int,
    *,
    placed: int = 100_000,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Stats:
    """Play `games` random games, and look at `placed` random positions if the game draws them."""
    notes = random_games(game, games, seed=seed, progress=progress)
    length, moves = notes[:, LENGTH], notes[:, MOVES]
    results = notes[:, RESULT]
    draws, first = int((results == DRAW).sum()), int((results == FIRST).sum())
    score = (first + draws / 2) / games
    counts = _count_placements(game, placed, seed)
    return Stats(
        game=game.spec,
        games=games,
        positions=int(length.sum()),
        length=mean_of(length),
        branching=ratio_of(moves, length),
        branching_per_game=mean_of(moves / length),
        captures=mean_of(notes[:, TAKEN]),
        first_score=Mean(score, *score_interval(score, games)),
        first=first,
        second=games - first - draws,
        draws=draws,
        longest=game.longest,
        cut_off=int((length == game.longest).sum()),
        placed=len(counts),
        placed_branching=mean_of(counts) if len(counts) else None,
    )


def random_games(
    game: Game,
    games: int,
    *,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> NDArray[np.int64]:
    """Play random games; return what is noted of each, [games, 4].

    `progress` hears how many games are over and how many plies they had.
    """
    notes = np.zeros((games, 4), dtype=np.int64)
    states = np.zeros((2, game.num_words), dtype=np.uint64)
    actions = np.zeros(game.num_actions, dtype=np.int32)
    dice = seed_dice(seed, 1)[0]
    kernel = game.kernel(play_games)
    for over in range(0, games, CHUNK):
        kernel(notes[over : over + CHUNK], states, actions, dice)
        if (notes[over : over + CHUNK, RESULT] == ONGOING).any():
            raise BrokenLaw(f"{game.name}: law 'longest' broken: a game goes on for longer")
        if progress is not None:
            progress(min(games, over + CHUNK), int(notes[:, LENGTH].sum()))
    return notes


def _count_placements(game: Game, number: int, seed: int) -> NDArray[np.int64]:
    counts = np.zeros(number if game.placements is not None else 0, dtype=np.int64)
    if game.placements is not None:
        rng = np.random.default_rng(seed)
        actions = np.zeros(game.num_actions, dtype=np.int32)
        for i in range(0, number, 10_000):
            part = counts[i : i + 10_000]
            game.kernel(count_all)(game.placements(rng, len(part)), actions, part)
    return counts


def mean_of(values: NDArray[Any]) -> Mean:
    """Return the mean of independent values."""
    mean = float(values.mean())
    error = float(values.std(ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else math.inf
    return Mean(mean, mean - Z * error, mean + Z * error)


def ratio_of(parts: NDArray[np.int64], wholes: NDArray[np.int64]) -> Mean:
    """Return the ratio of two sums whose pairs are independent (by its linear part)."""
    ratio = float(parts.sum() / wholes.sum())
    rest = (parts - ratio * wholes) / wholes.mean()
    error = float(rest.std(ddof=1)) / math.sqrt(len(rest)) if len(rest) > 1 else math.inf
    return Mean(ratio, ratio - Z * error, ratio + Z * error)
