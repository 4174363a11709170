"""Learning curves with their intervals as SVG."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 720, 440
LEFT, RIGHT, TOP, BOTTOM = 62, 118, 56, 62
INK, FAINT, GRID = "#1f2430", "#68707f", "#e4e6ea"
COLOURS = (
    "#1f6f8b", "#c8553d", "#588157", "#8a5a9e", "#d19a2a", "#3d5a80", "#b5838d", "#2a9d8f",
    "#7f5539", "#6c757d",
)  # fmt: skip


@dataclass(frozen=True)
class Curve:
    """A score from 0 to 1 over games, with its interval."""

    name: str
    games: Sequence[int]
    scores: Sequence[float]
    lows: Sequence[float]
    highs: Sequence[float]


def draw_curves(curves: Sequence[Curve], title: str, footnote: str) -> str:
    """Draw curves over a logarithmic scale of games, each with its band, as an SVG document."""
    first = min(curve.games[0] for curve in curves)
    last = max(curve.games[-1] for curve in curves)
    span = max(1e-9, math.log(last / first))

    def across(games: float) -> float:
        return LEFT + math.log(games / first) / span * (WIDTH - LEFT - RIGHT)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}" font-size="12" '
        'font-family="system-ui, DejaVu Sans, sans-serif">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        _text(LEFT, 24, title, INK, 'font-size="15" font-weight="600"'),
        _text(LEFT, 42, footnote, FAINT),
    ]
    for share in range(0, 101, 25):
        y = _up(share / 100)
        parts.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="{GRID}"/>')
        parts.append(_text(LEFT - 8, y + 4, f"{share} %", FAINT, 'text-anchor="end"'))
    for games in _ticks(first, last):
        x = across(games)
        parts.append(f'<path d="M{x:.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="{GRID}"/>')
        label = f"{games:,}".replace(",", " ")
        parts.append(_text(x, HEIGHT - BOTTOM + 18, label, FAINT, 'text-anchor="middle"'))
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(_text(middle, HEIGHT - 18, "training games (logarithmic)", INK,
                       'text-anchor="middle"'))  # fmt: skip
    for number, curve in enumerate(curves):
        colour = COLOURS[number % len(COLOURS)]
        xs = [across(games) for games in curve.games]
        band = [*zip(xs, curve.highs, strict=True), *reversed([*zip(xs, curve.lows, strict=True)])]
        parts.append(f'<polygon points="{_points(band)}" fill="{colour}" opacity="0.13"/>')
        line = _points([*zip(xs, curve.scores, strict=True)])
        parts.append(
            f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.8"/>'
        )
    for (y, number), curve in zip(_labels(curves), curves, strict=True):
        colour = COLOURS[number % len(COLOURS)]
        parts.append(_text(WIDTH - RIGHT + 8, y + 4, curve.name, colour, 'font-weight="600"'))
    return "\n".join([*parts, "</svg>", ""])


def _up(score: float) -> float:
    return HEIGHT - BOTTOM - score * (HEIGHT - TOP - BOTTOM)


def _points(places: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{_up(score):.1f}" for x, score in places)


def _text(x: float, y: float, words: str, fill: str, extra: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{fill}" {extra}>{escape(words)}</text>'


def _ticks(first: int, last: int) -> Iterator[int]:
    for power in range(12):
        for digit in (1, 2, 5):
            games = digit * 10**power
            if first <= games <= last and (digit == 1 or last / first < 1000):
                yield games


def _labels(curves: Sequence[Curve]) -> list[tuple[float, int]]:
    """Place the names beside the ends of the curves, none on another."""
    order = sorted(range(len(curves)), key=lambda i: -curves[i].scores[-1])
    heights = [0.0] * len(curves)
    below = TOP - 16.0
    for i in order:
        heights[i] = below = max(_up(curves[i].scores[-1]), below + 15)
    return [(heights[i], i) for i in range(len(curves))]
