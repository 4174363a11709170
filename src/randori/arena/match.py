"""The n-game match: two agents, colours alternated, all games side by side in one batch."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from randori.agents.agent import Agent
from randori.errors import IllegalAction
from randori.games.game import Game
from randori.games.kernels import DRAW, FIRST, ONGOING
from randori.games.rules import legal, outcome, play


@dataclass(frozen=True)
class PlayedGame:
    """One finished game."""

    a_is_first: bool
    moves: list[int]
    outcome: int
    values: list[float | None] = field(default_factory=list)
    """What each mover thought of its position, as far as it said so."""

    @property
    def score(self) -> float:
        """1, 0.5 or 0 for agent a."""
        if self.outcome == DRAW:
            return 0.5
        return float((self.outcome == FIRST) == self.a_is_first)


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
        """95 % interval of the score."""
        return score_interval(self.score, len(self.games))

    @property
    def distinct(self) -> int:
        """Number of different games: two deterministic agents repeat themselves."""
        return len({(game.a_is_first, *game.moves) for game in self.games})

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
            "elo": elo(self.score, 0.5 / count),
            "elo_low": elo(low),
            "elo_high": elo(high),
            "distinct_games": self.distinct,
        }


def score_interval(score: float, games: int) -> tuple[float, float]:
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


def play_match(
    game: Game,
    a: Agent,
    b: Agent,
    games: int,
    *,
    seed: int = 0,
    opening_plies: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> MatchResult:
    """Play `games` games, agent a first in the even ones; games 2k and 2k + 1 share an opening.

    `progress` hears how many games are over and how many plies were played.
    """
    rng = np.random.default_rng(seed)
    states = np.repeat(game.new_state()[None], games, axis=0)
    moves = _open(game, states, opening_plies, rng)
    values: list[list[float | None]] = [[None] * len(line) for line in moves]
    results = np.array([int(game.plain.outcome(state)) for state in states], dtype=np.int32)
    a_moves_first = np.arange(games) % 2 == 0
    plies = 0
    while (active := np.flatnonzero(results == ONGOING)).size:
        first_moves = (states[active, 0] & np.uint64(1)) == 0
        a_to_move = first_moves == a_moves_first[active]
        for agent, mine in ((a, active[a_to_move]), (b, active[~a_to_move])):
            if mine.size:
                actions, thoughts = agent.judge(states[mine], rng)
                _advance(game, states, mine, actions, results, agent)
                for i, action, value in zip(mine, actions, thoughts, strict=True):
                    moves[i].append(int(action))
                    values[i].append(None if math.isnan(value) else round(float(value), 4))
                plies += len(mine)
        if progress is not None:
            progress(int((results != ONGOING).sum()), plies)
    played = [PlayedGame(bool(a_moves_first[i]), moves[i], int(results[i]), values[i])
              for i in range(games)]  # fmt: skip
    return MatchResult(a.spec, b.spec, played)


def _open(
    game: Game, states: NDArray[np.uint64], plies: int, rng: np.random.Generator
) -> list[list[int]]:
    """Play random legal plies, the same ones in games 2k and 2k + 1, stopping short of the end."""
    moves: list[list[int]] = [[] for _ in states]
    for i in range(0, len(states), 2):
        for _ in range(plies):
            action = int(rng.choice(game.legal_actions(states[i])))
            after = states[i].copy()
            game.plain.play(after, action)
            if int(game.plain.outcome(after)) != ONGOING:
                break
            states[i] = after
            moves[i].append(action)
        if i + 1 < len(states):
            states[i + 1] = states[i]
            moves[i + 1] = list(moves[i])
    return moves


def _advance(
    game: Game,
    states: NDArray[np.uint64],
    mine: NDArray[np.int64],
    actions: NDArray[np.int32],
    results: NDArray[np.int32],
    agent: Agent,
) -> None:
    actions = np.asarray(actions, dtype=np.int32)
    if actions.shape != mine.shape:
        raise ValueError(f"agent {agent.spec!r} gave {actions.size} actions for {mine.size}")
    after = states[mine]
    outcomes = np.zeros(len(mine), dtype=np.int32)
    scratch = np.zeros(game.num_actions, dtype=np.int32)
    wrong = game.kernel(advance)(after, actions, outcomes, scratch)
    if wrong >= 0:
        raise IllegalAction(f"agent {agent.spec!r} played illegal action {actions[wrong]}")
    states[mine] = after
    results[mine] = outcomes
