"""Remembered evaluations: found under the right key only, and gone when the weights change."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from randori.games.game import Game
from randori.games.kernels import specialise
from randori.games.registry import load_game
from randori.search.cache import key_of, make_cache, recall, remember
from randori.search.search import Search, SearchConfig
from randori.search.tree import NODES

Build = Callable[[Game], Any]


@pytest.fixture(autouse=True)
def _hashes_overflow() -> Any:
    """Plain numpy words complain about what hashing does on purpose."""
    with np.errstate(over="ignore"):
        yield


def planes_of(game: Game, moves: str = "") -> Any:
    position = game.start()
    for move in moves.split():
        position = position.play(move)
    words = np.zeros(game.input_words, dtype=np.uint64)
    game.plain.planes(position.state, words)
    return words


def key(game: Game, words: Any) -> np.uint64:
    found: np.uint64 = specialise(key_of, game._bindings, compiled=False)(words)
    return found


def test_what_is_remembered_is_recalled() -> None:
    game = load_game("tictactoe")
    memory = make_cache(0.01, 9)
    here = key(game, planes_of(game, "b2"))
    assert recall(memory, here) == -1
    logits = np.arange(9, dtype=np.float32) / 28
    specialise(remember, game._bindings, compiled=False)(memory, here, np.float32(0.5), logits)
    place = recall(memory, here)
    assert place >= 0
    assert memory.values[place] == 0.5
    assert memory.logits[place].tolist() == logits.tolist()
    assert recall(memory, key(game, planes_of(game, "a1"))) == -1


def test_the_key_covers_the_planes() -> None:
    game = load_game("tictactoe")
    words = planes_of(game, "b2 a1")
    here = key(game, words)
    assert here == key(game, planes_of(game, "b2 a1")) != 0
    for word in range(game.input_words):
        for place in (0, 8, 63):
            words[word] ^= np.uint64(1 << place)
            assert key(game, words) != here
            words[word] ^= np.uint64(1 << place)


def test_keys_of_like_planes_differ() -> None:
    """All pairs of planes with at most two stones more, on each of two planes of 64 cells."""
    game = load_game("othello")
    words = np.zeros((64 * 64 + 128, game.input_words), dtype=np.uint64)
    cells = np.uint64(1) << np.arange(64, dtype=np.uint64)
    words[:4096, 0], words[:4096, 1] = np.repeat(cells, 64), np.tile(cells, 64)
    words[4096 : 4096 + 64, 0] = cells
    words[4096 + 64 :, 1] = cells
    keys = {int(key(game, row)) for row in words}
    assert len(keys) == len(words)
    low = {one >> 1 & 0xFFFFF for one in keys}
    assert len(low) > 0.997 * len(words), "the bits that choose the place, too"


def blank(state: Any, words: Any) -> None:
    """Planes on which all positions look alike."""
    for w in range(len(words)):
        words[w] = np.uint64(0)


def test_moves_are_those_of_the_position_whatever_is_remembered(hashed: Build) -> None:
    game = load_game("tictactoe")
    game = replace(game, rules=game.rules._replace(planes=blank))
    search = Search(game, hashed(game), SearchConfig(cache_mb=1.0))
    for moves in ("", "b2", "a1 c3"):
        position = game.start()
        for move in moves.split():
            position = position.play(move)
        search.set_roots(position.state[None].copy())
        search.run(30)
        found = search.analysis().moves
        assert sorted(move.action for move in found) == sorted(position.actions())
        assert sum(move.prior for move in found) == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize(
    ("megabytes", "places"), [(0.0, 1), (1e-9, 1), (1.0, 16384), (16.0, 2**18)]
)
def test_a_cache_fits_its_memory(megabytes: float, places: int) -> None:
    memory = make_cache(megabytes, 9)
    assert [len(part) for part in memory] == [places] * 3
    used = sum(part.nbytes for part in memory)
    assert used <= megabytes * 2**20 or places == 1


def test_a_position_is_evaluated_once_until_forgotten(hashed: Build) -> None:
    game = load_game("tictactoe")
    evaluator = hashed(game)
    search = Search(game, evaluator, SearchConfig(cache_mb=16.0))
    counts = []
    for forget in (False, False, True):
        if forget:
            search.forget()
        evaluator.batches.clear()
        search.set_roots(game.new_state()[None])
        search.run(200)
        counts.append(sum(evaluator.batches))
    assert 50 < counts[0] < 200, "transpositions are recognised within one search"
    assert counts[1] == 0, "and all of it by the next one"
    assert counts[2] == counts[0]


def test_trees_share_what_they_know(hashed: Build) -> None:
    game = load_game("connect4")
    evaluator = hashed(game)
    search = Search(game, evaluator, SearchConfig(cache_mb=16.0), slots=2)
    search.set_roots(game.new_state()[None])
    search.run(100)
    alone = sum(evaluator.batches)
    search.set_roots(np.array([game.new_state(), game.new_state()]))
    search.run(100)
    assert sum(evaluator.batches) == alone


def test_every_answer_is_remembered_under_its_own_position(hashed: Build) -> None:
    """Also when a slot that had no room asks nothing, so that the others' rows move up."""
    game = load_game("connect4")
    evaluator = hashed(game)
    search = Search(game, evaluator, SearchConfig(cache_mb=16.0), slots=4)
    starts = [game.start()]
    for move in "421":
        starts.append(starts[-1].play(move))
    search.set_roots(np.array([one.state for one in starts]))
    first_room = search.trees.nodes.shape[1]
    search.run(900)
    assert search.trees.nodes.shape[1] > first_room, "room ran out on the way"
    words = np.zeros(game.input_words, dtype=np.uint64)
    remembered = 0
    for slot in range(4):
        for node in range(0, int(search.trees.used[slot, NODES]), 3):
            game.plain.planes(search.trees.states[slot, node], words)
            place = recall(search._cache, key(game, words))
            if place >= 0:
                remembered += 1
                logits, value = evaluator.judge(words)
                assert search._cache.values[place] == value
                assert np.array_equal(search._cache.logits[place], logits)
    assert remembered > 300
