"""The AlphaZero learner on Tic-tac-toe: it learns, repeats itself, and keeps honest books."""

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from randori.agents.registry import load_agent
from randori.arena.match import play_match
from randori.errors import UserError
from randori.games.records import read_records
from randori.games.registry import load_game
from randori.learners import alphazero
from randori.learners.alphazero import SAMPLE_GAMES, AlphaZero
from randori.learners.settings import AlphaZeroConfig
from randori.learners.status import Status
from randori.learners.table import LEARNERS
from randori.learners.training import change_run, start_run, train
from randori.runs.checkpoint import checkpoint_paths, read_checkpoint, read_model
from randori.runs.config import expected, override
from randori.runs.folder import Run, open_run
from randori.runs.metrics import read_metrics
from randori.runs.shards import read_shards, shard_numbers

TINY = (
    "network.kind=mlp", "network.blocks=1", "network.hidden=16", "runtime=torch",
    "precision=fp32", "deterministic=true", "checkpoint_iterations=1", "selfplay.slots=8",
    "selfplay.search.simulations=8", "selfplay.fast_simulations=3", "selfplay.full_share=0.5",
    "selfplay.search.cache_mb=0.05", "iteration_rows=30", "warm_up_rows=40", "window=100",
    "train.batch=16", "train.reuse=2", "train.warm_up_steps=5", "evaluation.every_iterations=100",
    "evaluation.opponents=[]", "stop.iterations=4",
)  # fmt: skip
GAME = load_game("tictactoe")


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """One thread, and nobody waits for the bare network's speed."""
    monkeypatch.setattr(alphazero, "measure_rate", lambda *_, **__: 1.0)
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def make_run(path: Path, *settings: str, seed: int = 1) -> Run:
    config = override(AlphaZeroConfig(), [*TINY, *settings])
    return start_run(GAME, config, seed=seed, path=path, learner="alphazero")


def ignore(status: Status) -> None:
    """Listen to nothing."""


def weights_of(path: Path) -> dict[str, Any]:
    return read_model(path).weights


def same(ours: dict[str, Any], theirs: dict[str, Any]) -> bool:
    return all(np.array_equal(ours[name], theirs[name]) for name in ours)


def rows_on_disk(path: Path) -> dict[str, Any]:
    return read_shards(path, 10**6, 10**9, "results")


def test_it_learns_tictactoe(tmp_path: Path) -> None:
    """Without any search the network beats random play, which it does not before training."""
    settings = (
        "network.kind=resnet", "network.channels=16", "network.hidden=32",
        "network.policy_channels=8", "network.value_channels=8", "selfplay.slots=32",
        "selfplay.search.simulations=25", "selfplay.full_share=1.0", "selfplay.search.cache_mb=1",
        "iteration_rows=400", "warm_up_rows=400", "window=5000", "train.batch=64", "train.reuse=4",
        "train.learning_rate=0.005", "train.warm_up_steps=20", "checkpoint_iterations=100",
    )  # fmt: skip
    scores = []
    for iterations in (1, 20):
        path = tmp_path / str(iterations)
        warm_up = "warm_up_rows=100000" if iterations == 1 else "warm_up_rows=400"
        train(make_run(path, *settings, f"stop.iterations={iterations}", warm_up), ignore)
        agent = load_agent(f"policy:{path},runtime=torch", GAME)
        scores.append(play_match(GAME, agent, load_agent("random", GAME), 200, seed=1).score)
    assert scores[0] < 0.75
    assert scores[1] >= 0.9
    searcher = load_agent(f"az:{tmp_path / '20'},runtime=torch,simulations=100", GAME)
    rival = load_agent("uct:simulations=300", GAME)
    assert play_match(GAME, searcher, rival, 20, seed=2).losses == 0
    losses = [record["policy_loss"] for record in read_metrics(tmp_path / "20")]
    assert losses[-1] < losses[0] - 0.2


