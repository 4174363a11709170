"""Small SVG charts for reports: plain shapes, colours from the page's own variables."""

from collections.abc import Iterator, Sequence
from html import escape

from randori.words import some

WIDTH, HEIGHT = 260, 84
WIDE, TALL = 900, 260
INKS = (
    "#2f6f8f", "#c8743c", "#5b8a4a", "#8a5a9e", "#b8973b", "#a8483f",
    "#4a7fb5", "#7a8b3d", "#b3668a", "#5f6f7a", "#3d9486", "#8c6d4f",
)  # fmt: skip
"""Colours that stay apart on white and on black."""
REST = "#8d939b"

Series = Sequence[float | None]


def spark(values: Series, ink: str = "var(--ink-blue)", *, label: str = "") -> str:
    """Draw a curve without axes, its lowest and highest value at the edges."""
    known = [value for value in values if value is not None]
    if len(known) < 2:
        return ""
    low, high = min(known), max(known)
    span = (low, high) if high > low else (low - 1, high + 1)
    body = _curve(values, span, (2, 4, 116, 24), ink)
    return (
        f'<svg class="spark" viewBox="0 0 120 32" width="120" height="32" role="img" '
        f'aria-label="{escape(label, quote=True)}">{body}</svg>'
    )


def curves(
    parts: Sequence[tuple[Series, str, bool]], top: float, ticks: Sequence[str], unit: str
) -> str:
    """Draw curves from 0 to `top`; each is values, colour, and whether it is dashed and thin."""
    left, up, wide, high = 34.0, 8.0, WIDTH - 40.0, HEIGHT - 28.0
    marks = [
        f'<path d="M{left} {up + high * (1 - share):.1f}h{wide}" class="grid"/>'
        f'<text x="{left - 5}" y="{up + high * (1 - share) + 4:.1f}" text-anchor="end">'
        f"{100 * top * share:g}{unit if share == 1 else ''}</text>"
        for share in (0.0, 0.5, 1.0)
    ]
    body = [_curve(v, (0.0, top), (left, up, wide, high), i, thin=t) for v, i, t in parts]
    return _svg(WIDTH, HEIGHT, [*marks, *body, *_ends(left, wide, HEIGHT - 4, ticks)])


def stack(parts: Sequence[tuple[str, Sequence[float], str]], ticks: Sequence[str]) -> str:
    """Draw shares on top of each other over time; each part is a name, its shares, a colour."""
    left, up, wide, high = 44.0, 12.0, WIDE - 56.0, TALL - 44.0
    count = max((len(shares) for _, shares, _ in parts), default=0)
    xs = [left + wide * i / max(1, count - 1) for i in range(count)]
    if count == 1:  # a single period is drawn as a bar
        xs, parts = [left, left + wide], [(n, [*s, *s], i) for n, s, i in parts]
    below = [0.0] * len(xs)
    bands = []
    for name, shares, ink in parts:
        above = [b + s for b, s in zip(below, shares, strict=True)]
        edge = [*zip(xs, above, strict=True), *reversed([*zip(xs, below, strict=True)])]
        points = " ".join(f"{x:.1f},{up + high * (1 - min(1.0, y)):.1f}" for x, y in edge)
        bands.append(
            f'<polygon points="{points}" fill="{ink}" fill-opacity="0.85" stroke="var(--card)" '
            f'stroke-width="1"><title>{escape(name)}</title></polygon>'
        )
        below = above
    marks = [
        f'<path d="M{left} {up + high * (1 - share):.1f}h{wide}" class="grid"/>'
        f'<text x="{left - 7}" y="{up + high * (1 - share) + 4:.1f}" text-anchor="end">'
        f"{100 * share:.0f} %</text>"
        for share in (0.0, 0.25, 0.5, 0.75, 1.0)
    ]
    return _svg(WIDE, TALL, [*bands, *marks, *_ends(left, wide, TALL - 10, ticks)])


