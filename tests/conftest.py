"""What the tests of several layers share: an evaluator whose every answer can be computed again."""

import signal
import zlib
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from randori.games.game import Game
from randori.search.evaluator import Evaluator
from randori.search.uniform import ArrayLane


class HashEvaluator:
    """Random opinions that depend on nothing but the packed planes."""

    name = "hash"

    def __init__(self, game: Game) -> None:
        self._game = game
        self.batches: list[int] = []

    def judge(self, words: NDArray[np.uint64]) -> tuple[NDArray[np.float32], np.float32]:
        """Return the logits and the value of one position."""
        rng = np.random.default_rng(zlib.crc32(words.tobytes()))
        logits = rng.normal(size=self._game.num_logits).astype(np.float32)
        return logits, np.float32(rng.uniform(-1, 1))

    def lane(self, batch: int) -> "HashLane":
        return HashLane(self, self._game, batch)


class HashLane(ArrayLane):
    """Judges inside `launch`, and spoils the rows that nobody asked about."""

    def __init__(self, evaluator: HashEvaluator, game: Game, batch: int) -> None:
        super().__init__(game, batch)
        self._evaluator = evaluator

    def launch(self, count: int) -> None:
        assert 1 <= count <= len(self.values)
        self._evaluator.batches.append(count)
        self.logits[:] = np.nan
        self.values[:] = np.nan
        for row in range(count):
            self.logits[row], self.values[row] = self._evaluator.judge(self.words[row])


@pytest.fixture(scope="session")
def hashed() -> Callable[[Game], Evaluator]:
    """Make a `HashEvaluator`."""
    return HashEvaluator


def pytest_configure() -> None:
    """Take Ctrl-C as in a terminal: a shell in which tests run in the background ignores it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest file, so that two processes end at about the same time."""
    items.sort(key=lambda item: "test_docs" not in item.nodeid)
