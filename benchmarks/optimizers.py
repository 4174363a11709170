"""What an optimiser is worth apart from self-play: networks that learn exact values of Connect 4.

    python benchmarks/optimizers.py --steps 1600

Positions of 20 to 24 stones, reached by random moves, are solved to the end; a small network learns
win, draw or loss of most of them, once by every optimiser, and is asked about the others. Same
weights to begin with, same batches, and a learning rate that falls along a cosine.
"""

import argparse
import json
import math
import time
from itertools import islice

import numpy as np
import torch
from torch import Tensor, nn

from randori.agents.models import signature_of
from randori.arena.suite_makers import wander
from randori.games.connect4_solver import Solver
from randori.games.game import Game
from randori.games.registry import load_game
from randori.learners.settings import TrainConfig
from randori.learners.trainer import make_optimizer
from randori.networks.build import build
from randori.networks.config import NetworkConfig
from randori.networks.planes import unpack

NETWORK = NetworkConfig(blocks=5, channels=32, value="wdl", value_channels=32)
CONFIGS = {
    "AdamW, 0.002": TrainConfig(),
    "AdamW, 0.005": TrainConfig(learning_rate=0.005),
    "AdamW, 0.005, decay 0.05": TrainConfig(learning_rate=0.005, l2=0.05),
    "AdamW, 0.01, decay 0.2": TrainConfig(learning_rate=0.01, l2=0.2),
    "Muon, 0.002, decay 0.05": TrainConfig(optimizer="muon", l2=0.05),
    "Muon, 0.005, decay 0.05": TrainConfig(optimizer="muon", learning_rate=0.005, l2=0.05),
    "Muon, 0.01, decay 0.05": TrainConfig(optimizer="muon", learning_rate=0.01, l2=0.05),
    "Muon, 0.01, decay 0.2": TrainConfig(optimizer="muon", learning_rate=0.01, l2=0.2),
}
BATCH, WARM_UP, FINAL = 512, 100, 0.02


def solved(game: Game, count: int, seed: int) -> tuple[Tensor, Tensor]:
    """Draw positions and solve them: packed planes, and 0, 1 or 2 for win, draw and loss."""
    solver = Solver(game)
    words = np.zeros((count, game.input_words), dtype=np.uint64)
    results = np.zeros(count, dtype=np.int64)
    states = (one.state for one in wander(game, 20, 24, seed) if one.state[0] >= 20)
    for row, state in enumerate(islice(states, count)):
        game.plain.planes(state, words[row])
        results[row] = 1 - np.sign(solver.score(state))
    return torch.from_numpy(words.view(np.int64)), torch.from_numpy(results)


def judge(network: nn.Module, boards: Tensor) -> Tensor:
    """Return the logits [B, 3] of win, draw and loss."""
    said: Tensor = network.learn(boards).wdl  # type: ignore[operator]
    return said.float()


def learn(
    game: Game, config: TrainConfig, steps: int, data: tuple[Tensor, ...]
) -> dict[str, float]:
    """Train a network on one part of the positions and return what it makes of the other."""
    words, results, unseen, truth = data
    signature = signature_of(game)
    torch.manual_seed(0)
    network = build(NETWORK, signature).to(memory_format=torch.channels_last)
    optimizer = make_optimizer(network, config, torch.device("cpu"))
    rng, begun, recent = np.random.default_rng(0), time.monotonic(), 0.0
    for step in range(steps):
        share = max(FINAL, 0.5 * (1 + math.cos(math.pi * step / steps)))
        for group in optimizer.param_groups:
            group["lr"] = config.learning_rate * share * min(1.0, (step + 1) / WARM_UP)
        at = torch.from_numpy(rng.integers(0, len(words), BATCH))
        boards = unpack(words[at], signature).to(memory_format=torch.channels_last)
        boards = boards.flip(3) if rng.random() < 0.5 else boards
        loss = nn.functional.cross_entropy(judge(network, boards), results[at])
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        recent += (float(loss.detach()) - recent) / min(step + 1, 50)
    network.eval()
    with torch.no_grad():
        said = torch.cat([judge(network, unpack(part, signature)) for part in unseen.split(2000)])
    shares = said.softmax(1)
    error = (shares[:, 0] - shares[:, 2] - (1 - truth)).square().mean()
    return {
        "learnt": round(recent, 4),
        "unseen": round(float(nn.functional.cross_entropy(said, truth)), 4),
        "value_error": round(float(error), 4),
        "right": round(float((said.argmax(1) == truth).float().mean()), 4),
        "seconds": round(time.monotonic() - begun),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=1600)
    parser.add_argument("--positions", type=int, default=150_000)
    parser.add_argument("--unseen", type=int, default=20_000)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--only", default="; ".join(CONFIGS))
    given = parser.parse_args()
    names = [name.strip() for name in given.only.split(";")]
    if unknown := [name for name in names if name not in CONFIGS]:
        parser.error(f"no such optimiser: {unknown[0]!r}; there are {'; '.join(CONFIGS)}")
    torch.set_num_threads(given.threads)
    game = load_game("connect4")
    data = (*solved(game, given.positions, 0), *solved(game, given.unseen, 1))
    for name in names:
        found = learn(game, CONFIGS[name], given.steps, data)
        print(json.dumps({"optimizer": name, "steps": given.steps, **found}), flush=True)


if __name__ == "__main__":
    main()
