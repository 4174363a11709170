"""Every benchmark on the smallest work: that it runs and what it is called, not how fast it is."""

import json
import sys
from itertools import groupby
from types import SimpleNamespace

import pytest

from randori.cli import bench, bench_train
from randori.cli.bench_work import Work
from randori.games.registry import GAMES

SMALL = [
    "--blocks",
    "1",
    "--channels",
    "8",
    "--slots",
    "8",
    "--simulations",
    "8",
    "--seconds",
    "0.2",
    "--runtime",
    "torch",
]


@pytest.fixture(autouse=True)
def hurried(monkeypatch):
    for name, value in (("search.BARE_SECONDS", 0.05), ("search.ROUNDS", 2), ("search.REPEATS", 1),
                        ("rules.REPEATS", 1), ("rules.PERFT_SECONDS", 0.0),
                        ("train.TRAIN_ROWS", 64), ("train.PIECE_SECONDS", 0.05)):  # fmt: skip
        monkeypatch.setattr(f"randori.cli.bench_{name}", value)


def test_search(randori):
    figures = randori("bench", "search", "tictactoe", *SMALL, "--json").json
    assert figures["microseconds_per_simulation"] > 0
    assert figures["in_play_microseconds"] > 0
    assert "root_look_milliseconds" in figures
    assert figures["trees_mb"] > 0


def test_the_bare_rate_is_of_the_lanes_that_self_play_has(randori, monkeypatch):
    """On a card these may send bytes, and then the share is of a network that does so, too."""
    from randori.networks import choose

    make, lanes = choose.make_evaluator, []

    class Compact:
        name = "compact"

        def __init__(self, *given):
            self._inner = make(*given)

        def compact_lane(self, batch):
            lanes.append(batch)
            return self._inner.lane(batch)

        def lane(self, batch):
            raise AssertionError("asked for a lane of float32")

    monkeypatch.setattr(choose, "make_evaluator", Compact)
    assert randori("bench", "selfplay", "tictactoe", *SMALL, "--json").json["ratio"] > 0
    assert len(lanes) > 2


def test_selfplay(randori):
    figures = randori("bench", "selfplay", "tictactoe", *SMALL, "--json").json
    assert figures["evaluations_per_s"] > 0
    assert figures["ratio"] == pytest.approx(
        figures["evaluations_per_s"] / figures["bare_evaluations_per_s"]
    )
    assert figures["games_per_s"] > 0
    assert 0 < figures["search_mb"] < figures["peak_rss_mb"]
    shown = randori("bench", "selfplay", "tictactoe", *SMALL).out
    assert "share of the bare network" in shown


def test_a_share_above_the_bare_network_is_explained(capsys):
    bench.print_figures("selfplay", {"game": "tictactoe", "ratio": 1.004})
    assert "above 100 %" not in capsys.readouterr().out
    bench.print_figures("selfplay", {"game": "tictactoe", "ratio": 1.08})
    assert "the network alone was measured too low" in capsys.readouterr().out


def test_perft(randori):
    figures = randori("bench", "perft", "tictactoe", "--json").json
    assert figures["game"] == "tictactoe"
    assert figures["nodes_per_s"] > 0
    every = randori("bench", "perft", "--json").json
    assert set(every["nodes_per_s"]) == set(GAMES)
    assert all(row["random_moves_per_s"] > 0 for row in every["games"])
    assert "nodes per s" in randori("bench", "perft", "tictactoe").out


def test_solver(randori):
    figures = randori("bench", "solver", "connect4:width=4,height=4", "--json").json
    assert figures["nodes_per_s"] > 0
    assert randori("bench", "solver", "shobu").complaint == "shobu has no exact solver"


def test_train(randori):
    figures = randori("bench", "train", "tictactoe", *SMALL, "--batch=16", "--json").json
    assert figures["samples_per_s"] == pytest.approx(16 * figures["steps_per_s"])
    assert figures["seconds"] > 0.2, "measured, not asked for"
    assert figures["times_fp32"] > 0
    assert (figures["precision"] == "bf16") == (figures["times_fp32"] != 1.0)


class Paced:
    """A trainer whose steps cost seconds of a clock that nothing else moves."""

    def __init__(self, name, cost, clock, log):
        self.name, self.cost, self.clock, self.log = name, cost, clock, log

    def targets_of(self, samples):
        return samples

    def step(self, targets, rate_share):
        self.log.append(self.name)
        self.clock[0] += self.cost

    def finish(self):
        pass


def test_precisions_train_in_turn(monkeypatch):
    clock, log = [0.0], []
    monkeypatch.setattr(bench_train, "perf_counter", lambda: clock[0])
    monkeypatch.setattr(bench_train, "PIECE_SECONDS", 2.0)
    trainers = [Paced("fp32", 1.0, clock, log), Paced("bf16", 0.5, clock, log)]
    replay = SimpleNamespace(sample=lambda rng, batch: None)
    assert bench_train._time_steps(trainers, replay, Work(seconds=4.0)) == [(4, 4.0), (8, 4.0)]
    turns = [name for name, _ in groupby(log[2 * bench_train.WARM_STEPS :])]
    assert turns == ["fp32", "bf16", "fp32", "bf16"]


def test_all(randori):
    answer = randori("bench", "all", "tictactoe", *SMALL, "--json")
    assert set(answer.json) == {"search", "selfplay", "perft", "alphabeta", "train"}


def test_unknown(randori):
    complaint = randori("bench", "serch").complaint
    assert complaint == "there is no benchmark 'serch'; did you mean 'search'?"


def test_peer(randori, tmp_path, monkeypatch):
    said = json.dumps({"peer": "other", "nodes_per_s": 1000.0, "random_moves_per_s": 500.0})
    (tmp_path / "peers.py").write_text(f"print({said!r})")
    monkeypatch.setattr("randori.cli.bench_work.PEERS", tmp_path / "peers.py")
    line = ("bench", "perft", "tictactoe", "--peers", sys.executable)
    figures = randori(*line, "--json").json
    assert figures["times_peer"] == pytest.approx(figures["nodes_per_s"] / 1000)
    assert figures["moves_times_peer"] == pytest.approx(figures["random_moves_per_s"] / 500)
    assert "times as fast as the peer" in randori(*line).out
    (tmp_path / "peers.py").write_text("import sys; sys.exit('peers.py: no module named x')")
    assert randori(*line).complaint == "--peers: peers.py: no module named x"
    complaint = randori(*line[:-1], "/no/python").complaint
    assert complaint.startswith("--peers: cannot run /no/python")
