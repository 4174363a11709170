import pytest

from randori.cli.terminal import draw
from randori.games import load_game


@pytest.fixture
def play(randori):
    """Play Tic-tac-toe by a script of lines."""

    def run(*lines, against="uct:simulations=50", **options):
        flags = [f"--{name}={value}" for name, value in options.items()]
        script = "".join(f"{line}\n" for line in lines)
        return randori("play", "tictactoe", "--against", against, "--seed=1", *flags, stdin=script)

    return run


def test_end_of_input_ends_cleanly(play):
    answer = play()
    assert answer.code == 0
    assert "x is you, o is uct:simulations=50" in answer.out
    assert "x to move: a1 b1 c1 a2 b2 c2 a3 b3 c3" in answer.out


def test_moves_alternate_with_the_agent(play):
    answer = play("b2", "quit")
    assert "> b2" in answer.out
    assert "o plays " in answer.out
    assert "value" in answer.out
    assert "visits" in answer.out
    played = answer.out.splitlines()[-1].split()
    assert played[:2] == ["moves:", "b2"]
    assert len(played) == 3


def test_illegal_and_ambiguous_moves_are_refused_and_the_game_goes_on(play):
    answer = play("z9", "a", "b2", "quit")
    assert "illegal move 'z9'; legal: a1" in answer.out
    assert "'a' may be a1 or a2 or a3" in answer.out
    assert "o plays" in answer.out
    assert answer.code == 0


def test_the_beginning_of_a_move_is_enough(randori):
    answer = randori("play", "othello", "--side=both", "--against=random", stdin="F\nquit\n")
    assert answer.out.endswith("moves: f5\n")


def test_hint(play):
    answer = play("hint 2", "hint x", "quit", position="xx./oo./... x")
    lines = answer.out.splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("value"))
    assert lines[at] == "value +1.00 for x"
    assert lines[at + 2].split()[0] == "c1"
    assert "proven win" in lines[at + 2]
    assert lines[at + 4].startswith("  expected: c1")
    assert "expected hint, or hint and how many moves" in answer.out


def test_a_hint_without_a_line_expects_nothing(randori):
    answer = randori("play", "connect4", "--against", "policy", stdin="hint 2\nquit\n")
    assert "value" in answer.out
    assert "expected" not in answer.out


def test_agent_that_cannot_analyse_says_so(play):
    answer = play("hint", "b2", "quit", against="random")
    assert "agent 'random' picks moves but cannot analyse" in answer.out
    assert "o plays" in answer.out


def test_undo_goes_back_to_ones_own_turn(play):
    answer = play("undo", "b2", "undo", "moves", "position", "quit")
    assert "there is nothing to take back" in answer.out
    assert "played: nothing yet" in answer.out
    assert ".../.../... x" in answer.out
    assert not answer.out.splitlines()[-1].startswith("moves:")


def test_undo_with_two_people_takes_one_move_back(play):
    answer = play("b2", "a1", "undo", "moves", "quit", side="both")
    assert "played: b2\n" in answer.out


def test_last_move_is_marked(play):
    assert "2 .(x).\n" in play("b2", "board", side="both").out


def test_all_cells_of_the_last_move_are_marked_and_blocks_stand_apart(randori):
    answer = randori("play", "shobu", "--side=both", "--against=random", stdin="d1h1N\nquit\n")
    assert "  a b c d   e f g h\n" in answer.out
    assert "5 x x x x   x x x x\n\n4 o o o o" in answer.out
    assert "2 . . .(x)  . . .(x)\n1 x x x .   x x x .\n" in answer.out


def test_marked_neighbours_share_a_bracket():
    drawn = draw(load_game("shobu").start(), [0, 1, 3, 4, 63]).plain.splitlines()
    assert drawn[1] == "8(o|o)o(o) (o)o o o"
    assert drawn[-1] == "1 x x x x   x x x(x)"


def test_what_the_board_does_not_show_stands_below_it(randori):
    answer = randori("play", "choko", "--side=both", "--against=random", stdin="C3\nquit\n")
    assert "1 . . . . .\nin hand: B 11 (initiative), R 12\n" in answer.out


def test_help_and_resign(play):
    answer = play("help", "resign")
    assert "hint [n]" in answer.out
    assert "x resigns: o wins" in answer.out


def test_second_side_lets_the_agent_begin(play):
    answer = play("quit", side="second")
    assert "x is uct:simulations=50, o is you" in answer.out
    assert "x plays" in answer.out


def test_watching_needs_no_input(play):
    answer = play(side="none")
    assert answer.code == 0
    assert answer.out.count(" plays ") >= 5
    assert "wins" in answer.out or "a draw" in answer.out


def test_end_of_the_game_is_told(play):
    answer = play("c1", position="xx./oo./... x")
    assert "x wins: well played" in answer.out
    assert answer.out.splitlines()[-1] == "moves: c1"


def test_position_that_is_over(play):
    assert "x wins" in play(position="xxx/oo./... o").out


def test_same_seed_same_game(play):
    assert play(side="none").out == play(side="none").out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"side": "fist"}, "did you mean 'first'?"),
        ({"against": "utc"}, "there is no agent 'utc'; did you mean 'uct'?"),
        ({"against": "uct:simulation=3"}, "did you mean 'simulations'?"),
        ({"against": "az:runs/none"}, "runs/none does not exist"),
        ({"position": "what"}, "tictactoe position 'what'"),
    ],
)
def test_bad_input_is_one_line(play, options, words):
    assert words in play(**options).complaint
