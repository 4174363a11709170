"""SGF: what other programs write is read, and what is written here reads back."""

import random
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from randori.errors import UserError
from randori.games import load_game
from randori.games.records import GameRecord, read_records
from randori.games.sgf import read_result, read_rules, read_sgf, write_sgf
from randori.games.sgf_syntax import main_lines, simple_text, wrap, write_property

SAMPLE = r"""From: a friend
Here are two games :-)

(;GM[1]FF[4]CA[UTF-8]AP[Some Editor:1.2]ST[2]
SZ[9]KM[6.5]HA[2]RU[AGA]
PB[Ann \[3 kyu\]]PW[Bob \\ "the
wall"]DT[2024-02-29]EV[Spring \
Cup]RE[W+Resign]
AB[gc]
[cg]AW[cc:dd]AE[dd]PL[W]C[Set up: a rectangle
less one stone.]
;W[ee]C[value -0.25 (says the engine; not B[aa\])]N[first]
 ( ;B[ge]LB[ee:1][ge:2]
   ( ;W[]C[a pass]
     ;B[tt]BL[12.5]OB[3]
     ;W[gg] )
   ( ;W[aa] (;B[ab]) (;B[ba];W[bb]) ) )
 ( ;B[aa]C[a worse \) one ;\] here] )
)
(;GaMe[1]SiZe[5]KoMi[0];Black[cc];White[bb];Black[bc])
"""
START = "........./........./..oo..x../..o....../........./........./..x....../........./........."


def test_a_file_of_another_program(tmp_path: Path) -> None:
    path = tmp_path / "games.SGF"
    path.write_bytes(b"\xef\xbb\xbf" + SAMPLE.encode())
    first, second = read_records(path)
    assert first == GameRecord(
        "go",
        ("E5", "G5", "pass", "pass", "G3"),
        "second",
        {"komi": 6.5, "ko": "situational", "suicide": False},
        f"{START} w",
        {"first": "Ann [3 kyu]", "second": 'Bob \\ "the wall"'},
        (-0.25, None, None, None, None),
        {"sgf": {"RE": "W+Resign", "RU": "AGA", "HA": "2", "DT": "2024-02-29", "EV": "Spring Cup"}},
    )
    assert second == GameRecord("go", ("C3", "B4", "B3"), options={"size": 5, "komi": 0})
    assert second.replay()[-1].text() == "...../.o.../.xx../...../..... w"
    with pytest.raises(UserError, match="ply 5: 'G3' cannot be played: the game is over"):
        first.replay()


def test_main_line_of_deep_variations() -> None:
    depth = 50_000
    text = "(;B[aa]" * depth + ")" * depth
    [line] = main_lines(text + "\n\n")
    assert len(line) == depth
    branching = "(;GM[1](;B[aa](;W[bb])(;W[cc](;B[dd])(;B[ee])))(;B[ff]))"
    assert main_lines(branching) == [[{"GM": ["1"]}, {"B": ["aa"]}, {"W": ["bb"]}]]


@pytest.mark.parametrize(
    ("written", "value"),
    [
        (r"a\]b", "a]b"),
        (r"a\\", "a\\"),
        (r"a\:b", "a:b"),
        ("a\\\nb", "ab"),
        ("a\\\r\nb", "ab"),
        ("a\\\\\nb", "a\\\nb"),
        ("two\nlines", "two\nlines"),
        ("", ""),
    ],
)
def test_escapes(written: str, value: str) -> None:
    assert main_lines(f"(;C[{written}])") == [[{"C": [value]}]]


@given(st.text(st.characters(exclude_categories=["Cs"])))
@settings(max_examples=60, deadline=None)
def test_texts_read_back(text: str) -> None:
    text = simple_text(text)
    written = wrap(["(;GM[1]", write_property("PB", text), ")"])
    assert max(map(len, written.split("\n"))) < 80
    assert main_lines(written) == [[{"GM": ["1"], "PB": [text]}]]


