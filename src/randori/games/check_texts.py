"""The laws of what people read: texts read back, and boards show each side's stones as its own."""

from collections.abc import Sequence

import numpy as np

from randori.games import text
from randori.games.game import Game
from randori.games.kernels import State
from randori.games.position import Position
from randori.games.trial import Record, Trial, View, compare, glance, sample

CLOSE_LOOKS = 30
"""Positions whose texts are read back."""


def check_texts(trial: Trial, records: Sequence[Record], rng: np.random.Generator) -> None:
    """Read back the texts of a few positions, of their actions and of the named positions."""
    for record, ply in sample(records, rng, CLOSE_LOOKS):
        trial.moves, trial.state = record.moves[:ply], record.states[ply]
        _check_position_text(trial, record.views[ply])
        _check_action_texts(trial, record.views[ply])
        _check_colours(trial)
    trial.moves = ()
    for name, words in trial.game.positions.items():
        try:
            text.parse_position(trial.game, name)
        except Exception as error:
            trial.condemn("position text", f"{name!r} stands for {words!r}: {error}")
        trial.counts["position text"] += 1
    if not _is_derived(trial.game):
        trial.notes.append("mover: the game writes its own boards")


def _check_position_text(trial: Trial, view: View) -> None:
    game, state = trial.game, trial.state
    try:
        words = text.position_text(game, state)
        back = text.parse_position(game, words)
        again = text.position_text(game, back)
    except Exception as error:
        trial.condemn("position text", f"{type(error).__name__}: {error}")
    is_row = back.dtype == np.uint64 and back.shape == state.shape
    expected = f"a row of {game.num_words} uint64 words"
    trial.uphold("position text", is_row, expected, f"{back.dtype}{back.shape}")
    trial.uphold("position text", words == again, repr(words), repr(again))
    side, found = int(state[0]) & 1, int(back[0]) & 1
    trial.uphold("position text", side == found, f"side {side} to move", found)
    is_cut = int(state[0]) >= game.longest and int(back[0]) != int(state[0])
    if not is_cut:  # a text may forget the plies: a game that was cut off could go on
        compare(trial, "position text", words, view, glance(trial, back, 0))


def _check_action_texts(trial: Trial, view: View) -> None:
    game, state = trial.game, trial.state
    try:
        words = [text.action_text(game, state, action) for action in view.legal]
        few = range(0, len(words), len(words) // 8 + 1)  # reading one writes all of them
        back = {i: Position(game, state.copy()).parse(words[i]) for i in few}
    except Exception as error:
        trial.condemn("action text", f"{type(error).__name__}: {error}")
    trial.uphold("action text", len(set(words)) == len(words), "distinct texts", " ".join(words))
    for i, found in back.items():
        expected = f"{words[i]!r} to read as {view.legal[i]}"
        trial.uphold("action text", found == view.legal[i], expected, found)


def _check_colours(trial: Trial) -> None:
    """The same board with the colours and the side changed reads as it is written."""
    game, state = trial.game, trial.state
    if game.set_up is None:
        return
    swapped = text.cells(game, state).translate(str.maketrans(game.glyphs, game.glyphs[::-1]))
    try:
        other = text.set_up(game, swapped, 1 - (int(state[0]) & 1))
    except ValueError:
        return  # most games cannot be reached with the colours changed
    found = text.cells(game, other)
    trial.uphold("mover", found == swapped, f"the board {swapped!r}", repr(found))


def check_mover(trial: Trial, before: State) -> None:
    """A move never gives the opponent a stone, nor moves one unless the game pushes.

    So planes that do not change sides, or show the two sides the wrong way round, are found out.
    """
    game, other = trial.game, trial.game.glyphs[1 - (int(before[0]) & 1)]
    if not _is_derived(game):
        return
    was, now = text.cells(game, before), text.cells(game, trial.state)
    if game.pushes:
        mine = game.glyphs[int(before[0]) & 1]
        for glyph, is_right in ((other, now.count(other) <= was.count(other)),
                                (mine, now.count(mine) >= was.count(mine))):  # fmt: skip
            expected = f"no {other} more and no {mine} less than before {mine} moved"
            trial.uphold("mover", is_right, expected, f"{now.count(glyph)} {glyph}")
        return
    new = [text.cell_text(game, i) for i in range(len(now)) if now[i] == other != was[i]]
    trial.uphold("mover", not new, f"the mover to give {other} no stone", f"new ones: {new}")


def _is_derived(game: Game) -> bool:
    """Tell whether people see the board as planes 0 and 1 show it."""
    return game.position_text is None or game.set_up is not None
