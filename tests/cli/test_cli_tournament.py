import csv
import json
import os
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from randori.arena.tournament import Plan
from randori.cli.tournament import resume_command
from randori.runs.checkpoint import read_model, write_model

AGENTS = ("random", "uct:simulations=5", "uct:simulations=50")
FIELDS = {"agent", "rating", "low", "high", "games", "score"}


@pytest.fixture
def arena(randori):
    """Play a small tournament; its rows."""
    answer = randori("tournament", "tictactoe", *AGENTS, "-t", "6", "--json")
    assert answer.code == 0, answer.err
    return answer.json


def test_rows(arena):
    assert all(set(row) >= FIELDS for row in arena)
    assert {row["agent"] for row in arena} == set(AGENTS)
    assert {row["games"] for row in arena} == {24}
    ratings = [row["rating"] for row in arena]
    assert ratings == sorted(ratings, reverse=True)
    assert all(row["low"] < row["rating"] < row["high"] for row in arena)
    assert arena[0]["agent"] == "uct:simulations=50"
    assert all(row["wins"] + row["draws"] + row["losses"] == 24 for row in arena)
    there = arena[0]["against"][arena[2]["agent"]]
    back = arena[2]["against"][arena[0]["agent"]]
    assert there["score"] + back["score"] == pytest.approx(1)
    assert there["superiority"] + back["superiority"] == pytest.approx(1)
    assert there["superiority"] > 0.99


def test_crosstable_and_going_on(randori, arena):
    answer = randori("tournament", "tictactoe", *AGENTS, "-t", "6")
    name = arena[0]["tournament"]
    assert f"tournament {name}: 36 of 36 games are in arena.sqlite already" in answer.err
    assert f"tictactoe: tournament {name}, 3 agents, 6 rounds, 36 games" in answer.out
    assert "moving first is worth" in answer.out
    assert "the mean is 0" in answer.out
    assert "/12" in answer.out
    more = randori("tournament", "--resume", name[:5], "-t", "8", "--json")
    assert {row["games"] for row in more.json} == {32}
    assert "36 of 48 games" in more.err


def test_repeated_games_are_told(randori, trained):
    agents = [f"az:{trained},simulations={n},runtime=torch" for n in (2, 4)]
    line = ("tournament", "tictactoe", *agents, "-t", "4", "--opening-plies")
    answer = randori(*line, "0")
    assert "only 2 of 8 games differ" in answer.err
    assert "only 2 of 8 games differ" in randori("ratings", "tictactoe").err
    found = [randori("tournament", "tictactoe", *agents, "-t", rounds, "--opening-plies", "0",
                     "--store", f"{rounds}.sqlite", "--json").json
             for rounds in "14"]  # fmt: skip
    for one, four in zip(*found, strict=True):
        assert (one["games"], four["games"]) == (2, 8)
        assert [one[key] for key in ("low", "rating", "high", "score_low", "score_high")] == (
            pytest.approx(
                [four[key] for key in ("low", "rating", "high", "score_low", "score_high")]
            )
        )


def test_ratings_say_how_many_games_count(randori):
    line = ("tournament", "tictactoe", "alphabeta:depth=1", "alphabeta:depth=2", "-t", "3",
            "--opening-plies", "0", "--json")  # fmt: skip
    for rows in (randori(*line).json, randori("ratings", "tictactoe", "--json").json):
        assert [(row["games"], row["counted_games"]) for row in rows] == [(6, 2), (6, 2)]
    elo = randori("ratings", "tictactoe", "--elo", "--json", "--csv", "r.csv").json
    assert [(row["games"], row["counted_games"]) for row in elo] == [(6, 6), (6, 6)]
    written = csv.DictReader(Path("r.csv").read_text().splitlines())
    assert {row["counted_games"] for row in written} == {"6"}


