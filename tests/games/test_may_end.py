"""What `may_end` denies does not happen: every action tried out, in play and in odd positions."""

import numpy as np
import pytest
from numpy.typing import NDArray

from randori.games.dice import below, seed_dice
from randori.games.kernels import ONGOING, scratch
from randori.games.registry import load_game
from randori.games.rules import STATE_WORDS, legal, may_end, outcome, play, start

DENIED, ENDS, WRONG = range(3)


def try_out(state: NDArray[np.uint64], actions: NDArray[np.int32], seen: NDArray[np.int64]) -> None:
    """Template: count a position where `may_end` says no, one where a move ends the game, both."""
    trial = scratch(STATE_WORDS)
    ends = 0
    for k in range(legal(state, actions)):
        for w in range(STATE_WORDS):
            trial[w] = state[w]
        play(trial, actions[k])
        if outcome(trial) != ONGOING:
            ends = 1
    denied = 0 if may_end(state) else 1
    seen[DENIED] += denied
    seen[ENDS] += ends
    seen[WRONG] += denied * ends


def try_games(
    games: int, actions: NDArray[np.int32], dice: NDArray[np.uint64], seen: NDArray[np.int64]
) -> None:
    """Template: the same for all positions of random games."""
    state = scratch(STATE_WORDS)
    for _ in range(games):
        start(state)
        while outcome(state) == ONGOING:
            try_out(state, actions, seen)
            play(state, actions[below(dice, legal(state, actions))])


def try_all(
    states: NDArray[np.uint64], actions: NDArray[np.int32], seen: NDArray[np.int64]
) -> None:
    """Template: the same for these positions, as far as they go on."""
    for i in range(len(states)):
        if outcome(states[i]) == ONGOING:
            try_out(states[i], actions, seen)


@pytest.mark.parametrize(
    ("spec", "games"),
    [("shobu", 300), ("shobu:cap=20", 50), ("go:size=5", 200), ("go:size=5,cap=30", 50)],
)
def test_in_random_games(spec: str, games: int) -> None:
    game = load_game(spec)
    seen = np.zeros(3, dtype=np.int64)
    actions = np.zeros(game.num_actions, dtype=np.int32)
    game.kernel(try_games)(games, actions, seed_dice(1, 1)[0], seen)
    assert seen[WRONG] == 0
    assert seen[ENDS] >= games
    assert seen[DENIED] > seen[ENDS]


def crowded(rng: np.random.Generator, number: int) -> NDArray[np.uint64]:
    """Shobu with boards as full as no game has them: two stones that wait, and many of the mover.

    More than four of its stones stand on a board, which is nothing to the rules.
    """
    states = np.zeros((number, 3), dtype=np.uint64)
    for state in states:
        for corner in (0, 4, 32, 36):
            order = rng.permutation([8 * rank + file for rank in range(4) for file in range(4)])
            for place, square in enumerate(order[: rng.integers(12, 16)]):
                state[2 if place < 2 else 1] |= np.uint64(1) << np.uint64(corner + square)
    return states


def test_where_moves_are_few() -> None:
    """The last move of a side is what random games hardly ever take."""
    game = load_game("shobu")
    assert game.placements is not None
    rng = np.random.default_rng(5)
    for states in (game.placements(rng, 20_000), crowded(rng, 4000)):
        seen = np.zeros(3, dtype=np.int64)
        actions = np.zeros(game.num_actions, dtype=np.int32)
        game.kernel(try_all)(states, actions, seen)
        assert seen[WRONG] == 0
        assert seen[ENDS] > 100
        assert seen[DENIED] > 100
