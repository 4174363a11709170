"""A curve with error bars as SVG: a score over a budget, on a logarithmic scale."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 680, 440
LEFT, RIGHT, TOP, BOTTOM = 70, 74, 62, 74
INK, FAINT, GRID, CURVE = "#1f2430", "#68707f", "#e4e6ea", "#1f6f8b"
ELOS = (-400, -200, -100, 0, 100, 200, 400)
"""Differences that are marked at the right."""
MOST_TICKS, LONGEST_TITLE = 9, 64


@dataclass(frozen=True)
class Point:
    """A score at a budget, with its interval; scores from 0 to 1."""

    budget: float
    score: float
    low: float
    high: float


def draw_chart(points: Sequence[Point], title: str, label: str, footnote: str) -> str:
    """Draw a curve as an SVG document; `label` names the budgets."""
    low, high = min(p.budget for p in points), max(p.budget for p in points)
    margin = max(1.15, (high / low) ** 0.06)
    left, right = math.log(low / margin), math.log(high * margin)

    def across(budget: float) -> float:
        return LEFT + (math.log(budget) - left) / (right - left) * (WIDTH - LEFT - RIGHT)

    spots = [(across(p.budget), p) for p in points]
    places = " ".join(f"{x:.1f},{_up(p.score):.1f}" for x, p in spots)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
            f'width="{WIDTH}" height="{HEIGHT}" font-size="12" '
            'font-family="system-ui, DejaVu Sans, sans-serif">',
            f"<title>{escape(title)}</title>",
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
            _text(LEFT, 28, _shortened(title), INK, 'font-size="15" font-weight="600"'),
            _text(LEFT, 47, footnote, FAINT),
            *_scores(),
            *(part for budget in _ticks(points) for part in _tick(across(budget), budget)),
            *_names(label),
            *(part for x, p in spots for part in _bar(x, p)),
            f'<polyline points="{places}" fill="none" stroke="{CURVE}" stroke-width="2"/>',
            *(
                f'<circle cx="{x:.1f}" cy="{_up(p.score):.1f}" r="4.5" fill="{CURVE}"/>'
                for x, p in spots
            ),
            "</svg>",
            "",
        ]
    )


def _shortened(title: str) -> str:
    half = LONGEST_TITLE // 2
    return title if len(title) <= LONGEST_TITLE else f"{title[:half]}…{title[-half:]}"


def _up(score: float) -> float:
    return HEIGHT - BOTTOM - score * (HEIGHT - TOP - BOTTOM)


def _text(x: float, y: float, words: str, fill: str, extra: str = "") -> str:
    return f'<text x="{x:g}" y="{y:g}" fill="{fill}" {extra}>{escape(words)}</text>'


def _scores() -> Iterator[str]:
    """Yield the lines across, with the score at the left and its Elo difference at the right."""
    for percent in range(0, 101, 25):
        y = _up(percent / 100)
        stroke = FAINT if percent in (0, 50) else GRID
        dash = ' stroke-dasharray="4 4"' if percent == 50 else ""
        yield f'<path d="M{LEFT} {y:g}H{WIDTH - RIGHT}" stroke="{stroke}"{dash}/>'
        yield _text(LEFT - 8, y + 4, f"{percent}", FAINT, 'text-anchor="end"')
    for elo in ELOS:
        y = round(_up(1 / (1 + 10 ** (-elo / 400))), 1)
        yield f'<path d="M{WIDTH - RIGHT} {y}h5" stroke="{FAINT}"/>'
        yield _text(WIDTH - RIGHT + 9, y + 4, f"{elo:+d}" if elo else "0", FAINT)


def _ticks(points: Sequence[Point]) -> list[float]:
    """Choose which budgets are written below: all, or every second, third … of many."""
    step = math.ceil(len(points) / MOST_TICKS)
    return [point.budget for point in points[::step]]


def _tick(x: float, budget: float) -> Iterator[str]:
    yield f'<path d="M{x:.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="{GRID}"/>'
    yield f'<path d="M{x:.1f} {HEIGHT - BOTTOM}v5" stroke="{FAINT}"/>'
    yield _text(round(x, 1), HEIGHT - BOTTOM + 20, f"{budget:g}", FAINT, 'text-anchor="middle"')


def _names(label: str) -> Iterator[str]:
    """Yield the names of the axes."""
    middle = (LEFT + WIDTH - RIGHT) / 2
    centre = (TOP + HEIGHT - BOTTOM) / 2
    below = f"{label} (logarithmic)"
    yield _text(middle, HEIGHT - 24, below, INK, 'text-anchor="middle"')
    for x, name in ((20, "score in %"), (WIDTH - 14, "Elo difference")):
        turn = f'transform="rotate(-90 {x} {centre:g})" text-anchor="middle"'
        yield _text(x, centre, name, INK, turn)


def _bar(x: float, point: Point) -> Iterator[str]:
    """Yield an error bar with its two ends."""
    top, bottom = _up(point.high), _up(point.low)
    yield (
        f'<path d="M{x:.1f} {top:.1f}V{bottom:.1f}M{x - 5:.1f} {top:.1f}h10'
        f'M{x - 5:.1f} {bottom:.1f}h10" stroke="{CURVE}" stroke-width="1.4" fill="none"/>'
    )