def test_ratings_join_all_games(randori, arena):
    randori("match", "tictactoe", "random", "uct:simulations=20", "-n", "10", "--store",
            "arena.sqlite")  # fmt: skip
    rows = randori("ratings", "tictactoe", "--json").json
    assert {row["agent"]: row["games"] for row in rows} == {
        "random": 34, "uct:simulations=5": 24, "uct:simulations=50": 24, "uct:simulations=20": 10,
    }  # fmt: skip
    name = arena[0]["tournament"]
    only = randori("ratings", "tictactoe", "--tournament", name, "--json").json
    assert [row["rating"] for row in only] == pytest.approx([row["rating"] for row in arena])
    table = randori("ratings", "tictactoe").out
    assert "tictactoe: 4 agents, 46 games" in table


def test_a_match_played_again_does_not_narrow_intervals(randori):
    line = ("match", "tictactoe", "random", "uct:simulations=5", "-n", "10", "--store", "a.sqlite")
    found = []
    for _ in range(2):
        randori(*line)
        found.append(randori("ratings", "tictactoe", "--store", "a.sqlite", "--json"))
    assert found[0].json == found[1].json
    assert "10 games of matches played again with their seed are left out" in found[1].err
    randori(*line, "--seed", "1")
    more = randori("ratings", "tictactoe", "--store", "a.sqlite", "--json").json
    assert {row["games"] for row in more} == {20}


def test_anchors(randori, arena):
    line = ("ratings", "tictactoe", "--anchor", "uct:simulations=5=850")
    rows = {row["agent"]: row for row in randori(*line, "--json").json}
    anchor = rows["uct:simulations=5"]
    assert (anchor["low"], anchor["rating"], anchor["high"]) == (850, 850, 850)
    assert "uct:simulations=5 is fixed at 850" in randori(*line).out
    free = {row["agent"]: row["rating"] for row in arena}
    for agent, row in rows.items():
        shift = 850 - free["uct:simulations=5"]
        assert row["rating"] == pytest.approx(free[agent] + shift, abs=1e-3)


def test_elo_in_the_order_of_play(randori, arena):
    rows = randori("ratings", "tictactoe", "--elo", "--json").json
    assert sum(row["rating"] for row in rows) == pytest.approx(3600)
    assert rows[0]["rating"] > 1200 > rows[-1]["rating"]
    assert rows[0]["low"] is rows[0]["high"] is None
    assert all(one["superiority"] is None for row in rows for one in row["against"].values())
    by_name = {row["agent"]: row for row in arena}
    kept = ("games", "wins", "draws", "losses", "score", "score_low", "score_high")
    assert all(row[key] == by_name[row["agent"]][key] for row in rows for key in kept)
    assert "from 1200 with K = 24" in randori("ratings", "tictactoe", "--elo").out


def test_files(randori, arena):
    line = ("ratings", "tictactoe", "--csv", "r.csv", "--export", "g.jsonl")
    assert randori(*line).code == 0
    rows = list(csv.DictReader(Path("r.csv").read_text().splitlines()))
    assert [row["agent"] for row in rows] == [row["agent"] for row in arena]
    assert float(rows[0]["rating"]) == pytest.approx(arena[0]["rating"])
    assert {row["counted_games"] for row in rows} == {"24"}
    records = [json.loads(text) for text in Path("g.jsonl").read_text().splitlines()]
    assert len(records) == 36
    assert records[0]["tournament"] == arena[0]["tournament"]
    assert randori("show", "g.jsonl", "--game", "36", "--json").json["outcome"] is not None
    assert randori("ratings", "tictactoe", "--export", "g.csv").code == 0
    assert len(Path("g.csv").read_text().splitlines()) == 37
    assert randori(*line).complaint == "r.csv exists already; choose another name"
    answer = randori("ratings", "tictactoe", "--export", "g.txt")
    assert answer.complaint == "--export g.txt: games are written as .csv or .jsonl"


def test_a_tournament_says_its_name_at_once(randori):
    answer = randori("tournament", "tictactoe", "random", "uct", "-t", "1", "--json")
    name = answer.json[0]["tournament"]
    assert answer.err.splitlines()[0] == f"tournament {name}: 2 games, kept in arena.sqlite"
    assert (answer.json[0]["opening_plies"], answer.json[0]["openings"]) == (2, None)
    shown = randori("tournament", "tictactoe", "random", "uct", "-t", "1")
    assert f"tictactoe: tournament {name}, 2 agents, 1 round, 2 games" in shown.out
    for command in ("tournament", "scaling"):
        assert "2 if no option names openings" in " ".join(randori(command, "-h").out.split())


