"""AlphaZero in a run folder, stage by stage: each begins where the one before has saved."""

import logging
from collections.abc import Callable, Mapping, Sequence, Sized
from contextlib import AbstractContextManager

from randori.agents.models import without_side_tasks
from randori.agents.registry import load_agent
from randori.games.game import Game
from randori.learners.alphazero import AlphaZero
from randori.learners.settings import AlphaZeroConfig
from randori.learners.status import Counters, Listener, progress_of
from randori.learners.yields import SINCE
from randori.networks.choose import expect_runtime
from randori.runs.checkpoint import latest_checkpoint, read_checkpoint, read_model
from randori.runs.folder import Run
from randori.runs.metrics import rewind
from randori.runs.shards import drop_shards, read_shards

FIRST_MODEL = "first.safetensors"
"""The model that a run began with, where it did not begin from zero."""

Stoppable = Callable[[Callable[[], None]], AbstractContextManager[None]]
"""Makes a context in which Ctrl-C calls what it is given."""

logger = logging.getLogger(__name__)


def try_out(game: Game, config: AlphaZeroConfig) -> None:
    """Complain about opponents that cannot play, and about what this machine has not."""
    for opponent in config.evaluation.opponents:
        load_agent(opponent, game)
    for share in (0.0, *(share for share, _ in config.stages)):
        expect_runtime(config.staged(share).runtime)


def go_on(
    game: Game, config: AlphaZeroConfig, run: Run, listen: Listener, stoppable: Stoppable
) -> AlphaZero:
    """Train through the stages that are left."""
    progress = 0.0
    newest = latest_checkpoint(run.path)
    if newest is not None:
        counters = Counters(**read_checkpoint(newest).state["counters"])
        progress = progress_of(config.stop, counters)
    while True:
        until = config.next_stage(progress)
        staged = config.staged(progress)
        learner = AlphaZero(game, staged, run.seed, run.path, listen)
        resume(learner, run, staged.window)
        with stoppable(learner.stop):
            learner.run(until)
        if learner.is_stopping or until >= 1.0:
            return learner
        progress = until
        del learner  # its trees are large, and the next one has its own
        logger.info("next stage, at %.0f %% of the run", 100 * until)


def resume(learner: AlphaZero, run: Run, window: int) -> None:
    """Give a learner what the newest checkpoint holds, if there is one; forget what is newer."""
    newest = latest_checkpoint(run.path)
    if newest is None:
        if (run.path / FIRST_MODEL).is_file():
            learner.begin_with(without_side_tasks(read_model(run.path / FIRST_MODEL).weights))
        return
    checkpoint = read_checkpoint(newest)
    rows = read_shards(run.path, checkpoint.number, window, "results", SINCE)
    drop_shards(run.path, after=checkpoint.number)
    learner.restore(checkpoint, rows)
    learner.status.warning = _warn(checkpoint.state["shards"], rows, window)
    done = learner.counters.iteration
    logger.info("resumed from checkpoint %d, iteration %d", checkpoint.number, done)
    rewind(run.path, lambda record: int(record.get("iteration", 0)) <= done)


def _warn(shards: Sequence[tuple[int, int]], rows: Mapping[str, Sized], window: int) -> str:
    """Say how many rows of the window are missing, of those that the checkpoint counts on."""
    expected = min(window, sum(count for _, count in shards))
    missing = expected - len(rows.get("results", ()))
    if missing <= 0:
        return ""
    words = f"{missing} of {expected} replay rows are missing or damaged"
    logger.warning("%s", words)
    return f"note: {words}; training goes on with fewer (see the run's log)"
