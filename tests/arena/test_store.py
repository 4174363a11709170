"""The store: games survive kills and crowds, and foreign files are refused."""

import csv
import io
import json
import signal
import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from randori.agents.registry import load_agent
from randori.arena.match import play_match
from randori.arena.openings import Book
from randori.arena.store import (
    Store,
    StoredGame,
    as_record,
    stored,
    without_replays,
    write_csv,
)
from randori.errors import UserError
from randori.games.registry import load_game

GAME = load_game("tictactoe")
ROW = StoredGame("tictactoe", "a", "b", "draw", "", 3, "", 1, "0 1 2", 7, 0, None, "now")


def crowd(path: Path, code: str, count: int = 1) -> list[subprocess.Popen[bytes]]:
    """Start processes that run code with `path`, `ROW` and `replace` at hand."""
    head = (
        "import os, signal, sys; from pathlib import Path; from dataclasses import replace;"
        "from randori.arena.store import Store, StoredGame;"
        f"ROW = StoredGame(*{tuple(vars(ROW).values())!r}); path = Path(sys.argv[1]);"
        "me = int(sys.argv[2])\n"
    )
    return [
        subprocess.Popen([sys.executable, "-c", head + code, str(path), str(i)])
        for i in range(count)
    ]


def test_what_goes_in_comes_out(tmp_path: Path) -> None:
    rows = [ROW, replace(ROW, result="first", reason="b hung", moves="", plies=0)]
    with Store(tmp_path / "arena.sqlite") as store:
        store.add(rows)
        store.add([])
        store.add([replace(ROW, game="connect4", tournament="t")])
        assert list(store.games("tictactoe")) == rows
        assert [game.game for game in store.games()] == ["tictactoe", "tictactoe", "connect4"]
        assert [game.game for game in store.games(tournament="t")] == ["connect4"]
        assert store.count_by_game() == {"tictactoe": 2, "connect4": 1}
    with Store(tmp_path / "arena.sqlite", create=False) as again:
        assert list(again.games("tictactoe")) == rows


@pytest.mark.parametrize(("result", "score"), [("first", 1.0), ("draw", 0.5), ("second", 0.0)])
def test_scores_are_those_of_the_first(result: str, score: float) -> None:
    assert replace(ROW, result=result).score == score


def test_a_tournament_has_each_game_once(tmp_path: Path) -> None:
    with Store(tmp_path / "arena.sqlite") as store:
        once = replace(ROW, tournament="t")
        store.add([once, replace(once, result="first"), replace(once, round=1)])
        store.add([once, replace(once, first="b", second="a")])
        assert [game.result for game in store.games(tournament="t")] == ["draw"] * 3
        store.add([ROW, ROW])
        assert len(list(store.games())) == 5, "matches may repeat themselves"


def test_games_of_a_match(tmp_path: Path) -> None:
    position = GAME.start().play("b2").text()
    agents = load_agent("random", GAME), load_agent("uct:simulations=10", GAME)
    book = Book(plies=1, lines=(position,))
    result = play_match(GAME, *agents, 4, seed=1, book=book)
    with Store(tmp_path / "arena.sqlite") as store:
        names = ("random", "uct:simulations=10")
        store.add(stored(GAME, names, one, seed=1, round=i // 2)
                  for i, one in enumerate(result.games))  # fmt: skip
        rows = list(store.games())
    for row, one in zip(rows, result.games, strict=True):
        assert (row.first == "random") == one.a_is_first
        assert row.actions == one.moves
        assert (row.plies, row.opening, row.position) == (len(one.moves), 1, position)
        assert (row.score if one.a_is_first else 1 - row.score) == one.score
        record = as_record(GAME, row)
        assert record.replay(GAME)[-1].outcome == row.result
        assert record.position == position
        assert json.loads(record.to_json())["round"] == row.round


def test_csv_has_a_header_and_all_fields() -> None:
    rows = list(
        csv.DictReader(io.StringIO(write_csv(GAME, [replace(ROW, first='uct:a,"b"'), ROW])))
    )
    assert [row["first"] for row in rows] == ['uct:a,"b"', "a"]
    assert set(rows[0]) == set(vars(ROW))
    assert rows[1]["moves"] == "a1 b1 c1"


def test_plans_are_found_by_their_beginning(tmp_path: Path) -> None:
    with Store(tmp_path / "arena.sqlite") as store:
        with pytest.raises(UserError, match="has no tournament 'x'; the last ones: none"):
            store.plan("x")
        store.save_plan("abc1", {"rounds": 1})
        store.save_plan("abd2", {"rounds": 2})
        store.save_plan("abc1", {"rounds": 3})
        assert store.plan("abc") == {"rounds": 3}
        with pytest.raises(UserError, match="'ab'; the last ones: abc1, abd2"):
            store.plan("ab")


def test_foreign_files_are_refused(tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("no database, but long enough to be taken for one " * 20)
    with pytest.raises(UserError, match="text: file is not a database"):
        Store(text)
    other = tmp_path / "other.sqlite"
    base = sqlite3.connect(other)
    base.execute("CREATE TABLE cats (name)")
    base.commit()
    base.close()
    with pytest.raises(UserError, match="a database of another program"):
        Store(other)
    with pytest.raises(UserError, match=r"there is no store .*none\.sqlite"):
        Store(tmp_path / "none.sqlite", create=False)
    with pytest.raises(UserError, match="there is no folder"):
        Store(tmp_path / "no" / "arena.sqlite")
    assert not (tmp_path / "none.sqlite").exists()


def test_another_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "arena.sqlite"
    Store(path).close()
    base = sqlite3.connect(path)
    base.execute("PRAGMA user_version = 99")
    base.close()
    with pytest.raises(UserError, match="a store of version 99, but this Randori reads version 1"):
        Store(path)


def test_processes_share_a_store(tmp_path: Path) -> None:
    """Four processes make the file and write to it at once; no game is lost or doubled."""
    path = tmp_path / "arena.sqlite"
    code = (
        "with Store(path) as store:\n"
        "    for k in range(50):\n"
        "        store.add([replace(ROW, tournament='t', round=k, first=str(me)),"
        " replace(ROW, tournament='t', round=k, first='all')])\n"
    )
    for process in crowd(path, code, 4):
        assert process.wait(timeout=60) == 0
    with Store(path) as store:
        rows = list(store.games())
    assert len(rows) == 250
    assert len({(row.round, row.first) for row in rows}) == 250


def test_a_kill_loses_nothing_that_was_over(tmp_path: Path) -> None:
    path = tmp_path / "arena.sqlite"
    code = (
        "store = Store(path)\n"
        "for k in range(20): store.add([replace(ROW, round=k)])\n"
        "store._base.execute('BEGIN IMMEDIATE')\n"
        "store._base.execute('DELETE FROM games')\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    (process,) = crowd(path, code)
    assert process.wait(timeout=60) == -signal.SIGKILL
    with Store(path) as store:
        assert [game.round for game in store.games()] == list(range(20))
        store.add([ROW])


def test_a_match_played_again_with_its_seed_says_nothing_new() -> None:
    other_seed, other_round = replace(ROW, seed=8), replace(ROW, round=1)
    lost, swapped = replace(ROW, result="first"), replace(ROW, first="b", second="a")
    match = [ROW, other_round, swapped]
    cup = [replace(ROW, tournament="t"), replace(ROW, tournament="u")]
    again = [replace(one, time="later") for one in match]
    found = without_replays([*match, *cup, *again, other_seed, lost])
    assert found == [*match, *cup, other_seed, lost]
