"""The round robin: every pair both ways, resumed without loss, and processes that may die."""

from collections import Counter
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import pytest

from randori.arena.crew import play_tournament
from randori.arena.openings import Book
from randori.arena.sprt import Sprt
from randori.arena.store import Store, StoredGame
from randori.arena.tournament import BATCH, Job, Plan, batch_size
from randori.errors import UserError

PLAN = Plan("tictactoe", ("random", "uct:simulations=5", "uct:simulations=30"), 3, 1, Book(2))

MORTAL = """
import os
from multiprocessing import parent_process
from pathlib import Path

from randori.games.tictactoe import game as tictactoe

CANDLE = Path(__file__).with_suffix(".die")


def game():
    if parent_process() is not None and CANDLE.exists():
        left = int(CANDLE.read_text())
        if left > 1:
            CANDLE.write_text(str(left - 1))
        else:
            CANDLE.unlink()
        os._exit(7)
    return tictactoe()
"""


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "arena.sqlite")


def played(store: Store, plan: Plan) -> list[StoredGame]:
    return plan.select(store.games(tournament=plan.id))


def meetings(games: list[StoredGame]) -> Counter[tuple[int, str, str]]:
    return Counter((game.round, game.first, game.second) for game in games)


def everything(plan: Plan) -> Counter[tuple[int, str, str]]:
    pairs = permutations(plan.agents, 2)
    return Counter((r, a, b) for a, b in pairs for r in range(plan.rounds))


def test_everyone_meets_everyone_with_both_colours(store: Store) -> None:
    heard: list[tuple[int, int]] = []
    assert play_tournament(PLAN, store, progress=lambda *now: heard.append(now)) == []
    games = played(store, PLAN)
    assert meetings(games) == everything(PLAN)
    assert len(games) == PLAN.num_games == 18
    assert heard[-1] == (18, sum(game.plies - game.opening for game in games))
    assert [over for over, _ in heard] == sorted(over for over, _ in heard)


def test_a_round_has_one_opening(store: Store) -> None:
    play_tournament(PLAN, store)
    openings = {}
    for game in played(store, PLAN):
        assert game.opening == 2
        openings.setdefault(game.round, set()).add(tuple(game.actions[:2]))
    assert [len(found) for _, found in sorted(openings.items())] == [1, 1, 1]
    assert len(set.union(*openings.values())) > 1


def test_one_seed_one_tournament(tmp_path: Path) -> None:
    found = []
    for name, plan in (("a", PLAN), ("b", PLAN), ("c", replace(PLAN, seed=2))):
        with Store(tmp_path / name) as store:
            play_tournament(plan, store)
            rows = sorted((g.round, g.first, g.second, g.moves) for g in played(store, plan))
            found.append(rows)
    assert found[0] == found[1] != found[2]


def test_a_tournament_plays_only_what_is_missing(store: Store) -> None:
    play_tournament(PLAN, store)
    before = played(store, PLAN)
    play_tournament(PLAN, store)
    assert played(store, PLAN) == before
    for game in before[:7]:
        store._base.execute(
            "DELETE FROM games WHERE round = ? AND first = ? AND second = ?",
            (game.round, game.first, game.second),
        )
    assert sum(len(job.numbers) for job in PLAN.jobs(played(store, PLAN))) == 7
    play_tournament(PLAN, store)
    after = played(store, PLAN)
    assert meetings(after) == everything(PLAN)
    assert after[:11] == before[7:]
    old = {(g.round, g.first, g.second): g.actions[:2] for g in before}
    assert all(old[g.round, g.first, g.second] == g.actions[:2] for g in after)


def test_more_rounds_go_on(store: Store) -> None:
    play_tournament(PLAN, store)
    before = played(store, PLAN)
    longer = replace(PLAN, rounds=5)
    assert longer.id == PLAN.id
    assert sum(len(job.numbers) for job in longer.jobs(before)) == 12
    play_tournament(longer, store)
    assert meetings(played(store, longer)) == everything(longer)
    assert played(store, PLAN) == before


def test_what_goes_on_does_not_repeat_itself(store: Store) -> None:
    """Dice of a later part are not those of the first: no two games of chance are alike."""
    plan = Plan("connect4", ("random", "uct:simulations=1"), 10)
    play_tournament(plan, store)
    play_tournament(replace(plan, rounds=20), store)
    games = played(store, replace(plan, rounds=20))
    assert len({(game.first, game.moves) for game in games}) == 40


@pytest.mark.parametrize(
    "other",
    [
        replace(PLAN, game="connect4"),
        replace(PLAN, agents=PLAN.agents[:2]),
        replace(PLAN, seed=9),
        replace(PLAN, book=Book(3)),
        replace(PLAN, book=Book(2, lines=("b2",))),
    ],
)
def test_another_plan_is_another_tournament(other: Plan) -> None:
    assert other.id != PLAN.id
    assert Plan.from_dict(other.to_dict()) == other


def test_the_store_remembers_the_plan(store: Store) -> None:
    plan = replace(PLAN, rounds=1, book=Book(1, lines=("b2", "a1")))
    play_tournament(plan, store)
    assert Plan.from_dict(store.plan(plan.id[:4])) == plan


