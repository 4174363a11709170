"""Which stones are dead when both sides pass: asked of random games, as no rule of ours says it.

Our count takes every stone for alive. Other rules take dead ones off, so clients ask for them.
"""

from collections.abc import Iterator

import numpy as np

from randori.games import text
from randori.games.dice import seed_dice
from randori.games.game import Game
from randori.games.registry import load_game
from randori.games.text import EMPTY
from randori.search.uniform import play_out

GAMES = 200
DEAD, ALIVE = 0.25, 0.7
"""How often a chain's points stay with it: at most, to be dead; at least, to be alive. Between the
two it depends on whom it fights: two unclear chains side by side are a seki, but one whose
opponents are all alive is dead, for random games forgive it too much."""


def status_of_chains(size: int, board: str) -> dict[frozenset[int], str]:
    """Say of every chain whether it is alive, dead or in seki."""
    game = load_game(f"go:size={size},ko=simple,suicide=no,eyes=spare-safe,cap={3 * size * size}")
    kept = np.zeros((2, size * size))
    scratch = np.zeros(game.num_words, dtype=np.uint64)
    actions = np.zeros(game.num_actions, dtype=np.int32)
    run, dice = game.kernel(play_out), seed_dice(0, 1)[0]
    starts = [text.set_up(game, board, side) for side in range(2)]
    for number in range(GAMES):
        run(starts[number % 2], scratch, actions, dice)
        for cell, owner in enumerate(owners(game, text.cells(game, scratch))):
            if owner is not None:
                kept[owner, cell] += 1 / GAMES
    found = list(chains(board, size))
    glyphs = [board[min(chain)] for chain in found]
    shares = [
        float(np.mean([kept[game.glyphs.index(glyph), cell] for cell in chain]))
        for chain, glyph in zip(found, glyphs, strict=True)
    ]
    unclear = {i for i, share in enumerate(shares) if DEAD < share < ALIVE}
    status = {chain: "alive" if share >= ALIVE else "dead"
              for chain, share in zip(found, shares, strict=True)}  # fmt: skip
    for i in unclear:
        around = {near for cell in found[i] for near in neighbours(cell, size)}
        rivals = [j for j in unclear if glyphs[j] != glyphs[i] and found[j] & around]
        status[found[i]] = "seki" if rivals else "dead"
    return status


def owners(game: Game, board: str) -> Iterator[int | None]:
    """Yield whose each cell is: a stone's owner, or of an eye what is around it."""
    for cell, glyph in enumerate(board):
        seen = {board[c] for c in neighbours(cell, game.board[1])} if glyph == EMPTY else {glyph}
        only = seen.pop() if len(seen) == 1 else EMPTY
        yield None if only == EMPTY else game.glyphs.index(only)


def chains(board: str, size: int) -> Iterator[frozenset[int]]:
    """Yield the chains of stones, as sets of cells."""
    left = {cell for cell, glyph in enumerate(board) if glyph != EMPTY}
    while left:
        chain, edge = set(), {min(left)}
        while edge:
            chain |= edge
            edge = {
                near for cell in edge for near in neighbours(cell, size)
                if board[near] == board[cell]
            } - chain  # fmt: skip
        left -= chain
        yield frozenset(chain)


def neighbours(cell: int, size: int) -> Iterator[int]:
    """Yield the cells beside a cell."""
    row, column = divmod(cell, size)
    for r, c in ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)):
        if 0 <= r < size and 0 <= c < size:
            yield r * size + c
