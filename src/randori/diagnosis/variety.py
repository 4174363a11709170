"""How many different positions there could be: random play as a yardstick for each game.

A window of tic-tac-toe must repeat itself and one of Go must not. Random games with as many rows
say what to expect of a game, whatever its size.
"""

import numpy as np
from numpy.typing import NDArray

from randori.games.dice import Dice, below, seed_dice, uniform
from randori.games.game import Game
from randori.games.kernels import ONGOING
from randori.games.rules import LONGEST, STATE_WORDS, legal, outcome, play, start
from randori.runs.health import distinct_share

MOST_GAMES = 200
"""Games a row: enough at the least `keep`, and an end for games without any choice."""


def collect(
    rows: NDArray[np.uint64], room: NDArray[np.uint64], actions: NDArray[np.int32], keep: float,
    dice: Dice,
) -> int:  # fmt: skip
    """Fill `rows` [n, S] with positions of random games, each taken with chance `keep`.

    Returns how many were found.
    """
    at = 0
    for _ in range(MOST_GAMES * len(rows)):
        if at == len(rows):
            break
        start(room)
        for _ in range(LONGEST):
            if at == len(rows) or outcome(room) != ONGOING:
                break
            count = legal(room, actions)
            if count > 1 and uniform(dice) < keep:
                for word in range(STATE_WORDS):
                    rows[at, word] = room[word]
                at += 1
            play(room, actions[below(dice, count)])
    return at


def random_distinct_share(game: Game, rows: int, keep: float, seed: int = 0) -> float:
    """Return the share of distinct positions among so many rows of random games."""
    filled = np.zeros((rows, game.num_words), np.uint64)
    found = game.kernel(collect)(
        filled, np.zeros(game.num_words, np.uint64), np.zeros(game.num_actions, np.int32),
        max(0.01, min(1.0, keep)), seed_dice(seed, 1)[0],
    )  # fmt: skip
    return distinct_share(filled[:found])