def test_long_pairings_come_in_batches() -> None:
    jobs = replace(PLAN, rounds=200).jobs([])
    assert [len(job.numbers) for job in jobs] == [BATCH] * 3 + [400 - BATCH] * 3
    assert sorted(jobs[0].numbers + jobs[3].numbers) == list(range(400))


@pytest.mark.parametrize(
    ("games", "processes"), [(20, 4), (6, 2), (2, 4), (1000, 2), (1000, 16), (90_000, 8), (50, 3)]
)
def test_every_process_has_something_to_do(games: int, processes: int) -> None:
    plan = Plan("tictactoe", ("random", "uct"), games // 2)
    jobs = plan.jobs([], processes)
    assert len(jobs) >= min(processes, games // 2)
    assert sorted(n for job in jobs for n in job.numbers) == list(range(games))
    assert all(job.numbers[0] % 2 == 0 for job in jobs), "a pair is played by one process"
    assert max(len(job.numbers) for job in jobs) <= batch_size(games, processes) <= BATCH


TESTED = Plan(
    "tictactoe", ("uct:simulations=60", "random", "uct:simulations=61"), 100, 3, Book(1),
    Sprt(0, 40),
)  # fmt: skip


def by_pair(store: Store, plan: Plan) -> dict[tuple[str, str], int]:
    return {pair: len(games) for pair, games in plan.by_pair(played(store, plan)).items()}


def test_each_pairing_stops_when_its_own_test_has_ended(store: Store) -> None:
    """Two are clear at once and stop at a look; the one of equals goes on for longer."""
    play_tournament(TESTED, store)
    counts = by_pair(store, TESTED)
    clear = [count for pair, count in counts.items() if "random" in pair]
    assert max(clear) <= 96
    assert all(count % 32 == 0 for count in clear)
    equals = TESTED.by_pair(played(store, TESTED))["uct:simulations=60", "uct:simulations=61"]
    assert len(equals) > max(clear)
    found = Sprt(0, 40).report([equals[number] for number in sorted(equals)])
    assert found["verdict"] == "elo0" or len(equals) == 200
    play_tournament(TESTED, store)
    assert by_pair(store, TESTED) == counts, "a test that has ended is not begun again"
    assert TESTED.id == replace(TESTED, sprt=None).id
    assert Plan.from_dict(store.plan(TESTED.id)) == TESTED


def test_a_stopped_test_goes_on_where_it_was(store: Store) -> None:
    play_tournament(replace(TESTED, sprt=None, rounds=5), store)
    assert set(by_pair(store, TESTED).values()) == {10}
    assert [len(job.numbers) for job in TESTED.jobs(played(store, TESTED))] == [22] * 3
    play_tournament(TESTED, store, processes=2)
    counts = by_pair(store, TESTED)
    assert all(32 <= count <= 200 for count in counts.values())
    assert TESTED.jobs(played(store, TESTED)) == []


@pytest.mark.parametrize(
    ("agents", "rounds", "words"),
    [
        (("random",), 1, "at least 2 agents, not 1"),
        (("random", "uct", "random"), 1, "agent 'random' is entered twice"),
        (("random", "uct"), 0, "at least 1 round, not 0"),
    ],
)
def test_plans_that_make_no_sense(agents: tuple[str, ...], rounds: int, words: str) -> None:
    with pytest.raises(UserError, match=words):
        Plan("tictactoe", agents, rounds)


def test_processes_share_the_pairings(store: Store) -> None:
    heard: list[tuple[int, int]] = []
    assert play_tournament(PLAN, store, processes=2, progress=lambda *n: heard.append(n)) == []
    assert meetings(played(store, PLAN)) == everything(PLAN)
    assert heard[-1][0] == 18
    assert play_tournament(PLAN, store, processes=2) == []


@pytest.mark.parametrize(("deaths", "lost"), [(1, 0), (2, 1)])
def test_a_process_that_dies_is_replaced_once(store: Store, deaths: int, lost: int) -> None:
    """It is told, its pairing begun again, and given up only when that dies too."""
    file = store.path.with_name("mortal.py")
    file.write_text(MORTAL)
    plan = Plan(str(file), ("random", "uct:simulations=3"), 1)
    file.with_suffix(".die").write_text(str(deaths))
    told: list[str] = []
    missing = play_tournament(plan, store, processes=2, tell=told.append)
    assert len(told) == deaths
    assert "random against uct:simulations=3" in told[0]
    assert "died (exit code 7) with 2 games left; beginning them again" in told[0]
    assert missing == [Job(*plan.agents, (0, 1))] * lost
    assert len(played(store, plan)) == (0 if lost else 2)
    if lost:
        assert told[1].endswith("giving them up")
        assert play_tournament(plan, store, processes=2) == []
        assert len(played(store, plan)) == 2


def test_a_mistake_in_a_process_is_the_user_s(store: Store) -> None:
    plan = Plan("tictactoe", ("random", "az:nowhere"), 1)
    with pytest.raises(UserError, match="nowhere"):
        play_tournament(plan, store, processes=2)
