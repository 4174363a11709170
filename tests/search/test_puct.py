"""Batched PUCT is, node by node and bit by bit, the naive search below."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from randori.errors import BrokenLaw
from randori.games.game import Game
from randori.games.kernels import DRAW, FIRST, ONGOING
from randori.games.registry import load_game
from randori.search.backup import FEW_TRIALS, VAIN
from randori.search.priors import FEW, LONGER, SHORT, exp_of, open_root, soften
from randori.search.puct import Knobs, urgency_of
from randori.search.reroot import reroot
from randori.search.search import Search, SearchConfig, make_questions, plant_all, step
from randori.search.tree import (
    DRAWN,
    LATER,
    LOST,
    MOST_LOGITS,
    NEVER,
    NODES,
    NONE,
    UNKNOWN,
    WON,
    Trees,
    enlarge,
    live_edges,
    make_trees,
    tree_of,
)
from randori.search.uniform import UniformEvaluator

F = np.float32
ZERO = F(0)
GAMES = ["tictactoe", "connect4", "othello:size=6", "go:size=4"]
SLOW = {"go:size=4"}
"""Whose plain rules need long for random games to their end."""
LENGTHS = {SHORT * LONGER**k for k in range(6)}
WORTH = {WON: F(1), LOST: F(-1), DRAWN: F(0)}
Build = Callable[[Game], Any]


@dataclass
class Edge:
    action: int
    rank: int
    prior: np.float32 = ZERO
    q: np.float32 = ZERO
    tried: int = 0
    child: "Node | None" = None


@dataclass
class Node:
    state: Any
    edges: list[Edge]
    proven: int
    value: np.float32 = ZERO
    visits: int = 0
    judged: bool = False
    is_root: bool = False
    is_seized: bool = False
    answers: list[Edge] = field(default_factory=list)
    """The moves that win at once, where the node was proven by them."""
    is_shown: bool = False
    """Whether all its moves were tried at once, to show that they lose."""

    def line_up(self) -> None:
        """Put tried moves first, as they were first tried, then the others by their priors.

        At the root all keep their places from then on.
        """
        tried = [edge for edge in self.edges if edge.tried]
        others = sorted((e for e in self.edges if not e.tried), key=lambda e: (-e.prior, e.rank))
        self.edges = tried + others


def rounded(logits: Any) -> Any:
    """To sixteen bits each."""
    bits = np.asarray(logits, dtype=np.float32).view(np.uint32)
    return ((bits + np.uint32(1 << 15)) >> np.uint32(16) << np.uint32(16)).view(np.float32)


@dataclass
class Naive:
    """MCTS with plain objects: one simulation is one recursive call."""

    game: Game
    judge: Callable[[Any], tuple[Any, np.float32]]
    exploration: float = 1.5
    fpu: float = 0.1
    solve: bool = True
    guard: bool = True
    """Whether every move is looked at when it is tried: does the opponent win at once?"""
    words: Any = field(init=False)
    line: list[Any] = field(default_factory=list)
    """What stands above the node that is simulated."""

    def __post_init__(self) -> None:
        self.words = np.zeros(self.game.input_words, dtype=np.uint64)

    def node(self, state: Any) -> Node:
        result = int(self.game.plain.outcome(state))
        legal = self.game.legal_actions(state)
        edges = [Edge(action, rank) for rank, action in enumerate(legal)]
        won = (result == FIRST) == (int(state[0]) % 2 == 0)
        proven = {ONGOING: UNKNOWN, DRAW: DRAWN}.get(result, WON if won else LOST)
        return Node(state, edges, proven)

    def search(self, root: Node, simulations: int, skip_forced: bool = False) -> Node:
        root.is_root = True
        while root.proven == UNKNOWN:
            goes_on = self.guard and self.solve and self.is_desperate(root)
            if root.visits > simulations and not goes_on:
                break
            if skip_forced and len(root.edges) == 1:
                break
            if self.solve and root.judged and not root.is_seized:
                self.seize(root)
                if self.guard and root.proven == UNKNOWN:
                    self.force(root)
            else:
                self.simulate(root)
        return root

    def seize(self, root: Node) -> None:
        """Take a move that wins at once."""
        root.is_seized = True
        for edge in root.edges:
            if edge.child is not None:
                continue
            state = root.state.copy()
            self.game.plain.play(state, edge.action)
            child = self.node(state)
            if child.proven == LOST:
                child.visits = edge.tried = 1
                edge.child, edge.q = child, F(1)
                root.visits += 1
                root.proven = WON
                return

    def force(self, root: Node) -> None:
        """Take a move that wins in two."""
        for edge in root.edges:
            state = root.state.copy()
            self.game.plain.play(state, edge.action)
            child = self.node(state)
            below = []
            for answer in child.edges if child.proven == UNKNOWN else []:
                state = child.state.copy()
                self.game.plain.play(state, answer.action)
                below.append(self.node(state))
                if below[-1].proven == UNKNOWN:
                    self.foil(below[-1], 1)
                if below[-1].proven != WON:
                    break
            if below and len(below) == len(child.edges) and below[-1].proven == WON:
                for answer, node in zip(child.edges, below, strict=True):
                    answer.child, answer.q = node, NEVER
                child.proven, child.is_shown = LOST, True
                child.visits = edge.tried = 1
                edge.child, edge.q = child, F(1)
                root.visits += 1
                root.proven = WON
                return

    def outwit(self, node: Node) -> None:
        """Prove a node where a move wins in two, if it is found within FEW_TRIALS."""
        trials = wins = 0
        for edge in sorted(node.edges, key=lambda edge: edge.rank):
            child = self.after(node, edge)
            is_forced = child.proven == UNKNOWN
            for answer in child.edges if is_forced else []:
                below = self.after(child, answer)
                trials += 1
                if below.proven == UNKNOWN and self.game.plain.may_end(below.state):
                    for last in below.edges:
                        trials += 1
                        if self.after(below, last).proven == LOST:
                            below.proven = WON
                            wins += 1
                            break
                is_vain = trials > FEW_TRIALS or (wins == 0 and trials > FEW_TRIALS // VAIN)
                if below.proven != WON or (below.edges and is_vain):
                    is_forced = False
                    break
            if is_forced:
                node.proven, node.judged, node.answers = WON, False, [edge]
                edge.child = child
                child.proven = LOST
                return
            if trials > FEW_TRIALS or (wins == 0 and trials > FEW_TRIALS // VAIN):
                return

    def after(self, node: Node, edge: Edge) -> Node:
        state = node.state.copy()
        self.game.plain.play(state, edge.action)
        return self.node(state)

    def foil(self, node: Node, most: int = 1 << 20) -> None:
        """Prove a node where the side to move wins at once; only such moves are kept."""
        for edge in node.edges:
            if len(node.answers) == most:
                break
            state = node.state.copy()
            self.game.plain.play(state, edge.action)
            if self.node(state).proven == LOST:
                node.proven = WON
                node.answers.append(edge)
                node.answers[0].child = node.answers[0].child or self.node(state)

    def is_desperate(self, root: Node) -> bool:
        """Tell whether all that was tried is lost, and there is something else."""
        tried = [edge for edge in root.edges if edge.tried]
        return 0 < len(tried) < len(root.edges) and all(edge.q == NEVER for edge in tried)

    def simulate(self, node: Node) -> np.float32:
        """Return the value for the side to move in `node`."""
        node.visits += 1
        if node.proven != UNKNOWN:
            return WORTH[node.proven]
        if not node.judged:
            return self.expand(node)
        looks = self.guard and self.solve and self.game.has_threats
        if looks and not node.is_root and node.visits == 2:
            self.outwit(node)
            if node.proven != UNKNOWN:
                return WORTH[node.proven]
        if not node.is_root:
            node.line_up()
        scale = F(self.exploration * math.sqrt(node.visits - 1))
        scores = [e.q + scale * e.prior / F(1 + e.tried) for e in node.edges]
        edge = node.edges[scores.index(max(scores))]
        if edge.child is None:
            state = node.state.copy()
            self.game.plain.play(state, edge.action)
            edge.child = self.node(state)
            if self.guard and self.solve:
                self.foil(edge.child)
                is_again = self.comes_again([*self.line, node.state], state)
                if edge.child.proven == UNKNOWN and is_again:
                    edge.child.proven = DRAWN
        self.line.append(node.state)
        value = -self.simulate(edge.child)
        self.line.pop()
        edge.tried += 1
        edge.q = value if edge.tried == 1 else edge.q + (value - edge.q) / F(edge.tried)
        if self.solve:
            self.conclude(node)
        return WORTH.get(node.proven, value)

    def comes_again(self, line: list[Any], state: Any) -> bool:
        """Tell whether the same stones stand in the line, with the same side to move."""
        same_side = [above for above in line if (int(above[0]) - int(state[0])) % 2 == 0]
        return any(np.array_equal(above[1:], state[1:]) for above in same_side)

    def expand(self, node: Node) -> np.float32:
        self.game.plain.planes(node.state, self.words)
        logits, node.value = self.judge(self.words)
        if not node.is_root and self.game.num_logits <= MOST_LOGITS:  # so it is kept
            logits = rounded(logits)
        sums = [F(sum(logits[f] for f in self.game.factors[e.action])) for e in node.edges]
        weights = [exp_of(F(x - max(sums))) for x in sums]
        parts = [ZERO] * 4  # kernels add in this order, and the last bit depends on it
        for k, weight in enumerate(weights):
            parts[k % 4 if k < len(weights) // 4 * 4 else 0] += weight
        total = (parts[0] + parts[1]) + (parts[2] + parts[3])
        for edge, weight in zip(node.edges, weights, strict=True):
            edge.prior = weight / total
            edge.q = max(node.value - F(self.fpu), F(-1))
        node.judged = True
        node.line_up()
        return node.value

    def conclude(self, node: Node) -> None:
        below = [e.child.proven if e.child else UNKNOWN for e in node.edges]
        for edge, proven in zip(node.edges, below, strict=True):
            if proven == WON:
                edge.q = NEVER
        if LOST in below:
            node.proven = WON
        elif UNKNOWN not in below:
            node.proven = DRAWN if DRAWN in below else LOST


def assert_same(trees: Trees, slot: int, root: Node) -> int:
    """Compare everything; return the number of nodes."""
    tree = tree_of(trees, slot)
    pairs = [(0, root, NONE, NONE)]
    for at, node, parent, via in pairs:
        record = tree.nodes[at]
        assert tree.states[at].tolist() == node.state.tolist()
        assert (record.parent, record.visits) == (parent, node.visits)
        assert parent == NONE or record.via == via
        assert (record.proven, bool(record.judged)) == (node.proven, node.judged)
        assert not node.judged or record.value == node.value
        tried = sum(edge.tried > 0 for edge in node.edges)
        if node.answers:
            answers = [edge.action for edge in node.answers]
            held = tree.moves[record.first : record.first + record.held]
            assert held.action.tolist() == answers
            assert (record.live, record.count) == (1, len(node.edges))
            first = node.answers[0].child
            assert first is not None
            assert tree.edges[record.first].tried == 0
            pairs.append((int(tree.edges[record.first].child), first, at, record.first))
            continue
        if node.is_shown:
            assert (record.live, record.held, record.count) == 3 * (len(node.edges),)
            for k, edge in enumerate(node.edges):
                move, mine = tree.moves[record.first + k], tree.edges[record.first + k]
                assert (move.action, mine.tried, mine.q) == (edge.action, 0, NEVER)
                assert edge.child is not None
                pairs.append((int(mine.child), edge.child, at, record.first + k))
            continue
        if at and not tried:
            assert record.first == NONE, "nobody has asked for its moves"
            continue
        if at:
            node.line_up()
        assert record.live == (tried if at else len(node.edges))
        assert record.count == len(node.edges)
        assert record.held in ({record.count} | LENGTHS if at else {record.count})
        assert record.live <= record.held <= record.count
        left = LATER if record.live < record.count else NEVER
        after = node.edges[record.live].prior if record.live < record.held else left
        assert record.next == after
        for k, edge in enumerate(node.edges[: record.held]):
            move, mine = tree.moves[record.first + k], tree.edges[record.first + k]
            assert (move.action, move.rank) == (edge.action, edge.rank)
            if node.judged:
                assert move.prior == edge.prior
            if k >= record.live:
                continue
            assert mine.tried == edge.tried
            assert (mine.child == NONE) == (edge.child is None)
            if node.judged:
                assert (mine.prior, mine.q) == (edge.prior, edge.q)
            if edge.child is not None:
                pairs.append((int(mine.child), edge.child, at, record.first + k))
    assert tree.used[NODES] == len(pairs)
    return len(pairs)


@cache
def game_of(spec: str) -> Game:
    return load_game(spec)


@cache
def positions_of(spec: str, count: int = 3, near_the_end: bool = False) -> Any:
    """Positions of random games: the start, some ply, or the last three plies."""
    game, found, seed = game_of(spec), [], 0
    while len(found) < count:
        rng = np.random.default_rng(seed)
        line = [game.new_state()]
        while actions := game.legal_actions(line[-1]):
            line.append(line[-1].copy())
            game.plain.play(line[-1], int(rng.choice(actions)))
        seed += 1
        last = len(line) - 2
        ply = rng.integers(max(0, last - 2), last + 1) if near_the_end else rng.integers(0, last)
        found.append(line[0] if seed == 1 and not near_the_end else line[int(ply)])
    return np.array(found)


def search_all(
    game: Game, evaluator: Any, states: Any, simulations: int, *, guard: bool = True, **options: Any
) -> Search:
    config = SearchConfig(**{"cache_mb": 0.0, **options})
    search = Search(game, evaluator, config, slots=len(states), guard=guard)
    search.set_roots(states)
    search.run(simulations, skip_forced=False)
    return search


@pytest.mark.parametrize(
    ("spec", "near_the_end"),
    [(spec, late) for spec in GAMES for late in (False, True) if not (spec in SLOW and late)],
)
@pytest.mark.parametrize("solve", [True, False])
@pytest.mark.parametrize(
    ("exploration", "fpu", "cache_mb"),
    [(1.5, 0.1, 0.0), (0.6, 0.0, 1.0), (4.0, 0.5, 0.002), (1.5, 3.0, 1.0)],
)
def test_equals_the_naive_search(
    spec: str,
    solve: bool,
    exploration: float,
    fpu: float,
    cache_mb: float,
    near_the_end: bool,
    hashed: Build,
) -> None:
    """Several positions at once, with no, a tiny and a large cache."""
    game = game_of(spec)
    evaluator = hashed(game)
    states = positions_of(spec, 3, near_the_end)
    knobs: dict[str, Any] = {"exploration": exploration, "fpu": fpu, "solve": solve}
    search = search_all(game, evaluator, states, 150, cache_mb=cache_mb, **knobs)
    naive = Naive(game, evaluator.judge, **knobs)
    nodes = 0
    for slot, state in enumerate(states):
        nodes += assert_same(search.trees, slot, naive.search(naive.node(state), 150))
    if not near_the_end:
        assert nodes > 150, "the comparison saw real trees"
    elif solve:
        assert search.trees.nodes[:, 0].proven.any(), "and real proofs"
    if not solve:
        assert (search.trees.nodes[:, 0].visits == 151).all()


@pytest.mark.parametrize("spec", GAMES)
@pytest.mark.parametrize("solve", [True, False])
def test_the_first_of_equals_is_taken(spec: str, solve: bool, hashed: Build) -> None:
    """All moves alike and all positions even: nearly every choice is a tie."""
    game = game_of(spec)
    evaluator = hashed(game)
    evaluator.judge = lambda words: (np.zeros(game.num_logits, dtype=F), ZERO)
    states = positions_of(spec, 3)
    search = search_all(game, evaluator, states, 200, solve=solve)
    naive = Naive(game, evaluator.judge, solve=solve)
    for slot, state in enumerate(states):
        assert_same(search.trees, slot, naive.search(naive.node(state), 200))


@pytest.mark.parametrize(
    ("spec", "simulations"),
    [("go:size=5", 800), pytest.param("shobu", 800, marks=pytest.mark.slow)],
)
def test_lists_grow_as_they_are_used_up(spec: str, simulations: int, hashed: Build) -> None:
    """A wide search: nodes with a short list, a longer one, and all their moves."""
    game = game_of(spec)
    evaluator = hashed(game)
    states = positions_of(spec, 1)
    search = search_all(game, evaluator, states, simulations, exploration=30.0)
    naive = Naive(game, evaluator.judge, exploration=30.0)
    assert_same(search.trees, 0, naive.search(naive.node(states[0]), simulations))
    nodes = search.trees.nodes[0, 1 : search.trees.used[0, NODES]]
    assert {int(n.held) for n in nodes if n.held < n.count} >= {SHORT, SHORT * LONGER}
    assert spec != "go:size=5" or any(n.held == n.count > FEW for n in nodes)


def test_logits_are_summed_over_factors(hashed: Build) -> None:
    """Tic-tac-toe whose policy is a row and a column."""
    cells = np.arange(9)
    factors = np.stack([cells // 3, 3 + cells % 3], axis=1).astype(np.int32)
    game = replace(game_of("tictactoe"), factors=factors, factor_sizes=(3, 3))
    evaluator = hashed(game)
    states = positions_of("tictactoe", 3)
    search = search_all(game, evaluator, states, 100)
    naive = Naive(game, evaluator.judge)
    for slot, state in enumerate(states):
        assert_same(search.trees, slot, naive.search(naive.node(state), 100))


def test_exponentials_are_right_to_the_last_places() -> None:
    """Compiled and plain alike, and close to those of double precision."""
    logits = np.concatenate([np.linspace(-86, 0, 20_001), [-0.0, -1e-7, -1e-30]]).astype(F)
    plain = np.array([exp_of(x) for x in logits])
    assert plain.dtype == F
    exact = np.exp(logits.astype(np.float64))
    assert np.max(np.abs(plain - exact) / exact) < 2.0**-22
    assert exp_of(ZERO) == 1.0
    assert 0 < exp_of(F(-1e9)) == exp_of(F(-np.inf)) < 1e-37
    odds = logits + F(5)
    game_of("tictactoe").kernel(soften)(odds, len(odds))
    expected = np.array([exp_of(F(F(x + F(5)) - F(5))) for x in logits])
    np.testing.assert_allclose(odds, expected / expected.astype(np.float64).sum(), rtol=1e-5)
    assert odds.astype(np.float64).sum() == pytest.approx(1, rel=1e-5)


def test_budgets_are_each_slots_own(hashed: Build) -> None:
    game = game_of("connect4")
    evaluator = hashed(game)
    states = positions_of("connect4", 5)
    budgets = np.array([0, 1, 7, 90, 200], dtype=np.int32)
    lane = evaluator.lane(5)
    asked = make_questions(5, 1, lane.states, lane.words, lane.logits, lane.values)
    trees = make_trees(5, 256, 7 * 256, game)
    search = Search(game, evaluator, SearchConfig(cache_mb=0.0))
    game.kernel(plant_all)(trees, asked, states, 5)
    knobs = Knobs(1.5, 0.1, False, 1, False)
    while True:
        rows, cramped = game.kernel(step)(trees, search._cache, asked, budgets, knobs)
        assert not cramped
        if not rows:
            break
        lane.launch(rows)
    naive = Naive(game, evaluator.judge, solve=False)
    for slot, state in enumerate(states):
        assert_same(trees, slot, naive.search(naive.node(state), int(budgets[slot])))


def test_a_search_goes_on_where_it_stopped(hashed: Build) -> None:
    """Also past the room that trees begin with."""
    game = game_of("othello:size=6")
    evaluator = hashed(game)
    states = positions_of("othello:size=6", 2)
    search = search_all(game, evaluator, states, 20)
    for simulations in (20, 5, 700):
        search.run(simulations, skip_forced=False)
    naive = Naive(game, evaluator.judge)
    for slot, state in enumerate(states):
        assert_same(search.trees, slot, naive.search(naive.node(state), 700))
    assert search.trees.nodes.shape[1] > 256


def test_enlarge_keeps_everything(hashed: Build) -> None:
    game = game_of("tictactoe")
    evaluator = hashed(game)
    states = positions_of("tictactoe", 3)
    trees = enlarge(search_all(game, evaluator, states, 60).trees, game)
    naive = Naive(game, evaluator.judge)
    for slot, state in enumerate(states):
        assert_same(trees, slot, naive.search(naive.node(state), 60))


def move_root(trees: Trees, slot: int, root: int, knobs: Knobs) -> None:
    """Template: `reroot` in one slot."""
    reroot(tree_of(trees, slot), root)
    tree = tree_of(trees, slot)
    open_root(tree, urgency_of(tree, 0, knobs.fpu))


@pytest.mark.parametrize("spec", GAMES)
@pytest.mark.parametrize("solve", [True, False])
def test_the_subtree_is_kept_along_a_game(spec: str, solve: bool, hashed: Build) -> None:
    """Both slots move down a random branch, are compared, search on, and are compared again."""
    game = game_of(spec)
    evaluator = hashed(game)
    search = search_all(game, evaluator, positions_of(spec, 2), 60, guard=False, solve=solve)
    naive = Naive(game, evaluator.judge, solve=solve, guard=False)
    knobs = Knobs(1.5, 0.1, solve, 1, False)
    roots = [naive.search(naive.node(state), 60) for state in positions_of(spec, 2)]
    rng = np.random.default_rng(1)
    moves = shortened = 0
    for _ in range(game.longest):
        for slot, root in enumerate(roots):
            tree = tree_of(search.trees, slot)
            children = [
                (e.child, int(tree.edges[edge].child))
                for e, edge in zip(root.edges, live_edges(tree, 0), strict=True)
                if e.child is not None
            ]
            if children:
                shortened += sum(
                    int(tree.nodes[at].held < tree.nodes[at].count) for _, at in children
                )
                roots[slot], at = children[rng.integers(len(children))]
                roots[slot].is_root = True
                roots[slot].line_up()
                game.kernel(move_root)(search.trees, slot, at, knobs)
                moves += 1
            assert_same(search.trees, slot, roots[slot])
        search.run(60, skip_forced=False)
        for slot, root in enumerate(roots):
            assert_same(search.trees, slot, naive.search(root, 60))
    assert moves > 6
    assert shortened or spec != "go:size=4"


def test_forced_moves_are_not_searched(hashed: Build) -> None:
    """A lone legal move needs no evaluation, unless somebody asks for one."""
    game = game_of("othello:size=6")
    evaluator = hashed(game)
    seen = iter(range(1, 1000))
    while True:  # the first pass in a random game
        states = [s for s in positions_of("othello:size=6", next(seen)) if s[3] == 0]
        states = [s for s in states if len(game.legal_actions(s)) == 1]
        if states:
            break
    search = Search(game, evaluator, SearchConfig(cache_mb=0.0))
    search.set_roots(np.array(states[:1]))
    search.run(50)
    assert evaluator.batches == []
    assert [move.action for move in search.analysis().moves] == [36]
    search.run(50, skip_forced=False)
    naive = Naive(game, evaluator.judge)
    assert_same(search.trees, 0, naive.search(naive.node(states[0]), 50))


def test_more_moves_than_a_game_says_are_refused(hashed: Build) -> None:
    """They would be written past the end of the arrays."""
    game = replace(game_of("tictactoe"), most_legal=7)
    late = np.array([game.start().play("b2").play("a1").state])
    search_all(game, hashed(game), late, 20)
    with pytest.raises(BrokenLaw, match="tictactoe: law 'most_legal' broken"):
        search_all(game, hashed(game), np.array([game.new_state()]), 20)


def test_a_finished_game_is_not_searched(hashed: Build) -> None:
    game = game_of("tictactoe")
    evaluator = hashed(game)
    over = game.start()
    for move in ("a1", "a2", "b1", "b2", "c1"):
        over = over.play(move)
    search = search_all(game, evaluator, np.array([over.state]), 50)
    assert evaluator.batches == []
    assert search.analysis().value == -1.0
    assert search.analysis().moves == []


@pytest.mark.parametrize("logit", [np.inf, -np.inf, np.nan, -np.nan, 3e38])
@pytest.mark.parametrize("spec", ["shobu", "othello:size=6", "go:size=5"])
def test_answers_that_are_no_numbers_lead_to_legal_moves(spec: str, logit: float) -> None:
    """A run that goes astray is told so by its learner, and has not crashed before."""
    game = load_game(spec)
    evaluator = UniformEvaluator(game)
    lane = evaluator.lane(4)
    lane.logits[:2] = logit
    lane.logits[2:, ::3] = logit
    search = Search(game, evaluator, SearchConfig(cache_mb=0.0), slots=4, guard=False)
    for array in (search._lane.logits, search._asked.logits):
        array[:] = lane.logits
    search.set_roots(np.repeat(game.new_state()[None], 4, axis=0))
    search.run(60)
    for slot in range(4):
        nodes, moves = search.trees.nodes[slot], search.trees.moves[slot]
        for node in range(int(search.trees.used[slot, NODES])):
            first, held = int(nodes[node].first), int(nodes[node].held)
            if first != NONE:
                legal = game.legal_actions(search.trees.states[slot, node])
                listed = moves[first : first + held]
                assert len(set(listed.action.tolist())) == held
                assert all(legal[m.rank] == m.action for m in listed)
                assert np.isfinite(listed.prior).all()
