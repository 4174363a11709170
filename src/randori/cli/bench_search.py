"""`randori bench search` and `selfplay`: the tree work alone, and with the network it feeds."""

import resource
import sys
from collections.abc import Sequence
from functools import partial
from time import perf_counter, thread_time
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from randori.cli.bench_work import REPEATS, Figures, Work, beside, megabytes, random_positions
from randori.cli.gauge import mean_length
from randori.cli.report import announced
from randori.games.game import Game
from randori.games.registry import load_game
from randori.search.search import Search, SearchConfig
from randori.search.uniform import UniformEvaluator

if TYPE_CHECKING:
    from randori.learners.group import Group

BARE_SECONDS = 2.0
ROUNDS = 4


def bench_search(work: Work) -> Figures:
    """Time the tree work alone: searches over an evaluator that costs nothing, on one thread.

    As in self-play, and as in play, where it also looks for wins that are near.
    """
    game = load_game(work.game or "othello")
    with announced(game.name):
        roots, _ = random_positions(game, work.slots, game.longest // 2, np.random.default_rng(0))
        config = SearchConfig(work.simulations, cache_mb=1e-4)
        times, looks = [], []
        for guard in (True, False):  # one after the other: each may have gigabytes
            search = Search(game, UniformEvaluator(game), config, slots=work.slots, guard=guard)
            seconds, visits = _time_search(search, roots, work.simulations)
            times.append(seconds / visits)
            looks.append(_time_search(search, roots, 1)[0] / work.slots)
        in_play, best = times
    return {
        "game": game.spec,
        "trees": work.slots,
        "simulations": work.simulations,
        "microseconds_per_simulation": 1e6 * best,
        "in_play_microseconds": 1e6 * in_play,
        "root_look_milliseconds": 1e3 * (looks[0] - looks[1]),
        "simulations_per_s": 1 / best,
        "trees_mb": megabytes(search.trees),
    } | beside(work, game, "tree", ["--batch", work.slots, "--simulations", work.simulations],
                lambda peer: peer["microseconds_per_simulation"] / (1e6 * best))  # fmt: skip


def _time_search(search: Search, roots: NDArray[np.uint64], simulations: int) -> tuple[float, int]:
    """Return the seconds of the fastest of a few equal searches, and their visits."""
    best = np.inf
    for _ in range(1 + REPEATS):  # the first compiles, and lets the trees grow
        search.set_roots(roots)
        start = thread_time()  # what else runs on the machine does not count
        search.run(simulations)
        best = min(best, thread_time() - start)
    return best, int(search.trees.nodes["visits"][:, 0].sum())


def bench_selfplay(work: Work) -> Figures:
    """Time self-play against its own network alone, at the same batch, before and after."""
    from randori.agents.models import signature_of
    from randori.learners.selfplay import SelfPlay
    from randori.learners.settings import SelfPlayConfig
    from randori.learners.yields import Tally
    from randori.networks.build import build
    from randori.networks.choose import make_evaluator
    from randori.networks.config import NetworkConfig
    from randori.search.evaluator import measure_rate

    game = load_game(work.game or "othello")
    network = build(NetworkConfig(blocks=work.blocks, channels=work.channels), signature_of(game))
    evaluator = make_evaluator(network, signature_of(game), work.runtime)
    config = SelfPlayConfig(
        work.slots, work.threads, SearchConfig(work.simulations), full_share=1.0
    )
    bare_rate = partial(measure_rate, evaluator, work.slots, 2 * work.threads, BARE_SECONDS,
                        is_compact=config.byte_logits)  # fmt: skip
    with announced(game.name):
        selfplay = SelfPlay(game, evaluator, config, seed=0)
        _begin_anywhere(selfplay.groups, game, work.slots)
        # Rounds in turn, so that what else runs on the machine meets both alike.
        tally, elapsed, evaluations, bare_rates = Tally(), 0.0, 0, []
        for group in selfplay.groups:
            group.step()
        rounds = 1 if work.threads else ROUNDS  # threads play on while the network is measured
        for _ in range(rounds):
            bare_rates.append(bare_rate())
            start, before = perf_counter(), selfplay.evaluations
            for batch in selfplay.collect(sys.maxsize):
                tally.add(batch)
                if perf_counter() - start > work.seconds / rounds:
                    break
            elapsed += perf_counter() - start
            evaluations += selfplay.evaluations - before
    selfplay.close()
    bare_rates.append(bare_rate())
    bare = sum(bare_rates) / len(bare_rates)
    rate, move_rate = evaluations / elapsed, tally.moves / elapsed
    arguments = ["--blocks", work.blocks, "--channels", work.channels, "--batch",
                 "best" if evaluator.name.startswith("cuda") else 64,
                 "--simulations", work.simulations, "--search", "puct"]  # fmt: skip
    return {
        "game": game.spec,
        "network": f"{work.blocks}×{work.channels}",
        "runtime": evaluator.name,
        "slots": work.slots,
        "threads": work.threads,
        "simulations": work.simulations,
        "seconds": elapsed,
        "evaluations_per_s": rate,
        "bare_evaluations_per_s": bare,
        "ratio": rate / bare,
        "moves_per_s": move_rate,
        "games_per_s": move_rate / mean_length(game),
        "search_mb": sum(megabytes(*vars(group).values()) for group in selfplay.groups),
        "peak_rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    } | beside(
        work, game, "selfplay", arguments, lambda peer: rate / peer["evaluations_per_s"],
        lambda peer: move_rate * (peer["simulations"] + 1) / peer["evaluations_per_s"],
    )  # fmt: skip


def _begin_anywhere(groups: "Sequence[Group]", game: Game, slots: int) -> None:
    """Let the games of all slots stand after random moves, so that all their stages are there."""
    from randori.learners.harvest import NONE_MADE

    rng = np.random.default_rng(0)
    for group in groups:
        arrays, _ = group.save()
        arrays["roots"], moves = random_positions(game, slots, game.longest // 2, rng)
        arrays["plies"] = np.array([len(played) for played in moves])
        arrays["moves"] = np.concatenate(moves)
        arrays["amends"] = np.full(len(arrays["moves"]), NONE_MADE)
        group.restore(arrays)
