"""`randori reproduce`: run a paper's experiments, print their tables, write them to a folder."""

import math
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from randori.cli.report import amount, announced, clock, note, print_json, print_table
from randori.errors import UserError, nearest
from randori.runs import atomic
from randori.runs.formats import json_bytes
from randori.words import some

PAPERS = ("go-shapes",)
GO_SHAPES = ("figure3", "figure4", "figure5", "figure6")
QUIET = 10.0
"""Seconds between two lines about how far it is."""


@dataclass(frozen=True)
class Wish:
    """What the command line asked for."""

    quick: bool
    runs: int | None
    games: int | None
    sets: str | None
    board: str | None
    average: float | None
    minutes: float | None
    size: int
    depth: int
    shapes: str | None
    liberties: str | None
    train: bool
    jobs: int
    seed: int
    output: Path
    as_json: bool


def reproduce(paper: str, figure: str | None, wish: Wish) -> None:
    """Run one experiment of a paper, or all of them."""
    if paper not in PAPERS:
        raise UserError(f"there is no paper {paper!r}; {nearest(paper, PAPERS)}")
    if figure is not None and figure not in GO_SHAPES:
        raise UserError(f"{paper} has no experiment {figure!r}; {nearest(figure, GO_SHAPES)}")
    with atomic.explained(wish.output):
        wish.output.mkdir(parents=True, exist_ok=True)
    found: dict[str, Any] = {}
    for name in [figure] if figure else GO_SHAPES:
        with announced("go"):
            found[name] = {"figure3": figure3, "figure4": figure4, "figure5": figure5,
                           "figure6": figure6}[name](wish)  # fmt: skip
        atomic.write_bytes(wish.output / f"{name}.json", json_bytes(found[name]))
    if wish.as_json:
        print_json(found[figure] if figure else found)


@contextmanager
def counted(total: int, noun: str) -> Iterator[Callable[[int], None]]:
    """Say now and then how much is done, how fast, and how long it takes; to stderr."""
    begin = last = time.monotonic()
    done = 0

    def tell(more: int) -> None:
        nonlocal done, last
        done += more
        now = time.monotonic()
        if now - last >= QUIET:
            last = now
            rate = done / (now - begin)
            left = clock((total - done) / rate) if rate else "?"
            note(f"{amount(done)} of {amount(total)} {noun}, {amount(rate)}/s, {left} left")

    yield tell


def figure3(wish: Wish) -> list[dict[str, Any]]:
    """Count the shapes."""
    from randori.papers.go_shapes import figure3 as count

    rows = count()
    if not wish.as_json:
        print("Figure 3: shapes on 5×5; weights when all eight symmetries share")
        table = [
            (row["set"], str(row["active"]), amount(row["weights"]),
             amount(row["paper"]) if row["paper"] else "h")
            for row in rows
        ]  # fmt: skip
        print_table(table, ("set", "on", "weights", "in the paper"), numbers=(1, 2, 3))
    return rows


def figure4(wish: Wish) -> dict[str, Any]:
    """Learn with single and with combined sets."""
    from randori.games.registry import load_game
    from randori.papers.curves import Curve, draw_curves
    from randori.papers.go_shapes import (
        BOARD,
        QUICK,
        SMALL,
        Experiment,
        Finding,
        Study,
        experiments,
        figure4,
    )  # fmt: skip
    from randori.shapes.sensible import lives_by_liberties
    from randori.shapes.sets import parse_sets

    game = load_game(wish.board or BOARD)
    opponent = "ALP" if lives_by_liberties(game) else "greedy"
    study = replace(QUICK if wish.quick else Study(), seed=wish.seed, jobs=wish.jobs)
    study = replace(study, runs=wish.runs or study.runs, games=wish.games or study.games)
    if wish.average is not None:
        study = replace(study, td=replace(study.td, average=wish.average))
    kinds: dict[str, Sequence[Experiment]]
    if wish.sets:
        words = wish.sets.split(",")
        kinds = {"chosen": [Experiment(word.strip(), parse_sets(word)) for word in words]}
    else:
        sizes = ("2x2",) if wish.quick else SMALL
        kinds = {
            "single": experiments(sizes, combined=False),
            "combined": experiments(sizes, combined=True),
        }
    total = study.runs * study.games * sum(len(chosen) for chosen in kinds.values())
    found: dict[str, list[Finding]] = {}
    with counted(total, "games") as tell:
        for kind, chosen in kinds.items():
            found[kind] = figure4(chosen, study, tell, wish.board or BOARD)
            curves = [
                Curve(one.name, one.games, [p.value for p in one.curve],
                      [p.low for p in one.curve], [p.high for p in one.curve])
                for one in found[kind]
            ]  # fmt: skip
            about = f"{some(study.runs, 'run')}, both agents, 95 % intervals"
            where = f"{game.name} on {game.board[0]}×{game.board[1]}"
            title = f"Wins against {opponent}, {where}, {kind} sets"
            drawn = draw_curves(curves, title, about)
            atomic.write_text(wish.output / f"figure4-{kind}.svg", drawn)
    for kind, rows in found.items():
        if not wish.as_json:
            games = some(study.games, "game", amount(study.games))
            runs = some(study.runs, "run")
            print(f"Figure 4, {kind} sets: wins against {opponent}, {runs} of {games}")
            table = [
                (one.name, amount(one.weights), _share(_at(one, 1000)), _share(one.final),
                 _games(one.to_half) if one.to_half else "-",
                 f"{one.halves}/{one.runs}", amount(one.rate.value))
                for one in rows
            ]  # fmt: skip
            heads = ("sets", "weights", "after 1000 games", "at the end", "games to 50 %", "runs",
                     "games/s")  # fmt: skip
            print_table(table, heads, numbers=(1, 2, 3, 4, 5, 6))
    return {
        "board": wish.board or BOARD,
        "runs": study.runs,
        "games": study.games,
        "average": study.td.average,
        **{kind: [_finite(one.to_dict()) for one in rows] for kind, rows in found.items()},
    }


