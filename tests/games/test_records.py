"""Game records: what is written reads back, and what is wrong is told in one line."""

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from randori.errors import IllegalAction, UserError
from randori.games import load_game
from randori.games.records import GameRecord, read_options, read_records, write_records
from randori.spec import Spec, option_text

HEX = Path(__file__).parents[2] / "examples" / "hex.py"
OWN = """
from typing import Literal
from randori.games.registry import load_game

def game(fast: bool = False, rate: float = 0.5, kind: Literal["a", "b"] = "a", label: str = ""):
    return load_game("tictactoe")
"""
GAMES = ["tictactoe", "connect4:width=5,height=4", "othello:size=6", "choko", "shobu", "go:size=5"]

TIGER = "......../......../..x...../...xx.../...oxx../...o..../......../........ o"

finite = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-5, 5)
records = st.builds(
    GameRecord,
    game=st.sampled_from(["go", "my_game.py", "./a folder/ours.py", "ünknown"]),
    moves=st.just(("a", "b")),
    result=st.sampled_from(["first", "second", "draw", None]),
    options=st.dictionaries(st.text(), st.booleans() | finite | st.text(), max_size=3),
    position=st.text(),
    agents=st.dictionaries(st.sampled_from(["first", "second"]), st.text()),
    values=st.just(()) | st.tuples(finite | st.none(), finite | st.none()),
    extra=st.dictionaries(st.text(), st.lists(finite | st.text()), max_size=2).map(
        lambda extra: {f"my {name}": value for name, value in extra.items()}
    ),
)


@given(records)
@settings(max_examples=100, deadline=None)
def test_json_round_trip(record: GameRecord) -> None:
    line = record.to_json()
    assert "\n" not in line
    assert GameRecord.from_json(line) == record


@pytest.mark.parametrize("spec", GAMES)
def test_random_games_replay(spec: str) -> None:
    game, rng = load_game(spec), random.Random(7)
    position, actions = game.start(), []
    while not position.is_over and len(actions) < 60:
        actions.append(rng.choice(position.actions()))
        position = position.play(actions[-1])
    record = GameRecord.from_actions(game, actions, position.outcome, agents={"first": "random"})
    again = GameRecord.from_json(record.to_json())
    assert again == record
    assert again.spec == game.spec
    assert again.replay()[-1] == position
    assert (again.result, again.position, len(again.moves)) == (
        position.outcome, "", len(actions),
    )  # fmt: skip


def test_the_line_that_is_written() -> None:
    game = load_game("othello:size=6")
    start = game.start().play("d5")
    action = start.parse("c5")
    record = GameRecord.from_actions(
        game, [action], None, start=start, values=(0.5,), extra={"seed": 3}
    )
    assert json.loads(record.to_json()) == {
        "game": "othello", "options": {"size": 6},
        "position": "....../....../..ox../..xx../...x../...... o", "moves": ["c5"],
        "result": None, "values": [0.5], "seed": 3,
    }  # fmt: skip
    assert list(json.loads(record.to_json()))[:3] == ["game", "options", "position"]
    assert record.replay()[-1] == start.play("c5")


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ("", {}),
        ("fast=yes,rate=2", {"fast": True, "rate": 2}),
        ("rate=0.25,kind=b", {"rate": 0.25, "kind": "b"}),
        ("rate=1e-05", {"rate": 1e-05}),
        ("label=007", {"label": "007"}),
        (f"label={10**400}", {"label": f"{10**400}"}),
        ("label=inf,kind=b", {"label": "inf", "kind": "b"}),
    ],
)
def test_options_of_ones_own_file(tmp_path: Path, options: str, found: dict[str, object]) -> None:
    path = tmp_path / "own.py"
    path.write_text(OWN)
    game = load_game(f"{path}:{options}")
    assert read_options(game) == found
    record = GameRecord.from_actions(game, [4, 0], None)
    assert record.game == str(path)
    again = GameRecord.from_json(record.to_json())
    assert again.spec == game.spec
    assert again.replay(game)[-1].text() == "o../.x./... x"


def test_options_are_written_as_specs_have_them() -> None:
    record = GameRecord(
        "go", (), options={"size": 5, "suicide": False, "komi": 0.5, "ko": "simple"}
    )
    assert record.spec == "go:size=5,suicide=no,komi=0.5,ko=simple"
    assert option_text(True) == "yes"
    assert read_options(load_game(record.spec)) == {
        "size": 5, "suicide": False, "komi": 0.5, "ko": "simple",
    }  # fmt: skip
    assert str(Spec("go", None, {})) == GameRecord("go", ()).spec


