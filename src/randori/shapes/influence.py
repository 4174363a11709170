"""Influence: every stone counts for its surroundings, less with every step away from it."""

from randori.games.game import Game
from randori.games.kernels import State, has, scratch
from randori.games.rules import INPUT_WORDS, STONE_WORDS, planes
from randori.shapes.sensible import Evaluation, bound

WIDTH, CELLS = 0, 0
REACH = 6
"""Steps after which a stone counts no more; each halves what it counts."""
POINT = 100


def influence(state: State) -> int:
    """Count the points where the mover's stones outweigh its opponent's, less the others."""
    words = scratch(INPUT_WORDS)
    planes(state, words)
    lead = 0
    for cell in range(CELLS):
        weight = 0
        for other in range(CELLS):
            is_mine = has(words[other >> 6], other & 63)
            if is_mine or has(words[STONE_WORDS + (other >> 6)], other & 63):
                steps = abs(cell // WIDTH - other // WIDTH) + abs(cell % WIDTH - other % WIDTH)
                if steps <= REACH:
                    weight += (1 << (REACH - steps)) * (1 if is_mine else -1)
        lead += (weight > 0) - (weight < 0)
    return POINT * lead


def influence_of(game: Game) -> Evaluation:
    """Return the evaluation for the board of a game."""
    return bound(influence, WIDTH=game.board[1], CELLS=game.board_cells)
