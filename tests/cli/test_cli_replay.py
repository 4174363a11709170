"""`randori show` with files of games, and the formats that it writes."""

import json
from pathlib import Path

import pytest

from randori.games.records import GameRecord, write_records

WON = GameRecord(
    "tictactoe", ("b2", "a1", "c1", "a3", "a2", "c2", "b1", "b3", "c3"), "draw",
    agents={"first": "uct", "second": "az:runs/mine,simulations=9"},
    values=(0.125, None, -1, 0, None, None, 0.5, 0.5, 0.0), extra={"seed": 7},
)  # fmt: skip
GAMES = [
    WON,
    GameRecord("othello", ("f5", "D6", "c3"), "second"),
    GameRecord("tictactoe", ("a1",), position="x../.../... x"),
    GameRecord("tictactoe", ("a1", "a1")),
    GameRecord("tictactoe", ("c3",), position="xo./.../x.. o"),
]
START = "-" * 27 + "OX" + "-" * 6 + "XO" + "-" * 27


@pytest.fixture
def games(randori) -> str:
    """Write a file of games; the third and the fourth are broken."""
    Path("games.jsonl").write_text(write_records(GAMES))
    return "games.jsonl"


def test_a_game_is_replayed(randori, games):
    assert randori("show", games).out.splitlines() == [
        "tictactoe, game 1 of 5",
        "first (x): uct",
        "second (o): az:runs/mine,simulations=9",
        "result: draw, 9 plies",
        "1. b2 (+0.12) a1  2. c1 (-1.00) a3 (+0.00)  3. a2 c2  4. b1 (+0.50) b3 (+0.50)",
        "5. c3 (+0.00)",
        "",
        "  a b c", "1 o x x", "2 x x o", "3 o o(x)",
        "position: oxx/xxo/oox o", "legal: none", "outcome: draw",
    ]  # fmt: skip


def test_a_position_of_a_game(randori, games):
    lines = randori("show", games, "--game", "2", "--ply", "1").out.splitlines()
    assert lines[:5] == [
        "othello, game 2 of 5", "result: second wins before the end, 3 plies", "1. f5 D6  2. c3",
        "", "after 1 of 3 plies:",
    ]  # fmt: skip
    assert "outcome: none yet" in lines
    assert "(x)" in lines[10]
    assert "(" not in "".join(randori("show", games, "--ply", "0").out.splitlines()[-8:-4])


def test_every_board(randori, games):
    lines = randori("show", games, "--game", "5", "--boards").out.splitlines()
    assert lines == [
        "tictactoe, game 5 of 5", "result: unfinished, 1 ply", "1. … c3", "",
        "ply 0: start", "  a b c", "1 x o .", "2 . . .", "3 x . .", "",
        "ply 1: c3", "  a b c", "1 x o .", "2 . . .", "3 x .(o)", "",
    ]  # fmt: skip


def test_json(randori, games):
    found = randori("show", games, "--ply", "2", "--json").json
    assert found == json.loads(WON.to_json()) | {
        "position": "o../.x./... x", "to_move": "first", "outcome": None, "ply": 2,
        "legal": ["b1", "c1", "a2", "c2", "a3", "b3", "c3"],
    }  # fmt: skip
    found = randori("show", games, "--game", "5", "--json").json
    assert (found["start"], found["position"]) == ("xo./.../x.. o", "xo./.../x.o x")


def test_the_shown_position_is_drawn(randori, games):
    assert randori("show", games, "--ply", "1", "--svg", "one.svg").code == 0
    assert randori("show", "tictactoe", "--moves", "b2", "--svg", "two.svg").code == 0
    assert Path("one.svg").read_text() == Path("two.svg").read_text()


def test_what_a_match_saves_can_be_shown(randori):
    line = "match othello:size=4 random random -n 3 --save saved.jsonl"
    assert randori(*line.split()).code == 0
    for number in range(1, 4):
        shown = randori("show", "saved.jsonl", "--game", str(number), "--json").json
        assert shown["outcome"] == shown["result"] is not None
        assert shown["agents"] == {"first": "random", "second": "random"}
        glued = randori("show", "saved.jsonl", "--game", str(number), "--format", "moves").out
        again = randori("show", "othello:size=4", "--moves", glued.strip(), "--json").json
        assert again["position"] == shown["position"]


@pytest.mark.parametrize(
    ("line", "written"),
    [
        ("games.jsonl --format moves", " ".join(WON.moves)),
        ("games.jsonl --format jsonl", WON.to_json()),
        ("games.jsonl --game 2 --format moves", "f5D6c3"),
        ("games.jsonl --game 2 --ply 0 --format obf", f"{START} X;"),
        ("othello --format obf", f"{START} X;"),
        ("othello:size=4 --moves b1a1 --format obf", "OX---OX--XO----- X;"),
        ("othello --moves f5D6,c3 --format moves", "f5d6c3"),
        ("connect4 --moves 443 --format jsonl",
         '{"game": "connect4", "moves": ["4", "4", "3"], "result": null}'),
        ("connect4 --position 44 --moves 3 --format moves", "3"),
    ],
)  # fmt: skip
def test_formats(randori, games, line, written):
    assert randori("show", *line.split()).out == f"{written}\n"


def test_glued_moves_and_obf_positions(randori):
    spaced = randori("show", "othello", "--moves", "f5 d6 c3").out
    assert randori("show", "othello", "--moves", "F5d6c3").out == spaced
    assert randori("show", "othello", "--position", "f5d6", "--moves", "c3").out == spaced
    obf = randori("show", "othello", "--moves", "f5d6c3", "--format", "obf").out
    assert (
        randori("show", "othello", "--position", f"{obf.strip()} e3:+2;", "--json").json["position"]
        in spaced
    )
    assert randori("show", "connect4", "--position", "4433", "--json").json["ply"] == 4