def test_a_test_stops_each_pairing(randori):
    line = ("tournament", "tictactoe", "uct:simulations=60", "random", "--sprt", "0,100")
    answer = randori(*line, "--json")
    assert ": at most 2000 games, kept in arena.sqlite" in answer.err
    best, other = answer.json
    assert best["games"] < 200
    found = best["against"]["random"]["sprt"]
    assert (found["verdict"], 2 * found["pairs"]) == ("elo1", best["games"])
    assert "sprt" not in other["against"]["uct:simulations=60"]
    shown = randori(*line)
    assert "uct:simulations=60 against random: SPRT +0 against +100 Elo: LLR " in shown.out
    assert "Elo +100 is taken" in shown.out
    more = randori("tournament", "--resume", best["tournament"], "--sprt", "0,5", "-t", "50")
    assert "at most 100 games" in more.err


def test_the_line_that_goes_on_can_be_pasted(randori):
    """Programs and rules are named again, and everything that the name of a tournament needs."""
    Path("engine one.py").write_text(ENGINE)
    Path("book.txt").write_text("C3 B2\nB2\n")
    engine = f"gtp:{sys.executable} 'engine one.py'"
    line = ("go:size=5", engine, "random", "-t", "1", "--seed", "3", "--openings", "book.txt",
            "--sprt", "0,80")  # fmt: skip
    rows = randori("tournament", *line, "--store", "my games.sqlite", "--json").json
    name = rows[0]["tournament"]
    assert {row["openings"] for row in rows} == {"book.txt"}
    refused = randori("tournament", "--resume", name, "--store", "my games.sqlite").complaint
    again = shlex.split(refused.partition("say it again yourself: ")[2])
    assert again[again.index("tournament") + 1] == "go:size=5"
    answer = randori(*again[again.index("tournament") :], "--json")
    assert answer.json[0]["tournament"] == name
    assert f"tournament {name}: 2 of at most 2 games are in my games.sqlite already" in answer.err
    plan = Plan("tictactoe", ("random", "uct"), 4)
    line = resume_command(plan, Path("my games.sqlite"), 2)
    assert line.endswith(f"tournament --resume {plan.id} --jobs 2 --store 'my games.sqlite'")


def test_groups_are_told(randori):
    for pair in (("random", "uct"), ("uct:simulations=3", "uct:simulations=4")):
        randori("match", "tictactoe", *pair, "-n", "6", "--store", "s.sqlite")
    answer = randori("ratings", "tictactoe", "--store", "s.sqlite")
    assert "no games connect these groups" in answer.err
    assert "the mean of each group is 0" in answer.out
    rows = randori("ratings", "tictactoe", "--store", "s.sqlite", "--json").json
    assert len(rows[0]["against"]) == 1


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("tournament", "Missing argument 'GAME'"),
        ("tournament tictactoe random", "a tournament needs at least 2 agents, not 1"),
        ("tournament tictactoe random rndom", "there is no agent 'rndom'; did you mean 'random'?"),
        ("tournament tictactoe random random", "agent 'random' is entered twice"),
        ("tournament tictactoe random uct -t 0", "needs at least 1 round, not 0"),
        ("tournament tictactoe random uct --jobs 0", "--jobs goes from 1 to 1024, not 0"),
        ("tournament tictactoe random uct --store no/a.sqlite", "there is no folder 'no'"),
        ("tournament --resume x", "there is no store arena.sqlite"),
        ("tournament tictactoe --resume x", "--resume knows the game"),
        ("tournament tictactoe random uct --opening-plies -1", "must not be negative"),
        ("tournament tictactoe random uct --openings none.txt", "cannot read openings"),
        ("tournament tictactoe random uct --opening-agent random", "no visits or priors"),
        ("tournament tictactoe random uct --opening-agent alphabeta", "no visits or priors"),
        ("tournament tictactoe random uct --sprt 5", "expected elo0,elo1"),
        ("tournament tictactoe random human --jobs 2", "leave --jobs out"),
        ("ratings tictactoe", "there is no store arena.sqlite; a tournament or match --store"),
        ("ratings tictactoe --anchor random", "expected AGENT=RATING"),
        ("ratings tictactoe --anchor =3", "expected AGENT=RATING"),
        ("ratings tictactoe --anchor random=nan", "expected AGENT=RATING"),
        ("ratings tictactoe --anchor random=1e308", "ratings go from -100000 to 100000"),
        ("ratings tictactoe --anchor random=-inf", "ratings go from -100000 to 100000"),
        ("ratings tictactoe --anchor random=1 --anchor random=2", "random is fixed at 1 already"),
        ("ratings tictactoe --elo --anchor nobody=0", "--anchor is for the joint fit"),
        ("ratings tictactoe --export games.txt", "games are written as .csv or .jsonl"),
        ("tournament tictactoe random uct -t 99999999999", "a tournament has at most 1000000"),
        ("tournament tictactoe random uct --jobs 99999", "--jobs goes from 1 to 1024"),
    ],
)
def test_bad_input_is_one_line(randori, line, words):
    assert words in randori(*line.split()).complaint
    assert [path for path in Path().iterdir() if path.name != "arena.sqlite"] == []


