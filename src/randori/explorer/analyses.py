"""Agents without a tree (alpha-beta, an engine): each position is looked at anew.

To run more means a larger budget: more plies, or more seconds.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from randori.agents.agent import Agent
from randori.agents.registry import agent_factory, load_agent
from randori.errors import UserError
from randori.explorer.studies import follow
from randori.explorer.view import View, blank_view, view_analysis
from randori.games.game import Game
from randori.games.position import Position
from randori.spec import Spec, bind_options, option_text, options_of

BUDGETS = ("simulations", "depth", "seconds")
"""Options that say how much an agent thinks."""


class AnalysisEngine:
    """Any agent that can analyse, asked anew for every position."""

    usual = 0

    def __init__(self, spec: Spec, game: Game, seed: int) -> None:
        agent = load_agent(str(spec), game)
        if not agent.can_analyse:
            raise UserError(f"agent {agent.spec!r} picks moves but cannot analyse")
        self.spec = agent.spec
        self._parsed, self._game, self._seed = spec, game, seed
        self._agents = {0: agent}
        options = options_of(agent_factory(spec.name))
        given = [key for key in BUDGETS if spec.options.get(key, "auto").lower() != "auto"]
        known = [*given, *BUDGETS]
        self._option = next((key for key in known if key in options), "")
        self.unit = {"depth": "plies", "": "steps"}.get(self._option, self._option)

    def study(self, position: Position) -> "AnalysisStudy":
        """Start with the agent's own depth or time."""
        return AnalysisStudy(self, position)

    def first_sight(self, position: Position) -> View:
        """Refuse: its first sight cannot be told from its search."""
        raise UserError(f"agent {self.spec!r} shows no network")

    def agent(self, extra: int) -> Agent:
        """Return the agent with a larger budget."""
        if extra not in self._agents:
            if not self._option:
                raise UserError(f"agent {self.spec!r} has nothing to run more of")
            factory = agent_factory(self._parsed.name)
            default = options_of(factory)[self._option].default
            now = bind_options(self._parsed, factory).get(self._option, default)
            if now is None:  # the player has chosen it itself
                now = getattr(self._agents[0].player, self._option)
            budget = option_text(now + extra)
            deeper = replace(self._parsed, options={**self._parsed.options, self._option: budget})
            self._agents[extra] = load_agent(str(deeper), self._game)
        found = self._agents[extra]
        return Agent(found.spec, found.game, found.player, np.random.default_rng(self._seed))


class AnalysisStudy:
    """Positions that were looked at with the same budget; a larger one forgets them."""

    def __init__(self, engine: AnalysisEngine, position: Position) -> None:
        self._engine, self._position = engine, position
        self._seen: dict[tuple[int, ...], View] = {}
        self._spent = 0

    @property
    def spent(self) -> int:
        """How much was run beyond the agent's own budget."""
        return self._spent

    def run(self, amount: int) -> None:
        """Look deeper, or for longer, at the position itself; what is stopped changes nothing."""
        known = self._seen.get(())
        if amount and known is not None and known.branches and not known.counted:
            raise UserError(f"agent {self._engine.spec!r} has solved this: there is no more to run")
        view = self._ask(self.spent + amount, [])
        if view.counted:  # what is solved was not run for longer
            self._spent += amount
        self._seen = {(): view}

    def look(self, path: Sequence[int]) -> View:
        """Ask the agent about the position after these actions, once."""
        key = tuple(path)
        if key not in self._seen:
            self._seen[key] = self._ask(self.spent, path)
        return self._seen[key]

    def _ask(self, extra: int, path: Sequence[int]) -> View:
        position = follow(self._position, path)
        if position.is_over:
            return blank_view([])
        return view_analysis(self._engine.agent(extra).analyse(position))
