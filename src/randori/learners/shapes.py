"""Local shapes by TD(0) and coadaptive self-play, on a board that may grow (paper B).

An iteration is a stretch of training games and a test of both agents. With `grow_from` the run
begins on a smaller board of the same game, and grows by a line whenever both agents are good
enough there, or have had their share of games.
"""

import logging
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from randori.agents.shapes import load_shapes, shapes_info
from randori.errors import UserError
from randori.games.game import Game
from randori.games.registry import load_game
from randori.learners.curriculum import Stoppable
from randori.learners.settings import StopConfig, expect_least, expect_share
from randori.learners.status import Counters, Listener, Status, progress_of
from randori.learners.yields import Tally
from randori.runs.checkpoint import (
    Checkpoint,
    latest_checkpoint,
    prune,
    read_checkpoint,
    read_model,
    write_checkpoint,
)
from randori.runs.folder import Run
from randori.runs.metrics import append_metrics, rewind
from randori.shapes.growth import grow
from randori.shapes.pair import Pair, TdConfig
from randori.shapes.sets import parse_sets
from randori.spec import parse_spec

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class ShapesConfig:
    """A whole run; the defaults are those of the paper."""

    sets: str = "..3x3@"
    """shape sets: 2x2, 2x2@ where the place matters, 2x2+ with liberties; ..3x3@ is all that are
    as general as 3x3@"""
    td: TdConfig = field(default_factory=TdConfig)
    grow_from: int = 0
    """size of the first board, for games that have a size; 0 begins with the whole board"""
    grow_at: float = 0.9
    """score of both agents in a test at which the board grows"""
    grow_games: int = 20_000
    """games on a board at most, before it grows anyway"""
    start_from: str = ""
    """a run or model whose weights are taken over: of a smaller board, or with fewer sets"""
    iteration_games: int = 500
    """games between two tests"""
    test_games: int = 100
    """games of each agent in a test"""
    checkpoint_minutes: float = 1.0
    """minutes between checkpoints"""
    stop: StopConfig = field(default_factory=StopConfig)

    def __post_init__(self) -> None:
        parse_sets(self.sets)
        expect_least(self, 1, "iteration_games", "test_games", "grow_games")
        expect_least(self, 0, "grow_from", "checkpoint_minutes")
        expect_share(self, "grow_at")


def resized(game: Game, size: int) -> Game:
    """Return the game on a board of another size, its other options as they are."""
    spec = parse_spec(game.spec)
    return load_game(str(replace(spec, options={**spec.options, "size": str(size)})))


def try_out(game: Game, config: ShapesConfig) -> None:
    """Complain about boards, sets and models that do not fit together."""
    learner = Shapes(game, config, 0, Path(), lambda status: None)
    if config.grow_from:
        learner.next_size()


def go_on(
    game: Game, config: ShapesConfig, run: Run, listen: Listener, stoppable: Stoppable
) -> "Shapes":
    """Train from wherever the folder stands."""
    learner = Shapes(game, config, run.seed, run.path, listen)
    newest = latest_checkpoint(run.path)
    if newest is not None:
        learner.restore(read_checkpoint(newest))
        done = learner.counters.iteration
        logger.info("resumed from %s, iteration %d", newest.name, done)
        rewind(run.path, lambda record: int(record.get("iteration", 0)) <= done)
    with stoppable(learner.stop):
        learner.run()
    return learner


