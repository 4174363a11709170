"""The n-game match: two agents, colours alternated, all games side by side in one batch."""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from randori.agents.agent import RESIGN, Agent
from randori.arena.openings import Book, Opening, draw_openings
from randori.errors import IllegalAction, UserError
from randori.games.game import Game
from randori.games.kernels import DRAW, FIRST, ONGOING, SECOND
from randori.games.rules import legal, outcome, play
from randori.search.past import keys_of

ROOM = 64
"""Plies that there is room for at first."""
MOST_GAMES = 1_000_000
"""Games that a match or tournament may have: its report holds them all, about 1 kB each."""
TOGETHER = 16_384
"""Games side by side; more would only take memory."""


@dataclass(frozen=True)
class Setup:
    """A game to be played."""

    opening: Opening
    a_is_first: bool


@dataclass(frozen=True)
class PlayedGame:
    """One finished game."""

    a_is_first: bool
    moves: list[int]
    outcome: int
    values: list[float | None] = field(default_factory=list)
    """What each mover thought of its position, as far as it said so."""
    reason: str = ""
    """Why the loser gave up; empty if the rules decided."""
    opening: int = 0
    """How many of the moves were its opening."""
    position: str = ""
    """Where the moves begin; empty stands for the start."""

    @property
    def score(self) -> float:
        """1, 0.5 or 0 for agent a."""
        if self.outcome == DRAW:
            return 0.5
        return float((self.outcome == FIRST) == self.a_is_first)

    @property
    def begun(self) -> tuple[object, ...]:
        """Its opening, as something to compare."""
        return self.position, *self.moves[: self.opening]


@dataclass(frozen=True)
class MatchResult:
    """Wins, draws and losses of agent a against agent b, and what they say."""

    a: str
    b: str
    games: list[PlayedGame]

    @property
    def wins(self) -> int:
        """Games that a won."""
        return sum(game.score == 1.0 for game in self.games)

    @property
    def draws(self) -> int:
        """Drawn games."""
        return sum(game.score == 0.5 for game in self.games)

    @property
    def losses(self) -> int:
        """Games that a lost."""
        return len(self.games) - self.wins - self.draws

    @property
    def score(self) -> float:
        """Mean score of a, a draw counting half."""
        return sum(game.score for game in self.games) / max(1, len(self.games))

    @property
    def interval(self) -> tuple[float, float]:
        """95 % interval of the score, as wide as games that repeat others make it."""
        return score_interval(self.score, self.effective)

    @property
    def distinct(self) -> int:
        """Number of different games."""
        return len({(game.a_is_first, game.position, *game.moves) for game in self.games})

    @property
    def fresh(self) -> int:
        """Number of games that are evidence."""
        return count_fresh(self._repeats)

    @property
    def effective(self) -> float:
        """Number of games without repetitions whose mean would be as sure (Kish).

        Less than `fresh` where some games were repeated more often than others.
        """
        return count_effective(len(self.games), sum(self._repeats))

    @cached_property
    def _repeats(self) -> list[int]:
        return repeats(((game.a_is_first, game.begun), game.moves) for game in self.games)

    def summary(self) -> dict[str, object]:
        """Return what `--json` prints."""
        low, high = self.interval
        count = max(1, len(self.games))
        return {
            "a": self.a,
            "b": self.b,
            "games": len(self.games),
            "wins": self.wins,
            "draws": self.draws,
            "losses": self.losses,
            "score": self.score,
            "score_low": low,
            "score_high": high,
            "elo": elo(self.score, 0.5 / (count + 1)),
            "elo_low": elo(low),
            "elo_high": elo(high),
            "distinct_games": self.distinct,
            "effective_games": self.effective,
        }


def repeats(games: Iterable[tuple[Hashable, Sequence[int]]]) -> list[int]:
    """Return how often each game was played, given who began how and the moves.

    Where an opening has always been followed by the same moves its players have no dice, and what
    they repeat says nothing new. Where moves have differed, equal games are chance and all count.
    """
    openings: list[Hashable] = []
    followed: dict[Hashable, Counter[tuple[int, ...]]] = {}
    for opening, moves in games:
        openings.append(opening)
        followed.setdefault(opening, Counter())[tuple(moves)] += 1
    times = {key: found.total() if len(found) == 1 else 1 for key, found in followed.items()}
    return [times[opening] for opening in openings]


def count_effective(games: int, times: int) -> float:
    """Return how many games without repetitions are as sure (Kish); `times` adds up `repeats`."""
    return games**2 / max(1, times)


def count_fresh(times: Iterable[int]) -> int:
    """Return how many games are evidence, given how often each was played."""
    return round(sum(1 / often for often in times))


