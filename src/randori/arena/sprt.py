"""A match that stops when it knows enough: the generalised sequential probability ratio test.

Two hypotheses about the Elo difference, elo0 and elo1, are weighed by the log likelihood ratio of
the most likely distributions with either mean (Van den Bergh's GSPRT, as chess engines use it).
What is counted are pairs of games with one opening and colours swapped, by their five possible
scores (pentanomial): the two games of a pair are not independent, and single games (trinomial)
would overstate the variance of balanced openings.

The test ends for elo1 at LLR ≥ ln((1 − β)/α) and for elo0 at LLR ≤ ln(β/(1 − α)) (Wald). It also
ends when a batch has brought nothing new: agents without dice repeat themselves from an opening
that has come before, and what is repeated is no evidence.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
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

    def report(self, games: Sequence[PlayedGame]) -> dict[str, Any]:
        """Return the summary of a match, and how many of its pairs repeat others."""
        counts = weigh_pairs(games)
        return {**self.summary(counts), "repeated_pairs": len(pairs_of(games)) - sum(counts)}


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
    over: dict[int, PlayedGame] = {}
    plies = 0

    def tell(done: int, new: int) -> None:
        if progress is not None:
            progress(len(over) + done, plies + new)

    while numbers := games_to_play(sprt, over, games):

        def end(ended: Sequence[tuple[int, PlayedGame]], numbers: list[int] = numbers) -> None:
            if on_end is not None:
                on_end([(numbers[i], one) for i, one in ended])

        setups = pair_setups(game, book or Book(), numbers, seed)
        rng = np.random.default_rng([seed, numbers[0], numbers[-1] + 1])
        new = play_games(game, a, b, setups, rng, progress=tell, on_end=end)
        plies += sum(len(one.moves) - one.opening for one in new)
        over.update(zip(numbers, new, strict=True))
    return MatchResult(a.spec, b.spec, list(over.values()))


def games_to_play(sprt: Sprt, over: Mapping[int, PlayedGame], games: int) -> list[int]:
    """Return the numbers of the games to play next, none when the test has ended.

    It depends on the games alone, so that a match that was stopped goes on as if it had not been.
    """
    stop = _last_look(sprt, over, games)
    return [number for number in range(stop) if number not in over]


def games_tested(sprt: Sprt, over: Mapping[int, PlayedGame], games: int) -> list[PlayedGame]:
    """Return the games that a test is about: those up to its end, whatever was played besides.

    A test that is begun on games played before ends where it would have ended then; while it goes
    on they are all that there are.
    """
    stop = _last_look(sprt, over, games)
    is_ended = all(number in over for number in range(stop))
    return [over[number] for number in sorted(over) if number < stop or not is_ended]


def _last_look(sprt: Sprt, over: Mapping[int, PlayedGame], games: int) -> int:
    """Return after how many games the test ended, or is to be looked at next."""
    known, stop = -1, 0
    for stop in looks(games):
        if any(number not in over for number in range(stop)):
            return stop
        counts = weigh_pairs([over[number] for number in range(stop)])
        if sprt.verdict(sprt.llr(counts)) or sum(counts) == known:
            return stop
        known = sum(counts)
    return stop


def looks(games: int) -> Iterator[int]:
    """Yield after how many games the test is looked at."""
    stop = 0
    while stop < games:
        stop = min(games, stop + max(FEWEST_GAMES, stop // 8 * 2))
        yield stop


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


def weigh_pairs(games: Sequence[PlayedGame]) -> list[int]:
    """Count pairs by their scores; what is only ever repeated counts once.

    An opening that has always been followed by the same moves is one pair, however often it was
    played. Where moves have differed the agents have dice, and then equal games are chance.
    """
    followed: dict[object, Counter[tuple[int, ...]]] = {}
    for first, second in pairs_of(games):
        points = round(2 * (first.score + second.score))
        both = (points, *first.moves, -1, *second.moves)
        followed.setdefault(first.begun, Counter())[both] += 1
    counts = [0] * len(SCORES)
    for found in followed.values():
        for (points, *_), number in found.items():
            counts[points] += number if len(found) > 1 else 1
    return counts


def pairs_of(games: Sequence[PlayedGame]) -> list[tuple[PlayedGame, PlayedGame]]:
    """Return neighbours with one opening and colours swapped; some games may be missing."""
    found = []
    left = list(games[::-1])
    while len(left) > 1:
        one, other = left.pop(), left[-1]
        if one.a_is_first and not other.a_is_first and one.begun == other.begun:
            found.append((one, left.pop()))
    return found


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
