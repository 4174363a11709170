"""Lock-step with OpenSpiel on random games, where it is installed."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from randori.games import load_game

pyspiel: Any = pytest.importorskip("pyspiel")

HEX = str(Path(__file__).parents[2] / "examples" / "hex.py")
PAIRS = [
    ("tictactoe", "tic_tac_toe", 60),
    ("connect4", "connect_four", 40),
    ("connect4:width=5,height=4", "connect_four(rows=4,columns=5)", 20),
    ("othello", "othello", 12),
    (f"{HEX}:size=5", "hex(board_size=5)", 20),
    (f"{HEX}:size=9", "hex(board_size=9)", 3),
]
RETURNS = {"first": [1.0, -1.0], "second": [-1.0, 1.0], "draw": [0.0, 0.0]}


@pytest.mark.parametrize(("spec", "theirs", "games"), PAIRS)
def test_lock_step(spec: str, theirs: str, games: int) -> None:
    """Action ids are the same on both sides: cells row by row, columns, and the pass last."""
    rng = np.random.default_rng(11)
    game, other = load_game(spec), pyspiel.load_game(theirs)
    for _ in range(games):
        position, state = game.start(), other.new_initial_state()
        while not state.is_terminal():
            assert position.outcome is None
            assert position.to_move == ("first", "second")[state.current_player()]
            assert sorted(position.actions()) == state.legal_actions()
            action = int(rng.choice(position.actions()))
            position = position.play(action)
            state.apply_action(action)
        assert position.outcome is not None
        assert RETURNS[position.outcome] == state.returns()
