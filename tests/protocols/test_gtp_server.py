"""The server as clients see it: scripts of commands and what must come back."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch

from randori import __version__
from randori.agents.models import model_info, signature_of
from randori.errors import UserError
from randori.games.game import Game
from randori.games.position import Position
from randori.games.records import read_records
from randori.games.registry import load_game
from randori.networks.build import build
from randori.networks.config import NetworkConfig
from randori.protocols.gtp import COMMANDS, read_request
from randori.protocols.gtp_session import Session
from randori.protocols.thinking import Choice, Report
from randori.runs.checkpoint import write_model

TINY = NetworkConfig(blocks=1, channels=8, hidden=8, policy_channels=4, value_channels=4)
Client = Callable[..., Callable[..., list[str]]]


def drawn(answer: str) -> list[str]:
    """Return the rows of a board as `showboard` draws it."""
    rows = [row.split(maxsplit=1) for row in answer.split("\n")]
    return [row[1].replace(" ", "") for row in rows if row and row[0].isdecimal()]


def test_administration(client: Client) -> None:
    say = client()
    answers = say("protocol_version", "name", "version", "known_command genmove",
                  "known_command fly", "7 list_commands")  # fmt: skip
    assert answers[:5] == ["= 2", "= Randori", f"= {__version__}", "= true", "= false"]
    known = answers[5].removeprefix("=7 ").split("\n")
    assert set(known) == set(COMMANDS["go"])
    # What every client may rely on by the second version of the protocol.
    required = "protocol_version name version known_command list_commands quit boardsize"
    required += " clear_board komi play genmove"
    assert set(required.split()) <= set(known)
    assert "loadsgf" not in COMMANDS["othello"]


def test_the_page_names_every_command() -> None:
    page = (Path(__file__).parents[2] / "docs" / "gtp.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| ")]
    named = {words.split()[0] for line in rows for words in re.findall("`([^`]+)`", line)}
    assert named == {*COMMANDS["go"], *COMMANDS["othello"]}


def test_lines_are_read_as_the_protocol_says(client: Client) -> None:
    assert read_request("  12\tplay\tb  C3 # a comment\r\n") == read_request("12 play b C3")
    assert read_request("pl\x07ay b\x01 c3") == read_request("play b c3")
    assert read_request("\n") is None
    assert read_request("   # nothing") is None
    say = client()
    assert say("", "#", " \t ", "5 name", "5", "xyz", "3 xyz") == [
        "=5 Randori", "?5 unknown command", "? unknown command", "?3 unknown command",
    ]  # fmt: skip
    assert say("name", "quit", "name") == ["= Randori", "="]


def test_a_gogui_like_game(client: Client) -> None:
    say = client()
    answers = say(
        "1 boardsize 5", "2 clear_board", "3 komi 0.5", "4 play b c3", "5 play w C4",
        "6 PLAY b d4", "7 play BLACK D4", "8 play white pass", "9 showboard", "10 get_komi",
        "11 query_boardsize", "12 last_move", "13 move_history", "14 undo", "15 undo",
        "16 list_stones black", "17 color C4", "18 color A1",
    )  # fmt: skip
    assert answers[5] == "?6 unknown command"
    assert all(answer.startswith("=") for i, answer in enumerate(answers) if i != 5)
    assert drawn(answers[8]) == [".....", "..ox.", "..x..", ".....", "....."]
    assert answers[9:13] == ["=10 0.5", "=11 5", "=12 white pass",
                             "=13 white pass\nblack D4\nwhite C4\nblack C3"]  # fmt: skip
    assert answers[15:] == ["=16 C3", "=17 white", "=18 empty"]


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("play b c3", "? illegal move: C3 is taken"),
        ("play b i3", "? invalid coordinate 'i3'"),
        ("play b f1", "? invalid coordinate 'f1'"),
        ("play green c2", "? invalid color 'green'"),
        ("play b", "? expected a colour and a vertex"),
        ("genmove", "? expected a colour"),
        ("genmove x", "? invalid color 'x'"),
        ("boardsize 1", "? unacceptable size"),
        ("boardsize 20", "? unacceptable size"),
        ("boardsize 9 13", "? unacceptable size"),
        ("boardsize nine", "? expected a whole number, found 'nine'"),
        ("komi seven", "? expected a number, found 'seven'"),
        ("komi nan", "? expected a number, found 'nan'"),
        ("komi 0.3", "? komi is a multiple of 0.5, found '0.3'"),
        ("gg-undo 2", "? cannot undo"),
        ("gg-undo 0", "? cannot undo"),
        ("time_left b 3", "? expected a colour, seconds and stones"),
        ("time_settings -1 0 0", "? a time is not negative, found '-1'"),
        ("time_settings 0 10 -3", "? stones are not negative, found '-3'"),
        ("is_legal w resign", "? invalid coordinate 'resign'"),
        ("printsgf .", "? cannot write .: it is a folder"),
        ("printsgf /", "? cannot write /: it is a folder"),
        ("kgs-time_settings fischer 3 3", None),
        ("final_status_list asleep", "? invalid status"),
        ("fixed_handicap 2", "? invalid number of stones"),
        ("set_free_handicap a1 b2", "? board not empty"),
        ("set_game Othello", "? unsupported game"),
        ("loadsgf nowhere.sgf", None),
        ("gogui-play_sequence b a1 w", "? expected colours and vertices in turn"),
        ("lz-analyze b", "? agent 'random' picks moves but cannot analyse"),
    ],
)
def test_what_is_wrong_is_refused_and_nothing_changes(
    client: Client, line: str, answer: str | None
) -> None:
    say = client()
    say("play b c3")
    before = say("showboard", "get_komi")
    found = say(line)
    assert len(found) == 1
    assert found[0].startswith("? ")
    assert answer in (None, found[0])
    assert say("showboard", "get_komi") == before


def test_a_sequence_is_played_as_a_whole_or_not_at_all(client: Client) -> None:
    say = client()
    assert say("gogui-play_sequence b a1 w b2 b a1", "last_move")[0].startswith("? illegal move")
    assert say("last_move") == ["? no previous move known"]
    assert say("gogui-play_sequence b a1 w b2", "last_move") == ["=", "= white B2"]


def test_the_game_goes_on_behind_two_passes(client: Client) -> None:
    say = client()
    say("play b c3", "play w pass", "play b pass")
    answers = say("play w d3", "play b pass", "play w pass", "play b pass", "genmove w")
    assert all(answer.startswith("=") for answer in answers)
    assert say("move_history")[0].count("\n") == 7


def test_games_may_be_longer_than_ours(client: Client) -> None:
    """A board of 2 has eight plies at most by our rules, and clients know of no such thing."""
    say = client("go:size=2")
    for _ in range(10):
        assert say("play b pass", "play w pass") == ["=", "="]
    answers = say(*["genmove b", "genmove w"] * 10)
    assert all(answer.startswith("= ") for answer in answers)


def test_scores(client: Client) -> None:
    say = client("go:size=5,komi=0.5")
    assert say("final_score") == ["= W+0.5"]
    assert say("play b c3", "final_score") == ["=", "= B+24.5"]
    assert say("komi 25", "final_score") == ["=", "= 0"]
    assert say("komi -3", "final_score", "get_komi") == ["=", "= B+28", "= -3"]


def test_dead_stones_are_left_out_where_that_was_asked_for(client: Client) -> None:
    """White holds the board but for one stone of Black that cannot live."""
    white = [f"play w {column}{row}" for column in "ABCDEFG" for row in (2, 4, 6)]
    white += ["play w B3", "play w D5"]
    # By the area of every stone, what is beside D7 is nobody's.
    for remove, score in ((False, "= W+41.5"), (True, "= W+49.5")):
        say = client("go:size=7,komi=0.5", remove_dead=remove)
        assert set(say(*white, "play b d7")) == {"="}
        assert say("final_status_list dead") == ["= D7"]
        alive = say("final_status_list alive")[0]
        assert set(alive.removeprefix("= ").split()) == {line.split()[2] for line in white}
        assert say("final_status_list seki") == ["="]
        assert say("final_score") == [score]


def test_handicap(client: Client) -> None:
    say = client("go")
    assert say("boardsize 19", "fixed_handicap 9", "list_stones b")[1:] == [
        "= D4 Q16 D16 Q4 D10 Q10 K16 K4 K10", "= D16 K16 Q16 D10 K10 Q10 D4 K4 Q4",
    ]  # fmt: skip
    assert say("fixed_handicap 2") == ["? board not empty"]
    assert say("clear_board", "set_free_handicap a1 b2 a1") == ["=", "? bad vertex list"]
    assert say("set_free_handicap a1 pass", "set_free_handicap a1") == ["? bad vertex list"] * 2
    assert say("set_free_handicap a1 b2", "showboard")[1].endswith("White to play")
    assert say("clear_board", "place_free_handicap 30")[1].count(" ") == 9
    assert say("boardsize 8", "fixed_handicap 5")[1] == "? invalid number of stones"
    assert say("fixed_handicap 4", "undo") == ["= C3 F6 C6 F3", "? cannot undo"]


def test_games_on_disk(client: Client, tmp_path: Path) -> None:
    say = client("go")
    moves = ["play b c3", "play w d4", "play w e5", "play b pass", "play w pass"]
    say("boardsize 7", "komi 3.5", "set_free_handicap b2 f6", *moves)
    boards = say("showboard", "final_score")
    file = tmp_path / "a game.sgf"
    assert say(f"printsgf {file}") == ["="]
    assert say("printsgf")[0] == f"= {file.read_text().strip()}"
    record = next(iter(read_records(file)))
    assert record.options["size"] == 7
    assert record.result == "second"
    assert say("boardsize 9", "komi 7.5", f"loadsgf {file}")[2] == "= black"
    found = say("showboard", "final_score", "get_komi")
    assert (drawn(found[0]), found[1:]) == (drawn(boards[0]), [boards[1], "= 3.5"])
    assert say(f"loadsgf {file} 2", "list_stones w", "list_stones b") == [
        "= white",
        "=",
        "= F6 C3 B2",
    ]
    (tmp_path / "bad.sgf").write_text("(;GM[1]SZ[7]")
    assert say(f"loadsgf {tmp_path / 'none.sgf'}")[0].startswith("? cannot load file")
    assert say(f"printsgf {tmp_path / 'no' / 'such.sgf'}")[0].startswith("? cannot write")


def test_a_game_that_cannot_be_played_to_its_end_changes_nothing(
    client: Client, tmp_path: Path
) -> None:
    say = client("go:size=5")
    say("komi 2.5", "play b c3", "play w d3", "time_settings 60 0 0", "time_left b 7 0")
    asked = ("showboard", "get_komi", "query_boardsize", "move_history")
    before = say(*asked)
    for size in (5, 9):
        file = tmp_path / "twice.sgf"
        file.write_text(f"(;GM[1]SZ[{size}]KM[6.5];B[bb];W[cc];B[cc])")
        assert say(f"loadsgf {file}")[0].startswith("? illegal move")
        assert say(*asked) == before
    assert say("undo", "last_move") == ["=", "= black C3"]


def test_a_failed_write_leaves_nothing_behind(client: Client, tmp_path: Path) -> None:
    say = client()
    (tmp_path / "folder").mkdir()
    assert say(f"printsgf {tmp_path / 'folder'}")[0].startswith("? cannot write")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_othello(client: Client) -> None:
    say = client("othello", "alphabeta:depth=1")
    assert say("set_game Othello", "boardsize 8", "clear_board", "play b d3") == ["="] * 4
    assert say("play w d3")[0].startswith("? illegal move")
    assert say("play b pass") == ["? illegal move"]
    assert say("final_score") == ["? cannot score"]
    assert say("gogui-rules_legal_moves", "gogui-rules_side_to_move") == ["= C3 E3 C5", "= white"]
    assert say("boardsize 5", "boardsize 4", "get_komi") == ["? unacceptable size", "=", "= 0"]
    moves: list[str] = []
    while say("gogui-rules_legal_moves") != ["="]:
        moves += say(f"genmove {'bw'[len(moves) % 2]}")
    assert say("genmove b") == ["= pass"]
    position = load_game("othello:size=4").start()
    for move in moves:
        position = position.play(move.removeprefix("= "))
    lead = str(position).count("x") - str(position).count("o")
    assert say("final_score") == [f"= {'B' if lead > 0 else 'W'}+{abs(lead)}" if lead else "= 0"]
    assert say("gogui-rules_final_result") == say("final_score")


def test_othello_passes_are_understood_and_positions_set_up(client: Client) -> None:
    """White cannot move, so Black may play on, whether White's pass was sent or not."""
    row = "XXXXXXO-" + "-" * 56
    for skip in ([], ["play w pass"]):
        say = client("othello")
        assert say(f"grhino-setup_board {'-OX' + row[3:]} X", "play b a1") == ["=", "="]
        assert set(say(*skip, "play b h1")) == {"="}
        assert say("final_score") == ["= B+8"]
    assert say("grhino-setup_board XO X")[0].startswith("? bad position")


