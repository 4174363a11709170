"""Paper B, "Reinforcement learning of local shape in the game of Go": its tables and curves.

Figure 3 counts shapes, figure 4 learns with single and with combined sets on 5×5, figure 5 rates
agents on 9×9 (`go_ratings`), figure 6 draws what was learnt (`shape_pictures`). The paper leaves
the rules on 5×5 open, and they matter: with komi 0.5 agents learn later, and where no position may
come back they learn later but a single set ends better.
"""

import math
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from randori.games.game import Game
from randori.games.registry import load_game
from randori.shapes.pair import Pair, TdConfig
from randori.shapes.sets import SIZES, ShapeSet, general_sets, parse_set
from randori.shapes.tables import board_turns, build_tables

BOARD = "go:size=5,komi=7.5,ko=simple,suicide=no,cap=100"
SMALL = SIZES[:5]
"""Sizes with a weight for every shape."""
EARLY = 20
"""Tests at the paper's pace, before they come less often."""
MOST_TESTS = 40
PAPER = {"independent": (3, 9, 81, 729, 19_683), "dependent": (27, 54, 324, 2_916, 78_732)}
"""The weights that the paper's figure 3 gives, before all symmetries share."""

Tell = Callable[[int], None]
"""Hears how many training games were played since it last did."""


def figure3(spec: str = BOARD) -> list[dict[str, Any]]:
    """Count the shapes of every set: on in a position, weights here, and weights in the paper."""
    game = load_game(spec)
    every = [ShapeSet(*_sides(size), is_placed) for size in SIZES for is_placed in (False, True)]
    fitting = tuple(one for one in every if one.height <= min(game.board))
    facts = build_tables(fitting, game.board, board_turns(game)).facts
    rows = []
    for fact in facts:
        place = SIZES.index(fact.set.size)
        printed = PAPER["dependent" if fact.set.is_placed else "independent"]
        known = game.board == (5, 5) and place < len(printed)
        rows.append({
            "set": str(fact.set), "active": fact.active, "weights": fact.weights,
            "paper": printed[place] if known else None,
        })  # fmt: skip
    return rows


def _sides(size: str) -> tuple[int, int]:
    one = parse_set(size)
    return one.height, one.width


@dataclass(frozen=True)
class Study:
    """How much an experiment is given: the paper's own would be 50 runs."""

    runs: int = 10
    games: int = 100_000
    test_every: int = 500
    test_games: int = 100
    final_games: int = 1_000
    seed: int = 0
    jobs: int = 1
    td: TdConfig = field(default_factory=TdConfig)


QUICK = Study(runs=2, games=2_000, test_games=50, final_games=100)


@dataclass(frozen=True)
class Experiment:
    """Sets that learn together, under one name."""

    name: str
    sets: tuple[ShapeSet, ...]


@dataclass(frozen=True)
class Learning:
    """What one run of an experiment brought; scores are those of both agents against ALP."""

    games: tuple[int, ...]
    scores: tuple[tuple[float, float], ...]
    final: tuple[float, float]
    to_half: int | None
    """games after which both agents were above 50 %"""
    rate: float
    """training games a second of one core"""


@dataclass(frozen=True)
class Mean:
    """A mean over runs with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Finding:
    """What all runs of an experiment have to say."""

    name: str
    sets: tuple[str, ...]
    weights: int
    runs: int
    games: tuple[int, ...]
    curve: tuple[Mean, ...]
    final: Mean
    to_half: Mean | None
    halves: int
    """runs that came above 50 % with both agents"""
    rate: Mean
    """training games a second of one core, tests not counted"""

    def to_dict(self) -> dict[str, Any]:
        """Return what `--json` prints."""
        return asdict(self)


def experiments(sizes: Iterable[str], *, combined: bool) -> list[Experiment]:
    """List figure 4's experiments: each set alone, or with all sets that are as general."""
    found = []
    for size in sizes:
        for name in (size, f"{size}@"):
            one = parse_set(name)
            sets = general_sets(one) if combined else (one,)
            found.append(Experiment(f"..{name}" if combined else name, sets))
    return found


def test_marks(study: Study) -> list[int]:
    """Return after how many games agents are tested: often at first, then `MOST_TESTS` in all."""
    marks = [study.test_every * i for i in range(1, EARLY + 1)]
    marks = [mark for mark in marks if mark < study.games]
    last = marks[-1] if marks else 0
    left = MOST_TESTS - len(marks)
    step = max(study.test_every, (study.games - last) // left)
    marks += list(range(last + step, study.games, step))
    return [*marks, study.games]


def learn(game: Game, experiment: Experiment, study: Study, number: int, tell: Tell) -> Learning:
    """Run an experiment once."""
    pair = Pair(game, experiment.sets, study.td, seed=1000 * study.seed + number)
    marks, scores, to_half, seconds = test_marks(study), [], None, 0.0
    for mark in marks:
        tell(mark - pair.games)
        begin = time.thread_time()
        pair.train(mark - pair.games)
        seconds += time.thread_time() - begin
        scores.append(pair.tests(study.test_games))
        if to_half is None and min(scores[-1]) > 0.5:
            to_half = mark
    final = pair.tests(study.final_games)
    return Learning(tuple(marks), tuple(scores), final, to_half, study.games / max(1e-9, seconds))


def figure4(
    chosen: Sequence[Experiment], study: Study, tell: Tell, spec: str = BOARD
) -> list[Finding]:
    """Run the experiments, `study.jobs` runs at a time."""
    game = load_game(spec)
    found = []
    with ThreadPoolExecutor(study.jobs) as pool:
        for experiment in chosen:
            learn(game, experiment, _tiny(study), 0, lambda games: None)  # compiles, in one thread
            runs = list(
                pool.map(lambda n, e=experiment: learn(game, e, study, n, tell), range(study.runs))
            )
            found.append(summarise(game, experiment, study, runs))
    return found


def _tiny(study: Study) -> Study:
    return Study(runs=1, games=1, test_games=1, final_games=1, td=study.td)


def summarise(
    game: Game, experiment: Experiment, study: Study, runs: Sequence[Learning]
) -> Finding:
    """Add up the runs of an experiment; each counts with the mean of its two agents."""
    tables = build_tables(experiment.sets, game.board, board_turns(game), study.td.bins)
    halves = [run.to_half for run in runs if run.to_half is not None]
    points = zip(*(run.scores for run in runs), strict=True)
    return Finding(
        name=experiment.name,
        sets=tuple(str(one) for one in tables.sets),
        weights=tables.num_weights - 1,
        runs=len(runs),
        games=runs[0].games,
        curve=tuple(mean_of([sum(pair) / 2 for pair in point], 0.0, 1.0) for point in points),
        final=mean_of([sum(run.final) / 2 for run in runs], 0.0, 1.0),
        to_half=mean_of(halves, 0.0) if halves else None,
        halves=len(halves),
        rate=mean_of([run.rate for run in runs], 0.0),
    )


def mean_of(values: Sequence[float], least: float = -math.inf, most: float = math.inf) -> Mean:
    """Return a mean with Student's 95 % interval, which for one value is all there can be."""
    mean = float(np.mean(values))
    if len(values) < 2:
        return Mean(mean, least, most)
    spread = student(len(values) - 1) * float(np.std(values, ddof=1)) / math.sqrt(len(values))
    return Mean(mean, max(least, mean - spread), min(most, mean + spread))


def student(freedom: int) -> float:
    """Return the 97.5 % quantile of Student's distribution, within 0.01."""
    table = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776}
    if freedom in table:
        return table[freedom]
    z = 1.959964
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / freedom + second / freedom**2 + third / freedom**3
