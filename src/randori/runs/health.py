"""The health of self-play in numbers, from plain arrays: cheap enough for every iteration.

A learner adds `summary` to its line of metrics, and `randori doctor` computes the same figures from
a run folder. Entropies are shares of log(legal moves), so that they mean the same in every game:
1 is no preference at all, 0 a single move.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Floats = NDArray[np.float64]

BINS = 10
FIRST_WINS, DRAWN = 1, 3
"""Outcomes as `games.kernels` numbers them."""


@dataclass(frozen=True)
class Calibration:
    """What values promised and what came of it, over bins of [−1, 1]."""

    promised: Floats
    """[bins] mean value; NaN in an empty bin"""
    came: Floats
    """[bins] mean result"""
    counts: NDArray[np.int64]
    """[bins] rows"""
    error: float
    """expected calibration error: mean distance of the two, weighted by rows"""
    noise: float
    """what `error` would be by chance alone if every value were right"""


def shares(weights: Array) -> Floats:
    """Turn rows of weights [n, K] into shares; a row of zeros stays one."""
    numbers = np.asarray(weights, dtype=np.float64)
    return np.asarray(numbers / np.maximum(numbers.sum(axis=1, keepdims=True), 1e-12))


def action_logits(logits: Array, factors: Array) -> Floats:
    """Sum the logits [n, P] of each move's factors [n, K, F]."""
    picked = np.take_along_axis(np.asarray(logits)[:, None, :], factors, axis=2)
    return np.asarray(picked.sum(axis=2, dtype=np.float64))


def softmax(logits: Floats, is_legal: NDArray[np.bool_]) -> Floats:
    """Turn the logits of moves [n, K] into policies over those that are legal."""
    top = np.max(np.where(is_legal, logits, -np.inf), axis=1, initial=-1e30, keepdims=True)
    weights = np.where(is_legal, np.exp(np.minimum(logits - top, 0.0)), 0.0)
    return np.asarray(weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-300))


def entropies(weights: Array, legal: Array) -> Floats:
    """Return the entropy of each row [n, K] as a share of log(`legal` moves).

    Rows without a choice say nothing and are left out, as are rows of zeros.
    """
    policy = shares(weights)
    chosen = (legal >= 2) & (policy.sum(axis=1) > 0)
    policy = policy[chosen]
    nats = -(policy * np.log(np.maximum(policy, 1e-300))).sum(axis=1)
    return np.asarray(nats / np.log(np.asarray(legal)[chosen]))


def distinct_share(states: Array) -> float:
    """Return the number of different rows [n, S] as a share of all."""
    rows = np.ascontiguousarray(states)
    keys = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
    return len(np.unique(keys)) / max(1, len(rows))


def calibration(values: Array, results: Array, games: int | None = None) -> Calibration:
    """Compare values with results [n]; `games` says how many results are independent."""
    values, results = (np.asarray(array, dtype=np.float64) for array in (values, results))
    bins = np.clip(((values + 1) / 2 * BINS).astype(np.int64), 0, BINS - 1)
    counts = np.bincount(bins, minlength=BINS)
    with np.errstate(invalid="ignore", divide="ignore"):
        promised, came, squares = (
            np.bincount(bins, weights=array, minlength=BINS) / counts
            for array in (values, results, results**2)
        )
        spread = np.sqrt(np.maximum(squares - came**2, 0) * counts / np.maximum(counts - 1, 0.5))
        independent = counts * (min(games or len(values), len(values)) / max(1, len(values)))
        chance = np.sqrt(2 / np.pi) * spread / np.sqrt(np.maximum(independent, 1e-9))
    weight = counts / max(1, len(values))
    return Calibration(
        promised, came, counts,
        float(np.nansum(weight * np.abs(promised - came))),
        float(np.nansum(weight * np.minimum(chance, 2.0))),
    )  # fmt: skip


def explained(values: Array, results: Array) -> float:
    """Return the share of the results' variance that values account for; below 0 is harmful.

    NaN where all results are the same.
    """
    results = np.asarray(results, dtype=np.float64)
    variance = float(results.var()) if len(results) else 0.0
    if variance < 1e-9:
        return float("nan")
    return 1.0 - float(np.mean((np.asarray(values, dtype=np.float64) - results) ** 2)) / variance


def changed(visits: Array, policy: Array) -> float:
    """Return how often the most visited move is not the policy's first choice; ties are no change.

    Both are [n, K], their moves in the same order.
    """
    if not len(visits):
        return float("nan")
    preferred = np.argmax(policy, axis=1)
    of_preferred = np.take_along_axis(np.asarray(visits), preferred[:, None], axis=1)[:, 0]
    return float(np.mean(of_preferred < np.asarray(visits).max(axis=1)))


def insight(visits: Array, policy: Array, legal: Array) -> float:
    """Return how far the policy's first choice is from a random move (0) to the search's (1).

    Measured by visits, so that one of several equal moves counts as found.
    """
    target = shares(visits)
    several = np.asarray(legal) >= 2
    target, liked = target[several], np.asarray(policy)[several]
    if not len(target):
        return float("nan")
    found = np.take_along_axis(target, np.argmax(liked, axis=1)[:, None], axis=1).mean()
    blind = (target.sum(axis=1) / np.asarray(legal)[several]).mean()
    best = target.max(axis=1).mean()
    return float((found - blind) / max(best - blind, 1e-9))


def summary(
    *,
    visits: Array | None = None,
    legal: Array | None = None,
    policy: Array | None = None,
    values: Array | None = None,
    results: Array | None = None,
    states: Array | None = None,
    outcomes: Array | None = None,
    lengths: Array | None = None,
) -> dict[str, float]:
    """Return the figures that the given arrays allow, under names fit for a line of metrics.

    Rows: `visits` [n, K] (the policy targets, as counts or shares, 0 where nothing is legal),
    `legal` [n] numbers of legal moves, `policy` [n, K] what the network alone thinks of the same
    moves, `values` and `results` [n] for the side to move, `states` [n, S]. Games: `outcomes` [g]
    (1 first, 2 second, 3 draw) and `lengths` [g] in plies. Figures without rows are left out.
    """
    found: dict[str, float] = {}
    if legal is not None and len(legal):
        for name, weights in (("visits_entropy", visits), ("prior_entropy", policy)):
            if weights is not None and len(shared := entropies(weights, legal)):
                found[name] = float(shared.mean())
        if visits is not None and policy is not None:
            found["prior_insight"] = insight(visits, policy, legal)
    if visits is not None and policy is not None:
        found["search_changed"] = changed(visits, policy)
    if values is not None and len(values):
        found["value_spread"] = float(np.std(values))
        if results is not None:
            found["value_error"] = calibration(values, results).error
            found["value_explained"] = explained(values, results)
    if states is not None and len(states):
        found["distinct_positions"] = distinct_share(states)
    if outcomes is not None and len(outcomes):
        draws = np.asarray(outcomes) == DRAWN
        wins = np.asarray(outcomes) == FIRST_WINS
        found["first_player_score"] = float(np.mean(wins + 0.5 * draws))
        found["draw_share"] = float(np.mean(draws))
    if lengths is not None and len(lengths):
        found["game_length"] = float(np.mean(lengths))
    return {name: value for name, value in found.items() if np.isfinite(value)}
