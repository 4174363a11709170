"""A value function made of shape weights, for whole batches of positions."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from randori.games.dice import Dice
from randori.games.game import Game
from randori.games.kernels import DRAW, FIRST, ONGOING, U1, Actions, State, wide
from randori.games.rules import legal, outcome, planes
from randori.shapes.features import active_weights, clear, see
from randori.shapes.moves import add_weights, best_move, score_move
from randori.shapes.sensible import sensible
from randori.shapes.sight import Ids, Room, Sight, Weights, holes, make_room, make_sight
from randori.shapes.tables import Nets, Tables


def judge_states(
    states: NDArray[np.uint64], theta: Weights, nets: Nets, sight: Sight, room: Room,
    words: NDArray[np.uint64], found: NDArray[np.float64],
) -> None:  # fmt: skip
    """Write the sum of each position for the side that has just moved; the end as ±inf or 0.

    Neighbours in a batch often differ by a stone or two: only those are looked at.
    """
    clear(nets, sight, room)
    for b in range(len(states)):
        mover = wide(states[b, 0] & U1)
        result = outcome(states[b])
        if result != ONGOING:
            found[b] = 0.0
            if result != DRAW:
                found[b] = -np.inf if (result == FIRST) == (mover == 0) else np.inf
            continue
        planes(states[b], words)
        see(nets, sight, room, words, mover)
        found[b] = add_weights(nets, theta, sight, 1 - mover, room)


def pick_moves(
    states: NDArray[np.uint64], theta: Weights, nets: Nets, sight: Sight, room: Room,
    before: NDArray[np.uint64], words: NDArray[np.uint64], after: State, actions: Actions,
    dice: Dice, picked: NDArray[np.int32], found: NDArray[np.float64],
) -> None:  # fmt: skip
    """Pick the best move of each position after one ply, equals by lot, and note its sum."""
    clear(nets, sight, room)
    for b in range(len(states)):
        mover = wide(states[b, 0] & U1)
        planes(states[b], before)
        see(nets, sight, room, before, mover)
        count = legal(states[b], actions)
        choice = best_move(
            nets, theta, sight, mover, room, states[b], before, actions, count, after, words, dice
        )
        picked[b] = actions[choice]
        total = add_weights(nets, theta, sight, mover, room)
        found[b] = score_move(
            nets, theta, sight, mover, room, states[b], before, wide(picked[b]), after, words,
            total,
        )  # fmt: skip


def list_weights(
    state: State, nets: Nets, sight: Sight, room: Room, words: NDArray[np.uint64], active: Ids
) -> None:
    """List the weights that are on for each side, [2, A]."""
    clear(nets, sight, room)
    planes(state, words)
    see(nets, sight, room, words, wide(state[0] & U1))
    for side in range(2):
        active_weights(nets, sight, side, active[side])


@dataclass(frozen=True, eq=False)
class ShapeValue:
    """Weights of one player, and the tables that they belong to."""

    game: Game
    tables: Tables
    theta: Weights
    _play: Game = field(init=False, repr=False)
    _holes: dict[str, Any] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_play", sensible(self.game))
        object.__setattr__(self, "_holes", holes(self.game, self.tables))

    @property
    def sensible_game(self) -> Game:
        """The game with the moves that the player considers."""
        return self._play

    def values(self, states: NDArray[np.uint64]) -> NDArray[np.float32]:
        """Judge positions for the side to move, from −1 to 1."""
        found = np.zeros(len(states), dtype=np.float64)
        words = np.zeros(self.game.input_words, np.uint64)
        self._kernel(judge_states)(states, self.theta, *self._memory(), words, found)
        return (-np.tanh(found / 2)).astype(np.float32)

    def pick(
        self, states: NDArray[np.uint64], rng: np.random.Generator
    ) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Pick the best moves after one ply; return what they are worth to the mover, too."""
        game, count = self.game, len(states)
        picked, found = np.zeros(count, np.int32), np.zeros(count, np.float64)
        dice = rng.integers(0, 2**63, size=1, dtype=np.uint64)
        self._kernel(pick_moves)(
            states, self.theta, *self._memory(),
            np.zeros(game.input_words, np.uint64), np.zeros(game.input_words, np.uint64),
            np.zeros(game.num_words, np.uint64), np.zeros(game.num_actions, np.int32),
            dice, picked, found,
        )  # fmt: skip
        return picked, np.tanh(found / 2).astype(np.float32)

    def active(self, state: State) -> Ids:
        """Return the weights that are on, [2, A]: as the first and as the second player sees it."""
        found = np.zeros((2, len(self.tables.nets.slots)), dtype=np.int32)
        words = np.zeros(self.game.input_words, np.uint64)
        self._kernel(list_weights)(state, *self._memory(), words, found)
        return found

    def _kernel(self, template: Callable[..., None]) -> Callable[..., None]:
        return self._play.kernel(template, **self._holes)

    def _memory(self) -> tuple[Nets, Sight, Room]:
        return self.tables.nets, make_sight(self.tables), make_room(self.tables)
