"""The agent that knows: exact play where a game brings a solver."""

import numpy as np
from numpy.typing import NDArray

from randori.agents.simple import expect_no_value
from randori.errors import UserError
from randori.games.game import ExactSolver, Game
from randori.games.kernels import State
from randori.search.search import Analysis, Move


class SolverPlayer:
    """Plays a move with the best exact score; equals by lot."""

    def __init__(self, solver: ExactSolver) -> None:
        self._solver = solver

    def act(self, states: NDArray[np.uint64], rng: np.random.Generator) -> NDArray[np.int32]:
        """Pick a best move for each position."""
        return self.judge(states, rng)[0]

    def judge(
        self, states: NDArray[np.uint64], rng: np.random.Generator
    ) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Do the same, and return the exact values."""
        picked, values = np.zeros(len(states), np.int32), np.zeros(len(states), np.float32)
        for i, state in enumerate(states):
            scores = self._solver.scores(state)
            best = max(scores.values())
            picked[i] = rng.choice([action for action, score in scores.items() if score == best])
            values[i] = np.sign(best)
        return picked, values

    def analyse(self, state: State, rng: np.random.Generator) -> Analysis:
        """Score every move; a move's visits are its score above the worst."""
        scores = self._solver.scores(state)
        worst = min(scores.values())
        words = {-1: "loss", 0: "draw", 1: "win"}
        moves = [
            Move(action, score - worst, 0.0, float(np.sign(score)), words[int(np.sign(score))])
            for action, score in sorted(scores.items(), key=lambda item: -item[1])
        ]
        return Analysis(moves[0].value, moves, [moves[0].action])


def solver(game: Game, value: str | None) -> SolverPlayer:
    """Play perfectly, in games that can be solved from any position (Connect 4)."""
    expect_no_value("solver", value)
    if game.solver is None:
        raise UserError(f"{game.name} has no exact solver")
    return SolverPlayer(game.solver(game))
