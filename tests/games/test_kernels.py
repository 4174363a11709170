"""Compiled kernels: equal to the plain ones, and found again on disk unless something changed."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from numpy.typing import NDArray

import randori
from randori.games import load_game
from randori.games.kernels import (
    Bindings,
    bit,
    has,
    lowest,
    mix,
    popcount,
    specialise,
    without_lowest,
)
from randori.games.perft import count_leaves
from randori.games.registry import GAMES
from randori.games.rules import Rules

Words = NDArray[np.uint64]


def every_bit_function(words: Words, out: Words) -> None:
    """Write what each function makes of each word; a row of `out` is a word."""
    for i in range(len(words)):
        word = words[i]
        first = lowest(word)
        out[i, 0] = first
        out[i, 1] = popcount(word)
        out[i, 2] = without_lowest(word)
        out[i, 3] = bit(first)
        out[i, 4] = mix(word, words[0])
        for index in range(64):
            if has(word, index):
                out[i, 5] ^= bit(index)


def bit_samples() -> Words:
    rng = np.random.default_rng(0)
    dense = rng.integers(1, 2**64, size=40, dtype=np.uint64)
    single = np.uint64(1) << np.arange(64, dtype=np.uint64)
    return np.concatenate([dense, single, dense & dense[::-1] | np.uint64(2**63), ~single])


def test_bit_functions_mean_what_they_say() -> None:
    words = bit_samples()
    out = np.zeros((len(words), 6), dtype=np.uint64)
    with np.errstate(over="ignore"):
        every_bit_function(words, out)
    for word, row in zip(words.tolist(), out.tolist(), strict=True):
        text = f"{word:b}"
        first = len(text) - 1 - text.rindex("1")
        assert row[0] == first
        assert row[1] == text.count("1")
        assert row[2] == word - 2**first
        assert row[3] == 2**first
        assert row[5] == word
    assert len(set(out[:, 4].tolist())) == len(set(words.tolist()))


def test_bit_functions_compiled_as_plain() -> None:
    words = bit_samples()
    plain, fast = np.zeros((2, len(words), 6), dtype=np.uint64)
    with np.errstate(over="ignore"):
        every_bit_function(words, plain)
    specialise(every_bit_function, Bindings("test", {}, {}))(words, fast)
    assert np.array_equal(plain, fast)


NUMBER = 3


def number() -> int:
    return NUMBER


def add_number(value: int) -> int:
    return value + number()


def test_constants_reach_the_functions_below() -> None:
    four, five = (Bindings("test", globals(), {"NUMBER": value}) for value in (4, 5))
    for compiled in (False, True):
        assert specialise(add_number, four, compiled=compiled)(1) == 5
        assert specialise(add_number, five, compiled=compiled)(1) == 6
    assert add_number(1) == 4


def test_holes_are_filled_in_templates() -> None:
    holes = Bindings("test", {}, {}, {"number": lambda: 10})
    assert specialise(add_number, holes, compiled=False)(1) == 11


def one() -> int:
    return 1


def two() -> int:
    return 2


def test_nothing_is_called_like_a_kernel_that_is_none() -> None:
    """Wherever a template finds a kernel's name, the game's own takes its place.

    Commands and protocols have no templates.
    """
    source = Path(randori.__file__).parent
    kernels = re.compile(rf"^def ({'|'.join(Rules._fields)})\(", re.MULTILINE)
    files = {path.relative_to(source) for path in source.rglob("*.py")}
    found = {str(path) for path in files if kernels.search((source / path).read_text())}
    games = {f"games/{name}.py" for name in (*GAMES, "rules")}
    assert {name for name in found if not name.startswith(("cli", "protocols"))} == games


def play_by_hand(state: NDArray[np.uint64]) -> int:
    return play(state, 3)


def play(state: NDArray[np.uint64], by: int) -> int:
    """No kernel, though it is called like one."""
    return int(state[0]) + by


def test_a_function_that_is_called_like_a_kernel_stays() -> None:
    game = load_game("tictactoe")
    state = game.new_state()
    assert game.uncompiled(play_by_hand)(state) == game.kernel(play_by_hand)(state) == 3


def four_more(state: NDArray[np.uint64]) -> int:
    return int(state[0]) + 4


outcome = numba.njit(four_more)


def judge_by_hand(state: NDArray[np.uint64]) -> int:
    return int(outcome(state))


def test_so_does_one_that_is_compiled_already() -> None:
    game = load_game("tictactoe")
    state = game.new_state()
    assert game.uncompiled(judge_by_hand)(state) == game.kernel(judge_by_hand)(state) == 4


def test_two_versions_of_a_rule_in_one_file() -> None:
    """The second must not find the first one's code on disk."""
    ones, twos = (Bindings("test", {}, {}, {"number": rule}) for rule in (one, two))
    assert [specialise(add_number, rules)(1) for rules in (ones, twos)] == [2, 3]


