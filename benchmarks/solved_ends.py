"""Which of Connect 4's errors are the end of the game's: its exam with a solver inside the search.

    python benchmarks/solved_ends.py --stones 32 --classes "early close, middle close"

From so many stones on, positions that the search asks about are worth what they are worth, exactly;
before, and for the policy, the network is asked as ever. 42 stones leave it alone.
"""

import argparse
import json
from typing import get_args

import numpy as np

from randori.agents.agent import Agent
from randori.agents.network import SearchPlayer, load_evaluator
from randori.arena.exam import take_exam
from randori.arena.suites import Suite, read_suite
from randori.games.connect4_solver import Solver
from randori.games.game import Game
from randori.games.registry import load_game
from randori.search.evaluator import Evaluator, Lane
from randori.search.search import SearchConfig
from randori.search.symmetric import Turns
from randori.search.uniform import ArrayLane


class SolvedLane(ArrayLane):
    """Another lane's answers, with exact values where there are many stones."""

    def __init__(self, game: Game, batch: int, inner: Lane, solver: Solver, stones: int) -> None:
        super().__init__(game, batch)
        self.words, self.logits, self.values = inner.words, inner.logits, inner.values
        self._inner, self._solver, self._stones = inner, solver, stones
        self._asked = 0

    def launch(self, count: int) -> None:
        """Ask the network."""
        self._asked = count
        self._inner.launch(count)

    def wait(self) -> None:
        """Wait for it, and solve what is to be solved."""
        self._inner.wait()
        states = self.states[: self._asked]
        for row in np.flatnonzero(states[:, 0] >= self._stones):
            self.values[row] = np.sign(self._solver.score(states[row]))
        self._asked = 0


class SolvedEvaluator:
    """A network that knows how games end."""

    name = "solved ends"

    def __init__(self, game: Game, inner: Evaluator, stones: int) -> None:
        self._game, self._inner, self._stones = game, inner, stones
        self._solver = Solver(game)

    def lane(self, batch: int) -> SolvedLane:
        """Make a lane over one of the network's."""
        inner = self._inner.lane(batch)
        return SolvedLane(self._game, batch, inner, self._solver, self._stones)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stones", type=int, default=32)
    parser.add_argument("--model")
    parser.add_argument("--turns", default="auto", choices=get_args(Turns))
    parser.add_argument("--simulations", type=int, default=600)
    parser.add_argument("--classes", default="", help="with commas; all of them if empty")
    given = parser.parse_args()
    game = load_game("connect4")
    network = load_evaluator(game, given.model, "auto", given.turns)
    evaluator = SolvedEvaluator(game, network, given.stones)
    player = SearchPlayer(game, evaluator, SearchConfig(given.simulations))
    suite, wanted = read_suite(game, "connect4"), [c.strip() for c in given.classes.split(",")]
    asked = [one for one in suite.questions if not given.classes or one.kind in wanted]
    result = take_exam(Agent(evaluator.name, game, player), Suite(game, tuple(asked)))
    print(json.dumps(result.summary()))


if __name__ == "__main__":
    main()
