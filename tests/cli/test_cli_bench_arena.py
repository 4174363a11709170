"""The arena's own cost: that it is measured and adds up, not how large it is."""

import pytest

from randori.cli.bench_arena import overhead


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
