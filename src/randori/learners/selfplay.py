"""Self-play: groups of slots over one evaluator, in this thread or in threads of their own.

On a CPU one group plays in the caller's thread, so one seed gives one result. On a GPU each thread
alternates between two groups: while the card works on one batch, the thread plays on in the other.
"""

import queue
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from randori.errors import UserError
from randori.games.dice import seed_dice
from randori.games.game import Game
from randori.learners.archive import SIZE, make_archive
from randori.learners.harvest import (
    ENTROPY,
    FULL,
    GAMES,
    MOVES,
    OVERRULED,
    ROWS,
    TOTALS,
    make_harvest,
)
from randori.learners.settings import SelfPlayConfig
from randori.learners.slots import Habits, begin, make_slots, play_on, replant
from randori.search.cache import make_cache
from randori.search.evaluator import Evaluator
from randori.search.puct import NO_HALVING, Knobs
from randori.search.roots import halving_table
from randori.search.search import make_questions
from randori.search.symmetric import SymmetricEvaluator
from randori.search.tree import SPARE, enlarge, expect_lawful, make_trees

HAND_OVER_SECONDS = 0.25
"""Seconds after which what there is goes to the learner, or its screen."""


@dataclass(frozen=True)
class Rows:
    """Training rows."""

    states: NDArray[np.uint64]
    """[n, S]"""
    counts: NDArray[np.uint16]
    """[n, K] visits, in the order of `legal`"""
    values: NDArray[np.float32]
    """[n] the search's own value, for the side to move"""
    results: NDArray[np.int8]
    """[n] how the game ended for the side to move"""
    replies: NDArray[np.uint16]
    """[n] the action that answered the move made there; NO_REPLY at the end of a game"""
    owners: NDArray[np.uint64]
    """[n, 2 * stone words] who has which cell in the end: the side to move, then its opponent"""

    def __len__(self) -> int:
        return len(self.results)


@dataclass(frozen=True)
class FinishedGame:
    """A game of self-play."""

    moves: list[int]
    outcome: int
    begun: int = 0
    """how many of the moves came from an earlier game or were drawn at random"""


@dataclass(frozen=True)
class Batch:
    """What one group produced since it was last asked."""

    rows: Rows
    games: list[FinishedGame]
    totals: NDArray[np.float64]
    evaluations: int


def temperature_table(points: tuple[tuple[int, float], ...], longest: int) -> NDArray[np.float64]:
    """Tabulate a temperature schedule ply by ply."""
    plies, values = zip(*sorted(points), strict=True)
    return np.asarray(np.interp(np.arange(longest), plies, values), dtype=np.float64)


def knobs_of(config: SelfPlayConfig) -> Knobs:
    """Return what steers the searches of self-play."""
    search = config.search
    halving = halving_table(config.gumbel, search.simulations) if config.gumbel else NO_HALVING
    return Knobs(
        search.exploration, search.fpu, search.solve, 1, True, config.forced, config.gumbel, halving
    )


def habits_of(config: SelfPlayConfig) -> Habits:
    """Return how its moves are chosen."""
    simulations = config.search.simulations
    return Habits(
        simulations, min(config.fast_simulations, simulations), config.full_share,
        config.noise_alpha, config.noise_share, config.keep_tree, config.surprise, config.archive,
        config.random_share, config.random_plies, config.balance,
    )  # fmt: skip


