"""Self-play against the bare network in one process: the share of the device that search leaves.

    python benchmarks/pipeline.py othello --threads 12 --slots 4096 --simulations 100

The bare figure drives lanes of self-play from the same number of threads without any search; where
these send logits as bytes it is taken of lanes of float32 besides, which `--floats` makes self-play
use. With `--learn N` self-play is measured once more beside a learner that takes steps of N rows as
fast as it can and hands its weights over every second, and then once more without it: what that
costs self-play, and what self-play costs the learner.
"""

import argparse
import json
import sys
import threading
import time
from copy import deepcopy
from dataclasses import replace
from itertools import chain

import numpy as np
import torch
from torch import nn

from randori.agents.models import signature_of
from randori.games.game import Game
from randori.games.registry import load_game
from randori.learners.losses import Targets
from randori.learners.replay import Replay, drawn_ahead
from randori.learners.selfplay import SelfPlay
from randori.learners.settings import SelfPlayConfig, TrainConfig
from randori.learners.trainer import Trainer
from randori.learners.yields import Rows
from randori.networks.build import build
from randori.networks.choose import make_evaluator
from randori.networks.config import NetworkConfig
from randori.networks.lanes import NetworkEvaluator
from randori.search.evaluator import Evaluator, selfplay_lane
from randori.search.search import SearchConfig


def bare_rate(evaluator: Evaluator, config: SelfPlayConfig, seconds: float) -> float:
    """Evaluations a second of the network alone, two lanes a thread in turn."""
    batch, threads = config.slots, max(1, config.threads)
    lanes = [[selfplay_lane(evaluator, batch, config.byte_logits) for _ in range(2)]
             for _ in range(threads)]  # fmt: skip
    rng = np.random.default_rng(0)
    for lane in chain.from_iterable(lanes):  # without planes a card is faster
        lane.words[:] = rng.integers(0, 2**63, lane.words.shape, np.uint64)
    done = [0] * threads
    stop = threading.Event()

    def work(index: int) -> None:
        while not stop.is_set():
            for lane in lanes[index]:
                lane.wait()
                lane.launch(batch)
            done[index] += 2

    workers = [threading.Thread(target=work, args=(i,)) for i in range(threads)]
    for worker in workers:
        worker.start()
    time.sleep(0.5)
    before, start = sum(done), time.perf_counter()
    time.sleep(seconds)
    rate = (sum(done) - before) * batch / (time.perf_counter() - start)
    stop.set()
    for worker in workers:
        worker.join()
    for pair in lanes:
        for lane in pair:
            lane.wait()
    return rate


class Learner:
    """Learns from the newest rows, in a thread of its own."""

    def __init__(self, game: Game, network: nn.Module, evaluator: NetworkEvaluator, batch: int):
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.steps = 0
        self._trainer = Trainer(game, deepcopy(network), TrainConfig(batch=batch), device)
        self._replay, self._lock = Replay(game, 500_000), threading.Lock()
        self._evaluator, self._batch = evaluator, batch
        self._rng = np.random.default_rng(0)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._is_started = False

    def add(self, rows: Rows) -> None:
        with self._lock:
            self._replay.add(rows)
        if not self._is_started and self._replay.size >= self._batch:
            self._is_started = True
            self._thread.start()

    def _work(self) -> None:
        handed_over = time.perf_counter()
        for targets in drawn_ahead(self._draw, sys.maxsize):
            if self._stop.is_set():
                break
            self._trainer.step(targets, 1.0)
            self.steps += 1
            if time.perf_counter() - handed_over > 1.0:
                self._trainer.take_losses()
                self._evaluator.load(self._trainer.network)
                handed_over = time.perf_counter()

    def _draw(self) -> Targets:
        with self._lock:
            samples = self._replay.sample(self._rng, self._batch)
        return self._trainer.targets_of(samples)

    def rate_alone(self, seconds: float) -> float:
        """Steps a second in this thread, with the card to itself."""
        self._trainer.finish()
        start, steps = time.perf_counter(), 0
        for targets in drawn_ahead(self._draw, sys.maxsize):
            self._trainer.step(targets, 1.0)
            steps += 1
            if time.perf_counter() - start > seconds:
                break
        self._trainer.finish()
        return steps / (time.perf_counter() - start)

    def close(self) -> None:
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()


