"""What can be wrong with a position text, and that the message says where."""

from dataclasses import replace

import numpy as np
import pytest

from randori.errors import UserError
from randori.games import load_game
from randori.games.text import cells, show

WRONG = [
    ("tictactoe", "x../.o. x", "expected 3 rows, found 2"),
    ("tictactoe", "x../.o./.../... x", "expected 3 rows, found 4"),
    ("tictactoe", "x../.o./...", "expected the side to move (x or o) behind the rows"),
    ("tictactoe", "x../.o./... z", "expected the side to move (x or o) behind the rows, found 'z'"),
    ("tictactoe", "x../.o./... x 3", "expected nothing behind the side to move, found '3'"),
    ("tictactoe", "", "expected 3 rows, found 0"),
    ("tictactoe", "strat", "this game reads rows and names; did you mean 'start'?"),
    ("tictactoe", "x../o/... x", "row 2 has 1 cell instead of 3: 'o'"),
    ("tictactoe", "x../.oo./... x", "row 2 has 4 cells instead of 3: '.oo.'"),
    ("tictactoe", "x../.q./... x", "row 2, b2: 'q' is none of x o ."),
    ("tictactoe", "x../.../... x", "1 x and 0 o with x to move cannot be reached"),
    ("tictactoe", "xx./.../... o", "2 x and 0 o with o to move cannot be reached"),
    ("connect4", "......./......./......./...x.../......./....... o",
     "column 4: a stone hangs over an empty cell"),
    ("connect4", "......./......./......./......./......./xxx.... o",
     "3 x and 0 o with o to move: not reachable"),
    ("connect4", "......./......./......./......./o....../xxxxooo x",
     "x has four in line and yet is to move"),
    ("connect4:width=5,height=4", "...../o..../o..../xxxxo x",
     "4 x and 3 o with x to move: not reachable"),
    ("connect4:width=5,height=4", "...../o..../oo.../xxxxo x",
     "x has four in line and yet is to move"),
    ("tictactoe", "@2.0.10", "row 1, a1: '@' is none of x o ."),
]  # fmt: skip
RAW = [
    ("@0.0", "expected 3 words, found 2"),
    ("@0.0.-1", "a word is at most 16 hexadecimal digits"),
    ("@0.0.10000000000000000", "a word is at most 16 hexadecimal digits"),
    ("@0.0.g", "invalid literal"),
    ("strat", "this game reads names and raw words (@…); did you mean 'start'?"),
]


@pytest.mark.parametrize(("spec", "words", "message"), WRONG)
def test_wrong_positions(spec: str, words: str, message: str) -> None:
    game = load_game(spec)
    with pytest.raises(UserError) as caught:
        game.position(words)
    assert str(caught.value).startswith(f"{game.name} position {words!r}: {message}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "words", ["X../.O./... X", "x--/-o-/--- x", "x...o.... x", " x../.o./... x "]
)
def test_other_ways_to_write_the_same(words: str) -> None:
    game = load_game("tictactoe")
    assert game.position(words).text() == "x../.o./... x"


def test_capital_glyphs() -> None:
    """A game may write its stones in capitals; small letters are then read as these."""
    tictactoe = load_game("tictactoe")
    assert tictactoe.set_up is not None
    set_up = tictactoe.set_up
    game = replace(
        tictactoe, glyphs="BW", set_up=lambda board, side: set_up(board.translate(TABLE), side)
    )
    assert game.position("b../.W./... B").text() == "B../.W./... B"


TABLE = str.maketrans("BW", "xo")


def test_raw_words_of_a_game_without_set_up() -> None:
    game = replace(load_game("tictactoe"), set_up=None)
    position = game.start().play("b2").play("a1")
    assert position.text() == "@2.10.1"
    assert game.position("@2.10.1") == position
    for words, message in RAW:
        with pytest.raises(UserError) as caught:
            game.position(words)
        assert str(caught.value).startswith(f"tictactoe position {words!r}: {message}")


def test_named_positions() -> None:
    game = replace(
        load_game("tictactoe"), positions={"one": "xo./.../... x", "bad": "x../.../... x"}
    )
    assert game.position(" one ").text() == "xo./.../... x"
    with pytest.raises(UserError, match="1 x and 0 o with x to move cannot be reached"):
        game.position("bad")


def test_cells_do_not_depend_on_the_side_to_move() -> None:
    game = load_game("othello")
    start = game.start()
    board = cells(game, start.state)
    assert {i: glyph for i, glyph in enumerate(board) if glyph != "."} == {
        27: "o", 28: "x", 35: "x", 36: "o",
    }  # fmt: skip
    after = cells(game, start.play("d3").state)
    assert (after[19], after[27], after[36]) == ("x", "x", "o")


def test_wide_boards_line_up() -> None:
    game = load_game("connect4:width=5,height=10")
    state = np.zeros(3, dtype=np.uint64)
    lines = show(game, state).splitlines()
    assert lines[0] == "   1 2 3 4 5"
    assert (lines[1], lines[10]) == (" 1 . . . . .", "10 . . . . .")