def test_sgf_there_and_back(randori):
    Path("game.sgf").write_text(
        "(;GM[1]SZ[5]KM[0.5]PB[Ann]RE[B+R];B[cc]C[value 0.5](;W[bb];B[])(;W[aa]))"
    )
    shown = randori("show", "game.sgf").out.splitlines()
    assert shown[:4] == [
        "go:size=5, game 1 of 1", "first (x): Ann", "result: first wins before the end, 3 plies",
        "1. C3 (+0.50) B4  2. pass",
    ]  # fmt: skip
    written = randori("show", "game.sgf", "--format", "sgf").out
    Path("again.sgf").write_text(written)
    assert randori("show", "again.sgf", "--format", "sgf").out == written
    assert randori("show", "again.sgf", "--json").out == (
        randori("show", "game.sgf", "--json").out.replace('{"RE": "B+R"}',
                                                         '{"RE": "B+R", "RU": "Tromp-Taylor"}')
    )  # fmt: skip
    line = randori("show", "game.sgf", "--format", "jsonl").out
    Path("game.jsonl").write_text(line)
    assert randori("show", "game.jsonl", "--format", "sgf").out == written


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("games.jsonl --game 6", "--game 6: games.jsonl holds 5"),
        ("games.jsonl --game 0", "Invalid value for '--game'"),
        ("games.jsonl --ply 10", "--ply 10: the game has 9 plies"),
        ("games.jsonl --ply -1", "Invalid value for '--ply'"),
        ("games.jsonl --game 3", "games.jsonl, game 3: tictactoe position 'x../.../... x'"),
        ("games.jsonl --game 4", "games.jsonl, game 4: ply 2: illegal move 'a1'; legal: b1"),
        ("games.jsonl --format pgn",
         "--format: tictactoe has no format 'pgn'; known: jsonl, moves"),
        ("games.jsonl --game 2 --format sgf",
         "--format: othello has no format 'sgf'; known: jsonl, moves, obf"),
        ("go:size=5 --format obf", "--format: go has no format 'obf'; known: jsonl, moves, sgf"),
        ("games.jsonl --format moves --ply 2", "--ply does not go with --format moves, which"),
        ("games.jsonl --json --boards", "--boards and --json do not go together"),
        ("games.jsonl --boards --ply 2", "--boards and --ply do not go together"),
        ("games.jsonl --json --format moves", "--json and --format do not go together"),
        ("games.jsonl --moves b2", "--position and --moves go with a game, not with a file"),
        ("games.jsonl --position start", "--position and --moves go with a game, not with a file"),
        ("tictactoe --game 1", "--game goes with a file of games (.jsonl, .sgf)"),
        ("missing.jsonl", "cannot read missing.jsonl: No such file or directory"),
        ("missing.sgf", "cannot read missing.sgf: No such file or directory"),
        ("othello --moves f5q7", "--moves 'f5q7': character 3: 'q7' is neither a cell nor a pass"),
        ("connect4 --moves 44448888", "--moves '44448888': character 5: '8' is no column from 1"),
    ],
)  # fmt: skip
def test_bad_input_is_one_line(randori, games, line, words):
    assert words in randori("show", *line.split()).complaint


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("empty.jsonl", b"", "empty.jsonl holds no game"),
        ("metrics.jsonl", b'{"iteration": 1}\n', "metrics.jsonl, line 1: this is no game record"),
        ("cut.jsonl", WON.to_json().encode()[:-9], "cut.jsonl, line 1: not JSON at column"),
        ("image.jsonl", b"\x89PNG\r\n", "image.jsonl, line 1: not UTF-8 text (byte 1)"),
        ("chess.sgf", b"(;GM[3])", "chess.sgf, game 1: GM[3] is another game"),
        ("wrong.sgf", b"(;SZ[9]\n;B[aa];W[aa])", "wrong.sgf, game 1: ply 2: illegal move 'A9'"),
    ],
)
def test_files_that_are_no_games(randori, name, content, words):
    Path(name).write_bytes(content)
    assert words in randori("show", name).complaint


def test_games_of_ones_own_need_their_rules(randori):
    hex_file = str(Path(__file__).parents[2] / "examples" / "hex.py")
    saved = randori(
        "match", f"{hex_file}:size=3", "random", "random", "-n", "2", "--save", "h.jsonl"
    )
    assert saved.code == 0
    refused = randori("show", "h.jsonl")
    assert refused.complaint.endswith(f"if you trust that file, add --rules {hex_file}:size=3")
    assert "outcome:" in randori("show", "h.jsonl", "--rules", f"{hex_file}:size=3").out
    wrong = randori("show", "tictactoe", "--rules", "tictactoe")
    assert wrong.complaint == "--rules goes with a file of games (.jsonl, .sgf)"


@pytest.mark.parametrize(
    ("game", "moves"),
    [
        ("choko", "C3 C4 B3 D4 C3xC5,D4"),
        ("choko", "c3,c4,b3, d4 ,c3xc5,d4"),
        ("othello", "f5,d6,c3"),
        ("othello", "f5 d6, c3"),
    ],
)
def test_commas_between_moves_and_inside(randori, game, moves):
    answer = randori("show", game, "--moves", moves, "--json")
    assert answer.json["ply"] == {"choko": 5, "othello": 3}[game]