def test_bad_input_about_a_store(randori, arena):
    assert "has no games of connect4" in randori("ratings", "connect4").complaint
    answer = randori("ratings", "tictactoe", "--anchor", "rando=0")
    assert answer.complaint == "--anchor 'rando': no game of that agent; did you mean 'random'?"
    assert "has no tournament 'x'" in randori("tournament", "--resume", "x").complaint
    Path("text.sqlite").write_text("words " * 200)
    answer = randori("ratings", "tictactoe", "--store", "text.sqlite")
    assert answer.complaint == "store text.sqlite: file is not a database"


ENGINE = """
import sys
for line in sys.stdin:
    words = line.split()
    if words[0] == "genmove":
        sys.exit(3)
    print("= 2\\n" if words[0] == "protocol_version" else "=\\n", flush=True)
"""


def test_an_engine_that_crashes_forfeits(randori):
    """Its games are lost with the reason in the store, and the tournament goes on to its end."""
    Path("engine.py").write_text(ENGINE)
    engine = f"gtp:{sys.executable} engine.py"
    line = ("tournament", "go:size=5", engine, "random", "-t", "2")
    answer = randori(*line, "--json")
    rows = {row["agent"]: row for row in answer.json}
    assert rows["random"]["wins"] == rows["random"]["games"] == 4
    assert "4 of 4 games were given up: python" in answer.err
    randori("ratings", "go:size=5", "--export", "games.jsonl")
    records = [json.loads(text) for text in Path("games.jsonl").read_text().splitlines()]
    assert all("exit code 3" in record["reason"] for record in records)
    assert randori("show", "games.jsonl").code == 0


