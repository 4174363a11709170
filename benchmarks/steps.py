"""Self-play without a network: what trees, moves and games cost a thread for each evaluation.

    python benchmarks/steps.py shobu --slots 2048 --simulations 100

Games begin after up to 40 random moves, so that all their stages are there from the first step on.
Answers are drawn once for every row, logits with the given spread; values move on from step to
step. With `--bytes` logits come as bytes, as a card sends them where there are many. The time is
the thread's own, so what else runs counts only by the caches it takes; the fastest and the middle
one of many pieces of 50 steps are printed. To compare two versions, run them in turn. What it takes
to make the slots and the first step is compiling, where NUMBA_CACHE_DIR is an empty folder. With
`--late` descents set out at their turn, as those among few slots do (`search/ahead.py`).
"""

import argparse
import json
import time

import numpy as np
import torch

from randori.games.dice import seed_dice
from randori.games.game import Game
from randori.games.registry import load_game
from randori.learners.group import Group
from randori.learners.settings import SelfPlayConfig
from randori.learners.slots import play_on
from randori.networks.compact import to_bytes
from randori.search.byte_logits import byte_kernels
from randori.search.search import SearchConfig
from randori.search.uniform import ArrayLane

WARM_UP, PIECE = 250, 50
MOST_RANDOM = 40
NEVER = 2**40


class DrawnLane(ArrayLane):
    """Answers that were drawn beforehand."""

    def __init__(self, game: Game, batch: int, spread: float) -> None:
        super().__init__(game, batch)
        rng = np.random.default_rng(5)
        self.logits[:] = rng.normal(0, spread, self.logits.shape)
        self.values[:] = rng.normal(0, 0.3, batch).clip(-1, 1)

    def launch(self, count: int) -> None:
        """Hand every row another row's value."""
        self.values[:] = np.roll(self.values, 7)


class DrawnByteLane(DrawnLane):
    """The same as bytes."""

    def __init__(self, game: Game, batch: int, spread: float) -> None:
        super().__init__(game, batch, spread)
        octets = to_bytes(torch.from_numpy(self.logits), game.factor_sizes).numpy()
        self.logits = octets[:, : game.compact_width].copy()


class DrawnEvaluator:
    """Opinions out of thin air."""

    name = "drawn"

    def __init__(self, game: Game, spread: float) -> None:
        self._game, self._spread = game, spread

    def lane(self, batch: int) -> DrawnLane:
        """Make a lane with answers of its own."""
        return DrawnLane(self._game, batch, self._spread)

    def compact_lane(self, batch: int) -> DrawnByteLane:
        """Make one with the same answers as bytes."""
        return DrawnByteLane(self._game, batch, self._spread)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("game")
    parser.add_argument("--slots", type=int, default=1024)
    parser.add_argument("--simulations", type=int, default=100)
    parser.add_argument("--full-share", type=float, default=1.0)
    parser.add_argument("--spread", type=float, default=2.0, help="0.3 is like a new network")
    parser.add_argument("--pieces", type=int, default=12)
    parser.add_argument("--bytes", action="store_true", help="logits as bytes")
    parser.add_argument("--late", action="store_true", help="descents set out at their turn")
    given = parser.parse_args()
    game = load_game(given.game)
    search = SearchConfig(given.simulations, cache_mb=1e-4)
    config = SelfPlayConfig(
        slots=given.slots, search=search, full_share=given.full_share,
        random_share=1.0, random_plies=min(MOST_RANDOM, game.longest // 2),
        byte_logits=given.bytes,
    )  # fmt: skip
    evaluator = DrawnEvaluator(game, given.spread)
    start = time.perf_counter()
    group = Group(game, evaluator, config, seed_dice(3, given.slots))
    kernels = byte_kernels(game) if given.bytes else {}
    group._step = game.kernel(play_on, MANY=NEVER if given.late else 1, **kernels)
    group.step()
    first = time.perf_counter() - start
    for _ in range(WARM_UP):
        group.step()
        if group.is_ripe:
            group.take()
    costs = []
    for _ in range(given.pieces):
        before, start = group.evaluations, time.thread_time()
        for _ in range(PIECE):
            group.step()
            if group.is_ripe:
                group.take()
        costs.append(1e6 * (time.thread_time() - start) / (group.evaluations - before))
    print(json.dumps({
        "game": game.spec, "slots": given.slots, "simulations": given.simulations,
        "spread": given.spread, "bytes": given.bytes, "microseconds_per_evaluation": min(costs),
        "middle": float(np.median(costs)), "first_step_s": first,
    }))  # fmt: skip


if __name__ == "__main__":
    main()
