"""Ratings: by hand, against a plain optimiser, and for players whose strength is known."""

import math
from collections.abc import Callable, Sequence
from itertools import permutations

import numpy as np
import pytest

from randori.arena.ratings import POINTS, Ratings, Result, rate, sequential_elo
from randori.errors import UserError


def both_ways(a: str, b: str, wins: int, draws: int, losses: int) -> list[Result]:
    """Return results of a against b, the same with either colour."""
    forth = [1.0] * wins + [0.5] * draws + [0.0] * losses
    return [Result(a, b, s) for s in forth] + [Result(b, a, 1 - s) for s in forth]


def value(ratings: Ratings, agent: str) -> float:
    return ratings.ratings[ratings.agents.index(agent)].value


def natural(ratings: Ratings, points: float) -> float:
    """Return what the model calls a difference in points."""
    return points / POINTS / (1 - ratings.draws.value)


def test_elo_by_hand() -> None:
    """Paper A's start and K with the right sign: a winner gains."""
    assert sequential_elo([Result("a", "b", 1.0)]) == {"a": 1212.0, "b": 1188.0}
    results = [Result("a", "b", 1.0), Result("b", "a", 0.5), Result("c", "a", 1.0)]
    expected_b = 1 / (1 + 10 ** ((1212 - 1188) / 400))
    b = 1188 + 24 * (0.5 - expected_b)
    a = 1212 - 24 * (0.5 - expected_b)
    change = 24 * (1 - 1 / (1 + 10 ** ((a - 1200) / 400)))
    found = sequential_elo(results)
    assert found == pytest.approx({"a": a - change, "b": b, "c": 1200 + change})
    assert sum(found.values()) == pytest.approx(3600)
    assert sequential_elo(reversed(results)) != pytest.approx(found)
    assert sequential_elo([Result("a", "a", 1.0)]) == {"a": 1200.0}


@pytest.mark.parametrize(("wins", "losses"), [(3, 1), (10, 7), (1, 4)])
def test_two_players_by_hand(wins: int, losses: int) -> None:
    """Without prior, the natural difference is ln(wins / losses), however many draws there are."""
    games = both_ways("a", "b", wins, 0, losses) + both_ways("a", "b", 0, 1, 0)
    found = rate(games, prior=0)
    share = (wins + 0.5) / (wins + losses + 1)
    # With a draw Davidson's maximum fits the mean score: (e^(x/2) + ν/2) / (… + ν) = share.
    gap, nu = value(found, "a") - value(found, "b"), davidson_nu(found)
    x = natural(found, gap)
    total = math.exp(x / 2) + math.exp(-x / 2) + nu
    assert (math.exp(x / 2) + nu / 2) / total == pytest.approx(share)
    assert nu / total == pytest.approx(1 / (wins + losses + 1))
    assert math.exp(x) == pytest.approx(wins / losses)
    assert found.first_move.value == pytest.approx(0, abs=1e-6)
    assert value(found, "a") == pytest.approx(-value(found, "b"))


def davidson_nu(ratings: Ratings) -> float:
    """Share d of draws between equals is ν / (2 + ν)."""
    share = ratings.draws.value
    return 2 * share / (1 - share)


def test_the_prior_counts_as_games() -> None:
    """Two agents bring a virtual game each: half a win and half a loss, twice."""
    found = rate(both_ways("a", "b", 10, 0, 0))
    x = natural(found, value(found, "a") - value(found, "b"))
    total = math.exp(x / 2) + math.exp(-x / 2) + davidson_nu(found)
    expected = 20 * (math.exp(x / 2) - math.exp(-x / 2)) / total
    virtual = 2 * (2 / (1 + math.exp(-x)) - 1)
    assert expected + virtual == pytest.approx(20), "wins − losses are as they were played"
    assert 400 * math.log10(21) < POINTS * x < 400 * math.log10(21) + 40


def test_the_standard_error_by_hand() -> None:
    """Without draws the information about x is n p q; the mean is fixed, so each has half of x."""
    found = rate(both_ways("a", "b", 300, 0, 100))
    half = (found.ratings[0].high - found.ratings[0].low) / 2
    by_hand = 1.959964 * POINTS / math.sqrt(800 * 0.75 * 0.25) / 2
    assert half == pytest.approx(by_hand, rel=0.01)
    anchored = rate(both_ways("a", "b", 300, 0, 100), anchors={"b": 850})
    assert anchored.ratings[0].high - anchored.ratings[0].low == pytest.approx(4 * half, rel=0.01)
    chance = 0.5 * math.erfc(-(400 * math.log10(3)) / (2 * half / 1.959964) / math.sqrt(2))
    assert found.superiority[0, 1] == pytest.approx(chance, rel=1e-3)


