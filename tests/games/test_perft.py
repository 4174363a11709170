"""Perft against the numbers in ``tests/perft``: one file a game, ``spec depth nodes`` a line."""

from pathlib import Path

import pytest

from randori.games import Position, load_game
from randori.games.perft import perft
from randori.games.registry import GAMES

FOLDER = Path(__file__).parents[1] / "perft"
PLAIN_NODES = 4000
QUICK_NODES = 10**7
"""What `make test` counts; `make test-all` counts everything."""


def read(file: Path) -> list[tuple[str, int, int]]:
    rows = [line.split() for line in file.read_text().splitlines() if line and line[0] != "#"]
    return [(spec, int(depth), int(nodes)) for spec, depth, nodes in rows]


ROWS = [row for file in sorted(FOLDER.glob("*.txt")) for row in read(file)]
SPECS = sorted({spec for spec, _, _ in ROWS})


@pytest.mark.parametrize("name", GAMES)
def test_every_game_has_numbers(name: str) -> None:
    file = FOLDER / f"{name}.txt"
    assert file.is_file(), f"{file} is missing"
    assert {spec.partition(":")[0] for spec, _, _ in read(file)} == {name}


@pytest.mark.parametrize("spec", SPECS)
def test_compiled_kernels_count_right(spec: str) -> None:
    game = load_game(spec)
    quick = {d: nodes for name, d, nodes in ROWS if name == spec and nodes <= QUICK_NODES}
    assert {depth: perft(game, depth) for depth in quick} == quick
    assert perft(game, 0) == 1


@pytest.mark.slow
@pytest.mark.parametrize(("spec", "depth", "nodes"), [r for r in ROWS if r[2] > QUICK_NODES])
def test_compiled_kernels_count_far(spec: str, depth: int, nodes: int) -> None:
    assert perft(load_game(spec), depth) == nodes


def count(position: Position, depth: int) -> int:
    if depth == 0:
        return 1
    return sum(count(position.play(action), depth - 1) for action in position.actions())


@pytest.mark.parametrize("spec", SPECS)
def test_plain_kernels_count_right(spec: str) -> None:
    start = load_game(spec).start()
    small = [row for row in ROWS if row[0] == spec and 0 < row[2] < PLAIN_NODES]
    for _, depth, nodes in small:
        assert count(start, depth) == nodes


def test_perft_from_a_position() -> None:
    game = load_game("tictactoe")
    position = game.position("xx./oo./... x")
    assert [perft(game, depth, position.state) for depth in (1, 2)] == [5, 4 * 4]


def test_tictactoe_is_counted_out() -> None:
    """5 478 positions and 255 168 games, by a walk that visits each position once."""
    games: dict[Position, int] = {}

    def walk(position: Position) -> int:
        if position not in games:
            actions = position.actions()
            games[position] = sum(walk(position.play(a)) for a in actions) if actions else 1
        return games[position]

    assert walk(load_game("tictactoe").start()) == 255_168
    assert len(games) == 5_478
