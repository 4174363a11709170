from pathlib import Path

import numpy as np
import pytest

from randori.agents.agent import RESIGN, Agent
from randori.arena.exam import BATCH, Answer, take_exam, tally
from randori.arena.match import score_interval
from randori.arena.suites import Question, Suite, parse_suite, read_suite, write_suite
from randori.errors import IllegalAction, UserError
from randori.games.registry import load_game

CONNECT4 = load_game("connect4")
TICTACTOE = load_game("tictactoe")
SHOBU = load_game("shobu")
SUITE = """\
# Two questions.
#
game: connect4
26 | 1:-3 2:+2 3:0 4:+2 5:+2 6:0 7:-2 | paper | columns 2 and 6
start | 4
"""
QUESTIONS = """\
game: tictactoe
xx./oo./... x | c1 | wins | first
a1 c3 b1 | c1 | stops
xo./.x./..o x | a2:+2 c1:0 c2:0 a3:0 b3:+1 | wins | third
"""


class Parrot:
    """Answers from a list, whatever the positions."""

    def __init__(self, actions: list[int]) -> None:
        self.actions = list(actions)
        self.batches: list[int] = []

    def act(self, states, rng):
        self.batches.append(len(states))
        said, self.actions = self.actions[: len(states)], self.actions[len(states) :]
        return np.array(said, dtype=np.int32)


def taught(game, actions: list[int]) -> Agent:
    return Agent("parrot", game, Parrot(actions))


def test_a_suite_is_read():
    suite = parse_suite(CONNECT4, SUITE)
    first, second = suite.questions
    assert suite.notes == ("Two questions.", "")
    assert first.position == CONNECT4.start().play("2").play("6")
    assert first.best == (1, 3, 4)
    assert first.scores == {0: -3, 1: 2, 2: 0, 3: 2, 4: 2, 5: 0, 6: -2}
    assert (first.kind, first.name) == ("paper", "columns 2 and 6")
    assert second.position == CONNECT4.start()
    assert (second.best, second.scores, second.kind) == ((3,), {}, "")


@pytest.mark.parametrize(("game", "text"), [(CONNECT4, SUITE), (TICTACTOE, QUESTIONS)])
def test_a_suite_is_written_as_it_was(game, text):
    assert write_suite(parse_suite(game, text)) == text


def test_questions_made_of_values_come_back():
    position = TICTACTOE.position("xx./oo./... x")
    scores = dict.fromkeys(position.actions(), -1) | {position.parse("c1"): 2}
    made = (Question.scored(position, scores, "wins"), Question(position, (2, 5), "", "odd"))
    assert parse_suite(TICTACTOE, write_suite(Suite(TICTACTOE, made))).questions == made


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("26 | 4", "s.txt, line 1: expected `game: connect4` before the first position"),
        ("game: othello\n", "s.txt, line 1: this suite is for othello, not for connect4"),
        ("game: conect4\n", "s.txt, line 1: this suite is for conect4, not for connect4"),
        ("game: connect4:widht=7\n", "s.txt, line 1: 'connect4' has no option 'widht'"),
        ("game: connect4\n# empty\n", "s.txt holds no positions"),
        ("game: connect4\n26\n", "line 2: expected `position | best moves | class | name`"),
        ("game: connect4\n26 | | x\n", "line 2: expected `position | best moves"),
        ("game: connect4\n26 | 4 | a | b | c\n", "line 2: expected `position | best moves"),
        ("game: connect4\n\n28 | 4\n", "or a position: connect4 position '28': character 2"),
        ("game: connect4\n444444 | 4\n", "line 2: illegal move '4'; legal: 1 2 3 5 6 7"),
        ("game: connect4\n26 | 4 4\n", "line 2: 4 stands there twice"),
        ("game: connect4\n26 | 4:+2 5\n", "line 2: either all moves have a score or none"),
        ("game: connect4\n26 | 1:0 2:+1\n", "line 2: 3 is legal and has no score"),
        ("game: connect4\n1212121 | 4\n", "line 2: the game is over in '1212121'"),
    ],
)
def test_mistakes_name_the_line(text, words):
    with pytest.raises(UserError, match=r"s\.txt") as caught:
        parse_suite(CONNECT4, text, "s.txt")
    assert words in str(caught.value)


