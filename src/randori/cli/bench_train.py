"""`randori bench train`: how many gradient steps a second, and how many times those of fp32."""

import sys
from copy import deepcopy
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from randori.cli.bench_work import Figures, Work, random_positions
from randori.cli.report import announced
from randori.games.registry import load_game

if TYPE_CHECKING:
    from randori.learners.replay import Replay
    from randori.learners.trainer import Trainer

WARM_STEPS = 5
PIECE_SECONDS = 0.5
"""How long gradient steps of one precision go on before it is the other one's turn."""
TRAIN_ROWS = 20_000


def bench_train(work: Work) -> Figures:
    """Time gradient steps, with the drawing of their samples from a replay."""
    import torch

    from randori.agents.models import signature_of
    from randori.learners.harvest import NO_REPLY, NONE_MADE
    from randori.learners.replay import Replay
    from randori.learners.settings import TrainConfig
    from randori.learners.trainer import Trainer, has_bf16
    from randori.learners.yields import Rows
    from randori.networks.build import build
    from randori.networks.config import NetworkConfig

    game = load_game(work.game or "othello")
    rng = np.random.default_rng(0)
    network = build(NetworkConfig(blocks=work.blocks, channels=work.channels), signature_of(game))
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    replay = Replay(game, TRAIN_ROWS)
    with announced(game.name):
        states, _ = random_positions(game, TRAIN_ROWS, game.longest // 2, rng)
        replay.add(Rows(
            states, np.ones((TRAIN_ROWS, game.most_legal), dtype=np.uint16),
            rng.uniform(-1, 1, TRAIN_ROWS).astype(np.float32),
            rng.integers(-1, 2, TRAIN_ROWS).astype(np.int8),
            np.full(TRAIN_ROWS, NO_REPLY, dtype=np.uint16),
            np.zeros((TRAIN_ROWS, game.owner_words), dtype=np.uint64),
            np.full(TRAIN_ROWS, NONE_MADE, dtype=np.float32),
        ))  # fmt: skip
        exact = TrainConfig(batch=work.batch, precision="fp32")
        configs = [exact, replace(exact, precision="bf16")] if has_bf16(device) else [exact]
        # Without `Threads`: what else runs on the machine shall meet both alike.
        trainers = [Trainer(game, deepcopy(network), config, device) for config in configs]
        taken = _time_steps(trainers, replay, work)
    rates = [steps / seconds for steps, seconds in taken]
    rate = rates[-1]
    return {
        "game": game.spec,
        "network": f"{work.blocks}×{work.channels}",
        "device": device.type,
        "precision": configs[-1].precision,
        "seconds": taken[-1][1],
        "batch": work.batch,
        "steps_per_s": rate,
        "samples_per_s": rate * work.batch,
        "times_fp32": rate / rates[0],
    }


def _time_steps(trainers: list["Trainer"], replay: "Replay", work: Work) -> list[tuple[int, float]]:
    """Let trainers take gradient steps in turn; return how many each took, in which seconds."""
    from randori.learners.replay import drawn_ahead

    rng = np.random.default_rng(1)
    ready = drawn_ahead(lambda: trainers[0].targets_of(replay.sample(rng, work.batch)), sys.maxsize)
    for trainer in trainers:
        for _ in range(WARM_STEPS):
            trainer.step(next(ready), 1.0)
        trainer.finish()
    taken = [(0, 0.0) for _ in trainers]
    piece = min(PIECE_SECONDS, work.seconds)
    while taken[0][0] == 0 or min(seconds for _, seconds in taken) < work.seconds:
        for turn, trainer in enumerate(trainers):
            steps, before = taken[turn]
            start = perf_counter()
            for targets in ready:
                trainer.step(targets, 1.0)
                steps += 1
                if perf_counter() - start >= piece:
                    break
            trainer.finish()
            taken[turn] = steps, before + perf_counter() - start
    return taken
