"""Agents with a trained network inside: with search (`az`) or at first sight (`policy`)."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from randori.errors import UserError
from randori.games.game import Game
from randori.games.kernels import State
from randori.search.evaluator import Evaluator
from randori.search.past import Past
from randori.search.search import Analysis, Move, Search, SearchConfig
from randori.search.symmetric import Turns, in_turns
from randori.spec import Spec

SINGLE_LEAVES = 4
"""Leaves in flight when there is one position to think about: a batch of 4 costs little more
than a batch of 1, and more would spread the search too thin."""


def expect_tree(spec: Spec, options: Mapping[str, Any]) -> None:
    """Refuse a graph where a tree is shown or kept from move to move."""
    if options.get("graph"):
        raise UserError(f"{spec}: here searches are kept as trees: leave graph=yes out")


class SearchPool:
    """Searches of a few sizes over one evaluator, made when first needed."""

    def __init__(
        self, game: Game, evaluator: Evaluator, config: SearchConfig, *, graph: bool = False
    ) -> None:
        self._game = game
        self._evaluator = evaluator
        self._config = config
        self._graph = graph
        self._made: dict[int, Search] = {}

    def fit(self, positions: int) -> Search:
        """Return a search with room for that many positions; sizes are powers of two."""
        slots = 1 << (positions - 1).bit_length()
        if slots not in self._made:
            leaves = SINGLE_LEAVES if slots == 1 and not self._graph else 1
            self._made[slots] = Search(
                self._game, self._evaluator, self._config,
                slots=slots, leaves=leaves, graph=self._graph,
            )  # fmt: skip
        return self._made[slots]

    def forget(self) -> None:
        """Drop remembered evaluations."""
        for search in self._made.values():
            search.forget()


def draw_move(analysis: Analysis, rng: np.random.Generator) -> Move:
    """Draw a move by its visits, except that a proven win is taken and a proven loss is not."""
    moves = analysis.moves
    visits = np.array([0 if move.proven == "loss" else move.visits for move in moves])
    if analysis.best.proven == "win" or not visits.sum():
        return analysis.best
    return moves[rng.choice(len(moves), p=visits / visits.sum())]


class SearchPlayer:
    """Plays by PUCT over an evaluator, all positions of a batch at once."""

    def __init__(
        self,
        game: Game,
        evaluator: Evaluator,
        config: SearchConfig,
        temperature_plies: int = 0,
        *,
        graph: bool = False,
    ) -> None:
        self._searches = SearchPool(game, evaluator, config, graph=graph)
        self._temperature_plies = temperature_plies
        self._past: Past | None = None

    def heed(self, past: Past) -> None:
        """Hear what the games of the next positions have had before."""
        self._past = past

    def act(self, states: NDArray[np.uint64], rng: np.random.Generator) -> NDArray[np.int32]:
        """Search every position and pick its best move, or one by visits early on."""
        return self.judge(states, rng)[0]

    def judge(
        self, states: NDArray[np.uint64], rng: np.random.Generator
    ) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Do the same, and return the searches' values too."""
        search = self.search_all(states)
        picked, values = search.choices()
        for i in np.flatnonzero(states[:, 0] < self._temperature_plies):
            picked[i] = draw_move(search.analysis(int(i)), rng).action
        return picked, values

    def search_all(self, states: NDArray[np.uint64]) -> Search:
        """Search every position; slot i is that of position i."""
        search = self._plant(states)
        search.run()
        return search

    def _plant(self, states: NDArray[np.uint64]) -> Search:
        """Set the roots, with what was heard of their past, which counts but once."""
        past, self._past = self._past, None
        search = self._searches.fit(len(states))
        search.set_roots(states, past)
        return search

    def analyse(self, state: State, rng: np.random.Generator) -> Analysis:
        """Search one position."""
        search = self._plant(state[None])
        search.run(skip_forced=False)
        return search.analysis()

    def forget(self) -> None:
        """Drop remembered evaluations: the evaluator has new weights."""
        self._searches.forget()


def az(
    game: Game,
    value: str | None,
    *,
    simulations: int = 200,
    exploration: float = 1.5,
    fpu: float = 0.1,
    solve: bool = True,
    temperature_plies: int = 0,
    turns: Turns = "auto",
    graph: bool = False,
    runtime: str = "auto",
) -> SearchPlayer:
    """Search with a trained network: ``az:RUN``, ``az:FILE.safetensors``, or ``az`` for ours.

    `turns` shows the network every position as it is, under a random symmetry, or under all; auto
    is all where there are but two, as in Connect 4. `graph` searches a position once, in whatever
    order its moves were played.
    """
    if graph and game.can_repeat:
        raise UserError(
            f"positions of {game.name} may come again, and what that means depends on the way: "
            "graph=no"
        )
    config = SearchConfig(simulations, exploration, fpu, solve)
    evaluator = load_evaluator(game, value, runtime, turns)
    return SearchPlayer(game, evaluator, config, temperature_plies, graph=graph)


class PolicyPlayer:
    """Plays the network's likeliest move, without search."""

    def __init__(self, game: Game, evaluator: Evaluator) -> None:
        self._searches = SearchPool(game, evaluator, SearchConfig(simulations=1, solve=False))

    def act(self, states: NDArray[np.uint64], rng: np.random.Generator) -> NDArray[np.int32]:
        """Pick the move with the largest prior."""
        return self.judge(states, rng)[0]

    def judge(
        self, states: NDArray[np.uint64], rng: np.random.Generator
    ) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Do the same, and return the network's values too."""
        search = self._searches.fit(len(states))
        search.set_roots(states)
        search.run(0)
        return search.first_choices()

    def analyse(self, state: State, rng: np.random.Generator) -> Analysis:
        """Show the network's own value and priors."""
        search = self._searches.fit(1)
        search.set_roots(state[None])
        search.run(0, skip_forced=False)
        return search.analysis()


def policy(game: Game, value: str | None, *, runtime: str = "auto") -> PolicyPlayer:
    """Play a trained network's first choice, without search: ``policy:RUN``, or ours."""
    return PolicyPlayer(game, load_evaluator(game, value, runtime, "none"))


def load_evaluator(game: Game, path: str | None, runtime: str, turns: Turns) -> Evaluator:
    """Read a model and put it on a runtime; it must have been trained for this game."""
    from randori.agents.models import load_network, shipped_model, signature_of
    from randori.networks.choose import make_evaluator

    network = load_network(game, shipped_model(game) if path is None else Path(path))
    return in_turns(game, make_evaluator(network, signature_of(game), runtime), turns)