def _at(finding: Any, games: int) -> Any:
    """Return a curve's point after so many games, or its last one before."""
    before = [i for i, g in enumerate(finding.games) if g <= games]
    return finding.curve[before[-1] if before else 0]


def _finite(found: Any) -> Any:
    """Write bounds that are not there as null: JSON knows no infinity."""
    if isinstance(found, Mapping):
        return {key: _finite(value) for key, value in found.items()}
    if isinstance(found, list | tuple):
        return [_finite(value) for value in found]
    return None if isinstance(found, float) and not math.isfinite(found) else found


def _share(mean: Any) -> str:
    return f"{100 * mean.value:.1f} % [{100 * mean.low:.1f}, {100 * mean.high:.1f}]"


def _games(mean: Any) -> str:
    """Write a number of games; one run alone has no interval."""
    bounds = f" [{amount(mean.low)}, {amount(mean.high)}]" if math.isfinite(mean.high) else ""
    return amount(mean.value) + bounds


def _models(wish: Wish, size: int) -> tuple[str, str]:
    """Return shapes and liberty shapes: those named, else the shipped ones, else newly trained."""
    from randori.papers.go_ratings import GAMES, MORE_GAMES, shipped, train

    minutes = wish.minutes or (0.2 if wish.quick else None)
    ours = None if wish.train or minutes else shipped(size)
    if ours:
        if not (wish.shapes and wish.liberties):
            note("taking shapes that come with Randori; --train trains anew")
        return wish.shapes or ours[0], wish.liberties or ours[1]
    last = 0.0

    def tell(record: Mapping[str, Any]) -> None:
        nonlocal last
        if time.monotonic() - last >= QUIET:
            last = time.monotonic()
            scores = " and ".join(f"{100 * score:.0f} %" for score in record["agent_scores"])
            played = some(record["games"], "game", amount(record["games"]))
            note(f"{record['size']}×{record['size']}, {played}: "
                 f"{scores} against ALP")  # fmt: skip

    def trained(name: str, games: int, shapes: Path | None) -> str:
        how = f"for {minutes:g} minutes" if minutes else f"in {amount(games)} games"
        folder = wish.output / f"{name}-{size}"
        is_there = folder.is_dir()
        note(f"going on with {folder} as it was begun; remove it to train anew" if is_there
             else f"training {name} {how}")  # fmt: skip
        return str(train(folder, size, minutes, seed=wish.seed, liberties=shapes, tell=tell))

    shapes = wish.shapes or trained("shapes", GAMES, None)
    return shapes, wish.liberties or trained("liberties", MORE_GAMES, Path(shapes))


def figure5(wish: Wish) -> dict[str, Any]:
    """Rate the agents."""
    from randori.papers.go_ratings import contenders, figure5, play_all

    size = 5 if wish.quick else wish.size
    games = wish.games or (20 if wish.quick else 200)
    shapes, liberties = _models(wish, size)
    specs = contenders(shapes, liberties, wish.depth)
    results = play_all(
        size, specs, games, seed=wish.seed,
        tell=lambda match: note(f"{match.a} - {match.b}: {100 * match.score:.1f} %"),
    )  # fmt: skip
    rows = figure5(results, size)
    if not wish.as_json:
        print(f"Figure 5: ratings on {size}×{size}, {some(games, 'game')} a pair, alp fixed at 850")
        table = [
            (row["agent"], f"{row['rating']:.0f}", f"[{row['low']:.0f}, {row['high']:.0f}]",
             f"{row['games']}", f"{100 * row['score']:.1f} %",
             "–" if row["paper"] is None else f"{row['paper']}")
            for row in rows
        ]  # fmt: skip
        heads = ("agent", "rating", "95 % interval", "games", "score", "in the paper")
        print_table(table, heads, numbers=(1, 2, 3, 4, 5))
    return {
        "size": size,
        "games": games,
        "agents": specs,
        "rows": rows,
        "matches": [match.summary() for match in results],
    }


def figure6(wish: Wish) -> dict[str, Any]:
    """Draw the most and the least valued shapes."""
    from randori.agents.shapes import load_shapes
    from randori.games.registry import load_game
    from randori.papers.go_ratings import RATED_ON
    from randori.papers.shape_pictures import draw_extremes, extremes

    size = 5 if wish.quick else wish.size
    shapes = wish.shapes or _models(replace(wish, liberties="none"), size)[0]
    value = load_shapes(load_game(RATED_ON.format(size=size)), Path(shapes))
    path = wish.output / "figure6.svg"
    atomic.write_text(path, draw_extremes(value))
    found = extremes(value, 5)
    if not wish.as_json:
        print(f"Figure 6: the most and the least valued shapes are drawn in {path}")
        table = [
            (str(one), *(" ".join(f"{shape.weight:+.3f}" for shape in kind[:3]) for kind in both))
            for one, both in found.items()
        ]
        print_table(table, ("set", "most valued", "least valued"))
    sys.stdout.flush()
    return {
        str(one): {
            name: [{"cells": shape.cells, "weight": shape.weight, "row": shape.home.row,
                    "column": shape.home.column, "height": shape.home.height,
                    "width": shape.home.width} for shape in kind]
            for name, kind in zip(("most", "least"), both, strict=True)
        }
        for one, both in found.items()
    }  # fmt: skip
