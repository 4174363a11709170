"""`randori doctor` and `randori openings` as a user types them."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from randori.cli import main

from .test_openings import assert_stands_alone, write_games


@pytest.fixture
def randori(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["randori", *map(str, words)])
        code = main()
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


@pytest.fixture
def folder(made, rows_of) -> Path:
    rows = rows_of("connect4")
    flat = {**rows, "counts": np.where(rows["counts"] > 0, 1, 0).astype(np.uint16)}
    flat["counts"][:, 0] = 50_000
    path = made(shards={1: rows, 2: flat}, first_player_score=0.99)
    write_games(path, 1, [("4 4 3 3", "first"), ("4 4 5 5", "draw")])
    write_games(path, 2, [("4 3 3 3", "second")])
    return path


def test_doctor_prints_the_worst_first(randori, folder):
    code, out, _ = randori("doctor", folder)
    assert code == 0
    lines = out.splitlines()
    assert "connect4, alphazero, iteration 20, 2000 steps, 3:20" in lines[0]
    words = [line.split()[0] for line in lines[2:]]
    marks = [word for word in words if word in ("sick", "odd", "ok", "–")]
    assert marks == sorted(marks, key=["sick", "odd", "ok", "–"].index)
    assert marks[:2] == ["sick", "odd"]
    assert lines[2].split("  ")[0] == "sick"
    assert "search looks at one move only" in out
    assert any(line.startswith("try (entropy of the search's visits): raise") for line in lines)


def test_doctor_for_programs(randori, folder):
    code, out, err = randori("doctor", folder, "--json", "--html", "report.html")
    assert code == 0
    found = json.loads(out)
    assert found["verdict"] == "sick"
    assert (found["game"], found["steps"]) == ("connect4", 2000)
    by_name = {finding["name"]: finding for finding in found["findings"]}
    assert by_name["first_player_score"]["verdict"] == "odd"
    assert by_name["first_player_score"]["value"] == pytest.approx(0.99)
    assert len(by_name["first_player_score"]["trend"]) == 20
    assert by_name["policy_entropy"]["value"] is None
    page = Path("report.html").read_text()
    assert "wrote report.html" in err
    assert_stands_alone(page)
    assert 'chip sick">1 sick' in page


def test_openings(randori, folder):
    code, out, err = randori("openings", folder, "--plies", "2", "--html", "o.html")
    assert code == 0
    lines = out.splitlines()
    assert "first 2 plies of 3 games of connect4, 2 different lines" in lines[0]
    assert lines[2].split()[:5] == ["4", "4", "2", "66.7", "%"]
    assert "75 % [" in lines[2]
    assert "only 3 games" in err
    page = Path("o.html").read_text()
    assert_stands_alone(page)
    assert page.count('role="img" aria-label="Connect') == 2
    one = randori("openings", folder, "--plies", "1", "--top", "1")[1]
    assert "first 1 ply of 3 games of connect4" in one


def test_openings_for_programs(randori, folder):
    code, out, _ = randori("openings", folder, "--plies", "3", "--fold", "--top", "1", "--json")
    assert code == 0
    found = json.loads(out)
    assert (found["games"], found["other_lines"], found["folded"]) == (3, 1, True)
    [line] = found["lines"]
    assert (line["games"], line["score"], line["priors"]) == (2, 0.75, [None, None])
    assert len(found["periods"]) == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["doctor", "nowhere"], "nowhere does not exist; expected a run folder"),
        (["openings", "nowhere"], "nowhere does not exist; expected a run folder"),
        (["openings", "made", "--plies", "9"], "3 games ended before ply 9"),
        (["openings", "made", "--plies", "0"], "--plies"),
        (["doctor", "made", "--html", "made"], "made is a folder; give the name of a file"),
        (["doctor", "made", "--html", "made/config.json"], "exists already; choose another name"),
        (["doctor", "made", "--html", "no/x.html"], "there is no folder 'no' for x.html"),
    ],
)
def test_mistakes(randori, folder, words, said):
    code, out, err = randori(*words)
    assert code == 2
    assert out == ""
    assert said in err
    assert len(err.splitlines()) == 1
