import io
import re

import pytest
from rich.console import Console

from randori.cli.progress import Progress
from randori.cli.report import amount, announced, clock, sparkline
from randori.cli.screen import Lines, Screen
from randori.learners.status import Counters, Status
from randori.learners.trainer import Losses
from randori.learners.yields import Tally
from randori.runs.config import override, to_dict
from randori.runs.folder import open_run


@pytest.fixture
def status():
    """Return a status in the middle of a long run."""
    from randori.learners.settings import AlphaZeroConfig

    config = override(AlphaZeroConfig(), ["stop.minutes=10", "gate.threshold=0.55"])
    record = {
        "games_per_s": 1234.5, "evaluations_per_s": 2.61e6, "bare_share": 0.97,
        "policy_entropy": 1.234, "search_overruled": 0.23, "game_length": 58.7,
        "first_player_score": 0.456, "gate_score": 0.57, "gate_passed": True,
    }  # fmt: skip
    history = [
        {**record, "iteration": i, "policy_loss": 3 / i, "value_loss": 1 / i,
         "scores": {"random": min(1, i / 20), "uct:simulations=100": i / 40} if i % 2 else {}}
        for i in range(1, 31)
    ]  # fmt: skip
    found = Status(
        "self-play", Counters(iteration=30, rows=123456, games=98765, steps=5432, seconds=125.0),
        Tally(), 2.7e6, Losses(0.812, 0.234), 0.5, {"random": (1.0, 20)}, history, None, 0.21,
    )  # fmt: skip
    return config, found


def make(kind, trained, status, monkeypatch, columns=80):
    from dataclasses import replace

    config, found = status
    monkeypatch.setenv("COLUMNS", str(columns))
    screen = kind(replace(open_run(trained), config=to_dict(config)))
    screen.listen(found)
    return screen


@pytest.mark.parametrize("columns", [60, 80, 120, 200])
def test_picture_fits_and_tells_all(trained, status, monkeypatch, columns):
    screen = make(Screen, trained, status, monkeypatch, columns)
    console = Console(file=io.StringIO(), width=columns, force_terminal=False)
    with console.capture() as captured:
        console.print(screen.picture())
    picture = captured.get()
    assert max(map(len, picture.splitlines())) <= columns - 2
    if columns < 80:
        return
    for words in (
        "tictactoe", "self-play", "21 %", "2:05", "7:55 left", "1 234/s", "2.61 M/s",
        "97 % of bare", "123 k", "5 432", "0.812", "0.234", "1.23", "23 %", "58.7", "46 %",
        "random", "uct:simulations=100", "72 %", "57 %", "took over", "Ctrl-C",
    ):  # fmt: skip
        assert words in picture, words
    assert "█" in picture
    assert "▁▁" in picture


def test_a_share_above_the_bare_network_is_explained_once(trained, status, monkeypatch, capsys):
    words = "above 100 % of bare: the network alone was measured too low"
    console = Console(file=io.StringIO(), width=100)

    def picture():
        with console.capture() as captured:
            console.print(make(Screen, trained, status, monkeypatch, 100).picture())
        return captured.get()

    assert words not in picture()
    for record in status[1].history:
        record["bare_share"] = 1.08
    assert words in picture()
    monkeypatch.setattr("randori.cli.screen.SILENCE", 0.0)
    lines = make(Lines, trained, status, monkeypatch)
    lines.listen(status[1])
    assert capsys.readouterr().err.count(words) == 1


def test_an_interval_is_as_wide_as_repeated_games_make_it(trained, status, monkeypatch):
    """Of 20 games against an opponent without dice two are evidence; old metrics do not say."""
    console = Console(file=io.StringIO(), width=120)

    def intervals():
        with console.capture() as captured:
            console.print(make(Screen, trained, status, monkeypatch, 120).picture())
        return re.findall(r"(\d+ %) – (\d+ %)", captured.get())

    assert status[0].evaluation.games == 20
    assert intervals() == [("84 %", "100 %"), ("51 %", "87 %")]
    status[1].history[-2]["effective_games"] = {"random": 2.0, "uct:simulations=100": 20.0}
    assert intervals() == [("34 %", "100 %"), ("51 %", "87 %")]


def test_compiling_is_shown_until_the_work_begins(trained, status, monkeypatch):
    screen = make(Screen, trained, status, monkeypatch)
    console = Console(file=io.StringIO(), width=80)
    screen.compiling("compiling the rules")
    with console.capture() as captured:
        console.print(screen.picture())
    assert "compiling the rules" in captured.get()
    screen.listen(status[1])
    with console.capture() as captured:
        console.print(screen.picture())
    assert "compiling the rules" not in captured.get()


def test_plain_line_is_one_line(trained, status, monkeypatch):
    line = make(Lines, trained, status, monkeypatch).line()
    assert "\n" not in line
    for words in ("2:05 (7:55 left)", "iteration 30 self-play", "1 234/s", "97 % of bare",
                  "loss 0.812 + 0.234", "random 100 %", "uct:simulations=100 72 %"):  # fmt: skip
        assert words in line, words


def test_past_of_earlier_processes_is_kept_but_not_what_was_undone(trained):
    resumed = Progress(open_run(trained))
    assert resumed.past().policy_losses == []  # nobody knows yet where the learner will start
    resumed.listen(Status(counters=Counters(iteration=2)))
    earlier = resumed.past().policy_losses
    assert len(earlier) == 2
    resumed.listen(Status(history=[{"iteration": 2, "policy_loss": 0.25}]))
    assert resumed.past().policy_losses == [earlier[0], 0.25]
    assert resumed.past().rates["game_length"] == 0.0


def test_sparkline():
    assert sparkline([0, 1, 2, 3, 4, 5, 6, 7], 8) == "▁▂▃▄▅▆▇█"
    assert sparkline([0, 0, 1, 1], 2) == "▁█"
    assert sparkline([0.5], 9, (0, 1)) == "▅"
    assert sparkline([2, 2], 9) == "▄▄"
    assert sparkline([], 9) == sparkline([1], 0) == ""


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0"), (0.814, "0.81"), (12.34, "12.3"), (999, "999"), (4321.4, "4 321"),
     (56700, "56.7 k"), (123456, "123 k"), (2.61e6, "2.61 M"), (3e9, "3.00 G")],
)  # fmt: skip
def test_amount(number, text):
    assert amount(number) == text


def test_clock():
    assert [clock(s) for s in (0, 5.4, 65, 3723)] == ["0:00", "0:05", "1:05", "1:02:03"]


def test_only_real_compiling_is_announced(monkeypatch):
    import threading

    import numba

    monkeypatch.setattr("randori.cli.report.PATIENCE", 0.0)
    heard, said = threading.Event(), []

    def tell(message):
        said.append(message)
        heard.set()

    def double(x):
        return 2 * x

    kernel = numba.njit(double)
    with announced("chess", tell):
        kernel(1)
        assert heard.wait(10)
        kernel(1.0)
    assert len(said) == 1
    assert "compiling kernels for chess" in said[0]
    said.clear()
    with announced("chess", tell):
        kernel(2)
    assert said == []
