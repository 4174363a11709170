"""Shape files that lie about themselves: one line says so, whatever is wrong."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from randori.agents.registry import load_agent
from randori.agents.shapes import load_shapes
from randori.errors import UserError
from randori.games.registry import load_game
from randori.runs.checkpoint import write_model

GO = "go:size=5,komi=7.5"
INFO = {"game": GO, "name": "go", "board": [5, 5], "sets": ["1x1"], "bins": 1, "better": 1}


def written(path: Path, theta: Any = None, **changes: Any) -> Path:
    info = {key: value for key, value in {**INFO, **changes}.items() if value != "left out"}
    fine = np.arange(8, dtype=np.float32).reshape(2, 4)
    write_model(path / "some.safetensors", {"theta": fine if theta is None else theta}, info)
    return path / "some.safetensors"


def test_what_may_be_left_out(tmp_path: Path) -> None:
    game = load_game(GO)
    assert load_shapes(game, written(tmp_path)).theta.tolist() == [4, 5, 6, 7]
    plain = written(tmp_path, bins="left out", better="left out")
    assert load_shapes(game, plain).theta.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "changes",
    [{"bins": "many"}, {"bins": -3}, {"bins": None}, {"bins": 0}, {"better": None},
     {"better": "x"}, {"better": -1}, {"better": 0.5}, {"sets": 3}, {"sets": [3]}, {"sets": []},
     {"sets": ["9x9"]}],
)  # fmt: skip
def test_what_a_file_says_is_checked(tmp_path: Path, changes: dict[str, Any]) -> None:
    with pytest.raises(UserError, match="damaged"):
        load_agent(f"shapes:{written(tmp_path, **changes)}", load_game(GO))


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_weights_are_numbers(tmp_path: Path, wrong: float) -> None:
    theta = np.zeros((2, 4), np.float32)
    theta[1, 2] = wrong
    path = written(tmp_path, theta)
    with pytest.raises(UserError, match="no numbers"):
        load_shapes(load_game(GO), path)
    assert load_shapes(load_game(GO), path, which=0) is not None
