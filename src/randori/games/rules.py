"""The kernels of a game: their contract, and the names that templates leave open.

Five are every game's own; `num_legal`, `owners`, `weigh` and `may_end` follow from them, unless the
game knows better.

A state is one row of `uint64` words. Word 0 is the number of plies played, which `play` counts up:
its low bit tells the side to move. Kernels are scalar and in place, without allocation or
randomness. Planes are packed cell by cell: plane p fills words ``[p * k, (p + 1) * k)`` with
``k = ceil(cells / 64)``; cell ``row * width + column`` is bit ``cell % 64`` of word ``cell // 64``,
row 0 at the top. Planes 0 and 1 are the stones of the side to move and of its opponent; a game
whose board takes k planes has the mover's in the first k and its opponent's in the next k.

The functions here are holes: a template imports and calls them, and `Game.kernel` puts the game's
own in their place.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from randori.games.kernels import U0, Actions, State, inlined, mix, scratch, wide

NUM_ACTIONS = 0
MOST_LEGAL = 0
LONGEST = 0
STATE_WORDS = 0
INPUT_WORDS = 0
NUM_LOGITS = 0
FACTORS: NDArray[np.uint16] = np.zeros((0, 1), dtype=np.uint16)
NUM_FACTORS = 1
"""Which logits add up to an action's, and how many."""
RUN_MASKS: NDArray[np.uint64] = np.zeros((1, 0), dtype=np.uint64)
RUN_FIRST: NDArray[np.uint16] = np.zeros((1, 0), dtype=np.uint16)
RUN_LENGTH: NDArray[np.uint16] = np.zeros((1, 0), dtype=np.uint16)
RUN_BEGINS: NDArray[np.int64] = np.zeros(2, dtype=np.int64)
NUM_RUN_WORDS = 0
RUN_SHARED, RUN_CELLS = 1, 64
RUN_SPAN = 0
"""Which logits matter to a position (`marks.py`), how many words tell, of how many planes with how
many cells each, and how many logits are read at once."""
PASS_ACTION = -1
"""What hands the turn over, legal or not; -1 if the game has no such action."""
HAS_THREATS = True
CAN_REPEAT = True
STONE_WORDS = 0
"""Words of the planes that show one side's stones."""
OWNER_WORDS = 0
"""Words of the planes that show both sides' stones."""


def key_behind(word: np.uint64, state: State) -> np.uint64:
    """Hash a state with another word in place of its plies."""
    key = mix(U0, word)
    for w in range(1, STATE_WORDS):
        key = mix(key, state[w])
    return key


def num_legal(state: State, actions: Actions) -> int:
    """Return how many actions are legal; `actions` is room to list them, should that be needed."""
    return legal(state, actions)


def owners(state: State, words: NDArray[np.uint64]) -> None:
    """Write who has which cell when the game is over: the side to move, then its opponent.

    A cell belongs to the stone on it, unless the game knows better (Go counts its area).
    """
    seen = scratch(INPUT_WORDS)
    planes(state, seen)
    for w in range(OWNER_WORDS):
        words[w] = seen[w]


@inlined
def weigh(
    state: State, actions: Actions, logits: NDArray[np.float32], odds: NDArray[np.float32]
) -> int:
    """Do what `legal` does, and write into `odds` what a network says of each action.

    That is the sum of its factors' logits, added up in their order. Both arrays have room for
    NUM_ACTIONS, and what stands behind the legal actions does not matter.
    """
    count = legal(state, actions)
    for k in range(count):
        action = wide(actions[k])
        logit = np.float32(0.0)
        for f in range(NUM_FACTORS):
            logit += logits[FACTORS[action, f]]
        odds[k] = logit
    return count


def may_end(state: State) -> bool:
    """Tell whether some action may end the game; false spares searches the look for one that wins.

    A game in which the end is seldom near does well to say so.
    """
    return True


class Rules(NamedTuple):
    """The kernels of one game, in the order in which files define them."""

    start: Callable[[State], None]
    legal: Callable[[State, Actions], int]
    play: Callable[[State, int], None]
    outcome: Callable[[State], int]
    planes: Callable[[State, NDArray[np.uint64]], None]
    num_legal: Callable[[State, Actions], int] = num_legal
    owners: Callable[[State, NDArray[np.uint64]], None] = owners
    weigh: Callable[[State, Actions, NDArray[np.float32], NDArray[np.float32]], int] = weigh
    may_end: Callable[[State], bool] = may_end


def start(state: State) -> None:
    """Write the first position into `state`."""
    raise NotImplementedError("start")


def legal(state: State, actions: Actions) -> int:
    """Write the legal action ids into `actions`, return how many: 0 only when the game is over."""
    raise NotImplementedError("legal")


def play(state: State, action: int) -> None:
    """Play in place; the sides alternate strictly, so a pass is an action."""
    raise NotImplementedError("play")


def outcome(state: State) -> int:
    """Return ONGOING, FIRST, SECOND or DRAW."""
    raise NotImplementedError("outcome")


def planes(state: State, words: NDArray[np.uint64]) -> None:
    """Write the packed bit planes as the side to move sees them."""
    raise NotImplementedError("planes")


def evaluate(state: State) -> int:
    """Say how good a position looks to the side to move; 100 is about one stone."""
    raise NotImplementedError("evaluate")
