"""GTP engines: what they are told, what becomes of those that fail, and that none is left over."""

import gc
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread, Timer
from time import monotonic, sleep

import numpy as np
import pytest

from randori.agents import engine, gtp
from randori.agents.agent import RESIGN, Agent
from randori.agents.gtp import GtpPlayer
from randori.agents.registry import load_agent
from randori.arena.match import play_match
from randori.errors import UserError
from randori.games import Game, Position, load_game

FAKE = Path(__file__).parent / "fake_engine.py"
GO = load_game("go:size=5")
OTHELLO = load_game("othello")
Maker = Callable[..., Agent]


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "GRACE", 0.3)
    monkeypatch.setattr(engine, "PATIENCE", 0.3)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log"


@pytest.fixture
def fake(log: Path) -> Iterator[Maker]:
    """Make agents that play by the fake engine; all are closed afterwards."""
    made: list[Agent] = []

    def make(flags: str = "", options: str = "", game: Game = GO) -> Agent:
        made.append(load_agent(spec(log, flags, options), game))
        return made[-1]

    yield make
    for agent in made:
        close(agent)


def close(agent: Agent) -> None:
    assert isinstance(agent.player, GtpPlayer)
    agent.player.close()


def spec(log: Path, flags: str = "", options: str = "") -> str:
    command = shlex.join([sys.executable, "-I", "-S", str(FAKE), f"--log={log}"])
    return ",".join(filter(None, [f"gtp:{command} {flags}", options]))


def ask(agent: Agent, *positions: Position) -> list[int]:
    """Let an agent act in positions."""
    states = np.array([position.state for position in positions])
    return [int(action) for action in agent.act(states, np.random.default_rng(0))]


def words(agent: Agent) -> dict[int, str]:
    """What it said, without the name of the program."""
    name = Path(sys.executable).name
    assert all(said.startswith(f"{name}: ") for said in agent.last_words.values())
    return {row: said.removeprefix(f"{name}: ") for row, said in agent.last_words.items()}


def heard(log: Path, *but: str) -> list[str]:
    """The commands that engines got, without those by which they start."""
    lines = [line.partition(" ")[2] for line in log.read_text().splitlines()]
    return [line for line in lines if line not in ("protocol_version", "list_commands", *but)]


def pids(log: Path) -> list[int]:
    """The engines that there were, and their children."""
    lines = [line.split() for line in log.read_text().splitlines()]
    found = [int(line[0]) for line in lines] + [int(w[2]) for w in lines if w[1] == "child"]
    return list(dict.fromkeys(found))