@pytest.mark.parametrize("text", ["x" * 300, "]" * 300, "\\" * 301, "word " * 80 + "."])
def test_long_texts_are_broken_softly(text: str) -> None:
    written = wrap(["(;GM[1]", write_property("PB", text), ";B[aa]", ")"])
    assert max(map(len, written.splitlines())) < 80
    assert main_lines(written)[0][0]["PB"] == [text]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "this is no SGF: no game begins with '(;'"),
        ('{"game": "go"}', "this is no SGF: no game begins with '(;'"),
        ("(;GM[1]\n;B[aa]\n;W[bb", "line 3: expected a property with its [value], found 'W[bb'"),
        ("(;GM[1]\n\n;B;W[aa])", "line 3: expected a property with its [value], found 'B;W[aa])'"),
        ("(;GM[1]))", "line 1: ')' outside of a game tree"),
        ("(;GM[1]) ;B[aa]", "line 1: ';' outside of a game tree"),
        ("(;GM[1]()(;B[aa]))", "line 1: an empty game tree"),
        ("(;GM[1]((;B[aa])))", "line 1: a game tree begins with a node ';'"),
        ("(;GM[1](B[aa]))", "line 1: 'B' outside of a node sequence"),
        ("(;GM[1](;B[aa])\n;B[aa])", "line 2: ';' outside of a node sequence"),
        ("(;GM[1](;B[aa])\nC[x])", "line 2: 'C' outside of a node sequence"),
        ("(;[aa])", "line 1: expected a property with its [value], found '[aa])'"),
    ],
)
def test_wrong_syntax(text: str, message: str) -> None:
    with pytest.raises(UserError) as caught:
        list(read_sgf(text, "a.sgf"))
    assert str(caught.value) == f"a.sgf, {message}"


@pytest.mark.parametrize(
    ("root", "message"),
    [
        ("GM[2]", "GM[2] is another game; only Go, GM[1], is read"),
        ("SZ[9:13]", "SZ[9:13]: only square boards can be read"),
        ("SZ[nine]", "SZ[nine] is no number of lines"),
        ("SZ[25]", "go:size=25: size goes from 2 to 19, not 25"),
        ("KM[six]", "KM[six] is no number"),
        ("KM[nan]", "go:komi: expected a number, found 'nan'"),
        ("KM[3.8]", "go:size=19,komi=3.8: komi is a multiple of 0.5 up to 1000, not 3.8"),
        ("PL[x]", "PL[X]: expected B or W"),
        ("SZ[9]AB[jj]", "AB[jj] is no point of a board of 9"),
        ("SZ[9]AB[aa:jj]", "AB[jj] is no point of a board of 9"),
        ("SZ[9]AB[]", "AB[] is no point of a board of 9"),
        ("SZ[9];B[abc]", "B[abc] is no point of a board of 9"),
        ("SZ[9];B[AA]", "B[AA] is no point of a board of 9"),
        ("SZ[9];B[aa];AW[bb]", "AW behind the first move: stones are set up before it only"),
        ("SZ[2]AB[aa:bb]", "go position 'xx/xx w': the chain at A2 has no liberty"),
    ],
)
def test_wrong_games(root: str, message: str) -> None:
    with pytest.raises(UserError) as caught:
        list(read_sgf(f"(;GM[1])(;{root})", "a.sgf"))
    assert str(caught.value) == f"a.sgf, game 2: {message}"


def moves_of(nodes: str) -> tuple[str, ...]:
    [record] = read_sgf(f"(;SZ[9]{nodes})")
    record.replay()
    return record.moves


def test_moves_out_of_turn_get_a_pass() -> None:
    assert moves_of(";B[aa];B[bb];W[cc]") == ("A9", "pass", "B8", "C7")
    assert moves_of("PL[W];B[aa]") == ("pass", "A9")
    assert moves_of(";W[aa];B[bb]") == ("A9", "B8")
    [record] = read_sgf("(;SZ[9];B[aa]C[value 0.5];B[bb]C[value 1e-05])")
    assert record.values == (0.5, None, 1e-05)


@pytest.mark.parametrize(
    ("root", "side"),
    [("", "first"), ("PL[W]", "second"), ("PL[white]", "second"), ("AB[cc][gg]", "second"),
     ("AB[cc]AW[gg]", "first"), ("AB[cc]PL[B]", "first"), (";W[ee]", "second"),
     ("AB[cc];B[ee]", "first"), (";AB[cc];PL[W]", "second")],
)  # fmt: skip
def test_who_begins(root: str, side: str) -> None:
    [record] = read_sgf(f"(;SZ[9]{root})")
    assert record.replay()[0].to_move == side


