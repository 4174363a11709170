"""Randori: learn two-player board games by self-play.

Importing the package costs nothing: what needs numpy, numba or torch is imported when it is used.
"""

import os
from typing import TYPE_CHECKING, Any

from randori.errors import IllegalAction, UserError

if TYPE_CHECKING:
    from randori.agents.agent import Agent
    from randori.games.game import Game
    from randori.games.position import Position

__version__ = "0.1.0"
__all__ = ["Agent", "Game", "IllegalAction", "Position", "UserError", "agent", "game"]

# OpenMP's threads spin while they wait for each other. When anything else runs on one of the cores
# that makes a training step ten times slower, so they sleep instead; it must be said before torch
# is imported.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

_HOMES = {
    "Agent": "randori.agents.agent",
    "Game": "randori.games.game",
    "Position": "randori.games.position",
}


def game(spec: str) -> "Game":
    """Return a game by name, ``"othello:size=6"``, or by the path of your own file."""
    from randori.games.registry import load_game

    return load_game(spec)


def agent(spec: str, game: "Game") -> "Agent":
    """Return an agent that plays `game`: ``"uct:simulations=800"``, ``"az:runs/mine"``."""
    from randori.agents.registry import load_agent

    return load_agent(spec, game)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'randori' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_HOMES[name]), name)