def climb(score: Callable[[Sequence[float]], float], size: int) -> list[float]:
    """Find a maximum the slow way: one coordinate after another, with shrinking steps."""
    best, step = [0.0] * size, 1.0
    here = score(best)
    while step > 1e-7:
        moved = False
        for i in range(size):
            for sign in (1, -1):
                trial = [*best[:i], best[i] + sign * step, *best[i + 1 :]]
                if (there := score(trial)) > here:
                    best, here, moved = trial, there, True
        step = step if moved else step / 2
    return best


def log_posterior(
    games: Sequence[Result], names: Sequence[str], prior: float
) -> Callable[[Sequence[float]], float]:
    """Write the model down again, game by game."""
    counts = {key: games.count(key) for key in set(games)}
    met = {pair: sum({g.first, g.second} == set(pair) for g in games)
           for pair in permutations(names, 2)}  # fmt: skip
    total = {name: sum(met[name, other] for other in names if other != name) for name in names}

    def score(theta: Sequence[float]) -> float:
        rating = dict(zip(names, theta, strict=False))
        h, d = theta[-2:]
        found = 0.0
        for game, count in counts.items():
            x = rating[game.first] - rating[game.second] + h
            parts = {1.0: math.exp(x / 2), 0.5: math.exp(d), 0.0: math.exp(-x / 2)}
            found += count * math.log(parts[game.score] / sum(parts.values()))
        for (a, b), number in met.items():
            chance = 1 / (1 + math.exp(rating[b] - rating[a]))
            virtual = prior * number / total[a]
            found += virtual * (math.log(chance) + math.log(1 - chance)) / 2
        chance = 1 / (1 + math.exp(-h))
        found += (math.log(chance) + math.log(1 - chance)) / 2
        equal = math.exp(d) / (2 + math.exp(d))
        found += math.log(equal) / 4 + math.log(1 - equal) * 3 / 4
        return found - sum(rating.values()) ** 2  # any constant may be added to all ratings

    return score


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("prior", [1.0, 3.0])
def test_three_players_against_a_plain_optimiser(seed: int, prior: float) -> None:
    names, rng = ("a", "b", "c"), np.random.default_rng(seed)
    games = [
        Result(a, b, float(rng.choice([0, 0.5, 1])))
        for a, b in permutations(names, 2)
        for _ in range(rng.integers(2, 9))
    ]
    slow = climb(log_posterior(games, names, prior), 5)
    found = rate(games, prior=prior)
    points = POINTS * 2 / (2 + math.exp(slow[-1]))
    for name, one in zip(names, slow, strict=False):
        assert value(found, name) == pytest.approx(points * one, abs=0.01)
    assert found.first_move.value == pytest.approx(points * slow[-2], abs=0.01)
    assert davidson_nu(found) == pytest.approx(math.exp(slow[-1]), abs=1e-4)


def simulate(
    true: Sequence[float], games: int, rng: np.random.Generator, h: float = 0, nu: float = 0.6
) -> list[Result]:
    """Let players of known strength meet, all pairs in both orders; results are Davidson's."""
    found: list[Result] = []
    for i, j in permutations(range(len(true)), 2):
        x = (true[i] - true[j] + h) / POINTS * (2 + nu) / 2
        parts = np.array([math.exp(x / 2), nu, math.exp(-x / 2)])
        scores = rng.choice([1, 0.5, 0], p=parts / parts.sum(), size=games)
        found += [Result(f"p{i}", f"p{j}", float(score)) for score in scores]
    return found


