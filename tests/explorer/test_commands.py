"""The explorer as people use it: words in, lines out."""

import re
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from randori.explorer.commands import HELP
from randori.explorer.exploration import FIRST_LINE

from .conftest import Say, make_commands, refusal

Begin = Callable[..., Say]


def rows(text: str) -> list[list[str]]:
    """Split a table, its head included, into cells."""
    return [re.split(r"\s{2,}", line) for line in text.splitlines()]


def test_run_and_list(session: Begin, models: list[str]) -> None:
    say = session("connect4", models[0])
    assert "0 visits" not in say("list")
    assert say("run 50").startswith("simulations: 50 more, 50 in all; ")
    assert say("run").startswith("simulations: 40 more, 90 in all; ")
    head, columns, *found = rows(say("list 3"))
    assert head[0].startswith("x to move, 91 visits, value ")
    assert columns == ["move", "visits", "prior", "Q", "U", "value"]
    visits = [int(row[1]) for row in found[:3]]
    assert visits[1:] == sorted(visits[1:], reverse=True)
    assert head[-1].endswith(f"best {found[0][0]}")
    assert found[3] == ["… and 4 more"]


HINT = "nothing is searched yet: `run` searches\n"


def test_list_says_that_nothing_is_searched_yet(session: Begin, models: list[str]) -> None:
    say = session("connect4", models[0])
    assert say("list").endswith(HINT)
    assert say("run 5", "list")
    assert HINT not in say("list")
    assert session("connect4", "uct")("list").endswith(HINT)
    assert HINT not in session("connect4", "alphabeta:depth=2")("list")
    assert HINT not in session("tictactoe", "uct", "xxx/oo./... o")("list")


def test_a_move_is_no_command(session: Begin) -> None:
    say = session("othello", "uct")
    assert refusal(say, "D3") == "D3 is a move: down D3 goes there"
    assert refusal(say, "Zz9").startswith("there is no command 'Zz9'; ")


def test_list_shows_what_an_agent_knows(session: Begin) -> None:
    assert rows(session("connect4", "uct")("run 90", "list 2"))[1] == ["move", "visits", "Q", "U"]
    alphabeta = session("connect4", "alphabeta:depth=2")
    assert rows(alphabeta("list 2"))[1] == ["move", "nodes", "Q"]
    proven = session("tictactoe", "uct", "xx./oo./... x")("run 90", "list 2")
    assert rows(proven)[2][-1] == "win"


def test_a_solver_counts_nothing(session: Begin) -> None:
    say = session("connect4:width=5,height=4", "solver")
    assert say("run 3").startswith("searched by its own settings; ")
    head, columns, *found = rows(say("list 9"))
    assert re.fullmatch(r"x to move, value \+0.00, proven draw, best \d", head[0])
    assert columns == ["move", "Q", "proven"]
    assert len(found) == 5
    assert say("pv").splitlines()[0].split() == ["move", "side", "Q", "proven"]
    assert "has solved this" in refusal(say, "run 3")
    assert "has solved this" in refusal(say, "run")
    assert "nodes" not in say("compare solver")
    say("tree t.svg 2 2")


def test_what_is_proven_at_once_is_called_so(session: Begin) -> None:
    say = session("shobu", "az:simulations=50", "MATERIAL_ADVANTAGE")
    assert say("run 50").startswith("proven at once; ")
    assert "proven win" in say("list 1")
    assert "b2e5NE2" in say("pv")


def test_more_of_an_agent_without_a_tree(session: Begin) -> None:
    say = session("connect4", "alphabeta:depth=2")
    assert say("run").startswith("searched by its own settings; ")
    assert say("run").startswith("plies: 1 more, 1 in all; ")
    assert re.search(r"\d+ nodes, value", say("run 1"))


def test_down_and_up_stay_in_the_tree(session: Begin) -> None:
    say = session("connect4", "uct")
    say("run 300")
    here = say("list 7")
    visits = {row[0]: row[1] for row in rows(here)[2:]}
    assert f"o to move, {visits['4']} visits" in say("down 4")
    say("down 4 5", "up", "up")
    say("down 3", "up")
    assert f", {visits['4']} visits" in say("list")
    assert say("root", "list 7") == here
    assert "root" in refusal(say, "up")
    assert "illegal move '9'" in refusal(say, "down 4 9")
    assert say("list 7") == here


def test_down_searches_anew_without_a_tree(session: Begin) -> None:
    say = session("connect4", "alphabeta:depth=2")
    assert re.match(r"o to move, \d+ nodes, value ", say("down 4"))
    assert say("list").count("\n") == 9


