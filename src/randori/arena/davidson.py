"""Bradley and Terry's model of results with draws after Davidson (1970), and its maximum.

With ratings r in natural units and x = r_first − r_second + h,

    P(first wins), P(draw), P(second wins)  ∝  e^(x/2), ν, e^(−x/2)

where h is the first-move advantage and ν says how common draws are. Davidson's draws rather than
BayesElo's (Rao and Kupper, 1967): the model is an exponential family in (r, h, ln ν), so the
likelihood is concave, Newton's method finds its one maximum, a draw weighs as half a win and half
a loss, and the expected scores at the maximum are the ones that were played.

The prior is weak and made of virtual games, as BayesElo's: every agent brings some, half won and
half lost, against those it met; h and ln ν have one each, between equals, half won, a quarter
drawn.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from randori.errors import UserError

STEPS = 100
TOLERANCE = 1e-10
LOOSE = 10.0
"""A standard error of that many natural units (1737 Elo) says that nothing holds a rating."""
DRAWN = 0.25
"""Draws in the one virtual game between equals that ln ν has."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Counts:
    """Games by who met whom in which order."""

    agents: tuple[str, ...]
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    wins: Floats
    """of the first player, one number a meeting"""
    draws: Floats
    losses: Floats

    @property
    def games(self) -> Floats:
        """Games of each meeting."""
        return self.wins + self.draws + self.losses


class Model:
    """Log posterior of (ratings, h, ln ν) with its gradient and Hessian.

    Games are rows of a matrix that takes the parameters to x; virtual games between two sides are
    rows of another, won and lost alike.
    """

    def __init__(self, table: Counts, prior: float) -> None:
        size = len(table.agents)
        self._size = size
        self._table = table
        self._rows = np.zeros((len(table.first), size + 2))
        lines = np.arange(len(table.first))
        np.add.at(self._rows, (lines, table.first), 1.0)
        np.add.at(self._rows, (lines, table.second), -1.0)
        self._rows[:, size] = 1.0
        met = np.zeros((size, size))
        np.add.at(met, (table.first, table.second), table.games)
        met += met.T
        np.fill_diagonal(met, 0.0)
        share = met / np.maximum(met.sum(axis=1, keepdims=True), 1.0)
        i, j = np.nonzero(np.triu(met))
        self._virtual = np.zeros((len(i) + 1, size + 2))
        self._virtual[np.arange(len(i)), i] = 1.0
        self._virtual[np.arange(len(i)), j] = -1.0
        self._virtual[-1, size] = 1.0
        self._weights = np.append(prior * (share + share.T)[i, j], float(prior > 0))
        self._drawn = float(prior > 0)  # weight of the virtual game of ln ν

    def value(self, theta: Floats) -> float:
        """Return the log posterior."""
        table, x, d = self._table, self._rows @ theta, theta[-1]
        y = self._virtual @ theta
        total = table.wins @ (x / 2) - table.losses @ (x / 2) + table.draws.sum() * d
        total -= table.games @ _log_sum(x, d)
        total -= self._weights @ (np.logaddexp(0, y) + np.logaddexp(0, -y)) / 2
        return float(total + self._drawn * (DRAWN * d - np.logaddexp(math.log(2), d)))

    def slopes(self, theta: Floats) -> tuple[Floats, Floats]:
        """Return the gradient, and the negative Hessian."""
        table, x, d = self._table, self._rows @ theta, theta[-1]
        log_sum = _log_sum(x, d)
        win, draw, loss = np.exp(x / 2 - log_sum), np.exp(d - log_sum), np.exp(-x / 2 - log_sum)
        tilt, games = (win - loss) / 2, table.games
        gradient = self._rows.T @ ((table.wins - table.losses) / 2 - games * tilt)
        gradient[-1] += table.draws.sum() - games @ draw
        bend = games * ((win + loss) / 4 - tilt**2)
        curvature = self._rows.T @ (bend[:, None] * self._rows)
        cross = self._rows.T @ (games * draw * tilt)
        curvature[:, -1] -= cross
        curvature[-1] -= cross
        curvature[-1, -1] += games @ (draw * (1 - draw))
        chance = (1 + np.tanh(self._virtual @ theta / 2)) / 2  # does not overflow
        gradient += self._virtual.T @ (self._weights * (0.5 - chance))
        weight = self._weights * chance * (1 - chance)
        curvature += self._virtual.T @ (weight[:, None] * self._virtual)
        share = 1 / (1 + 2 * math.exp(-d))
        gradient[-1] += self._drawn * (DRAWN - share)
        curvature[-1, -1] += self._drawn * share * (1 - share)
        return gradient, curvature


def _log_sum(x: Floats, d: float) -> Floats:
    together: Floats = np.logaddexp(np.logaddexp(x / 2, -x / 2), d)
    return together


def maximise(model: Model, theta: Floats, basis: Floats) -> tuple[Floats, Floats]:
    """Climb by Newton's method with halved steps; return the maximum and its covariance."""
    value = model.value(theta)
    for _ in range(STEPS):
        gradient, curvature = model.slopes(theta)
        slope, bend = basis.T @ gradient, basis.T @ curvature @ basis
        try:
            step = np.linalg.solve(bend, slope)
        except np.linalg.LinAlgError:
            raise UserError("the games leave a rating open; a prior above 0 settles it") from None
        if slope @ step < TOLERANCE:
            with np.errstate(invalid="ignore", over="ignore"):
                covariance = basis @ np.linalg.inv(bend) @ basis.T
            if not np.abs(covariance).max() <= LOOSE**2:  # nor is it where a number is none
                break
            return theta, covariance
        size = min(1.0, 4.0 / float(np.abs(step).max()))
        while size > 1e-6 and model.value(theta + size * (basis @ step)) <= value:
            size /= 2
        theta = theta + size * (basis @ step)
        value = model.value(theta)
    raise UserError("the ratings do not settle; a prior above 0 makes them")