class Group:
    """Slots that step together, over one lane of the evaluator."""

    def __init__(
        self, game: Game, evaluator: Evaluator, config: SelfPlayConfig, dice: NDArray[np.uint64]
    ) -> None:
        search = config.search
        self._game = game
        self._lane = evaluator.lane(config.slots)
        lane = self._lane
        self._asked = make_questions(
            config.slots, 1, lane.states, lane.words, lane.logits, lane.values
        )
        nodes = search.simulations + 2
        edges = nodes * min(game.most_legal, 12) + SPARE * game.most_legal
        self._room = config.slots, nodes, edges
        self._trees = make_trees(*self._room, game)
        self._cache = make_cache(search.cache_mb, game.num_logits)
        self._slots = make_slots(game, config.slots, dice)
        self._harvest = make_harvest(game, config.slots)
        self._temperatures = temperature_table(config.temperature, game.longest)
        self._knobs, self._habits = knobs_of(config), habits_of(config)
        self._archive = make_archive(game, SIZE if config.archive else 0)
        self._step = game.kernel(play_on)
        self.evaluations = 0
        self._handed_over = 0
        self._taken_at = monotonic()
        self._weights = self._weights_seen = self._stale_steps = 0
        self._busy = threading.Lock()  # held while arrays change, so that `save` sees a whole step
        game.kernel(begin)(self._trees, self._slots, self._archive, self._habits)

    def step(self) -> None:
        """Wait for the answers, play on, and launch the next questions."""
        self._lane.wait()
        with self._busy:
            if self._weights_seen != self._weights:
                self._weights_seen = self._weights
                self._stale_steps = 2  # the second drops the answers that are in flight now
            if self._stale_steps:
                self._cache.keys[:] = 0
                self._stale_steps -= 1
            rows, cramped = self._step(
                self._trees, self._cache, self._asked, self._slots, self._harvest,
                self._archive, self._temperatures, self._knobs, self._habits,
            )  # fmt: skip
            expect_lawful(self._trees, self._game)
            if cramped:
                self._trees = enlarge(self._trees, self._game)
        if rows:
            self._lane.launch(rows)
            self.evaluations += rows

    def take(self) -> Batch:
        """Hand over what is finished."""
        with self._busy:
            return self._take()

    def _take(self) -> Batch:
        harvest = self._harvest
        rows, games = (int(harvest.used[i]) for i in (ROWS, GAMES))
        batch = Batch(
            Rows(*(getattr(harvest, part.name)[:rows].copy() for part in fields(Rows))),
            [FinishedGame(harvest.moves[g, : harvest.plies[g]].tolist(),
                          int(harvest.outcomes[g]), int(harvest.begun[g]))
             for g in range(games)],
            harvest.totals.copy(),
            self.evaluations - self._handed_over,
        )  # fmt: skip
        harvest.used[:] = 0
        harvest.totals[:] = 0.0
        self._handed_over = self.evaluations
        self._taken_at = monotonic()
        return batch

    @property
    def is_ready(self) -> bool:
        """Whether finished games wait to be taken; rows come only with their games."""
        return bool(self._harvest.used[GAMES])

    @property
    def is_ripe(self) -> bool:
        """Whether so many wait that it is time to take them, or so long."""
        rows, games = self._harvest.used
        if games == 0:
            return False
        is_full = 4 * rows > len(self._harvest.results) or 4 * games > len(self._harvest.plies)
        return bool(is_full or monotonic() - self._taken_at > HAND_OVER_SECONDS)

    def forget_evaluations(self) -> None:
        """Forget what the old weights said; safe to call from another thread."""
        self._weights += 1

    def save(self) -> tuple[dict[str, NDArray[Any]], Batch]:
        """Return all that `restore` needs to play on, except the trees, and what is finished.

        Of the moves and rows only those that are there: at full length they would be gigabytes.
        """
        with self._busy:
            arrays: dict[str, NDArray[Any]] = {"roots": self._trees.states[:, 0].copy()}
            for name, array in self._slots._asdict().items():
                used = self._used(name)
                arrays[name] = array.copy() if used is None else array[used]
            for name, array in self._archive._asdict().items():
                arrays[f"archive.{name}"] = array.copy()
            return arrays, self._take()

    def _used(self, name: str) -> NDArray[np.bool_] | None:
        """Tell which entries [B, L] of a slot array are in use; None for those without axis L."""
        ends = {"moves": "plies"} | dict.fromkeys(
            ("states", "counts", "values", "surprise"), "rows"
        )
        if name not in ends:
            return None
        count: NDArray[np.int32] = getattr(self._slots, ends[name])
        return np.asarray(np.arange(self._game.longest) < count[:, None])

    def fits(self, arrays: dict[str, NDArray[Any]]) -> bool:
        """Tell whether `arrays` come from a group of as many slots."""
        return len(arrays.get("budget", ())) == len(self._slots.budget)

    def restore(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Go on from what `save` returned, with trees that start anew."""
        try:
            for name, array in self._slots._asdict().items():
                if self._used(name) is None:
                    # Checkpoints of older versions do not say where their games began.
                    array[:] = arrays.get(name, 0) if name == "begun" else arrays[name]
            for name, array in self._slots._asdict().items():
                used = self._used(name)
                if used is not None:
                    array[used] = arrays[name]
            for name, array in self._archive._asdict().items():
                kept = arrays[f"archive.{name}"]
                if kept.shape == array.shape:  # otherwise the archive was switched on or off
                    array[:] = kept
        except (KeyError, ValueError):
            raise UserError("the games in progress do not fit: the rules have changed") from None
        self._replant(np.ascontiguousarray(arrays["roots"], dtype=np.uint64))

    def forget_trees(self) -> None:
        """Start every search anew, as `restore` does."""
        self._replant(self._trees.states[:, 0].copy())

    def _replant(self, roots: NDArray[np.uint64]) -> None:
        self._lane.wait()
        self._weights += 1
        if self._trees.edges.shape[1] > self._room[-1]:
            # As small as those of a run that starts here: whoever lacks room sits out a step.
            self._trees = make_trees(*self._room, self._game)
        self._game.kernel(replant)(self._trees, self._asked, self._slots, roots)


@dataclass
class Tally:
    """What self-play did, added up."""

    rows: int = 0
    games: int = 0
    plies: int = 0
    evaluations: int = 0
    seconds: float = 0.0
    paused: float = 0.0
    """seconds of these in which the mean thread waited for the learner"""
    first_wins: int = 0
    second_wins: int = 0
    draws: int = 0
    totals: NDArray[np.float64] = field(default_factory=lambda: np.zeros(TOTALS))

    def add(self, batch: Batch) -> None:
        """Count one batch."""
        self.rows += len(batch.rows)
        self.games += len(batch.games)
        self.plies += sum(len(game.moves) for game in batch.games)
        self.evaluations += batch.evaluations
        for game in batch.games:
            self.first_wins += game.outcome == 1
            self.second_wins += game.outcome == 2
            self.draws += game.outcome == 3
        self.totals += batch.totals

    @property
    def moves(self) -> int:
        """Moves played, those of unfinished games included."""
        return int(self.totals[MOVES])

    @property
    def entropy(self) -> float:
        """Mean entropy, in nats, of the visits of full searches."""
        return float(self.totals[ENTROPY] / max(1.0, self.totals[FULL]))

    @property
    def overruled(self) -> float:
        """How often a full search preferred another move than the network."""
        return float(self.totals[OVERRULED] / max(1.0, self.totals[FULL]))


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
        left += [group.take() for group in self.groups if group.is_ready]
        return [batch for batch in left if isinstance(batch, Batch)]
