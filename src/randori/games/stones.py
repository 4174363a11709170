"""Stones of every shape, and the ring that marks one, as pieces of SVG."""

from typing import NamedTuple

from randori.games.look import Stone

RADIUS = 20
"""Of the shapes below; drawings scale them."""


class Shape(NamedTuple):
    """A stone around the origin, and the radius of the ring that marks it."""

    body: str
    mark: float


SHADOW = '<circle cy="2.5" r="20" fill="#1c1508" opacity="0.3"/>'
SHAPES = {
    "stone": Shape(
        SHADOW + '<circle r="19.5" fill="{fill}" stroke="{rim}"/>'
        '<ellipse cx="-6" cy="-7.5" rx="8" ry="5.5" fill="{sheen}" opacity="0.35"/>',
        9,
    ),
    "disc": Shape(
        '<circle r="19.5" fill="{fill}" stroke="{rim}"/>'
        '<circle r="14" fill="none" stroke="{rim}" stroke-width="1.5" opacity="0.55"/>'
        '<path d="M-14 -9A17 17 0 0 1 -2 -16.5" fill="none" stroke="{sheen}" '
        'stroke-width="2.5" stroke-linecap="round" opacity="0.7"/>',
        7.5,
    ),
    "peg": Shape(
        SHADOW + '<circle r="19.5" fill="{rim}"/><circle cy="-2" r="17" fill="{fill}"/>'
        '<ellipse cx="-5" cy="-9" rx="7" ry="4.5" fill="{sheen}" opacity="0.5"/>',
        8,
    ),
    "cross": Shape(
        '<path d="M-14 -14L14 14M14 -14L-14 14" stroke="{fill}" stroke-width="6" '
        'stroke-linecap="round"/>',
        24,
    ),
    "nought": Shape('<circle r="15" fill="none" stroke="{fill}" stroke-width="6"/>', 24),
}


def draw_stone(stone: Stone, x: int, y: int, radius: int) -> str:
    """Draw one stone, as one group."""
    body = SHAPES[stone.shape].body.format(fill=stone.fill, rim=stone.rim, sheen=stone.sheen)
    return f'<g transform="translate({x} {y}) scale({radius / RADIUS:g})">{body}</g>'


def draw_ring(stone: Stone, x: int, y: int, radius: int) -> str:
    """Draw the ring on a stone of the last move."""
    size = SHAPES[stone.shape].mark * radius / RADIUS
    return (
        f'<circle cx="{x}" cy="{y}" r="{size:g}" fill="none" stroke="{stone.mark}" '
        'stroke-width="3"/>'
    )


def draw_dot(x: int, y: int, radius: int, fill: str) -> str:
    """Draw a filled circle."""
    return f'<circle cx="{x}" cy="{y}" r="{radius}" fill="{fill}"/>'
