"""The agent that knows: exact play where a game brings a solver."""

import numpy as np
from numpy.typing import NDArray

from randori.agents.classical import DEPTH, AlphaBetaPlayer
from randori.agents.simple import expect_no_value
from randori.errors import UserError
from randori.games.game import ExactSolver, Game
from randori.games.kernels import State
from randori.games.text import EMPTY, cells
from randori.search.alphabeta import AlphaBetaConfig
from randori.search.search import Analysis, Move


class SolverPlayer:
    """Plays a move with the best exact score, equals by lot; alpha-beta until that is in reach."""

    def __init__(self, game: Game, solver: ExactSolver, exact: int, depth: int) -> None:
        self._game = game
        self._solver = solver
        self._exact = exact
        config = AlphaBetaConfig(depth)
        self._before = AlphaBetaPlayer(game, None, config, 1) if game.solvable else None

    def act(self, states: NDArray[np.uint64], rng: np.random.Generator) -> NDArray[np.int32]:
        """Pick a best move for each position."""
        return self.judge(states, rng)[0]

    def judge(
        self, states: NDArray[np.uint64], rng: np.random.Generator
    ) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Do the same, and return the exact values."""
        picked, values = np.zeros(len(states), np.int32), np.zeros(len(states), np.float32)
        for i, state in enumerate(states):
            if self._before is not None and not self._is_in_reach(state):
                (picked[i],), (values[i],) = self._before.judge(states[i : i + 1], rng)
                continue
            scores = self._solver.scores(state)
            best = max(scores.values())
            picked[i] = rng.choice([action for action, score in scores.items() if score == best])
            values[i] = np.sign(best)
        return picked, values

    def analyse(self, state: State, rng: np.random.Generator) -> Analysis:
        """Score every move; a move's visits are its score above the worst."""
        if self._before is not None and not self._is_in_reach(state):
            return self._before.analyse(state, rng)
        scores = self._solver.scores(state)
        worst = min(scores.values())
        words = {-1: "loss", 0: "draw", 1: "win"}
        moves = [
            Move(action, score - worst, 0.0, float(np.sign(score)), words[int(np.sign(score))])
            for action, score in sorted(scores.items(), key=lambda item: -item[1])
        ]
        return Analysis(moves[0].value, moves, [moves[0].action])

    def _is_in_reach(self, state: State) -> bool:
        return cells(self._game, state).count(EMPTY) <= self._exact


def solver(
    game: Game, value: str | None, *, exact: int | None = None, depth: int = DEPTH
) -> SolverPlayer:
    """Play exactly: Connect 4 any position; Othello from 18 empty cells on, small boards always.

    Othello with more than `exact` empty cells is played by alpha-beta to `depth`.
    """
    expect_no_value("solver", value)
    if game.solver is None:
        raise UserError(f"{game.name} has no exact solver; connect4 and othello have")
    if exact is not None and not game.solvable:
        raise UserError(f"solver: every position of {game.name} is exact, so exact={exact} is idle")
    if exact is not None and not 0 <= exact <= game.board_cells:
        raise UserError(f"solver:exact goes from 0 to {game.board_cells} cells, not {exact}")
    reach = game.solvable if exact is None else exact
    return SolverPlayer(game, game.solver(game), reach, depth)