def run_on(pid: int) -> bool:
    """Whether a process runs; one that nobody has asked how it ended runs no more."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def vanish(log: Path, seconds: float = 10.0) -> bool:
    """Whether all engines and their children end soon."""
    deadline = monotonic() + seconds
    while any(run_on(pid) for pid in pids(log)) and monotonic() < deadline:
        sleep(0.01)
    return not any(run_on(pid) for pid in pids(log))


SET_UP = ["boardsize 5", "clear_board", "komi 0.5"]


def test_a_game_goes_on_by_its_moves(fake: Maker, log: Path) -> None:
    agent, position = fake(), GO.start()
    for reply in ("C3", "pass", "D3"):
        position = position.play(ask(agent, position)[0]).play(reply)
    assert [a for a in position.text()[:29] if a in "xo"] == ["o", "o", "x", "x", "x"]
    assert heard(log) == [
        *SET_UP, "genmove black", "play white C3", "genmove black", "play white pass",
        "genmove black",
    ]  # fmt: skip
    assert len(pids(log)) == 1
    assert agent.last_words == {}


def test_games_keep_their_engines(fake: Maker, log: Path) -> None:
    """Whichever of them are asked, and in whatever order."""
    agent = fake("", "processes=3")
    games = [GO.start(), GO.start().play("C3"), GO.start().play("D4")]
    for reply in ("E5", "E4", "D5"):
        for rows in ([2, 0], [1]):
            for row, action in zip(rows, ask(agent, *(games[i] for i in rows)), strict=True):
                games[row] = games[row].play(action).play(reply)
    assert len(pids(log)) == 3
    assert heard(log).count("clear_board") == 3


def test_more_games_than_engines(fake: Maker, log: Path) -> None:
    agent = fake("", "processes=2")
    games = [GO.start()] * 5
    for _ in range(3):
        games = [p.play(a) for p, a in zip(games, ask(agent, *games), strict=True)]
        games = [p.play(reply) for p, reply in zip(games, _replies(games), strict=True)]
    assert len(pids(log)) == 2
    assert 5 + 2 * 3 <= heard(log).count("clear_board") <= 5 + 2 * 5
    assert agent.last_words == {}


def _replies(games: list[Position]) -> list[str]:
    return [position.legal()[number] for number, position in enumerate(games)]


def test_a_position_asked_for_twice_is_set_up_again(fake: Maker, log: Path) -> None:
    agent = fake("", "processes=1")
    assert ask(agent, GO.start()) == ask(agent, GO.start())
    assert heard(log) == [*SET_UP, "genmove black"] * 2


def test_what_the_engine_refuses_to_play_is_set_up(fake: Maker, log: Path) -> None:
    agent = fake("--refuse 'play white C3'")
    position = GO.start().play(ask(agent, GO.start())[0]).play("C3")
    assert ask(agent, position) == [RESIGN]
    assert words(agent) == {0: "refused play white C3: not me"}
    assert heard(log)[4:] == ["play white C3", *SET_UP, "play white C3"]


FAILURES = {
    "--do hang": "no answer to genmove within 0.2 s",
    "--do babble": "no answer to genmove within 0.2 s",
    "--do crash --words 'out of luck'": "crashed with exit code 3: out of luck",
    "--do crash --on boardsize": "crashed with exit code 3",
    "--do crash --on protocol_version": "crashed with exit code 3",
    "--nonsense": f"crashed with exit code 2: {FAKE.name}: error: unrecognized arguments: --nons",
    "--do say --words D4": "answered 'D4', which is not GTP",
    "--do say --words '= D4'": "no answer to genmove within 0.2 s",
    "--do say --words hello --on list_commands": "answered 'hello', which is not GTP",
    "--refuse protocol_version": "refused protocol_version: not me",
    "--refuse komi": "refused komi 0.5: not me",
    "--move Z9": "played illegal Z9 (no such move)",
    "--move C3": "played illegal C3 (the point is taken)",
    "--move 'pass now'": "played illegal pass now (no such move)",
    "--do say --words '=\n'": "played illegal nothing (no such move)",
    "--move resign": "resigned",
}


@pytest.mark.parametrize("flags", FAILURES)
def test_a_failure_loses_the_game_and_says_why(flags: str, fake: Maker, log: Path) -> None:
    log.touch()
    agent = fake(f"{flags} --child", "seconds=0.2" if "0.2" in FAILURES[flags] else "")
    assert ask(agent, GO.start().play("C3")) == [RESIGN]
    assert words(agent)[0].startswith(FAILURES[flags])
    assert "\n" not in agent.last_words[0]
    assert flags == "--move resign" or vanish(log)


HINT = "(does the command start it in GTP mode?)"


@pytest.mark.parametrize(
    ("flags", "is_hinted"),
    [
        ("--do say --words 'GNU Go 3.8' --on protocol_version", True),
        ("--do hang --on protocol_version", True),
        ("--do crash --on protocol_version", False),
        ("--refuse protocol_version", False),
        ("--do say --words hello --on list_commands", False),
        ("--do say --words D4", False),
    ],
)
def test_a_program_that_speaks_no_gtp_gets_a_hint(flags: str, is_hinted: bool, fake: Maker) -> None:
    agent = fake(flags, "start=0.5")
    assert ask(agent, GO.start()) == [RESIGN]
    assert (HINT in agent.last_words[0]) == is_hinted


def test_moves_against_the_rules(fake: Maker) -> None:
    agent = fake("--move A1")
    assert ask(agent, GO.position("...../...../...../xx.../.x... w")) == [RESIGN]
    assert words(agent) == {0: "played illegal A1 (against the rules)"}
    agent = fake("--move pass --know set_game", game=OTHELLO)
    assert ask(agent, OTHELLO.start()) == [RESIGN]
    assert words(agent) == {0: "played illegal pass (against the rules)"}


def test_only_the_game_of_the_failing_engine_is_lost(
    fake: Maker, log: Path, tmp_path: Path
) -> None:
    agent = fake(f"--move pass --do hang --after 2 --once {tmp_path / 'flag'}", "seconds=1")
    games = play_match(GO, agent, load_agent("random", GO), 4, seed=3).games
    lost = [game for game in games if game.reason]
    assert [game.reason.partition(": ")[2] for game in lost] == ["no answer to genmove within 1 s"]
    assert lost[0].score == 0
    assert lost[0].moves


def test_a_failed_engine_is_replaced(fake: Maker, log: Path, tmp_path: Path) -> None:
    agent = fake(f"--do crash --once {tmp_path / 'flag'}", "processes=1")
    assert ask(agent, GO.start(), GO.start().play("C3")) == [RESIGN, 20]
    assert words(agent) == {0: "crashed with exit code 3"}
    assert len(pids(log)) == 2


def test_death_between_moves_loses_and_between_games_does_not(fake: Maker, log: Path) -> None:
    agent = fake("--do die", "processes=1")
    position = GO.start().play(ask(agent, GO.start())[0]).play("C3")
    assert not run_on(pids(log)[0]) or vanish(log)
    assert ask(agent, position) == [RESIGN]
    assert words(agent) == {0: "ended with exit code 0"}
    assert ask(agent, GO.start()) == [20]
    assert vanish(log)
    assert ask(agent, GO.start()) == [20]
    assert len(pids(log)) == 3


def test_a_killed_engine_says_so(fake: Maker, log: Path) -> None:
    agent = fake()
    position = GO.start().play(ask(agent, GO.start())[0]).play("C3")
    os.kill(pids(log)[0], 9)
    assert ask(agent, position) == [RESIGN]
    assert words(agent) == {0: "killed by signal 9"}


def test_what_never_starts_is_not_tried_again(fake: Maker, log: Path) -> None:
    agent = fake("--do crash --on list_commands", "processes=1")
    assert ask(agent, *[GO.start()] * 6) == [RESIGN] * 6
    assert len(pids(log)) == 1
    assert words(agent)[5] == "crashed with exit code 3; not tried again"


def test_a_start_is_waited_for_once(fake: Maker, log: Path) -> None:
    agent = fake("--do hang --on protocol_version", "processes=1,start=0.2")
    assert ask(agent, *[GO.start()] * 6) == [RESIGN] * 6
    assert ask(agent, GO.start()) == [RESIGN]
    assert words(agent)[0] == f"no answer to protocol_version within 0.2 s {HINT}; not tried again"
    assert len(pids(log)) == 1


def test_what_has_started_once_is_tried_some_more(
    fake: Maker, log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = fake("--do crash --after 1", "processes=1")
    assert ask(agent, GO.start()) == [20]
    broken = tmp_path / "broken"
    broken.write_text("#!/bin/sh\nexit 4\n")
    broken.chmod(0o755)
    monkeypatch.setattr(agent.player, "_command", [str(broken)])
    assert ask(agent, *[GO.start()] * 6) == [RESIGN] * 6
    said = [agent.last_words[row].partition(": ")[2] for row in range(6)]
    assert [one.endswith("not tried again") for one in said] == [False] * 4 + [True] * 2
    assert gtp.STARTS == 3


def test_all_commands_of_a_move_have_one_limit(fake: Maker, log: Path) -> None:
    """Four answers of 0.4 s each are in time one by one, and too late together."""
    agent = fake("--lag 0.4", "seconds=0.8,start=9")
    assert ask(agent, GO.start()) == [RESIGN]
    assert re.fullmatch(r"no answer to (komi|genmove) within 0.8 s", words(agent)[0])
    assert ask(fake("--lag 0.1", "seconds=0.8,start=9"), GO.start()) == [20]


def test_slow_and_noisy_engines_are_fine(fake: Maker) -> None:
    agent = fake("--slow 0.3 --noise 300000", "seconds=2")
    start = monotonic()
    assert ask(agent, *[GO.start()] * 4) == [20] * 4
    assert monotonic() - start > 0.3


def test_engines_may_pass(fake: Maker) -> None:
    agent = fake("--move PASS")
    games = play_match(GO, agent, agent, 2).games
    assert [game.moves for game in games] == [[25, 25]] * 2


def test_the_clock_is_told_on_demand(fake: Maker, log: Path) -> None:
    ask(fake("--know time_settings"), GO.start())
    assert not any(line.startswith("time") for line in heard(log))
    ask(fake("--know time_settings", "seconds=7,clock=yes"), GO.start())
    assert heard(log).count("time_settings 0 7 1") == 1


@pytest.mark.parametrize("flags", ["", "--deaf --child"])
def test_engines_end_with_their_agent(flags: str, log: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    agent = load_agent(spec(log, flags), GO)
    ask(agent, *[GO.start()] * 3)
    assert len(pids(log)) == (6 if "child" in flags else 3)
    del agent
    gc.collect()
    assert vanish(log)
    assert not any(Path(f"/proc/{line.split()[0]}").exists() for line in log.open())
    assert heard(log).count("quit") == 3
    assert len(os.listdir("/proc/self/fd")) == before


def test_engines_end_with_the_interpreter(log: Path) -> None:
    program = (
        "import numpy, randori\n"
        f"game = randori.game('go:size=5')\nagent = randori.agent({spec(log)!r}, game)\n"
        "print(agent.choose(game.start()))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("A1\n", "")
    assert vanish(log)
    assert heard(log)[-1] == "quit"


@pytest.mark.skipif(sys.platform != "linux", reason="other systems tell nobody of a death")
def test_a_stubborn_engine_dies_with_its_killed_parent(log: Path) -> None:
    """It ignores the end of its input and SIGTERM, and nobody is left to kill it."""
    program = (
        "import randori, sys, threading\n"
        f"game = randori.game('go:size=5')\nagent = randori.agent({spec(log, '--deaf')!r}, game)\n"
        "asks = threading.Thread(target=lambda: print(agent.choose(game.start()), flush=True))\n"
        "asks.start(); asks.join(); sys.stdin.read()"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert parent.stdout is not None
    assert parent.stdout.readline() == b"A1\n"
    assert all(run_on(pid) for pid in pids(log))
    parent.kill()
    parent.communicate()
    assert vanish(log)


def test_an_engine_outlives_the_thread_that_asked(fake: Maker, log: Path) -> None:
    agent = fake()
    thread = Thread(target=ask, args=(agent, GO.start()))
    thread.start()
    thread.join()
    sleep(0.2)
    assert ask(agent, GO.start().play("A1").play("C3")) == [21]
    assert len(pids(log)) == 1


def test_an_engine_whose_group_may_not_be_told(
    fake: Maker, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The group may hold a process of somebody else: the engine itself ends all the same."""

    def refuse(group: int, sign: int) -> None:
        raise PermissionError

    agent = fake("--deaf")
    ask(agent, GO.start())
    monkeypatch.setattr(os, "killpg", refuse)
    close(agent)
    assert vanish(log)
    monkeypatch.setattr(subprocess.Popen, "send_signal", refuse)
    other = fake("--deaf --do hang", "seconds=0.2")
    assert ask(other, GO.start()) == [RESIGN]  # and nobody waits for what cannot be ended
    monkeypatch.undo()
    os.kill(pids(log)[-1], signal.SIGKILL)


