"""Learning: against the paper's equations in plain Python, and what a pair can be relied on for."""

import numpy as np
import pytest

from randori.errors import UserError
from randori.games.registry import load_game
from randori.shapes.pair import Pair, TdConfig
from randori.shapes.sets import parse_sets

GO = "go:size=5,komi=7.5,ko=simple,suicide=no,cap=100"
SETS = "1x1@ 2x1 2x2 2x2@"
WITH_LIBERTIES = f"{SETS} 2x1+"


@pytest.mark.parametrize("cascade", [False, True])
def test_updates_are_those_of_plain_python(reference, cascade: bool) -> None:
    """Random games, replayed in plain Python from the same dice; weights equal to rounding."""
    game = load_game(GO)
    config = TdConfig(alpha=0.7, epsilon=1.0, cascade=cascade)
    pair = Pair(game, parse_sets(WITH_LIBERTIES), config, seed=3)
    dice = pair.dice[:1].copy()
    pair.train(4)
    learnt = reference.learn(game, pair.tables.sets, config, dice, games=4)
    checked = 0
    for agent in range(2):
        value = pair.value(agent)
        for state in reference.some_states(game, 25):
            active = value.active(state)
            for side in range(2):
                board = reference.board_of(game, state, side)
                for index, one in enumerate(pair.tables.sets):
                    ids = active[side][pair.tables.nets.slots == index]
                    for weight, name in zip(ids, reference.shapes(board, one), strict=True):
                        expected = learnt[agent].get((index, name), 0.0)
                        assert value.theta[weight] == pytest.approx(expected, rel=1e-4, abs=1e-7)
                        checked += expected != 0.0
    assert checked > 1000


def test_one_seed_one_result_and_tests_do_not_matter() -> None:
    game = load_game(GO)
    pairs = [Pair(game, parse_sets(SETS), TdConfig(), seed) for seed in (5, 5, 6)]
    for pair in pairs:
        pair.train(20)
    pairs[0].tests(4)
    for pair in pairs:
        pair.train(20)
    assert (pairs[0].thetas == pairs[1].thetas).all()
    assert not (pairs[0].thetas == pairs[2].thetas).all()
    assert pairs[0].thetas.any()
    assert not pairs[0].thetas[:, 0].any()


def test_agents_play_by_the_mean_of_their_last_weights() -> None:
    """The mean is that of a plain loop, however training is cut; learning does not see it."""
    game = load_game(GO)
    pair, plain = (
        Pair(game, parse_sets("1x1@ 2x2"), TdConfig(average=share), 5) for share in (0.5, 0)
    )
    mean = np.zeros(pair.thetas.shape)
    for seen in range(1, 6):
        plain.train(100)
        share = min(1.0, 1 / (0.5 * seen))
        mean = (1 - share) * mean + share * plain.thetas
    pair.train(70)
    assert (pair.value(1).theta == pair.thetas[1]).all(), "nothing to take a mean of yet"
    for stretch in (30, 230, 170):
        pair.train(stretch)
    assert pair.looks == 5
    assert (pair.thetas == plain.thetas).all()
    assert np.allclose(pair.means, mean, atol=1e-6)
    assert not np.allclose(pair.means, pair.thetas, atol=1e-4)
    assert (pair.value(0).theta == pair.means[0]).all()
    assert (plain.value(0).theta == plain.thetas[0]).all()


def test_a_pair_goes_on_with_what_it_took_over() -> None:
    game = load_game(GO)
    pair = Pair(game, parse_sets(SETS), TdConfig(), 1)
    pair.train(30)
    other = Pair(game, parse_sets(SETS), TdConfig(), 2)
    other.start_from(pair)
    assert other.games == 30
    pair.train(10)
    other.train(10)
    assert np.allclose(pair.thetas, other.thetas, atol=1e-5)


def test_shapes_learn_to_beat_random_moves() -> None:
    pair = Pair(load_game(GO), parse_sets(SETS), TdConfig(), 0)
    before = pair.test(0, 200, at_random=True)
    tally = pair.train(1500)
    assert tally.games == 1500
    assert tally.plies > 10 * tally.games
    assert pair.test(0, 200, at_random=True) > max(0.75, before)
    assert 0 <= pair.test(1, 20) <= 1


@pytest.mark.parametrize("wrong", [{"alpha": 0}, {"epsilon": 1.5}, {"bins": 0}, {"average": 2}])
def test_senseless_settings_are_refused(wrong) -> None:
    with pytest.raises(ValueError, match=r"expected|goes|share"):
        TdConfig(**wrong)


def test_a_pair_needs_shapes() -> None:
    with pytest.raises(UserError, match="at least one"):
        Pair(load_game(GO), (), TdConfig(), 0)
