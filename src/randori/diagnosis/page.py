"""Reports as one HTML file: style and pictures inside, nothing fetched, light and dark."""

import math
from collections.abc import Sequence
from html import escape

from randori.diagnosis import charts
from randori.diagnosis.doctor import Examination
from randori.diagnosis.findings import Finding, tenths
from randori.diagnosis.openings import Line, Period, Study
from randori.games.drawing import draw_board, last_cells
from randori.words import some

STYLE = """
:root{--paper:#f6f5f1;--card:#ffffff;--ink:#22262c;--faint:#6b727c;--rule:#e3e1da;
--ink-blue:#2f6f8f;--ok:#4c8a57;--odd:#b7821f;--sick:#b3402f;--unknown:#8d939b}
@media(prefers-color-scheme:dark){:root{--paper:#17191c;--card:#202327;--ink:#e8e6e1;
--faint:#9aa1aa;--rule:#33373d;--ink-blue:#6fb0d0;--ok:#4c8a57;--odd:#a87a25;--sick:#b8503f}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);
font:15px/1.5 system-ui,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
main{max-width:980px;margin:0 auto;padding:40px 24px 64px}
h1{font-size:26px;margin:0 0 4px;letter-spacing:-.01em}
h2{font-size:17px;margin:36px 0 12px}
p{margin:0 0 8px}
.faint,.chart text{color:var(--faint);fill:var(--faint)}
.chart text{font-size:11px}
.chart{display:block;max-width:100%;height:auto}
.grid{stroke:var(--rule);fill:none}
.ideal{stroke:var(--faint);stroke-dasharray:4 4;fill:none}
.card{background:var(--card);border:1px solid var(--rule);border-radius:12px;padding:16px 18px}
.chip{display:inline-block;min-width:52px;text-align:center;border-radius:99px;padding:1px 10px;
font-size:12px;font-weight:600;color:#fff}
.ok{background:var(--ok)}.odd{background:var(--odd)}.sick{background:var(--sick)}
.unknown{background:var(--unknown)}
.finding{display:grid;grid-template-columns:64px 1fr 96px 124px;gap:4px 16px;align-items:center;
padding:12px 0;border-top:1px solid var(--rule)}
.finding:first-child{border-top:0}
.number{font-size:18px;font-variant-numeric:tabular-nums;text-align:right;white-space:nowrap}
.advice{border-left:3px solid var(--odd);padding-left:10px;margin-top:4px}
.advice.is-sick{border-color:var(--sick)}
.lines{display:grid;grid-template-columns:repeat(auto-fill,minmax(296px,1fr));gap:16px}
.line h3{font-size:15px;margin:0 0 8px;overflow-wrap:anywhere}
.board{display:flex;justify-content:center;height:170px;margin-bottom:10px}
.board svg{height:100%;width:auto;max-width:100%}
.figures{display:flex;justify-content:space-between;font-variant-numeric:tabular-nums}
.swatch{display:inline-block;width:10px;height:10px;border-radius:3px;margin-right:6px}
.bar{height:6px;border-radius:3px;background:var(--rule);position:relative;margin:4px 0 10px}
.bar i{position:absolute;top:0;bottom:0;border-radius:3px;opacity:.35}
.bar b{position:absolute;top:-3px;width:3px;height:12px;border-radius:2px}
footer{margin-top:40px;font-size:13px}
@media(max-width:640px){.finding{grid-template-columns:64px 1fr 80px}.finding .trend{display:none}}
"""


def doctor_page(found: Examination) -> str:
    """Write the doctor's report."""
    counts = {v: sum(f.verdict == v for f in found.findings) for v in ("sick", "odd", "ok")}
    chips = " ".join(
        f'<span class="chip {verdict}">{count} {verdict}</span>'
        for verdict, count in counts.items()
        if count
    )
    state = (
        f"{found.game} · {found.learner} · iteration {found.iteration} · "
        f"{some(found.steps, 'step')} · {_clock(found.seconds)}"
    )
    rows = "".join(_finding(finding) for finding in found.findings)
    curve = found.finding("value_calibration").details.get("curve")
    plot = ""
    if curve:
        plot = (
            '<h2>Value against outcomes</h2><div class="card" style="display:inline-block">'
            f"{charts.calibration(curve)}"
            '<p class="faint" style="max-width:300px">On the dashed line, values come true. '
            "Larger dots stand for more rows.</p></div>"
        )
    body = (
        f"<h1>{escape(found.path.name)}</h1><p class='faint'>{escape(state)}</p><p>{chips}</p>"
        f'<h2>Findings</h2><div class="card">{rows}</div>{plot}{_notes(found.notes)}'
    )
    return _page(f"{found.path.name}: randori doctor", body)


