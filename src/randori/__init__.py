"""Randori: learn two-player board games by self-play."""

from typing import TYPE_CHECKING

from randori.errors import IllegalAction, UserError

if TYPE_CHECKING:
    from randori.games.game import Game as Game
    from randori.games.position import Position as Position

__version__ = "0.1.0"
__all__ = ["Game", "IllegalAction", "Position", "UserError", "game"]