class Faulty:
    """A mind that fails."""

    spec = "faulty"

    def __init__(self, game: Game) -> None:
        self.game = game

    def ponder(self, position: Position, seconds: float | None) -> Iterator[Choice]:
        raise RuntimeError("no\nidea")
        yield Choice(0, 0.0)

    def watch(self, position: Position) -> Iterator[Report]:
        raise RuntimeError("blind")
        yield


def test_an_agent_that_fails_is_no_end(client: Client, capsys: pytest.CaptureFixture[str]) -> None:
    say = client(mind=Faulty(load_game("go:size=5")))
    assert say("1 genmove b", "2 lz-analyze", "3 name") == [
        "?1 RuntimeError: no idea", "?2 RuntimeError: blind", "=3 Randori",
    ]  # fmt: skip
    assert "no\nidea" in capsys.readouterr().err


class Stubborn(Faulty):
    """Always wants the same point."""

    action = 0

    def ponder(self, position: Position, seconds: float | None) -> Iterator[Choice]:
        yield Choice(self.action, 0.0)


def test_no_move_of_ours_is_illegal_to_anybody(client: Client) -> None:
    """By the rules of the agent A5 is a suicide of two, which few clients would take."""
    say = client("go:size=5", mind=Stubborn(load_game("go:size=5")))
    assert say("genmove b", "genmove w") == ["= A5", "= pass"]
    say("clear_board", "play b b5", "play w a4", "play w b4", "play w c5")
    assert say("genmove b") == ["= pass"]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write an untrained network for Go 5×5 as it is by default."""
    game = load_game("go:size=5")
    network = build(TINY, signature_of(game))
    weights = {name: tensor.numpy() for name, tensor in network.state_dict().items()}
    path = tmp_path_factory.mktemp("models") / "go5.safetensors"
    write_model(path, weights, model_info(game, TINY))
    return path


def test_a_network_plays_its_size_only_and_any_komi(
    client: Client, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    agent = f"az:{model},simulations=8,runtime=torch"
    say = client("go:size=5", agent)
    refused = say("boardsize 9")
    assert refused[0].startswith("? unacceptable size: ")
    assert "holds a model for go:size=5, not for go" in refused[0]
    assert say("query_boardsize", "komi 6.5", "get_komi") == ["= 5", "=", "= 6.5"]
    assert "it plays as with komi 0.5" in capsys.readouterr().err
    assert say("final_score") == ["= W+6.5"]
    with pytest.raises(UserError, match="holds a model for go:size=5"):
        Session("go", agent)


@pytest.mark.slow
def test_a_network_moves(client: Client, model: Path) -> None:
    torch.set_num_threads(1)
    say = client("go:size=5", f"az:{model},simulations=8,runtime=torch")
    assert all(answer.startswith("= ") for answer in say("genmove b", "genmove w", "genmove b"))
    assert "prior 0 " not in say("kata-genmove_analyze w 1 maxmoves 1")[0]


def test_bad_beginnings() -> None:
    for game, agent, words in [
        ("chess", "random", "GTP is spoken for go and othello, not for 'chess'"),
        ("go:size=40", "random", "size goes from 2 to 19"),
        ("go", "uct:simulatons=3", "did you mean 'simulations'"),
        ("go", "human", "a person plays through the client"),
    ]:
        with pytest.raises(UserError, match=words):
            Session(game, agent)


def test_what_guis_read(client: Client) -> None:
    say = client("go:size=5,komi=0.5", "uct:simulations=60")
    for name, scale in (("lz", 1e4), ("kata", 1.0)):
        stream = say(f"{name}-genmove_analyze b 50 maxmoves 3 rootInfo true", "undo")[0]
        assert stream.startswith("=\ninfo move ")
        *infos, play = stream.split("\n")[1:]
        moves = infos[-1].partition(" rootInfo ")[0].split("info ")[1:]
        assert len(moves) <= 3
        for order, move in enumerate(moves):
            fields, _, line = move.partition(" pv ")
            words = fields.split()
            values = dict(zip(words[::2], words[1::2], strict=True))
            assert values["order"] == str(order)
            assert line.split()[0] == values["move"]
            assert 0 <= float(values["lcb"]) <= float(values["winrate"]) <= scale
        assert play == f"play {moves[0].split()[1]}"
    # Input behind it ends a stream, at once if it is there already; the input is obeyed.
    first, second = say("lz-analyze w interval 10 avoid b a1,a2 3 ownership true", "4 name")
    assert first.startswith("=")
    assert second == "=4 Randori"
    assert say("randori-table b")[0].startswith("= \n  move   visits")
    assert say("randori-visits b")[0].startswith("= LABEL ")
    offered = say("gogui-analyze_commands")[0].removeprefix("= ").split("\n")
    assert {line.split("/")[2].split()[0] for line in offered} <= set(COMMANDS["go"])


def test_time_reaches_the_agent(client: Client) -> None:
    asked: list[float | None] = []

    class Timed(Stubborn):
        def ponder(self, position: Position, seconds: float | None) -> Iterator[Choice]:
            asked.append(seconds)
            self.action = position.actions()[0]
            yield Choice(self.action, 0.0)

    say = client(mind=Timed(load_game("go:size=5")))
    say("genmove b", "time_settings 60 0 0", "genmove w", "time_left b 6 0", "genmove b",
        "kgs-time_settings byoyomi 0 2 5", "genmove w", "time_settings 0 1 0",
        "genmove b")  # fmt: skip
    assert asked[0] is None
    assert asked[4] is None
    assert 3 < asked[1] < 8
    assert asked[2] == pytest.approx(asked[1] / 10, rel=0.3)
    assert 1.5 < asked[3] < 2
