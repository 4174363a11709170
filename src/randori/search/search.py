"""Search from given positions: what an agent runs, one tree a position, all in one batch."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from randori.games.game import Game
from randori.games.kernels import wide
from randori.search.ahead import AHEAD, foresee
from randori.search.backup import answers_to, root_value
from randori.search.cache import Cache, make_cache
from randori.search.choice import best_edge, choose_all, fate_of, likeliest_all
from randori.search.evaluator import Evaluator
from randori.search.graph import GRAPH_KERNELS, find_twins, with_twins
from randori.search.past import Past
from randori.search.priors import open_wholly
from randori.search.puct import NO_ROOM, Knobs, Questions, absorb, gather
from randori.search.tree import (
    DRAWN,
    LOST,
    NONE,
    SPARE,
    WON,
    Tree,
    Trees,
    enlarge,
    expect_lawful,
    has_room,
    is_whole,
    live_edges,
    make_trees,
    plant,
    recall_logits,
    tree_of,
)

FIRST_NODES = 256
"""Nodes a tree starts with room for; it grows when more are needed."""


@dataclass(frozen=True)
class SearchConfig:
    """How to search."""

    simulations: int = 200
    """visits of the root's moves a search runs to, those kept from an earlier move included"""
    exploration: float = 1.5
    """γ in Q + γ·P·√N / (1 + n)"""
    fpu: float = 0.1
    """an unvisited move is worth its parent's own evaluation less this"""
    solve: bool = True
    """carry proven wins, losses and draws up the tree, and never walk into a proven loss"""
    cache_mb: float = 16.0
    """memory for remembered evaluations"""

    def __post_init__(self) -> None:
        if self.simulations < 1:
            raise ValueError(f"simulations must be at least 1, not {self.simulations}")


Reading = Callable[[Trees, int, NDArray[np.int32], NDArray[np.float32]], None]
"""Fills in an action and a value for so many trees."""


@dataclass(frozen=True)
class Move:
    """What a search found out about one legal move."""

    action: int
    visits: int
    prior: float
    value: float
    """for the side that plays it"""
    proven: str | None
    """win, loss or draw for the side that plays it; what comes again is a draw (`past.py`)"""


@dataclass(frozen=True)
class Analysis:
    """What a search found out about a position."""

    value: float
    """for the side to move"""
    moves: Sequence[Move]
    """the best first, which need not have most visits (`search/choice.py`); then by visits"""
    line: Sequence[int]
    """the actions that the search expects"""
    evaluations: int = 0
    """positions that the evaluator was asked about since the roots were set, for all of them
    together; one that it looks at in several ways counts once"""

    @property
    def best(self) -> Move:
        """The move to play."""
        return self.moves[0]


def make_questions(
    slots: int, leaves: int, states: NDArray[np.uint64], words: NDArray[np.uint64],
    logits: NDArray[Any], values: NDArray[np.float32],
) -> Questions:  # fmt: skip
    """Pair a lane's arrays with the book-keeping of who asked what."""
    leaf = np.zeros((slots, leaves), dtype=np.int32)
    keys = np.zeros((slots, leaves), dtype=np.uint64)
    counters = [np.zeros(slots, dtype=np.int32) for _ in range(2)]
    return Questions(states, words, logits, values, leaf, keys, *counters)


def plant_all(trees: Trees, asked: Questions, states: NDArray[np.uint64], count: int) -> None:
    """Start new trees from ``states[:count]``."""
    for slot in range(count):
        asked.in_flight[slot] = 0
        plant(tree_of(trees, slot), states[slot])


def step(
    trees: Trees,
    cache: Cache,
    asked: Questions,
    budgets: NDArray[np.int32],
    knobs: Knobs,
) -> tuple[int, bool]:
    """Take the answers, put new questions; return how many, and whether a tree lacks room."""
    rows = wide(0)
    cramped = False
    for slot in range(len(budgets)):
        if slot + AHEAD < len(budgets):
            foresee(trees, cache, asked, slot + AHEAD)
        tree = tree_of(trees, slot)
        absorb(tree, cache, asked, slot, knobs)
        why = gather(tree, cache, asked, slot, rows, budgets[slot], knobs)
        rows += asked.in_flight[slot]
        cramped |= why == NO_ROOM
    return rows, cramped


def open_one(trees: Trees, slot: int, node: int) -> bool:
    """List all moves of a node that was judged, if they are not; false when there is no room."""
    tree = tree_of(trees, slot)
    if not tree.nodes[node].judged or is_whole(tree, node):
        return True
    if not has_room(tree, 1):
        return False
    recall_logits(tree, node)
    open_wholly(tree, node, tree.said)
    return True