def test_failures_leave_nothing_open(fake: Maker) -> None:
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        assert ask(fake("--do crash"), GO.start(), GO.start()) == [RESIGN] * 2
    assert len(os.listdir("/proc/self/fd")) == before


def test_an_interrupt_does_not_wait_for_engines(fake: Maker, log: Path) -> None:
    agent = fake("--slow 30", "processes=2")
    Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        ask(agent, *[GO.start()] * 20)
    assert vanish(log)
    assert len(pids(log)) == 2


def test_closed_agents_may_go_on(fake: Maker, log: Path) -> None:
    agent = fake()
    position = GO.start().play(ask(agent, GO.start())[0]).play("C3")
    close(agent)
    assert vanish(log)
    assert ask(agent, position) == [21]


def test_a_fork_leaves_the_engines_alone(fake: Maker, log: Path) -> None:
    agent = fake()
    ask(agent, GO.start())
    child = os.fork()
    if not child:
        close(agent)
        os._exit(0)
    os.waitpid(child, 0)
    assert ask(agent, GO.start().play("A1").play("C3")) == [21]
    assert len(pids(log)) == 1


def test_othello_needs_a_command_to_be_set_up(fake: Maker) -> None:
    agent = fake(game=OTHELLO)
    assert ask(agent, OTHELLO.start().play("f5").play("d6")) == [RESIGN]
    assert words(agent)[0].startswith("cannot be set up in the middle of a game; it needs")


