"""The Python face: positions as values, words in and words out."""

from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

from randori.errors import IllegalAction, UserError
from randori.games import Game, load_game
from randori.games.drawing import draw_board, last_cell, legal_cells

SPECS = ["tictactoe", "connect4", "othello", "othello:size=4"]
SVG = "{http://www.w3.org/2000/svg}"


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


def circles(svg: str) -> list[ElementTree.Element]:
    return list(ElementTree.fromstring(svg).iter(f"{SVG}circle"))


def test_svg_shows_every_stone(game: Game) -> None:
    """Two circles a stone: the shadow and the stone."""
    position = game.start()
    for _ in range(4):
        position = position.play(position.actions()[0])
    stones = sum(position.text().split()[0].count(glyph) for glyph in "xo")
    svg = position.svg()
    assert len(circles(svg)) == 2 * stones
    assert svg == position.svg()
    labels = [element.text for element in ElementTree.fromstring(svg).iter(f"{SVG}text")]
    height, width = game.shape
    assert labels == [*game.columns[:width], *(str(row + 1) for row in range(height))]


def test_svg_marks_moves() -> None:
    game = load_game("connect4")
    before = game.start().play("4")
    after = before.play("4")
    cell = last_cell(game, before.state, after.state)
    assert cell == 4 * 7 + 3
    plain = circles(draw_board(game, after.state))
    assert len(circles(draw_board(game, after.state, cell))) == len(plain) + 1
    assert len(circles(draw_board(game, after.state, show_legal=True))) == len(plain) + 7
    assert legal_cells(game, after.state) == [3 * 7 + 3, *(5 * 7 + c for c in (0, 1, 2, 4, 5, 6))]


def test_a_pass_fills_no_cell() -> None:
    game = load_game("othello")
    position = game.start()
    for move in ("f5", "f6", "d3", "g5", "h5", "h4", "g7", "h6"):
        position = position.play(move)
    assert position.legal() == ["pass"]
    assert last_cell(game, position.state, position.play("pass").state) is None
    assert legal_cells(game, position.state) == []


def test_a_disc_that_was_turned_is_not_the_move() -> None:
    game = load_game("othello")
    start = game.start()
    assert last_cell(game, start.state, start.play("d3").state) == 2 * 8 + 3


def test_svg_escapes_names() -> None:
    odd = replace(load_game("tictactoe"), title='<A & "B">', columns="<&>")
    root = ElementTree.fromstring(odd.start().svg())
    assert root.attrib["aria-label"] == '<A & "B">: .../.../... x'
