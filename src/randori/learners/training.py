"""Start and resume training: a run folder, its lock, and the learner that goes on in it."""

import logging
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

from randori.games.game import Game
from randori.games.registry import load_game
from randori.learners.alphazero import AlphaZero, AlphaZeroConfig
from randori.learners.status import Listener
from randori.runs.atomic import explained
from randori.runs.checkpoint import latest_checkpoint, read_checkpoint
from randori.runs.config import from_dict, override, to_dict
from randori.runs.folder import Run, create_run, locked, open_run, save_run
from randori.runs.metrics import rewind
from randori.runs.shards import drop_shards, read_shards

LEARNERS = ("alphazero",)

logger = logging.getLogger(__name__)


def start_run(
    game: Game, config: AlphaZeroConfig, *, seed: int, path: Path | None, learner: str
) -> Run:
    """Make a new run folder."""
    return create_run(path, learner=learner, game=game.spec, seed=seed, config=to_dict(config))


def change_run(path: Path, assignments: list[str]) -> Run:
    """Open a run and change its settings; what already happened stays as it is."""
    run = open_run(path)
    if not assignments:
        return run
    config = override(from_dict(AlphaZeroConfig, run.config), assignments)
    run = replace(run, config=to_dict(config))
    save_run(run)
    return run


def train(run: Run, listen: Listener) -> AlphaZero:
    """Go on from wherever the folder stands, until the run is complete or interrupted."""
    game = load_game(run.game)
    config = from_dict(AlphaZeroConfig, run.config, str(run.path / "config.json"))
    with locked(run.path), _logged(run):
        learner = AlphaZero(game, config, run.seed, run.path, listen)
        newest = latest_checkpoint(run.path)
        done = 0
        if newest is not None:
            checkpoint = read_checkpoint(newest)
            rows = read_shards(run.path, checkpoint.number, config.window, "results")
            drop_shards(run.path, after=checkpoint.number)
            learner.restore(checkpoint, rows)
            done = learner.counters.iteration
            logger.info("resumed from checkpoint %d, iteration %d", checkpoint.number, done)
        else:
            logger.info("started %s on %s, seed %d", run.learner, run.game, run.seed)
            drop_shards(run.path, after=0)
        rewind(run.path, lambda record: int(record.get("iteration", 0)) <= done)
        with _stopping_on_signals(learner.stop):
            learner.run()
        logger.info("stopped at iteration %d", learner.counters.iteration)
    return learner


@contextmanager
def _logged(run: Run) -> Iterator[None]:
    """Copy what Randori logs, and the error that ends the run, to the run's own log."""
    with explained(run.log):
        handler = logging.FileHandler(run.log, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    root = logging.getLogger("randori")
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    try:
        yield
    except Exception as error:
        logger.info("ended by %s: %s", type(error).__name__, error)
        raise
    finally:
        root.removeHandler(handler)
        root.setLevel(level)
        handler.close()


@contextmanager
def _stopping_on_signals(stop: Callable[[], None]) -> Iterator[None]:
    """Turn the first Ctrl-C or SIGTERM into a clean stop; a second one ends at once."""

    def handle(number: int, frame: FrameType | None) -> None:
        stop()
        signal.signal(number, previous[number])

    previous: dict[int, Any] = {}
    for number in (int(signal.SIGINT), int(signal.SIGTERM)):
        previous[number] = signal.signal(number, handle)
    try:
        yield
    finally:
        for number in previous:
            signal.signal(number, previous[number])
