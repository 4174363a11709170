"""Shobu: how many visits `a1f1E2` gets in placements that fit what paper A says of PUSH_OPTIONS.

    python benchmarks/push_options.py --placements 600 --seed 1

The paper's figure is lost, and many placements fit its text: named stones and empty cells, three
named moves, no win at once, and after every capture but `a1f1E2` the answer `h6a2S` takes a stone.
Random ones are drawn, with one, two or three to four stones of a colour on a board. The agent
looks at each with its simulations and with ten times as many; where these spend more than half on
`a1f1E2`, it is taken to be the best move.
"""

import argparse
import json
from collections.abc import Iterator

import numpy as np

from randori.agents.registry import load_agent
from randori.games.position import Position
from randori.games.registry import load_game

MOVE, ANSWER, OTHERS = "a1f1E2", "h6a2S", ("b3f1E2", "e2a5NE2")
STONES = {"x": "a1 b3 f1 e2 a5", "o": "h1 a2 h6"}
EMPTY = "b1 c1 c3 d3 g1 f3 g4 h5"
CELLS = [file + rank for rank in "87654321" for file in "abcdefgh"]
PAPER = 473 / 800
TOGETHER = 64


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


def shares(positions: list[Position], simulations: int) -> list[float]:
    """Return what part of its visits the agent gives the move in each position."""
    player = load_agent(f"az:simulations={simulations}", positions[0].game).player
    action, found = positions[0].parse(MOVE), []
    for i in range(0, len(positions), TOGETHER):
        part = positions[i : i + TOGETHER]
        search = player.search_all(np.array([position.state for position in part]))
        for slot in range(len(part)):
            visits = {move.action: move.visits for move in search.analysis(slot).moves}
            found.append(visits[action] / sum(visits.values()))
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
    positions = [next(drawn) for _ in range(wish.placements)]
    short, long = (shares(positions, n * wish.simulations) for n in (1, 10))
    best = [one for one, other in zip(short, long, strict=True) if other > 0.5]
    print(json.dumps({
        "placements": len(positions),
        "as_often_as_in_the_paper": sum(one >= PAPER for one in short),
        "best": len(best),
        "best_and_as_often": sum(one >= PAPER for one in best),
    }))  # fmt: skip


if __name__ == "__main__":
    main()