def test_intervals_cover_as_often_as_they_say() -> None:
    """60 tournaments of 8 players: 95 % of 480 intervals, and of those of h and of the draws."""
    rng = np.random.default_rng(5)
    inside, sides, draws = 0, 0, 0
    for _ in range(60):
        true = rng.normal(0, 150, 8)
        true -= true.mean()
        found = rate(simulate(true.tolist(), 20, rng, h=35.0))
        for i, one in enumerate(true):
            estimate = found.ratings[found.agents.index(f"p{i}")]
            inside += estimate.low < one < estimate.high
        sides += found.first_move.low < 35 < found.first_move.high
        draws += found.draws.low < 0.6 / 2.6 < found.draws.high
    assert 0.92 < inside / 480 < 0.98
    assert sides >= 52
    assert draws >= 52


def elo_score(difference: float) -> float:
    return 1 / (1 + 10 ** (-difference / 400))


@pytest.mark.parametrize("draws", [0.0, 0.4, 0.75])
def test_a_difference_means_its_usual_score_whatever_the_draws(draws: float) -> None:
    """Players who win by Elo's formula and draw as often as said: their Elo is found again."""
    true, rng = [45.0, 15.0, 0.0, -60.0], np.random.default_rng(11)
    games: list[Result] = []
    made = {}
    for i, j in permutations(range(4), 2):
        share = elo_score(true[i] - true[j])
        drawn = draws * 4 * share * (1 - share)  # fewer between unequals
        chances = [share - drawn / 2, drawn, 1 - share - drawn / 2]
        wins, halves, losses = rng.multinomial(20_000, chances).tolist()
        made[i, j] = (wins + halves / 2) / 20_000
        for score, count in ((1.0, wins), (0.5, halves), (0.0, losses)):
            games += [Result(f"p{i}", f"p{j}", score)] * count
    found = rate(games)
    assert found.draws.value == pytest.approx(draws, abs=0.03)
    for i, j in permutations(range(4), 2):
        gap = value(found, f"p{i}") - value(found, f"p{j}")
        assert gap == pytest.approx(true[i] - true[j], rel=0.08, abs=4)
        assert elo_score(gap) == pytest.approx(made[i, j], abs=0.01)
    fixed = rate(games, anchors={"p0": 1045, "p3": 940})
    assert value(fixed, "p1") == pytest.approx(1015, abs=4)
    assert (value(fixed, "p0"), value(fixed, "p3")) == pytest.approx((1045, 940))


def test_first_move_advantage_is_found() -> None:
    found = rate(simulate([100.0, 0.0, -100.0], 3000, np.random.default_rng(2), h=80.0))
    assert found.first_move.value == pytest.approx(80, abs=12)
    assert found.first_move.low < 80 < found.first_move.high
    assert value(found, "p0") - value(found, "p2") == pytest.approx(200, abs=15)
    assert found.draws.value == pytest.approx(0.6 / 2.6, abs=0.02)


def test_the_order_of_play_does_not_matter() -> None:
    games = simulate([50.0, 0.0, -20.0], 10, np.random.default_rng(3))
    shuffled = [games[i] for i in np.random.default_rng(4).permutation(len(games))]
    assert rate(games).rows() == rate(shuffled).rows()
    assert (rate(games).superiority == rate(shuffled).superiority).all()


def test_anchors_stay_where_they_are() -> None:
    """Paper B fixes ALP at 850: differences are as before, intervals are those to the anchor."""
    games = simulate([120.0, 0.0, -60.0], 40, np.random.default_rng(6))
    free, fixed = rate(games), rate(games, anchors={"p1": 850})
    shift = 850 - value(free, "p1")
    for name in free.agents:
        assert value(fixed, name) == pytest.approx(value(free, name) + shift, abs=1e-4)
    anchor = fixed.ratings[fixed.agents.index("p1")]
    assert (anchor.low, anchor.high) == (850, 850)
    assert fixed.fixed == "p1 is fixed at 850"
    assert free.fixed == "the mean is 0"
    assert sum(one.value for one in free.ratings) == pytest.approx(0, abs=1e-6)
    assert fixed.superiority == pytest.approx(free.superiority, abs=1e-6)
    both = rate(games, anchors={"p0": 1000, "p1": 850})
    assert (value(both, "p0"), value(both, "p1")) == pytest.approx((1000, 850))
    assert both.superiority[0, 1] == 1.0
    with pytest.raises(UserError, match="--anchor 'p9': no game of that agent; known: p0, p1"):
        rate(games, anchors={"p9": 0})


