"""Imports go one way, as docs/architecture.md draws it."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "randori"
MAY_IMPORT = {
    "games": set(),
    "runs": set(),
    "search": {"games"},
    "networks": {"search"},  # the evaluator seam only, see below
    "agents": {"games", "search", "networks", "runs"},
    "arena": {"games", "search", "agents"},
    "learners": {"games", "search", "networks", "runs", "agents", "arena"},
    "cli": {"games", "search", "networks", "runs", "agents", "arena", "learners"},
}
ANYWHERE = {"errors", "spec", "__init__"}
MODULES = sorted(SOURCE.rglob("*.py"))


def imported(path: Path) -> set[str]:
    """Return every module that a file imports, however deep inside it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names |= {node.module or ""} | {f"{node.module}.{a.name}" for a in node.names}
    return names


def part_of(module: str) -> str:
    """Return the part of randori that a module belongs to."""
    pieces = module.split(".")
    return pieces[1] if len(pieces) > 1 else "__init__"


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_imports_go_one_way(path: Path) -> None:
    part = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    if part in ANYWHERE:
        return  # the lazy face may look anywhere when it is called
    ours = {name for name in imported(path) if name == "randori" or name.startswith("randori.")}
    allowed = MAY_IMPORT[part] | {part} | ANYWHERE
    wrong = {name for name in ours if part_of(name) not in allowed and part_of(name) in MAY_IMPORT}
    assert not wrong


@pytest.mark.parametrize(
    "path", [p for p in MODULES if "networks" in p.parts], ids=lambda p: p.name
)
def test_networks_know_only_the_evaluator_seam(path: Path) -> None:
    searching = {name for name in imported(path) if name.startswith("randori.search")}
    assert all(name.startswith("randori.search.evaluator") for name in searching)


@pytest.mark.parametrize(
    "path", [p for p in MODULES if {"search", "games", "runs"} & set(p.parts)], ids=lambda p: p.name
)
def test_rules_search_and_runs_need_no_torch(path: Path) -> None:
    late = {"torch.utils.tensorboard"}
    assert not {n for n in imported(path) - late if n == "torch" or n.startswith("torch.")}


def test_search_knows_no_concrete_game() -> None:
    from randori.games.registry import GAMES

    concrete = set(GAMES.values())
    for path in (SOURCE / "search").glob("*.py"):
        assert not concrete & imported(path), path


def test_no_module_has_a_name_that_says_nothing() -> None:
    empty = {"utils", "util", "common", "base", "helpers", "misc"}
    assert not [path for path in MODULES if empty & {path.stem, path.parent.name}]
