"""The laws that need no game to be played: numbers, tables and names agree, kernels are plain."""

from types import FunctionType

import numpy as np

from randori.games.trial import Trial
from randori.words import some

MOST_PLANES = 4096
"""Planes that a policy by convolution may have: more is a slip, and would fill the memory."""


def check_facts(trial: Trial) -> None:
    """Hold the numbers and tables that a game states against each other."""
    game, tables = trial.game, trial.game.symmetries
    for name in ("num_actions", "num_words", "longest"):
        trial.uphold("facts", getattr(game, name) >= 1, f"{name} >= 1", getattr(game, name))
    trial.uphold("facts", min(game.shape) >= 1, "a shape of at least one cell", game.shape)
    trial.uphold("facts", min(game.board) >= 1, "a board of at least one cell", game.board)
    fewest = 2 * game.stone_planes
    trial.uphold("facts", game.num_planes >= fewest, f"{fewest} planes or more", game.num_planes)
    bits = game.stone_planes * game.cells
    shape = (2, game.board_cells)
    trial.uphold("facts", game.seen.shape == shape, f"seen of {shape}", game.seen.shape)
    for side, row in enumerate(game.seen):
        is_apart = len(set(row.tolist())) == len(row) and row.min() >= 0 and row.max() < bits
        trial.uphold("facts", is_apart, f"seen[{side}] to be different bits below {bits}", row)
    most, num_actions = game.most_legal, game.num_actions
    trial.uphold("facts", 1 <= most <= num_actions, f"most_legal in 1..{num_actions}", most)
    for kind, letters in (("glyphs", game.glyphs), ("sides", game.side_names)):
        plain = set(letters) - set(".-/; ")
        trial.uphold("facts", len(plain) == len(letters) == 2, f"two {kind}", repr(letters))
    names, width = game.columns[: game.board[1]], game.board[1]
    trial.uphold("facts", len(set(names)) == width, f"{width} column names", repr(names))
    for kind, table, size in (
        ("inputs", tables.inputs, game.num_planes * game.cells),
        ("actions", tables.actions, num_actions),
    ):
        shape = (len(tables), size)
        trial.uphold("facts", table.shape == shape, f"symmetries.{kind} of {shape}", table.shape)
        in_order = np.arange(size)
        trial.uphold("facts", np.array_equal(table[0], in_order), "the identity first", table[0])
        for number, row in enumerate(table):
            is_permutation = np.array_equal(np.sort(row), in_order)
            expected = f"symmetries.{kind}[{number}] to be a permutation"
            trial.uphold("facts", is_permutation, expected, row)
    sizes = game.factor_sizes
    shape = (num_actions, len(sizes))
    trial.uphold("facts", game.factors.shape == shape, f"factors of {shape}", game.factors.shape)
    for column, size in enumerate(sizes):
        first, factors = sum(sizes[:column]), game.factors[:, column]
        is_inside = bool(((factors >= first) & (factors < first + size)).all())
        expected = f"factor {column} in {first}..{first + size - 1}"
        trial.uphold("facts", is_inside, expected, f"{factors.min()}..{factors.max()}")
    _check_heads(trial)


def _check_heads(trial: Trial) -> None:
    """What networks are told of logits besides their number."""
    game, number = trial.game, trial.game.num_logits
    spots, parts, subheads = game.spots, game.parts, sum(game.subheads)
    if len(spots):
        trial.uphold("facts", spots.shape == (number,), f"spots of ({number},)", spots.shape)
        room = MOST_PLANES * game.cells
        is_inside = bool(((spots >= 0) & (spots < room)).all())
        expected = f"spots in 0..{room - 1}, {MOST_PLANES} planes"
        trial.uphold("facts", is_inside, expected, f"{spots.min()}..{spots.max()}")
        are_apart = len(set(spots.tolist())) == number
        trial.uphold("facts", are_apart, "every logit at a spot of its own", spots)
    if len(parts) or subheads:
        shape = (number, parts.shape[-1])
        trial.uphold("facts", parts.shape == shape, f"parts of {shape}", parts.shape)
        is_inside = bool(((parts >= -1) & (parts < subheads)).all())
        expected = f"parts in -1..{subheads - 1}"
        trial.uphold("facts", is_inside, expected, f"{parts.min()}..{parts.max()}")
        rows = [[part for part in row if part >= 0] for row in parts.tolist()]
        twice = [row for row in rows if len(set(row)) < len(row)]
        trial.uphold("facts", not twice, "every part of a logit once", twice[:1])
    _check_marks(trial)


def _check_marks(trial: Trial) -> None:
    """What tells which logits a position has use for."""
    game, marks, sizes = trial.game, trial.game.marks, trial.game.factor_sizes
    shape = (game.num_logits,) if len(marks) else (0,)
    trial.uphold("facts", marks.shape == shape, f"marks of {shape}", marks.shape)
    numbers = len(sizes) if len(marks) else 0
    is_right = len(game.most_marked) == numbers and all(
        1 <= most <= size for most, size in zip(game.most_marked, sizes, strict=False)
    )
    expected = f"most_marked of {some(numbers, 'number')} from 1 to their factor's size"
    trial.uphold("facts", is_right, expected, game.most_marked)
    if not len(marks):
        return
    bits = game.num_planes * game.cells
    is_inside = bool(((marks >= 0) & (marks < bits)).all())
    trial.uphold("facts", is_inside, f"marks in 0..{bits - 1}", f"{marks.min()}..{marks.max()}")
    for own in np.split(marks, np.cumsum(sizes)[:-1]):
        trial.uphold("facts", bool((np.diff(own) >= 0).all()), "marks to ascend in a factor", own)


def check_functions(trial: Trial) -> None:
    """See that the kernels take nothing from around them, so that they can be compiled."""
    for name, rule in trial.game.rules._asdict().items():
        is_plain = isinstance(rule, FunctionType) and rule.__closure__ is None
        expected = f"{name} to be a plain function that takes nothing from around it"
        trial.uphold("kernels", is_plain, expected, repr(rule))
