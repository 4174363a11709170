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

from randori.games import compilers, kernels, load_game
from randori.games.kernels import Bindings, scratch, specialise
from randori.games.perft import perft

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


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of its own for what is kept on disk."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.mark.parametrize(("is_ours", "names"), [(True, ["both"]), (False, ["both", "squares"])])
def test_only_what_python_calls_is_made_machine_code_of(
    is_ours: bool, names: list[str], finished: list[str], empty: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    if not is_ours:
        monkeypatch.setattr(compilers, "KERNEL", {})
        monkeypatch.setattr(compilers, "PART", {})
    assert specialise(both, BINDINGS)(np.arange(4, dtype=np.uint64)) == 28
    found = {name.split("_test_")[0] for name in finished if "_test_" in name}
    assert sorted(found) == names


def test_numbas_own_way_finds_the_same(
    finished: list[str], empty: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for way in ({"KERNEL": compilers.KERNEL, "PART": compilers.PART}, {"KERNEL": {}, "PART": {}}):
        for name, value in way.items():
            monkeypatch.setattr(compilers, name, value)
        finished.clear()
        game = load_game("othello:size=4")
        found.append([perft(game, depth) for depth in range(1, 6)])
        helpers = [name for name in finished if "_othello" in name and "count_leaves" not in name]
        assert bool(helpers) == (way["PART"] == {})
    assert found == [[4, 12, 44, 128, 424]] * 2
    assert len(list(empty.rglob("*.nbi"))) == 2, "each way has a name of its own on disk"


@pytest.mark.parametrize(
    ("version", "is_tried"),
    [
        ("0.60.0", False),
        ("0.61.0rc1", True),
        ("0.68.1", True),
        ("0.99.0", False),
        ("1.0", False),
        ("0+unknown", False),
        ("0+untagged.1.gabc", False),
        ("1", False),
    ],
)
def test_versions(version: str, is_tried: bool) -> None:
    ways = compilers._ways(version)
    assert [len(way) for way in ways] == ([1, 1] if is_tried else [0, 0])


def test_the_version_at_hand_is_tried() -> None:
    assert compilers.KERNEL
    assert compilers.PART


ROUND = """
import sys
import numpy as np
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

def count_down(n: int, done: int) -> int:
    if n == 0:
        return done
    return count_down(n - 1, done + 1)

def of_two_types(n: int) -> int:
    return count_down(n, np.int32(0)) + count_down(n, 0)

def between(n: int) -> int:
    return factorial(n) + 1

def chain(n: int) -> int:
    if n < 2:
        return between(n)
    return chain_below(n) + between(n)

def chain_below(n: int) -> int:
    return factorial(n) if n < 100 else chain_below(n - 1)

template = globals()[sys.argv[1]]
print("found", specialise(template, Bindings("test", {}, {}))(5))
"""


@pytest.mark.parametrize(
    ("name", "found", "saved"),
    [("alone", 840, 1), ("in_turn", 2120, 0), ("of_two_types", 10, 0), ("chain", 241, 1)],
)
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


def test_the_solvers_are_kept(empty: Path) -> None:
    """They call themselves, and one of them another that does."""
    game = load_game("othello:size=4")
    assert game.solver is not None
    assert game.solver(game).score(game.new_state()) == -8
    kept = {path.name.split(".")[1] for path in empty.rglob("*.nbi")}
    assert any(name.startswith("negamax_othello") for name in kept)


def test_without_a_folder_kernels_are_compiled_and_a_word_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("numba.core.caching.CacheImpl._locator_classes", [])
    kernels._warn_of_no_folder.cache_clear()
    words = np.arange(4, dtype=np.uint64)
    with pytest.warns(UserWarning, match="set NUMBA_CACHE_DIR to one that can be written to"):
        assert specialise(both, BINDINGS)(words) == 28


def test_nothing_is_compiled_where_that_is_switched_off() -> None:
    script = "from randori.games import load_game\nfrom randori.games.perft import perft\n"
    done = subprocess.run(
        [sys.executable, "-c", f"{script}print(perft(load_game('shobu'), 1))"],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == "232\n"
