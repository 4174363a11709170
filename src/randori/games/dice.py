"""Random numbers inside kernels: a generator is one word of an array, passed explicitly.

Numba's own generator is hidden state of a thread; here each game slot owns a word, so a result
depends on the seed alone, however the slots are spread over threads.
"""

import math

import numpy as np
from numpy.typing import NDArray

from randori.games.kernels import U0, mix

Dice = NDArray[np.uint64]
"""[1] the state of one generator (a counter that `mix` turns into random words)."""


def next_word(dice: Dice) -> np.uint64:
    """Draw 64 random bits."""
    dice[0] += np.uint64(0x9E3779B97F4A7C15)
    return mix(U0, dice[0])


def uniform(dice: Dice) -> float:
    """Draw from [0, 1)."""
    return float(next_word(dice) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


def below(dice: Dice, bound: int) -> int:
    """Draw an integer from [0, bound); the bias of less than bound / 2**32 does not matter here."""
    return int(((next_word(dice) >> np.uint64(32)) * np.uint64(bound)) >> np.uint64(32))


def normal(dice: Dice) -> float:
    """Draw from the standard normal distribution (Box and Muller)."""
    radius = math.sqrt(-2.0 * math.log(1.0 - uniform(dice)))
    return radius * math.cos(2.0 * math.pi * uniform(dice))


def gamma(dice: Dice, shape: float) -> float:
    """Draw from the gamma distribution of scale 1."""
    return small_gamma(dice, shape) if shape < 1.0 else large_gamma(dice, shape)


def small_gamma(dice: Dice, shape: float) -> float:
    """Draw for a shape below 1 (Ahrens and Dieter, 1974): a power below 1, a tail above."""
    bound = 1.0 + shape / math.e
    while True:
        p = bound * uniform(dice)
        u = uniform(dice)
        if p <= 1.0:
            x = math.pow(p, 1.0 / shape)
            if u < 1.0 - x or u < math.exp(-x):  # mostly the former, which costs nothing
                return x
        else:
            x = -math.log((bound - p) / shape)
            if u < math.pow(x, shape - 1.0):
                return x


def large_gamma(dice: Dice, shape: float) -> float:
    """Draw for a shape of 1 or more (Marsaglia and Tsang, 2000)."""
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = normal(dice)
        v = (1.0 + c * x) ** 3
        if v > 0.0 and math.log(1.0 - uniform(dice)) < 0.5 * x * x + d - d * v + d * math.log(v):
            return d * v


def seed_dice(seed: int, count: int) -> NDArray[np.uint64]:
    """Make `count` independent generators, [count, 1], from one seed."""
    return np.random.default_rng(seed).integers(0, 2**63, size=(count, 1), dtype=np.uint64)
