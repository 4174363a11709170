"""The law of symmetry: turning the board and playing can change places.

The image of a position comes from replaying a game with every move turned, where the symmetry keeps
the first position, history and all; and from `set_up`, wherever the game has it.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from randori.games import text
from randori.games.game import Game
from randori.games.kernels import State
from randori.games.trial import Record, Trial, View, bits_of, compare, glance, sample, step

IMAGES = 128
"""Positions times symmetries."""
COMPARED = 40
"""Plies of a replayed game, about, at which the two are compared."""


def check_symmetries(trial: Trial, records: Sequence[Record], rng: np.random.Generator) -> None:
    """Try every symmetry but the identity; note those that cannot be tried."""
    game, number = trial.game, len(trial.game.symmetries)
    for symmetry in range(1, number):
        tables = _cell_tables(game, symmetry)
        keeps_start = turn(game, symmetry, records[0].views[0]).words == records[0].views[0].words
        if keeps_start:
            for i in range(max(1, len(records) // number)):
                _check_replay(trial, symmetry, records[(symmetry + i * number) % len(records)])
        if game.set_up is not None and tables is not None:
            for record, ply in sample(records, rng, max(4, IMAGES // number)):
                trial.moves, trial.state = record.moves[:ply], record.states[ply]
                _check_image(trial, symmetry, tables, rng)
        elif not keeps_start:
            trial.notes.append(f"symmetry {symmetry}: it moves the start, and set_up cannot help")


def _cell_tables(game: Game, symmetry: int) -> NDArray[np.int32] | None:
    """Return where the cells of the board go for either side, [2, board cells].

    None if the two sides' stones do not move as one board.
    """
    bits = game.stone_planes * game.cells
    own, other = game.symmetries.inputs[symmetry][: 2 * bits].reshape(2, -1)
    if not np.array_equal(own + bits, other) or own.max() >= bits:
        return None
    back = np.zeros((2, bits), dtype=np.int32)
    for side in range(2):
        back[side, game.seen[side]] = np.arange(game.board_cells)
    return np.stack([back[side, own[game.seen[side]]] for side in range(2)])


def turn(game: Game, symmetry: int, view: View) -> View:
    """Return what the tables make of a view; no kernel is asked."""
    tables = game.symmetries
    bits = bits_of(game, view.words)
    turned = np.zeros_like(bits)
    board = np.zeros(game.num_planes * game.cells, dtype=bool)
    board[tables.inputs[symmetry]] = bits[:, : game.cells].ravel()
    turned[:, : game.cells] = board.reshape(game.num_planes, -1)
    words = np.packbits(turned.ravel(), bitorder="little").view("<u8")
    actions = tuple(tables.actions[symmetry][list(view.legal)].tolist())
    return View(actions, view.outcome, tuple(words.tolist()))


def _check_image(
    trial: Trial, symmetry: int, tables: NDArray[np.int32], rng: np.random.Generator
) -> None:
    """Turn the board, then compare before and after one move.

    Both boards come from `set_up`, so that both have forgotten what a board does not show.
    """
    game, side = trial.game, int(trial.state[0]) & 1
    cells = text.cells(game, trial.state)
    image = np.empty(game.board_cells, dtype="<U1")
    image[tables[side]] = list(cells)
    try:
        state, turned = (text.set_up(game, board, side) for board in (cells, "".join(image)))
    except ValueError as error:
        trial.condemn("symmetry", f"symmetry {symmetry} gives {''.join(image)!r}: {error}")
    view = _compare_image(trial, symmetry, state, turned)
    if view.legal:
        action = int(rng.choice(view.legal))
        other = int(game.symmetries.actions[symmetry, action])
        after, turned_after = step(trial, state, action), step(trial, turned, other)
        _compare_image(trial, symmetry, after, turned_after, f" after action {action}")


def _compare_image(
    trial: Trial, symmetry: int, state: State, turned: State, when: str = ""
) -> View:
    view = glance(trial, state, 0)
    expected = turn(trial.game, symmetry, view)
    subject = f"the image under symmetry {symmetry}{when}"
    compare(trial, "symmetry", subject, expected, glance(trial, turned, 0))
    return view


def _check_replay(trial: Trial, symmetry: int, record: Record) -> None:
    """Replay a game with every move turned; the symmetry keeps the start."""
    turned = record.states[0]
    last = len(record.moves)
    for ply, state in enumerate(record.states):
        trial.moves, trial.state = record.moves[:ply], state
        if ply % (last // COMPARED + 1) == 0 or ply == last:
            _compare_image(trial, symmetry, state, turned)
        if ply < len(record.moves):
            action = trial.game.symmetries.actions[symmetry, record.moves[ply]]
            turned = step(trial, turned, int(action))
