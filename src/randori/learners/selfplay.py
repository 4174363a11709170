"""Self-play: groups of slots over one evaluator, in this thread or in threads of their own.

On a CPU one group plays in the caller's thread, so one seed gives one result. On a GPU each thread
alternates between two groups: while the card works on one batch, the thread plays on in the other.
"""

import queue
import threading
from collections.abc import Iterator
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from randori.games.dice import seed_dice
from randori.games.game import Game
from randori.learners.group import HAND_OVER_SECONDS, Group
from randori.learners.settings import SelfPlayConfig
from randori.learners.yields import Batch
from randori.search.evaluator import Evaluator
from randori.search.symmetric import SymmetricEvaluator


class SelfPlay:
    """All groups of one evaluator."""

    def __init__(self, game: Game, evaluator: Evaluator, config: SelfPlayConfig, seed: int) -> None:
        if config.turns != "none":
            evaluator = SymmetricEvaluator(game, evaluator, config.turns, seed)
        count = max(1, 2 * config.threads)
        dice = seed_dice(seed, count * config.slots)
        parts = np.split(dice, count)
        self.groups = [Group(game, evaluator, config, part) for part in parts]
        self._threads = config.threads
        self._queue: queue.Queue[Batch | BaseException] = queue.Queue()
        self._room = threading.Condition()
        self._waiting = 0  # rows in the queue
        self._limit = 0  # rows that may wait there before the threads pause
        self._paused = 0.0  # seconds that they did, all together
        self._workers: list[threading.Thread] = []
        self._stop = threading.Event()

    def collect(self, rows: int) -> Iterator[Batch]:
        """Play until that many new rows are there; yield them as they come."""
        self._limit = rows
        source = self._from_threads() if self._threads else self._inline()
        while rows > 0:
            batch = next(source)
            rows -= len(batch.rows)
            yield batch

    def _inline(self) -> Iterator[Batch]:
        # Games are handed over as soon as they end; when none does, the clock decides how often
        # the screen hears of evaluations. So what is played never depends on the clock.
        until = monotonic() + HAND_OVER_SECONDS
        while True:
            for group in self.groups:
                group.step()
            if any(group.is_ready for group in self.groups) or monotonic() > until:
                until = monotonic() + HAND_OVER_SECONDS
                for group in self.groups:
                    yield group.take()

    def _from_threads(self) -> Iterator[Batch]:
        if not self._workers:
            pairs = [self.groups[i : i + 2] for i in range(0, len(self.groups), 2)]
            self._workers = [
                threading.Thread(target=self._work, args=(pair,), daemon=True) for pair in pairs
            ]
            for worker in self._workers:
                worker.start()
        while True:
            batch = self._queue.get()
            if isinstance(batch, BaseException):
                raise batch
            with self._room:
                self._waiting -= len(batch.rows)
                self._room.notify_all()
            yield batch

    def _work(self, groups: list[Group]) -> None:
        try:
            while not self._stop.is_set():
                for group in groups:
                    group.step()
                    if group.is_ripe:
                        self._hand_over(group)
        except BaseException as error:
            self._queue.put(error)

    def _hand_over(self, group: Group) -> None:
        """Queue what a group has finished; pause while more rows wait than one `collect` takes."""
        with self._room:
            batch = group.take()
            self._waiting += len(batch.rows)
            self._queue.put(batch)
            start = monotonic()
            self._room.wait_for(lambda: self._waiting <= self._limit or self._stop.is_set())
            self._paused += monotonic() - start

    @property
    def has_threads(self) -> bool:
        """Whether games are played on while nobody collects them."""
        return self._threads > 0

    @property
    def paused(self) -> float:
        """Seconds that the mean thread has waited so far because nobody collected its games."""
        with self._room:
            return self._paused / max(1, self._threads)

    @property
    def evaluations(self) -> int:
        """Evaluations asked for so far, those of unfinished games included."""
        return sum(group.evaluations for group in self.groups)

    def save(self) -> tuple[dict[str, NDArray[Any]], list[Batch]]:
        """Return all that is needed to play on, and what was finished but not collected so far.

        Threads play on meanwhile, but hand nothing over: what is finished is in one of the two.
        """
        arrays: dict[str, NDArray[Any]] = {}
        batches: list[Batch] = []
        with self._room:
            while not self._queue.empty():
                batch = self._queue.get_nowait()
                if isinstance(batch, BaseException):
                    raise batch
                batches.append(batch)
            self._waiting = 0
            for i, group in enumerate(self.groups):
                part, batch = group.save()
                arrays |= {f"{i}.{name}": array for name, array in part.items()}
                batches.append(batch)
            self._room.notify_all()
        return arrays, batches

    def close(self) -> list[Batch]:
        """Stop the threads and return what they had finished but not handed over."""
        self._stop.set()
        with self._room:
            self._room.notify_all()
        left: list[Batch | BaseException] = []
        for worker in self._workers:
            while worker.is_alive() or not self._queue.empty():
                while not self._queue.empty():
                    left.append(self._queue.get_nowait())
                worker.join(timeout=0.05)
        self._workers = []
        for failure in left:
            if isinstance(failure, BaseException):
                raise failure
        left += [group.take() for group in self.groups if group.is_ready]
        return [batch for batch in left if isinstance(batch, Batch)]
