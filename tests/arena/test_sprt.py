"""The sequential test: likelihoods by hand, error rates by simulation, and a match that stops."""

import math

import numpy as np
import pytest

from randori.agents.registry import load_agent
from randori.arena.match import PlayedGame
from randori.arena.openings import Book
from randori.arena.sprt import (
    Sprt,
    expected_score,
    games_tested,
    games_to_play,
    looks,
    pairs_of,
    parse_sprt,
    play_sprt,
    weigh_pairs,
)
from randori.errors import UserError
from randori.games.kernels import DRAW, FIRST, SECOND
from randori.games.registry import load_game


def played(number: int, score: float, opening: int = 0, moves: int | None = None) -> PlayedGame:
    """Return game `number` of a match, with moves of its own unless they are given."""
    a_is_first = number % 2 == 0
    winner = FIRST if (score == 1) == a_is_first else SECOND
    outcome = DRAW if score == 0.5 else winner
    return PlayedGame(a_is_first, [opening, number if moves is None else moves], outcome, opening=1)


def count_pairs(scores: list[float]) -> list[int]:
    """Count the scores of games that are all different."""
    return weigh_pairs([played(i, score) for i, score in enumerate(scores)])


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


def test_what_is_repeated_counts_once() -> None:
    """From each of two openings agents without dice play the same pair again and again."""
    games = [played(i, 1.0, opening=i // 2 % 2, moves=7) for i in range(40)]
    assert weigh_pairs(games) == [0, 0, 0, 0, 2]
    dice = [*games, played(40, 0.0, opening=0), played(41, 0.5, opening=0)]
    assert weigh_pairs(dice) == [0, 1, 0, 0, 11], "one opening shows dice, so its games count"


def test_pairs_are_found_where_games_are_missing() -> None:
    games = [played(i, 1.0, opening=i // 2) for i in range(12)]
    some = [game for i, game in enumerate(games) if i not in (0, 5, 6, 11)]
    assert pairs_of(some) == [(games[2], games[3]), (games[8], games[9])]
    assert len(pairs_of(games)) == 6


def test_what_to_play_next_depends_on_the_games_alone() -> None:
    test, every = Sprt(0, 30), list(looks(1000))
    assert every[:4] == [32, 64, 96, 128]
    assert every[-1] == 1000
    assert all(stop % 2 == 0 for stop in every)
    even = {i: played(i, float(i % 2), opening=i) for i in range(1000)}
    over: dict[int, PlayedGame] = {}
    assert games_to_play(test, over, 1000) == list(range(32))
    over = {i: even[i] for i in range(40) if i not in (3, 8)}
    assert games_to_play(test, over, 1000) == [3, 8], "a look is completed before the next"
    over = {i: even[i] for i in range(40)}
    assert games_to_play(test, over, 1000) == list(range(40, 64))
    won = {i: played(i, 1.0, opening=i) for i in range(64)}
    assert games_to_play(test, won, 1000) == []
    same = {i: played(i, 1.0, moves=1) for i in range(64)}
    assert games_to_play(test, same, 1000) == [], "nothing new has come"
    assert games_to_play(test, {}, 10) == list(range(10))


def test_a_test_ends_where_it_would_have_ended_then() -> None:
    """Begun on a finished tournament, it is not swayed by what was played after its end."""
    test = Sprt(0, 30)
    over = {i: played(i, 1.0 if i < 100 else float(i % 2), opening=i // 2) for i in range(4000)}
    assert games_to_play(test, over, 4000) == []
    counted = games_tested(test, over, 4000)
    assert counted == [over[i] for i in range(len(counted))]
    assert (len(counted) in looks(4000), test.report(counted)["verdict"]) == (True, "elo1")
    assert test.report(list(over.values()))["verdict"] == "elo0"
    del over[5]
    assert len(games_tested(test, over, 4000)) == 3999, "it has not ended"
    assert games_tested(test, {}, 4000) == []


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
    assert Sprt(0, 100).report(back.games)["verdict"] == "elo0"
    even = play_sprt(game, weak, weak, 40, Sprt(0, 1))
    assert len(even.games) == 40


def test_agents_without_dice_prove_nothing() -> None:
    """From the start they play one pair of games; the test says so and does not play on."""
    game = load_game("connect4")
    a, b = load_agent("alphabeta:depth=2", game), load_agent("alphabeta:depth=1", game)
    result = play_sprt(game, a, b, 4000, Sprt(0, 100))
    found = Sprt(0, 100).report(result.games)
    assert len(result.games) == 64
    assert (found["pairs"], found["repeated_pairs"], found["verdict"]) == (1, 31, "undecided")
    opened = play_sprt(game, a, b, 64, Sprt(0, 1), book=Book(4))
    assert Sprt(0, 1).report(opened.games)["pairs"] > 20
