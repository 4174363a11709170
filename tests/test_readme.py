"""The README's commands and Python run as they stand, only smaller: an iteration, not minutes."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
TINY = (
    "--iterations 1 --plain --runtime torch --set network.blocks=1 --set network.channels=8 "
    "--set selfplay.slots=8 --set selfplay.search.simulations=8 --set iteration_rows=20 "
    "--set warm_up_rows=20 --set train.batch=8 --set evaluation.games=2"
)
LONG = {"bench": "--help"}
"""Commands that only show their help here."""


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


def commands() -> list[str]:
    lines = [
        line.partition("#")[0].strip() for block in blocks("sh") for line in block.splitlines()
    ]
    found = [line for line in lines if line.startswith("randori ")]
    return found + re.findall(r"`(randori train [^`]*list-settings)`", README)


def run(arguments: list[str], folder: Path, answer: str = "quit\n") -> str:
    call = [sys.executable, "-c", "import sys; from randori.cli import main; sys.exit(main())"]
    done = subprocess.run(
        [*call, *arguments], cwd=folder, input=answer, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{arguments}: {done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("readme")
    (folder / "examples").symlink_to(ROOT / "examples")
    (folder / "my_game.py").symlink_to(ROOT / "examples" / "hex.py")
    run(shlex.split(f"train connect4 --name NAME {TINY}"), folder)
    return folder


@pytest.mark.parametrize("command", commands())
def test_command_of_the_readme_works(command: str, workplace: Path) -> None:
    small = re.sub(r"--minutes \d+", TINY, command)
    _, word, *arguments = shlex.split(small)
    output = run([word, *([LONG[word]] if word in LONG else arguments)], workplace)
    assert output.strip()


def test_the_readme_names_every_kind_of_command() -> None:
    named = {command.split()[1] for command in commands()}
    assert {"games", "show", "train", "resume", "play", "match", "check", "bench"} <= named


@pytest.mark.parametrize("code", blocks("python"))
def test_python_of_the_readme_runs(code: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "a b c d e f" in done.stdout
