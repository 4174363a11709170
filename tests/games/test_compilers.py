"""What only kernels call becomes machine code inside them alone, and does there what it did."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest
from numba.core.codegen import JITCodeLibrary
from numpy.typing import NDArray

from randori.games import compilers, load_game
from randori.games.kernels import Bindings, scratch, specialise
from randori.games.perft import count_leaves, perft

BINDINGS = Bindings("test", {}, {})
Words = NDArray[np.uint64]


def squares(words: Words) -> int:
    found = scratch(4)
    for i in range(4):
        found[i] = words[i] * words[i]
    return int(found.sum())


def both(words: Words) -> int:
    return squares(words) + squares(words[::-1])


@pytest.fixture
def finished(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the libraries that were made machine code of."""
    names: list[str] = []
    finish = JITCodeLibrary._finalize_specific

    def watched(library: JITCodeLibrary) -> None:
        names.append(library.name)
        finish(library)

    monkeypatch.setattr(JITCodeLibrary, "_finalize_specific", watched)
    return names


def test_only_what_python_calls_is_made_machine_code_of(finished: list[str]) -> None:
    bindings = Bindings(f"alone_{os.getpid()}", {}, {})  # so that it is not found on disk
    assert specialise(both, bindings)(np.arange(4, dtype=np.uint64)) == 28
    ours = [name.split("_alone")[0] for name in finished if "_alone" in name]
    assert ours == ["both"]


def test_numbas_own_way_finds_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    game = load_game("othello:size=4")
    expected = [perft(game, depth) for depth in range(1, 6)]
    monkeypatch.setattr(compilers, "KERNEL", {})
    monkeypatch.setattr(compilers, "PART", {})
    other = load_game("othello:size=4")
    assert other.kernel(count_leaves) is not game.kernel(count_leaves)
    assert [perft(other, depth) for depth in range(1, 6)] == expected == [4, 12, 44, 128, 424]


@pytest.mark.parametrize(
    ("version", "is_tried"),
    [("0.60.0", False), ("0.61.0rc1", True), ("0.68.1", True), ("0.99.0", False), ("1.0", False)],
)
def test_versions(version: str, is_tried: bool) -> None:
    assert compilers._is_tried(version) == is_tried


def test_the_version_at_hand_is_tried() -> None:
    assert compilers._is_tried(numba.__version__)


ROUND = """
import sys
from randori.games.kernels import Bindings, specialise

def factorial(n: int) -> int:
    if n < 2:
        return 1
    return n * factorial(n - 1)

def is_even(n: int) -> bool:
    if n == 0:
        return True
    return is_odd(n - 1)

def is_odd(n: int) -> bool:
    if n == 0:
        return False
    return is_even(n - 1)

def alone(n: int) -> int:
    return factorial(n) + factorial(n + 1)

def in_turn(n: int) -> int:
    return factorial(n) + (1000 if is_even(n) else 2000)

template = {"alone": alone, "in_turn": in_turn}[sys.argv[1]]
print("found", specialise(template, Bindings("test", {}, {}))(5))
"""


@pytest.mark.parametrize(("name", "found", "saved"), [("alone", 840, 1), ("in_turn", 2120, 0)])
def test_functions_may_call_themselves(name: str, found: int, saved: int, tmp_path: Path) -> None:
    """In a second process, too: Numba's cache crashes on those that call each other."""
    script = tmp_path / "round.py"
    script.write_text(ROUND)
    environment = {
        **os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "NUMBA_DEBUG_CACHE": "1"
    }  # fmt: skip
    command = [sys.executable, str(script), name]
    for kept in (("saved to", "loaded from")[i] for i in range(2)):
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        assert re.findall(r"found (\d+)", done.stdout) == [str(found)]
        assert done.stdout.count(f"data {kept}") == saved


PLACES = """
import sys
from randori.games.kernels import Bindings, specialise

def say(n: int) -> int:
    print("number", n)
    return n + 1

def template(n: int) -> int:
    return say(n)

print("found", specialise(template, Bindings("test", {}, {}))(5))
"""


def test_functions_inside_find_their_python_objects(tmp_path: Path) -> None:
    """What is printed is one; a game's author may look into a kernel like that."""
    script = tmp_path / "places.py"
    script.write_text(PLACES)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, str(script)], env=environment, capture_output=True, text=True,
            check=True,
        )  # fmt: skip
        assert done.stdout.splitlines() == ["number 5", "found 6"]
