"""Random numbers inside kernels: the right distributions, and the seed decides."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from randori.games.dice import Dice, below, gamma, next_word, normal, seed_dice, uniform
from randori.games.kernels import Bindings, specialise

COUNT = 200_000
NOTHING = Bindings("test", {}, {})


def draw(dice: Dice, shape: float, out: NDArray[np.float64]) -> None:
    """Fill the columns of `out` with draws: uniform, normal, gamma, an integer below 7."""
    for i in range(len(out)):
        out[i, 0] = uniform(dice)
        out[i, 1] = normal(dice)
        out[i, 2] = gamma(dice, shape)
        out[i, 3] = below(dice, 7)


def sample(seed: int, shape: float, count: int = COUNT) -> NDArray[np.float64]:
    out = np.zeros((count, 4))
    specialise(draw, NOTHING)(seed_dice(seed, 1)[0], shape, out)
    return out


def close(found: float, expected: float, variance: float) -> bool:
    """Tell whether a mean of COUNT draws is within five standard errors."""
    return abs(found - expected) < 5 * math.sqrt(variance / COUNT)


def test_uniform() -> None:
    values = sample(1, 1.0)[:, 0]
    assert values.min() >= 0.0
    assert values.max() < 1.0
    for power in (1, 2, 3):
        mean, square = 1 / (power + 1), 1 / (2 * power + 1)
        assert close(float((values**power).mean()), mean, square - mean**2)


def test_normal() -> None:
    values = sample(2, 1.0)[:, 1]
    moments = ((1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96))
    for power, mean, variance in moments:
        assert close(float((values**power).mean()), mean, variance)


@pytest.mark.parametrize("shape", [0.03, 0.3, 1.0, 2.5])
def test_gamma(shape: float) -> None:
    """E[x^k] is k rising from the shape; the variance of x² is E[x⁴] - E[x²]²."""
    values = sample(3, shape)[:, 2]
    assert values.min() >= 0.0
    raw = [math.prod(shape + i for i in range(power)) for power in range(5)]
    assert close(float(values.mean()), raw[1], raw[2] - raw[1] ** 2)
    assert close(float((values**2).mean()), raw[2], raw[4] - raw[2] ** 2)


def test_below_is_even() -> None:
    counts = np.bincount(sample(4, 1.0)[:, 3].astype(int))
    assert len(counts) == 7
    for count in counts:
        assert close(float(count) / COUNT, 1 / 7, 1 / 7 * 6 / 7)


def test_columns_are_independent() -> None:
    table = np.corrcoef(sample(5, 1.0).T)
    assert np.abs(table - np.eye(4)).max() < 5 / math.sqrt(COUNT)


def test_the_seed_decides() -> None:
    assert np.array_equal(sample(6, 0.3, 100), sample(6, 0.3, 100))
    assert not np.array_equal(sample(6, 0.3, 100), sample(7, 0.3, 100))


def test_plain_as_compiled() -> None:
    plain = np.zeros((50, 4))
    with np.errstate(over="ignore"):
        draw(seed_dice(8, 1)[0], 0.7, plain)
    assert np.allclose(plain, sample(8, 0.7, 50), rtol=1e-12, atol=0)


def test_generators_of_one_seed_differ() -> None:
    dice = seed_dice(9, 1000)
    assert dice.shape == (1000, 1)
    with np.errstate(over="ignore"):
        assert len({int(next_word(row)) for row in dice}) == 1000
