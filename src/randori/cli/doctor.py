"""The doctor on the command line: a table of findings, then what to try."""

from pathlib import Path

from randori.cli.report import (
    announced,
    clock,
    console,
    expect_new_file,
    note,
    print_json,
    sparkline,
)
from randori.diagnosis.doctor import Examination, examine
from randori.diagnosis.page import doctor_page
from randori.runs.atomic import write_text
from randori.runs.folder import open_run
from randori.words import some

STYLES = {"sick": "bold red", "odd": "yellow", "ok": "green", "unknown": "dim"}
TREND = 12
"""Letters of a trend."""


def run_doctor(path: Path, *, html: Path | None, as_json: bool) -> None:
    """Examine a run folder and print what was found."""
    if html is not None:
        expect_new_file(html)
    run = open_run(path)
    with announced(run.game):
        found = examine(path)
    if html is not None:
        write_text(html, doctor_page(found))
        note(f"wrote {html}")
    if as_json:
        print_json(found.summary())
    else:
        print_findings(found)


def print_findings(found: Examination) -> None:
    """Print the findings, worst first, and advice on those that are not ok."""
    from rich.table import Table
    from rich.text import Text

    screen = console()
    print(
        f"{found.path}: {found.game}, {found.learner}, iteration {found.iteration}, "
        f"{some(found.steps, 'step')}, {clock(found.seconds)}"
    )
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for head in ("", "finding", "now", "trend", "what it means"):
        table.add_column(head, justify="right" if head == "now" else "left",
                         no_wrap=head in ("", "now", "trend"))  # fmt: skip
    for finding in found.findings:
        verdict = "–" if finding.verdict == "unknown" else finding.verdict
        table.add_row(
            Text(verdict, STYLES[finding.verdict]), finding.title, finding.shown,
            sparkline(finding.trend, TREND) if len(finding.trend) > 1 else "", finding.sentence,
        )  # fmt: skip
    with screen.capture() as captured:
        screen.print(table)
    for line in captured.get().splitlines():
        print(line.rstrip())
    for finding in found.findings:
        if finding.advice:
            print(f"try ({finding.title}): {finding.advice}")
    for sentence in found.notes:
        note(f"note: {sentence}")
