"""Shape sets: their names, their order, and how many weights they have."""

import pytest

from randori.errors import UserError
from randori.games.registry import load_game
from randori.shapes.growth import grow
from randori.shapes.sets import SIZES, general_sets, parse_set, parse_sets
from randori.shapes.tables import board_turns, build_tables

PLACEMENTS = {
    "1x1": 25, "2x1": 40, "2x2": 16, "3x2": 24, "3x3": 9, "4x3": 12, "4x4": 4, "5x4": 4, "5x5": 1,
}  # fmt: skip
"""n of the paper's table for 5x5."""
INDEPENDENT = {"1x1": 3, "2x1": 6, "2x2": 21, "3x2": 216, "3x3": 2862}
DEPENDENT = {"1x1": 18, "2x1": 54, "2x2": 189, "3x2": 2268, "3x3": 23274}
"""True numbers of distinct weights on 5x5 when all eight symmetries share."""


def tables(spec, sets, bins=1000):
    game = load_game(spec)
    return build_tables(parse_sets(sets), game.board, board_turns(game), bins)


def test_counts_are_the_papers() -> None:
    facts = {str(fact.set): fact for fact in tables("go:size=5", "..5x5@").facts}
    assert len(facts) == 18
    for size in SIZES:
        for name, counts in ((size, INDEPENDENT), (f"{size}@", DEPENDENT)):
            assert facts[name].active == PLACEMENTS[size]
            assert facts[name].weights == counts.get(size, 1000)


def test_weights_of_a_set_stand_together() -> None:
    found = tables("go:size=5", "..3x3@ ..2x2+@", bins=77)
    first = 1
    for fact in found.facts:
        assert fact.first == first
        first += fact.weights
    assert first == found.num_weights
    exact = found.nets.exact
    for lane in range(2):
        for index, fact in enumerate(found.facts):
            for p in (exact.sets[:, lane] == index).nonzero()[0]:
                ids = exact.ids[exact.base[p] :][: 3**fact.set.cells, lane]
                assert ids.min() >= fact.first
                assert ids.max() < fact.first + fact.weights


def test_general_sets_are_parts_that_say_no_more() -> None:
    assert [str(s) for s in general_sets(parse_set("2x2@"))] == [
        "1x1", "1x1@", "2x1", "2x1@", "2x2", "2x2@",
    ]  # fmt: skip
    assert [str(s) for s in general_sets(parse_set("3x2"))] == ["1x1", "2x1", "2x2", "3x2"]
    assert parse_set("2x2").is_as_general_as(parse_set("3x2@"))
    assert not parse_set("2x2@").is_as_general_as(parse_set("3x3"))
    assert not parse_set("4x3").is_as_general_as(parse_set("5x2"))
    assert str(parse_set("2x3+@")) == "3x2+@"


@pytest.mark.parametrize("text", ["", "2", "0x2", "6x1", "2x2@+", "2x2 x", "..", "2x2,3x3"])
def test_bad_sets_are_refused_in_one_line(text: str) -> None:
    with pytest.raises(UserError, match="shape"):
        parse_sets(text)


def test_boards_without_such_shapes_are_refused() -> None:
    with pytest.raises(UserError, match="does not fit"):
        tables("go:size=3", "4x4")
    with pytest.raises(UserError, match="one plane"):
        board_turns(load_game("shobu"))


def test_turns_of_a_game_decide_what_is_shared() -> None:
    """Connect 4 has gravity: only mirror images are alike, and what stands is not what lies."""
    facts = {str(fact.set): fact for fact in tables("connect4", "1x1@ 2x1 2x2").facts}
    assert facts["1x1@"].weights == 3 * 4 * 6
    assert facts["2x1"].weights == 9 + 6  # upright pairs, and lying ones up to a mirror
    assert facts["2x2"].weights == (81 + 9) // 2


def test_a_grown_board_keeps_its_corners() -> None:
    import numpy as np

    small, large = tables("go:size=5", "..3x3@ 2x2+@"), tables("go:size=7", "..3x3@ 2x2+@")
    theta = np.random.default_rng(0).normal(size=(2, small.num_weights)).astype(np.float32)
    grown = grow(theta, small, large)
    homes = small.homes.keys() & large.homes.keys()
    assert len(homes) == len(small.homes) < len(large.homes)
    for home in homes:
        size = 3 ** (home.height * home.width)
        old = small.nets.exact.ids[small.homes[home] :][:size]
        new = large.nets.exact.ids[large.homes[home] :][:size]
        assert np.allclose(grown[:, new], theta[:, old], atol=1e-6)
    for home in large.homes.keys() - homes:
        size = 3 ** (home.height * home.width)
        fresh = large.nets.exact.ids[large.homes[home] :][:size, 1]
        assert not grown[:, fresh].any()
    old, new = small.facts[-1], large.facts[-1]
    assert (grown[:, new.first :] == theta[:, old.first :]).all()