def score_interval(score: float, games: float) -> tuple[float, float]:
    """Wilson's 95 % interval; draws make it a little too wide, never too narrow."""
    if games == 0:
        return 0.0, 1.0
    z = 1.959964
    centre = (score + z * z / (2 * games)) / (1 + z * z / games)
    spread = z * math.sqrt(score * (1 - score) / games + z * z / (4 * games * games))
    spread /= 1 + z * z / games
    return max(0.0, centre - spread), min(1.0, centre + spread)


def elo(score: float, edge: float = 1e-4) -> float:
    """Turn a score into an Elo difference.

    A clean sweep has none, so scores stay `edge` away from 0 and 1: for the score of a match half
    a game, for the bounds of its interval 0.0001, which is 1600 points and stands for no bound.
    """
    score = min(max(score, edge), 1 - edge)
    return 400 * math.log10(score / (1 - score))


def advance(
    states: NDArray[np.uint64],
    actions: NDArray[np.int32],
    results: NDArray[np.int32],
    scratch: NDArray[np.int32],
) -> int:
    """Play one action in each position; return the first row whose action is illegal, or -1."""
    for b in range(len(states)):
        is_legal = False
        for k in range(legal(states[b], scratch)):
            is_legal |= scratch[k] == actions[b]
        if not is_legal:
            return b
        play(states[b], actions[b])
        results[b] = outcome(states[b])
    return -1


Progression = Callable[[int, int], None]
"""Hears how many games are over and how many plies were played."""
Ending = Callable[[Sequence[tuple[int, PlayedGame]]], None]
"""Hears which games have just ended, with their numbers."""


def play_match(
    game: Game,
    a: Agent,
    b: Agent,
    games: int,
    *,
    seed: int = 0,
    opening_plies: int = 0,
    book: Book | None = None,
    progress: Progression | None = None,
    on_end: Ending | None = None,
) -> MatchResult:
    """Play `games` games, agent a first in the even ones; games 2k and 2k + 1 share an opening.

    The openings come from `book`, or are `opening_plies` random plies.
    """
    rng = np.random.default_rng(seed)
    over: list[PlayedGame] = []
    plies = 0

    def tell(more: int, more_plies: int) -> None:
        if progress is not None:
            progress(len(over) + more, plies + more_plies)

    def end(ended: Sequence[tuple[int, PlayedGame]]) -> None:
        if on_end is not None:
            on_end([(len(over) + i, one) for i, one in ended])

    for first in range(0, games, TOGETHER):
        numbers = range(first, min(games, first + TOGETHER))
        setups = pair_setups(game, book or Book(opening_plies), numbers, seed)
        new = play_games(game, a, b, setups, rng, progress=tell, on_end=end)
        plies += sum(len(one.moves) - one.opening for one in new)
        over += new
    return MatchResult(a.spec, b.spec, over)


def expect_few_games(games: int, what: str = "a match") -> None:
    """Refuse a number of games that cannot be meant, before memory is filled with it."""
    if games < 1:
        raise UserError(f"{what} needs at least 1 game, not {games}")
    if games > MOST_GAMES:
        raise UserError(f"{what} has at most {MOST_GAMES} games, not {games}")