def calibration(curve: Sequence[dict[str, float]]) -> str:
    """Draw what values promised (across) against what came (up); dots grow with the rows."""
    size, edge = 300.0, 40.0
    inner = size - edge - 12

    def place(x: float, y: float) -> tuple[float, float]:
        return edge + inner * (x + 1) / 2, 12 + inner * (1 - (y + 1) / 2)

    rows = sum(bin_["rows"] for bin_ in curve)
    (x0, y0), (x1, y1) = place(-1, -1), place(1, 1)
    body = [f'<path d="M{x0:.0f} {y0:.0f}L{x1:.0f} {y1:.0f}" class="ideal"/>']
    for mark in (-1, 0, 1):
        x, y = place(mark, mark)
        body += [
            f'<path d="M{edge:.0f} {y:.1f}h{inner:.0f}M{x:.1f} 12v{inner:.0f}" class="grid"/>',
            f'<text x="{x:.1f}" y="{size - 24:.0f}" text-anchor="middle">{_signed(mark)}</text>',
            f'<text x="{edge - 6:.0f}" y="{y + 4:.1f}" text-anchor="end">{_signed(mark)}</text>',
        ]
    spots = [(*place(b["promised"], b["came"]), b) for b in curve]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y, _ in spots)
    body.append(f'<polyline points="{path}" fill="none" stroke="var(--ink-blue)"/>')
    for x, y, one in spots:
        radius = 2.5 + 9 * (one["rows"] / max(1, rows)) ** 0.5
        held = some(round(one["rows"]), "row")
        words = f"value {one['promised']:+.2f}, result {one['came']:+.2f}, {held}"
        body.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" fill="var(--ink-blue)" '
            f'fill-opacity="0.75"><title>{words}</title></circle>'
        )
    middle = edge + inner / 2
    body += [
        f'<text x="{middle:.0f}" y="{size - 6:.0f}" text-anchor="middle">value</text>',
        f'<text x="12" y="{12 + inner / 2:.0f}" text-anchor="middle" '
        f'transform="rotate(-90 12 {12 + inner / 2:.0f})">mean result</text>',
    ]
    return _svg(size, size, body)


def _signed(mark: int) -> str:
    return f"{mark:+d}".replace("-", "−") if mark else "0"


def _svg(width: float, height: float, parts: Sequence[str]) -> str:
    return (
        f'<svg class="chart" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        f'height="{height:g}">{"".join(parts)}</svg>'
    )


def _curve(
    values: Series,
    span: tuple[float, float],
    box: tuple[float, float, float, float],
    ink: str,
    *,
    thin: bool = False,
) -> str:
    """Draw one curve in a box (left, top, width, height); a gap where a value is missing."""
    left, top, wide, high = box
    low, far = span
    steps = max(1, len(values) - 1)
    runs: list[list[str]] = [[]]
    for i, value in enumerate(values):
        if value is None:
            runs.append([])
            continue
        share = min(1.0, max(0.0, (value - low) / max(far - low, 1e-12)))
        runs[-1].append(f"{left + wide * i / steps:.1f},{top + high * (1 - share):.1f}")
    dash = ' stroke-dasharray="3 3" stroke-width="1.4"' if thin else ' stroke-width="2"'
    shapes = []
    for run in runs:
        if len(run) == 1:
            x, y = run[0].split(",")
            shapes.append(f'<circle cx="{x}" cy="{y}" r="2.5" fill="{ink}"/>')
        elif run:
            shapes.append(
                f'<polyline points="{" ".join(run)}" fill="none" stroke="{ink}"{dash} '
                'stroke-linejoin="round"/>'
            )
    return "".join(shapes)


def _ends(left: float, wide: float, y: float, ticks: Sequence[str]) -> Iterator[str]:
    """Write the first and the last tick below a chart, and the middle one if there is room."""
    if not ticks:
        return
    places = [(0, "start", left), (len(ticks) - 1, "end", left + wide)]
    if len(ticks) >= 3 and wide > 400:
        middle = len(ticks) // 2
        places.insert(1, (middle, "middle", left + wide * middle / (len(ticks) - 1)))
    for i, anchor, x in places[: len(ticks) if len(ticks) < 2 else None]:
        yield f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}">{escape(ticks[i])}</text>'
