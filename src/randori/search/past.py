"""What a game has had before: in play, a search takes what comes again for a draw.

Where a position comes again it can come for ever, so whoever hopes for more has to try something
else. On the way down once is enough, because both sides have chosen their best there; in the game
itself it takes two, because once may have been somebody's blunder. That is a draw by good sense,
not by the rules: those that forbid repetition, or count it, are the game's own matter.
"""

import numpy as np
from numpy.typing import NDArray

from randori.games.game import Game
from randori.games.kernels import U0, U1, State, wide
from randori.games.position import Position
from randori.games.rules import CAN_REPEAT, STATE_WORDS, key_behind
from randori.search.tree import NONE, Tree

Past = NDArray[np.uint64]
"""[B, L] keys of the positions that each of B games has had since its opening; 0 is for none."""
ENOUGH = 2
"""How often the game itself must have had a position that is then a draw."""


def key_of_position(state: State) -> np.uint64:
    """Hash a position without its plies, but with the side to move; never 0."""
    return key_behind(state[0] & U1, state) | U1


def hash_all(states: NDArray[np.uint64], keys: NDArray[np.uint64]) -> None:
    """Fill ``keys[i]`` with the key of ``states[i]``."""
    for i in range(len(states)):
        keys[i] = key_of_position(states[i])


def keys_of(game: Game, states: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the keys of positions [n, S]; 0 where a game says that none comes again."""
    keys = np.zeros(len(states), dtype=np.uint64)
    if game.can_repeat:
        game.kernel(hash_all)(states, keys)
    return keys


def past_of(position: Position) -> Past:
    """Return what the game of a position has had, as far as it was played move by move."""
    if not position.game.can_repeat:
        return np.zeros((1, 0), dtype=np.uint64)
    states = np.array([before.state for before in position.past()], dtype=np.uint64)
    return keys_of(position.game, states.reshape(-1, position.game.num_words))[None]


def comes_again(tree: Tree, node: int) -> bool:
    """Tell whether the position of a node was there before: on the way to it, or in the game."""
    if not CAN_REPEAT:
        return False
    key = key_of_position(tree.states[node])
    times = wide(0)
    for k in range(len(tree.past)):
        times += wide(tree.past[k] == key)
    is_known = times >= ENOUGH
    above = wide(tree.nodes[node].parent)
    while above != NONE and not is_known:
        is_known = are_same(tree.states[above], tree.states[node])
        above = wide(tree.nodes[above].parent)
    return is_known


def are_same(one: State, other: State) -> bool:
    """Tell whether two states differ in nothing but their plies, with the same side to move."""
    is_same = (one[0] ^ other[0]) & U1 == U0
    for w in range(1, STATE_WORDS):
        is_same &= one[w] == other[w]
    return is_same