def pair_setups(game: Game, book: Book, numbers: Sequence[int], seed: int) -> list[Setup]:
    """Set up the games with these numbers: 2k and 2k + 1 share opening k, a is first in 2k."""
    pairs = sorted({number // 2 for number in numbers})
    openings = dict(zip(pairs, draw_openings(game, book, pairs, seed), strict=True))
    return [Setup(openings[number // 2], number % 2 == 0) for number in numbers]


def play_games(
    game: Game,
    a: Agent,
    b: Agent,
    setups: Sequence[Setup],
    rng: np.random.Generator,
    *,
    progress: Progression | None = None,
    on_end: Ending | None = None,
) -> list[PlayedGame]:
    """Play games between a and b, all side by side."""
    table = _Table(game, setups, keeps_past=game.can_repeat and (a.heeds or b.heeds))
    done: dict[int, PlayedGame] = {}
    plies = 0
    while (active := np.flatnonzero(table.results == ONGOING)).size:
        a_to_move = table.first_to_move(active) == table.a_is_first[active]
        for agent, mine in ((a, active[a_to_move]), (b, active[~a_to_move])):
            if mine.size:
                table.advance(agent, mine, rng)
                plies += len(mine)
        ended = active[table.results[active] != ONGOING].tolist()
        done.update((i, table.played(i)) for i in ended)
        if on_end is not None and ended:
            on_end([(i, done[i]) for i in ended])
        if progress is not None:
            progress(len(done), plies)
    return [done[i] for i in range(len(setups))]


class _Table:
    """Games side by side as rows of arrays: a ply of all of them is a few array operations."""

    def __init__(self, game: Game, setups: Sequence[Setup], *, keeps_past: bool) -> None:
        self._game = game
        self._keeps_past = keeps_past
        self._setups = setups
        count = len(setups)
        self._states = np.zeros((count, game.num_words), dtype=np.uint64)
        room = max([ROOM, *(len(setup.opening.moves) + 1 for setup in setups)])
        self._moves = np.zeros((count, room), dtype=np.int32)
        self._keys = np.zeros((count, room), dtype=np.uint64)  # of the positions they led from
        self._values = np.full((count, room), np.nan, dtype=np.float32)
        self._lengths = np.zeros(count, dtype=np.int64)
        self._reasons: dict[int, str] = {}
        self._scratch = np.zeros(game.num_actions, dtype=np.int32)
        self.results = np.full(count, ONGOING, dtype=np.int32)
        self.a_is_first = np.array([setup.a_is_first for setup in setups], dtype=bool)
        for i, setup in enumerate(setups):
            moves = setup.opening.moves
            self._states[i] = setup.opening.state
            self._moves[i, : len(moves)] = moves
            self._lengths[i] = len(moves)

    def first_to_move(self, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Tell in which games the first player is to move."""
        is_first: NDArray[np.bool_] = (self._states[rows, 0] & np.uint64(1)) == 0
        return is_first

    def advance(self, agent: Agent, mine: NDArray[np.int64], rng: np.random.Generator) -> None:
        """Ask an agent for a move in each of these games, and play it."""
        if self._keeps_past:
            agent.heed(self._keys[mine, : int(self._lengths[mine].max())])
            self._keys[mine, self._lengths[mine]] = keys_of(self._game, self._states[mine])
        given, thoughts = agent.judge(self._states[mine], rng)
        actions = np.asarray(given, dtype=np.int32)
        if actions.shape != mine.shape:
            raise ValueError(f"agent {agent.spec!r} gave {actions.size} actions for {mine.size}")
        if (actions == RESIGN).any():
            self._give_up(agent, mine, actions == RESIGN)
            plays = actions != RESIGN
            mine, actions, thoughts = mine[plays], actions[plays], thoughts[plays]
        after = self._states[mine]
        outcomes = np.zeros(len(mine), dtype=np.int32)
        wrong = self._game.kernel(advance)(after, actions, outcomes, self._scratch)
        if wrong >= 0:
            raise IllegalAction(f"agent {agent.spec!r} played illegal action {actions[wrong]}")
        self._states[mine] = after
        self.results[mine] = outcomes
        self._note(mine, actions, thoughts)

    def _give_up(self, agent: Agent, mine: NDArray[np.int64], resigns: NDArray[np.bool_]) -> None:
        """Let the opponent win the games in which the agent resigned."""
        rows = mine[resigns]
        self.results[rows] = np.where(self.first_to_move(rows), SECOND, FIRST)
        words = agent.last_words
        for row in np.flatnonzero(resigns):
            self._reasons[int(mine[row])] = words.get(int(row)) or f"{agent.spec} gave up"

    def _note(
        self, mine: NDArray[np.int64], actions: NDArray[np.int32], thoughts: NDArray[np.float32]
    ) -> None:
        """Write the moves of a ply down, with room for the next ones."""
        ply = self._lengths[mine]
        if len(ply) and int(ply.max()) + 1 >= self._moves.shape[1]:
            self._moves = np.concatenate([self._moves, np.zeros_like(self._moves)], axis=1)
            self._keys = np.concatenate([self._keys, np.zeros_like(self._keys)], axis=1)
            self._values = np.concatenate([self._values, np.full_like(self._values, np.nan)], 1)
        self._moves[mine, ply] = actions
        self._values[mine, ply] = thoughts
        self._lengths[mine] += 1

    def played(self, row: int) -> PlayedGame:
        """Return one game as a value."""
        opening, length = self._setups[row].opening, int(self._lengths[row])
        values = self._values[row, :length].astype(np.float64).round(4)
        said: list[float | None] = values.tolist()
        for i in np.flatnonzero(np.isnan(values)):
            said[i] = None
        return PlayedGame(
            a_is_first=bool(self.a_is_first[row]),
            moves=self._moves[row, :length].tolist(),
            outcome=int(self.results[row]),
            values=said,
            reason=self._reasons.get(row, ""),
            opening=len(opening.moves),
            position=opening.position,
        )
