"""What there is to choose from: the games, the agents, and the options that their specs take."""

import importlib
from collections.abc import Callable
from typing import Any, Literal, get_args, get_origin, get_type_hints

from randori.agents.registry import AGENTS, agent_factory
from randori.cli.report import print_json, print_table
from randori.games.registry import GAMES, load_game
from randori.spec import option_text, options_of


def print_games(as_json: bool) -> None:
    """List the games."""
    rows = [_game_row(name, module) for name, module in GAMES.items()]
    if as_json:
        print_json(rows)
        return
    lines = [
        (row["name"], row["title"], "×".join(map(str, row["board"])), str(row["actions"]),
         write_options(row["name"], row["options"], row["choices"]))
        for row in rows
    ]  # fmt: skip
    heads = ("name", "title", "board", "actions", "options and their defaults")
    print_table(lines, heads, numbers=(3,))
    print("\nYour own file is a game too, by its path: my_game.py or my_game.py:size=9.")


def print_agents(as_json: bool) -> None:
    """List the agents."""
    rows = [_agent_row(name) for name in AGENTS]
    if as_json:
        print_json(rows)
        return
    width = max(len(row["name"]) for row in rows) + 2
    for row in rows:
        print(f"{row['name']:{width}}{row['help']}")
        if row["options"]:
            print(" " * width + write_options(row["name"], row["options"], row["choices"]))
    print("\nAn agent is written name:value,key=value, as in az:runs/mine,simulations=400.")


def write_options(name: str, options: dict[str, Any], choices: dict[str, list[str]]) -> str:
    """Write options with their defaults, and what else they can be, as a spec has them."""
    parts = []
    for key, value in options.items():
        others = [choice for choice in choices.get(key, []) if choice != value]
        parts.append(f"{key}={'|'.join([option_text(value), *others])}")
    return f"{name}:{','.join(parts)}" if parts else ""


def _game_row(name: str, module: str) -> dict[str, Any]:
    game = load_game(name)
    return {
        "name": name,
        "title": game.title,
        "options": _defaults(importlib.import_module(module).game),
        "choices": _choices(importlib.import_module(module).game),
        "board": list(game.board),
        "actions": game.num_actions,
    }


def _agent_row(name: str) -> dict[str, Any]:
    factory = agent_factory(name)
    first_line = (factory.__doc__ or "").strip().partition("\n")[0]
    return {
        "name": name,
        "help": first_line.replace("``", ""),
        "options": _defaults(factory),
        "choices": _choices(factory),
    }


def _choices(factory: Callable[..., Any]) -> dict[str, list[str]]:
    """List what options can be that take one of a few words."""
    hints = get_type_hints(factory)
    return {
        name: list(get_args(hints[name]))
        for name in options_of(factory)
        if get_origin(hints.get(name)) is Literal
    }


def _defaults(factory: Callable[..., Any]) -> dict[str, Any]:
    return {name: parameter.default for name, parameter in options_of(factory).items()}
