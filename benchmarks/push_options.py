"""Shobu: how many visits `a1f1E2` gets in placements that fit what paper A says of PUSH_OPTIONS.

    python benchmarks/push_options.py --placements 600 --seed 1

The paper's figure is lost, and many placements fit its text: named stones and empty cells, three
named moves, no win at once, and after every capture but `a1f1E2` the answer `h6a2S` takes a stone.
Random ones are drawn, with one, two or three to four stones of a colour on a board. The agent
looks at each, and at the one that comes with Randori, with its simulations and with ten times as
many; where these spend more than half on `a1f1E2`, it is taken to be the best move. Placements that
a search proves are counted apart: it stops then.
"""

import argparse
import json
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from randori.agents.registry import load_agent
from randori.games.position import Position
from randori.games.registry import load_game

MOVE, ANSWER, OTHERS = "a1f1E2", "h6a2S", ("b3f1E2", "e2a5NE2")
STONES = {"x": "a1 b3 f1 e2 a5", "o": "h1 a2 h6"}
EMPTY = "b1 c1 c3 d3 g1 f3 g4 h5"
CELLS = [file + rank for rank in "87654321" for file in "abcdefgh"]
PAPER = 473 / 800
LONGER, TOGETHER = 10, 64
REBUILT = "PUSH_OPTIONS"


def board_of(cell: str) -> tuple[bool, bool]:
    """Tell which of the four boards a cell is on."""
    return cell[0] > "d", cell[1] > "4"


def draw(rng: np.random.Generator, fewest: int) -> str:
    """Place the named stones and others at random."""
    glyphs = {cell: glyph for glyph, cells in STONES.items() for cell in cells.split()}
    free = [cell for cell in CELLS if cell not in glyphs and cell not in EMPTY.split()]
    for board in {board_of(cell): None for cell in CELLS}:
        room = [cell for cell in free if board_of(cell) == board]
        rng.shuffle(room)
        there = [glyph for cell, glyph in glyphs.items() if board_of(cell) == board]
        for glyph in STONES:
            for _ in range(int(rng.integers(fewest, 5)) - there.count(glyph)):
                if room:
                    glyphs[room.pop()] = glyph
    rows = ["".join(glyphs.get(cell, ".") for cell in CELLS[i : i + 8]) for i in range(0, 64, 8)]
    return f"{'/'.join(rows)} b"


def stones(position: Position) -> tuple[int, int]:
    """Count both sides' stones."""
    text = position.text()
    return text.count("x"), text.split()[0].count("o")


def fits(position: Position) -> bool:
    """Tell whether a placement is what the text says."""
    moves = position.legal()
    if position.is_over or not {MOVE, *OTHERS} <= set(moves):
        return False
    mine, theirs = stones(position)
    for move in moves:
        after = position.play(move)
        if after.is_over:
            return False
        captures = stones(after)[1] < theirs
        if move == MOVE:
            if not captures:
                return False
        elif captures and (ANSWER not in after.legal() or stones(after.play(ANSWER))[0] == mine):
            return False
    return True


def placements(seed: int) -> Iterator[Position]:
    """Draw placements that fit."""
    game, rng = load_game("shobu"), np.random.default_rng(seed)
    while True:
        for fewest in (1, 2, 3):
            while not fits(position := game.position(draw(rng, fewest))):
                pass
            yield position


class Look(NamedTuple):
    """What the agent makes of one position."""

    visits: int
    """of MOVE"""
    value: float
    is_proven: bool
    """then the search stopped, and visits say nothing"""


def look_at(positions: list[Position], simulations: int) -> list[Look]:
    """Let the agent look at each position."""
    player = load_agent(f"az:simulations={simulations}", positions[0].game).player
    action, found = positions[0].parse(MOVE), []
    for i in range(0, len(positions), TOGETHER):
        part = positions[i : i + TOGETHER]
        search = player.search_all(np.array([position.state for position in part]))
        for slot in range(len(part)):
            seen = search.analysis(slot)
            visits = {move.action: move.visits for move in seen.moves}
            found.append(Look(visits[action], seen.value, sum(visits.values()) < simulations))
    return found


def main() -> None:
    """Draw, ask and count."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--placements", type=int, default=600)
    parser.add_argument("--simulations", type=int, default=800)
    parser.add_argument("--seed", type=int, default=1)
    wish = parser.parse_args()
    drawn = placements(wish.seed)
    positions = [load_game("shobu").position(REBUILT)]
    positions += [next(drawn) for _ in range(wish.placements)]
    budgets = (wish.simulations, LONGER * wish.simulations)
    short, long = (look_at(positions, simulations) for simulations in budgets)
    rebuilt, looks = (short[0], long[0]), list(zip(positions, short, long, strict=True))[1:]
    open_ones = [look for look in looks if not look[1].is_proven and not look[2].is_proven]
    best = [look for look in open_ones if 2 * look[2].visits > LONGER * wish.simulations]
    even = sorted(best, key=lambda look: abs(look[2].value))[:3]

    def is_as_often(look: Look) -> bool:
        return look.visits >= PAPER * wish.simulations

    print(json.dumps({
        "placements": len(looks),
        "proven": len(looks) - len(open_ones),
        "as_often_as_in_the_paper": sum(is_as_often(look) for _, look, _ in open_ones),
        "best": len(best),
        "best_and_as_often": sum(is_as_often(look) for _, look, _ in best),
        REBUILT: [look._asdict() for look in rebuilt],
        "best_where_sides_are_even": {
            position.text(): [look._asdict() for look in both] for position, *both in even
        },
    }, indent=1))  # fmt: skip


if __name__ == "__main__":
    main()
