"""Remembered evaluations: found under the right key only, and gone when the weights change."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from randori.games.game import Game
from randori.games.kernels import specialise
from randori.games.registry import load_game
from randori.search.cache import make_cache, node_key, recall, remember
from randori.search.search import Search, SearchConfig
from randori.search.tree import Tree, make_trees, plant, tree_of

Build = Callable[[Game], Any]


@pytest.fixture(autouse=True)
def _hashes_overflow() -> Any:
    """Plain numpy words complain about what hashing does on purpose."""
    with np.errstate(over="ignore"):
        yield


def planted(game: Game, moves: str = "") -> tuple[Tree, Any]:
    """A tree with one node, uncompiled, and that node's planes."""
    position = game.start()
    for move in moves.split():
        position = position.play(move)
    tree = tree_of(make_trees(1, 4, 40, game), 0)
    specialise(plant, game._bindings, compiled=False)(tree, position.state)
    words = np.zeros(game.input_words, dtype=np.uint64)
    game.plain.planes(position.state, words)
    return tree, words


def key_of(game: Game, tree: Tree, words: Any) -> np.uint64:
    key: np.uint64 = specialise(node_key, game._bindings, compiled=False)(tree, 0, words)
    return key


def test_what_is_remembered_is_recalled() -> None:
    game = load_game("tictactoe")
    memory = make_cache(0.01, 9)
    tree, words = planted(game, "b2")
    key = key_of(game, tree, words)
    assert recall(memory, key) == -1
    tree.nodes[0].value = 0.5
    tree.edges.prior[:8] = np.arange(8, dtype=np.float32) / 28
    remember(memory, key, tree, 0)
    place = recall(memory, key)
    assert place >= 0
    assert memory.values[place] == 0.5
    assert memory.priors[place, :8].tolist() == tree.edges.prior[:8].tolist()
    other, seen = planted(game, "a1")
    assert recall(memory, key_of(game, other, seen)) == -1


def test_the_key_covers_planes_and_legal_actions() -> None:
    game = load_game("tictactoe")
    tree, words = planted(game, "b2 a1")
    key = key_of(game, tree, words)
    assert key == key_of(game, *planted(game, "b2 a1"))
    assert key == key_of(game, *planted(game, "b2 a1")) != 0
    tree.edges[6].action = 0  # another set of legal actions on the same board
    assert key_of(game, tree, words) != key
    tree, words = planted(game, "b2 a1")
    tree.nodes[0].count -= 1
    assert key_of(game, tree, words) != key
    tree, words = planted(game, "b2 a1")
    tree.edges[0].action, tree.edges[1].action = 2, 1  # priors stand in the order of `legal`
    assert key_of(game, tree, words) != key
    tree, words = planted(game, "b2 a1")
    words[1] ^= np.uint64(1 << 8)
    assert key_of(game, tree, words) != key


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
    search = Search(game, evaluator, SearchConfig(cache_mb=1.0), slots=2)
    search.set_roots(game.new_state()[None])
    search.run(100)
    alone = sum(evaluator.batches)
    search.set_roots(np.array([game.new_state(), game.new_state()]))
    search.run(100)
    assert sum(evaluator.batches) == alone
