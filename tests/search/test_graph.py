"""Graphs: one node a position, whatever the order of moves; else the naive search below."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from randori.agents.registry import load_agent
from randori.errors import UserError
from randori.explorer.engines import open_engine
from randori.games.game import Game
from randori.games.position import Position
from randori.games.registry import load_game
from randori.search.priors import exp_of
from randori.search.search import FIRST_NODES, Search, SearchConfig
from randori.search.tree import DRAWN, LOST, NODES, NONE, UNKNOWN, WON, live_edges, tree_of
from randori.search.uniform import UniformEvaluator

F = np.float32
EXPLORATION = 5.0
"""Wide searches meet the same positions more often."""
WORTH = {WON: F(1), LOST: F(-1), DRAWN: F(0)}
Build = Callable[[Game], Any]


def search_graph(
    game: Game, evaluator: Any, states: Any, simulations: int, **options: Any
) -> Search:
    config = SearchConfig(**{"cache_mb": 0.0, **options})
    search = Search(game, evaluator, config, slots=len(states), graph=True)
    search.set_roots(states)
    search.run(simulations, skip_forced=False)
    return search


def some_positions(game: Game, plies: tuple[int, ...]) -> Any:
    rng = np.random.default_rng(3)
    states = []
    for count in plies:
        state = game.new_state()
        for _ in range(count):
            game.plain.play(state, int(rng.choice(game.legal_actions(state))))
        assert game.legal_actions(state)
        states.append(state)
    return np.array(states)


class Naive:
    """One recursive call a simulation, over nodes that are found by their positions."""

    def __init__(self, game: Game, judge: Callable[[Any], tuple[Any, Any]]) -> None:
        self.game, self.judge = game, judge
        self.nodes: dict[bytes, dict[str, Any]] = {}

    def node(self, state: Any) -> dict[str, Any]:
        key = state.tobytes()
        if key not in self.nodes:
            result = int(self.game.plain.outcome(state))
            value = (0, 1, -1, 0)[result] * (-1 if int(state[0]) % 2 else 1)
            self.nodes[key] = {
                "state": state, "visits": 0, "edges": None, "ended": result != 0, "own": F(value),
            }  # fmt: skip
        return self.nodes[key]

    def simulate(self, node: dict[str, Any], is_root: bool = True) -> None:
        node["visits"] += 1
        if node["ended"]:
            return
        if node["edges"] is None:
            self.expand(node, is_root)
            return
        scale = F(EXPLORATION * math.sqrt(node["visits"] - 1))
        scores = [e["q"] + scale * e["prior"] / F(1 + e["tried"]) for e in node["edges"]]
        edge = node["edges"][scores.index(max(scores))]
        below = node["state"].copy()
        self.game.plain.play(below, edge["action"])
        child = self.node(below)
        self.simulate(child, is_root=False)
        edge["tried"] += 1
        edge["q"] = -self.worth(child)
        if not is_root:  # in the order in which they were first tried, then by prior
            tried = [e for e in node["edges"] if e["tried"] > 0 and e is not edge]
            tried = [*tried, edge] if edge["tried"] == 1 else node["edges"][: len(tried) + 1]
            node["edges"] = tried + [e for e in node["edges"] if e["tried"] == 0]

    def worth(self, node: dict[str, Any]) -> Any:
        total, visits = node["own"], F(1)
        for edge in node["edges"] or []:
            if edge["tried"]:
                total += edge["q"] * F(edge["tried"])
                visits += F(edge["tried"])
        return total / visits

    def expand(self, node: dict[str, Any], is_root: bool) -> None:
        words = np.zeros(self.game.input_words, dtype=np.uint64)
        self.game.plain.planes(node["state"], words)
        logits, node["own"] = self.judge(words)
        if not is_root:  # as bf16, which is how they are kept
            bits = np.asarray(logits, dtype=np.float32).view(np.uint32)
            logits = ((bits + np.uint32(1 << 15)) >> 16 << 16).view(np.float32)
        actions = self.game.legal_actions(node["state"])
        sums = [F(sum(logits[f] for f in self.game.factors[action])) for action in actions]
        weights = [exp_of(F(x - max(sums))) for x in sums]
        parts = [F(0)] * 4  # kernels add in this order
        for k, weight in enumerate(weights):
            parts[k % 4 if k < len(weights) // 4 * 4 else 0] += weight
        total = (parts[0] + parts[1]) + (parts[2] + parts[3])
        urgency = max(node["own"] - F(0.1), F(-1))
        edges = [
            {"action": action, "prior": weight / total, "q": urgency, "tried": 0, "rank": rank}
            for rank, (action, weight) in enumerate(zip(actions, weights, strict=True))
        ]
        node["edges"] = sorted(edges, key=lambda e: (-e["prior"], e["rank"]))


@pytest.mark.parametrize(
    ("spec", "plies"),
    [("tictactoe", (0, 1, 3)), ("connect4", (0, 7, 12)), ("othello:size=6", (0, 10))],
)
def test_equals_the_naive_search(spec: str, plies: tuple[int, ...], hashed: Build) -> None:
    """Node by node and bit by bit, past the room that a search begins with."""
    game = load_game(spec)
    evaluator = hashed(game)
    states = some_positions(game, plies)
    search = search_graph(game, evaluator, states, 700, solve=False, exploration=EXPLORATION)
    shared = 0
    for slot, state in enumerate(states):
        naive = Naive(game, evaluator.judge)
        for _ in range(701):
            naive.simulate(naive.node(state.copy()))
        tree = tree_of(search.trees, slot)
        assert tree.used[NODES] == len(naive.nodes)
        reached = np.zeros(int(tree.used[NODES]), dtype=int)
        for at in range(int(tree.used[NODES])):
            node = naive.nodes[tree.states[at].tobytes()]
            assert tree.nodes[at].visits == node["visits"]
            edges = [tree.edges[e] for e in live_edges(tree, at) if tree.edges[e].tried]
            mine = [e for e in node["edges"] or [] if e["tried"]]
            assert [int(e.tried) for e in edges] == [e["tried"] for e in mine]
            assert [F(e.q) for e in edges] == [e["q"] for e in mine]
            for edge in edges:
                reached[edge.child] += 1
        assert reached[0] == 0
        assert (reached[1:] >= 1).all()
        shared += int((reached > 1).sum())
    assert shared > 10, "the comparison saw real graphs"
    assert search.trees.nodes.shape[1] > FIRST_NODES


def test_proofs_are_true(hashed: Build) -> None:
    """Every node of graphs over all of tic-tac-toe, against minimax."""
    game = load_game("tictactoe")
    known: dict[bytes, int] = {}

    def solve(state: Any) -> int:
        key = state.tobytes()
        if key not in known:
            result = int(game.plain.outcome(state))
            known[key] = (0, 1, -1, 0)[result] * (-1 if int(state[0]) % 2 else 1)
            if not result:
                below = [state.copy() for _ in game.legal_actions(state)]
                for one, action in zip(below, game.legal_actions(state), strict=True):
                    game.plain.play(one, action)
                known[key] = max(-solve(one) for one in below)
        return known[key]

    solve(game.new_state())
    states = np.array([np.frombuffer(key, dtype=np.uint64) for key in known])
    states = states[[bool(game.legal_actions(state)) for state in states]]
    proofs = 0
    for simulations in (3, 30, 2000):
        search = search_graph(game, hashed(game), states, simulations)
        for slot in range(len(states)):
            tree = tree_of(search.trees, slot)
            for at in range(int(tree.used[NODES])):
                proven = int(tree.nodes[at].proven)
                if proven != UNKNOWN:
                    proofs += 1
                    assert WORTH[proven] == known[tree.states[at].tobytes()]
        if simulations == 2000:
            assert (search.trees.nodes[:, 0].proven != UNKNOWN).mean() > 0.9
    assert proofs > 10_000


@pytest.mark.parametrize("spec", ["connect4", "othello:size=6", "go:size=5"])
def test_a_position_is_judged_once(spec: str, hashed: Build) -> None:
    """Also after the search has grown; with proofs, visits still add up."""
    game = load_game(spec)
    states = some_positions(game, (0, 6))
    search = search_graph(game, hashed(game), states, 3000)
    assert search.trees.nodes.shape[1] >= 4 * FIRST_NODES
    for slot in range(2):
        tree = tree_of(search.trees, slot)
        used = range(int(tree.used[NODES]))
        judged = [tree.states[at].tobytes() for at in used if tree.nodes[at].judged]
        assert len(set(judged)) == len(judged)
        came = np.zeros(len(used), dtype=int)
        for at in used:
            for e in live_edges(tree, at):
                if tree.edges[e].tried:
                    assert tree.edges[e].child != NONE
                    came[tree.edges[e].child] += tree.edges[e].tried
        assert (came[1:] == search.trees.nodes[slot, 1 : len(used)].visits).all()


def test_what_graphs_are_not_for() -> None:
    game = load_game("connect4")
    with pytest.raises(ValueError, match="one leaf"):
        Search(game, UniformEvaluator(game), SearchConfig(), leaves=2, graph=True)
    with pytest.raises(UserError, match=r"may come again.*graph=no"):
        load_agent("az:graph=yes", load_game("shobu"))
    with pytest.raises(UserError, match="leave graph=yes out"):
        open_engine("az:graph=yes", game, 0)


def test_the_agent_searches_a_graph() -> None:
    """One position or many, it plays and analyses."""
    game = load_game("connect4")
    rng = np.random.default_rng(0)
    states = some_positions(game, (0, 4, 9))
    player = load_agent(f"az:graph=yes,simulations=300,exploration={EXPLORATION}", game)
    many = player.act(states, rng)
    trees = player.player.search_all(states).trees
    shared = 0
    for slot in range(len(states)):
        tree = tree_of(trees, slot)
        edges = [e for node in range(tree.used[NODES]) for e in live_edges(tree, node)]
        children = [tree.edges[e].child for e in edges if tree.edges[e].child != NONE]
        shared += len(children) - len(set(children))
    assert shared > 0, "no node stands below two"
    alone = [player.analyse(Position(game, state)).best.action for state in states]
    assert many.tolist() == alone
