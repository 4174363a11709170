"""UCT as an agent: many positions at once, spread over the cores."""

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from randori.agents.simple import expect_no_value
from randori.games.game import Game
from randori.games.kernels import State
from randori.search.search import Analysis
from randori.search.uct import Uct


class UctPlayer:
    """A tree a thread; each position is searched with dice of its own, whatever thread it meets."""

    def __init__(self, game: Game, simulations: int, exploration: float, threads: int) -> None:
        self._simulations = simulations
        self._searches = [Uct(game, exploration) for _ in range(threads)]

    def act(self, states: NDArray[np.uint64], rng: np.random.Generator) -> NDArray[np.int32]:
        """Search every position and pick its most visited move."""
        dice = rng.integers(0, 2**63, size=(len(states), 1), dtype=np.uint64)
        if len(states) == 1 or len(self._searches) == 1:
            return np.array(self._best(0, 1, states, dice), dtype=np.int32)
        count = len(self._searches)
        with ThreadPoolExecutor(count) as pool:
            jobs = [pool.submit(self._best, i, count, states, dice) for i in range(count)]
        picked = np.zeros(len(states), dtype=np.int32)
        for i, job in enumerate(jobs):
            picked[i::count] = job.result()
        return picked

    def analyse(self, state: State, rng: np.random.Generator) -> Analysis:
        """Search one position."""
        dice = rng.integers(0, 2**63, size=1, dtype=np.uint64)
        return self._searches[0].run(state, self._simulations, dice)

    def _best(
        self, which: int, step: int, states: NDArray[np.uint64], dice: NDArray[np.uint64]
    ) -> list[int]:
        search = self._searches[which]
        mine = range(which, len(states), step)
        return [search.run(states[i], self._simulations, dice[i]).best.action for i in mine]


def uct(
    game: Game,
    value: str | None,
    *,
    simulations: int = 100,
    exploration: float = 1.4,
    threads: int = 0,
) -> UctPlayer:
    """Search with UCB1 and random games (paper E)."""
    expect_no_value("uct", value)
    if simulations < 1:
        raise ValueError("simulations must be at least 1")
    if threads < 0:
        raise ValueError("threads must not be negative; 0 stands for all cores")
    return UctPlayer(game, simulations, exploration, threads or os.cpu_count() or 1)
