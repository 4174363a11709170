"""A match that stops when it knows enough: the generalised sequential probability ratio test.

Two hypotheses about the Elo difference, elo0 and elo1, are weighed by the log likelihood ratio of
the most likely distributions with either mean (Van den Bergh's GSPRT, as chess engines use it).
What is counted are pairs of games with one opening and colours swapped, by their five possible
scores (pentanomial): the two games of a pair are not independent, and single games (trinomial)
would overstate the variance of balanced openings.

The test ends for elo1 at LLR ≥ ln((1 − β)/α) and for elo0 at LLR ≤ ln(β/(1 − α)) (Wald).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from randori.agents.agent import Agent
from randori.arena.match import (
    Ending,
    MatchResult,
    PlayedGame,
    Progression,
    pair_setups,
    play_games,
)
from randori.arena.openings import Book
from randori.errors import UserError
from randori.games.game import Game

SCORES = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Mean scores that a pair of games can have."""
UNSEEN = 1e-3
"""Counted for a score that has not been seen, so that either mean stays possible."""
FEWEST_GAMES = 32
"""Games of the first batch; later ones are a quarter of what was played, so that little is wasted
on either side: an agent's batch is filled, and a test goes at most a quarter too far."""


@dataclass(frozen=True)
class Sprt:
    """Two hypotheses about an Elo difference, and how often each may be taken wrongly."""

    elo0: float
    elo1: float
    alpha: float = 0.05
    """Chance to take elo1 when elo0 is true."""
    beta: float = 0.05
    """Chance to take elo0 when elo1 is true."""

    @property
    def lower(self) -> float:
        """The LLR at which elo0 is taken."""
        return math.log(self.beta / (1 - self.alpha))

    @property
    def upper(self) -> float:
        """The LLR at which elo1 is taken."""
        return math.log((1 - self.beta) / self.alpha)

    def llr(self, counts: Sequence[float]) -> float:
        """Return the log likelihood ratio of elo1 to elo0, given how often each score was seen."""
        if not sum(counts):
            return 0.0
        seen = [max(count, UNSEEN) for count in counts]
        total = sum(seen)
        shares = [count / total for count in seen]
        null, other = (_likeliest(shares, expected_score(elo)) for elo in (self.elo0, self.elo1))
        return sum(n * math.log(b / a) for n, a, b in zip(seen, null, other, strict=True))

    def verdict(self, llr: float) -> str | None:
        """Say which hypothesis is taken, or None while the test goes on."""
        if llr >= self.upper:
            return "elo1"
        return "elo0" if llr <= self.lower else None

    def summary(self, counts: Sequence[int]) -> dict[str, Any]:
        """Return what `--json` prints."""
        llr = self.llr(counts)
        return {
            "elo0": self.elo0, "elo1": self.elo1, "alpha": self.alpha, "beta": self.beta,
            "llr": llr, "lower": self.lower, "upper": self.upper,
            "pairs": sum(counts), "pentanomial": list(counts),
            "verdict": self.verdict(llr) or "undecided",
        }  # fmt: skip


def play_sprt(
    game: Game,
    a: Agent,
    b: Agent,
    games: int,
    sprt: Sprt,
    *,
    seed: int = 0,
    book: Book | None = None,
    progress: Progression | None = None,
    on_end: Ending | None = None,
) -> MatchResult:
    """Play pairs in batches until the test is decided, or `games` games are over."""
    played: list[PlayedGame] = []
    plies = 0

    def tell(over: int, new: int) -> None:
        if progress is not None:
            progress(len(played) + over, plies + new)

    def end(ended: Sequence[tuple[int, PlayedGame]]) -> None:
        if on_end is not None:
            on_end([(len(played) + i, one) for i, one in ended])

    while len(played) < games:
        begin = len(played)
        stop = min(games, begin + max(FEWEST_GAMES, begin // 8 * 2))
        setups = pair_setups(game, book or Book(), range(begin, stop), seed)
        rng = np.random.default_rng([seed, begin, stop])
        new = play_games(game, a, b, setups, rng, progress=tell, on_end=end)
        plies += sum(len(one.moves) - one.opening for one in new)
        played += new
        if sprt.verdict(sprt.llr(count_pairs([one.score for one in played]))):
            break
    return MatchResult(a.spec, b.spec, played)


def parse_sprt(text: str) -> Sprt:
    """Read ``elo0,elo1`` or ``elo0,elo1,alpha,beta``."""
    try:
        numbers = [float(word) for word in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) not in (2, 4) or not all(map(math.isfinite, numbers)):
        raise UserError(f"--sprt {text!r}: expected elo0,elo1 or elo0,elo1,alpha,beta: 0,30")
    sprt = Sprt(*numbers)
    if max(abs(sprt.elo0), abs(sprt.elo1)) > 2000:
        raise UserError(f"--sprt {text!r}: differences go up to 2000 Elo")
    if sprt.elo0 >= sprt.elo1:
        raise UserError(f"--sprt {text!r}: elo0 must be below elo1")
    if not (0 < sprt.alpha < 0.5 and 0 < sprt.beta < 0.5):
        raise UserError(f"--sprt {text!r}: alpha and beta must be between 0 and 0.5")
    return sprt


def expected_score(elo: float) -> float:
    """Return the mean score that an Elo difference stands for."""
    return 1 / (1 + 10 ** (-elo / 400))


def count_pairs(scores: Sequence[float]) -> list[int]:
    """Count the scores of games 2k and 2k + 1 together; a last game without a partner is left."""
    counts = [0] * len(SCORES)
    for first, second in zip(scores[::2], scores[1::2], strict=False):
        counts[round(2 * (first + second))] += 1
    return counts


def _likeliest(shares: Sequence[float], mean: float) -> list[float]:
    """Return the distribution with this mean under which these shares are likeliest.

    It is p_i = shares_i / (1 + t (s_i − mean)), where t makes the mean right; the mean of p falls
    as t grows, so t is found by halving.
    """
    low, high = -1 / (SCORES[-1] - mean), 1 / mean
    for _ in range(100):
        t = (low + high) / 2
        excess = sum(
            p * (s - mean) / (1 + t * (s - mean)) for p, s in zip(shares, SCORES, strict=True)
        )
        low, high = (t, high) if excess > 0 else (low, t)
        if high - low < 1e-12:
            break
    return [p / (1 + t * (s - mean)) for p, s in zip(shares, SCORES, strict=True)]
