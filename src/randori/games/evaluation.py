"""Positions at a glance: what searches without a network go by.

A game brings evaluations of its own (`Game.evaluations`); counting stones works for all.
"""

from collections.abc import Callable

from randori.errors import UserError, nearest
from randori.games.game import Game
from randori.games.kernels import State, popcount, scratch
from randori.games.rules import INPUT_WORDS, STONE_WORDS, planes

STONE = 100
"""What one stone is worth."""


def material(state: State) -> int:
    """Count the mover's stones less its opponent's."""
    words = scratch(INPUT_WORDS)
    planes(state, words)
    lead = 0
    for word in range(STONE_WORDS):
        lead += popcount(words[word]) - popcount(words[STONE_WORDS + word])
    return STONE * lead


def evaluations(game: Game) -> dict[str, Callable[[State], int]]:
    """List the evaluations of a game, its favourite first."""
    return {**game.evaluations, "material": game.evaluations.get("material", material)}


def find_evaluation(game: Game, name: str | None) -> Callable[[State], int]:
    """Find an evaluation by name; None stands for the game's favourite."""
    known = evaluations(game)
    if name is None:
        return next(iter(known.values()))
    if name not in known:
        raise UserError(f"{game.name} has no evaluation {name!r}; {nearest(name, known)}")
    return known[name]