def test_a_forced_pass_may_be_refused(fake: Maker, log: Path) -> None:
    """GRhino passes by itself where it must, and does not know the word."""
    position = OTHELLO.position(f"xo......{'.' * 48}xo...... x")
    agent = fake("--move 'C1;C8' --know grhino-setup_board --refuse 'play white'", game=OTHELLO)
    position = position.play(ask(agent, position)[0])
    assert position.legal() == ["pass"]
    assert ask(agent, position.play("pass")) == [58]
    assert heard(log)[-3:] == ["genmove black", "play white pass", "genmove black"]


def test_commands_are_split_as_in_a_shell(fake: Maker, log: Path) -> None:
    agent = fake("--move='resign' --words=\"a = 'b'\" --once='x y:z'", "seconds=3,processes=1")
    assert ask(agent, GO.start()) == [RESIGN]
    assert words(agent) == {0: "resigned"}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("gtp", "gtp: expected a command, as in gtp:gnugo --mode gtp"),
        ("gtp:seconds=3", "gtp: expected a command, as in gtp:gnugo --mode gtp"),
        ("gtp:no-such-engine --fast", "there is no program 'no-such-engine'; install it"),
        ("gtp:/etc/passwd", "there is no program '/etc/passwd'"),
        ("gtp:cat,second=3", "'gtp' has no option 'second'; did you mean 'seconds'?"),
        ("gtp:cat,seconds=0", "seconds must be more than 0"),
        ("gtp:cat,start=0", "start must be more than 0"),
        ("gtp:cat,processes=0", "processes must be at least 1"),
        ("gtp:cat 'a,seconds=3", "No closing quotation; a comma ends the command"),
        ("gtp:cat 'a,b'", 'expected key=value, found "b\'"'),
    ],
)
def test_what_cannot_be_is_said_in_one_line(text: str, complaint: str) -> None:
    with pytest.raises(UserError) as caught:
        load_agent(text, GO)
    assert complaint in str(caught.value)


def test_other_games_are_refused() -> None:
    with pytest.raises(UserError, match="gtp: engines play go and othello, not connect4"):
        load_agent("gtp:cat", load_game("connect4"))
