"""Make the opening book of the Connect 4 solver, with BitBully as the oracle.

It runs in the peers' environment (bitbully and bitbully-databases installed), with this checkout on
the path:

    PYTHONPATH=src python benchmarks/connect4_book.py src/randori/games/connect4-book.npz.xz

Our own search proves samples of it again in the tests.
"""

import lzma
import sys

import numpy as np
from bitbully import BitBully, Board

from randori.games import load_game
from randori.games.connect4 import MINE, THEIRS
from randori.games.connect4_solver import BOOK_PLIES, book_key


def main(path: str) -> None:
    game, oracle = load_game("connect4"), BitBully()
    book: dict[int, int] = {}
    level = {book_key(0, 0): []}
    for _ in range(BOOK_PLIES + 1):
        below: dict[int, list[int]] = {}
        for key, moves in level.items():
            scores = oracle.score_all_moves(Board(moves))
            book[key] = max(scores.values())
            state = game.new_state()
            for move in moves:
                game.plain.play(state, move)
            for action in game.legal_actions(state):
                after = state.copy()
                game.plain.play(after, action)
                if game.plain.outcome(after) == 0:
                    below.setdefault(
                        book_key(int(after[MINE]), int(after[THEIRS])), [*moves, action]
                    )
        print(len(level), "positions", file=sys.stderr, flush=True)
        level = below
    keys = np.array(sorted(book), dtype=np.uint64)
    scores = np.array([book[int(key)] for key in keys], dtype=np.int8)
    steps = np.diff(keys, prepend=np.uint64(0))
    with lzma.open(path, "wb", preset=9) as file:
        np.savez(file, steps=steps, scores=scores)


if __name__ == "__main__":
    main(sys.argv[1])
