import csv
import math
from xml.etree import ElementTree

import pytest

from randori.cli.chart import Point, draw_chart
from randori.cli.scaling import make_specs, measure


def test_thinking_longer_pays(randori, tmp_path):
    files = ["--csv", "c.csv", "--plot", "p.svg"]
    agents = ["--agent", "uct:threads=1", "--against", "uct:simulations=20"]
    budgets = ["--simulations", "100,5", "-n", "30"]
    answer = randori("scaling", "connect4", *agents, *budgets, "--json", *files)
    assert answer.code == 0, answer.err
    found = answer.json
    assert (found["game"], found["option"], found["opening_plies"]) == (
        "connect4", "simulations", 2,
    )  # fmt: skip
    few, many = found["rows"]
    assert (few["budget"], few["agent"]) == (5, "uct:threads=1,simulations=5")
    assert few["score"] < 0.5 < many["score"]
    assert few["elo"] < 0 < many["elo"]
    for row in (few, many):
        assert row["score_low"] < row["score"] < row["score_high"]
        assert row["elo_low"] < row["elo"] < row["elo_high"]
        assert row["wins"] + row["draws"] + row["losses"] == row["games"] == 30
        assert row["seconds_per_move"] > 0
    assert "1/2: uct:threads=1,simulations=5 against uct:simulations=20, 30 games" in answer.err
    with (tmp_path / "c.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [float(row["score"]) for row in rows] == [few["score"], many["score"]]
    chart = (tmp_path / "p.svg").read_text()
    assert "connect4: uct:threads=1 against uct:simulations=20" in chart
    assert "simulations (logarithmic)" in chart
    assert chart.count("<circle") == 2


def test_help(randori):
    said = randori("scaling", "--help").out
    assert all(f"--{option}" in said for option in ("agent", "against", "seconds", "plot", "csv"))


def test_table_and_repetition(randori):
    agents = ["--agent", "alphabeta", "--against", "minimax:depth=1"]
    budgets = ["--depth", "1,2", "-n", "4", "--opening-plies", "0"]
    answer = randori("scaling", "tictactoe", *agents, *budgets)
    assert answer.code == 0, answer.err
    lines = answer.out.splitlines()
    assert lines[0] == "tictactoe: depth against minimax:depth=1, 4 games each"
    assert lines[1].split()[:2] == ["depth", "score"]
    assert [line.split()[0] for line in lines[2:]] == ["1", "2"]
    assert "only 2 of 4 games differ" in answer.err


def test_finished_budgets_survive_ctrl_c(randori, monkeypatch, tmp_path):
    done = []

    def play(budget, *rest, **more):
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(budget)
        return measure(budget, *rest, **more)

    monkeypatch.setattr("randori.cli.scaling.measure", play)
    line = ["scaling", "tictactoe", "--agent", "uct", "--against", "random", "-n", "4",
            "--simulations", "3,4,5", "--csv", "c.csv"]  # fmt: skip
    answer = randori(*line, "--json")
    assert answer.code == 130
    assert answer.err.endswith("\nstopped: 2 of 3 budgets are finished\n")
    assert [row["budget"] for row in answer.json["rows"]] == done == [3, 4]
    assert len((tmp_path / "c.csv").read_text().splitlines()) == 3
    none = randori(*line[:-2])
    assert (none.code, none.out) == (130, "")
    assert none.err.endswith("\nstopped: 0 of 3 budgets are finished\n")


@pytest.mark.parametrize(
    ("agent", "budgets", "words"),
    [
        ("uct", "--simulations 10,x", "--simulations: expected numbers above 0"),
        ("uct", "--simulations 10,,20", "found ''"),
        ("uct", "--simulations 0", "found '0'"),
        ("uct", "--simulations 5,5.0", "5.0 is there twice"),
        ("uct", "--simulations 2.5", "expected a whole number"),
        ("uct", "--seconds 1", "agent 'uct' has no option 'seconds'"),
        ("uct", "--simulations 5 --depth 2", "both budgets"),
        ("random", "", "has no budget"),
        ("utc", "", "did you mean 'uct'"),
        ("uct", "-n 0", "at least 1 game"),
        ("uct", "--plot c.png", "ends in .svg"),
        ("uct", "--csv no/c.csv", "there is no folder"),
        ("uct", "--against utc", "did you mean 'uct'"),
    ],
)
def test_mistakes_are_one_line(randori, agent, budgets, words):
    line = ["scaling", "tictactoe", "--against", "random", "--agent", agent, *budgets.split()]
    assert words in randori(*line).complaint


def test_the_option_is_replaced_in_the_spec():
    nothing = {"simulations": None, "depth": None, "seconds": None}
    option, specs = make_specs("az:runs/x,simulations=7,fpu=0.2", nothing)
    assert option == "simulations"
    assert specs[25] == "az:runs/x,simulations=25,fpu=0.2"
    assert list(specs) == [25, 50, 100, 200, 400]
    option, specs = make_specs("alphabeta", {**nothing, "seconds": "0.1, 0.05"})
    assert specs == {0.05: "alphabeta:seconds=0.05", 0.1: "alphabeta:seconds=0.1"}


def test_chart_has_a_logarithmic_scale():
    points = [Point(b, s, s - 0.1, s + 0.1) for b, s in ((10, 0.2), (100, 0.5), (1000, 0.8))]
    root = ElementTree.fromstring(draw_chart(points, "a < b", "visits", "note"))
    spots = [
        (float(one.attrib["cx"]), float(one.attrib["cy"]))
        for one in root if one.tag.endswith("circle")
    ]  # fmt: skip
    (x0, y0), (x1, y1), (x2, y2) = spots
    assert math.isclose(x1 - x0, x2 - x1, abs_tol=0.2)
    assert y0 > y1 > y2
    assert math.isclose(y0 - y1, y1 - y2, abs_tol=0.2)
    assert "nan" not in draw_chart(points[:1], "one", "visits", "")
    many = [Point(2.0**i, 0.5, 0.4, 0.6) for i in range(30)]
    assert draw_chart(many, "many", "visits", "").count('text-anchor="middle"') < 14
