"""The Python face: positions as values, words in and words out."""

import numpy as np
import pytest

from randori.errors import IllegalAction, UserError
from randori.games import Game, load_game

SPECS = ["tictactoe", "connect4", "othello", "othello:size=4"]


@pytest.fixture(params=SPECS)
def game(request: pytest.FixtureRequest) -> Game:
    return load_game(request.param)


def test_first_moves_as_text() -> None:
    assert load_game("tictactoe").start().legal() == [f"{c}{r}" for r in "123" for c in "abc"]
    assert load_game("connect4").start().legal() == list("1234567")
    assert load_game("othello").start().legal() == ["d3", "c4", "f5", "e6"]


def test_playing_gives_a_new_value() -> None:
    start = load_game("connect4").start()
    by_text, by_id = start.play("4"), start.play(3)
    assert by_text == by_id
    assert hash(by_text) == hash(by_id)
    assert by_text != start
    assert (start.to_move, start.ply) == ("first", 0)
    assert (by_text.to_move, by_text.ply) == ("second", 1)
    assert len({start, by_text, by_id}) == 2


def test_a_position_cannot_be_written_to() -> None:
    start = load_game("tictactoe").start()
    with pytest.raises(ValueError, match="read-only"):
        start.state[0] = 3


def test_positions_of_different_games_differ() -> None:
    """Their words are equal: an empty board is all zeros in both."""
    one, other = load_game("tictactoe").start(), load_game("connect4").start()
    assert np.array_equal(one.state, other.state)
    assert one != other
    assert one != "x"


def test_moves_are_read_in_either_case() -> None:
    start = load_game("othello").start()
    assert start.play(" D3 ") == start.play("d3")


@pytest.mark.parametrize("move", ["e5", "z9", "", 9, -1])
def test_illegal_moves_name_the_legal_ones(move: str | int) -> None:
    position = load_game("tictactoe").position("xo./.../... x").play("a2").play("b2")
    message = f"illegal move {move!r}; legal: "
    with pytest.raises(IllegalAction, match=message) as caught:
        position.play(move)
    shown = position.legal() if isinstance(move, str) else [str(a) for a in position.actions()]
    assert str(caught.value) == message + " ".join(shown)


@pytest.mark.parametrize("action", ["3", None, 3.0, -1, 7, True])
def test_only_actions_are_written(action: int) -> None:
    start = load_game("connect4").start()
    with pytest.raises(IllegalAction) as caught:
        start.action_text(action)
    assert str(caught.value) == (
        "expected an action of connect4, a whole number from 0 to 6, "
        f"not {action!r}; for text use `parse`"
    )
    assert start.action_text(start.parse("4")) == start.action_text(np.int32(3)) == "4"


def test_no_move_after_the_end() -> None:
    position = load_game("tictactoe").position("xxx/oo./... o")
    assert (position.outcome, position.is_over, position.legal()) == ("first", True, [])
    with pytest.raises(IllegalAction, match=r"'c2' cannot be played: the game is over \(first\)"):
        position.play("c2")


def test_text_reads_back_along_a_game(game: Game) -> None:
    rng = np.random.default_rng(3)
    position = game.start()
    while not position.is_over:
        back = game.position(position.text())
        assert back.text() == position.text()
        assert back.actions() == position.actions()
        assert back.to_move == position.to_move
        position = position.play(int(rng.choice(position.actions())))
    assert game.position(position.text()).outcome == position.outcome


def test_start_has_a_name(game: Game) -> None:
    assert game.position("start") == game.start()


def test_str_shows_the_board() -> None:
    position = load_game("connect4").start().play("4").play("4")
    assert str(position).splitlines() == [
        "  1 2 3 4 5 6 7",
        "1 . . . . . . .",
        "2 . . . . . . .",
        "3 . . . . . . .",
        "4 . . . . . . .",
        "5 . . . o . . .",
        "6 . . . x . . .",
    ]


def test_unknown_position_is_a_users_mistake() -> None:
    with pytest.raises(UserError, match="'nonsense': this game reads rows and names"):
        load_game("tictactoe").position("nonsense")
