"""Agents that think against a clock, can be hurried, and tell what they see while they search.

Searches with a tree run a little at a time. All other agents answer in one go; those with an
option `seconds` get their share of the clock as that.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any, Protocol

import numpy as np

from randori.agents.agent import Agent
from randori.agents.network import SINGLE_LEAVES, draw_move, expect_tree, load_evaluator
from randori.agents.registry import agent_factory, load_agent
from randori.errors import UserError
from randori.games.game import Game
from randori.games.kernels import State
from randori.games.position import Position
from randori.search.search import Analysis, Search, SearchConfig, best_line
from randori.search.tree import EDGE, MOVE, NODE, Tree, tree_of, tried_edges
from randori.search.uct import Uct
from randori.spec import Spec, bind_options, option_text, options_of, parse_spec

BEAT = 0.05
"""Seconds between two looks at the clock and at the client."""
FIRST_STEP = 16
"""Simulations before the first look."""
LISTED = 16
"""Moves that a node of a network's search lists on average, at most."""
MOST_BYTES = 1 << 29
"""What a tree may take where nothing but time ends the search."""
SHORTEST = 0.001
"""Seconds that are asked for at least: 0 is no time."""
LEAST_NODES = 1000


@dataclass(frozen=True)
class Report:
    """What is known about a position so far."""

    analysis: Analysis
    lines: Callable[[], Mapping[int, Sequence[int]]] = dict
    """the line behind each move that has one; read from the tree as it stands when asked"""


@dataclass(frozen=True)
class Choice:
    """The action to play, its position's value for the mover (or NaN), and why, if known."""

    action: int
    value: float
    report: Report | None = None


class Mind(Protocol):
    """An agent that thinks for a protocol."""

    spec: str
    game: Game

    def ponder(self, position: Position, seconds: float | None) -> Iterator[Choice]:
        """Yield what it would play, several times a second, until it is sure or out of time."""

    def watch(self, position: Position) -> Iterator[Report]:
        """Yield what is known, several times a second, as long as there is more to find out."""


class Growth(Protocol):
    """A search whose tree can grow on."""

    node_bytes: int
    """what a node takes, about"""

    def begin(self, state: State) -> None:
        """Plant a new tree."""

    def go_on(self, simulations: int) -> Analysis:
        """Search until there are that many simulations in all."""

    @property
    def tree(self) -> Tree:
        """The tree as it stands."""


class UctGrowth:
    """UCB1 over random games."""

    def __init__(self, game: Game, options: Mapping[str, Any], rng: np.random.Generator) -> None:
        self._search = Uct(game, options["exploration"])
        self._rng = rng
        self.node_bytes = _bytes_of(game, game.most_legal, 0)

    def begin(self, state: State) -> None:
        """Plant a new tree, with new dice."""
        self._dice = self._rng.integers(0, 2**63, size=1, dtype=np.uint64)
        self._search.begin(state)

    def go_on(self, simulations: int) -> Analysis:
        """Search on."""
        return self._search.go_on(simulations, self._dice)

    @property
    def tree(self) -> Tree:
        """The tree as it stands."""
        return self._search.tree


class PuctGrowth:
    """A network and its search."""

    def __init__(self, game: Game, spec: Spec, options: Mapping[str, Any]) -> None:
        expect_tree(spec, options)
        known = {key: options[key] for key in SearchConfig.__dataclass_fields__ if key in options}
        evaluator = load_evaluator(
            game, spec.value, options["runtime"], options.get("turns", "none")
        )
        self._search = Search(game, evaluator, SearchConfig(**known), leaves=SINGLE_LEAVES)
        self.node_bytes = _bytes_of(game, min(game.most_legal, LISTED), game.num_logits)

    def begin(self, state: State) -> None:
        """Plant a new tree."""
        self._search.set_roots(state[None])

    def go_on(self, simulations: int) -> Analysis:
        """Search on."""
        self._search.run(simulations, skip_forced=False)
        return self._search.analysis()

    @property
    def tree(self) -> Tree:
        """The tree as it stands."""
        return tree_of(self._search.trees, 0)


