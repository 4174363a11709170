"""Rules, one file a game, and what is derived from them for every game alike."""

from randori.games.game import Game
from randori.games.position import Position
from randori.games.registry import load_game

__all__ = ["Game", "Position", "load_game"]
