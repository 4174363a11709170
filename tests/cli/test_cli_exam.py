from pathlib import Path

import pytest

from randori.arena.suites import shipped_suites

OWN = """\
# Two in a row.
game: tictactoe
xx./oo./... x | c1 | wins | now
xx./o../... o | c1 | stops
xo./.x./..o x | a2:+2 c1:0 c2:0 a3:0 b3:+1 | wins
"""


@pytest.fixture
def own() -> str:
    Path("own.txt").write_text(OWN)
    return "own.txt"


def test_json_fields(randori, own):
    answer = randori("exam", "tictactoe", own, "--agent", "uct:simulations=400", "--json")
    result = answer.json
    assert {"positions", "correct", "accuracy", "low", "high", "by_class"} <= set(result)
    assert (result["game"], result["suite"]) == ("tictactoe", "own.txt")
    assert result["agent"] == "uct:simulations=400"
    assert (result["positions"], result["correct"], result["accuracy"]) == (3, 3, 1.0)
    assert 0.4 < result["low"] < result["high"] == 1.0
    assert result["by_class"]["stops"]["positions"] == 1
    assert result["failures"] == []
    assert result["mean_loss"] >= 0


def test_table_and_failures(randori, own):
    Path("hard.txt").write_text("game: tictactoe\nxx./oo./... x | c2 | odd\n. | a1\n")
    wrong = randori("exam", "tictactoe", "hard.txt", "--agent", "uct")
    assert wrong.complaint.startswith("hard.txt, line 3: ")
    Path("hard.txt").write_text("game: tictactoe\nxx./oo./... x | c2 | odd\na1 | b2 | usual\n")
    answer = randori("exam", "tictactoe", "hard.txt", "--agent", "alphabeta:depth=9")
    lines = answer.out.splitlines()
    assert lines[0] == "tictactoe, hard.txt: alphabeta:depth=9, 2 positions"
    assert lines[1].split() == ["positions", "correct", "accuracy", "95", "%", "interval"]
    assert lines[2].split()[:5] == ["all", "2", "1", "50.0", "%"]
    assert lines[3].split()[:3] == ["odd", "1", "0"]
    assert "wrong answers, 1 of 1:" in lines
    assert lines[-1].split() == ["odd", "c1", "c2", "xx./oo./...", "x"]
    silent = randori("exam", "tictactoe", "hard.txt", "--agent", "uct", "--failures", "0")
    assert "wrong" not in silent.out


def test_scores_add_columns(randori, own):
    answer = randori("exam", "tictactoe", own, "--agent", "uct:simulations=400")
    assert "correct: the move keeps the outcome" in answer.out
    assert "mean loss" in answer.out


def test_shipped_suites_by_name(randori):
    listed = randori("exam", "shobu")
    assert listed.out.splitlines()[0].split() == ["suite", "positions", "about"]
    assert "shobu-mates" in listed.out
    assert "connect4" not in listed.out
    rows = randori("exam", "shobu", "--json").json
    assert [row["suite"] for row in rows] == ["shobu-mates", "shobu-paper"]
    assert rows[1]["positions"] == 3
    assert "no suite for tictactoe" in randori("exam", "tictactoe").err
    for game, known in (("tictactoe", "none for tictactoe is shipped"), ("connect4", "connect4")):
        nameless = randori("exam", game, "--agent", "greedy")
        assert nameless.code == 2
        assert f"which suite, or file of your own? Known: {known}" in nameless.err
    line = ("exam", "shobu", "shobu-paper", "--agent", "alphabeta:depth=3", "--json")
    result = randori(*line).json
    assert (result["positions"], result["correct"]) == (3, 3)
    assert list(result["by_class"]) == ["mate in 1", "mate in 2", "wins a stone"]


