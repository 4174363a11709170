"""Exams on the command line: a table by class, the failures, and how the suites are made."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, perf_counter
from typing import Any

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from randori.agents.agent import Agent
from randori.agents.human import Departure, HumanPlayer
from randori.agents.registry import load_agent
from randori.arena.exam import BATCH, Answer, ExamResult, answer_in_turn, tally
from randori.arena.suite_makers import MAKERS, make_suite
from randori.arena.suites import Suite, find_suite, read_suite, shipped_suites, write_suite
from randori.cli.gauge import SILENCE
from randori.cli.report import (
    announced,
    clock,
    console,
    expect_new_file,
    note,
    print_json,
    print_table,
)
from randori.errors import Stopped, UserError, nearest
from randori.games.game import Game
from randori.games.registry import load_game
from randori.runs import atomic
from randori.words import are, some


def run_exam(
    spec: str, name: str | None, agent: str | None, *, failures: int, seed: int, as_json: bool
) -> None:
    """Let an agent take an exam and report it; without a suite, list those of the game."""
    game = load_game(spec)
    if name is None and agent is not None:
        known = ", ".join(shipped_suites(game)) or f"none for {game.spec} is shipped"
        raise UserError(f"which suite, or file of your own? Known: {known}")
    if name is None:
        list_suites(game, as_json)
        return
    path = find_suite(game, name)  # a wrong name should not wait for a model
    if agent is None:
        raise UserError("who takes the exam? Add --agent, such as --agent uct:simulations=100")
    player = load_agent(agent, game)
    suite = read_suite(game, path)
    start = perf_counter()
    with announced(game.name):
        result, is_whole = take_or_stop(player, suite, seed)
    seconds = perf_counter() - start
    missed = result.failures
    count = some(len(suite.questions), "position")
    if as_json:
        shown = [answer.summary() for answer in missed[:failures]]
        print_json({"game": game.spec, "suite": name, **result.summary(), "failures": shown,
                    "suite_positions": len(suite.questions), "seconds": seconds,
                    "seed": seed})  # fmt: skip
    else:
        of = count if is_whole else f"{len(result.answers)} of {count}"
        print(f"{game.spec}, {name}: {result.agent}, {of}")
        print_answers(result)
        print_failures(missed, failures)
        note(f"{clock(seconds)}, seed {seed}")
    if not is_whole:
        raise Stopped


def take_or_stop(agent: Agent, suite: Suite, seed: int) -> tuple[ExamResult, bool]:
    """Let an agent take an exam; if it is stopped, return its answers, and that some are missing.

    Ctrl-C stops it, or a person who leaves; people get one board at a time.
    """
    total, answers = len(suite.questions), list[Answer]()
    batch = 1 if isinstance(agent.player, HumanPlayer) else BATCH
    try:
        with shown_count(total, "positions") as tell:
            for part in answer_in_turn(agent, suite, seed=seed, batch=batch):
                answers += part
                tell(len(answers), 0)
    except (KeyboardInterrupt, Departure) as stop:
        why = f"stopped: {stop}: " if isinstance(stop, Departure) else "stopped: "
        fair = "; classes come one after the other, so they are no fair sample" if answers else ""
        answered = f"{some(total, 'position')} {are(total)} answered"
        note(f"{why}{len(answers)} of {answered}{fair}")
        if not answers:
            raise Stopped from None
    return ExamResult(agent.spec, tuple(answers)), len(answers) == total


def print_answers(result: ExamResult) -> None:
    """Print how many answers are right, in all and by class."""
    rows = [_row("all", result.answers)]
    classes = result.by_class()
    if len(classes) > 1:
        rows += [_row(kind or "(no class)", answers) for kind, answers in classes.items()]
    heads = ["", "positions", "correct", "accuracy", "95 % interval"]
    if len(rows[0]) > len(heads):
        heads += ["best", "mean loss"]
        print("correct: the move keeps the outcome; best: no move scores more")
    print_table(rows, heads, numbers=range(1, len(heads)))


def _row(name: str, answers: Sequence[Answer]) -> tuple[str, ...]:
    found = tally(answers)
    share, low, high = (f"{100 * found[key]:.1f}" for key in ("accuracy", "low", "high"))
    row = (name, str(found["positions"]), str(found["correct"]), f"{share} %", f"[{low}, {high}]")
    if "mean_loss" not in found:
        return row
    return *row, f"{100 * found['best_share']:.1f} %", f"{found['mean_loss']:.2f}"


def print_failures(missed: Sequence[Answer], most: int) -> None:
    """Print the first wrong answers."""
    shown = [answer.summary() for answer in missed[:most]]
    if not shown:
        return
    print(f"wrong answers, {len(shown)} of {len(missed)}:")
    heads = ["class", "name", "played", "best", "loss", "position"]
    used = [head for head in heads if any(one.get(head, "") != "" for one in shown)]
    rows = [[_cell(one.get(head, "")) for head in used] for one in shown]
    print_table(rows, used)


def _cell(value: Any) -> str:
    """Write one part of a wrong answer."""
    if isinstance(value, list):
        return " ".join(value)
    return "gave up" if value is None else str(value)


def list_suites(game: Game, as_json: bool) -> None:
    """Print the shipped suites of a game."""
    rows = []
    for name, path in shipped_suites(game).items():
        suite = read_suite(game, path)
        rows.append({"suite": name, "positions": len(suite.questions), "about": suite.notes[0]})
    if as_json:
        print_json(rows)
    elif rows:
        lines = [[str(value) for value in row.values()] for row in rows]
        print_table(lines, ("suite", "positions", "about"), numbers=(1,))
    else:
        note(f"no suite for {game.spec} is shipped; a file of your own will do")


def run_make_suite(name: str, output: Path | None, count: int | None, seed: int) -> None:
    """Make a suite anew and write it to a file, or print it."""
    if name not in MAKERS:
        raise UserError(f"there is no suite {name!r}; {nearest(name, MAKERS)}")
    if output is not None:
        expect_new_file(output)
    start = perf_counter()
    try:
        with announced(MAKERS[name].game), shown_count(None, "positions") as tell:
            suite = make_suite(name, count, seed, tell)
    except KeyboardInterrupt:
        note(f"stopped: {name} is not finished, and nothing was written")
        raise Stopped from None
    text = write_suite(suite)
    if output is None:
        print(text, end="")
    else:
        atomic.write_text(output, text)
    kinds = len({question.kind for question in suite.questions})
    took = clock(perf_counter() - start)
    made = some(len(suite.questions), "position")
    note(f"{name}: {made} in {some(kinds, 'class')}; {took}")


@contextmanager
def shown_count(total: int | None, noun: str) -> Iterator[Callable[[int, int], None]]:
    """Show on stderr how many of `total` are done; if that is None, the callers say of how many."""
    last = monotonic()

    def tell(done: int, wanted: int) -> None:
        nonlocal last
        if monotonic() - last >= SILENCE:
            last = monotonic()
            note(f"{done}/{total or wanted} {noun}")

    screen = console(stderr=True)
    if not screen.is_terminal:
        yield tell
        return
    columns: Any = (
        MofNCompleteColumn(), TextColumn(noun), BarColumn(), TimeRemainingColumn(),
    )  # fmt: skip
    with Progress(*columns, console=screen, transient=True) as bars:
        task = bars.add_task("", total=total)
        yield lambda done, wanted: bars.update(task, completed=done, total=total or wanted)
