"""A group of slots that step together, over one lane of the evaluator."""

import threading
from dataclasses import fields
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from randori.errors import UserError
from randori.games.game import Game
from randori.learners.archive import SIZE, make_archive
from randori.learners.harvest import GAMES, NONE_MADE, ROWS, make_harvest
from randori.learners.settings import SelfPlayConfig
from randori.learners.slots import Habits, begin, make_slots, play_on, replant
from randori.learners.yields import Batch, FinishedGame, Rows
from randori.search.byte_logits import byte_kernels
from randori.search.cache import make_cache
from randori.search.evaluator import Evaluator, selfplay_lane
from randori.search.puct import NO_HALVING, Knobs
from randori.search.roots import halving_table
from randori.search.search import make_questions
from randori.search.tree import SPARE, enlarge, expect_lawful, make_trees

SINCE = {"begun": 0, "origin": 0, "amends": NONE_MADE}
"""What older checkpoints of a group lack, and what stands for it."""
HAND_OVER_SECONDS = 0.25
"""Seconds after which what there is goes to the learner, or its screen."""


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
        config.random_share, config.random_plies, config.balance, config.deblunder,
    )  # fmt: skip


class Group:
    """Slots that step together, over one lane of the evaluator."""

    def __init__(
        self, game: Game, evaluator: Evaluator, config: SelfPlayConfig, dice: NDArray[np.uint64]
    ) -> None:
        search = config.search
        self._game = game
        self._lane = selfplay_lane(evaluator, config.slots, config.byte_logits)
        lane = self._lane
        self._asked = make_questions(
            config.slots, 1, lane.states, lane.words, lane.logits, lane.values
        )
        nodes = search.simulations + 2
        edges = nodes * min(game.most_legal, 12) + SPARE * game.most_legal
        are_bytes = lane.logits.dtype == np.uint8
        if are_bytes and lane.logits.shape[1] != game.compact_width:
            expected = f"{game.compact_width} bytes a row, found {lane.logits.shape[1]}"
            raise ValueError(f"logits about {game.spec}: expected {expected}")
        self._room = config.slots, nodes, edges, game, np.uint8 if are_bytes else np.uint16
        self._trees = make_trees(*self._room)
        self._cache = make_cache(search.cache_mb, lane.logits.shape[1], lane.logits.dtype.type)
        self._slots = make_slots(game, config.slots, dice)
        self._harvest = make_harvest(game, config.slots)
        self._temperatures = temperature_table(config.temperature, game.longest)
        self._knobs, self._habits = knobs_of(config), habits_of(config)
        self._archive = make_archive(game, SIZE if config.archive else 0)
        self._step = game.kernel(play_on, **(byte_kernels(game) if are_bytes else {}))
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
        ends = {"moves": "plies", "amends": "plies"} | dict.fromkeys(
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
                    array[:] = arrays.get(name, SINCE[name]) if name in SINCE else arrays[name]
            for name, array in self._slots._asdict().items():
                used = self._used(name)
                if used is not None:
                    array[used] = arrays.get(name, SINCE[name]) if name in SINCE else arrays[name]
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
        if self._trees.edges.shape[1] > self._room[2]:
            # As small as those of a run that starts here: whoever lacks room sits out a step.
            self._trees = make_trees(*self._room)
        self._game.kernel(replant)(self._trees, self._asked, self._slots, roots)
