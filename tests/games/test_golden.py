"""Whole games with a known end, as text: a bug's game goes there before its fix."""

from pathlib import Path

import pytest

from randori.games import load_game

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "tests" / "golden").glob("*.txt"))
FOREIGN = {"hex": str(ROOT / "examples" / "hex.py")}


def golden_games() -> list[tuple[str, str, str, str]]:
    games = []
    for file in FILES:
        for line in file.read_text().splitlines():
            if line and not line.startswith("#"):
                spec, outcome, moves, final = (part.strip() for part in line.split("|"))
                name, colon, options = spec.partition(":")
                games.append((FOREIGN.get(name, name) + colon + options, outcome, moves, final))
    return games


@pytest.mark.parametrize(("spec", "outcome", "moves", "final"), golden_games())
def test_game_ends_as_written(spec: str, outcome: str, moves: str, final: str) -> None:
    position = load_game(spec).start()
    for move in moves.split():
        assert position.outcome is None
        assert move in position.legal()
        position = position.play(move)
    assert (position.outcome or "-") == outcome
    assert position.text() == final
    assert position.is_over == (outcome != "-") == (position.legal() == [])


def test_there_are_golden_games() -> None:
    assert len(FILES) >= 4
