"""People at the terminal: what they read, what they may type, and how they leave."""

import io

import numpy as np
import pytest

from randori.agents.agent import RESIGN
from randori.agents.human import Departure
from randori.agents.registry import load_agent
from randori.arena.match import play_match
from randori.games import load_game

GAME = load_game("tictactoe")
TWO = np.array([GAME.start().state, GAME.start().play("a1").state])


def typed(monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))


def test_moves_are_typed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    typed(monkeypatch, "", " B2 ", "c3")
    agent = load_agent("human:Ann", GAME)
    assert agent.act(TWO, np.random.default_rng(0)).tolist() == [4, 8]
    assert agent.last_words == {}
    out, shown = capsys.readouterr()
    assert out == ""
    assert "  a b c\n1 x . .\n2 . . .\n3 . . .\n" in shown
    assert "Ann to move as x, board 1 of 2: a move, moves or resign\n" in shown
    assert "Ann to move as o, board 2 of 2" in shown


def test_mistakes_are_explained(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    typed(monkeypatch, "d4", "moves", "a1", "a2")
    agent = load_agent("human", GAME)
    assert agent.act(TWO[1:], np.random.default_rng(0)).tolist() == [3]
    shown = capsys.readouterr().err
    assert "illegal move 'd4'; legal: b1 c1 a2" in shown
    assert "\nb1 c1 a2 b2 c2 a3 b3 c3\n" in shown
    assert "illegal move 'a1'" in shown
    assert "human to move as o: a move" in shown


def test_giving_up(monkeypatch: pytest.MonkeyPatch) -> None:
    typed(monkeypatch, "resign", "b1")
    agent = load_agent("human:Ann", GAME)
    assert agent.act(TWO, np.random.default_rng(0)).tolist() == [RESIGN, 1]
    assert agent.last_words == {0: "Ann: resigned"}


def test_who_leaves_has_lost_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    typed(monkeypatch, "b1")
    agent = load_agent("human:Ann", GAME)
    ended: list[object] = []
    with pytest.raises(Departure, match="Ann has left: the input has ended"):
        play_match(GAME, agent, load_agent("random", GAME), 2, on_end=ended.extend)
    assert ended == []
    with pytest.raises(Departure):
        agent.act(TWO, np.random.default_rng(0))


def test_a_match_against_a_person(monkeypatch: pytest.MonkeyPatch) -> None:
    typed(monkeypatch, *["a1", "b1", "c1", "a2", "b2", "c2", "a3", "b3", "c3"] * 5, "resign")
    games = play_match(GAME, load_agent("human", GAME), load_agent("random", GAME), 2).games
    assert [bool(game.moves) for game in games] == [True, True]
    typed(monkeypatch, "resign", "resign")
    games = play_match(GAME, load_agent("human:Bo", GAME), load_agent("random", GAME), 2).games
    assert [(game.score, game.reason) for game in games] == [(0, "Bo: resigned")] * 2