@pytest.mark.parametrize(
    ("written", "result"),
    [("B+3.5", "first"), ("W+R", "second"), ("b+resign", "first"), ("W+T", "second"),
     ("B+", "first"), ("W+Forfeit", "second"), ("0", "draw"), ("Draw", "draw"), ("Jigo", "draw"),
     ("Void", None), ("?", None), ("", None), ("Black wins", None)],
)  # fmt: skip
def test_results(written: str, result: str | None) -> None:
    assert read_result(written) == result


@pytest.mark.parametrize(
    ("written", "rules"),
    [("Chinese", ("positional", False)), ("Tromp-Taylor", ("positional", True)),
     ("tromp_taylor", ("positional", True)), ("AGA", ("situational", False)),
     ("New Zealand", ("situational", True)), ("Japanese", ("simple", False)),
     ("koSITUATIONALscoreAREAtaxNONEsui1whbN", ("situational", True)),
     ("koSIMPLEscoreTERRITORYtaxSEKIsui0", ("simple", False)), ("house", None), ("", None)],
)  # fmt: skip
def test_rules(written: str, rules: tuple[str, bool] | None) -> None:
    assert read_rules(written) == rules


def test_the_last_word_is_REs() -> None:
    """Black has the board by our count; the players may have seen dead stones, or say nothing."""
    game = "(;SZ[9]KM[6.5];B[cc];W[];B[ee];W[];B[]{})"
    counted = next(read_sgf("(;SZ[9]KM[6.5];B[cc];W[];B[])"))
    assert (counted.moves, counted.result) == (("C7", "pass", "pass"), "first")
    agreed = next(read_sgf("(;SZ[9]KM[6.5]RE[W+2.5];B[cc];W[];B[])"))
    assert (agreed.moves, agreed.result) == (("C7",), "second")
    assert not agreed.replay()[-1].is_over
    assert "RE[W+2.5]" in write_sgf(agreed)
    unknown = next(read_sgf("(;SZ[9]KM[6.5]RE[?];B[cc]C[value 1];W[];B[])"))
    assert (unknown.moves, unknown.result, unknown.values) == (("C7",), None, (1.0,))
    thrice = next(read_sgf("(;SZ[9]RE[B+73.5];B[cc];W[];B[];W[])"))
    assert (thrice.moves, thrice.result) == (("C7", "pass", "pass"), "first")
    broken = next(read_sgf(game.format(";W[]").replace("B[ee]", "B[cc]")))
    with pytest.raises(UserError, match="ply 3: illegal move 'C7'"):
        broken.replay()


@pytest.mark.parametrize(
    "spec",
    ["go:size=2", "go:size=5", "go:size=7,komi=0", "go:ko=situational", "go:suicide=no",
     "go:ko=situational,suicide=no", "go:ko=simple,suicide=no", "go:ko=simple", "go:size=13"],
)  # fmt: skip
def test_games_read_back(spec: str) -> None:
    game, rng = load_game(spec), random.Random(3)
    start = game.start()
    for _ in range(2):
        position, actions = start, []
        while not position.is_over and len(actions) < 40:
            actions.append(rng.choice(position.actions()))
            position = position.play(actions[-1])
        values = tuple(rng.choice([None, rng.uniform(-1, 1)]) for _ in actions)
        agents = {"first": "az:runs/mine,simulations=200", "second": r"my[agent]:C:\x"}
        record = GameRecord.from_actions(
            game, actions, position.outcome, start=start, values=values, agents=agents
        )
        written = write_sgf(record)
        assert max(map(len, written.splitlines())) < 80
        [again] = read_sgf(written)
        assert replace(again, extra={}) == record
        assert write_sgf(again) == written
        # Then the same from a board that was set up: some moves into a game, nothing barred by ko.
        start = game.position(f"{position.text().split()[0]} w")