def test_a_game_from_a_path() -> None:
    game = load_game(f"{HEX}:size=3")
    record = GameRecord.from_actions(game, [4], None)
    assert (record.game, record.options) == (str(HEX), {"size": 3})
    assert record.replay(game)[-1].text() == ".../.x./... o"
    with pytest.raises(UserError, match="rules of your own have to be given along"):
        record.replay()


def test_other_ways_to_write_a_move() -> None:
    game = load_game("othello:size=4")
    rng = random.Random(1)
    while True:
        position, moves = game.start(), []
        while not position.is_over:
            moves.append(rng.choice(position.legal()))
            position = position.play(moves[-1])
        if "pass" in moves:
            break
    plain = GameRecord("othello", tuple(moves), position.outcome, {"size": 4})
    for word in ("--", "PASS", "ps", " pass "):
        other = tuple(word if move == "pass" else move.upper() for move in moves)
        assert replace(plain, moves=other).replay() == plain.replay()
    glued = "".join("--" if move == "pass" else move for move in moves)
    assert game.position(glued) == position


def test_a_result_before_the_end() -> None:
    assert len(GameRecord("tictactoe", ("b2",), "second").replay()) == 2


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (GameRecord("tictactoe", ("b2", "a1", "b2")), "ply 3: illegal move 'b2'; legal: b1 c1"),
        (GameRecord("tictactoe", ("b2", "z9")), "ply 2: illegal move 'z9'; legal: a1"),
        (GameRecord("othello", ("f5", "d6c3")), "ply 2: illegal move 'd6c3'; legal:"),
        (GameRecord("tictactoe", ("a1", "a2", "b1", "b2", "c1", "c2"), "first"),
         "ply 6: 'c2' cannot be played: the game is over (first)"),
    ],
)  # fmt: skip
def test_illegal_moves(record: GameRecord, message: str) -> None:
    with pytest.raises(IllegalAction) as caught:
        record.replay()
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (GameRecord("tictactoe", ("a1", "a2", "b1", "b2", "c1"), "second"),
         "result: second, but the moves end the game with first"),
        (GameRecord("tictactoe", ("a1", "a2", "b1", "b2", "c1"), "draw"),
         "result: draw, but the moves end the game with first"),
        (GameRecord("tictactoes", ()), "there is no game 'tictactoes'"),
        (GameRecord("othello", (), options={"size": 7}), "othello:size=7: size is 4, 6 or 8"),
        (GameRecord("othello", (), options={"size": "big"}), "othello:size: expected a whole"),
        (GameRecord("tictactoe", (), position="x.."), "tictactoe position 'x..'"),
    ],
)  # fmt: skip
def test_records_that_contradict_the_rules(record: GameRecord, message: str) -> None:
    with pytest.raises(UserError) as caught:
        record.replay()
    assert str(caught.value).startswith(message)


WRONG_LINES = [
    ('{"game": "go", "moves": [', "not JSON at column 26: Expecting value"),
    ("hello", "not JSON at column 1: Expecting value"),
    ("[" * 100_000, "not JSON: "),
    ('["go"]', 'expected an object, found ["go"]'),
    ('{"iteration": 3}', "this is no game record: it has no field 'game'"),
    ('{"game": "go"}', "this is no game record: it has no field 'moves'"),
    ('{"game": 3, "moves": []}', "game: expected a name or a path, found 3"),
    ('{"game": " ", "moves": []}', 'game: expected a name or a path, found " "'),
    ('{"game": "go", "moves": "C3"}', 'moves: expected a list of texts, found "C3"'),
    ('{"game": "go", "moves": ["C3", 4]}', 'moves: expected a list of texts, found ["C3", 4]'),
    ('{"game": "go", "moves": [], "options": [1]}', "options: expected an object of texts"),
    ('{"game": "go", "moves": [], "options": {"size": null}}', "options: expected an object of"),
    ('{"game": "go", "moves": [], "options": {"komi": NaN}}', "options: expected an object of"),
    ('{"game": "go", "moves": [], "position": 1}', "position: expected a position text, found 1"),
    ('{"game": "go", "moves": [], "result": "black"}',
     'result: expected "first", "second", "draw" or null, found "black"'),
    ('{"game": "go", "moves": [], "result": ["first"]}', "result: expected"),
    ('{"game": "go", "moves": [], "agents": {"third": "a"}}', "agents: expected an object of"),
    ('{"game": "go", "moves": [], "agents": {"first": 1}}', "agents: expected an object of"),
    ('{"game": "go", "moves": ["C3"], "values": [true]}', "values: expected a list of numbers"),
    ('{"game": "go", "moves": ["C3"], "values": [Infinity]}', "values: expected a list of"),
    (f'{{"game": "go", "moves": ["C3"], "values": [{10**400}]}}', "values: expected a list of"),
    ('{"game": "go", "moves": ["C3"], "values": []}', "values: 0 of them for 1 move"),
    (json.dumps({"game": "go", "moves": [["C3"] * 99]}), "moves: expected a list of"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "message"), WRONG_LINES)
