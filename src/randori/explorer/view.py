"""What an agent knows about one position: itself, its moves, and the line it expects.

All values are from the side to move at that position, which is the side that plays the moves.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from randori.search.backup import proven_value
from randori.search.search import Analysis, Move, best_line
from randori.search.tree import (
    DRAWN,
    LOST,
    NEVER,
    NONE,
    UNKNOWN,
    WON,
    Tree,
    live_edges,
    tried_edges,
)

PROVEN = {WON: "win", LOST: "loss", DRAWN: "draw"}
OPPOSITE = {WON: "loss", LOST: "win", DRAWN: "draw"}
EXACT = {"win": 1.0, "loss": -1.0, "draw": 0.0}

Bonus = Callable[[int, float, int], float | None]
"""A search's U of a move, from the visits of its node, its prior and its own visits."""


@dataclass(frozen=True)
class Branch:
    """One move, with None for what nobody knows."""

    action: int
    visits: int = 0
    prior: float | None = None
    q: float | None = None
    """mean value of the search below it"""
    u: float | None = None
    """what the search adds to Q when it picks a move"""
    value: float | None = None
    """the evaluator's own opinion of the position after it"""
    proven: str | None = None


@dataclass(frozen=True)
class View:
    """One position as a search sees it."""

    visits: int
    value: float | None
    """what the search makes of it"""
    own: float | None
    """what the evaluator said at first sight"""
    proven: str | None
    branches: Sequence[Branch]
    """the one to play first, then what is proven to win, then the most visited"""
    line: Sequence[Branch]
    """the moves that the search expects"""
    counted: str = "visits"
    """what the visits are; empty where nothing was counted"""

    @property
    def best(self) -> Branch | None:
        """The move that the search would play."""
        return self.line[0] if self.line else None


def blank_view(actions: Sequence[int]) -> View:
    """Return the view of a position that nobody has looked at."""
    return View(0, None, None, None, [Branch(action) for action in actions], [])


def view_analysis(analysis: Analysis) -> View:
    """Turn the report of an agent without a tree into a view; its moves keep their order.

    A solver counts nothing: what stands for visits there are scores.
    """
    is_exact = not analysis.evaluations and all(move.proven for move in analysis.moves)
    with_priors = any(move.prior for move in analysis.moves)

    def branch(move: Move) -> Branch:
        prior = move.prior if with_priors else None
        visits = 0 if is_exact else move.visits
        return Branch(move.action, visits, prior, q=move.value, proven=move.proven)

    branches = [branch(move) for move in analysis.moves]
    known = {one.action: one for one in branches}
    line = [Branch(action) for action in analysis.line]
    line[:1] = [known.get(one.action, one) for one in line[:1]]
    total = analysis.evaluations or sum(one.visits for one in branches)
    proven = line[0].proven if is_exact and line else None
    return View(total, analysis.value, None, proven, branches, line, "" if is_exact else "nodes")


def find_node(tree: Tree, path: Sequence[int]) -> int | None:
    """Follow actions from the root; None where the search has never been."""
    node = 0
    for action in path:
        below = [e for e in tried_edges(tree, node) if int(tree.moves[e].action) == action]
        if not below:
            return None
        node = int(tree.edges[below[0]].child)
    return node


def view_node(tree: Tree, node: int, bonus: Bonus) -> View:
    """Read one node of a search tree; of its moves those that are listed."""
    record = tree.nodes[node]
    tried = live_edges(tree, node)
    others = range(tried.stop, tried.start + int(record.held))
    branches = [_branch(tree, node, e, bonus) for e in tried]
    branches += [_untried(tree, node, e, bonus) for e in others]
    line = _line(tree, node, bonus)
    played = [one.action for one in line[:1]]
    return View(
        int(record.visits),
        _value(tree, node),
        float(record.value) if record.judged else None,
        PROVEN.get(int(record.proven)),
        sorted(branches, key=lambda one: (one.action not in played, *_order(one))),
        line,
    )


def _branch(tree: Tree, node: int, edge: int, bonus: Bonus) -> Branch:
    record, above = tree.edges[edge], tree.nodes[node]
    prior = float(record.prior) if above.judged else None
    tried = int(record.tried)
    child = None if record.child == NONE else tree.nodes[int(record.child)]
    proven = None if child is None else OPPOSITE.get(int(child.proven))
    q = EXACT[proven] if proven else float(record.q) if tried else None
    own = -float(child.value) if child is not None and child.judged else None
    u = bonus(int(above.visits), prior or 0.0, tried)
    return Branch(int(tree.moves[edge].action), tried, prior, q, u, own, proven)


def _untried(tree: Tree, node: int, edge: int, bonus: Bonus) -> Branch:
    move, above = tree.moves[edge], tree.nodes[node]
    if above.proven == WON and not above.judged:  # then its list is moves that win
        return Branch(int(move.action), q=EXACT["win"], u=0.0, proven="win")
    u = bonus(int(above.visits), float(move.prior), 0)
    return Branch(int(move.action), 0, float(move.prior), u=u)


def _value(tree: Tree, node: int) -> float | None:
    """Average a node as `root_value` does the root: its own evaluation counts once."""
    record = tree.nodes[node]
    if record.proven != UNKNOWN:
        return float(proven_value(int(record.proven)))
    if not record.visits:
        return None
    tried = [tree.edges[e] for e in live_edges(tree, node)]
    tried = [edge for edge in tried if edge.tried > 0 and edge.q != NEVER]
    total = float(record.value) + sum(float(edge.q) * int(edge.tried) for edge in tried)
    return total / (1 + sum(int(edge.tried) for edge in tried))


def _line(tree: Tree, node: int, bonus: Bonus) -> list[Branch]:
    edges = best_line(tree, node)
    nodes = [node, *(int(tree.edges[e].child) for e in edges)]
    return [_branch(tree, at, e, bonus) for at, e in zip(nodes, edges, strict=False)]


def _order(one: Branch) -> tuple[bool, int, float, float]:
    return (one.proven != "win", -one.visits, -(one.q or 0.0), -(one.prior or 0.0))