def test_what_is_written() -> None:
    moves = ("C3", "pass", "C4", "D4", "pass", "pass")
    record = GameRecord("go", moves, "first", {"size": 5, "komi": 0.5}, agents={"first": "uct"})
    [head, nodes] = write_sgf(replace(record, values=(0.5, *[None] * 5))).splitlines()
    assert head.startswith("(;GM[1]FF[4]CA[UTF-8]AP[Randori:")
    assert head.endswith("]SZ[5]KM[0.5]PB[uct]RU[Tromp-Taylor]")
    assert nodes == "RE[B+0.5];B[cc]C[value 0.5];W[];B[cb];W[db];B[];W[])"
    resigned = write_sgf(GameRecord("go", ("C3",), "second", {"ko": "simple"}))
    assert "RU[koSIMPLEscoreAREAtaxNONEsui1]" in resigned
    assert "RE[W+R]" in resigned
    assert "RE" not in write_sgf(GameRecord("go", ("C3",)))
    assert "RE[0]" in write_sgf(GameRecord("go", ("C3",), "draw"))


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (GameRecord("othello", ("f5",)), "SGF is for go, not for othello"),
        (GameRecord("go", ("C3", "C3")), "ply 2: illegal move 'C3'"),
        (GameRecord("go", (), position=f"{START} b pass"), "SGF has no words for a beginning with"),
    ],
)  # fmt: skip
def test_what_cannot_be_written(record: GameRecord, message: str) -> None:
    with pytest.raises(UserError) as caught:
        write_sgf(record)
    assert str(caught.value).startswith(message)


def test_notes_of_ones_own_are_left_alone() -> None:
    for note in ("text", ["RE"], {"RE": 3, "XX": "no"}):
        written = write_sgf(GameRecord("go", ("C3",), "first", extra={"sgf": note}))
        assert "RE[B+R]" in written
        assert "XX" not in written


@pytest.mark.parametrize(
    ("text", "moves"),
    [("(;GM[1]SZ[9];B[aa];W[bb]", ("A9", "B8")), ("(;SZ[9];B[aa](;W[bb]", ("A9", "B8"))],
)
def test_a_file_without_its_last_bracket(text: str, moves: tuple[str, ...]) -> None:
    [record] = read_sgf(text)
    assert record.moves == moves


@pytest.mark.parametrize(
    ("data", "name"),
    [
        ("(;SZ[9]PB[Jörg])".encode("latin-1"), "Jörg"),
        ("(;SZ[9]CA[Shift_JIS]PB[武宮])".encode("shift-jis"), "武宮"),
        ("(;SZ[9]CA[nonsense]PB[Jörg])".encode("latin-1"), "Jörg"),
        ("\ufeff(;SZ[9]PB[Jörg])".encode(), "Jörg"),
    ],
)
def test_encodings(tmp_path: Path, data: bytes, name: str) -> None:
    (tmp_path / "game.sgf").write_bytes(data)
    [record] = read_records(tmp_path / "game.sgf")
    assert record.agents == {"first": name}


@pytest.mark.parametrize(("written", "komi"), [("3.75", 7.5), ("375", 7.5), ("6.5", 6.5), ("0", 0)])
def test_komi_of_all_sorts(written: str, komi: float) -> None:
    [record] = read_sgf(f"(;SZ[9]KM[{written}])")
    assert record.options.get("komi", 7.5) == komi


def test_long_games_and_other_options_come_back() -> None:
    game = load_game("go:size=5,cap=200,eyes=spare")
    rng, position, actions = random.Random(1), game.start(), []
    for _ in range(80):
        actions.append(rng.choice(position.actions()))
        position = position.play(actions[-1])
        if position.is_over:
            break
    record = GameRecord.from_actions(game, actions, position.outcome)
    [again] = read_sgf(write_sgf(record))
    assert again.options == record.options
    assert again.replay()[-1] == position
    moves = "".join(f";{'BW'[i % 2]}[{'' if i % 2 else 'abcde'[i // 2 % 5] + 'abcde'[i // 10 % 5]}]"
                    for i in range(49))  # fmt: skip
    [foreign] = read_sgf(f"(;SZ[5]{moves};W[];B[];W[ab])")
    assert foreign.options["cap"] == 54


@pytest.mark.parametrize(
    "text", ["(;SZ[9]AB[cc:aa])", "(;SZ[9]AB[aa:bb:cc])", "(;SZ[9]KM[1e308])", "(;SZ[9]KM[nan])"]
)
def test_what_makes_no_sense_is_told(text: str) -> None:
    with pytest.raises(UserError):
        list(read_sgf(text))


def test_values_stay_values() -> None:
    [record] = read_sgf("(;SZ[9];B[aa]C[value 1e999])")
    assert record.values == (1.0,)
