"""Finding games: what can go wrong is said in one line that names the way out."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from randori.errors import UserError
from randori.games import load_game
from randori.games.registry import GAMES, newest_file

EXAMPLE = Path(__file__).parents[2] / "examples" / "hex.py"

WRONG = [
    ("othelo", "there is no game 'othelo'; did you mean 'othello'?"),
    ("zzz", f"there is no game 'zzz'; known: {', '.join(sorted(GAMES))}"),
    ("", f"there is no game ''; known: {', '.join(sorted(GAMES))}"),
    ("othello:sise=6", "'othello' has no option 'sise'; did you mean 'size'?"),
    ("tictactoe:size=4", "'tictactoe' has no option 'size'; there are none"),
    ("othello:size=six", "othello:size: expected a whole number, found 'six'"),
    ("othello:size=7", "othello:size=7: size is 4, 6 or 8, not 7"),
    ("othello:size=6,size=8", "'othello:size=6,size=8' gives 'size' twice"),
    ("othello:6", "'othello:6': options are written key=value, found '6'"),
    ("othello:size=6,8", "'othello:size=6,8': expected key=value, found '8'"),
    ("connect4:width=20", "connect4:width=20: width goes from 4 to 9"),
]


@pytest.mark.parametrize(("spec", "message"), WRONG)
def test_wrong_specs(spec: str, message: str) -> None:
    with pytest.raises(UserError) as caught:
        load_game(spec)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", GAMES)
def test_registered_games_carry_their_name(name: str) -> None:
    game = load_game(name)
    assert (game.name, game.spec) == (name, name)
    assert game.title


def test_spec_leads_back_to_the_game() -> None:
    game = load_game(" othello: size=6 ")
    assert game.spec == "othello:size=6"
    assert load_game(game.spec).shape == game.shape == (6, 6)


def test_options_of_a_file() -> None:
    game = load_game(f"{EXAMPLE}:size=9")
    assert (game.name, game.shape) == ("hex", (9, 9))
    with pytest.raises(UserError, match="size goes from 2 to 11, not 12"):
        load_game(f"{EXAMPLE}:size=12")


def test_path_relative_to_the_working_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(EXAMPLE.parent)
    assert load_game("hex.py").name == "hex"


PERFT = """
import sys
from randori.games import load_game
from randori.games.perft import perft
print("nodes", perft(load_game(sys.argv[1]), 1))
"""


def test_a_copy_shares_the_compiled_kernels(tmp_path: Path) -> None:
    """A run trains by a copy of the author's file, of another name in another folder."""
    copy = tmp_path / "run" / "game.py"
    copy.parent.mkdir()
    shutil.copy(EXAMPLE, copy)
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "NUMBA_DEBUG_CACHE": "1"}

    def saved_and_loaded(file: Path) -> tuple[int, int]:
        done = subprocess.run(
            [sys.executable, "-c", PERFT, f"{file}:size=3"],
            env={**os.environ, **cache}, capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert re.search("^nodes 9$", done.stdout, flags=re.MULTILINE)
        return done.stdout.count("data saved to"), done.stdout.count("data loaded from")

    assert saved_and_loaded(EXAMPLE) == (1, 0)
    assert saved_and_loaded(copy) == (0, 1)
    copy.write_text(copy.read_text() + "# changed\n")
    assert saved_and_loaded(copy) == (1, 0)


def test_a_file_that_has_changed_gives_the_new_rules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where size and second are the same, by which Python would take it for unchanged."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    file = tmp_path / "mine.py"
    source = EXAMPLE.read_text()
    for name in ("hex", "hax", "hex"):
        file.write_text(source.replace('"hex"', f'"{name}"'))
        os.utime(file, (10**9, 10**9))
        assert load_game(str(file)).name == name


def test_files_of_equal_content_are_told_apart(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("one.py", "two.py")]
    games = []
    for file in files:
        file.write_text(EXAMPLE.read_text() + "\nHERE = __file__\n")
        games.append(load_game(f"{file}:size=3"))
        assert newest_file() == file
    homes = [game.rules.play.__globals__["HERE"] for game in games]  # type: ignore[attr-defined]
    assert homes == [str(file) for file in files]
    load_game(str(files[0]))
    assert newest_file() == files[0]


def test_options_without_annotations_are_as_their_defaults(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    source = EXAMPLE.read_text()
    assert "def game(size: int = " in source
    file.write_text(source.replace("def game(size: int = ", "def game(size="))
    assert load_game(f"{file}:size=3").shape == (3, 3)
    with pytest.raises(UserError, match="size: expected a whole number, found 'x'"):
        load_game(f"{file}:size=x")


@pytest.mark.parametrize(
    ("default", "text", "expected"),
    [("1", "2", 2), ("1.0", "2", 2.0), ("True", "no", False), ("'a'", "2", "2"),
     ("None", "2", "2"), ("None", "auto", None)],
)  # fmt: skip
def test_what_a_default_stands_for(
    tmp_path: Path, default: str, text: str, expected: object
) -> None:
    file = tmp_path / "mine.py"
    file.write_text(f"def game(x={default}):\n    raise ValueError(f'x is {{x!r}}')\n")
    with pytest.raises(UserError, match=re.escape(f"x is {expected!r}")):
        load_game(f"{file}:x={text}")


FILES = [
    ("", "defines no function game() that returns a randori.Game"),
    ("game = 3\n", "defines no function game() that returns a randori.Game"),
    ("def game():\n    return 3\n", "game() returned int, not a randori.Game"),
    ("x = 1\ndef game(:\n", ", line 2: invalid syntax"),
    ("import no_such_thing\n", ", line 1: ModuleNotFoundError: No module named 'no_such_thing'"),
    ("\n\n1 / 0\n", ", line 3: ZeroDivisionError: division by zero"),
    ("import json\n\njson.loads('')\n", ", line 3: JSONDecodeError: "),
    ("def game():\n    return {}['x']\n", ", line 2: KeyError: 'x'"),
    ("from randori.games import Game\ndef game():\n    return Game(name='x')\n",
     ", line 3: TypeError: Game.__init__() missing"),
    ("def game(size):\n    pass\n", ": TypeError: game() missing 1 required"),
    ("def game(size=3):\n    raise ValueError('no')\n", ": no"),
]  # fmt: skip


@pytest.mark.parametrize(("source", "message"), FILES)
def test_wrong_files(tmp_path: Path, source: str, message: str) -> None:
    file = tmp_path / "mine.py"
    file.write_text(source)
    with pytest.raises(UserError) as caught:
        load_game(str(file))
    said = str(caught.value)
    assert said.startswith(str(file))
    assert said.removeprefix(str(file)).lstrip(" :").startswith(message.lstrip(" :"))
    assert "\n" not in said


def test_missing_file(tmp_path: Path) -> None:
    file = tmp_path / "none.py"
    with pytest.raises(UserError, match=f"there is no game file '{os.fspath(file)}'"):
        load_game(str(file))


@pytest.mark.parametrize("sizes", [{"num_actions": 65_535}, {"most_legal": 32_768}], ids=str)
def test_more_actions_than_arrays_can_name(sizes: dict[str, int]) -> None:
    with pytest.raises(UserError, match="tictactoe: at most 65534 actions, 32767 of them legal"):
        replace(load_game("tictactoe"), **sizes)
