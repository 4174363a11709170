"""The commands and the Python of the pages run as they stand, only smaller, and in their order."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = (
    "README.md", "docs/games.md", "docs/arena.md", "docs/diagnosis.md", "docs/training.md",
    "docs/shapes.md",
)  # fmt: skip
TINY = (
    "--iterations 1 --plain --runtime torch --set network.channels=8 "
    "--set selfplay.slots=8 --set selfplay.search.simulations=8 --set iteration_rows=20 "
    "--set warm_up_rows=20 --set train.batch=8 --set evaluation.games=2"
)
LONG = {"bench": "--help", "reproduce": "--help"}
"""Commands that only show their help here."""
PICTURES = {
    "shobu": "shobu --position PUSH_OPTIONS --moves a1f1E2",
    "choko": 'choko --moves "C3 C4 B3 D4 C3xC5,D4"',
    "go": 'go --moves "E5 C3 G3 C7 G7 D5 E6 E3 F4 D6"',
    "othello": "othello --moves f5d6c3d3c4f4f6 --dots",
    "connect4": "connect4 --moves 4435366",
}
"""What `randori show --svg` drew for the pages."""


def blocks(page: str) -> list[tuple[str, str]]:
    """List language and content of the code blocks."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found = re.findall(r"```(\w+)\n(.*?)```", text, flags=re.DOTALL)
    inline = re.findall(r"`(randori train [^`]*list-settings)`", text)
    return found + [("sh", command) for command in inline]


def commands(block: str) -> list[str]:
    lines = (line.partition("#")[0].strip() for line in block.splitlines())
    return [line for line in lines if line.startswith("randori ")]


def run(arguments: list[str], folder: Path, answer: str = "quit\n") -> str:
    call = [sys.executable, "-c", "import sys; from randori.cli import main; sys.exit(main())"]
    done = subprocess.run(
        [*call, *arguments], cwd=folder, input=answer, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{arguments}: {done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("docs")
    (folder / "examples").symlink_to(ROOT / "examples")
    (folder / "my_game.py").symlink_to(ROOT / "examples" / "hex.py")
    run(shlex.split(f"train connect4 --name NAME {TINY}"), folder)
    return folder


@pytest.mark.parametrize("page", PAGES)
def test_pages_do_what_they_say(page: str, workplace: Path) -> None:
    for language, block in blocks(page):
        if language == "python":
            done = subprocess.run(
                [sys.executable, "-c", block], cwd=workplace, capture_output=True, text=True,
                check=False,
            )  # fmt: skip
            assert done.returncode == 0, f"{block}: {done.stderr}"
            assert done.stdout.strip()
        for command in commands(block) if language == "sh" else ():
            _, word, *arguments = shlex.split(re.sub(r"--minutes \d+", TINY, command))
            output = run([word, *([LONG[word]] if word in LONG else arguments)], workplace)
            assert output.strip(), command


def test_the_pages_name_every_kind_of_command() -> None:
    found = (commands(block) for page in PAGES for _, block in blocks(page))
    named = {command.split()[1] for block in found for command in block}
    kinds = {
        "games",
        "show",
        "perft",
        "stats",
        "train",
        "resume",
        "play",
        "match",
        "check",
        "bench",
    }
    assert kinds <= named


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_are_what_the_games_look_like(name: str, tmp_path: Path) -> None:
    run(["show", *shlex.split(PICTURES[name]), "--svg", "drawn.svg"], tmp_path)
    assert (tmp_path / "drawn.svg").read_text() == (ROOT / f"docs/images/{name}.svg").read_text()