@pytest.mark.parametrize("kind", ["mlp", "resnet", "cnn"])
def test_one_seed_one_result(kind: str, tmp_path: Path) -> None:
    settings = (f"network.kind={kind}", "network.channels=8", "stop.iterations=3")
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        train(make_run(tmp_path / name, *settings, seed=seed), ignore)
    first, again, other = (weights_of(tmp_path / name) for name in "abc")
    assert same(first, again)
    assert not same(first, other)


def test_metrics_are_complete_and_in_order(tmp_path: Path) -> None:
    run = make_run(
        tmp_path / "run", "stop.iterations=6", "evaluation.every_iterations=2",
        'evaluation.opponents=["random", "uct:simulations=5"]', "evaluation.games=4",
        "evaluation.simulations=3",
    )  # fmt: skip
    learner = train(run, ignore)
    records = read_metrics(run.path)
    assert [record["iteration"] for record in records] == [1, 2, 3, 4, 5, 6]
    assert len({frozenset(record) for record in records}) == 1, "every line has the same fields"
    for name in ("rows", "games", "steps", "evaluations", "seconds"):
        values = [record[name] for record in records]
        assert values == sorted(values)
    for before, record in zip([{"rows": 0}, *records], records, strict=False):
        assert record["rows"] - before["rows"] >= 30
        assert 0 <= record["first_player_score"] <= 1
        assert 0 <= record["draw_share"] <= 1
        assert 5 <= record["game_length"] <= 9
        assert 0 < record["policy_entropy"] < np.log(9)
        assert 0 <= record["search_overruled"] <= 1
    assert records[0]["policy_loss"] is None, "30 rows are fewer than the warm-up asks for"
    assert all(record["policy_loss"] > 0 for record in records[1:])
    last = records[-1]
    assert last["steps"] == learner.counters.steps == int(last["rows"] * 2 / 16)
    rates = [record["learning_rate"] for record in records[1:]]
    assert rates == sorted(rates, reverse=True)
    evaluated = [set(record["scores"]) for record in records]
    assert evaluated == 3 * [set(), {"random", "uct:simulations=5"}]
    assert all(0 <= s <= 1 for record in records for s in record["scores"].values())
    assert set(learner.status.scores) == {"random", "uct:simulations=5"}
    assert [set(record["effective_games"]) for record in records] == evaluated
    effective = [n for record in records for n in record["effective_games"].values()]
    assert all(1 <= n <= 4 for n in effective)
    assert len(rows_on_disk(run.path)["results"]) <= last["rows"]


