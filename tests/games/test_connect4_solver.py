"""The Connect 4 solver: brute force on small boards, known positions, its book proved again."""

import itertools

import numpy as np
import pytest

from randori.errors import UserError
from randori.games import Position, load_game
from randori.games.connect4_solver import BOOK_PLIES, Solver, book_key, load_book

GAME = load_game("connect4")


def brute(position: Position, known: dict[bytes, int]) -> int:
    """Score a position by looking at every game from it."""
    cells, stones = position.game.board_cells, position.ply
    if position.outcome == "draw":
        return 0
    if position.outcome is not None:
        return -((cells + 2 - stones) // 2)
    key = position.state.tobytes()
    if key not in known:
        known[key] = max(-brute(position.play(a), known) for a in position.actions())
    return known[key]


def test_small_boards_against_brute_force() -> None:
    game, known = load_game("connect4:width=4,height=4"), {}
    solver, rng = Solver(game), np.random.default_rng(1)
    for _ in range(60):
        position = game.start()
        for _ in range(rng.integers(4, 14)):
            after = position.play(int(rng.choice(position.actions())))
            if after.is_over:
                break
            position = after
        assert solver.score(position.state) == brute(position, known), position.text()
        scores = solver.scores(position.state)
        assert max(scores.values()) == brute(position, known)
        assert set(scores) == set(position.actions())


def test_a_board_of_another_shape() -> None:
    game = load_game("connect4:width=5,height=4")
    solver, rng = Solver(game), np.random.default_rng(2)
    known: dict[bytes, int] = {}
    for _ in range(20):
        position = game.start()
        while position.ply < 11:
            after = position.play(int(rng.choice(position.actions())))
            position = game.start() if after.is_over else after
        assert solver.score(position.state) == brute(position, known)


KNOWN = [
    ("", [-2, -1, 0, 1, 0, -1, -2]),
    ("26", [-3, 2, 0, 2, 2, 0, -2]),
]
"""By the solvers of the literature; the second is the position that paper E compares."""


@pytest.mark.parametrize(("moves", "scores"), KNOWN)
def test_known_scores(moves: str, scores: list[int]) -> None:
    position = GAME.position(moves) if moves else GAME.start()
    assert list(Solver(GAME).scores(position.state).values()) == scores


def test_the_book_is_proved_again() -> None:
    """Openings of the book, searched without it."""
    book, solver = load_book(), Solver(GAME, book=False)
    rng = np.random.default_rng(7)
    assert len(book.keys) == 1_208_493
    proved = 0
    while proved < 6:
        position = GAME.start()
        while position.ply < BOOK_PLIES and not position.is_over:
            position = position.play(int(rng.choice(position.actions())))
        if not position.is_over:
            key = book_key(int(position.state[1]), int(position.state[2]))
            assert solver.score(position.state) == book.find(key), position.text()
            proved += 1


def test_the_book_is_its_own_minimax() -> None:
    book, solver = load_book(), Solver(GAME)
    rng = np.random.default_rng(8)
    for _ in range(200):
        position = GAME.start()
        while position.ply < rng.integers(0, BOOK_PLIES + 1) and not position.is_over:
            position = position.play(int(rng.choice(position.actions())))
        if not position.is_over:
            scores = solver.scores(position.state)
            key = book_key(int(position.state[1]), int(position.state[2]))
            assert max(scores.values()) == book.find(key)


def test_a_typed_position_that_no_game_reaches_is_refused() -> None:
    """Both first moves lie under the other side's stones; with more stones it is searched."""
    solver, empty = Solver(GAME), "......./"
    position = GAME.position(f"{empty * 4}xx...../oo..... x")
    with pytest.raises(UserError, match="no game reaches this position"):
        solver.score(position.state)
    position = GAME.position(f"{empty * 2}ox.xo../xo.ox../xo.ox../ox.ox.. x")
    scores = solver.scores(position.state)
    assert solver.score(position.state) == max(scores.values())


def test_mirror_images_share_a_key() -> None:
    for line in itertools.islice(itertools.product("1234567", repeat=4), 0, None, 97):
        mirrored = "".join(str(8 - int(column)) for column in line)
        one, other = (GAME.position("".join(moves)).state for moves in (line, mirrored))
        assert book_key(int(one[1]), int(one[2])) == book_key(int(other[1]), int(other[2]))


@pytest.mark.parametrize("count", [50, pytest.param(1000, marks=pytest.mark.slow)])
def test_lock_step_with_bitbully(count: int) -> None:
    bitbully = pytest.importorskip("bitbully")
    oracle, solver, rng = bitbully.BitBully(), Solver(GAME), np.random.default_rng(9)
    for _ in range(count):
        position, moves = GAME.start(), []
        for _ in range(rng.integers(8, 38)):
            moves.append(int(rng.choice(position.actions())))
            position = position.play(moves[-1])
            if position.is_over:
                break
        if not position.is_over:
            theirs = oracle.score_all_moves(bitbully.Board(moves))
            assert solver.scores(position.state) == theirs


@pytest.mark.parametrize(("width", "height"), [(6, 9), (7, 8), (9, 6)])
def test_boards_whose_keys_do_not_fit_are_refused(width: int, height: int) -> None:
    with pytest.raises(ValueError, match=r"\(height \+ 1\) \* \(width \+ 1\) <= 64"):
        Solver(load_game(f"connect4:width={width},height={height}"))