def test_play_and_undo_keep_each_search(session: Begin) -> None:
    say = session("connect4", "uct")
    before = say("run 200", "list 7")
    assert say("play 4 4") == "played: 4 4\n"
    assert "not searched yet" in say("list")
    deeper = say("run 100", "list 7")
    assert "illegal move 'z'" in refusal(say, "play 1 z")
    assert say("list 7") == deeper
    assert say("undo") == "took 4 back; played: 4\n"
    assert say("undo", "list 7") == before
    assert say("play 4 4 3", "undo 2") == "took 4 3 back; played: 4\n"
    assert refusal(say, "undo 2") == "1 move was played"
    assert say("undo 1", "list 7") == before
    assert "no move was played" in refusal(say, "undo")
    assert say("down 4 5", "play") == "played: 4 5\n"
    assert say("play 12") == "played: 4 5 1 2\n"
    assert "expected play MOVE" in refusal(say, "play")


def test_principal_variation(session: Begin) -> None:
    say = session("tictactoe", "uct", "xx./oo./... x")
    assert "run first" in refusal(say, "pv")
    assert [row[:2] for row in rows(say("run 50", "pv"))] == [["move", "side"], ["c1", "x"]]
    say("down c1")
    assert say("list") == "the game is over: first\n"
    assert "no line" in refusal(say, "pv")
    assert "over" in refusal(say, "net")
    assert "over" in refusal(say, "compare uct")
    say("play")
    assert "over" in refusal(say, "run 5")


def test_net_shows_the_network_alone(session: Begin, models: list[str]) -> None:
    say = session("connect4", models[0])
    first = say("net 7")
    shares = [float(row.split()[1]) for row in first.splitlines()[2:]]
    assert sum(shares) == pytest.approx(100, abs=0.5)
    assert shares == sorted(shares, reverse=True)
    assert say("run 100", "net 7") == first
    assert say("down 4", "net 7") != first
    assert "no network" in refusal(session("connect4", "uct"), "net")
    assert "no network" in refusal(session("connect4", "alphabeta"), "net")


def test_positions(session: Begin) -> None:
    say = session("connect4", "uct")
    assert "x" in say("position 4444")
    assert say("position").endswith("/...o.../...x... x\n")
    text = say("position").strip()
    assert say("position start", f"position {text}", "position").strip() == text
    assert "zzz" in refusal(say, "position zzz")
    shobu = session("shobu", "uct:simulations=5", "PUSH_OPTIONS")
    assert shobu("board").count("\n") == 10


def test_compare_side_by_side(session: Begin, models: list[str]) -> None:
    say = session("connect4", models[0])
    assert "expected compare AGENT" in refusal(say, "compare")
    lines = say(f"compare {models[1]}").splitlines()
    heads = [f"{spec}, searched anew" for spec in models]
    assert [part.strip() for part in lines[0].split("│")] == heads
    assert all(line.count("│") == 1 for line in lines)
    assert len(lines) == 10
    left, right = zip(*(line.split("│") for line in lines[3:]), strict=True)
    assert {one.split()[0] for one in left} == {one.split()[0] for one in right}
    assert left != right
    assert say("compare") == "\n".join([*lines, ""])
    assert "did you mean" in refusal(say, "compare utc")
    assert "nodes" in say("compare alphabeta:depth=2")


def test_compare_shows_the_search_at_hand(session: Begin) -> None:
    say = session("connect4", "uct:simulations=70")
    say("run 200")
    lines = [line.split("│") for line in say("compare uct:simulations=50").splitlines()]
    assert lines[0][0].strip() == "uct:simulations=70, the search at hand"
    assert lines[0][1].strip() == "uct:simulations=50, searched anew"
    assert "200 visits" in lines[1][0]
    assert "50 visits" in lines[1][1]
    assert "200 visits" in say("list")
    below = say("down 4", "compare").splitlines()
    assert "the search at hand" in below[0]
    anew = say("up", "play 4", "compare").splitlines()
    assert "uct:simulations=70, searched anew" in anew[0]
    assert "70 visits" in anew[1]
    assert "not searched yet" in say("list")


def test_a_refused_compare_is_not_remembered(session: Begin, tmp_path: Path) -> None:
    say = session("connect4", "uct")
    assert "there is no agent 'foo'" in refusal(say, "compare foo")
    assert "cannot analyse" in refusal(say, "compare random")
    assert "expected compare AGENT" in refusal(say, "compare")
    say("save e.txt")
    assert "against" not in (tmp_path / "e.txt").read_text()
    say("compare alphabeta:depth=1")
    refusal(say, "compare foo")
    say("save e.txt", "load e.txt")
    assert "alphabeta:depth=1, searched anew" in say("compare")


def test_svg_is_another_word_for_tree(session: Begin, tmp_path: Path) -> None:
    say = session("connect4", "uct")
    say("run 20")
    assert say("svg t.svg 2 2") == "wrote t.svg\n"
    assert "expected tree FILE.svg" in refusal(say, "svg")
    assert "found '２'" in refusal(say, "run ２")