def _finding(finding: Finding) -> str:
    advice = ""
    if finding.advice:
        sick = " is-sick" if finding.verdict == "sick" else ""
        advice = f'<div class="advice{sick}">Try: {escape(finding.advice)}</div>'
    verdict = "–" if finding.verdict == "unknown" else finding.verdict
    return (
        f'<div class="finding"><span class="chip {finding.verdict}">{verdict}</span>'
        f"<div><div>{escape(finding.title)}</div>"
        f'<div class="faint">{escape(finding.sentence)}</div>{advice}</div>'
        f'<div class="number">{escape(finding.shown)}</div>'
        f'<div class="trend">{charts.spark(finding.trend, label=f"{finding.title}, trend")}</div>'
        "</div>"
    )


def openings_page(study: Study) -> str:
    """Write the report of an opening study."""
    inks = [charts.INKS[i % len(charts.INKS)] for i in range(len(study.lines))]
    ticks = [_when(period) for period in study.periods]
    bands = [(_moves(line), line.shares, ink) for line, ink in zip(study.lines, inks, strict=True)]
    if study.others:
        bands.append((some(study.others, "other line"), study.rest, charts.REST))
    top = max((max(line.shares) for line in study.lines), default=1.0)
    known = [p for line in study.lines for p in line.priors if p is not None]
    top = min(1.0, math.ceil(10 * max([top, *known])) / 10)
    cards = "".join(
        _line(study, line, ink, top, ticks) for line, ink in zip(study.lines, inks, strict=True)
    )
    folded = ", mirror images taken as one" if study.folded else ""
    about = (
        f"{study.game.title} · first {some(study.plies, 'ply')} of "
        f"{some(study.games, 'game')} of self-play, "
        f"{some(len(study.lines) + study.others, 'different line')}{folded}"
    )
    body = (
        f"<h1>Openings of {escape(study.path.name)}</h1><p class='faint'>{escape(about)}</p>"
        f"<h2>How often each line is played</h2>"
        f'<div class="card">{charts.stack(bands, ticks)}</div>'
        '<h2>The lines, most played first</h2><p class="faint">Solid: share of games. Dashed: how '
        "often the network alone would play the line. Below: the first player's score with its "
        f'95&nbsp;% interval.</p><div class="lines">{cards}</div>{_notes(study.notes)}'
    )
    return _page(f"{study.path.name}: openings", body)


def _line(study: Study, line: Line, ink: str, top: float, ticks: Sequence[str]) -> str:
    game = study.game
    before = game.start()
    for action in line.actions[:-1]:
        before = before.play(action)
    state = line.position.state
    board = draw_board(game, state, last_cells(game, before.state, state))
    parts: list[tuple[charts.Series, str, bool]] = [(line.shares, ink, False)]
    if any(prior is not None for prior in line.priors):
        parts.append((line.priors, ink, True))
    score = "–" if line.score is None else f"{100 * line.score:.0f} %"
    played, bar = some(line.games, "game"), ""
    if line.score is not None:
        bar = (
            f'<div class="bar"><i style="left:{100 * line.low:.1f}%;'
            f'width:{100 * (line.high - line.low):.1f}%;background:{ink}"></i>'
            f'<b style="left:calc({100 * line.score:.1f}% - 1px);background:{ink}"></b></div>'
        )
    return (
        f'<div class="card line"><h3><span class="swatch" style="background:{ink}"></span>'
        f"{escape(_moves(line))}</h3>"
        f'<div class="board">{board}</div>'
        f'<div class="figures"><span>{played}, {escape(tenths(line.share))}</span>'
        f"<span>score {score}</span></div>{bar}"
        f"{charts.curves(parts, top, ticks, ' %')}</div>"
    )


def _moves(line: Line) -> str:
    """Number the moves as people do: 1. e4 e5 2. Nf3."""
    words = []
    for i, move in enumerate(line.moves):
        words.append(f"{i // 2 + 1}. {move}" if i % 2 == 0 else move)
    return " ".join(words)


def _when(period: Period) -> str:
    if period.seconds is not None:
        return _clock(period.seconds)
    return f"checkpoint {period.last}"


def _clock(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _notes(notes: Sequence[str]) -> str:
    items = "".join(f"<li>{escape(note)}</li>" for note in notes)
    return f'<h2>Notes</h2><ul class="faint">{items}</ul>' if items else ""


def _page(title: str, body: str) -> str:
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head>\n"
        f"<body><main>{body}</main></body></html>\n"
    )
