from functools import cache

import numpy as np
import pytest

from randori.arena.mates import MateFinder
from randori.arena.suite_makers import (
    CLEAR,
    CLOSE,
    EMPTIES,
    MAKERS,
    MATES,
    MOST_BEST,
    STAGES,
    is_at_stake,
    make_suite,
)
from randori.arena.suites import SHIPPED, Question, Suite, read_suite, shipped_suites, write_suite
from randori.games.connect4_solver import Solver as Connect4Solver
from randori.games.evaluation import find_evaluation
from randori.games.othello_solver import Solver as OthelloSolver
from randori.games.registry import load_game
from randori.search.alphabeta import AlphaBeta, AlphaBetaConfig
from randori.search.walk import WIN

CONNECT4 = load_game("connect4")
TICTACTOE = load_game("tictactoe")
SHOBU = load_game("shobu")


def test_every_maker_ships_its_suite():
    assert set(shipped_suites()) == set(MAKERS)
    assert set(shipped_suites(SHOBU)) == {"shobu-mates", "shobu-paper"}
    for path in SHIPPED.iterdir():
        assert path.stat().st_size <= 500_000


@pytest.mark.parametrize("name", sorted(MAKERS))
def test_shipped_suites_come_back(name):
    suite = shipped(name)
    assert write_suite(suite) == shipped_suites()[name].read_text()
    assert len({question.position for question in suite.questions}) == len(suite.questions)
    assert f"randori make-suite {name}" in suite.notes[-1]


@cache
def shipped(name: str) -> Suite:
    return read_suite(load_game(MAKERS[name].game), name)


def sample(name: str, kind: str, count: int) -> list[Question]:
    """The first questions of a class."""
    return [question for question in shipped(name).questions if question.kind == kind][:count]


@pytest.mark.parametrize(("plies", "prune", "count"), [(1, False, 20), (3, False, 3), (5, True, 3)])
def test_mates_hold_by_another_search(plies, prune, count):
    """Plain minimax where it can be had in a second; alpha-beta beyond."""
    judge = find_evaluation(SHOBU, None)
    search = AlphaBeta(SHOBU, judge, AlphaBetaConfig(depth=plies, prune=prune))
    for question in sample("shobu-mates", MATES[plies], count):
        state = question.position.state
        assert len(question.best) <= MOST_BEST
        assert search.run(state).score == WIN - int(state[0]) - plies
        if plies > 3:
            continue
        keep = []
        for action in question.position.actions():
            after = question.position.play(action)
            if -search.run(after.state, fewer=1).score == WIN - int(state[0]) - plies:
                keep.append(action)
        assert keep == list(question.best)


def test_mates_are_not_seen_where_there_are_none():
    finder = MateFinder(SHOBU)
    for name in ("start", "PUSH_OPTIONS", "FIG_1B"):
        assert finder.shortest(SHOBU.position(name).state, 3) == 0
    position = SHOBU.position("MATERIAL_ADVANTAGE")
    assert finder.shortest(position.state, 1) == 0
    assert finder.shortest(position.state, 5) == 3
    assert finder.winning_moves(position.state, 3) == [position.parse("b2e5NE2")]
    with pytest.raises(ValueError, match="room for 5 plies, not for 7"):
        finder.shortest(SHOBU.start().state, 7)


def forced(position, plies: int) -> bool:
    """Whether the side to move wins within so many plies, by the definition."""
    for after in map(position.play, position.actions()):
        if after.outcome == position.to_move:
            return True
        if plies >= 3 and not after.is_over:
            replies = [after.play(action) for action in after.actions()]
            if all(
                reply.outcome == position.to_move
                or (not reply.is_over and forced(reply, plies - 2))
                for reply in replies
            ):
                return True
    return False


def test_mates_equal_their_definition():
    finder = MateFinder(TICTACTOE)
    rng = np.random.default_rng(3)
    found = []
    for plies in [1, 2, 3, 4, 5, 6] * 8:
        position = TICTACTOE.start()
        for _ in range(plies):
            if not position.is_over:
                position = position.play(int(rng.choice(position.actions())))
        if position.is_over:
            continue
        exact = next((d for d in (1, 3, 5) if forced(position, d)), 0)
        found.append(exact)
        assert finder.shortest(position.state, 5) == exact
        best = finder.winning_moves(position.state, exact) if exact else []
        assert bool(best) == bool(exact)
        for action in position.actions():
            after = position.play(action)
            wins = after.outcome == position.to_move or (
                not after.is_over
                and exact > 1
                and all(
                    reply.outcome is None and forced(reply, exact - 2)
                    for reply in map(after.play, after.actions())
                )
            )
            assert (action in best) == (exact > 0 and wins)
    assert set(found) == {0, 1, 3, 5}


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("choice", ["clear", "close"])
def test_connect4_classes_are_what_they_say(stage, choice):
    low, high = STAGES[stage]
    found = sample("connect4", f"{stage} {choice}", 1000)
    assert found
    for question in found:
        order = sorted(set(question.scores.values()), reverse=True)
        assert low <= question.position.ply <= high
        assert is_at_stake(question.scores)
        gap = order[0] - order[1]
        assert gap >= CLEAR if choice == "clear" else gap <= CLOSE


def test_connect4_scores_are_exact():
    solver = Connect4Solver(CONNECT4, book=False)
    for stage in ("middle", "late"):
        for question in sample("connect4", f"{stage} close", 10)[-5:]:
            assert solver.scores(question.position.state) == question.scores


def test_othello_scores_are_exact():
    solver = OthelloSolver(load_game("othello"))
    for empties in EMPTIES:
        for question in sample("othello-endgames", f"{empties} empties", 5):
            assert question.position.text().count(".") == empties
            assert solver.scores(question.position.state) == question.scores


@pytest.mark.parametrize("name", ["shobu-paper", "connect4-paper"])
def test_the_paper_suites_are_made_as_shipped(name):
    made = make_suite(name, None, 0, lambda done, wanted: None)
    assert write_suite(made) == shipped_suites()[name].read_text()


def test_mates_in_1_2_and_3_are_as_many_moves_of_the_winner():
    assert {kind: (plies + 1) // 2 for plies, kind in MATES.items()} == {
        f"mate in {moves}": moves for moves in (1, 2, 3)
    }
    assert {question.kind for question in shipped("shobu-mates").questions} == set(MATES.values())


def test_shipped_suites_are_made_by_default():
    """What `randori make-suite NAME` says without options is what the files say."""
    for name, maker in MAKERS.items():
        line = f"randori make-suite {name} --count {maker.count} --seed 0"
        assert line in shipped(name).notes[-1]
