"""Start and resume training: a run folder, its lock, and the learner that goes on in it."""

import logging
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

import torch

from randori.agents.models import network_of, signature_of, stored_config, without_side_tasks
from randori.errors import UserError
from randori.games.check import check
from randori.games.game import Game
from randori.games.registry import load_game
from randori.learners.curriculum import FIRST_MODEL
from randori.learners.status import Listener
from randori.learners.table import Learner, config_of, find_learner
from randori.networks.build import build
from randori.networks.config import NetworkConfig
from randori.networks.grow import grow
from randori.runs.atomic import explained, write_text
from randori.runs.checkpoint import (
    Model,
    checkpoint_paths,
    latest_checkpoint,
    read_model,
    write_model,
)
from randori.runs.config import override, to_dict
from randori.runs.folder import Run, create_run, locked, numbered, open_run, save_run
from randori.runs.metrics import read_metrics, rewind
from randori.runs.shards import drop_shards, shard_numbers
from randori.spec import parse_spec

RULES = "game.py"
"""The copy of a user's own game in its run folder."""
CHECKED_GAMES = 5
"""Random games that a user's own rules must survive before they are compiled and trained on."""

logger = logging.getLogger(__name__)


def start_run(
    game: Game,
    config: Any,
    *,
    seed: int,
    path: Path | None,
    learner: str,
    source: Path | None = None,
) -> Run:
    """Make a new run folder, once everything that the run needs has been seen to work.

    The rules of a user's own file are checked, because compiled kernels trust them, and copied: the
    run goes on with the rules that it began with, from whatever folder it is resumed. So is the
    model at `source`, if the run shall begin with its weights.
    """
    find_learner(learner).try_out(game, config)
    rules = parse_spec(game.spec).name
    if rules.endswith(".py"):
        check(game, games=CHECKED_GAMES, compiled=False)
    first = None if source is None else fitting_model(game, source, config.network)
    run = create_run(path, learner=learner, game=game.spec, seed=seed, config=to_dict(config))
    if rules.endswith(".py"):
        write_text(run.path / RULES, Path(rules).read_text(encoding="utf-8"))
    if first is not None:
        write_model(run.path / FIRST_MODEL, first.weights, first.info)
    return run


def network_config(source: Path, wanted: NetworkConfig) -> NetworkConfig:
    """Return the shape of a model, with the side tasks that are `wanted`."""
    model = read_model(source)
    if not isinstance(model.info.get("network"), dict):
        raise UserError(f"{source} holds no network to begin with; --learner shapes reads shapes")
    shape = stored_config(model)
    if shape.kind != "resnet":
        return shape
    return replace(shape, reply=wanted.reply, ownership=wanted.ownership)


def fitting_model(game: Game, source: Path, shape: NetworkConfig) -> Model:
    """Read a model whose weights a network of this shape can begin with."""
    model = read_model(source)
    network_of(game, model)
    with torch.random.fork_rng(devices=[]):
        grow(build(shape, signature_of(game)), without_side_tasks(model.weights))
    return model


def game_of(run: Run) -> Game:
    """Load the game of a run: a user's own from the copy in the folder."""
    rules = run.path / RULES
    if not rules.is_file():
        return load_game(run.game)
    return load_game(str(replace(parse_spec(run.game), name=str(rules))))


def change_run(path: Path, assignments: list[str]) -> Run:
    """Open a run and change its settings; what already happened stays as it is."""
    run = open_run(path)
    if not assignments:
        return run
    config = override(config_of(run), assignments)
    run = replace(run, config=to_dict(config))
    save_run(run)
    return run


def train(run: Run, listen: Listener) -> Learner:
    """Go on from wherever the folder stands, until the run is complete or interrupted."""
    game, kind, config = game_of(run), find_learner(run.learner), config_of(run)
    with locked(run.path):
        expect_checkpoints(run.path)
        with _logged(run):
            newest = latest_checkpoint(run.path)
            if newest is None:
                logger.info("started %s on %s, seed %d", run.learner, run.game, run.seed)
                drop_shards(run.path, after=0)
                rewind(run.path, lambda record: False)
            learner = kind.go_on(game, config, run, listen, _stopping_on_signals)
            logger.info("stopped at iteration %d", learner.counters.iteration)
    return learner


def expect_checkpoints(path: Path) -> None:
    """Refuse to begin anew, which drops all else, where checkpoints were written and are gone."""
    if checkpoint_paths(path):
        return
    has_had = (
        any(number > 1 for number in shard_numbers(path))  # the first comes before its checkpoint
        or numbered(path / "games", ".jsonl")
        or any(record.get("checkpoint") for record in read_metrics(path))
    )
    if has_had:
        raise UserError(
            f"{path / 'checkpoints'} {'is empty' if (path / 'checkpoints').is_dir() else 'is gone'}"
            ", though this run had checkpoints: put them back, or start a new run; "
            "nothing was changed"
        )


class _LogFile(logging.FileHandler):
    """A log that a full disk cuts short: that must neither end a run nor hide why it ends."""

    def handleError(self, record: logging.LogRecord) -> None:
        pass

    def close(self) -> None:
        with suppress(OSError):
            super().close()


@contextmanager
def _logged(run: Run) -> Iterator[None]:
    """Copy what Randori logs, and the error that ends the run, to the run's own log."""
    with explained(run.log):
        handler = _LogFile(run.log, encoding="utf-8")
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