class Shapes:
    """A learner over one run folder."""

    def __init__(
        self, game: Game, config: ShapesConfig, seed: int, folder: Path, listen: Listener
    ) -> None:
        self._game, self._config, self._folder, self._listen = game, config, folder, listen
        self._seed = seed
        self._size = config.grow_from or game.board[0]
        if config.grow_from and not 2 <= config.grow_from <= game.board[0]:
            raise UserError(f"grow_from goes from 2 to {game.board[0]}, not {config.grow_from}")
        self._pair = self._make_pair(self._size)
        self._size_games = 0
        if config.start_from:
            self._take_over(Path(config.start_from))
        self._scores = (0.0, 0.0)
        self._started = time.monotonic()
        self.is_stopping = False
        self.counters = Counters()
        self.status = Status(counters=self.counters)

    def _make_pair(self, size: int) -> Pair:
        game = self._game if size == self._game.board[0] else resized(self._game, size)
        return Pair(game, parse_sets(self._config.sets), self._config.td, self._seed)

    def _take_over(self, path: Path) -> None:
        theta = read_model(path).weights.get("theta")
        agents = 1 if theta is None else len(theta)  # a model to hand on may hold one of the pair
        values = [
            load_shapes(self._pair.game, path, min(which, agents - 1), any_board=True)
            for which in range(2)
        ]
        for agent, value in enumerate(values):
            self._pair.thetas[agent] = grow(value.theta, value.tables, self._pair.tables)

    def restore(self, checkpoint: Checkpoint) -> None:
        """Go on from a checkpoint."""
        state, arrays = checkpoint.state, checkpoint.arrays
        self.counters = self.status.counters = Counters(**state["counters"])
        self._size, self._size_games = int(state["size"]), int(state["size_games"])
        self._scores = tuple(state["scores"])
        self._pair = self._make_pair(self._size)
        self._pair.thetas = np.ascontiguousarray(arrays["thetas"], dtype=np.float32)
        if "means" in arrays:
            self._pair.means = np.ascontiguousarray(arrays["means"], dtype=np.float32)
            self._pair.looks = int(state["looks"])
        self._pair.dice[:] = arrays["dice"]
        self._pair.games = self.counters.games
        self._started = time.monotonic() - self.counters.seconds

    def run(self, until: float = 1.0) -> None:
        """Iterate until that share of the run is done or `stop` is called, then save."""
        self._tell("compiling")
        warm = self._make_pair(self._size)
        warm.train(1)
        warm.tests(1)
        self._started = time.monotonic() - self.counters.seconds
        fresh = False
        while not self.is_stopping and progress_of(self._config.stop, self.counters) < until:
            self.iterate()
            fresh = True
            if (
                self.counters.seconds - self.counters.saved_at
                >= 60 * self._config.checkpoint_minutes
            ):
                self.save()
                fresh = False
        if fresh:
            self.save()

    def stop(self) -> None:
        """End `run` after this iteration, which takes a moment."""
        self.is_stopping = True

    def iterate(self) -> None:
        """Train, test, grow where it is time, and note how it went."""
        config, counters = self._config, self.counters
        self._tell("self-play")
        begin = time.monotonic()
        tally = self._pair.train(config.iteration_games)
        seconds = time.monotonic() - begin
        self._tell("evaluating")
        self._scores = self._pair.tests(config.test_games)
        counters.iteration += 1
        counters.games += tally.games
        counters.plies += tally.plies
        self._size_games += tally.games
        self.status.tally = Tally(
            games=tally.games, whole=tally.games, plies=tally.plies, seconds=seconds,
            first_wins=tally.first_wins, draws=tally.draws,
        )  # fmt: skip
        opponent = "alp" if "liberties" in self._game.evaluations else "greedy"
        mean = sum(self._scores) / 2
        self.status.scores = {opponent: (mean, 2 * config.test_games)}
        self._tell("self-play")
        record = {
            "iteration": counters.iteration,
            "checkpoint": counters.checkpoint,
            "seconds": round(counters.seconds, 3),
            "games": counters.games,
            "size": self._size,
            "games_per_s": tally.games / max(1e-9, seconds),
            "error": tally.error,
            "game_length": self.status.tally.game_length,
            "first_player_score": self.status.tally.first_player_score,
            "scores": {opponent: mean},
            "agent_scores": list(self._scores),
        }
        self.status.history.append(record)
        append_metrics(self._folder, record)
        is_good = min(self._scores) >= config.grow_at or self._size_games >= config.grow_games
        if self._size < self._game.board[0] and is_good:
            self._grow()

    def next_size(self) -> int:
        """Return the next larger board that the game has: Othello has even ones only."""
        for size in range(self._size + 1, self._game.board[0]):
            with suppress(UserError):
                resized(self._game, size)
                return size
        return self._game.board[0]

    def _grow(self) -> None:
        """Go on with a board that is one line larger."""
        old = self._pair
        self._size = self.next_size()
        self._pair = self._make_pair(self._size)
        self._pair.start_from(old)
        logger.info("grown to %d after %d games", self._size, self._size_games)
        self._size_games = 0

    def save(self) -> None:
        """Write a checkpoint; while the board still grows, its model plays the small board."""
        counters, pair = self.counters, self._pair
        counters.checkpoint += 1
        counters.seconds = counters.saved_at = self._seconds()
        better = int(self._scores[1] > self._scores[0])
        info = shapes_info(
            pair.value(better), better=better, games=counters.games,
            seconds=round(counters.seconds, 1),
        )  # fmt: skip
        state: dict[str, Any] = {
            "counters": asdict(counters),
            "size": self._size,
            "size_games": self._size_games,
            "scores": list(self._scores),
            "looks": pair.looks,
        }
        arrays: dict[str, NDArray[Any]] = {
            "thetas": pair.thetas, "means": pair.means, "dice": pair.dice,
        }  # fmt: skip
        number = counters.checkpoint
        theta = np.stack([pair.playing(agent) for agent in range(2)])
        write_checkpoint(self._folder, number, {"theta": theta}, info, arrays, state)
        prune(self._folder)

    def _seconds(self) -> float:
        return time.monotonic() - self._started

    def _tell(self, phase: str) -> None:
        self.status.phase = phase
        self.counters.seconds = self._seconds()
        self.status.progress = progress_of(self._config.stop, self.counters)
        self._listen(self.status)
