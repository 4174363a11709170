"""The experiments of paper B, small: what they count, learn, rate and draw."""

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest

from randori.papers.curves import Curve, draw_curves
from randori.papers.go_shapes import (
    Learning,
    Study,
    experiments,
    figure3,
    mean_of,
    student,
    summarise,
)
from randori.papers.go_shapes import test_marks as marks_of
from randori.papers.shape_pictures import draw_extremes, extremes


def test_figure3_says_what_the_paper_printed_and_what_is_true() -> None:
    rows = {row["set"]: row for row in figure3()}
    assert len(rows) == 18
    assert rows["2x2"] == {"set": "2x2", "active": 16, "weights": 21, "paper": 81}
    assert rows["3x3@"] == {"set": "3x3@", "active": 9, "weights": 23274, "paper": 78732}
    assert rows["5x5"]["weights"] == 100_000
    assert rows["5x5"]["paper"] is None


def test_agents_are_tested_often_at_first_and_always_at_the_end() -> None:
    marks = marks_of(Study(games=100_000))
    assert marks[:3] == [500, 1000, 1500]
    assert marks[-1] == 100_000
    assert marks == sorted(set(marks))
    assert len(marks) <= 42
    assert marks_of(Study(games=300)) == [300]
    assert marks_of(Study(games=500)) == [500]


def test_combined_experiments_hold_all_that_is_as_general() -> None:
    single = experiments(["1x1", "2x2"], combined=False)
    combined = experiments(["1x1", "2x2"], combined=True)
    assert [one.name for one in single] == ["1x1", "1x1@", "2x2", "2x2@"]
    assert [one.name for one in combined] == ["..1x1", "..1x1@", "..2x2", "..2x2@"]
    assert [len(one.sets) for one in single] == [1, 1, 1, 1]
    assert [len(one.sets) for one in combined] == [1, 2, 3, 6]


@pytest.mark.parametrize(
    ("freedom", "quantile"), [(1, 12.706), (4, 2.776), (5, 2.571), (9, 2.262), (49, 2.010)]
)
def test_students_quantiles(freedom: int, quantile: float) -> None:
    assert student(freedom) == pytest.approx(quantile, abs=0.01)


def test_means_stay_where_they_can_be() -> None:
    found = mean_of([0.5, 0.7, 0.9], 0.0, 1.0)
    half = 4.303 * 0.2 / np.sqrt(3)
    assert found.value == pytest.approx(0.7)
    assert found.low == pytest.approx(0.7 - half)
    assert found.high == 1.0
    assert mean_of([0.4], 0.0, 1.0).high == 1.0


def test_a_summary_counts_both_agents_and_the_runs_that_came_above_half() -> None:
    from randori.games.registry import load_game

    (one,) = experiments(["1x1"], combined=False)[:1]
    runs = [
        Learning((500, 1000), ((0.2, 0.4), (0.6, 0.8)), (0.5, 0.9), 1000, 50.0),
        Learning((500, 1000), ((0.0, 0.0), (0.6, 0.2)), (0.1, 0.1), None, 70.0),
    ]
    found = summarise(load_game("go:size=5"), one, Study(), runs)
    assert [point.value for point in found.curve] == pytest.approx([0.15, 0.55])
    assert found.final.value == pytest.approx(0.4)
    assert found.halves == 1
    assert found.rate.value == 60.0
    assert found.to_half is not None
    assert found.to_half.value == 1000
    assert json.dumps(found.to_dict())


def test_curves_are_drawn_within_their_frame() -> None:
    curves = [
        Curve("2x2", [500, 5000], [0.1, 0.9], [0.0, 0.8], [0.2, 1.0]),
        Curve("<&>", [500, 5000], [0.1, 0.9], [0.0, 0.8], [0.2, 1.0]),
    ]
    drawn = ElementTree.fromstring(draw_curves(curves, "Title & more", "note"))
    lines = [item for item in drawn.iter() if item.tag.endswith("polyline")]
    assert len(lines) == 2
    texts = [item.text for item in drawn.iter() if item.tag.endswith("text")]
    assert "<&>" in texts
    assert "Title & more" in texts


def test_the_most_valued_shapes_are_found_and_drawn() -> None:
    from randori.games.registry import load_game
    from randori.shapes.sets import parse_sets
    from randori.shapes.tables import board_turns, build_tables
    from randori.shapes.value import ShapeValue

    game = load_game("go:size=5")
    tables = build_tables(parse_sets("1x1 2x1 2x2@ 4x4"), game.board, board_turns(game), 10)
    theta = np.random.default_rng(0).normal(size=tables.num_weights).astype(np.float32)
    value = ShapeValue(game, tables, theta)
    found = {str(one): both for one, both in extremes(value, 3).items()}
    assert set(found) == {"1x1", "2x1", "2x2@"}
    for best, worst in found.values():
        assert [s.weight for s in best] == sorted((s.weight for s in best), reverse=True)
        assert best[0].weight >= worst[-1].weight
    shape = found["2x2@"][0][0]
    row = tables.homes[shape.home] + shape.code
    assert theta[tables.nets.exact.ids[row, 1]] == np.float32(shape.weight)
    assert len(shape.cells) == 4
    drawn = ElementTree.fromstring(draw_extremes(value, 3))
    assert sum(item.tag.endswith("rect") for item in drawn.iter()) == 1 + 3 * 6


@pytest.mark.slow
def test_quick_figures_run_from_end_to_end(tmp_path: Path) -> None:
    import subprocess
    import sys

    call = [sys.executable, "-c", "import sys; from randori.cli import main; sys.exit(main())"]
    done = subprocess.run(
        [*call, "reproduce", "go-shapes", "--quick", "--json", "-o", str(tmp_path)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert set(found) == {"figure3", "figure4", "figure5", "figure6"}
    assert {row["agent"] for row in found["figure5"]["rows"]} >= {"alp", "shapes", "liberties"}
    assert next(r["rating"] for r in found["figure5"]["rows"] if r["agent"] == "alp") == 850
    for name in ("figure4-single.svg", "figure4-combined.svg", "figure6.svg", "figure5.json"):
        assert (tmp_path / name).is_file()
