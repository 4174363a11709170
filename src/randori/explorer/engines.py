"""Open an agent for study by its spec."""

from collections.abc import Callable
from typing import Any

from randori.agents.network import expect_tree, load_evaluator
from randori.agents.registry import agent_factory, load_agent
from randori.errors import UserError
from randori.explorer.analyses import AnalysisEngine
from randori.explorer.studies import Engine
from randori.explorer.trees import PuctEngine, UctEngine
from randori.games.game import Game
from randori.search.search import SearchConfig
from randori.spec import Spec, bind_options, options_of, parse_spec


def open_engine(text: str, game: Game, seed: int) -> Engine:
    """Load an agent for study; it must be able to analyse."""
    spec = parse_spec(text)
    if spec.name not in TREES:
        return AnalysisEngine(spec, game, seed)
    factory = agent_factory(spec.name)
    defaults = {name: option.default for name, option in options_of(factory).items()}
    try:
        return TREES[spec.name](spec, game, {**defaults, **bind_options(spec, factory)}, seed)
    except ValueError as error:
        raise UserError(f"{text}: {error}") from None


def _open_puct(spec: Spec, game: Game, options: dict[str, Any], seed: int) -> Engine:
    expect_tree(spec, options)
    known = {key: options[key] for key in SearchConfig.__dataclass_fields__ if key in options}
    config = SearchConfig(**known)
    evaluator = load_evaluator(game, spec.value, options["runtime"], options.get("turns", "none"))
    return PuctEngine(str(spec), game, evaluator, config)


def _open_uct(spec: Spec, game: Game, options: dict[str, Any], seed: int) -> Engine:
    load_agent(str(spec), game)  # says what is wrong with the options
    return UctEngine(str(spec), game, options["simulations"], options["exploration"], seed)


TREES: dict[str, Callable[[Spec, Game, dict[str, Any], int], Engine]] = {
    "az": _open_puct,
    "policy": _open_puct,
    "uct": _open_uct,
}
"""Agents whose tree can be kept."""