def test_a_suite_does_not_run_files(tmp_path: Path):
    own = tmp_path / "mine.py"
    own.write_text("raise SystemExit")
    with pytest.raises(UserError, match="this suite is for"):
        parse_suite(CONNECT4, f"game: {own}\n")


def test_files_that_are_no_suites(tmp_path: Path):
    with pytest.raises(UserError, match="did you mean 'shobu-mates'"):
        read_suite(SHOBU, "shobu-mate")
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    with pytest.raises(UserError, match=r"cannot read a suite from .*binary: not UTF-8 text"):
        read_suite(SHOBU, tmp_path / "binary")


def test_answers_are_judged():
    suite = parse_suite(TICTACTOE, QUESTIONS)
    right = [suite.questions[i].position.parse(move) for i, move in enumerate(["c1", "c1", "b3"])]
    result = take_exam(taught(TICTACTOE, right), suite)
    assert [answer.is_correct for answer in result.answers] == [True, True, True]
    assert [answer.is_best for answer in result.answers] == [True, True, False]
    assert [answer.loss for answer in result.answers] == [0, 0, 1]
    assert result.failures == []
    said = result.summary()
    low, high = score_interval(1.0, 3)
    assert (said["positions"], said["correct"], said["accuracy"]) == (3, 3, 1.0)
    assert (said["low"], said["high"]) == (low, high)
    assert (said["best"], said["best_share"], said["mean_loss"]) == (0, 0.0, 1.0)
    assert list(said["by_class"]) == ["wins", "stops"]
    assert said["by_class"]["wins"]["positions"] == 2
    assert "mean_loss" not in said["by_class"]["stops"]


def test_wrong_answers_are_told():
    suite = parse_suite(TICTACTOE, QUESTIONS)
    wrong = [suite.questions[i].position.parse(move) for i, move in enumerate(["c3", "a3", "c2"])]
    result = take_exam(taught(TICTACTOE, wrong), suite)
    assert result.failures == list(result.answers)
    assert result.answers[0].summary() == {
        "name": "first", "class": "wins", "position": "xx./oo./... x", "played": "c3",
        "best": ["c1"],
    }  # fmt: skip
    assert result.answers[1].summary()["position"] == "a1 c3 b1"
    assert result.answers[2].summary()["loss"] == 2
    assert result.summary()["accuracy"] == 0.0


def test_giving_up_is_wrong():
    question = parse_suite(CONNECT4, SUITE).questions[0]
    answer = Answer(question, RESIGN)
    assert (answer.is_correct, answer.is_best, answer.loss) == (False, False, 5)
    assert answer.summary()["played"] is None


def test_where_all_moves_lose_the_best_is_still_known():
    position = CONNECT4.position("26")
    question = Question.scored(position, dict.fromkeys(range(6), -5) | {6: -2}, "lost")
    assert Answer(question, 0).is_correct
    assert not Answer(question, 0).is_best
    assert tally([Answer(question, 0)])["mean_loss"] == 3


def test_illegal_answers_are_refused():
    with pytest.raises(IllegalAction, match="'parrot' played illegal action 0"):
        take_exam(taught(TICTACTOE, [0, 0, 0]), parse_suite(TICTACTOE, QUESTIONS))
    with pytest.raises(ValueError, match="gave 2 for 3"):
        take_exam(taught(TICTACTOE, [0, 0]), parse_suite(TICTACTOE, QUESTIONS))


def test_positions_go_in_batches():
    question = Question(CONNECT4.start(), (3,))
    agent = taught(CONNECT4, [3] * (BATCH + 7))
    heard: list[int] = []
    result = take_exam(agent, Suite(CONNECT4, (question,) * (BATCH + 7)), progress=heard.append)
    assert agent.player.batches == [BATCH, 7]
    assert heard == [BATCH, BATCH + 7]
    assert result.summary()["correct"] == BATCH + 7
