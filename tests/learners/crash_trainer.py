"""Real trainings, whole or killed again and again: run as a script by tests beside it.

`once PATH SEED [SETTING…]` trains to the end, and `resume PATH` goes on with it.
`storm PATH KILLS SEED [SETTING…]` forks trainers and kills them at random moments, or just before a
random change to the disk, until the run is complete, and compares all that it left with an
undisturbed run. Forking spares every trainer the imports and the compilation, so that most of its
short life is training.
`refuse PATH LIMIT…` trains while the disk takes no file above LIMIT bytes.
"""

import contextlib
import os
import random
import resource
import signal
import sys
import time
from itertools import count
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import torch

from randori.agents.agent import Agent
from randori.agents.models import signature_of
from randori.agents.network import SearchPlayer
from randori.agents.registry import load_agent
from randori.arena.match import play_match
from randori.errors import UserError
from randori.games.registry import load_game
from randori.learners import alphazero, training
from randori.learners.alphazero import AlphaZero
from randori.learners.replay import Replay
from randori.learners.selfplay import SelfPlay
from randori.learners.settings import AlphaZeroConfig
from randori.learners.status import Status
from randori.learners.trainer import Trainer
from randori.learners.training import start_run, train
from randori.networks.build import build
from randori.networks.choose import make_evaluator
from randori.runs import folder as run_folder
from randori.runs.checkpoint import checkpoint_paths, latest_checkpoint, read_checkpoint
from randori.runs.config import from_dict, override
from randori.runs.folder import open_run
from randori.runs.metrics import read_metrics
from randori.runs.shards import read_shards

TINY = (
    "network.blocks=1", "network.channels=8", "network.hidden=8", "network.policy_channels=4",
    "network.value_channels=4", "runtime=torch", "precision=fp32", "deterministic=true",
    "checkpoint_iterations=1", "selfplay.slots=8", "selfplay.search.simulations=8",
    "selfplay.fast_simulations=3", "selfplay.full_share=0.5", "selfplay.search.cache_mb=0.05",
    "iteration_rows=30", "warm_up_rows=50", "window=120", "train.batch=16", "train.reuse=3",
    "train.warm_up_steps=5", "evaluation.opponents=[\"random\"]", "evaluation.every_iterations=3",
    "evaluation.games=2", "evaluation.simulations=4", "stop.iterations=8",
)  # fmt: skip
GAME = "tictactoe"
TIMELESS = (
    "iteration", "rows", "games", "steps", "policy_loss", "value_loss", "learning_rate",
    "policy_entropy", "search_overruled", "game_length", "visits_entropy", "prior_entropy",
    "search_changed", "value_error", "first_player_score", "draw_share",
    "scores", "gate_score", "gate_passed",
)  # fmt: skip
"""Metrics that do not depend on the clock."""
FSIZE = resource.RLIMIT_FSIZE


def create(path: Path, seed: int, settings: list[str]) -> None:
    config = override(AlphaZeroConfig(), [*TINY, *settings])
    start_run(load_game(GAME), config, seed=seed, path=path, learner="alphazero")


def go_on(path: Path, listen: Any = lambda status: None) -> AlphaZero:
    return train(open_run(path), listen)


def left_by(path: Path) -> dict[str, Any]:
    """All that a complete run leaves and that must not depend on how often it was killed."""
    config = from_dict(AlphaZeroConfig, open_run(path).config)
    newest = latest_checkpoint(path)
    assert newest is not None
    checkpoint = read_checkpoint(newest)
    left: dict[str, Any] = {f"weights {n}": a for n, a in checkpoint.model.weights.items()}
    left |= {f"learner {n}": a for n, a in checkpoint.arrays.items()}
    rows = read_shards(path, checkpoint.number, config.window, "results")
    left |= {f"rows {n}": a[-config.window :] for n, a in rows.items()}
    left["rng"] = checkpoint.state["rng"]
    clocks = ("seconds", "evaluations", "saved_at", "evaluated_at")
    counters = checkpoint.state["counters"]
    left["counters"] = {name: counters[name] for name in counters if name not in clocks}
    records = read_metrics(path)
    left["metrics"] = [{n: r[n] for n in TIMELESS if n in r} for r in records]
    left["checkpoints"] = list(checkpoint_paths(path))
    return left


def differences(ours: dict[str, Any], theirs: dict[str, Any]) -> list[str]:
    names = sorted(ours.keys() | theirs.keys())
    return [
        name
        for name in names
        if not (
            name in ours
            and name in theirs
            and np.array_equal(np.asarray(ours[name]), np.asarray(theirs[name]))
        )
    ]


def kill_before(event: int) -> None:
    """Arrange that this process is killed just before its `event`-th change to the disk."""
    left = event

    def hook(name: str, arguments: tuple[Any, ...]) -> None:
        nonlocal left
        changes = name in ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate")
        if name == "open" and isinstance(arguments[2], int):
            changes = bool(arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
        if changes:
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)