def test_tree_is_drawn(session: Begin, tmp_path: Path) -> None:
    say = session("connect4", "uct")
    say("run 500", "play 4", "run 500", "down 4")
    assert say("tree t.svg 3 2") == "wrote t.svg\n"
    root = ElementTree.parse(tmp_path / "t.svg").getroot()
    names = [child.tag.rpartition("}")[2] for child in root]
    assert names.count("path") == 3 + 9
    assert names.count("rect") == 1 + 1 + 3 + 9
    texts = [child.text for child in root.iter() if child.tag.endswith("text")]
    assert texts[0] == "uct on connect4 after 4 4"
    assert "x to move" in texts
    assert "expected tree FILE.svg" in refusal(say, "tree t.png")
    assert "too many" in refusal(say, "tree t.svg 9 9")
    assert "numbers from 1" in refusal(say, "tree t.svg 0")
    assert "no/such" in refusal(say, "tree no/such/t.svg")
    session("connect4", "alphabeta:depth=2")("tree a.svg 2 2")
    assert (tmp_path / "a.svg").read_text().count("<path") == 2 + 4
    session("connect4", "uct")("tree empty.svg")


def test_save_and_load(session: Begin, tmp_path: Path, models: list[str]) -> None:
    for agent in (models[0], "uct:simulations=30", "alphabeta:depth=2"):
        say = session("connect4", agent, "44")
        say("run 3", "play 4", "run 2", "play 1", "run 4", "down 2 3")
        shown = say("list 7")
        say("save it.txt")
        text = (tmp_path / "it.txt").read_text()
        assert text.startswith(f"{FIRST_LINE}\ngame connect4\nagent {agent}\nseed 0\nposition ")
        assert text.endswith("run 3\nplay 4\nrun 2\nplay 1\nrun 4\ndown 2\ndown 3\n")
        other = session("tictactoe", "uct")
        other("load it.txt")
        assert [row[0] for row in rows(other("list 7"))[1:]] == [r[0] for r in rows(shown)[1:]]
        if "alphabeta" not in agent:  # its table remembers, so it counts other nodes
            assert other("list 7") == shown
        assert other("undo", "undo", "save it.txt") == "wrote it.txt\n"


def test_wrong_files(session: Begin, tmp_path: Path) -> None:
    say = session("tictactoe", "uct")
    before = say("run 20", "list")
    (tmp_path / "model.bin").write_bytes(b"\xff\xfe weights")
    assert "no exploration" in refusal(say, "save model.bin")
    assert "no text" in refusal(say, "load model.bin")
    assert "expected save FILE" in refusal(say, "save")
    for lines, words in {
        "hello": "no exploration",
        "": "no exploration",
        FIRST_LINE: "game",
        f"{FIRST_LINE}\ngame tictactoe\nrun 5": "line 3: expected a line 'agent",
        f"{FIRST_LINE}\ngame tictac\nagent uct\nrun": "line 4: there is no game",
        f"{FIRST_LINE}\ngame tictactoe\nagent uct\nseed x": "whole number",
        f"{FIRST_LINE}\ngame tictactoe\nagent uct\n# why\nplay b2 b2": "line 5: illegal move 'b2'",
        f"{FIRST_LINE}\ngame tictactoe\nagent uct\nplya b2": "did you mean 'play'",
        f"{FIRST_LINE}\ngame tictactoe\nagent uct\nrun fast": "found 'fast'",
    }.items():
        (tmp_path / "bad.txt").write_text(lines)
        assert words in refusal(say, "load bad.txt")
    assert say("list") == before


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("rnu 5", "did you mean 'run'"),
        ("run x", "numbers from 1"),
        ("run -5", "numbers from 1"),
        ("run 5 5", "numbers from 1"),
        (f"run {'9' * 5000}", "numbers from 1"),
        ("run 99999999999", "at most"),
        ("list 0", "numbers from 1"),
        ("down", "expected down MOVE"),
    ],
)
def test_wrong_words(session: Begin, line: str, words: str) -> None:
    assert words in refusal(session("tictactoe", "uct"), line)


def test_help_lists_all_and_nothing_is_nothing(session: Begin) -> None:
    say = session("tictactoe", "uct")
    assert [line.split()[0] for line in say("help").splitlines()] == list(HELP)
    assert say("?") == say("HELP")
    assert "exit" in say("help quit")
    assert say("help up") == f"{'up':21}  back towards the root\n"
    assert say("") == ""


def test_completion(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "one.txt").touch()
    commands = make_commands("tictactoe", "uct")
    assert commands.complete("p") == ["pv", "position", "play"]
    assert commands.complete("play a") == ["a1", "a2", "a3"]
    assert commands.complete("position st") == ["start"]
    assert commands.complete("load o") == ["one.txt"]
    assert commands.complete("board x") == []
    assert "PUSH_OPTIONS" in make_commands("shobu", "uct").complete("position push")