class Search:
    """At most `slots` trees over one evaluator, kept between calls; or graphs (`graph.py`)."""

    def __init__(
        self,
        game: Game,
        evaluator: Evaluator,
        config: SearchConfig,
        *,
        slots: int = 1,
        leaves: int = 1,
        guard: bool = True,
        graph: bool = False,
    ) -> None:
        if graph and (leaves > 1 or game.can_repeat):
            raise ValueError("a graph has one leaf in flight, and positions that never come again")
        self.game = game
        self.config = config
        self.evaluations = 0
        self._leaves = leaves
        self._guard = guard and config.solve
        self._lane = evaluator.lane(slots * leaves)
        lane = self._lane
        self._asked = make_questions(
            slots, leaves, lane.states, lane.words, lane.logits, lane.values
        )
        edges = FIRST_NODES * min(game.most_legal, 16) + SPARE * game.most_legal
        self.trees = make_trees(slots, FIRST_NODES, edges, game)
        self._holes: dict[str, Callable[..., Any]] = GRAPH_KERNELS if graph else {}
        if graph:
            self.trees = with_twins(self.trees)
        self._cache = make_cache(config.cache_mb, game.num_logits)
        self._used = 0

    def forget(self) -> None:
        """Drop remembered evaluations: the evaluator has new weights."""
        self._cache.keys[:] = 0

    def set_roots(self, states: NDArray[np.uint64], past: Past | None = None) -> None:
        """Start new trees from these positions, [n, S]; `past` is what their games have had."""
        if len(states) > len(self.trees.used):
            raise ValueError(f"{len(states)} positions for a search of {len(self.trees.used)}")
        if past is not None and len(past) != len(states):
            raise ValueError(f"{len(states)} positions with {len(past)} pasts")
        self._used = len(states)
        self.evaluations = 0
        keys = np.zeros((len(self.trees.used), 0 if past is None else past.shape[1]), np.uint64)
        if past is not None:
            keys[: len(past)] = past
        self.trees = self.trees._replace(past=keys)
        self.game.kernel(plant_all)(self.trees, self._asked, states, len(states))

    def run(self, simulations: int | None = None, *, skip_forced: bool = True) -> None:
        """Search every root until its moves have that many visits, or it is proven."""
        config = self.config
        target = config.simulations if simulations is None else simulations
        budgets = np.full(self._used, target, dtype=np.int32)
        knobs = Knobs(
            config.exploration, config.fpu, config.solve, self._leaves, skip_forced,
            guard=self._guard,
        )  # fmt: skip
        kernel = self.game.kernel(step, **self._holes)
        while True:
            rows, cramped = kernel(self.trees, self._cache, self._asked, budgets, knobs)
            expect_lawful(self.trees, self.game)
            if cramped:
                self._enlarge()
            if rows:
                self._lane.launch(rows)
                self._lane.wait()
                self.evaluations += rows
            elif not cramped:
                return

    def list_moves(self, node: int, slot: int = 0) -> None:
        """List all moves of a node that was judged."""
        while not self.game.kernel(open_one)(self.trees, slot, node):
            self._enlarge()

    def _enlarge(self) -> None:
        self.trees = enlarge(self.trees, self.game)
        if self._holes:
            self.trees = with_twins(self.trees)
            self.game.kernel(find_twins)(self.trees)

    def choices(self) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Return for every root the move to play, and what the search makes of it."""
        return self._read(choose_all)

    def first_choices(self) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Return for every root the evaluator's likeliest move, and what the search makes of it."""
        return self._read(likeliest_all)

    def _read(self, kernel: Reading) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        actions, values = np.zeros(self._used, np.int32), np.zeros(self._used, np.float32)
        self.game.kernel(kernel)(self.trees, self._used, actions, values)
        return actions, values

    def analysis(self, slot: int = 0) -> Analysis:
        """Read off what is known about a root."""
        return analyse_tree(tree_of(self.trees, slot), self.evaluations)


_OTHER = {WON: "loss", LOST: "win", DRAWN: "draw"}


def analyse_tree(tree: Tree, evaluations: int = 0) -> Analysis:
    """Read off what is known about the root of a tree."""
    best = best_edge(tree, 0)
    moves = {e: _move(tree, e) for e in live_edges(tree, 0)}
    edges = sorted(moves, key=lambda e: (e != best, *_rank(tree, e, moves[e])))
    line = [int(tree.moves[e].action) for e in best_line(tree, 0)]
    return Analysis(root_value(tree), [moves[e] for e in edges], line, evaluations)


def _move(tree: Tree, edge: int) -> Move:
    record, move = tree.edges[edge], tree.moves[edge]
    proven = _OTHER.get(fate_of(tree, edge))
    value = {"win": 1.0, "loss": -1.0, "draw": 0.0, None: float(record.q)}[proven]
    return Move(int(move.action), int(record.tried), float(record.prior), value, proven)


def best_line(tree: Tree, node: int) -> list[int]:
    """Follow the move that would be played, from a node on, as long as it was tried."""
    line: list[int] = []
    while (edge := best_edge(tree, node)) != NONE and tree.edges[edge].child != NONE:
        line.append(edge)
        node = int(tree.edges[edge].child)
    return line


def _rank(tree: Tree, edge: int, move: Move) -> tuple[bool, bool, int, float, int, float]:
    """Order what is not played: wins first, losses last, then by visits, value and prior."""
    is_win, is_loss = move.proven == "win", move.proven == "loss"
    value = move.value if move.visits else 0.0
    answers = answers_to(tree, edge) if is_loss else 0
    return (not is_win, is_loss, -move.visits, -value, answers, -move.prior)
