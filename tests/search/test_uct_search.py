"""UCT: finds wins, keeps draws, and is a proper tree of random games."""

from typing import Any

import numpy as np
import pytest

from randori.agents.registry import load_agent
from randori.arena.match import play_match
from randori.games.connect4_solver import Solver
from randori.games.dice import seed_dice
from randori.games.game import Game
from randori.games.registry import load_game
from randori.search.tree import NODES, NONE, UNKNOWN, tree_of
from randori.search.uct import Uct


def search_from(game: Game, moves: str, simulations: int, seed: int = 0) -> tuple[Any, Any]:
    position = game.start()
    for move in moves.split():
        position = position.play(move)
    search = Uct(game, 1.4)
    analysis = search.run(position.state.copy(), simulations, seed_dice(seed, 1)[0])
    return analysis, tree_of(search._trees, 0)


@pytest.mark.parametrize(
    ("moves", "best", "proven"),
    [("4 1 4 1 4 1", "4", "win"), ("4 1 4 1 4", "4", None), ("4 4 5 5", "36", "win")],
)
def test_it_finds_wins_and_defences(moves: str, best: str, proven: str | None) -> None:
    analysis, _ = search_from(load_game("connect4"), moves, 4000)
    assert str(analysis.best.action + 1) in best
    assert analysis.best.proven == proven


@pytest.mark.parametrize(
    ("spec", "simulations"), [("tictactoe", 2000), ("connect4", 1500), ("othello:size=6", 700)]
)
def test_its_counts_add_up(spec: str, simulations: int) -> None:
    """Also after the tree had to grow."""
    analysis, tree = search_from(load_game(spec), "", simulations)
    assert tree.nodes[0].visits == simulations
    for at in range(int(tree.used[NODES])):
        node = tree.nodes[at]
        edges = [tree.edges[node.first + k] for k in range(node.count)]
        assert all((edge.child == NONE) == (edge.tried == 0) for edge in edges)
        if node.proven == UNKNOWN:
            assert node.visits == 1 + sum(edge.tried for edge in edges)
            tried = [edge.tried > 0 for edge in edges]
            assert all(tried) or node.visits <= len(edges), "every move is tried once first"
    assert sum(move.visits for move in analysis.moves) == simulations - 1
    assert -1 <= analysis.value <= 1


def test_one_seed_one_tree() -> None:
    game = load_game("connect4")
    first, again, other = (search_from(game, "4", 500, seed)[0] for seed in (1, 1, 2))
    assert first == again != other


def test_room_left_by_an_earlier_search_changes_nothing() -> None:
    """Regression: a tree that had to grow on the way threw dice that a large one did not."""
    game = load_game("connect4")
    state = game.new_state()
    used = Uct(game, 1.4)
    used.run(state, 5000, seed_dice(9, 1)[0])
    again = used.run(state, 2000, seed_dice(1, 1)[0])
    assert again == Uct(game, 1.4).run(state, 2000, seed_dice(1, 1)[0])


def test_the_dice_decide_among_untried_moves() -> None:
    """The second simulation tries a random move, not the first one."""
    game = load_game("connect4")
    tried = {search_from(game, "", 2, seed)[0].best.action for seed in range(40)}
    assert tried == set(range(7))


@pytest.mark.parametrize("a_seed", [0, 1])
def test_it_does_not_lose_tictactoe_to_chance(a_seed: int) -> None:
    game = load_game("tictactoe")
    strong, weak = load_agent("uct:simulations=500", game), load_agent("random", game)
    result = play_match(game, strong, weak, 60, seed=a_seed)
    assert result.losses == 0
    assert result.wins > 40


def test_it_knows_nothing_beyond_its_random_games() -> None:
    """With one simulation a move, the value of the root is a mean of results."""
    analysis, tree = search_from(load_game("othello:size=6"), "", 5)
    assert sorted(move.visits for move in analysis.moves) == [1, 1, 1, 1]
    assert {abs(float(q)) for q in tree.edges.q[:4]} <= {0.0, 1.0}
    assert np.isfinite(analysis.value)


def test_more_simulations_come_closer_to_solved_answers() -> None:
    """Connect 4 with few cells left: the share of moves that keep the exact outcome grows."""
    game = load_game("connect4")
    solver, rng = Solver(game, book=False), np.random.default_rng(2)
    positions = []
    while len(positions) < 60:
        position = game.start()
        while position.ply < 24 and not position.is_over:
            position = position.play(int(rng.choice(position.actions())))
        if not position.is_over:
            signs = {a: np.sign(score) for a, score in solver.scores(position.state).items()}
            if len(set(signs.values())) > 1:
                positions.append((position.state, signs))
    states = np.array([state for state, _ in positions])
    shares = []
    for simulations in (10, 100, 3000):
        agent = load_agent(f"uct:simulations={simulations}", game)
        picked = agent.act(states, np.random.default_rng(0))
        right = [signs[int(a)] == max(signs.values())
                 for a, (_, signs) in zip(picked, positions, strict=True)]  # fmt: skip
        shares.append(np.mean(right))
    assert shares[0] < shares[1] <= shares[2]
    assert shares[2] > 0.97