@pytest.fixture
def score(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Return what gives every match one score."""

    def give(value: float) -> None:
        monkeypatch.setattr(alphazero, "play_match", lambda *_, **__: SimpleNamespace(score=value))

    return give


@pytest.mark.parametrize("restore", [False, True])
def test_a_gate_that_nobody_passes(
    restore: bool, tmp_path: Path, score: Callable[[float], None]
) -> None:
    """The best weights stay those of the start; with `restore`, so do the learner's."""
    score(0.9)
    settings = ("gate.threshold=1", "gate.games=2", "gate.simulations=2")
    run = make_run(tmp_path / "run", *settings, f"gate.restore={str(restore).lower()}")
    learner = train(run, ignore)
    config = override(AlphaZeroConfig(), [*TINY, *settings])
    fresh = AlphaZero(GAME, config, 1, tmp_path, ignore)._trainer.weights()
    assert same(weights_of(run.path), fresh)
    assert same(learner._trainer.weights(), fresh) == restore
    records = read_metrics(run.path)
    assert [record["gate_passed"] for record in records] == [False] * 4
    assert all(0 <= record["gate_score"] <= 1 for record in records)
    checkpoint = read_checkpoint(checkpoint_paths(run.path)[4])
    assert same(checkpoint.model.weights, fresh)
    learnt = {n: a for n, a in checkpoint.arrays.items() if n.startswith("learning.")}
    assert learnt
    assert same({n.removeprefix("learning."): a for n, a in learnt.items()}, fresh) == restore


def test_a_gate_that_everybody_passes(tmp_path: Path, score: Callable[[float], None]) -> None:
    """As no gate at all, with the same weights at the end."""
    score(0.6)
    settings = ("gate.threshold=0.6", "gate.games=2", "gate.simulations=2")
    for name, chosen in (("open", ()), ("gated", settings)):
        train(make_run(tmp_path / name, *chosen), ignore)
    assert same(weights_of(tmp_path / "open"), weights_of(tmp_path / "gated"))
    assert [record["gate_passed"] for record in read_metrics(tmp_path / "gated")] == 4 * [True]
    assert "gate_passed" not in read_metrics(tmp_path / "open")[0]


def test_a_gate_may_be_opened_and_closed_on_the_way(
    tmp_path: Path, score: Callable[[float], None]
) -> None:
    score(0.9)
    run = make_run(tmp_path / "run", "gate.threshold=1", "gate.games=2", "stop.iterations=3")
    train(run, ignore)
    best = weights_of(run.path)
    change_run(run.path, ["gate.threshold=0", "stop.iterations=5"])
    learner = train(open_run(run.path), ignore)
    learnt = weights_of(run.path)
    assert same(learnt, learner._trainer.weights())
    assert not same(learnt, best)
    change_run(run.path, ["gate.threshold=1", "stop.iterations=7"])
    learner = train(open_run(run.path), ignore)
    assert same(weights_of(run.path), learnt), "the weights that played are the ones to beat"
    assert not same(learner._trainer.weights(), learnt)


def test_the_mean_plays_and_is_stored(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", "train.average=5", "stop.iterations=15")
    learner = train(run, ignore)
    mean, newest = learner._trainer.player_weights(), learner._trainer.weights()
    assert same(weights_of(run.path), mean)
    assert not same(newest, mean)
    paths = checkpoint_paths(run.path)
    again = AlphaZero(
        GAME, override(AlphaZeroConfig(), [*TINY, "train.average=5"]), 2, run.path, ignore
    )
    again.restore(read_checkpoint(paths[max(paths)]), {})
    assert same(again._trainer.weights(), newest)
    assert same(again._trainer.player_weights(), mean)


def test_candidates_come_every_so_often(tmp_path: Path) -> None:
    settings = ("gate.threshold=1", "gate.games=2", "gate.simulations=2", "gate.every=2")
    train(make_run(tmp_path / "run", *settings), ignore)
    assert ["gate_score" in r for r in read_metrics(tmp_path / "run")] == 2 * [False, True]


@pytest.mark.parametrize("every", [1, 3])
def test_shards_cover_the_window_of_two_checkpoints(every: int, tmp_path: Path) -> None:
    """And older ones are gone; older checkpoints keep their model alone."""
    run = make_run(tmp_path / "run", "stop.iterations=14", f"checkpoint_iterations={every}")
    train(run, ignore)
    complete = []
    for number, path in checkpoint_paths(run.path).items():
        assert (path / "model.safetensors").exists()
        if (path / "state.json").exists():
            complete.append(number)
    newest = max(checkpoint_paths(run.path))
    assert complete == [newest - 1, newest]
    for number in complete:
        held = len(read_shards(run.path, number, 10**9, "results")["results"])
        rows = read_checkpoint(checkpoint_paths(run.path)[number]).state["counters"]["rows"]
        assert held >= min(100, rows)
    numbers = shard_numbers(run.path)
    assert numbers == list(range(numbers[0], newest + 1))
    assert numbers[0] > 1
    needless = sum(len(rows_of(run.path, number)) for number in numbers[1:-1])
    assert needless < 100, "without the oldest one the window would not be full"


def rows_of(path: Path, number: int) -> Any:
    with np.load(path / "replay" / f"{number:06d}.npz") as shard:
        return shard["results"]


def test_the_second_newest_checkpoint_will_do(tmp_path: Path) -> None:
    """A damaged one costs its iteration, and the run ends as if nothing had been."""
    train(make_run(tmp_path / "calm", "stop.iterations=10"), ignore)
    hurt = make_run(tmp_path / "hurt", "stop.iterations=10")
    stop_when(hurt, lambda status: status.counters.iteration == 8)
    assert max(checkpoint_paths(hurt.path)) == 8
    (hurt.path / "checkpoints/000008/learner.safetensors").write_bytes(b"?")
    train(hurt, ignore)
    assert same(weights_of(tmp_path / "calm"), weights_of(tmp_path / "hurt"))
    assert [r["iteration"] for r in read_metrics(tmp_path / "hurt")] == list(range(1, 11))


def train_watched(run: Run, watch: Callable[[AlphaZero, Status], None]) -> AlphaZero:
    """Train, and show the learner itself to `watch` whenever it tells its status."""
    learners: list[AlphaZero] = []
    plain = AlphaZero.run

    def remember(learner: AlphaZero, until: float = 1.0) -> None:
        learners.append(learner)
        plain(learner, until)

    def listen(status: Status) -> None:
        if learners:
            watch(learners[0], status)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(AlphaZero, "run", remember)
        train(run, listen)
    return learners[0]


def stop_when(run: Run, condition: Callable[[Status], bool]) -> AlphaZero:
    """Train until the condition holds, then stop as Ctrl-C does."""

    def watch(learner: AlphaZero, status: Status) -> None:
        if condition(status):
            learner.stop()

    learner = train_watched(run, watch)
    assert learner._stopping
    return learner


def test_stopping_in_the_middle_of_self_play_loses_no_row(tmp_path: Path) -> None:
    settings = ("deterministic=false", "iteration_rows=80", "window=1000", "stop.iterations=3")
    run = make_run(tmp_path / "run", *settings)
    learner = stop_when(
        run,
        lambda s: s.counters.iteration == 1 and s.phase == "self-play" and s.counters.rows > 100,
    )
    counters = learner.counters
    assert counters.iteration == 1
    assert counters.rows > 100
    stored = rows_on_disk(run.path)
    assert len(stored["results"]) == counters.rows
    owed = counters.owed
    assert owed >= 1, "the steps that the new rows call for are not forgotten"
    resumed = train(open_run(run.path), ignore)
    assert resumed.counters.iteration == 3
    again = rows_on_disk(run.path)
    assert len(again["results"]) == resumed.counters.rows
    for name, array in stored.items():
        assert np.array_equal(again[name][: counters.rows], array)
    assert resumed.counters.steps == int(resumed.counters.rows * 2 / 16)
    assert [r["iteration"] for r in read_metrics(run.path)] == [1, 2, 3]


@pytest.mark.parametrize("phase", ["self-play", "learning", "evaluating"])
def test_a_stopped_deterministic_run_ends_with_the_same_weights(phase: str, tmp_path: Path) -> None:
    """Wherever it was stopped: in the middle of learning, nothing of the iteration is kept."""
    settings = (
        "evaluation.every_iterations=1", 'evaluation.opponents=["random"]', "evaluation.games=2",
        "evaluation.simulations=2", "train.reuse=6",
    )  # fmt: skip
    for name in ("calm", "stopped"):
        make_run(tmp_path / name, *settings)
    train(open_run(tmp_path / "calm"), ignore)
    stop_when(
        open_run(tmp_path / "stopped"),
        lambda s: (
            s.counters.iteration >= 2
            and s.phase == phase
            and (phase != "learning" or s.counters.steps % 3 == 1)
        ),
    )
    assert len(read_metrics(tmp_path / "stopped")) < 4
    train(open_run(tmp_path / "stopped"), ignore)
    assert same(weights_of(tmp_path / "calm"), weights_of(tmp_path / "stopped"))
    calm, other = (read_metrics(tmp_path / name) for name in ("calm", "stopped"))
    for ours, theirs in zip(calm, other, strict=True):
        for field in ("iteration", "rows", "games", "steps", "policy_loss", "scores"):
            assert ours[field] == theirs[field]


def test_a_complete_run_has_nothing_left_to_do(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", "stop.iterations=2")
    train(run, ignore)
    before = {p: p.read_bytes() for p in run.path.rglob("*") if p.is_file() and p.name != "log"}
    train(open_run(run.path), ignore)
    after = {p: p.read_bytes() for p in run.path.rglob("*") if p.is_file() and p.name != "log"}
    assert before == after


def test_intervals_may_change_from_minutes_to_iterations(tmp_path: Path) -> None:
    """What happened at second 600 must not count as having happened at iteration 600."""
    settings = ("deterministic=false", "checkpoint_iterations=0", "evaluation.every_iterations=0")
    run = make_run(tmp_path / "run", *settings, "stop.iterations=1")
    train(run, ignore)
    file = run.path / "checkpoints/000001/state.json"
    document = json.loads(file.read_text())
    document["state"]["counters"] |= {"seconds": 601.0, "saved_at": 600.0, "evaluated_at": 590.0}
    file.write_text(json.dumps(document))
    change_run(
        run.path, ["stop.iterations=4", "checkpoint_iterations=1", "evaluation.every_iterations=2",
                   'evaluation.opponents=["random"]', "evaluation.games=2"],
    )  # fmt: skip
    train(open_run(run.path), ignore)
    assert list(checkpoint_paths(run.path)) == [1, 2, 3, 4]
    assert [bool(r["scores"]) for r in read_metrics(run.path)] == [False, False, True, False]


def test_a_run_by_games_and_by_minutes(tmp_path: Path) -> None:
    by_games = make_run(tmp_path / "games", "stop.iterations=null", "stop.games=60")
    learner = train(by_games, ignore)
    assert 60 <= learner.counters.games < 120
    by_minutes = make_run(
        tmp_path / "minutes", "stop.iterations=null", "stop.minutes=0.01", "deterministic=false",
        "checkpoint_iterations=0",
    )  # fmt: skip
    learner = train(by_minutes, ignore)
    assert learner.counters.checkpoint >= 1, "what was learnt is saved at the end"
    assert len(rows_on_disk(by_minutes.path)["results"]) <= learner.counters.rows


def hurry(learner: AlphaZero, minutes: float) -> None:
    """Let a learner believe that it is so much later."""
    learner._started -= 60 * minutes


def late_in_learning(run: Run, steps: int) -> AlphaZero:
    """Train, and let the clock jump by an hour when so many gradient steps are done."""

    def watch(learner: AlphaZero, status: Status) -> None:
        if status.phase == "learning" and status.counters.steps == steps:
            hurry(learner, 60)

    return train_watched(run, watch)


def test_the_last_gradient_steps_wait_when_the_minutes_are_over(tmp_path: Path) -> None:
    settings = ("stop.iterations=null", "deterministic=false", "train.reuse=20",
                "checkpoint_iterations=0", "checkpoint_minutes=1000")  # fmt: skip
    run = make_run(tmp_path / "run", *settings, "stop.minutes=30")
    counters = late_in_learning(run, 3).counters
    assert counters.steps == 3
    assert counters.owed > 20
    stored = read_checkpoint(max(checkpoint_paths(run.path).values())).state["counters"]
    assert (stored["steps"], stored["owed"]) == (3, pytest.approx(counters.owed))
    assert len(read_metrics(run.path)) == counters.iteration
    change_run(run.path, ["stop.minutes=null", f"stop.iterations={counters.iteration + 1}"])
    resumed = train(open_run(run.path), ignore)
    assert resumed.counters.steps == int(resumed.counters.rows * 20 / 16)


@pytest.mark.parametrize(("minutes", "learns"), [(30.5, True), (31.0, False)])
def test_the_last_games_are_learnt_from_if_that_takes_little_longer(
    tmp_path: Path, minutes: float, learns: bool
) -> None:
    def watch(learner: AlphaZero, status: Status) -> None:
        if status.phase == "self-play" and status.counters.iteration == 2:
            hurry(learner, minutes - learner._seconds() / 60)

    settings = ("stop.iterations=null", "stop.minutes=30", "deterministic=false", "train.reuse=20",
                "checkpoint_iterations=0", "checkpoint_minutes=1000")  # fmt: skip
    run = make_run(tmp_path / "run", *settings)
    train_watched(run, watch)
    before, last = read_metrics(run.path)[-2:]
    assert (last["steps"] > before["steps"]) == learns
    assert (last["policy_loss"] is not None) == learns, "what was not measured is not written"


def test_a_deterministic_run_learns_to_the_end_of_its_iteration(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", "stop.iterations=null", "stop.minutes=30", "train.reuse=20")
    counters = late_in_learning(run, 3).counters
    assert counters.steps == int(counters.rows * 20 / 16)


def test_a_run_by_games_learns_what_they_call_for(tmp_path: Path) -> None:
    settings = ("stop.iterations=null", "stop.games=60", "deterministic=false")
    counters = train(make_run(tmp_path / "run", *settings), ignore).counters
    assert counters.steps == int(counters.rows * 2 / 16)


def test_sample_games_are_kept_as_text(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", "stop.iterations=1")
    train(run, ignore)
    kept = list(read_records(run.path / "games" / "000001.jsonl"))
    assert 1 <= len(kept) <= SAMPLE_GAMES
    for record in kept:
        assert record.replay()[-1].outcome == record.result is not None


def test_games_that_branched_off_say_so(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", "stop.iterations=3", "selfplay.archive=1")
    train(run, ignore)
    kept = list(read_records(run.path / "games" / "000003.jsonl"))
    assert sum("begun" in record.extra for record in kept) > len(kept) / 4
    for record in kept:
        assert record.replay()[-1].outcome == record.result is not None


def test_threads_train_too(tmp_path: Path) -> None:
    run = make_run(
        tmp_path / "run", "deterministic=false", "selfplay.threads=2", "selfplay.slots=4",
        "stop.iterations=3", "window=5000",
    )  # fmt: skip
    learner = train(run, ignore)
    assert learner.counters.iteration == 3
    assert len(rows_on_disk(run.path)["results"]) == learner.counters.rows
    change_run(run.path, ["stop.iterations=4"])
    resumed = train(open_run(run.path), ignore)
    assert len(rows_on_disk(run.path)["results"]) == resumed.counters.rows > learner.counters.rows


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        (("deterministic=true", "selfplay.threads=1"), "selfplay.threads=0"),
        (("deterministic=true", "checkpoint_iterations=0"), "checkpoint_iterations"),
        (("iteration_rows=0",), "iteration_rows"),
        (("window=10",), "iteration_rows"),
        (("gate.every=0",), "every"),
        (("gate.games=0",), "games"),
        (("evaluation.games=0",), "games"),
        (("evaluation.simulations=0",), "simulations"),
        (("selfplay.fast_simulations=0",), "fast_simulations"),
        (("selfplay.search.simulations=0",), "simulations"),
        (("selfplay.temperature=[]",), "temperature"),
        (("train.batch=1",), "batch"),
        (("selfplay.search.exploration=-1",), "selfplay: search.exploration must be at least 0"),
        (("selfplay.search.cache_mb=-1",), "selfplay: search.cache_mb must be at least 0"),
        (("train.learning_rate=0",), "train: learning_rate must be above 0, not 0"),
        (("train.final_share=1.1",), "train: final_share must be from 0 to 1"),
        (("train.search_share=1.1",), "train: search_share must be from 0 to 1"),
        (("gate.threshold=55",), "gate: threshold must be from 0 to 1, not 55"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_settings_that_cannot_work_are_refused(settings: tuple[str, ...], complaint: str) -> None:
    with pytest.raises(UserError, match=complaint):
        override(AlphaZeroConfig(), [*TINY, *settings])


@pytest.mark.parametrize("learner", LEARNERS)
def test_few_settings_may_be_negative(learner: str) -> None:
    kind = LEARNERS[learner]
    numbers = {key for key, what in expected(kind.config) if "number" in what}
    taken = set()
    for key in numbers:
        with suppress(UserError):
            override(kind.config(), [f"{key}=-1"])
            taken.add(key)
    assert len(numbers) >= 10
    assert taken <= {"selfplay.threads", "selfplay.search.fpu"}


@pytest.mark.parametrize("learner", LEARNERS)
def test_every_preset_is_allowed(learner: str) -> None:
    kind = LEARNERS[learner]
    for settings in kind.presets.values():
        assert type(override(kind.config(), settings)) is kind.config