def start_tournament(folder: Path, *more: str) -> subprocess.Popen[str]:
    """Begin a tournament that takes a while, and wait until some games are over."""
    code = "import sys; from randori.cli import main; sys.exit(main())"
    line = ("tournament", "connect4", "random", "uct:simulations=100", "uct:simulations=101",
            "-t", "20", *more)  # fmt: skip
    process = subprocess.Popen(
        [sys.executable, "-c", code, *line], cwd=folder, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while count(folder) < 5 and time.monotonic() < deadline:
        time.sleep(0.02)
    return process


def count(folder: Path) -> int:
    try:
        base = sqlite3.connect(f"file:{folder}/arena.sqlite?mode=ro", uri=True)
        return int(base.execute("SELECT COUNT(*) FROM games").fetchone()[0])
    except sqlite3.Error:
        return 0


@pytest.mark.parametrize("jobs", ["1", pytest.param("2", marks=pytest.mark.slow)])
def test_a_killed_tournament_goes_on(randori, tmp_path, jobs):
    process = start_tournament(tmp_path, "--jobs", jobs)
    process.kill()
    process.communicate()
    over = count(tmp_path)
    assert 5 <= over < 120
    wait_for_orphans(process.pid)
    over = count(tmp_path)
    line = ("connect4", "random", "uct:simulations=100", "uct:simulations=101", "-t", "20")
    answer = randori("tournament", *line, "--json")
    assert f"{over} of 120 games are in arena.sqlite already" in answer.err
    assert {row["games"] for row in answer.json} == {80}


def wait_for_orphans(session: int) -> None:
    """Wait until no process of a session is left: workers notice that nobody listens."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            os.killpg(session, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    pytest.fail("workers outlive the tournament")


@pytest.mark.parametrize("jobs", ["1", pytest.param("2", marks=pytest.mark.slow)])
def test_ctrl_c_says_how_to_go_on(randori, tmp_path, jobs):
    process = start_tournament(tmp_path, "--jobs", jobs)
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Traceback" not in said
    lines = said.splitlines()
    assert "stopped; all finished games are kept, go on with" in lines
    assert "tournament --resume" in lines[-1]
    name = lines[-1].split("--resume ")[1].split()[0]
    wait_for_orphans(process.pid)
    answer = randori("tournament", "--resume", name, "-t", "1", "--json")
    assert answer.code == 0


def test_ctrl_c_keeps_the_games_that_are_over(randori, leaver, monkeypatch):
    line = ("tournament", "tictactoe", "random", "greedy", "-t", "30", "--json")
    with monkeypatch.context() as patch:
        patch.setattr("randori.arena.tournament.load_agent",
                      lambda text, game: leaver(text, game, 4))  # fmt: skip
        answer = randori(*line)
    assert (answer.code, answer.out) == (130, "")
    first, said, again = answer.err.splitlines()
    assert first.endswith("60 games, kept in arena.sqlite")
    assert said == "stopped; all finished games are kept, go on with"
    over = count(Path())
    assert 0 < over < 60
    words = shlex.split(again)
    resumed = randori(*words[words.index("tournament") :], "--json")
    assert f": {over} of 60 games are in arena.sqlite already" in resumed.err
    assert (resumed.code, {row["games"] for row in resumed.json}) == (0, {60})


def test_a_run_that_was_trained_on_is_another_agent(randori, trained):
    shutil.copytree(trained, "run")
    agent = "az:run,simulations=2,runtime=torch"
    line = ("tournament", "tictactoe", agent, "random", "-t", "1", "--json")
    name = randori(*line).json[0]["tournament"]
    assert randori("tournament", "--resume", name, "-t", "2").code == 0
    model = read_model(Path("run"))
    weights = {key: 2 * array for key, array in model.weights.items()}
    write_model(model.path, weights, model.info)
    assert randori("tournament", "--resume", name, "-t", "2").code == 0  # there is nothing to play
    for again in ((*line[:-2], "3"), ("tournament", "--resume", name, "-t", "3")):
        answer = randori(*again)
        assert answer.complaint.startswith(f"tournament {name}: the model of {agent} has changed")
    assert randori(*line[:-1], "--seed", "1").code == 0
    assert randori(*line[:-1], "--store", "other.sqlite").code == 0


def test_one_model_with_other_options_is_another_agent(randori, trained):
    agent = f"az:{trained},simulations=2,runtime=torch"
    other = f"{agent},turns=all"
    rows = randori("tournament", "tictactoe", agent, other, "-t", "1", "--json").json
    assert {row["agent"] for row in rows} == {agent, other}
    twice = randori("tournament", "tictactoe", agent, "random", agent.replace(",", " , "))
    assert twice.complaint == f"agent {agent!r} is entered twice"


def test_a_store_without_digests_goes_on(randori, trained):
    line = ("tournament", "tictactoe", f"az:{trained},simulations=2,runtime=torch", "random", "-t")
    assert randori(*line, "1").code == 0
    with sqlite3.connect("arena.sqlite") as base:
        base.execute("UPDATE tournaments SET plan = json_remove(plan, '$.models')")
    base.close()
    assert randori(*line, "2").code == 0