def closure(n: int) -> Callable[[], int]:
    return lambda: n


def default(n: int) -> Callable[[], int]:
    def rule(k: int = n) -> int:
        return k

    return rule


def caller(n: int) -> Callable[[], int]:
    inner = numba.njit(closure(n))
    return lambda: inner()


@pytest.mark.parametrize("make", [lambda n: (one, two)[n - 1], closure, default, caller])
def test_two_versions_of_a_rule_that_their_author_compiled(make: Any) -> None:
    versions = [Bindings("test", {}, {}, {"number": numba.njit(make(n))}) for n in (1, 2)]
    assert [specialise(add_number, rules)(1) for rules in versions] == [2, 3]


def test_one_kernel_a_template() -> None:
    game = load_game("tictactoe")
    assert game.kernel(count_leaves) is game.kernel(count_leaves)
    assert load_game("tictactoe").kernel(count_leaves) is not game.kernel(count_leaves)


RULES = '''
"""A heap: take one or two; who takes the last wins."""
import numpy as np
from randori.games import Game
from randori.games.kernels import FIRST, ONGOING, SECOND
from randori.games.rules import Rules

HEAP = 5
MOST = 2

def start(state):
    state[0] = 0
    state[1] = HEAP

def outcome(state):
    if state[1] > np.uint64(0):
        return ONGOING
    return FIRST if int(state[0]) % 2 == 1 else SECOND

def legal(state, actions):
    count = min(MOST, int(state[1]))
    for i in range(count):
        actions[i] = i
    return count

def play(state, action):
    state[1] -= np.uint64(action + 1)
    state[0] += np.uint64(1)

def planes(state, words):
    words[0] = state[1]
    words[1] = 0

def game(most: int = 2) -> Game:
    return Game("heap", Rules(start, legal, play, outcome, planes), 3, 2, 2, (1, 9), 9,
                constants={"MOST": most})
'''

SCRIPT = """
import sys
from randori.games import load_game
from randori.games.perft import perft
game = load_game(sys.argv[1])
print("nodes", [perft(game, depth) for depth in (1, 2, 3)])
"""


@dataclass(frozen=True)
class Run:
    """What a process of its own found, and what it did with the cache on disk."""

    nodes: list[int]
    saved: int
    loaded: int


def run(spec: str, cache: Path) -> Run:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache), "NUMBA_DEBUG_CACHE": "1"}
    command = [sys.executable, "-c", SCRIPT, spec]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    found = re.search(r"nodes \[(.*)\]", done.stdout)
    assert found is not None
    nodes = [int(number) for number in found[1].split(", ")]
    return Run(nodes, done.stdout.count("data saved to"), done.stdout.count("data loaded from"))


def test_the_cache_on_disk(tmp_path: Path) -> None:
    """Hit in the next process, missed with another option and when the rules change."""
    file, cache = tmp_path / "heap.py", tmp_path / "cache"
    file.write_text(RULES)
    assert run(str(file), cache) == Run([2, 4, 7], saved=1, loaded=0)
    files = sorted(cache.rglob("*.nb*"))
    assert len(files) == 2
    assert run(str(file), cache) == Run([2, 4, 7], saved=0, loaded=1)
    assert sorted(cache.rglob("*.nb*")) == files
    assert run(f"{file}:most=1", cache) == Run([1, 1, 1], saved=1, loaded=0)
    file.write_text(RULES.replace("min(MOST,", "min(MOST + 1,"))
    assert run(str(file), cache) == Run([3, 8, 10], saved=1, loaded=0)


RACE = """
import sys
import numpy as np
from numba.core.caching import IndexDataCacheFile
from randori.games.kernels import Bindings, specialise

def total(numbers):
    found = numbers[0]
    for number in numbers[1:]:
        found += number
    return found

if sys.argv[1] == "late":  # read the index before anybody wrote it, wrote it before anybody else
    IndexDataCacheFile._load_index = lambda self: {}
    IndexDataCacheFile._save_index = lambda self, found: None
kernel = specialise(total, Bindings("race", globals(), {}))
print(kernel(np.arange(5).astype(sys.argv[2])))
"""


def test_processes_that_compile_at_the_same_time_do_not_mix_their_code(tmp_path: Path) -> None:
    script = tmp_path / "race.py"
    script.write_text(RACE)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}

    def call(*words: str) -> str:
        command = [sys.executable, str(script), *words]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    assert call("early", "float64") == "10.0"
    assert call("late", "int64") == "10"
    assert call("early", "float64") == "10.0", "not the other's machine code"
