"""Find an agent by its spec, such as ``uct:simulations=800``: a new agent is one line here."""

import importlib
from collections.abc import Callable
from typing import Any

from randori.agents.agent import Agent, Player
from randori.errors import UserError, nearest
from randori.games.game import Game
from randori.spec import bind_options, parse_spec

AGENTS = {
    "random": "randori.agents.simple:random",
    "greedy": "randori.agents.classical:greedy",
    "minimax": "randori.agents.classical:minimax",
    "alphabeta": "randori.agents.classical:alphabeta",
    "uct": "randori.agents.uct:uct",
    "solver": "randori.agents.solver:solver",
    "az": "randori.agents.network:az",
    "policy": "randori.agents.network:policy",
    "alp": "randori.agents.shapes:alp",
    "influence": "randori.agents.shapes:influence",
    "shapes": "randori.agents.shapes:shapes",
    "gtp": "randori.agents.gtp:gtp",
    "human": "randori.agents.human:human",
}
"""Each factory takes the game and the spec's bare value; its keyword parameters are the options."""


def load_agent(text: str, game: Game) -> Agent:
    """Return the agent of a spec, ready to play `game`."""
    spec = parse_spec(text)
    if spec.name not in AGENTS:
        raise UserError(f"there is no agent {spec.name!r}; {nearest(spec.name, AGENTS)}")
    factory = agent_factory(spec.name)
    options = bind_options(spec, factory)
    try:
        player: Player = factory(game, spec.value, **options)
    except ValueError as error:
        raise UserError(f"{text}: {error}") from None
    return Agent(str(spec), game, player)


def agent_factory(name: str) -> Callable[..., Any]:
    """Import the factory of a known agent."""
    module, _, function = AGENTS[name].partition(":")
    factory: Callable[..., Any] = getattr(importlib.import_module(module), function)
    return factory
