"""`randori reproduce` beyond the paper: other boards, one run, runs side by side."""

import json
from pathlib import Path
from typing import NoReturn

import pytest

from randori.cli.app import app
from randori.papers.go_shapes import Experiment, Study, figure4
from randori.shapes.sets import parse_sets

FEW = ["reproduce", "go-shapes", "figure4", "--quick", "--sets", "1x1", "--games", "60"]


def refuse(word: str) -> NoReturn:
    raise AssertionError(f"{word} is no JSON")


def test_other_games_go_by_their_names_and_one_run_has_no_bounds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--runs", "1", "--board", "connect4", "-o", str(tmp_path)]
    app([*FEW, *options, "--json"], standalone_mode=False)
    printed = json.loads(capsys.readouterr().out, parse_constant=refuse)
    kept = json.loads((tmp_path / "figure4.json").read_text(), parse_constant=refuse)
    assert printed == kept
    assert printed["chosen"][0]["rate"]["high"] is None
    drawn = (tmp_path / "figure4-chosen.svg").read_text(encoding="utf-8")
    assert "Wins against greedy, connect4 on 6×7" in drawn


def test_runs_side_by_side_learn_what_they_learn_alone() -> None:
    chosen = [Experiment("1x1", parse_sets("1x1"))]
    found = [
        figure4(chosen, Study(runs=4, games=200, test_every=100, test_games=10, final_games=10,
                              jobs=jobs), lambda games: None, "connect4")[0]
        for jobs in (1, 3)
    ]  # fmt: skip
    assert found[0].curve == found[1].curve
    assert found[0].final == found[1].final
