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
        """Search every position and pick its best move."""
        return self.judge(states, rng)[0]

    def judge(
        self, states: NDArray[np.uint64], rng: np.random.Generator
    ) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Do the same, and return the searches' values too."""
        dice = rng.integers(0, 2**63, size=(len(states), 1), dtype=np.uint64)
        count = min(len(states), len(self._searches))
        picked, values = np.zeros(len(states), np.int32), np.zeros(len(states), np.float32)

        def search(which: int) -> None:
            for i in range(which, len(states), count):
                analysis = self._searches[which].run(states[i], self._simulations, dice[i])
                picked[i], values[i] = analysis.best.action, analysis.value

        if count == 1:
            search(0)
            return picked, values
        with ThreadPoolExecutor(count) as pool:
            list(pool.map(search, range(count)))
        return picked, values

    def analyse(self, state: State, rng: np.random.Generator) -> Analysis:
        """Search one position."""
        dice = rng.integers(0, 2**63, size=1, dtype=np.uint64)
        return self._searches[0].run(state, self._simulations, dice)


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