class TreeMind:
    """A tree that grows until its simulations or its time are spent."""

    def __init__(
        self, spec: Spec, game: Game, growth: Growth, options: Mapping[str, Any],
        rng: np.random.Generator,
    ) -> None:  # fmt: skip
        self.spec, self.game = str(spec), game
        self._growth, self._rng = growth, rng
        self._most = max(LEAST_NODES, MOST_BYTES // growth.node_bytes)
        self._usual = int(options["simulations"])
        self._is_fixed = "simulations" in spec.options
        self._drawn_plies = int(options.get("temperature_plies", 0))

    def ponder(self, position: Position, seconds: float | None) -> Iterator[Choice]:
        """Search; a number of simulations that somebody asked for is never exceeded."""
        goal = self._usual if seconds is None or self._is_fixed else self._most
        end = None if seconds is None else monotonic() + seconds
        for found in self._grow(position, goal, end):
            is_drawn = position.ply < self._drawn_plies
            best = draw_move(found, self._rng) if is_drawn else found.best
            yield Choice(best.action, found.value, self._report(found))

    def watch(self, position: Position) -> Iterator[Report]:
        """Search until memory is full."""
        for found in self._grow(position, self._most, None):
            yield self._report(found)

    def _grow(self, position: Position, goal: int, end: float | None) -> Iterator[Analysis]:
        """Search on in steps of about a beat; the last one ends before `end`."""
        self._growth.begin(position.state.copy())
        done, step, rate = 0, FIRST_STEP, 0.0
        while True:
            target, before = min(goal, done + step), monotonic()
            found = self._growth.go_on(target)
            now = monotonic()
            yield found
            if target >= goal or self._is_settled(target):
                return
            rate = (target - done) / max(1e-6, now - before)
            done = target
            room = BEAT if end is None else min(BEAT, end - monotonic())
            step = max(1, min(int(rate * room), 4 * step))
            if end is not None and end - monotonic() <= 1 / rate:
                return

    def _is_settled(self, target: int) -> bool:
        """Tell whether the root is proven, so that more simulations change nothing."""
        return int(self._growth.tree.nodes[0].visits) < target

    def _report(self, found: Analysis) -> Report:
        return Report(found, lambda: best_lines(self._growth.tree))


class AgentMind:
    """Any agent, asked as it is; with a clock where it has one."""

    def __init__(self, spec: Spec, game: Game, rng: np.random.Generator) -> None:
        self.spec, self.game = str(spec), game
        self._parsed, self._rng = spec, rng
        self._agent = load_agent(str(spec), game)
        seconds = options_of(agent_factory(spec.name)).get("seconds")
        # Where seconds have a default they are a limit of patience, not a time to think.
        self._has_clock = seconds is not None and seconds.default is None
        given = spec.options.get("seconds", "auto").lower()
        usual = math.inf if given == "auto" else float(given)
        self._most = usual if self._has_clock else 0.0

    def ponder(self, position: Position, seconds: float | None) -> Iterator[Choice]:
        """Ask the agent, once."""
        agent = self._agent
        if self._has_clock and seconds is not None:
            share = option_text(max(SHORTEST, round(min(seconds, self._most), 3)))
            timed = replace(self._parsed, options={**self._parsed.options, "seconds": share})
            agent = load_agent(str(timed), self.game)
        actions, values = agent.judge(position.state[None].copy(), self._rng)
        yield Choice(int(actions[0]), float(values[0]))

    def watch(self, position: Position) -> Iterator[Report]:
        """Yield one analysis."""
        agent = Agent(self.spec, self.game, self._agent.player, self._rng)
        if not agent.can_analyse:
            raise UserError(f"agent {self.spec!r} picks moves but cannot analyse")
        yield Report(agent.analyse(position))


def open_mind(text: str, game: Game, rng: np.random.Generator) -> Mind:
    """Load an agent by its spec, for a game that it must know."""
    spec = parse_spec(text)
    if spec.name == "human":
        raise UserError("human: a person plays through the client; choose an agent that thinks")
    if spec.name not in ("uct", "az"):
        return AgentMind(spec, game, rng)
    factory = agent_factory(spec.name)
    defaults = {name: option.default for name, option in options_of(factory).items()}
    options = {**defaults, **bind_options(spec, factory)}
    if spec.name == "uct":
        load_agent(text, game)  # says what is wrong with the options
        growth: Growth = UctGrowth(game, options, rng)
    else:
        try:
            growth = PuctGrowth(game, spec, options)
        except ValueError as error:
            raise UserError(f"{text}: {error}") from None
    return TreeMind(spec, game, growth, options, rng)


def _bytes_of(game: Game, moves: int, logits: int) -> int:
    """Return what a node takes with so many moves, twice: arrays double when they are full."""
    lists = moves * (MOVE.itemsize + EDGE.itemsize)
    return 2 * (8 * game.num_words + NODE.itemsize + 4 * logits + lists)


def best_lines(tree: Tree) -> dict[int, list[int]]:
    """Return for each action of the root the line that begins with it."""
    lines = ([edge, *best_line(tree, int(tree.edges[edge].child))] for edge in tried_edges(tree, 0))
    named = ([int(tree.moves[edge].action) for edge in line] for line in lines)
    return {line[0]: line for line in named}
