import json
import re
from pathlib import Path

import pytest

from randori.agents.registry import load_agent
from randori.arena.match import play_match
from randori.errors import UserError
from randori.games.registry import load_game


def test_json_fields(randori):
    answer = randori("match", "tictactoe", "uct:simulations=50", "random", "-n", "20", "--json")
    result = answer.json
    assert {
        "a",
        "b",
        "games",
        "wins",
        "draws",
        "losses",
        "score",
        "elo",
        "elo_low",
        "elo_high",
    } <= (set(result))
    assert (result["a"], result["b"], result["games"]) == ("uct:simulations=50", "random", 20)
    assert result["wins"] + result["draws"] + result["losses"] == 20
    assert result["score"] > 0.7
    assert result["elo_low"] <= result["elo"] <= result["elo_high"]


def test_table(randori):
    answer = randori("match", "tictactoe", "uct:simulations=50", "random", "-n", "20")
    assert "tictactoe: uct:simulations=50 against random, 20 games" in answer.out
    assert "moving second" in answer.out
    assert "Elo +" in answer.out


def test_saved_games(randori):
    answer = randori("match", "tictactoe", "random", "uct", "-n", "4", "--save", "games.jsonl")
    assert answer.code == 0
    records = [json.loads(line) for line in Path("games.jsonl").read_text().splitlines()]
    assert [record["agents"]["first"] for record in records] == ["random", "uct"] * 2
    assert set(records[0]) == {"game", "moves", "result", "agents", "values"}
    for record in records:
        is_uct = [(ply % 2 == 0) == (record["agents"]["first"] == "uct")
                  for ply in range(len(record["moves"]))]  # fmt: skip
        assert [value is not None for value in record["values"]] == is_uct
        shown = randori("show", "tictactoe", "--moves", " ".join(record["moves"]), "--json").json
        assert shown["outcome"] == record["result"] is not None


def test_saved_as_sgf(randori):
    line = ("match", "go:size=5", "random", "random", "-n", "2", "--save")
    assert randori(*line, "games.sgf").code == 0
    assert Path("games.sgf").read_text().count("GM[1]") == 2
    shown = randori("show", "games.sgf", "--game", "2")
    assert "game 2 of 2" in shown.out
    other = randori("match", "othello", "random", "random", "-n", "2", "--save", "games2.sgf")
    assert other.complaint == "--save games2.sgf: SGF is for go; save othello as .jsonl"


def test_repeated_games_are_told(randori, trained):
    agent = f"az:{trained},simulations=4,runtime=torch"
    answer = randori("match", "tictactoe", agent, agent, "-n", "6", "--json")
    assert answer.json["distinct_games"] < 6
    assert "games differ, and the intervals are as wide as of 2; --opening-plies 2" in answer.err
    assert answer.json["effective_games"] == 2.0
    assert randori("match", "tictactoe", "random", "random", "-n", "2", "--json").err == ""


def test_a_file_that_exists_is_kept(randori):
    Path("games.jsonl").write_text("precious")
    answer = randori("match", "tictactoe", "random", "random", "-n", "2", "--save", "games.jsonl")
    assert answer.complaint == "games.jsonl exists already; choose another name"
    assert Path("games.jsonl").read_text() == "precious"


def test_openings_from_a_file(randori):
    Path("book.txt").write_text("b2 a1\nb2 a2\n")
    line = ("match", "tictactoe", "random", "random", "-n", "8", "--openings", "book.txt")
    assert randori(*line, "--save", "games.jsonl").code == 0
    records = [json.loads(line) for line in Path("games.jsonl").read_text().splitlines()]
    begun = [tuple(record["moves"][:2]) for record in records]
    assert begun == [("b2", "a1"), ("b2", "a1"), ("b2", "a2"), ("b2", "a2")] * 2
    found = randori(*line, "--json").json
    assert (found["openings"], found["opening_plies"]) == ("book.txt", 0)


def test_random_plies_come_behind_those_of_a_file(randori):
    Path("book.txt").write_text("b2 a1\n")
    line = ("match", "tictactoe", "random", "random", "-n", "8", "--openings", "book.txt",
            "--opening-plies", "2", "--save", "games.jsonl", "--json")  # fmt: skip
    found = randori(*line).json
    assert (found["openings"], found["opening_plies"]) == ("book.txt", 2)
    records = [json.loads(line) for line in Path("games.jsonl").read_text().splitlines()]
    assert {tuple(record["moves"][:2]) for record in records} == {("b2", "a1")}
    plies = [tuple(record["moves"][2:4]) for record in records]
    assert plies[::2] == plies[1::2]
    assert len(set(plies)) > 1


