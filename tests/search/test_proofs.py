"""Proven results are true, are found where they should be, and are never walked away from."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

from randori.arena.suites import read_suite
from randori.games.game import Game
from randori.games.registry import load_game
from randori.search.search import Search, SearchConfig
from randori.search.tree import DRAWN, LOST, NODES, UNKNOWN, WON, make_trees, tree_of
from randori.search.uniform import ArrayLane, UniformEvaluator

Build = Callable[[Game], Any]
WORTH = {WON: 1, LOST: -1, DRAWN: 0}


@cache
def solved(spec: str) -> dict[bytes, int]:
    """Minimax over all positions of a small game, for the side to move."""
    game = load_game(spec)
    known: dict[bytes, int] = {}

    def solve(state: Any) -> int:
        key = state.tobytes()
        if key not in known:
            result = int(game.plain.outcome(state))
            if result:
                known[key] = (0, 1, -1, 0)[result] * (-1 if int(state[0]) % 2 else 1)
                return known[key]
            values = []
            for action in game.legal_actions(state):
                below = state.copy()
                game.plain.play(below, action)
                values.append(-solve(below))
            known[key] = max(values)
        return known[key]

    solve(game.new_state())
    return known


def ongoing(spec: str) -> Any:
    game = load_game(spec)
    words = game.num_words
    states = np.array([np.frombuffer(key, dtype=np.uint64) for key in solved(spec)])
    assert states.shape[1] == words
    return states[[bool(game.legal_actions(state)) for state in states]]


def search_from(moves: str, simulations: int, evaluator: Any = None, **options: Any) -> Search:
    game = load_game("connect4")
    position = game.start()
    for move in moves.split():
        position = position.play(move)
    search = Search(game, evaluator or UniformEvaluator(game), SearchConfig(**options))
    search.set_roots(position.state[None].copy())
    search.run(simulations)
    return search


@pytest.mark.parametrize(
    ("moves", "visits", "proven", "best", "line"),
    [
        ("4 1 4 1 4 1", 2, WON, "4", 1),
        ("4 4 5 5", 2, WON, "36", 3),
        ("1 3 1 4 7 5", 99, LOST, "1234567", 2),
    ],
    ids=["win in 1", "win in 3 plies", "lost in 2 plies"],
)
def test_mates_are_proven(moves: str, visits: int, proven: int, best: str, line: int) -> None:
    search = search_from(moves, 500)
    analysis = search.analysis()
    assert search.trees.nodes[0, 0].proven == proven
    assert search.trees.nodes[0, 0].visits <= visits, "a proof ends the search"
    assert analysis.value == WORTH[proven]
    assert analysis.best.proven == ("win" if proven == WON else "loss")
    assert str(analysis.best.action + 1) in best
    assert len(analysis.line) >= line


def wins_in(game: Game, state: Any, plies: int) -> bool:
    """Whether the side to move wins in so many plies, one or three, by trying everything."""

    def after(state: Any) -> list[Any]:
        below = [state.copy() for _ in game.legal_actions(state)]
        for one, action in zip(below, game.legal_actions(state), strict=True):
            game.plain.play(one, action)
        return below

    def has_won(state: Any, side: int) -> bool:
        return int(game.plain.outcome(state)) == 1 + side

    side = int(state[0]) % 2
    moves = after(state)
    if any(has_won(one, side) for one in moves):
        return True
    return plies == 3 and any(
        bool(after(one))
        and all(has_won(two, side) or any(has_won(x, side) for x in after(two))
                for two in after(one))
        for one in moves
    )  # fmt: skip


@pytest.mark.parametrize(
    ("spec", "games"),
    [
        ("tictactoe", 150),
        ("connect4", 150),
        ("othello:size=4", 20),
        ("shobu", 12),
        pytest.param("choko", 30, marks=pytest.mark.slow),
    ],
)
def test_wins_in_two_are_seen_at_once(spec: str, games: int) -> None:
    """After one simulation a root is proven won if and only if it wins within three plies."""
    game = load_game(spec)
    states = late_positions(game, games, 3)
    search = Search(game, UniformEvaluator(game), SearchConfig(), slots=len(states))
    search.set_roots(states)
    search.run(1)
    proven = search.trees.nodes[:, 0].proven == WON
    truth = [wins_in(game, state, 3) for state in states]
    assert proven.tolist() == truth
    assert any(truth)
    if spec != "othello:size=4":
        assert any(truth[i] and not wins_in(game, states[i], 1) for i in range(len(states)))
        assert not all(truth)


def test_all_mates_in_two_of_the_suite_are_seen_at_once() -> None:
    """Also the widest: what `force` gives up after is far enough."""
    game = load_game("shobu")
    asked = [one for one in read_suite(game, "shobu-mates").questions if one.kind == "mate in 2"]
    search = Search(game, UniformEvaluator(game), SearchConfig(), slots=len(asked))
    search.set_roots(np.stack([one.position.state for one in asked]))
    search.run(1)
    assert len(asked) == 200
    for i, one in enumerate(asked):
        assert search.trees.nodes[i, 0].proven == WON
        assert search.analysis(i).best.action in one.best


def test_a_proof_finds_room() -> None:
    """A tree too small for the win in two of paper A grows until it fits."""
    game = load_game("shobu")
    position = game.position("MATERIAL_ADVANTAGE")
    search = Search(game, UniformEvaluator(game), SearchConfig(simulations=1))
    search.trees = make_trees(1, 10, 3 * game.most_legal, game)
    search.set_roots(position.state[None].copy())
    search.run(1)
    analysis = search.analysis()
    assert game.action_text(position.state, analysis.best.action) == "b2e5NE2"
    assert analysis.best.proven == "win"
    assert len(analysis.line) == 3
    assert 10 < search.trees.used[0, NODES] <= len(search.trees.nodes[0])


def late_positions(game: Game, games: int, seed: int) -> Any:
    """The last four positions of random games in which there is a choice."""
    rng = np.random.default_rng(seed)
    states = []
    for _ in range(games):
        line = [game.new_state()]
        while actions := game.legal_actions(line[-1]):
            line.append(line[-1].copy())
            game.plain.play(line[-1], int(rng.choice(actions)))
        states += [one for one in line[-5:-1] if len(game.legal_actions(one)) > 1]
    return np.array(states)


@pytest.mark.slow
def test_what_loses_by_itself_is_the_last_resort() -> None:
    """Of moves that lose at once, one that ends the game leaves nobody anything to overlook."""
    game = load_game("go:size=3")
    states = late_positions(game, 1000, 0)
    search = Search(game, UniformEvaluator(game), SearchConfig(), slots=len(states))
    search.set_roots(states)
    search.run(60)
    choices = 0
    for slot in range(len(states)):
        moves = search.analysis(slot).moves
        if moves[0].proven != "loss":
            continue
        alike = [move for move in moves if move.visits == moves[0].visits]
        ends = []
        for move in alike:
            after = states[slot].copy()
            game.plain.play(after, move.action)
            ends.append(bool(game.plain.outcome(after)))
        choices += any(ends) and not all(ends)
        assert not ends[0] or all(ends)
    assert choices > 3


def test_the_only_defence_is_found() -> None:
    analysis = search_from("4 1 4 1 4", 300).analysis()
    assert str(analysis.best.action + 1) == "4"
    assert [move.proven for move in analysis.moves] == [None] + 6 * ["loss"]
    assert all(move.value == -1.0 for move in analysis.moves[1:])
    assert analysis.best.visits > 250, "what is lost is not looked at again"


def test_without_solving_nothing_is_concluded() -> None:
    search = search_from("4 1 4 1 4", 300, solve=False)
    tree = tree_of(search.trees, 0)
    inner = [at for at in range(int(tree.used[NODES])) if tree.nodes[at].count]
    assert all(tree.nodes[at].proven == UNKNOWN for at in inner)
    assert np.isfinite(search.trees.edges[0, : tree.used[1]].q).all()
    assert str(search.analysis().best.action + 1) == "4"


def test_tictactoe_is_a_draw() -> None:
    game = load_game("tictactoe")
    search = Search(game, UniformEvaluator(game), SearchConfig(exploration=100.0, cache_mb=1.0))
    search.set_roots(game.new_state()[None])
    search.run(500_000)
    assert search.trees.nodes[0, 0].proven == DRAWN
    assert search.analysis().value == 0.0
    assert {move.proven for move in search.analysis().moves} == {"draw"}


@pytest.mark.parametrize("leaves", [1, 4])
@pytest.mark.parametrize("simulations", [30, 300])
def test_no_proof_is_wrong(leaves: int, simulations: int, hashed: Build) -> None:
    """From every position of Tic-tac-toe; with leaves in flight, too, when others are proven."""
    spec = "tictactoe"
    game, truth, states = load_game(spec), solved(spec), ongoing(spec)
    assert len(states) == 4520
    states = states[:: 1 if simulations == 30 else 9]
    config = SearchConfig(exploration=2.0, cache_mb=1.0)
    search = Search(game, hashed(game), config, slots=len(states), leaves=leaves)
    search.set_roots(states)
    search.run(simulations, skip_forced=False)
    inner = 0
    for slot in range(len(states)):
        tree = tree_of(search.trees, slot)
        count = int(tree.used[NODES])
        proven = tree.nodes.proven[:count]
        for at in np.flatnonzero(proven):
            assert WORTH[int(proven[at])] == truth[tree.states[at].tobytes()]
        inner += int((tree.nodes.count[:count][proven != UNKNOWN] > 0).sum())
        if proven[0] == UNKNOWN:
            assert tree.nodes[0].visits == simulations + 1
            tried = int(tree.edges.tried[: tree.nodes[0].count].sum())
            assert tried == simulations, "nothing that was lent is left"
    assert inner > 2000


def test_a_proven_loss_is_never_chosen(hashed: Build) -> None:
    """And a proven win always is, whatever the visits say."""
    spec = "tictactoe"
    game, truth, states = load_game(spec), solved(spec), ongoing(spec)
    search = Search(game, hashed(game), SearchConfig(cache_mb=1.0), slots=len(states))
    search.set_roots(states)
    search.run(40)
    avoided = 0
    for slot, state in enumerate(states):
        analysis = search.analysis(slot)
        proven = {move.proven for move in analysis.moves}
        if "win" in proven:
            assert analysis.best.proven == "win"
        elif proven != {"loss"}:
            assert analysis.best.proven != "loss"
            avoided += "loss" in proven
        if analysis.best.proven == "win":
            assert truth[state.tobytes()] == 1
    assert avoided > 500


class Blind(UniformEvaluator):
    """Judges all positions alike, and never thinks of the first column."""

    def lane(self, batch: int) -> ArrayLane:
        lane = super().lane(batch)
        lane.logits[:, 0] = -30.0
        return lane


@pytest.mark.parametrize("simulations", [1, 4, 10, 50])
def test_a_root_does_not_walk_into_a_loss_that_the_network_is_blind_to(simulations: int) -> None:
    """Only column 1 stops the stack there, and the network thinks of it on neither side."""
    blind = Blind(load_game("connect4"))
    analysis = search_from("1 4 1 4 1", simulations, blind).analysis()
    assert analysis.best.action == 0
    lost = analysis.moves[1:]
    assert [move.proven for move in lost] == 6 * ["loss"]
    assert all(move.visits == 1 for move in lost)