def test_the_position_of_paper_e(randori):
    """After columns 2 and 6 three moves win, and the paper's choice loses."""
    line = ("exam", "connect4", "connect4-paper", "--agent", "solver", "--json")
    result = randori(*line).json
    assert (result["positions"], result["correct"], result["best"]) == (2, 2, 2)
    text = shipped_suites()["connect4-paper"].read_text()
    assert "\n26 | 1:-3 2:+2 3:0 4:+2 5:+2 6:0 7:-2 | after 2 and 6\n" in text
    assert "\nstart | 1:-2 2:-1 3:0 4:+1 5:0 6:-1 7:-2 | first move\n" in text


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("exam shobu shobu-mates", "who takes the exam? Add --agent"),
        ("exam shobu shobu-mate --agent random", "did you mean 'shobu-mates'?"),
        ("exam shobu shobu-mate", "no such suite of shobu; did you mean 'shobu-mates'?"),
        ("exam shobu shobu-mate --agent az:runs/none", "did you mean 'shobu-mates'?"),
        ("exam othello shobu-mate", "no such suite of othello; known: othello-endgames"),
        ("exam tictactoe x", "no such suite of tictactoe; there are none"),
        ("exam othello connect4", "suite 'connect4' is for connect4, not for othello"),
        ("exam othello connect4 --agent random", "suite 'connect4' is for connect4, not for othe"),
        (
            "exam shobu connect4 --agent random",
            "not for shobu; for that there are shobu-mates, shobu-paper",
        ),
        ("exam connect4 . --agent random", "suite '.' is a folder; expected a file of positions"),
        ("exam othelo othello-endgames", "there is no game 'othelo'"),
        ("exam shobu shobu-paper --agent rando", "there is no agent 'rando'"),
        ("exam shobu shobu-paper --agent random --failures -1", "Invalid value"),
        ("make-suite conect4", "there is no suite 'conect4'; did you mean 'connect4'?"),
        ("make-suite shobu-paper --count 0", "Invalid value"),
        ("make-suite shobu-paper -o no/such.txt", "there is no folder 'no'"),
    ],
)
def test_mistakes_are_one_line(randori, line, words):
    assert words in randori(*line.split()).complaint


def test_suites_are_made_again(randori):
    printed = randori("make-suite", "shobu-paper")
    assert printed.out.splitlines()[2] == "game: shobu"
    assert "3 positions in 3 classes" in printed.err
    assert randori("make-suite", "shobu-paper", "-o", "paper.txt").out == ""
    assert Path("paper.txt").read_text() == printed.out
    again = randori("make-suite", "shobu-paper", "-o", "paper.txt")
    assert "paper.txt exists already" in again.complaint
    line = ("exam", "shobu", "paper.txt", "--agent", "random", "--json")
    assert randori(*line).json["positions"] == 3


@pytest.mark.parametrize("name", ["othello-endgames", "shobu-mates"])
def test_the_same_seed_makes_the_same_suite(randori, name):
    first, second, other = (
        randori("make-suite", name, "--count", "1", "--seed", seed).out for seed in "112"
    )
    assert first == second != other
    assert "--count 1 --seed 1`" in first


def test_what_is_answered_survives_ctrl_c(randori, leaver, monkeypatch):
    """Two batches are answered."""

    def load(text, game):
        return leaver(text, game, 2)

    monkeypatch.setattr("randori.cli.exam.load_agent", load)
    line = ("exam", "shobu", "shobu-mates", "--agent", "random")
    answer = randori(*line)
    assert answer.code == 130
    assert "stopped: 128 of 600 positions are answered; classes come one after" in answer.err
    assert "random, 128 of 600 positions" in answer.out
    assert answer.out.splitlines()[2].split()[:2] == ["all", "128"]
    found = randori(*line, "--json")
    assert found.code == 130
    assert (found.json["positions"], found.json["suite_positions"]) == (128, 600)
    assert found.json["low"] <= found.json["accuracy"] <= found.json["high"]


def test_who_leaves_an_exam_keeps_the_answers(randori, own):
    """People see one board at a time, so that none of their answers waits for others."""
    line = ("exam", "tictactoe", own, "--agent", "human:Ann")
    answer = randori(*line, stdin="c1\n")
    assert answer.code == 130
    assert "stopped: Ann has left: the input has ended: 1 of 3 positions are answered" in answer.err
    assert "100.0 %" in answer.out
    nothing = randori(*line)
    assert (nothing.code, nothing.out) == (130, "")
    assert "0 of 3 positions are answered\n" in nothing.err
    whole = randori(*line, stdin="c1\nc1\na2\n")
    assert whole.code == 0
    assert "human:Ann, 3 positions" in whole.out


def test_a_suite_that_is_stopped_is_one_line(randori, monkeypatch):
    def stop(*rest):
        raise KeyboardInterrupt

    monkeypatch.setattr("randori.cli.exam.make_suite", stop)
    answer = randori("make-suite", "shobu-paper", "-o", "s.txt")
    assert (answer.code, answer.out) == (130, "")
    assert answer.err == "stopped: shobu-paper is not finished, and nothing was written\n"
    assert list(Path().iterdir()) == []
