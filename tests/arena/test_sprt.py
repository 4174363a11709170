"""The sequential test: likelihoods by hand, error rates by simulation, and a match that stops."""

import math

import numpy as np
import pytest

from randori.agents.registry import load_agent
from randori.arena.sprt import Sprt, count_pairs, expected_score, parse_sprt, play_sprt
from randori.errors import UserError
from randori.games.registry import load_game


def test_bounds_are_wald_s() -> None:
    test = Sprt(0, 10, 0.05, 0.1)
    assert test.upper == pytest.approx(math.log(0.9 / 0.05))
    assert test.lower == pytest.approx(math.log(0.1 / 0.95))


def test_two_outcomes_by_hand() -> None:
    """With scores 0 and 1 alone a mean is a chance, and the ratio is the binomial one."""
    test = Sprt(-20, 60)
    wins, losses = 130, 90
    s0, s1 = expected_score(-20), expected_score(60)
    by_hand = wins * math.log(s1 / s0) + losses * math.log((1 - s1) / (1 - s0))
    assert test.llr([losses, 0, 0, 0, wins]) == pytest.approx(by_hand, abs=0.02)


def test_three_outcomes_by_hand() -> None:
    """Means s with shares (a, b, c): a grid over all distributions with that mean."""
    counts = (20.0, 0.0, 30.0, 0.0, 50.0)
    best = []
    for mean in (expected_score(0), expected_score(100)):
        found = -math.inf
        for draw in np.linspace(1e-4, 2 * min(mean, 1 - mean) - 1e-4, 20001):
            win = mean - draw / 2
            parts = (1 - win - draw, draw, win)
            if min(parts) > 0:
                chance = sum(n * math.log(p) for n, p in zip(counts[::2], parts, strict=True))
                found = max(found, chance)
        best.append(found)
    assert Sprt(0, 100).llr(counts) == pytest.approx(best[1] - best[0], abs=0.02)


def test_signs_and_symmetry() -> None:
    test = Sprt(0, 40)
    assert test.llr([0] * 5) == 0.0
    assert test.llr([0, 2, 10, 20, 5]) > 0 > test.llr([5, 20, 10, 2, 0])
    mirrored = Sprt(-40, 0)
    assert test.llr([3, 5, 9, 4, 2]) == pytest.approx(-mirrored.llr([2, 4, 9, 5, 3]))
    assert math.isfinite(test.llr([0, 0, 0, 0, 500]))
    assert math.isfinite(test.llr([500, 0, 0, 0, 0]))


def test_pairs_are_counted_by_their_sum() -> None:
    scores = [1, 1, 1, 0.5, 0.5, 0.5, 1, 0, 0, 0.5, 0, 0, 1]
    assert count_pairs(scores) == [1, 1, 2, 1, 1]
    assert count_pairs([]) == count_pairs([1.0]) == [0] * 5


@pytest.mark.parametrize("draws", [0.0, 0.4])
def test_error_rates_are_within_bounds(draws: float) -> None:
    """400 tests under either hypothesis; 0.05 ± 3 standard errors is at most 0.083."""
    test, rng, runs = Sprt(0, 80), np.random.default_rng(1), 400
    wrong = {}
    for elo, mistake in ((0, "elo1"), (80, "elo0")):
        win = expected_score(elo) - draws / 2
        wrong[elo] = 0
        for _ in range(runs):
            counts, verdict = np.zeros(5), None
            while verdict is None:
                games = rng.choice([0, 0.5, 1], p=[1 - win - draws, draws, win], size=16)
                counts += count_pairs(games.tolist())
                verdict = test.verdict(test.llr(counts.tolist()))
            wrong[elo] += verdict == mistake
    assert max(wrong.values()) / runs < 0.083


def test_pairs_that_cancel_out_are_seen_as_such() -> None:
    """Every opening is won by whoever moves first: no game differs in strength, no variance."""
    pairs = count_pairs([1, 0] * 40 + [1, 1] * 4)
    singles = [20, 0, 0, 0, 24]
    assert Sprt(0, 40).llr(pairs) > Sprt(0, 40).llr(singles)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0", "expected elo0,elo1"),
        ("0,x", "expected elo0,elo1"),
        ("0,30,0.05", "expected elo0,elo1"),
        ("0,inf", "expected elo0,elo1"),
        ("30,0", "elo0 must be below elo1"),
        ("0,30,0.6,0.05", "between 0 and 0.5"),
    ],
)
def test_bad_bounds(text: str, words: str) -> None:
    with pytest.raises(UserError, match=words):
        parse_sprt(text)
    assert parse_sprt("0, 30") == Sprt(0, 30)
    assert parse_sprt("-5,5,0.1,0.2") == Sprt(-5, 5, 0.1, 0.2)


def test_a_clear_match_stops_early() -> None:
    game = load_game("tictactoe")
    strong, weak = load_agent("uct:simulations=50", game), load_agent("random", game)
    heard: list[int] = []
    result = play_sprt(
        game, strong, weak, 4000, Sprt(0, 100), seed=1,
        on_end=lambda ended: heard.extend(i for i, _ in ended),
    )  # fmt: skip
    assert len(result.games) < 200
    assert len(result.games) % 2 == 0
    assert sorted(heard) == list(range(len(result.games)))
    back = play_sprt(game, weak, strong, 4000, Sprt(0, 100), seed=1)
    assert len(back.games) < 200
    assert Sprt(0, 100).verdict(Sprt(0, 100).llr(count_pairs([g.score for g in back.games])))
    even = play_sprt(game, weak, weak, 40, Sprt(0, 1))
    assert len(even.games) == 40
