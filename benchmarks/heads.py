"""Which policy head learns a game's moves best: the same rows, the same trunk, other heads.

    python benchmarks/heads.py shobu --minutes 5 --steps 900

An agent plays against itself for so many minutes. Networks with each head then learn from its
rows, and from time to time tell about games they have not seen: what their policy loses against
that of the searches, in nats (the cross entropy less the searches' own entropy), and the square
error of their value.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np
import torch

from randori.agents.models import load_network, shipped_model, signature_of
from randori.games.game import Game
from randori.games.registry import load_game
from randori.learners.losses import Targets, losses_of
from randori.learners.replay import Replay
from randori.learners.selfplay import SelfPlay
from randori.learners.settings import SelfPlayConfig, TrainConfig
from randori.learners.threads import Threads
from randori.learners.trainer import Trainer
from randori.networks.build import build
from randori.networks.choose import make_evaluator
from randori.networks.config import NetworkConfig
from randori.networks.planes import unpack
from randori.search.search import SearchConfig

HELD_OUT, BATCH, ASKED = 2000, 256, 150
"""Rows to be asked about, rows a step, and steps from one asking to the next."""
SLOWER_FROM, SLOWER = 2 / 3, 0.2
"""From this share of the steps on the learning rate is lower."""


def play(game: Game, model: Path, minutes: float) -> tuple[Replay, Replay]:
    """Return rows to learn from, and the first games' rows to be asked about."""
    evaluator = make_evaluator(load_network(game, model), signature_of(game))
    config = SelfPlayConfig(
        slots=64, search=SearchConfig(simulations=120), fast_simulations=20, full_share=0.5,
        random_share=0.5,
    )  # fmt: skip
    learnt, asked = Replay(game, 200_000), Replay(game, 2 * HELD_OUT)
    source, start = SelfPlay(game, evaluator, config, 0), time.monotonic()
    for batch in source.collect(1 << 60):
        (asked if asked.size < HELD_OUT else learnt).add(batch.rows)
        if time.monotonic() - start > 60 * minutes:
            break
    source.close()
    return learnt, asked


@torch.no_grad()
def ask(trainer: Trainer, game: Game, rows: Targets) -> tuple[float, float]:
    """Return what the policy loses, and the error of the value."""
    network = trainer.network.eval()
    said = network.learn(unpack(rows.words, signature_of(game)))
    factors = torch.as_tensor(game.factors.astype(np.int64))
    losses, error = losses_of(said, rows, factors, None, 0.5, None)
    shares = rows.shares.clamp(min=1e-9)
    entropy = -(shares * shares.log()).sum(1).mean()
    return float(losses[0] - entropy), float(error)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("game")
    parser.add_argument("--model", type=Path, help="whose games; the one that comes along")
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--steps", type=int, default=900)
    parser.add_argument("--blocks", type=int, default=4)
    parser.add_argument("--channels", type=int, default=48)
    given = parser.parse_args()
    game = load_game(given.game)
    learnt, asked = play(game, given.model or shipped_model(game), given.minutes)
    for policy in ("planes", "dense"):
        torch.manual_seed(0)
        shape = NetworkConfig(
            blocks=given.blocks, channels=given.channels, policy=policy, policy_channels=16,
            value="wdl",
        )  # fmt: skip
        network = build(shape, signature_of(game))
        config = TrainConfig(batch=BATCH, precision="fp32", learning_rate=2e-3)
        trainer = Trainer(game, network, config, torch.device("cpu"), Threads())
        rng = np.random.default_rng(0)
        questions = trainer.targets_of(asked.sample(np.random.default_rng(5), HELD_OUT))
        for step in range(1, given.steps + 1):
            rate = 1.0 if step < SLOWER_FROM * given.steps else SLOWER
            trainer.step(trainer.targets_of(learnt.sample(rng, BATCH)), rate)
            if step % ASKED == 0 or step == given.steps:
                lost, error = ask(trainer, game, questions)
                print(json.dumps({
                    "policy": policy, "rows": learnt.size, "step": step,
                    "policy_loses_nats": round(lost, 3), "value_error": round(error, 3),
                }), flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
