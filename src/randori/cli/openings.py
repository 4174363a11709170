"""Opening lines of a run on the command line."""

from pathlib import Path

from randori.cli.report import (
    announced,
    clock,
    expect_new_file,
    note,
    print_json,
    print_table,
    sparkline,
)
from randori.diagnosis.findings import tenths
from randori.diagnosis.openings import Line, Study, study
from randori.diagnosis.page import openings_page
from randori.runs.atomic import write_text
from randori.runs.folder import open_run
from randori.words import some

TREND = 12
FEW = 100
"""With fewer games shares say little."""


def run_openings(
    path: Path, *, plies: int, top: int, fold: bool, html: Path | None, as_json: bool
) -> None:
    """Count the openings of a run's games and print them."""
    if html is not None:
        expect_new_file(html)
    run = open_run(path)
    with announced(run.game):
        found = study(path, plies=plies, top=top, fold=fold)
    if html is not None:
        write_text(html, openings_page(found))
        note(f"wrote {html}")
    if as_json:
        print_json(found.summary())
        return
    print(
        f"{path}: first {some(plies, 'ply')} of {some(found.games, 'game')} of {run.game}, "
        f"{some(len(found.lines) + found.others, 'different line')}"
    )
    heads = ["line", "games", "share", "over time", "network", "first player's score"]
    print_table([_row(line) for line in found.lines], heads, numbers=(1, 2, 4))
    if found.others:
        left = sum(line.games for line in found.lines)
        print(f"{some(found.others, 'other line')}: {some(found.games - left, 'game')}")
    for sentence in (*_remarks(found), *found.notes):
        note(f"note: {sentence}")


def _row(line: Line) -> list[str]:
    prior = next((p for p in reversed(line.priors) if p is not None), None)
    score = "–"
    if line.score is not None:
        score = f"{100 * line.score:.0f} % [{100 * line.low:.0f}, {100 * line.high:.0f}]"
    return [
        " ".join(line.moves), str(line.games), tenths(line.share),
        sparkline(line.shares, TREND, (0.0, max(line.shares))),
        "–" if prior is None else tenths(prior), score,
    ]  # fmt: skip


def _remarks(found: Study) -> list[str]:
    times = [period.seconds for period in found.periods if period.seconds is not None]
    over = f", the last after {clock(times[-1])}" if times else ""
    remarks = [
        f"{some(len(found.periods), 'point')} in time{over}",
        "a run keeps the newest games before each checkpoint, at most 200 of them",
    ]
    if found.games < FEW:
        remarks.append(f"only {some(found.games, 'game')}: shares and scores are rough")
    return remarks
