"""Conformance: the laws that every game keeps, tried on random games.

The plain kernels are judged first, so that a slip in somebody's indexing comes out as a sentence
and not as memory that compiled code has overwritten; the compiled ones then have to agree.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from types import FunctionType

import numpy as np
from numpy.typing import NDArray

from randori.games import text
from randori.games.compile_errors import describe, is_compile_error
from randori.games.game import Game
from randori.games.images import check_symmetries
from randori.games.kernels import DRAW, ONGOING, State
from randori.games.position import Position
from randori.games.rules import legal, may_end, num_legal, outcome, planes, play, start, weigh
from randori.games.trial import (
    JUNK,
    LAWS,
    Record,
    Trial,
    View,
    bits_of,
    compare,
    glance,
    sample,
    step,
)
from randori.words import some

__all__ = ["LAWS", "Report", "check"]

MOST_PLIES = 600
"""No new game begins after so many: long games need fewer to be judged."""
CLOSE_LOOKS = 30
"""Positions whose texts are read back."""
MOST_PLANES = 4096
"""Planes that a policy by convolution may have: more is a slip, and would fill the memory."""


@dataclass(frozen=True)
class Report:
    """What `check` found good: how often each law was tried, and what could not be tried."""

    game: str
    asked: int
    games: int
    plies: int
    laws: dict[str, int]
    notes: tuple[str, ...]

    def __str__(self) -> str:
        verdict = (
            "every law holds" if not self.notes else "no law is broken, but not all were tried"
        )
        few = f" of {self.asked}, which are long" if self.games < self.asked else ""
        lines = [
            f"{self.game}: {some(self.games, 'game')}{few}, {some(self.plies, 'ply')}, {verdict}"
        ]
        lines += [f"  {law:14}{count:>7}  {LAWS[law]}" for law, count in self.laws.items()]
        return "\n".join([*lines, *(f"  not checked: {note}" for note in self.notes)])


def check(game: Game, games: int = 20, seed: int = 0, *, compiled: bool = True) -> Report:
    """Try every law on random games; raise `BrokenLaw` at the first that does not hold.

    Without `compiled` nothing is handed to Numba, and the last law is not tried.
    """
    rng = np.random.default_rng(seed)
    trial = Trial(game, np.zeros(max(game.num_words, 1), dtype=np.uint64))
    _check_facts(trial)
    _check_functions(trial)
    records: list[Record] = []
    with np.errstate(over="ignore"):  # numpy warns where words wrap round, as hashes should
        while len(records) < max(games, 1) and _plies(records) < MOST_PLIES:
            records.append(_play_game(trial, rng))
        _check_texts(trial, records, rng)
        check_symmetries(trial, records, rng)
        if compiled:
            _check_compiled(trial, records)
    notes = trial.notes if compiled else [*trial.notes, "compiled: left out"]
    laws = {law: trial.counts[law] for law in LAWS}
    return Report(game.spec, max(games, 1), len(records), _plies(records), laws, tuple(notes))


def _plies(records: Sequence[Record]) -> int:
    return sum(len(record.moves) for record in records)


def _check_facts(trial: Trial) -> None:
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


def _check_functions(trial: Trial) -> None:
    for name, rule in trial.game.rules._asdict().items():
        is_plain = isinstance(rule, FunctionType) and rule.__closure__ is None
        expected = f"{name} to be a plain function that takes nothing from around it"
        trial.uphold("kernels", is_plain, expected, repr(rule))


def _play_game(trial: Trial, rng: np.random.Generator) -> Record:
    game = trial.game
    trial.moves, trial.state = [], _start(trial)
    record = Record([], [trial.state], [_look(trial)])
    while record.views[-1].outcome == ONGOING:
        view, before, ply = record.views[-1], trial.state, len(record.moves)
        trial.uphold("longest", ply < game.longest, "the game to be over", "more")
        action = int(rng.choice(view.legal))
        state = step(trial, trial.state, action)
        record.moves.append(action)
        record.states.append(state)
        trial.moves, trial.state = record.moves, state
        trial.uphold("plies", int(state[0]) == ply + 1, ply + 1, int(state[0]))
        record.views.append(_look(trial))
        _check_mover(trial, before)
    _check_last_move(trial, record)
    _check_repetition(trial, record)
    return record


def _check_repetition(trial: Trial, record: Record) -> None:
    """See whether a position came again, with the same side to move, where none can."""
    positions = [(int(state[0]) & 1, *state[1:].tolist()) for state in record.states]
    is_new = trial.game.can_repeat or len(set(positions)) == len(positions)
    trial.uphold("facts", is_new, "no position twice, as can_repeat=False says", "one")


def _check_last_move(trial: Trial, record: Record) -> None:
    """Ask `may_end` about the position before the last; all others are for the compiled one."""
    if record.moves:
        *trial.moves, last = record.moves
        trial.state = record.states[-2].copy()
        trial.state.setflags(write=False)
        found = trial.ask("may_end", trial.state) != 0
        trial.uphold("may_end", found, f"true from may_end, since {last} ends the game", found)


def _start(trial: Trial) -> State:
    """Write the first position over two different rows."""
    clean, dirty = (np.full(trial.game.num_words, junk, dtype=np.uint64) for junk in JUNK)
    trial.ask("start", clean)
    trial.ask("start", dirty)
    same = np.array_equal(clean, dirty)
    trial.uphold("repeatable", same, f"start to write {clean}", f"{dirty} in a used row")
    trial.uphold("plies", int(clean[0]) == 0, 0, int(clean[0]))
    return clean


def _look(trial: Trial) -> View:
    """Ask every kernel about the position under trial, and judge the answers."""
    game, view = trial.game, glance(trial, trial.state, JUNK[0])
    again = glance(trial, trial.state, JUNK[1])
    for kind in ("legal", "outcome", "words"):
        one, other = getattr(view, kind), getattr(again, kind)
        kernel = "planes" if kind == "words" else kind
        trial.uphold("repeatable", one == other, f"{kernel} to answer {one}", f"{other} then")
    known = range(DRAW + 1)
    trial.uphold("ending", view.outcome in known, "an outcome from 0 to 3", view.outcome)
    is_over, count = view.outcome != ONGOING, len(view.legal)
    expected = f"{'no' if is_over else 'a'} legal action with outcome {view.outcome}"
    trial.uphold("ending", (count == 0) == is_over, expected, count)
    strange = [action for action in view.legal if not 0 <= action < game.num_actions]
    trial.uphold("actions", not strange, f"ids from 0 to {game.num_actions - 1}", strange)
    trial.uphold("actions", len(set(view.legal)) == count, "distinct ids", view.legal)
    _check_weigh(trial, view)
    bits = bits_of(game, view.words)
    outside = bits[:, game.cells :].any()
    trial.uphold("planes", not outside, f"bits of {game.cells} cells", "a bit beyond them")
    if len(game.marks):
        _check_use(trial, view, bits[:, : game.cells].ravel()[game.marks])
    mine, theirs = bits[: 2 * game.stone_planes].reshape(2, -1)
    both = np.flatnonzero(mine & theirs)
    trial.uphold("planes", not len(both), "the two sides apart", f"stones of both at bits {both}")
    return view


def _is_derived(game: Game) -> bool:
    """Tell whether people see the board as planes 0 and 1 show it."""
    return game.position_text is None or game.set_up is not None


def _check_mover(trial: Trial, before: State) -> None:
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


def _check_texts(trial: Trial, records: Sequence[Record], rng: np.random.Generator) -> None:
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


def _logits_of(game: Game) -> NDArray[np.float32]:
    """Make up logits, all of them different and none of them 0."""
    return np.sin(1 + np.arange(game.num_logits)).astype(np.float32)


def _weighed(game: Game, legal: Sequence[int]) -> list[tuple[int, float]]:
    """Say what `weigh` shall find, to the last bit."""
    sums = np.zeros(len(legal), dtype=np.float32)
    for part in _logits_of(game)[game.factors[list(legal)]].T:
        sums += part
    return list(zip(legal, sums.tolist(), strict=True))


def _check_weigh(trial: Trial, view: View) -> None:
    game, state = trial.game, trial.state.copy()
    state.setflags(write=False)
    actions = np.full(game.num_actions, -1, dtype=np.int32)
    odds = np.full(game.num_actions, np.nan, dtype=np.float32)
    count = trial.ask("weigh", state, actions, _logits_of(game), odds)
    expected = _weighed(game, view.legal)
    found = list(zip(actions[:count].tolist(), odds[:count].tolist(), strict=True))
    trial.uphold("weigh", found == expected, f"{expected} from weigh", found)


def _check_use(trial: Trial, view: View, are_marked: NDArray[np.bool_]) -> None:
    """See that all logits of legal actions are among those that come, and that these have room."""
    game = trial.game
    without = [action for action in view.legal if not are_marked[game.factors[action]].all()]
    trial.uphold("marks", not without, "marks at all logits of what is legal", without)
    parts = np.split(are_marked, np.cumsum(game.factor_sizes)[:-1])
    counts = tuple(int(part.sum()) for part in parts)
    has_room = all(count <= most for count, most in zip(counts, game.most_marked, strict=True))
    trial.uphold("marks", has_room, f"at most {game.most_marked} logits with marks", counts)


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


def retrace(
    moves: NDArray[np.int32],
    states: NDArray[np.uint64],
    actions: NDArray[np.int32],
    counts: NDArray[np.int32],
    outcomes: NDArray[np.int32],
    words: NDArray[np.uint64],
) -> None:
    """Play `moves` from the start and write down what the kernels say; row d serves ply d.

    A position counts -1 if `num_legal` and `legal` do not agree.
    """
    start(states[0])
    for ply in range(len(moves) + 1):
        counts[ply] = num_legal(states[ply], actions[ply])
        if counts[ply] != legal(states[ply], actions[ply]):
            counts[ply] = -1
        outcomes[ply] = outcome(states[ply])
        planes(states[ply], words[ply])
        if ply < len(moves):
            for word in range(states.shape[1]):
                states[ply + 1, word] = states[ply, word]
            play(states[ply + 1], moves[ply])


def overhear(
    states: NDArray[np.uint64],
    logits: NDArray[np.float32],
    actions: NDArray[np.int32],
    odds: NDArray[np.float32],
    counts: NDArray[np.int32],
    ends: NDArray[np.int32],
    trial: NDArray[np.uint64],
) -> None:
    """Ask `weigh` and `may_end` about `states`; where the latter says no, try every action.

    `ends` becomes -1, or an action that ends the game all the same.
    """
    for ply in range(len(states)):
        counts[ply] = weigh(states[ply], actions[ply], logits, odds[ply])
        ends[ply] = -1
        if not may_end(states[ply]):
            for k in range(counts[ply]):
                for word in range(states.shape[1]):
                    trial[word] = states[ply, word]
                play(trial, actions[ply, k])
                if outcome(trial) != ONGOING:
                    ends[ply] = actions[ply, k]


def _why(error: Exception) -> str:
    """Say what kept a kernel from running: Numba, or something around it such as a full disk."""
    return describe(error) if is_compile_error(error) else f"{type(error).__name__}: {error}"


def _check_compiled(trial: Trial, records: Sequence[Record]) -> None:
    game, junk = trial.game, JUNK[1]
    for record in records:
        trial.moves, trial.state = (), record.states[0]
        rows = len(record.moves) + 1
        states = np.full((rows, game.num_words), junk, dtype=np.uint64)
        actions = np.full((rows, game.most_legal), -1, dtype=np.int32)
        counts, outcomes = np.zeros((2, rows), dtype=np.int32)
        words = np.full((rows, game.input_words), junk, dtype=np.uint64)
        moves = np.array(record.moves, dtype=np.int32)
        try:
            game.kernel(retrace)(moves, states, actions, counts, outcomes, words)
        except Exception as error:
            trial.condemn("compiled", _why(error))
        for ply, view in enumerate(record.views):
            trial.moves, trial.state = record.moves[:ply], record.states[ply]
            same = np.array_equal(states[ply], record.states[ply])
            trial.uphold("compiled", same, f"the state {record.states[ply]}", states[ply])
            found = actions[ply, : counts[ply]].tolist()
            compiled = View(tuple(found), int(outcomes[ply]), tuple(words[ply].tolist()))
            compare(trial, "compiled", "compiled kernels", view, compiled)
        _check_overheard(trial, record)


def _check_overheard(trial: Trial, record: Record) -> None:
    """Check the compiled `weigh` and `may_end` on the positions of a game."""
    game, states = trial.game, np.array(record.states)
    actions = np.full((len(states), game.num_actions), -1, dtype=np.int32)
    odds = np.full(actions.shape, np.nan, dtype=np.float32)
    counts, ends = np.zeros((2, len(states)), dtype=np.int32)
    spare = np.zeros(game.num_words, dtype=np.uint64)
    trial.moves, trial.state = (), record.states[0]
    try:
        game.kernel(overhear)(states, _logits_of(game), actions, odds, counts, ends, spare)
    except Exception as error:
        trial.condemn("compiled", _why(error))
    for ply, view in enumerate(record.views):
        trial.moves, trial.state = record.moves[:ply], record.states[ply]
        n, expected = counts[ply], _weighed(game, view.legal)
        found = list(zip(actions[ply, :n].tolist(), odds[ply, :n].tolist(), strict=True))
        trial.uphold("compiled", found == expected, f"{expected} from weigh", found)
        lie = f"true from may_end, since {ends[ply]} ends the game"
        trial.uphold("may_end", ends[ply] < 0, lie, False)
