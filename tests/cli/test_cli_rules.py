"""The commands that look at rules: games, agents, show, perft, check."""

import re
from pathlib import Path

import pytest

from randori.games.compile_errors import complaint

HEX = Path(__file__).parents[2] / "examples" / "hex.py"


def test_games(randori):
    rows = {row["name"]: row for row in randori("games", "--json").json}
    assert rows["othello"] == {
        "name": "othello", "title": "Othello", "options": {"size": 8}, "board": [8, 8],
        "actions": 65, "choices": {},
    }  # fmt: skip
    shown = randori("games").out
    assert "othello:size=8" in shown
    assert "my_game.py" in shown


def test_agents(randori):
    rows = {row["name"]: row for row in randori("agents", "--json").json}
    assert rows["uct"]["options"]["simulations"] == 100
    assert all(row["help"] for row in rows.values())
    assert "az:RUN" in randori("agents").out


def test_show(randori):
    answer = randori("show", "tictactoe", "--moves", "b2 a1", "--json")
    assert answer.json == {
        "game": "tictactoe", "position": "o../.x./... x", "to_move": "first",
        "legal": ["b1", "c1", "a2", "c2", "a3", "b3", "c3"], "outcome": None, "ply": 2,
    }  # fmt: skip
    shown = randori("show", "tictactoe", "--position", "o../.x./... x", "--moves", "c3").out
    assert shown.splitlines() == [
        "  a b c", "1 o . .", "2 . x .", "3 . .(x)",
        "position: o../.x./..x o", "to move: second (o)",
        "legal: b1 c1 a2 c2 a3 b3", "outcome: none yet",
    ]  # fmt: skip


def test_show_tells_the_outcome(randori):
    answer = randori("show", "tictactoe", "--moves", "a1 a2 b1 b2 c1", "--json")
    assert answer.json["outcome"] == "first"
    assert answer.json["legal"] == []


def test_show_draws_a_file(randori):
    assert randori("show", "othello", "--svg", "board.svg").code == 0
    assert Path("board.svg").read_text().startswith("<svg")


def test_perft(randori):
    answer = randori("perft", "connect4", "4", "--json").json
    assert answer["game"] == "connect4"
    assert (answer["depth"], answer["nodes"]) == (4, 2401)
    assert answer["seconds"] > 0
    assert answer["nodes_per_s"] > 0
    assert "2401 nodes" in randori("perft", "connect4", "4").out


def test_perft_from_a_position(randori):
    answer = randori("perft", "tictactoe", "2", "--position", "xox/oxo/.x. o", "--json")
    assert answer.json["nodes"] == 2
    assert randori("perft", "tictactoe", "0", "--json").json["nodes"] == 1
    assert randori("perft", "tictactoe", "0").out == "tictactoe depth 0: 1 node\n"


def test_check(randori):
    report = randori("check", "tictactoe", "--games", "3", "--json").json
    assert report["games"] == 3
    assert report["laws"]["compiled"] > 0
    assert "every law holds" in randori("check", "tictactoe", "--games", "3").out


def test_check_says_what_limits_its_games(randori):
    shown = randori("check", "tictactoe", "--games", "3000").out
    assert re.search(r"tictactoe: \d+ games of 3000 \(600 plies are enough\), 6\d\d plies", shown)


def test_your_own_file_is_a_game(randori):
    answer = randori("show", f"{HEX}:size=3", "--moves", "b2", "--json")
    assert answer.json["position"] == ".../.x./... o"


def test_file_that_breaks_a_law(randori):
    Path("bad.py").write_text(HEX.read_text().replace("state[PLY] += U1", "state[PLY] += U1 + U1"))
    complaint = randori("check", "bad.py:size=3").complaint
    assert "law 'plies'" in complaint
    assert "position" in complaint
    assert "expected 1, found 2" in complaint


def test_file_that_numba_refuses_is_still_one_line(randori):
    source = HEX.read_text().replace("    return count\n", "    return sorted([count])[0]\n")
    Path("bad.py").write_text(source)
    line = 1 + source.splitlines().index("    return sorted([count])[0]")
    where = f"bad.py, line {line}, in legal: Numba wants"
    complaint = randori("check", "bad.py:size=3").complaint
    assert "law 'compiled'" in complaint
    assert where in complaint
    assert randori("perft", "bad.py:size=3", "2").complaint.startswith(where)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("    return count\n", ""),
        ("    return count\n", "    return 'count'\n"),
        ("    return ONGOING\n", "    return None\n"),
        ("            return FIRST\n", "            return None\n"),  # found out when x wins
    ],
)
def test_wrong_answers_are_the_authors_fault_though_our_code_stumbles(randori, right, wrong):
    Path("bad.py").write_text(HEX.read_text().replace(right, wrong))
    answer = randori("stats", "bad.py:size=3", "--games", "30")
    assert answer.complaint == (
        "the kernels of bad.py do not fit together: `randori check bad.py` says why"
    )
    assert "expected a whole number" in randori("check", "bad.py:size=3").complaint


