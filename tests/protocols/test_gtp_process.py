"""The server as a process: nothing but the protocol on stdout, and other programs against it."""

import subprocess
import sys
from pathlib import Path
from time import sleep

import numpy as np
import pytest

from randori.agents.engine import find_program
from randori.agents.registry import load_agent
from randori.errors import UserError
from randori.games.registry import load_game

RANDORI = [sys.executable, "-m", "randori"]
REFEREE = Path(__file__).parent / "referee.py"


def installed(name: str) -> str | None:
    try:
        return find_program(name)
    except UserError:
        return None


GNUGO, GRHINO = installed("gnugo"), installed("gtp-rhino")


def run(arguments: list[str], said: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*RANDORI, "gtp", *arguments], input=said, capture_output=True, text=True, timeout=100
    )


@pytest.mark.parametrize("last", ["quit\n", "", "name"])
def test_the_end_is_clean(last: str) -> None:
    """A client that quits, one that goes away, and one that goes away in the middle of a line."""
    done = run(["go:size=5", "--agent", "random"], f"1 genmove b\r\n# words\n{last}")
    assert done.returncode == 0
    first, *rest = done.stdout.split("\n\n")
    assert first.startswith("=1 ")
    assert rest == {"quit\n": ["=", ""], "": [""], "name": ["= Randori", ""]}[last]
    assert "Error" not in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("arguments", [["tictactoe"], ["go", "--agent", "nobody"], ["go:size=x"]])
def test_mistakes_are_told_in_one_line(arguments: list[str]) -> None:
    done = run(arguments, "name\n")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1


def test_a_stream_ends_with_the_next_line_and_an_interrupt_hurries() -> None:
    command = [*RANDORI, "gtp", "go:size=5", "--agent", "uct:simulations=100000000"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write("1 kata-analyze b 5\n")
        assert server.stdout.readline() == "=1\n"
        seen = []
        for _ in range(3):
            info = server.stdout.readline().split()
            assert info[:2] == ["info", "move"]
            seen.append(int(info[info.index("visits") + 1]))
        assert seen[-1] > seen[0]
        server.stdin.write("2 name\n")
        while line := server.stdout.readline().strip():
            assert line.startswith("info move")
        assert server.stdout.readline() == "=2 Randori\n"
        server.stdout.readline()
        server.stdin.write("3 genmove b\n")
        sleep(0.3)
        # The last interrupt comes with its command, maybe before anybody has started on it.
        server.stdin.write("# interrupt\n4 genmove w\n# interrupt\n5 quit\n")
        rest = server.stdout.read()
        assert rest.startswith("=3 ")
        assert "\n\n=4 " in rest
        assert rest.endswith("\n\n=5\n\n")
    assert server.returncode == 0


@pytest.mark.parametrize("spec", ["go:size=5,komi=3.5", "othello"])
def test_our_own_client_plays_our_server(spec: str) -> None:
    """Two games: the client tells the server a position that it has to set up, then goes on."""
    game = load_game(spec)
    command = f"{sys.executable} -m randori gtp {game.name} --agent random --seed 1"
    agent, rng = load_agent(f"gtp:{command},processes=1", game), np.random.default_rng(0)
    for plies in (0, 6):
        position = game.start()
        for _ in range(plies):
            position = position.play(int(rng.choice(position.actions())))
        answers = 0
        for _ in range(12):
            if position.is_over:
                break
            if position.ply % 2 == plies % 2:
                chosen = agent.choose(position)
                assert chosen in position.legal()
                position = position.play(chosen)
                answers += 1
            else:
                position = position.play(int(rng.choice(position.actions())))
        assert answers == 6 or position.is_over


def referee(games: int, first: str, second: str, *options: str) -> str:
    command = [sys.executable, str(REFEREE), "-n", str(games), first, second, *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_referee_plays_two_servers() -> None:
    server = f"{sys.executable} -m randori gtp go --agent random"
    report = referee(2, server, server, "--size", "3", "--longest", "40")
    assert report.startswith("2 games without a protocol error")


@pytest.mark.slow
@pytest.mark.skipif(GNUGO is None, reason="GNU Go is not installed")
@pytest.mark.parametrize("agent", ["random", "uct:simulations=20"])
def test_against_gnugo(agent: str) -> None:
    """GNU Go by its own rules: no suicide, simple ko, and dead stones left on the board."""
    server = f"{sys.executable} -m randori gtp go --agent {agent}"
    report = referee(20, server, f"{GNUGO} --mode gtp --level 0")
    assert report.startswith("20 games without a protocol error")


@pytest.mark.slow
@pytest.mark.skipif(GNUGO is None, reason="GNU Go is not installed")
@pytest.mark.parametrize("size", [5, 13])
def test_against_gnugo_on_other_boards(size: int) -> None:
    server = f"{sys.executable} -m randori gtp go --agent random"
    report = referee(4, server, f"{GNUGO} --mode gtp --level 0", "--size", str(size))
    assert report.startswith("4 games without a protocol error")


@pytest.mark.slow
@pytest.mark.skipif(GRHINO is None, reason="GRhino is not installed")
def test_against_grhino() -> None:
    """Sixty moves and a few passes fill the board, so a game never comes to two passes."""
    server = f"{sys.executable} -m randori gtp othello --agent random"
    game = load_game("othello")
    agents = [load_agent(f"gtp:{command},processes=1", game)
              for command in (server, f"{GRHINO} -l 1")]  # fmt: skip
    for number in range(4):
        position = game.start()
        while not position.is_over:
            agent = agents[(position.ply + number) % 2]
            chosen = agent.choose(position)
            assert chosen in position.legal()
            position = position.play(chosen)
        assert position.outcome in ("first", "second", "draw")
