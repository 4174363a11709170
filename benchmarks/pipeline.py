"""Self-play against the bare network in one process: the share of the device that search leaves.

    python benchmarks/pipeline.py othello --threads 12 --slots 4096 --simulations 100

The bare figure drives the same lanes from the same number of threads without any search.
"""

import argparse
import json
import threading
import time
from dataclasses import replace

import torch

from randori.agents.models import signature_of
from randori.games.registry import load_game
from randori.learners.selfplay import SelfPlay
from randori.learners.settings import SelfPlayConfig
from randori.networks.build import build
from randori.networks.choose import make_evaluator
from randori.networks.config import NetworkConfig
from randori.search.evaluator import Evaluator
from randori.search.search import SearchConfig


def bare_rate(evaluator: Evaluator, batch: int, threads: int, seconds: float) -> float:
    """Evaluations a second of the network alone, two lanes a thread in turn."""
    lanes = [[evaluator.lane(batch) for _ in range(2)] for _ in range(threads)]
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


def selfplay_rate(play: SelfPlay, seconds: float) -> dict[str, float]:
    """Evaluations and games a second of self-play, after a warm-up of a third of the time."""
    source = play.collect(1 << 60)
    start = time.perf_counter()
    while time.perf_counter() - start < seconds / 3:
        next(source)
    games = rows = 0
    before, start = play.evaluations, time.perf_counter()
    while (passed := time.perf_counter() - start) < seconds:
        batch = next(source)
        games += len(batch.games)
        rows += len(batch.rows)
    return {
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
    given = parser.parse_args()
    game = load_game(given.game)
    network = build(NetworkConfig(blocks=given.blocks, channels=given.channels), signature_of(game))
    evaluator = make_evaluator(network, signature_of(game))
    search = SearchConfig(simulations=given.simulations, cache_mb=given.cache_mb)
    config = SelfPlayConfig(
        slots=given.slots, threads=given.threads, search=search, full_share=given.full_share
    )
    start = time.perf_counter()
    warm = SelfPlay(game, evaluator, replace(config, slots=4, threads=0), 0)
    for _ in range(3):
        warm.groups[0].step()
    compiled = time.perf_counter() - start
    before = bare_rate(evaluator, given.slots, max(1, given.threads), given.seconds / 3)
    play = SelfPlay(game, evaluator, config, 0)
    figures = selfplay_rate(play, given.seconds)
    play.close()
    after = bare_rate(evaluator, given.slots, max(1, given.threads), given.seconds / 3)
    bare = (before + after) / 2
    print(json.dumps({
        **vars(given), "evaluator": evaluator.name, "compile_s": round(compiled, 1), **figures,
        "bare_evaluations_per_s": bare, "ratio": figures["evaluations_per_s"] / bare,
        "device": torch.cuda.get_device_name() if torch.cuda.is_available() else "cpu",
    }))  # fmt: skip


if __name__ == "__main__":
    main()