OUT_OF_RANGE = "    state[:] = 0\n", "    state[99] = 0\n"


@pytest.mark.parametrize(
    "line",
    ["show", "play --against random", "match random random -n 2", "explore --agent uct",
     "tournament random greedy --rounds 1", "tournament random greedy --rounds 1 --jobs 2"],
)  # fmt: skip
def test_kernels_that_index_out_of_range_are_the_authors_fault(randori, line):
    source = HEX.read_text()
    assert OUT_OF_RANGE[0] in source
    Path("bad.py").write_text(source.replace(*OUT_OF_RANGE))
    number = 1 + Path("bad.py").read_text().splitlines().index(OUT_OF_RANGE[1].strip("\n"))
    word, *rest = line.split()
    answer = randori(word, "bad.py:size=3", *rest)
    said = answer.err.splitlines()[-1]
    assert answer.code == 2
    assert said.startswith(f"randori: bad.py, line {number}, in start: IndexError: index ")
    assert said.endswith("; `randori check bad.py` tells more")
    assert "Traceback" not in answer.err


def test_a_compile_error_of_ours_is_nobody_elses():
    from numba.core.errors import TypingError

    assert complaint(TypingError("no place"), None) == ""
    assert complaint(TypeError("expected int64, got None"), None) == ""
    assert complaint(TypeError("expected a string, got None of it"), HEX) == ""
    assert "hex.py do not fit" in complaint(TypeError("expected int64, got None"), HEX)


@pytest.mark.parametrize(
    "line",
    ["explore foo", "show foo", "train foo", "match foo random random", "play foo", "stats foo",
     "perft foo 2", "check foo", "bench perft foo", "exam foo connect4",
     "scaling foo --agent uct --against random", "tournament foo random greedy"],
)  # fmt: skip
def test_a_game_like_no_other_is_no_guess(randori, line):
    known = "known: choko, connect4, go, othello, shobu, tictactoe"
    expected = f"there is no game 'foo'; {known}, or a file of your own: my_game.py"
    assert randori(*line.split()).complaint == expected


def test_a_game_whose_ending_was_left_out(randori):
    Path("hex.py").write_text(HEX.read_text())
    assert "did you mean 'hex.py'?" in randori("explore", "hex").complaint


def test_the_helper_is_blamed_that_numba_cannot_read(randori):
    source = HEX.read_text().replace(
        "    return has(", "    with open('/dev/null') as file:\n        pass\n    return has("
    )
    Path("bad.py").write_text(source)
    line = 1 + next(i for i, text in enumerate(source.splitlines()) if "def is_in" in text)
    complaint = randori("perft", "bad.py:size=3", "2").complaint
    assert complaint.startswith(f"bad.py, line {line}, in is_in: ")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("show othelo", "there is no game 'othelo'; did you mean 'othello'?"),
        ("show CONNECT-4", "there is no game 'CONNECT-4'; did you mean 'connect4'?"),
        ("show othello:sise=6", "'othello' has no option 'sise'; did you mean 'size'?"),
        ("show othello:size=7", "othello:size=7: size is 4, 6 or 8, not 7"),
        ("show missing.py", "there is no game file 'missing.py'"),
        ("show tictactoe --moves b9", "illegal move 'b9'; legal: a1"),
        ("show tictactoe --position x..", "tictactoe position 'x..'"),
        ("perft conect4 3", "did you mean 'connect4'?"),
        ("check othelo", "did you mean 'othello'?"),
        ("show tictactoe --svg missing/board.svg", "missing/board.svg"),
    ],
)
def test_bad_input_is_one_line(randori, line, words):
    assert words in randori(*line.split()).complaint
    assert list(Path().iterdir()) == []


def test_stats(randori):
    found = randori("stats", "tictactoe", "--games", "300", "--json").json
    assert found["games"] == 300
    assert found["length"]["low"] < found["length"]["mean"] < found["length"]["high"]
    assert 0.4 < found["first_score"]["low"] < found["first_score"]["high"] < 0.8
    answer = randori("stats", "tictactoe", "--games", "50")
    assert "first player's score" in answer.out
    assert "random moves in" in answer.err
    assert randori("stats", "tictactoe", "--games", "1").code == 2


def test_named_positions_work_everywhere(randori):
    for line in (("show", "shobu"), ("perft", "shobu", "1")):
        answer = randori(*line, "--position", "PUSH_OPTIONS")
        assert answer.code == 0
        assert "86" in answer.out or "a1f1E2" in answer.out
    assert "did you mean 'FIG_1B'?" in randori("show", "shobu", "--position", "FIG1B").complaint
