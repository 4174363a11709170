"""Ratings from results: Elo in the order of play (paper A), and a joint fit of all games at once.

The joint fit is that of `davidson`: a maximum a posteriori of ratings, first-move advantage and
drawishness; intervals and superiority come from the inverse Hessian there.

In that model a draw is a result of its own, so that the more draws there are, the less a rating
difference x changes the score: between equals by dE/dx = (1 − d)/4, where d is their share of
draws, instead of Elo's 1/4. Ratings are therefore multiplied by 1 − d, as BayesElo multiplies its
own by the slope at its draw parameter: near equality, a difference then means the score that Elo
gives it.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from randori.arena.davidson import Counts, Floats, Model, maximise
from randori.arena.match import count_fresh
from randori.errors import UserError, nearest

START, K = 1200.0, 24.0
"""Paper A's Elo."""
POINTS = 400 / math.log(10)
"""Elo points of a natural unit, where nobody draws."""
Z = 1.959964
"""Standard errors to either side in a 95 % interval."""
PRIOR = 1.0
"""Virtual games that each agent brings: as weak as BayesElo's two virtual draws."""


class Result(NamedTuple):
    """Who played whom, and the score of the first player: 1, 0.5 or 0."""

    first: str
    second: str
    score: float
    times: int = 1
    """How often the game was played; only together do those count as one."""


def sequential_elo(
    results: Iterable[Result], *, start: float = START, k: float = K
) -> dict[str, float]:
    """Rate agents game by game: R + K(S − E) (paper A prints the sign the other way round).

    Games that repeat others count like all.
    """
    ratings: dict[str, float] = {}
    for first, second, score, _ in results:
        gap = ratings.setdefault(second, start) - ratings.setdefault(first, start)
        change = k * (score - 1 / (1 + 10 ** (gap / 400)))
        ratings[first] += change
        ratings[second] -= change
    return ratings


@dataclass(frozen=True)
class Estimate:
    """A number with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Ratings:
    """What a joint fit found, in Elo points; agents from the strongest to the weakest."""

    agents: tuple[str, ...]
    ratings: tuple[Estimate, ...]
    games: tuple[int, ...]
    counted: tuple[int, ...]
    """Those of them that the fit counts: games that repeat each other count as one."""
    scores: tuple[float, ...]
    """Share of its points that each agent made."""
    superiority: Floats
    """[i, j] how likely i is stronger than j; NaN where nothing connects them."""
    first_move: Estimate
    draws: Estimate
    """Share of draws between equals who have no first-move advantage."""
    groups: tuple[tuple[str, ...], ...]
    """Agents that games connect; only within a group do ratings compare."""
    fixed: str
    """What the scale hangs on, in words."""

    def rows(self) -> list[dict[str, Any]]:
        """Return what `--json` prints."""
        return [
            {"agent": agent, "rating": one.value, "low": one.low, "high": one.high,
             "games": games, "counted_games": counted, "score": score}
            for agent, one, games, counted, score
            in zip(self.agents, self.ratings, self.games, self.counted, self.scores, strict=True)
        ]  # fmt: skip


def rate(
    results: Iterable[Result],
    *,
    anchors: Mapping[str, float] | None = None,
    prior: float = PRIOR,
) -> Ratings:
    """Fit all games at once; `anchors` keep their ratings, and without one a group's mean is 0."""
    results = list(results)
    table = _count(results)
    anchors = dict(anchors or {})
    for name in anchors:
        if name not in table.agents:
            known = nearest(name, table.agents)
            raise UserError(f"--anchor {name!r}: no game of that agent; {known}")
    groups = _groups(table)
    model, nothing = Model(table, prior), np.zeros(len(table.agents) + 2)
    theta, covariance = maximise(model, nothing, _basis(table.agents, groups, {}))
    scale = POINTS * (1 - draw_share(theta[-1]))  # from the games alone, whatever anchors say
    if anchors:
        held = {table.agents.index(name): rating / scale for name, rating in anchors.items()}
        begin = _moved(theta, groups, held)
        free = _basis(table.agents, groups, anchors)
        try:
            theta, covariance = maximise(model, begin, free)
        except UserError:
            raise UserError("--anchor: the games are too far from these ratings; fix fewer of them"
                            ) from None  # fmt: skip
    return _report(results, table.agents, groups, anchors, theta, covariance, scale)


def draw_share(log_nu: float) -> float:
    """Return how often equals without a first-move advantage draw: ν / (2 + ν)."""
    return 1 / (1 + 2 * math.exp(-log_nu))


