"""The arena's own cost: that it is measured and adds up, not how large it is."""

import pytest

from randori.cli.bench_arena import find_size, overhead


def test_what_the_arena_costs(randori, monkeypatch):
    monkeypatch.setattr("randori.cli.bench_arena.GAMES", 6)
    figures = randori("bench", "arena", "tictactoe", "--simulations", "5", "--json").json
    assert figures["match"] == "random against uct:simulations=5, 6 games"
    assert 0 < figures["agents_seconds"] < figures["seconds"]
    by_hand = 100 * (figures["seconds"] / figures["agents_seconds"] - 1)
    assert figures["overhead_percent"] == pytest.approx(by_hand)
    assert figures["microseconds_per_stored_game"] > 0
    shown = randori("bench", "arena", "tictactoe", "--simulations", "5").out
    assert "overhead with store percent" in shown
    assert overhead((1.05, 1.0)) == pytest.approx(0.05)


@pytest.mark.parametrize(
    ("each", "games"), [(0.001, 1000), (0.01, 332), (0.1, 32), (10.0, 20), (0.0033, 1000)]
)
def test_a_match_has_as_many_games_as_there_is_time_for(monkeypatch, each, games):
    monkeypatch.setattr(
        "randori.cli.bench_arena.measure", lambda game, agents, count, end: (each * count, 1.0)
    )
    found, seconds = find_size(None, (), 20.0)
    assert found == games
    assert seconds == pytest.approx(6 * each * games)


def test_what_is_measured_is_said_first(randori, monkeypatch):
    monkeypatch.setattr("randori.cli.bench_arena.GAMES", 4)
    said = randori("bench", "arena", "tictactoe", "--simulations", "5").err
    assert "6 matches of random against uct:simulations=5, 4 games, half of them into" in said
    assert "about 0:0" in said
