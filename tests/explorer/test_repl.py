"""The command `randori explore`, called in this process with lines on its input."""

import io
import sys

import pytest

from randori.cli import main


def call(monkeypatch: pytest.MonkeyPatch, arguments: str, lines: str = "") -> int:
    monkeypatch.setattr(sys, "argv", ["randori", "explore", *arguments.split()])
    monkeypatch.setattr(sys, "stdin", io.StringIO(lines))
    return main()


def test_a_whole_session(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], models: list[str]
) -> None:
    lines = "run 50\nbogus\nlist 2\ndown 4\nload nowhere\nup\ncompare\nquit\nlist\n"
    arguments = f"connect4 --agent {models[0]} --against {models[1]} --position 44"
    assert call(monkeypatch, arguments, lines) == 0
    said = capsys.readouterr()
    assert said.out.startswith(f"Connect 4: {models[0]}; help lists the commands\n")
    assert "> bogus\nthere is no command 'bogus'; known: " in said.out
    assert "\n4> load nowhere\nNo such file or directory: nowhere\n4> up\n" in said.out
    assert "│" in said.out
    assert said.out.endswith("> quit\n")
    assert "Traceback" not in said.err


def test_help(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(monkeypatch, "--help") == 0
    said = capsys.readouterr().out
    assert all(option in said for option in ("--agent", "--position", "--against", "--seed"))


def test_the_end_of_input_ends_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(monkeypatch, "tictactoe", "run 20") == 0
    assert "simulations: 20 more" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("tictac", "did you mean 'tictactoe'"),
        ("tictactoe --agent random", "cannot analyse"),
        ("tictactoe --against utc", "did you mean 'uct'"),
        ("tictactoe --position zzz", "zzz"),
    ],
)
def test_mistakes_are_one_line(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: str,
    words: str,
) -> None:
    assert call(monkeypatch, arguments) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert words in said.err
    assert said.err.count("\n") == 1