def _count(results: Iterable[Result]) -> Counts:
    tally: dict[tuple[str, str], list[float]] = {}
    for first, second, score, times in results:
        tally.setdefault((first, second), [0, 0, 0])[round(2 - 2 * score)] += 1 / times
    agents = tuple(sorted({name for pair in tally for name in pair}))
    index = {agent: i for i, agent in enumerate(agents)}
    pairs = sorted(tally)  # the same fit whatever the order of play
    places = np.array([[index[name] for name in pair] for pair in pairs], np.int64).reshape(-1, 2)
    counts = np.array([tally[pair] for pair in pairs], dtype=np.float64).reshape(-1, 3)
    return Counts(agents, *places.T, *counts.T)


def _groups(table: Counts) -> list[list[int]]:
    """Return the agents in groups that games connect."""
    group = list(range(len(table.agents)))
    for i, j in zip(table.first.tolist(), table.second.tolist(), strict=True):
        if group[i] != group[j]:
            group = [group[i] if one == group[j] else one for one in group]
    return [[i for i, one in enumerate(group) if one == name] for name in sorted(set(group))]


def _moved(theta: Floats, groups: Sequence[Sequence[int]], held: Mapping[int, float]) -> Floats:
    """Put anchors in their places, and all that games connect with them as far away as it was.

    Where draws are common an anchor is many natural units away from 0, and from there a climb
    would find no slope.
    """
    moved = theta.copy()
    for group in groups:
        shifts = [place - theta[i] for i, place in held.items() if i in group]
        moved[group] += float(np.mean(shifts)) if shifts else 0.0
    moved[list(held)] = list(held.values())
    return moved


def _basis(
    agents: Sequence[str], groups: Sequence[Sequence[int]], anchors: Mapping[str, float]
) -> Floats:
    """Return the directions, as columns, in which the parameters are free.

    An anchor stands still; a group without one keeps its mean.
    """
    size = len(agents)
    columns = [np.eye(size + 2)[:, size:]]
    for group in groups:
        free = [i for i in group if agents[i] not in anchors]
        turn = np.eye(len(free))
        if len(free) == len(group):  # an orthonormal basis of what sums to 0
            turn = np.linalg.qr(np.column_stack([np.ones(len(free)), turn]))[0][:, 1 : len(free)]
        part = np.zeros((size + 2, turn.shape[1]))
        part[free] = turn
        columns.append(part)
    return np.concatenate(columns, axis=1)


def _report(
    results: Iterable[Result], agents: Sequence[str], groups: Sequence[Sequence[int]],
    anchors: Mapping[str, float], theta: Floats, covariance: Floats, scale: float,
) -> Ratings:  # fmt: skip
    size = len(agents)
    errors = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    order = sorted(range(size), key=lambda i: (-theta[i], agents[i]))
    points: dict[str, list[float]] = {agent: [] for agent in agents}
    times: dict[str, list[int]] = {agent: [] for agent in agents}
    for first, second, score, often in results:
        for agent, made in ((first, score), (second, 1 - score)):
            points[agent].append(made)
            times[agent].append(often)
    names = tuple(tuple(agents[i] for i in group) for group in groups)
    shares = [draw_share(theta[-1] + z * errors[-1]) for z in (0, -Z, Z)]
    return Ratings(
        agents=tuple(agents[i] for i in order),
        ratings=tuple(
            Estimate(*[float(anchors[agents[i]])] * 3)
            if agents[i] in anchors
            else _estimate(theta[i], errors[i], scale)
            for i in order
        ),
        games=tuple(len(points[agents[i]]) for i in order),
        counted=tuple(count_fresh(times[agents[i]]) for i in order),
        scores=tuple(float(np.mean(points[agents[i]])) for i in order),
        superiority=_superiority(theta, covariance, groups)[np.ix_(order, order)],
        first_move=_estimate(theta[size], errors[size], scale),
        draws=Estimate(*shares),
        groups=names,
        fixed=_say_fixed(names, anchors),
    )


def _estimate(value: float, error: float, scale: float) -> Estimate:
    return Estimate(*(float(scale * (value + z * error)) for z in (0, -Z, Z)))


def _superiority(theta: Floats, covariance: Floats, groups: Sequence[Sequence[int]]) -> Floats:
    size = len(theta) - 2
    found = np.full((size, size), np.nan)
    variance = np.diag(covariance)
    for group in groups:
        for i in group:
            for j in group:
                gap = theta[i] - theta[j]
                spread = variance[i] + variance[j] - 2 * covariance[i, j]
                if spread > 1e-15:
                    found[i, j] = 0.5 * math.erfc(-gap / math.sqrt(2 * spread))
                else:
                    found[i, j] = 0.5 + 0.5 * float(np.sign(gap))
    return found


def _say_fixed(groups: Sequence[Sequence[str]], anchors: Mapping[str, float]) -> str:
    parts = [f"{agent} is fixed at {rating:g}" for agent, rating in anchors.items()]
    if any(not set(group) & set(anchors) for group in groups):
        whose = "the mean" if len(groups) == 1 else "the mean of each other group"
        parts.append(f"{whose if anchors or len(groups) == 1 else 'the mean of each group'} is 0")
    return ", ".join(parts)
