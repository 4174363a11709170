import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from randori.cli.bench import BENCHES

HEAVY = ("numpy", "numba", "torch", "rich")
COMMANDS = [
    "games",
    "agents",
    "show",
    "perft",
    "check",
    "stats",
    "tournament",
    "ratings",
    "exam",
    "make-suite",
    "explore",
    "scaling",
    "train",
    "resume",
    "play",
    "match",
    "bench",
]

SEEDED = [
    "check tictactoe",
    "stats tictactoe",
    "play tictactoe",
    "explore tictactoe",
    "match tictactoe random greedy",
    "tournament tictactoe random greedy",
    "exam tictactoe",
    "make-suite connect4",
    "scaling tictactoe --agent uct --against random",
    "train tictactoe",
    "reproduce go-shapes",
    "gtp go",
]


def shell(command: str, **options):
    """Run `randori` as a user does, in a process of its own."""
    line = f"{sys.executable} -c 'import sys; from randori.cli import main; sys.exit(main())' "
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", line + command],
        capture_output=True, text=True, timeout=60, check=False, **options,
    )  # fmt: skip


def test_help_names_every_command_and_imports_nothing_heavy():
    code = (
        "import sys; from randori.cli import main; code = main(); "
        f"print([name for name in {HEAVY} if name in sys.modules]); sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "--help"], capture_output=True, text=True, check=True
    )
    for command in COMMANDS:
        assert f"\n  {command} " in done.stdout
    assert done.stdout.endswith("[]\n")


def test_package_is_light_and_its_face_is_there():
    code = (
        "import sys, randori; light = 'numpy' not in sys.modules\n"
        "p = randori.game('tictactoe').start().play('b2')\n"
        "a = randori.agent('random', p.game)\n"
        "print(light, isinstance(p, randori.Position), isinstance(p.game, randori.Game), "
        "a.choose(p) in p.legal(), isinstance(a, randori.Agent))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True True True True True\n"


def test_nothing_imports_the_command_line():
    package = Path(__file__).parents[2] / "src" / "randori"
    for path in package.rglob("*.py"):
        if "cli" not in path.relative_to(package).parts and path.name != "__main__.py":
            assert "randori.cli" not in path.read_text(), path


def test_without_a_command_there_is_help(randori):
    answer = randori()
    assert answer.code == 0
    assert "Usage: randori" in answer.out


def test_version(randori):
    from randori import __version__

    assert randori("--version").out == f"randori {__version__}\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(randori, command):
    answer = randori(command, "-h")
    assert answer.code == 0
    assert f"randori {command}" in answer.out


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("trian", "No such command 'trian'. Did you mean 'train'? (see randori --help)"),
        ("show tictactoe --bogus", "No such option: --bogus"),
        ("show", "Missing argument"),
        ("perft tictactoe deep", "Invalid value"),
        ("perft tictactoe -- -1", "greater than or equal to 0"),
    ],
)
def test_wrong_usage_is_one_line(randori, line, words):
    assert words in randori(*line.split()).complaint


@pytest.mark.parametrize("seed", [-1, 2**63])
@pytest.mark.parametrize("line", SEEDED)
def test_every_seed_fits_a_store(randori, line, seed):
    complaint = randori(*line.split(), "--seed", str(seed)).complaint
    assert "Invalid value for '--seed'" in complaint
    assert list(Path().iterdir()) == []


def test_the_last_seed_fits_a_store(randori):
    line = ("tictactoe", "random", "greedy", "--seed", str(2**63 - 1))
    answer = randori("tournament", *line, "-t", "1", "--store", "a.sqlite")
    assert answer.code == 0, answer.err
    answer = randori("match", *line, "-n", "2", "--store", "a.sqlite")
    assert answer.code == 0, answer.err


def test_every_benchmark_is_in_the_help(randori):
    told = randori("bench", "--help").out.partition("[WHAT]")[2].partition("[default: all]")[0]
    assert {"all", *BENCHES} <= set(re.findall(r"\w+", told))


def test_a_reader_that_leaves_is_no_error():
    done = shell("games | head -0")
    assert done.stderr == ""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_full_disk_on_stdout_is_one_line():
    done = shell("games > /dev/full")
    assert done.returncode == 2
    assert done.stderr == "randori: No space left on device\n"


def test_full_disk_leaves_nothing_half_written(randori, monkeypatch):
    def refuse(*paths):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("randori.runs.atomic.os.replace", refuse)
    complaint = randori("show", "tictactoe", "--svg", "board.svg").complaint
    assert complaint.startswith("disk full while writing board.svg")
    assert os.listdir() == []


def test_interrupt_is_130(randori, monkeypatch):
    def interrupt(spec):
        raise KeyboardInterrupt

    monkeypatch.setattr("randori.games.registry.load_game", interrupt)
    answer = randori("show", "tictactoe")
    assert (answer.code, answer.out) == (130, "")
    assert answer.err.strip() == "stopped"


def test_lack_of_memory_is_one_line(randori, monkeypatch):
    def fail(spec):
        raise MemoryError("Unable to allocate 1 TiB")

    monkeypatch.setattr("randori.games.registry.load_game", fail)
    assert randori("show", "tictactoe").complaint == "out of memory: Unable to allocate 1 TiB"