def test_clean_sweeps_settle() -> None:
    for games in (1, 30, 5000):
        found = rate([*both_ways("a", "b", games, 0, 0), *both_ways("b", "c", games, 0, 0)])
        assert found.agents == ("a", "b", "c")
        assert all(math.isfinite(one.low) and math.isfinite(one.high) for one in found.ratings)
    assert value(found, "a") - value(found, "b") > 1000
    only_draws = rate(both_ways("a", "b", 0, 200, 0))
    assert value(only_draws, "a") == pytest.approx(0, abs=1e-6)
    assert only_draws.draws.value > 0.99
    with pytest.raises(UserError, match="prior above 0"):
        rate(both_ways("a", "b", 30, 0, 0), prior=0)


def test_groups_that_never_met() -> None:
    games = both_ways("a", "b", 5, 1, 2) + both_ways("c", "d", 2, 1, 5)
    found = rate(games)
    assert found.groups == (("a", "b"), ("c", "d"))
    assert found.fixed == "the mean of each group is 0"
    assert value(found, "a") == pytest.approx(value(found, "d"))
    a, b, c = (found.agents.index(name) for name in "abc")
    assert math.isnan(found.superiority[a, c])
    assert found.superiority[a, b] > 0.5
    fixed = rate(games, anchors={"b": 100})
    assert fixed.fixed == "b is fixed at 100, the mean of each other group is 0"
    assert value(fixed, "c") == pytest.approx(value(found, "c"))


def test_superiority_is_a_chance() -> None:
    found = rate(simulate([60.0, 20.0, -80.0], 15, np.random.default_rng(9)))
    assert found.superiority + found.superiority.T == pytest.approx(np.ones((3, 3)))
    assert found.superiority.diagonal() == pytest.approx(0.5)
    assert found.superiority[0, 2] > found.superiority[0, 1] >= 0.5


def test_games_and_scores_are_counted() -> None:
    rows = {row["agent"]: row for row in rate(both_ways("a", "b", 2, 1, 1)).rows()}
    assert (rows["a"]["games"], rows["a"]["score"]) == (8, 0.625)
    assert (rows["b"]["games"], rows["b"]["score"]) == (8, 0.375)
    assert set(rows["a"]) == {
        "agent", "rating", "low", "high", "games", "counted_games", "score",
    }  # fmt: skip


def test_games_that_repeat_others_are_counted_once() -> None:
    games = [Result("a", "b", 1.0, 3)] * 3 + both_ways("b", "c", 1, 0, 1)
    rows = {row["agent"]: (row["games"], row["counted_games"]) for row in rate(games).rows()}
    assert rows == {"a": (3, 1), "b": (7, 5), "c": (4, 4)}


@pytest.mark.parametrize("anchor", [850.0, -3000.0])
@pytest.mark.parametrize("draws", [0, 100, 1000])
def test_an_anchor_moves_all_ratings_alike(anchor: float, draws: int) -> None:
    """However common draws are: then the anchor is hundreds of natural units away from 0."""
    games = both_ways("a", "b", 5, draws, 3) + both_ways("b", "c", 4, draws, 3)
    free, fixed = rate(games), rate(games, anchors={"b": anchor})
    for name in "abc":
        gap = value(free, name) - value(free, "b")
        assert value(fixed, name) == pytest.approx(anchor + gap, abs=1e-3)
    assert fixed.draws.value == pytest.approx(free.draws.value)


def test_anchors_that_the_games_deny() -> None:
    with pytest.raises(UserError, match="--anchor: the games are too far from these ratings"):
        rate(both_ways("a", "b", 2, 1000, 1), anchors={"a": 3000.0, "b": 0.0})
    games = [Result("a", "b", 1), Result("b", "a", 0), Result("b", "a", 1)]
    with pytest.raises(UserError, match="--anchor: the games are too far from these ratings"):
        rate(games, anchors={"a": 1e5, "b": -1e5})


def test_a_game_played_again_says_nothing_new() -> None:
    once = rate([Result("a", "b", 1.0), Result("b", "a", 0.5)])
    often = rate([Result("a", "b", 1.0, 4)] * 4 + [Result("b", "a", 0.5, 2)] * 2)
    for one, other in zip(once.ratings, often.ratings, strict=True):
        assert (one.value, one.low, one.high) == pytest.approx((other.value, other.low, other.high))
    assert often.games == (6, 6)
    assert often.scores == pytest.approx((5 / 6, 1 / 6))
