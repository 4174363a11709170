"""`randori bench arena`: what the arena itself costs, beside the thinking of the agents."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from randori.agents.agent import Agent
from randori.agents.registry import load_agent
from randori.arena.match import Ending, PlayedGame, play_match
from randori.arena.store import Store, stored
from randori.cli.bench_work import Work
from randori.cli.report import announced, clock, note
from randori.cli.scaling import Stopwatch
from randori.games.game import Game
from randori.games.registry import load_game
from randori.words import some

GAMES, TRIAL_GAMES, REPEATS = 1000, 20, 3
"""Games of a match at most and at least, and matches of which the least overhead counts."""


def bench_arena(work: Work) -> dict[str, Any]:
    """Time matches of `random` and `uct`, less what the agents took, without and with a store."""
    game = load_game(work.game or "connect4")
    names = "random", f"uct:simulations={work.simulations}"
    agents = load_agent(names[0], game), load_agent(names[1], game)
    with announced(game.name), TemporaryDirectory() as folder:
        play_match(game, *agents, 2)  # compiles
        games, seconds = find_size(game, agents, work.seconds)
        meeting = f"{names[0]} against {names[1]}, {some(games, 'game')}"
        note(f"{2 * REPEATS} matches of {meeting}, half of them into a store: "
             f"about {clock(seconds)}")  # fmt: skip
        bare = min((measure(game, agents, games, None) for _ in range(REPEATS)), key=overhead)
        with Store(Path(folder) / "bench.sqlite") as store:

            def keep(ended: Sequence[tuple[int, PlayedGame]]) -> None:
                store.add(stored(game, names, one, seed=0, round=i // 2) for i, one in ended)

            kept = min((measure(game, agents, games, keep) for _ in range(REPEATS)), key=overhead)
    return {
        "game": game.spec,
        "match": meeting,
        "seconds": bare[0],
        "agents_seconds": bare[1],
        "microseconds_per_game": 1e6 * (bare[0] - bare[1]) / games,
        "microseconds_per_stored_game": 1e6 * (kept[0] - kept[1]) / games,
        "overhead_percent": 100 * overhead(bare),
        "overhead_with_store_percent": 100 * overhead(kept),
    }


def find_size(game: Game, agents: tuple[Agent, Agent], seconds: float) -> tuple[int, float]:
    """Return how many games of a match fit into all seconds, and how long they will take."""
    trial = min(TRIAL_GAMES, GAMES)
    each = measure(game, agents, trial, None)[0] / trial
    fitting = int(seconds / (2 * REPEATS * each)) // 2 * 2
    games = max(trial, min(GAMES, fitting))
    return games, 2 * REPEATS * each * games


def measure(
    game: Game, agents: tuple[Agent, Agent], games: int, on_end: Ending | None
) -> tuple[float, float]:
    """Play a match; return its seconds, and those that its agents thought."""
    watches = [Stopwatch(agent) for agent in agents]
    a, b = (Agent(agent.spec, game, watch) for agent, watch in zip(agents, watches, strict=True))
    start = perf_counter()
    play_match(game, a, b, games, on_end=on_end)
    return perf_counter() - start, sum(watch.seconds for watch in watches)


def overhead(times: tuple[float, float]) -> float:
    """Return what came on top of the agents' seconds, as a share of them."""
    return times[0] / times[1] - 1