def test_openings_from_positions_are_replayed(randori):
    position = randori("show", "tictactoe", "--moves", "b2 a1", "--json").json["position"]
    Path("book.txt").write_text(f"{position}\n")
    line = ("match", "tictactoe", "random", "random", "-n", "2", "--openings", "book.txt")
    assert randori(*line, "--save", "games.jsonl", "--store", "a.sqlite").code == 0
    record = json.loads(Path("games.jsonl").read_text().splitlines()[0])
    assert record["position"] == position
    assert randori("show", "games.jsonl", "--json").json["outcome"] == record["result"]


def test_openings_by_an_agent(randori):
    line = ("match", "tictactoe", "random", "uct", "-n", "4", "--opening-agent", "uct")
    assert randori(*line, "--json").json["opening_plies"] == 6
    assert randori(*line, "--opening-plies", "1", "--json").json["opening_plies"] == 1
    complaint = randori(*line[:-1], "random").complaint
    assert complaint == (
        "agent 'random' has no visits or priors to draw openings from; uct, az and policy have"
    )
    for agent in ("alphabeta:depth=2", "minimax:depth=1"):
        assert "no visits or priors" in randori(*line[:-1], agent).complaint
    assert "no visits or priors" in randori("match", "connect4", "random", "random", "-n", "2",
                                            "--opening-agent", "solver").complaint  # fmt: skip


def test_openings_by_a_network_without_search(randori, trained):
    line = ("match", "tictactoe", "random", "random", "-n", "4", "--opening-agent",
            f"policy:{trained},runtime=torch", "--opening-plies", "2", "--json")  # fmt: skip
    found = randori(*line).json
    assert (found["opening_plies"], found["openings"]) == (2, None)
    assert found["opening_agent"].startswith("policy:")


def test_a_store_keeps_the_games(randori):
    line = ("match", "tictactoe", "random", "uct:simulations=5", "-n", "6", "--store", "a.sqlite")
    first, again = randori(*line, "--json").json, randori(*line, "--seed", "1", "--json").json
    rows = randori("ratings", "tictactoe", "--store", "a.sqlite", "--json").json
    mine = next(row for row in rows if row["agent"] == "random")
    assert mine["games"] == 12
    assert mine["wins"] == first["wins"] + again["wins"]
    assert mine["draws"] == first["draws"] + again["draws"]


def test_sprt(randori):
    line = ("match", "tictactoe", "uct:simulations=50", "random", "-n", "2000", "--sprt", "0,100")
    found = randori(*line, "--json").json
    assert found["games"] < 200
    assert found["sprt"]["verdict"] == "elo1"
    assert found["sprt"]["llr"] > found["sprt"]["upper"] > 0 > found["sprt"]["lower"]
    assert 2 * sum(found["sprt"]["pentanomial"]) == found["games"]
    assert "Elo +100 is taken" in randori(*line).out
    short = ("match", "tictactoe", "random", "random", "-n", "10", "--sprt", "0,5")
    assert randori(*short, "--json").json["sprt"]["verdict"] == "undecided"
    assert "after 5 pairs: undecided" in randori(*short).out


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("tictactoe rndom random", "there is no agent 'rndom'; did you mean 'random'?"),
        ("tictactoe random random -n 0", "a match needs at least 1 game, not 0"),
        (f"tictactoe random random -n {10**20}", f"has at most 1000000 games, not {10**20}"),
        ("tictactoe random random --opening-plies 9", "a game of tictactoe has at most 9 plies"),
        ("connect4 random random --opening-plies 99999999999", "has at most 42 plies"),
        ("tictactoe random random --opening-plies -1", "must not be negative"),
        ("tictactoe random random --save no/folder.jsonl", "there is no folder 'no'"),
        ("tictactoe random", "Missing argument 'B'"),
        ("tictactoe random random --sprt 5", "--sprt '5': expected elo0,elo1"),
        ("tictactoe random random --sprt 5,0", "elo0 must be below elo1"),
        ("tictactoe random random --openings no.txt", "cannot read openings from no.txt"),
        ("tictactoe random random --store no/a.sqlite", "there is no folder 'no'"),
    ],
)
def test_bad_input_is_one_line(randori, line, words):
    assert words in randori("match", *line.split()).complaint
    assert list(Path().iterdir()) == []


def test_sprt_counts_no_repetitions(randori):
    line = ("match", "connect4", "alphabeta:depth=2", "greedy", "-n", "500", "--sprt", "0,100")
    answer = randori(*line[:3], "alphabeta:depth=1", *line[4:])
    assert "after 1 pair: undecided" in answer.out
    assert "31 more pairs repeat others and count for nothing" in answer.out
    assert "games differ" in answer.err


def test_one_game_is_one_game(randori):
    answer = randori("match", "tictactoe", "random", "random", "-n", "1")
    assert "tictactoe: random against random, 1 game\n" in answer.out


