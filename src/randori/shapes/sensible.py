"""Games without the moves that paper B's players never make.

Where stones live by their liberties, a side leaves its own one-point eyes alone and passes only if
nothing else is left: games then end by themselves, with nothing on the board left in doubt. Other
games stay as they are.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from types import FunctionType
from typing import Any, TypeVar, cast

import numpy as np

from randori.games import rules
from randori.games.game import Game
from randori.games.kernels import Actions, State, has, scratch, wide
from randori.games.rules import INPUT_WORDS, PASS_ACTION, planes

F = TypeVar("F")
Evaluation = Callable[[State], int]

WIDTH = 0
CELLS = 0
"""Of the board; filled in by `sensible`, as is the next one."""


def all_legal(state: State, actions: Actions) -> int:
    """List the moves that the rules allow."""
    raise NotImplementedError("all_legal")


def sensible_legal(state: State, actions: Actions) -> int:
    """List the moves without own eyes, and without the pass unless nothing else is left."""
    count = all_legal(state, actions)
    if count < 2:
        return count
    words = scratch(INPUT_WORDS)
    planes(state, words)
    kept = 0
    for i in range(count):
        action = wide(actions[i])
        if action != PASS_ACTION and not is_own_eye(words, action):
            actions[kept] = action
            kept += 1
    if kept == 0:
        actions[0] = PASS_ACTION
        return 1
    return kept


def is_own_eye(words: np.ndarray[Any, np.dtype[np.uint64]], cell: int) -> bool:
    """Tell whether all neighbours of an empty cell are stones of the mover."""
    column = cell % WIDTH
    for direction in range(4):
        other = cell + (1, -1, WIDTH, -WIDTH)[direction]
        is_off = (column + 1 == WIDTH, column == 0, other >= CELLS, other < 0)[direction]
        if not is_off and not has(words[other >> 6], other & 63):
            return False
    return True


def bound(function: F, **names: Any) -> F:
    """Return a plain function with some of its global names changed."""
    plain = cast(FunctionType, function)
    scope = {**plain.__globals__, **names}
    made = FunctionType(plain.__code__, scope, plain.__name__, plain.__defaults__)
    made.__module__, made.__qualname__ = plain.__module__, plain.__qualname__
    made.__doc__ = plain.__doc__
    return cast(F, made)


def lives_by_liberties(game: Game) -> bool:
    """Tell whether stones need liberties, and an action below the last is a stone on a cell."""
    is_plain = game.num_actions == game.board_cells + 1 == game.pass_action + 1
    return is_plain and "liberties" in game.evaluations


@cache
def sensible(game: Game) -> Game:
    """Return the game with only its sensible moves; its states are those of the game itself.

    The same one for the same game, so that its kernels are made once.
    """
    if not lives_by_liberties(game):
        return game
    facts = {"WIDTH": game.board[1], "CELLS": game.board_cells}
    legal = bound(sensible_legal, all_legal=game.rules.legal, is_own_eye=bound(is_own_eye, **facts))
    kernels = game.rules._replace(legal=legal, num_legal=rules.num_legal, weigh=rules.weigh)
    return replace(game, rules=kernels)
