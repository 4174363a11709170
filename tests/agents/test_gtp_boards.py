"""Positions as GTP commands, and real engines that understand them."""

import shutil

import numpy as np
import pytest

from randori.agents.agent import RESIGN, Agent
from randori.agents.engine import Engine, Limit
from randori.agents.gtp_boards import before_ko, link, set_up_go, set_up_othello
from randori.agents.registry import load_agent
from randori.arena.match import play_match
from randori.games import Position, load_game

GO = load_game("go:size=5")
OTHELLO = load_game("othello")
SET_UP = ["boardsize 5", "clear_board", "komi 0.5"]


def ask(agent: Agent, *positions: Position) -> list[int]:
    """Let an agent act in positions."""
    states = np.array([position.state for position in positions])
    return [int(action) for action in agent.act(states, np.random.default_rng(0))]


def test_links_between_positions() -> None:
    start, after = GO.start(), GO.start().play("C3")
    assert link(GO, start.state, start.state) == []
    assert link(GO, start.state, after.state) == [12]
    assert link(GO, after.state, after.play("pass").state) == [25]
    assert link(GO, after.state, start.state) is None
    assert link(GO, start.state, after.play("C4").state) is None
    assert link(GO, GO.start().play("C4").state, after.play("D4").state) is None


def test_positions_are_set_up_stone_by_stone() -> None:
    position = GO.position("x..../...../..o../...../....x w pass")
    assert set_up_go(GO, position.state, set()) == [
        *SET_UP, "play black A5", "play white C3", "play black E1", "play black pass",
    ]  # fmt: skip


def ko_fight() -> Position:
    """Black has just taken at C4; White must not take back there at once."""
    position = GO.start()
    for move in ("C5", "D5", "B4", "E4", "C3", "D3", "pass", "C4", "D4"):
        position = position.play(move)
    return position


def test_a_ko_is_set_up_by_the_move_that_took() -> None:
    position = ko_fight()
    assert position.text().endswith("w ko C4")
    board, taken = before_ko(GO, position.state)
    assert taken == 8
    assert board == "..xo..xo.o..xo..........."
    assert set_up_go(GO, position.state, set())[-1] == "play black D4"
    later = position.play("A1").play("A2")
    assert before_ko(GO, later.state)[1] is None


def test_othello_is_set_up_where_that_is_known() -> None:
    known = {"set_game", "grhino-setup_board"}
    begin = ["boardsize 8", "clear_board"]
    one, two = OTHELLO.start().play("f5"), OTHELLO.start().play("f5").play("d6")
    assert set_up_othello(OTHELLO, OTHELLO.start().state, set()) == begin
    assert set_up_othello(OTHELLO, one.state, set()) == [*begin, "play black f5"]
    board = f"{'-' * 27}OX------OXX-----O{'-' * 20}"
    setup = f"grhino-setup_board {board} X"
    assert set_up_othello(OTHELLO, two.state, known) == ["set_game Othello", *begin, setup]


def installed(program: str) -> str | None:
    return shutil.which(program) or shutil.which(program, path="/usr/games")


needs_gnugo = pytest.mark.skipif(not installed("gnugo"), reason="GNU Go is not installed")
needs_grhino = pytest.mark.skipif(not installed("gtp-rhino"), reason="GRhino is not installed")
GNUGO = (
    "gtp:gnugo --mode gtp --level 0 --seed 1 --chinese-rules --capture-all-dead "
    "--positional-superko --allow-suicide"
)


@needs_gnugo
def test_gnu_go_beats_chance() -> None:
    result = play_match(GO, load_agent(GNUGO, GO), load_agent("random", GO), 4)
    assert result.wins == 4
    assert [game.reason for game in result.games] == [""] * 4


@needs_gnugo
def test_gnu_go_takes_turns_on_nine_lines() -> None:
    game = load_game("go:size=9")
    rng = np.random.default_rng(2)
    agent = load_agent(f"{GNUGO},processes=2", game)
    games = [game.start().play(move) for move in ("E5", "C3", "G7")]
    for _ in range(8):
        picked = ask(agent, *games)
        assert agent.last_words == {}
        games = [p.play(action) for p, action in zip(games, picked, strict=True)]
        games = [p.play(int(rng.choice(p.actions()))) for p in games]


@needs_gnugo
def test_gnu_go_knows_of_a_ko_that_was_set_up() -> None:
    """Asked for its legal moves, it leaves out the point that is barred, and only that."""
    position = ko_fight()
    told = Engine([str(installed("gnugo")), "--mode", "gtp", "--chinese-rules"])
    try:
        for command in set_up_go(GO, position.state, set()):
            told.ask(command, Limit(5))
        legal = {*told.ask("all_legal white", Limit(5)).split()} - {"PASS"}
    finally:
        told.kill()
    assert legal == {*position.legal()} - {"pass"}
    agent = load_agent(f"{GNUGO},processes=1", GO)
    assert ask(agent, position)[0] in position.actions()


@needs_gnugo
def test_gnu_go_answers_a_pass_by_a_pass() -> None:
    """Both while it follows the game and after the pass has been set up."""
    position = GO.position(".xo.o/xxooo/.xo.o/xxoo./xxooo w")
    agent = load_agent(f"{GNUGO},processes=1", GO)
    position = position.play("E2").play("pass")
    assert ask(agent, position) == [GO.num_actions - 1]
    position = GO.position(".xo.o/xxooo/.xo.o/xxooo/xx.oo w")
    position = position.play(ask(agent, position)[0])
    assert ask(agent, position.play("pass")) == [GO.num_actions - 1]


@needs_grhino
def test_grhino_plays_othello() -> None:
    """Forced passes of both sides come by; games are found again or set up, as it happens."""
    agent = load_agent("gtp:gtp-rhino -l 1 -b 0,processes=2", OTHELLO)
    games = play_match(OTHELLO, agent, load_agent("random", OTHELLO), 6, opening_plies=4).games
    assert [one.reason for one in games] == [""] * 6
    passed = {(move == 64, i % 2 == 0) for one in games for i, move in enumerate(one.moves)}
    assert (True, True) in passed or (True, False) in passed


@needs_grhino
def test_grhino_has_one_board() -> None:
    game = load_game("othello:size=6")
    agent = load_agent("gtp:gtp-rhino -l 1", game)
    assert ask(agent, game.start()) == [RESIGN]
    assert agent.last_words == {0: "gtp-rhino: refused boardsize 6: unacceptable size"}