def test_who_leaves_stops_the_match(randori):
    """Nothing is stored of a game that nobody has finished."""
    line = ("match", "tictactoe", "human:Ann", "random", "-n", "1", "--store", "a.sqlite")
    answer = randori(*line)
    assert answer.code == 130
    assert "stopped: Ann has left: the input has ended: 0 of 1 game is over" in answer.err
    assert "no games of tictactoe" in randori("ratings", "tictactoe", "--store", "a.sqlite").err
    resigned = randori(*line, stdin="resign\n")
    assert resigned.code == 0
    assert "1 of 1 game was given up: Ann: resigned (1 game)" in resigned.err


@pytest.fixture
def leave_after(leaver, monkeypatch):
    """Let the agent `greedy` press Ctrl-C when it has moved so often."""

    def patch(patience):
        def load(text, game):
            return leaver(text, game, patience) if text == "greedy" else load_agent(text, game)

        monkeypatch.setattr("randori.cli.match.load_agent", load)

    return patch


def test_games_that_are_over_survive_ctrl_c(randori, leave_after):
    leave_after(6)
    line = ("match", "tictactoe", "random", "greedy", "-n", "60", "--seed", "1")
    answer = randori(*line, "--json", "--save", "g.jsonl", "--store", "a.sqlite")
    assert answer.code == 130
    over = answer.json["games"]
    assert 0 < over < 60
    assert answer.err == (
        f"stopped: {over} of 60 games are over; short games end first, so they are no fair sample\n"
    )
    assert len(Path("g.jsonl").read_text().splitlines()) == over
    assert randori("ratings", "tictactoe", "--store", "a.sqlite", "--json").json[0]["games"] == over
    leave_after(6)
    tested = randori(*line, "--sprt", "0,400")
    assert (tested.code, "SPRT" in tested.out) == (130, True)


def test_ctrl_c_before_a_game_is_over_leaves_nothing(randori, leave_after):
    leave_after(0)
    answer = randori("match", "tictactoe", "random", "greedy", "-n", "60", "--save", "g.jsonl")
    assert (answer.code, answer.out) == (130, "")
    assert answer.err == "stopped: 0 of 60 games are over\n"
    assert list(Path().iterdir()) == []


UNWRITABLE = Path("/proc/randori.jsonl")
"""A folder that is there and takes no files, whoever asks."""


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="there is no /proc here")
def test_what_cannot_be_written_is_told_before_the_games(randori, monkeypatch):
    monkeypatch.setattr("randori.cli.match.play_or_stop", None)
    line = ("match", "tictactoe", "random", "random", "-n", "2", "--save", UNWRITABLE)
    assert f"while writing {UNWRITABLE}" in randori(*line).complaint


def test_a_full_disk_leaves_the_result(randori, monkeypatch):
    def refuse(path, text):
        raise UserError(f"disk full while writing {path}")

    monkeypatch.setattr("randori.runs.atomic.write_text", refuse)
    line = ("match", "tictactoe", "random", "random", "-n", "2", "--save", "g.jsonl")
    answer = randori(*line)
    assert answer.code == 2
    assert "moving second" in answer.out
    assert answer.err == "randori: disk full while writing g.jsonl\n"
    scaling = ("scaling", "tictactoe", "--agent", "uct", "--against", "random", "-n", "2",
               "--simulations", "3", "--csv", "s.csv")  # fmt: skip
    answer = randori(*scaling)
    assert (answer.code, "95 % interval" in answer.out) == (2, True)
    assert list(Path().iterdir()) == []


def test_giving_up_at_once_is_no_matter_of_openings(randori):
    line = ("match", "tictactoe", "human", "random", "-n", "1")
    answer = randori(*line, stdin="resign\n")
    assert "given up" in answer.err
    assert "opening" not in answer.err
    assert "opening" not in randori(*line, "--opening-plies", "2", stdin="resign\n").err


def test_openings_that_would_end_the_game_are_told(randori):
    line = ("match", "tictactoe", "random", "random", "-n", "20", "--opening-plies")
    assert re.search(r"note: in \d+ of 20 games an opening of 8 plies would have ended the game",
                     randori(*line, "8").err)  # fmt: skip
    assert "opening" not in randori(*line, "3").err


def test_many_games_are_played_in_parts(monkeypatch):
    game = load_game("tictactoe")
    agents = load_agent("random", game), load_agent("greedy", game)
    whole = play_match(game, *agents, 6, seed=3, opening_plies=2)
    monkeypatch.setattr("randori.arena.match.TOGETHER", 4)
    heard, ended = [], {}
    parts = play_match(
        game, *agents, 7, seed=3, opening_plies=2, on_end=ended.update,
        progress=lambda over, plies: heard.append((over, plies)),
    )  # fmt: skip
    assert [ended[number] for number in range(7)] == parts.games
    assert [one.a_is_first for one in parts.games] == [True, False] * 3 + [True]
    assert [one.begun for one in parts.games[:6]] == [one.begun for one in whole.games]
    assert heard == sorted(heard)
    assert heard[-1] == (7, sum(len(one.moves) - one.opening for one in parts.games))
