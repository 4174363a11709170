"""Imports go one way: `games ← search ← agents ← arena ← learners ← papers ← cli`.

Networks and runs stand beside search and know no game. What a module names in a string, as the
registries do, counts as an import too.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import randori

SOURCE = Path(randori.__file__).parent
CHAIN = ("games", "search", "agents", "arena", "learners", "diagnosis", "papers")
ENDS = ("cli", "web", "explorer")
STARTED = ("explorer.repl.",)
"""What of the other ends the commands in `cli.app` start."""
BELOW = {
    "errors": set(),
    "spec": {"errors"},
    "words": set(),
    "games": {"errors", "spec", "words"},
    "search": {"errors", "games"},
    "networks": {"errors", "search.evaluator"},
    "shapes": {"errors", "games"},
    "runs": {"errors"},
    "agents": {"errors", "spec", "games", "search", "networks"},
    "agents.models": {"errors", "games", "networks", "runs"},
    "agents.shapes": {"errors", "spec", "words", "games", "search", "shapes", "runs"},
    "arena": {"errors", "spec", "words", "games", "search", "agents"},
    "protocols": {"errors", "spec", "games", "search", "runs", "agents"},
    "learners": {
        "errors",
        "spec",
        "games",
        "search",
        "networks",
        "shapes",
        "runs",
        "agents",
        "arena",
    },
    "diagnosis": {"errors", "words", "games", "networks", "runs", "agents", "arena"},
}
"""What each part may import besides itself; papers and the ends may import all that is below."""
GAMES = {path.stem for path in (SOURCE / "games").glob("*.py") if "\ndef game(" in path.read_text()}
HEAVY = {"torch", "openvino", "tensorboard"}
LIGHT = ("errors", "spec", "words", "games", "search", "shapes")
"""Parts that work without a network."""
NAMELESS = {"utils", "util", "common", "base", "helpers", "helper", "misc", "tools"}


def imports(tree: ast.AST) -> Iterator[str]:
    """Yield the dotted name of everything that is imported, however late."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "imports are absolute"
            assert node.module is not None
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            named = re.fullmatch(r"(randori(\.\w+)+)(:\w+)?", node.value)
            if named:
                yield named[1]


def is_inside(name: str, part: str) -> bool:
    return name == part or name.startswith(f"{part}.")


def part_of(module: str) -> str:
    return module if module in BELOW else module.partition(".")[0]


def faults(module: str, source: str) -> list[str]:
    """List what `module`, named without the package, imports and should not."""
    found = []
    part = part_of(module)
    top = module.partition(".")[0]
    for name in imports(ast.parse(source)):
        inner = name.removeprefix("randori.")
        if not name.startswith("randori."):
            if top in LIGHT and name.partition(".")[0] in HEAVY:
                found.append(f"{module} imports {name}")
            continue
        if inner in ("__version__", "UserError", "IllegalAction") or is_inside(inner, top):
            continue
        if module == "cli.app" and inner.startswith(STARTED):
            continue
        if any(is_inside(inner, end) for end in ENDS):
            found.append(f"{module} imports {inner}: nothing imports the ends")
        elif inner.startswith("games.") and inner.split(".")[1] in GAMES:
            found.append(f"{module} knows a game by name: {inner}")
        elif part in BELOW and not any(is_inside(inner, below) for below in BELOW[part]):
            found.append(f"{module} imports {inner}")
    return found


def modules() -> dict[str, Path]:
    """The modules of the package, without its faces `__init__.py` and `__main__.py`."""
    found = {}
    for path in SOURCE.rglob("*.py"):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        if name and name != "__main__":
            found[name] = path
    return found


@pytest.mark.parametrize("module", sorted(modules()))
def test_imports_go_one_way(module: str) -> None:
    assert faults(module, modules()[module].read_text()) == []


def test_every_part_has_its_place() -> None:
    assert {name.partition(".")[0] for name in modules()} <= {*BELOW, *CHAIN, *ENDS}
    order = [part for part in CHAIN if part in BELOW]
    for lower, part in enumerate(order):
        assert not BELOW[part] & set(order[lower + 1 :])
    assert {"tictactoe", "connect4", "othello"} <= GAMES


def test_names_say_something() -> None:
    assert not {word for name in modules() for word in name.split(".")} & NAMELESS


def test_importing_the_package_costs_nothing() -> None:
    """Its face imports errors at once, and everything else when it is asked for."""
    tree = ast.parse((SOURCE / "__init__.py").read_text())
    at_once = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {name for node in at_once for name in imports(node)}
    allowed = ("os", "typing", "importlib", "randori.errors", "collections.abc")
    assert {n for n in names if not any(is_inside(n, a) for a in allowed)} == set()


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("games.check", "from randori.search.tree import Tree"),
        ("games.check", "import torch"),
        ("search.puct", "def f():\n    import torch.nn"),
        ("search.puct", "from randori.games.othello import flips"),
        ("search.puct", "from randori.games import othello"),
        ("search.puct", "from randori.networks.config import Signature"),
        ("networks.build", "from randori.games.game import Game"),
        ("networks.build", "from randori.search.tree import Tree"),
        ("runs.folder", "from randori.games.registry import load_game"),
        ("runs.folder", "from randori.search.evaluator import Lane"),
        ("runs.folder", "HOME = 'randori.agents.registry:load_agent'"),
        ("agents.uct", "from randori.runs.checkpoint import read_model"),
        ("agents.uct", "from randori.arena.match import play_match"),
        ("agents.models", "from randori.learners.replay import Replay"),
        ("arena.match", "from randori.learners.replay import Replay"),
        ("arena.match", "from randori.runs.folder import Run"),
        ("learners.alphazero", "from randori.cli.screen import Screen"),
        ("learners.alphazero", "import randori.cli"),
        ("learners.alphazero", "from randori.papers import shobu"),
        ("papers.shobu", "from randori.web.server import serve"),
        ("cli.play", "from randori.explorer.repl import explore"),
        ("cli.app", "from randori.explorer.view import View"),
        ("explorer.repl", "from randori.cli.report import note"),
    ],
)
def test_the_wrong_way_is_noticed(module: str, source: str) -> None:
    assert faults(module, source) != []


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("networks.build", "from randori.search.evaluator import Lane"),
        ("agents.models", "from randori.runs.checkpoint import read_model"),
        ("learners.alphazero", "from randori.runs.checkpoint import prune\nimport torch"),
        ("runs.folder", "from randori import __version__"),
        ("cli.play", "from randori.learners.training import train"),
        ("cli.app", "from randori.explorer.repl import explore"),
        ("explorer.engines", "from randori.agents.registry import load_agent"),
        ("games.registry", "GAMES = {'othello': 'randori.games.othello'}"),
    ],
)
def test_the_right_way_is_free(module: str, source: str) -> None:
    assert faults(module, source) == []
