"""Searches that keep their tree: 50 simulations and 50 more are the same as 100."""

import math
from collections.abc import Sequence
from dataclasses import replace

from randori.errors import UserError
from randori.explorer.studies import follow, stoppable
from randori.explorer.view import Bonus, View, blank_view, find_node, view_node
from randori.games.dice import Dice, seed_dice
from randori.games.game import Game
from randori.games.position import Position
from randori.search.evaluator import Evaluator
from randori.search.past import past_of
from randori.search.search import Search, SearchConfig
from randori.search.tree import make_trees, tree_of
from randori.search.uct import Uct

PUCT_CHUNK, UCT_CHUNK = 32, 4096
"""Simulations between two looks at whether Ctrl-C was pressed."""


class PuctEngine:
    """A network and its search; all studies share the evaluations that it remembers."""

    unit = "simulations"

    def __init__(self, spec: str, game: Game, evaluator: Evaluator, config: SearchConfig) -> None:
        self.spec, self.usual = spec, config.simulations
        self.game = game
        # One leaf at a time, as in matches: virtual losses would make 50 + 50 differ from 100.
        self.search = Search(game, evaluator, config)
        self._room = self.search.trees.nodes.shape[1], self.search.trees.edges.shape[1]

    def study(self, position: Position) -> "PuctStudy":
        """Plant a tree of its own and ask the network about the root."""
        self.search.trees = make_trees(1, *self._room, self.game)
        self.search.set_roots(position.state[None].copy(), past_of(position))
        with stoppable():  # a question left open would be answered to the wrong tree
            self.search.run(0, skip_forced=False)
        return PuctStudy(self, position)

    def first_sight(self, position: Position) -> View:
        """Ask the network."""
        return self.study(position).look([])

    def bonus(self, visits: int, prior: float, tried: int) -> float:
        """Compute γ·P·√N / (1 + n)."""
        return self.search.config.exploration * prior * math.sqrt(visits) / (1 + tried)


class PuctStudy:
    """A tree that the engine's search works on when it is this tree's turn."""

    def __init__(self, engine: PuctEngine, position: Position) -> None:
        self._engine = engine
        self._position = position
        self._trees = engine.search.trees

    @property
    def spent(self) -> int:
        """Simulations so far; the evaluation of the root itself is none."""
        return max(0, int(self._trees.nodes[0, 0].visits) - 1)

    def run(self, amount: int) -> None:
        """Run more simulations; a proven root needs none."""
        search = self._engine.search
        search.trees = self._trees
        goal = self.spent + amount
        with stoppable() as is_stopped:
            before = -1
            while before < self.spent < goal and not is_stopped():
                before = self.spent
                search.run(min(goal, before + PUCT_CHUNK), skip_forced=False)
                self._trees = search.trees

    def look(self, path: Sequence[int]) -> View:
        """Read a node of the tree."""
        node = find_node(tree_of(self._trees, 0), path)
        if node is None:
            return blank_view(follow(self._position, path).actions())
        search = self._engine.search
        search.trees = self._trees
        search.list_moves(node)
        self._trees = search.trees
        view = view_node(tree_of(self._trees, 0), node, self._engine.bonus)
        return with_moves(view, follow(self._position, path))


class UctEngine:
    """UCB1 over random games; every study has its own dice, all from one seed."""

    unit = "simulations"

    def __init__(self, spec: str, game: Game, usual: int, exploration: float, seed: int) -> None:
        self.spec, self.usual = spec, usual
        self._game, self._exploration, self._seed = game, exploration, seed

    def study(self, position: Position) -> "UctStudy":
        """Plant a tree."""
        dice = seed_dice(self._seed, 1)[0]
        return UctStudy(Uct(self._game, self._exploration), position, self.bonus, dice)

    def first_sight(self, position: Position) -> View:
        """Refuse: there is no network."""
        raise UserError(f"agent {self.spec!r} has no network")

    def bonus(self, visits: int, prior: float, tried: int) -> float | None:
        """Compute c·√(ln N / n); an untried move comes first anyway."""
        return self._exploration * math.sqrt(math.log(visits) / tried) if tried else None


class UctStudy:
    """A tree with dice of its own."""

    def __init__(self, search: Uct, position: Position, bonus: Bonus, dice: Dice) -> None:
        self._search, self._position, self._bonus, self._dice = search, position, bonus, dice
        search.begin(position.state.copy())

    @property
    def spent(self) -> int:
        """Simulations so far; the first one judges the root."""
        return int(self._search.tree.nodes[0].visits)

    def run(self, amount: int) -> None:
        """Run more simulations with the same dice."""
        goal = self.spent + amount
        with stoppable() as is_stopped:
            before = -1
            while before < self.spent < goal and not is_stopped():
                before = self.spent
                self._search.go_on(min(goal, before + UCT_CHUNK), self._dice)

    def look(self, path: Sequence[int]) -> View:
        """Read a node of the tree."""
        tree = self._search.tree
        node = find_node(tree, path)
        if node is None:
            return blank_view(follow(self._position, path).actions())
        view = view_node(tree, node, self._bonus)
        return with_moves(view, follow(self._position, path))


def with_moves(view: View, position: Position) -> View:
    """Give a view of a node that has listed none the moves that are legal there."""
    return (
        view if view.branches else replace(view, branches=blank_view(position.actions()).branches)
    )