def selfplay_rate(
    play: SelfPlay, seconds: float, learner: Learner | None = None
) -> dict[str, float]:
    """Evaluations and games a second of self-play, after a warm-up of a third of the time."""
    source = play.collect(1 << 60)
    start = time.perf_counter()
    while time.perf_counter() - start < seconds / 3:
        batch = next(source)
        if learner is not None:
            learner.add(batch.rows)
    games = rows = 0
    before, start = play.evaluations, time.perf_counter()
    steps = 0 if learner is None else learner.steps
    while (passed := time.perf_counter() - start) < seconds:
        batch = next(source)
        if learner is not None:
            learner.add(batch.rows)
        games += len(batch.games)
        rows += len(batch.rows)
    return {
        "steps_per_s": 0.0 if learner is None else (learner.steps - steps) / passed,
        "evaluations_per_s": (play.evaluations - before) / passed,
        "games_per_s": games / passed,
        "rows_per_s": rows / passed,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("game")
    parser.add_argument("--blocks", type=int, default=6)
    parser.add_argument("--channels", type=int, default=64)
    parser.add_argument("--slots", type=int, default=4096)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--simulations", type=int, default=100)
    parser.add_argument("--full-share", type=float, default=1.0)
    parser.add_argument("--cache-mb", type=float, default=16.0)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--learn", type=int, default=0, help="rows a gradient step")
    parser.add_argument("--floats", action="store_true", help="selfplay.byte_logits=false")
    given = parser.parse_args()
    game = load_game(given.game)
    network = build(NetworkConfig(blocks=given.blocks, channels=given.channels), signature_of(game))
    evaluator = make_evaluator(network, signature_of(game))
    search = SearchConfig(simulations=given.simulations, cache_mb=given.cache_mb)
    config = SelfPlayConfig(
        slots=given.slots, threads=given.threads, search=search, full_share=given.full_share,
        byte_logits=not given.floats,
    )  # fmt: skip
    start = time.perf_counter()
    warm = SelfPlay(game, evaluator, replace(config, slots=4, threads=0), 0)
    for _ in range(3):
        warm.groups[0].step()
    compiled = time.perf_counter() - start
    wide = replace(config, byte_logits=False)
    are_bytes = selfplay_lane(evaluator, 1, config.byte_logits).logits.dtype == np.uint8
    kinds = [config, wide] if are_bytes else [config]
    before = [bare_rate(evaluator, kind, given.seconds / 3) for kind in kinds]
    play = SelfPlay(game, evaluator, config, 0)
    figures = selfplay_rate(play, given.seconds)
    beside: dict[str, object] = {}
    learner = None
    if given.learn:
        learner = Learner(game, network, evaluator, given.learn)
        found = selfplay_rate(play, given.seconds, learner)
        learner.close()
        again = selfplay_rate(play, given.seconds)
        alone = (figures["evaluations_per_s"] + again["evaluations_per_s"]) / 2
        beside = {
            "beside_a_learner": found, "after_it": again,
            "learner_costs": 1 - found["evaluations_per_s"] / alone,
        }  # fmt: skip
    play.close()
    if learner is not None:
        beside["learner_alone_steps_per_s"] = learner.rate_alone(given.seconds / 3)
    after = [bare_rate(evaluator, kind, given.seconds / 3) for kind in kinds]
    bare, *bare_of_floats = (sum(both) / 2 for both in zip(before, after, strict=True))
    rate = figures["evaluations_per_s"]
    for floats in bare_of_floats:
        beside |= {"bare_of_floats_per_s": floats, "ratio_to_bare_of_floats": rate / floats}
    print(json.dumps({
        **vars(given), "evaluator": evaluator.name, "compile_s": round(compiled, 1), **figures,
        "bare_evaluations_per_s": bare, "ratio": rate / bare, **beside,
        "device": torch.cuda.get_device_name() if torch.cuda.is_available() else "cpu",
    }))  # fmt: skip


if __name__ == "__main__":
    main()
