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


@pytest.mark.parametrize(("size", "komi", "games"), [(3, 0.5, 500), (5, 0.5, 30), (9, 7.5, 6)])
def test_go_in_lock_step(size: int, komi: float, games: int) -> None:
    """Their rules: simple ko, no suicide, a cap of 2 * size² plies; a board that comes back ties.

    So the moves that superko bars are those with which their game ends as a tie.
    """
    rng = np.random.default_rng(12)
    lax, strict = (
        load_game(f"go:size={size},komi={komi},ko={ko},suicide=no")
        for ko in ("simple", "positional")
    )
    other = pyspiel.load_game(f"go(board_size={size},komi={komi})")
    ties = 0
    for _ in range(games):
        position, watched, state = lax.start(), strict.start(), other.new_initial_state()
        is_tie = False
        while not state.is_terminal():
            assert position.outcome is None
            player = state.current_player()
            assert position.to_move == ("first", "second")[player]
            ids = {state.action_to_string(player, a).split()[1].upper(): a
                   for a in state.legal_actions()}  # fmt: skip
            assert {move.upper() for move in position.legal()} == set(ids), position.text()
            move = str(rng.choice(position.legal()))
            is_tie = move not in watched.legal()
            position = position.play(move)
            state.apply_action(ids[move.upper()])
            assert not is_tie or state.is_terminal()
            if not is_tie:
                watched = watched.play(move)
        ties += is_tie
        expected = [0.0, 0.0] if is_tie else RETURNS[position.outcome or ""]
        assert state.returns() == expected, watched.text()
    assert size > 3 or ties > 2