def trainer(path: Path, event: int = 0) -> tuple[int, int]:
    """Fork a trainer; return its process and a pipe that speaks when training has begun."""
    reader, writer = os.pipe()
    child = os.fork()
    if child:
        os.close(writer)
        return child, reader
    os.close(reader)
    code = 1
    with contextlib.suppress(BaseException):
        if event:
            kill_before(event)

        def listen(status: Status) -> None:
            if status.phase in ("warming up", "self-play"):
                with contextlib.suppress(OSError):
                    os.write(writer, b"x")

        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        os.set_blocking(writer, False)
        go_on(path, listen)
        code = 0
    os._exit(code)


def storm(path: Path, kills: int, seed: int, settings: list[str]) -> None:
    calm = path / "calm"
    create(calm, seed, settings)
    child, reader = trainer(calm)
    assert os.waitpid(child, 0)[1] == 0, "the undisturbed run failed"
    expected = left_by(calm)
    iterations = len(expected["metrics"])
    assert [r["iteration"] for r in expected["metrics"]] == list(range(1, iterations + 1))
    rng = random.Random(seed)
    done = early = storms = 0
    while done < kills:
        run = path / f"storm-{storms}"
        storms += 1
        create(run, seed, settings)
        for attempt in count():
            # The first one does not live to see its first checkpoint.
            by_event = attempt == 0 or rng.random() < 0.5
            event = rng.randint(1, 60 if attempt else 8) if by_event else 0
            child, reader = trainer(run, event)
            if not by_event and done < kills:
                os.read(reader, 1)
                time.sleep(rng.uniform(0, 0.3))
                os.kill(child, signal.SIGKILL)
            _, status = os.waitpid(child, 0)
            os.close(reader)
            if status == 0:
                break
            assert os.WIFSIGNALED(status), f"a trainer failed by itself: {status}"
            done += 1
            early += not checkpoint_paths(run)
        wrong = differences(left_by(run), expected)
        assert not wrong, f"after {done} kills these differ: {wrong}"
    print("kills", done, "before a checkpoint", early, "storms", storms)


def refuse(path: Path, limits: list[int]) -> None:
    """Let the disk refuse files above so many bytes from some moment on; then go on."""
    create(path / "calm", 1, [])
    go_on(path / "calm")
    expected = left_by(path / "calm")
    soft, hard = resource.getrlimit(FSIZE)
    for limit in limits:
        run = path / f"full-{limit}"
        create(run, 1, [])

        def listen(status: Status, limit: int = limit) -> None:
            if status.counters.iteration == 3:
                resource.setrlimit(FSIZE, (limit, hard))

        refusal = None
        try:
            go_on(run, listen)
        except UserError as error:
            refusal = str(error)
        finally:
            resource.setrlimit(FSIZE, (soft, hard))
        assert refusal is not None, "nothing was refused"
        print(refusal)
        go_on(run)
        wrong = differences(left_by(run), expected)
        assert not wrong, f"these differ: {wrong}"


def warm_up() -> None:
    """Import, compile or load everything before the first fork, and share it."""
    game = load_game(GAME)
    config = override(AlphaZeroConfig(), TINY)
    signature = signature_of(game)
    network = build(config.network, signature)
    Trainer(game, network, config.train, torch.device("cpu"))
    evaluator = make_evaluator(network, signature, "torch")
    play = SelfPlay(game, evaluator, config.selfplay, 0)
    play.groups[0].restore(play.groups[0].save()[0])
    replay = Replay(game, 100)
    for batch in play.collect(20):
        replay.add(batch.rows)
    replay.sample(np.random.default_rng(0), 2, 0.5)
    player = Agent("warm", game, SearchPlayer(game, evaluator, config.selfplay.search))
    play_match(game, player, load_agent("random", game), 2)
    mock.patch.object(training, "load_game", return_value=game).start()


def main(mode: str, path: Path, arguments: list[str]) -> None:
    torch.set_num_threads(1)
    if mode == "once":
        seed, *settings = arguments
        create(path, int(seed), settings)
    if mode in ("once", "resume"):
        go_on(path)
        return
    # A kill loses nothing that the kernel has: fsync is for power cuts, and slow. So is git. The
    # bare network's speed is a figure for people.
    mock.patch("os.fsync").start()
    mock.patch.object(run_folder, "source_commit", return_value=None).start()
    mock.patch.object(alphazero, "measure_rate", return_value=1.0).start()
    path.mkdir()
    warm_up()
    if mode == "storm":
        kills, seed, *settings = arguments
        storm(path, int(kills), int(seed), settings)
    elif mode == "refuse":
        refuse(path, [int(limit) for limit in arguments])


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3:])
