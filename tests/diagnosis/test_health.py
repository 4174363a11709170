"""The arithmetic, against plain loops."""

import math

import numpy as np
import pytest

from randori.runs.health import (
    calibration,
    changed,
    distinct_share,
    entropies,
    explained,
    insight,
    summary,
)


def test_entropy_is_a_share_of_what_is_possible():
    visits = np.array([[5, 5, 0, 0], [10, 0, 0, 0], [1, 1, 1, 1], [3, 0, 0, 0], [1, 2, 3, 0]])
    legal = np.array([2, 4, 4, 1, 3])
    expected = []
    for row, count in zip(visits.tolist(), legal.tolist(), strict=True):
        total = sum(row)
        nats = -sum(n / total * math.log(n / total) for n in row if n)
        if count > 1:
            expected.append(nats / math.log(count))
    assert entropies(visits, legal) == pytest.approx(expected)
    assert entropies(visits, legal)[:3] == pytest.approx([1, 0, 1])


def test_calibration_against_a_plain_loop():
    rng = np.random.default_rng(3)
    values = rng.uniform(-1, 1, 500)
    results = rng.choice([-1.0, 0.0, 1.0], 500)
    found = calibration(values, results)
    error = 0.0
    for low in range(10):
        inside = [i for i, v in enumerate(values) if low <= (v + 1) / 2 * 10 < low + 1]
        promised = sum(values[i] for i in inside) / len(inside)
        came = sum(results[i] for i in inside) / len(inside)
        assert (found.promised[low], found.came[low]) == pytest.approx((promised, came))
        error += len(inside) / 500 * abs(promised - came)
    assert found.error == pytest.approx(error)


@pytest.mark.parametrize("rows", [200, 5000])
def test_chance_explains_the_error_of_right_values(rows):
    """A perfect forecaster has an error above 0, and `noise` says how much."""
    rng = np.random.default_rng(0)
    errors, noises = [], []
    for _ in range(50):
        values = rng.uniform(-1, 1, rows)
        results = np.where(rng.random(rows) < (1 + values) / 2, 1, -1)
        found = calibration(values, results)
        errors.append(found.error)
        noises.append(found.noise)
    assert np.mean(errors) == pytest.approx(np.mean(noises), rel=0.1)


def test_calibration_of_extreme_values():
    found = calibration(np.array([-1.0, 1.0, 1.0]), np.array([-1, 1, 1]))
    assert found.error == 0
    assert found.counts.tolist() == [1, *[0] * 8, 2]


def test_explained():
    results = np.array([1, -1, 1, -1])
    assert explained(results, results) == 1
    assert explained(np.zeros(4), results) == 0
    assert explained(-results, results) == -3
    assert math.isnan(explained(np.zeros(4), np.ones(4)))


def test_changes_of_mind():
    visits = np.array([[8, 2, 0], [4, 4, 2], [1, 9, 0]])
    policy = np.array([[0.2, 0.8, 0], [0.1, 0.6, 0.3], [0.4, 0.6, 0]])
    assert changed(visits, policy) == pytest.approx(1 / 3)  # the tie in row 2 is no change
    assert insight(visits, visits, np.array([3, 3, 3])) == pytest.approx(1)
    uniform = np.array([[8, 2, 0], [0, 2, 8]] * 50)
    random = np.eye(3)[np.arange(100) // 2 % 3]
    assert insight(uniform, random, np.full(100, 3)) == pytest.approx(0, abs=0.05)


def test_distinct_share():
    assert distinct_share(np.array([[1, 2], [1, 2], [1, 3], [2, 2]], np.uint64)) == 0.75


def test_summary_says_what_its_arrays_allow():
    visits = np.array([[3, 1, 0], [0, 2, 2]])
    found = summary(
        visits=visits, legal=np.array([2, 3]), policy=visits / 4, values=np.array([0.5, -0.5]),
        results=np.array([1, -1]), states=np.array([[1], [2]], np.uint64),
        outcomes=np.array([1, 3, 2, 1]), lengths=np.array([7, 9]),
    )  # fmt: skip
    assert found["first_player_score"] == 0.625
    assert found["draw_share"] == 0.25
    assert found["game_length"] == 8
    assert found["search_changed"] == 0
    assert found["prior_insight"] == pytest.approx(1)
    assert found["visits_entropy"] == found["prior_entropy"]
    assert found["distinct_positions"] == 1
    assert found["value_explained"] == 0.75
    assert found["value_error"] == 0.5
    assert all(isinstance(value, float) for value in found.values())
    assert summary() == {}
    assert summary(visits=visits[:0], legal=np.zeros(0), values=np.zeros(0)) == {}
    assert summary(outcomes=np.array([3])) == {"first_player_score": 0.5, "draw_share": 1.0}
