import numpy as np
import pytest

from randori.games.game import Game
from randori.games.kernels import ONGOING
from randori.games.othello import MINE, THEIRS
from randori.games.othello_solver import QUADRANTS, Solver, negamax
from randori.games.registry import load_game

SIZES = ("othello:size=4", "othello:size=6", "othello")
PASSES = "xxxxxxxx/xxxxxxxx/xxxxxxxx/xxxxxxxx/xxxxxxxx/xxxxxxxx/xxxxxxxo/xxxxxx.. o"
"""White has to pass; then Black takes the last white disc."""


def brute_force(game: Game, state) -> int:
    """The difference at the end for the side to move, by the rules alone."""
    if int(game.plain.outcome(state)) != ONGOING:
        return int(state[MINE]).bit_count() - int(state[THEIRS]).bit_count()
    best = -99
    for action in game.legal_actions(state):
        after = state.copy()
        game.plain.play(after, action)
        best = max(best, -brute_force(game, after))
    return best


def endgames(game: Game, empties: int, count: int):
    """Positions of random games with so many empty cells, finished or not."""
    rng = np.random.default_rng(empties)
    while count:
        state = game.new_state()
        while int(game.plain.outcome(state)) == ONGOING and room(game, state) > empties:
            game.plain.play(state, int(rng.choice(game.legal_actions(state))))
        if room(game, state) == empties:
            count -= 1
            yield state


def room(game: Game, state) -> int:
    return game.board_cells - int(state[MINE] | state[THEIRS]).bit_count()


@pytest.fixture(scope="module")
def solvers() -> dict[str, Solver]:
    return {spec: Solver(load_game(spec)) for spec in SIZES}


def test_the_second_player_wins_by_eight_on_4x4(solvers):
    state = load_game("othello:size=4").new_state()
    assert solvers["othello:size=4"].score(state) == -8
    assert set(solvers["othello:size=4"].scores(state).values()) == {-8}


@pytest.mark.parametrize("spec", SIZES)
@pytest.mark.parametrize("empties", [1, 3, 5, 6, 7])
def test_endgames_equal_brute_force(spec, empties, solvers):
    game = load_game(spec)
    for state in endgames(game, empties, 3 if empties > 5 else 12):
        exact = brute_force(game, state)
        assert solvers[spec].score(state) == exact
        scores = solvers[spec].scores(state)
        assert list(scores) == game.legal_actions(state)
        assert not scores or max(scores.values()) == exact


@pytest.mark.parametrize(("position", "score"), [
    (PASSES, -63),
    (PASSES.replace(" o", " x"), 63),
    ("xo../..../..../.... o", -3),
    ("xxxx/xxxx/xxxx/xxx. o", -15),
    ("xxxx/xxxx/xxx./xxxo x", 13),
])  # fmt: skip
def test_passes_and_early_ends(position, score, solvers):
    spec = "othello" if position.count("/") == 7 else "othello:size=4"
    state = load_game(spec).position(position).state
    assert brute_force(load_game(spec), state) == solvers[spec].score(state)
    assert solvers[spec].score(state) == score


def test_a_full_table_changes_nothing(solvers):
    game = load_game("othello")
    fresh = Solver(game)
    fresh._keys, fresh._bounds = fresh._keys[:2].copy(), fresh._bounds[:2].copy()
    for state in endgames(game, 10, 5):
        assert fresh.scores(state) == solvers["othello"].scores(state)


@pytest.mark.filterwarnings("ignore:overflow")
def test_uncompiled():
    game = load_game("othello:size=4")
    quarters = tuple(np.uint64(q) for q in (0x33, 0xCC, 0x3300, 0xCC00))
    plain = game.uncompiled(negamax, **game.constants, QUADRANTS=quarters)
    assert len(quarters) == len(QUADRANTS)
    for state in endgames(game, 7, 2):
        keys, bounds = np.zeros((64, 2), dtype=np.uint64), np.zeros((64, 2), dtype=np.int8)
        nodes = np.zeros(1, dtype=np.int64)
        found = plain(state[MINE], state[THEIRS], -16, 16, keys, bounds, nodes)
        assert found == brute_force(game, state)
        assert nodes[0] > 0
