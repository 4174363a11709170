"""From visits to the move that self-play makes: weights, temperature, the value of the root."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from randori.games.dice import Dice, seed_dice
from randori.games.game import Game
from randori.games.kernels import specialise
from randori.games.registry import load_game
from randori.learners.group import temperature_table
from randori.learners.slots import pick_move, weigh_moves
from randori.search.backup import root_value
from randori.search.tree import (
    DRAWN,
    LOST,
    NEVER,
    UNKNOWN,
    WON,
    Tree,
    Trees,
    make_trees,
    plant,
    tree_of,
)

GAME = load_game("tictactoe")


def plain(template: Callable[..., Any]) -> Callable[..., Any]:
    return specialise(template, GAME._bindings, compiled=False)


def make_root(
    proven: int = UNKNOWN, tried: dict[int, int] | None = None, **below: dict[int, float]
) -> Tree:
    """A root of Tic-tac-toe whose edges were visited by hand; children carry their proofs."""
    tree = tree_of(make_trees(1, 12, 40, GAME), 0)
    plain(plant)(tree, GAME.new_state())
    tree.nodes[0].proven = proven
    for edge, visits in (tried or {}).items():
        tree.edges[edge].tried = visits
        tree.edges[edge].child = edge + 1
        tree.edges[edge].q = below.get("q", {}).get(edge, 0.0)
        tree.nodes[edge + 1].proven = int(below.get("proven_below", {}).get(edge, UNKNOWN))
    return tree


def weights_of(tree: Tree) -> list[float]:
    total = plain(weigh_moves)(tree)
    weights: list[float] = tree.weights[:9].tolist()
    assert total == sum(weights)
    return weights


def test_moves_weigh_as_much_as_their_visits() -> None:
    assert weights_of(make_root(tried={0: 3, 4: 10})) == [3, 0, 0, 0, 10, 0, 0, 0, 0]


def test_a_proven_win_takes_all() -> None:
    tree = make_root(WON, tried={0: 30, 4: 2}, proven_below={4: LOST})
    assert weights_of(tree) == [0, 0, 0, 0, 1, 0, 0, 0, 0]


def test_a_proven_loss_weighs_nothing() -> None:
    tree = make_root(tried={0: 30, 4: 2}, q={0: NEVER}, proven_below={0: WON})
    assert weights_of(tree) == [0, 0, 0, 0, 2, 0, 0, 0, 0]


def test_untried_moves_are_better_than_proven_losses() -> None:
    """A small budget may have found nothing but losses."""
    tree = make_root(tried={0: 3, 4: 2}, q={0: NEVER, 4: NEVER}, proven_below={0: WON, 4: WON})
    assert weights_of(tree) == [0, 1, 1, 1, 0, 1, 1, 1, 1]


def test_in_a_lost_position_the_visits_decide() -> None:
    every = dict.fromkeys(range(9), 2) | {3: 7}
    tree = make_root(LOST, every, q=dict.fromkeys(range(9), NEVER))
    assert weights_of(tree) == [2, 2, 2, 7, 2, 2, 2, 2, 2]


def test_a_forced_move_needs_no_visit() -> None:
    tree = make_root()
    tree.nodes[0].count = 1
    assert plain(weigh_moves)(tree) == 1.0
    assert tree.weights[0] == 1.0


@pytest.mark.parametrize(("proven", "value"), [(WON, 1.0), (LOST, -1.0), (DRAWN, 0.0)])
def test_a_proven_root_is_worth_what_is_proven(proven: int, value: float) -> None:
    tree = make_root(proven, {0: 3}, q={0: 0.4})
    tree.nodes[0].value = 0.9
    assert plain(root_value)(tree) == value


def test_the_root_is_worth_the_mean_of_what_is_not_refuted() -> None:
    tree = make_root(tried={0: 3, 1: 4, 2: 1}, q={0: 0.5, 1: NEVER, 2: -1.0})
    tree.nodes[0].value = 0.25
    assert plain(root_value)(tree) == pytest.approx((0.25 + 3 * 0.5 - 1.0) / 5)


def pick_often(
    trees: Trees,
    weights: NDArray[np.float64],
    temperature: float,
    dice: Dice,
    picked: NDArray[np.int64],
) -> None:
    """Template: draw many moves."""
    tree = tree_of(trees, 0)
    for k in range(len(weights)):
        tree.weights[k] = weights[k]
    for i in range(len(picked)):
        picked[i] = pick_move(tree, temperature, dice)


def frequencies(weights: list[float], temperature: float, draws: int = 40_000) -> Any:
    trees = make_trees(1, 4, 40, GAME)
    plain(plant)(tree_of(trees, 0), GAME.new_state())
    picked = np.zeros(draws, dtype=np.int64)
    dice = seed_dice(1, 1)[0]
    GAME.kernel(pick_often)(trees, np.array(weights), temperature, dice, picked)
    return np.bincount(picked, minlength=9) / draws


WEIGHTS = [0.0, 1.0, 2.0, 30.0, 4.0, 0.0, 25.0, 5.0, 33.0]


@pytest.mark.parametrize("temperature", [1.0, 0.5, 2.0, 0.2])
def test_temperature_shapes_the_draw(temperature: float) -> None:
    expected = np.array(WEIGHTS) ** (1 / temperature)
    expected /= expected.sum()
    found = frequencies(WEIGHTS, temperature)
    assert np.allclose(found, expected, atol=0.011)  # more than four standard errors
    assert (found[expected == 0] == 0).all()


@pytest.mark.parametrize("temperature", [0.0, 1e-6])
def test_no_temperature_takes_the_heaviest(temperature: float) -> None:
    assert frequencies(WEIGHTS, temperature, 100)[8] == 1.0


def test_the_first_of_equals_is_taken() -> None:
    assert frequencies([1.0, 5.0, 5.0, 0, 0, 0, 0, 0, 0], 0.0, 10)[1] == 1.0


def test_the_temperature_schedule_is_straight_between_its_points() -> None:
    table = temperature_table(((10, 0.5), (0, 1.0), (20, 0.1)), 30)
    assert table.shape == (30,)
    assert table[[0, 5, 10, 15, 20, 29]] == pytest.approx([1.0, 0.75, 0.5, 0.3, 0.1, 0.1])
    assert temperature_table(((3, 0.7),), 5).tolist() == [0.7] * 5


def test_a_game_of_another_shape_has_its_own_table() -> None:
    game: Game = load_game("connect4")
    assert len(temperature_table(((0, 1.0),), game.longest)) == 42