def test_wrong_lines(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "games.jsonl"
    path.write_text(f'{{"game": "tictactoe", "moves": []}}\n\n{line}\n')
    found = read_records(path)
    assert next(found) == GameRecord("tictactoe", ())
    with pytest.raises(UserError) as caught:
        next(found)
    assert str(caught.value).startswith(f"{path}, line 3: {message}")
    assert len(str(caught.value)) < len(str(path)) + 180


@pytest.mark.parametrize(
    "name", ["own.py", "own.py:", "own.py ", " own.py", "own.py:a=1", "./own.py"]
)
def test_a_record_never_runs_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("own.py").write_text("open('ran', 'w')\n")
    with pytest.raises(UserError):
        GameRecord.from_json(json.dumps({"game": name, "moves": []})).replay()
    with pytest.raises(UserError):
        GameRecord(name, ()).replay()
    assert not Path("ran").exists()


def test_a_result_may_be_left_to_the_moves() -> None:
    line = '{"game": "tictactoe", "moves": ["a1", "a2", "b1", "b2", "c1"]}'
    assert GameRecord.from_json(line).replay()[-1].outcome == "first"


@pytest.mark.parametrize("suffix", [".jsonl", ".JSONL", ""])
def test_files_that_are_no_text(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"games{suffix}"
    path.write_bytes(b"\x89PNG\r\n\x1a\n")
    with pytest.raises(UserError, match="line 1: not UTF-8"):
        list(read_records(path))
    with pytest.raises(UserError, match=r"cannot read .*: No such file or directory"):
        list(read_records(tmp_path / f"missing{suffix}"))
    with pytest.raises(UserError, match=r"cannot read .*: Is a directory"):
        list(read_records(tmp_path))


def test_a_file_of_records(tmp_path: Path) -> None:
    games = [GameRecord("tictactoe", ("b2", "a1")[:n], extra={"note": "Zug → €"}) for n in range(3)]
    path = tmp_path / "games.jsonl"
    path.write_text(write_records(games))
    assert list(read_records(path)) == games
    path.write_bytes(b"\xef\xbb\xbf" + write_records(games).replace("\n", "\r\n").encode())
    assert list(read_records(path)) == games
    assert write_records([]) == ""


@pytest.mark.parametrize(
    ("spec", "moves", "text"),
    [
        ("connect4", "4433", "......./......./......./......./..oo.../..xx... x"),
        ("othello", "f5d6c3", TIGER),
        ("othello", "F5D6c3", TIGER),
        ("othello:size=6", "d5c5", "....../....../..ox../..ox../..ox../...... x"),
    ],
)  # fmt: skip
def test_moves_without_spaces(spec: str, moves: str, text: str) -> None:
    game = load_game(spec)
    assert game.position(moves).text() == text
    record = GameRecord.from_actions(game, [], None, start=game.position(moves))
    assert record.replay()[-1].text() == text


@pytest.mark.parametrize(
    ("spec", "moves", "message"),
    [
        ("connect4", "44a3", "character 3: 'a' is no column from 1 to 7"),
        ("connect4:width=5", "446", "character 3: '6' is no column from 1 to 5"),
        ("connect4", "4444444", "move 7: illegal move '4'; legal: 1 2 3 5 6 7"),
        ("othello", "f5d9", "character 3: 'd9' is neither a cell nor a pass (--)"),
        ("othello", "f5d", "character 3: 'd' is neither a cell nor a pass (--)"),
        ("othello", "f5--", "move 2: illegal move 'pass'; legal:"),
        ("othello:size=6", "d5h8", "move 2: illegal move 'h8'; legal:"),
    ],
)
def test_wrong_moves_without_spaces(spec: str, moves: str, message: str) -> None:
    with pytest.raises(UserError) as caught:
        load_game(spec).position(moves)
    assert f"position {moves!r}: {message}" in str(caught.value)


@pytest.mark.parametrize("size", [4, 6, 8])
def test_obf(size: int) -> None:
    game, rng = load_game(f"othello:size={size}"), random.Random(size)
    position = game.start()
    while not position.is_over:
        written = game.formats["obf"](position.state)
        assert len(written) == size * size + 3
        assert game.position(written).text() == position.text()
        assert game.position(f"{written} f5:+2; d6:-4;").text() == position.text()
        position = position.play(rng.choice(position.legal()))
    start = "-" * 27 + "OX" + "-" * 6 + "XO" + "-" * 27
    assert load_game("othello").position(f"{start} X; f5:+2;") == load_game("othello").start()
    assert load_game("othello").formats["obf"](load_game("othello").new_state()) == f"{start} X;"
