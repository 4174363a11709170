"""Conformance: the laws that every game keeps, tried on random games.

The plain kernels are judged first, so that a slip in somebody's indexing comes out as a sentence
and not as memory that compiled code has overwritten; the compiled ones then have to agree.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from randori.games.check_compiled import check_compiled
from randori.games.check_facts import check_facts, check_functions
from randori.games.check_texts import check_mover, check_texts
from randori.games.game import Game
from randori.games.images import check_symmetries
from randori.games.kernels import DRAW, ONGOING, State
from randori.games.trial import (
    JUNK,
    LAWS,
    Record,
    Trial,
    View,
    bits_of,
    glance,
    logits_of,
    step,
    weighed,
)
from randori.words import some

__all__ = ["LAWS", "Report", "check"]

MOST_PLIES = 600
"""No new game begins after so many, however many games are asked for."""


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
        few = f" of {self.asked} ({MOST_PLIES} plies are enough)" if self.games < self.asked else ""
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
    check_facts(trial)
    check_functions(trial)
    records: list[Record] = []
    with np.errstate(over="ignore"):  # numpy warns where words wrap round, as hashes should
        while len(records) < max(games, 1) and _plies(records) < MOST_PLIES:
            records.append(_play_game(trial, rng))
        check_texts(trial, records, rng)
        check_symmetries(trial, records, rng)
        if compiled:
            check_compiled(trial, records)
    notes = trial.notes if compiled else [*trial.notes, "compiled: left out"]
    laws = {law: trial.counts[law] for law in LAWS}
    return Report(game.spec, max(games, 1), len(records), _plies(records), laws, tuple(notes))


def _plies(records: Sequence[Record]) -> int:
    return sum(len(record.moves) for record in records)


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
        check_mover(trial, before)
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


def _check_weigh(trial: Trial, view: View) -> None:
    game, state = trial.game, trial.state.copy()
    state.setflags(write=False)
    actions = np.full(game.num_actions, -1, dtype=np.int32)
    odds = np.full(game.num_actions, np.nan, dtype=np.float32)
    count = trial.ask("weigh", state, actions, logits_of(game), odds)
    expected = weighed(game, view.legal)
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
