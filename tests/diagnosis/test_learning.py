"""Is a loss judged by its distance from its floor, and are real runs left in peace?"""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from randori.diagnosis.evidence import gather
from randori.diagnosis.learning import losses

RESULTS = Path(__file__).parents[2] / "docs" / "results"
SIZES = {"rows": lambda i: 1000 * i, "steps": lambda i: 400 + 100 * i}


@pytest.fixture
def told(made):
    """Judge made-up metrics under a window."""

    def tell(window=1000, first_window=0, **metrics):
        path = made(**{**SIZES, **metrics})
        file = path / "config.json"
        document = json.loads(file.read_text())
        document["config"] = {"window": window, "first_window": first_window}
        file.write_text(json.dumps(document))
        return losses(gather(path))

    return tell


@pytest.mark.parametrize("iterations", [8, 20])
def test_a_distance_that_nearly_doubles_is_odd_though_the_loss_falls(told, iterations):
    share = {"policy_entropy": lambda i: 1.8 - 0.7 * i / iterations}
    loss = {"policy_loss": lambda i: 2.0 - 0.52 * i / iterations}  # 0.2 above it, in the end 0.38
    finding = told(iterations=iterations, **share, **loss)
    assert finding.verdict == "odd"
    assert "farther above its floor" in finding.sentence
    assert "train.reuse" in finding.advice


@pytest.mark.parametrize("iterations", [8, 20])
def test_a_distance_that_doubles_is_sick_where_the_loss_rises(told, iterations):
    finding = told(iterations=iterations, policy_loss=lambda i: 1.1 + 0.2 * i / iterations)
    assert finding.verdict == "sick"
    assert "above its floor has risen" in finding.sentence


def test_the_first_steps_are_no_best(told):
    loss = {"policy_loss": lambda i: 1.0 if i < 5 else 1.3}
    assert told(**loss, steps=lambda i: 100 * i).verdict == "ok"


@pytest.mark.parametrize(("window", "first_window"), [(2000, 0), (10**6, 2000)])
def test_the_floor_is_that_of_the_window(told, window, first_window):
    """Games side by side are all in the opening, then all in the endgame."""
    waves = {"policy_entropy": lambda i: 1.2 if i % 2 else 0.6, "policy_loss": 1.2}
    finding = told(window, first_window, **waves, steps=lambda i: 300 + 100 * i)
    assert finding.verdict == "ok"
    assert finding.trend[2:] == pytest.approx([0.3] * 18, abs=0.1)


def test_a_floor_is_the_mean_of_rows(told):
    """Sizes, waves and a gap, against the plain sum over rows."""
    sizes, window = [300, 0, 700, 500, 40, 900, 260, 800, 0, 100], 1000
    entropy = [0.5 + 0.1 * (7 * i % 5) for i in range(10)]
    rows = np.repeat(entropy, sizes)
    expected = [
        np.mean([*rows[: sum(sizes[: i + 1])][-window:], *([entropy[i]] if not sizes[i] else [])])
        for i in range(10)
    ]
    finding = told(
        window, iterations=10, policy_loss=2.0, rows=lambda i: sum(sizes[:i]),
        policy_entropy=lambda i: entropy[i - 1],
    )  # fmt: skip
    assert finding.trend == pytest.approx([2.0 - floor for floor in expected])


def test_a_value_loss_of_nothing_is_one(told):
    finding = told(value_loss=lambda i: 0.0 if i == 20 else 0.5)
    assert finding.details["value_loss"] == 0.0
    assert finding.sentence.startswith("value loss 0.000")


def test_no_value_loss_leaves_no_gap(told):
    share = {"policy_entropy": lambda i: 1.8 - 0.7 * i / 20, "value_loss": None}
    finding = told(**share, policy_loss=lambda i: 2.0 - 0.6 * i / 20)
    assert finding.verdict == "ok"
    assert re.match(r"\d+ % above its best, as targets sharpened; learning", finding.sentence)


@pytest.mark.parametrize("file", sorted(RESULTS.glob("*.metrics.jsonl")), ids=lambda f: f.name)
def test_real_runs(told, file):
    """Only those are odd whose policy could not say what the searches found."""
    stored = json.loads(
        file.with_name(file.name.replace("metrics.jsonl", "config.json")).read_text()
    )
    records = [json.loads(line) for line in file.read_text().splitlines()]
    metrics = {
        name: (lambda i, name=name: records[i - 1].get(name))
        for name in (
            "policy_loss",
            "policy_entropy",
            "value_loss",
            "learning_rate",
            "rows",
            "steps",
        )
    }
    config = stored.get("config", stored)
    finding = told(config["window"], config["first_window"], iterations=len(records), **metrics)
    stays_far = file.name.startswith(("shobu-dense", "shobu-long"))
    assert finding.verdict == ("odd" if stays_far else "ok"), finding.sentence
    assert ("stays far" in finding.sentence) == stays_far
