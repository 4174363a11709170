"""A game on trial: the laws, how its plain kernels are asked, and how a broken law is told."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from traceback import extract_tb
from types import FunctionType
from typing import Any, NoReturn, cast

import numpy as np
from numpy.typing import NDArray

from randori.errors import BrokenLaw
from randori.games import text
from randori.games.game import Game
from randori.games.kernels import State

LAWS = {
    "facts": "sizes, tables and names agree with each other",
    "kernels": "the kernels are plain functions that run on every position of a game",
    "read-only": "only start and play write to the state",
    "repeatable": "the same call gives the same answer, whatever the buffers held before",
    "plies": "word 0 of the state is 0 at the start and 1 more after each play",
    "num_legal": "num_legal says how many actions legal finds",
    "weigh": "weigh finds what legal finds, and adds up each action's logits",
    "marks": "planes mark every logit of what is legal, and no more than most_marked in all",
    "ending": "legal finds no action exactly when outcome says that the game is over",
    "may_end": "no action ends a game of which may_end says that none does",
    "actions": "the legal action ids are distinct and from [0, num_actions)",
    "most_legal": "legal writes no more than most_legal actions",
    "longest": "a game is over after at most `longest` plies",
    "planes": "planes stay on the board, and no cell holds stones of both sides",
    "mover": "the first planes show the stones of the side to move, the next its opponent's",
    "action text": "the legal actions of a position have different texts, which read back",
    "position text": "a position's text reads back as the same position",
    "symmetry": "a symmetry commutes with legal, play, outcome and planes",
    "compiled": "the compiled kernels answer as the plain ones do",
}

SPARE = 64
"""Room behind the list of actions, to see what is written there."""
JUNK = (0, 0xA5A5A5A5A5A5A5A5)
"""What the buffers hold before a kernel writes to them."""


@dataclass(frozen=True)
class View:
    """All that the kernels say about one position."""

    legal: tuple[int, ...]
    outcome: int
    words: tuple[int, ...]


@dataclass(frozen=True)
class Record:
    """A game as it was played: one action fewer than positions."""

    moves: list[int]
    states: list[State]
    views: list[View]


@dataclass
class Trial:
    """The game under trial, where it stands, and how often each law was tried."""

    game: Game
    state: State
    moves: Sequence[int] = ()
    counts: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)

    def uphold(self, law: str, holds: bool, expected: object, found: object) -> None:
        """Count that `law` was tried; raise if it does not hold."""
        self.counts[law] += 1
        if not holds:
            self.condemn(law, f"expected {expected}, found {found}")

    def condemn(self, law: str, what: str) -> NoReturn:
        """Say in one line which law is broken, and where."""
        place = "" if law == "facts" else f" at {self.place()}"
        line = f"{self.game.name}: law {law!r} ({LAWS[law]}) broken{place}: {what}"
        raise BrokenLaw(" ".join(line.split())) from None

    def place(self) -> str:
        """Write the position under trial, or the actions that lead there if it has no text."""
        if not len(self.moves):
            return "the start"
        try:
            return f"position {text.position_text(self.game, self.state)!r}"
        except Exception:
            return f"the position after actions {' '.join(map(str, self.moves))}"

    def _line(self, error: Exception) -> str:
        """Name the last line of the game's own file on the way to `error`."""
        file = cast(FunctionType, self.game.rules.play).__code__.co_filename
        lines = [f.lineno for f in extract_tb(error.__traceback__) if f.filename == file]
        return f" ({Path(file).name}, line {lines[-1]})" if lines else ""

    def ask(self, kernel: str, *arguments: Any) -> int:
        """Call a plain kernel; what it raises is a broken law."""
        self.counts["kernels"] += 1
        self.counts["read-only"] += kernel not in ("start", "play")
        try:
            answer = getattr(self.game.plain, kernel)(*arguments)
        except Exception as error:
            if isinstance(error, ValueError) and "read-only" in str(error):
                self.condemn("read-only", f"{kernel} writes to it")
            call = f"play({arguments[1]})" if kernel == "play" else kernel
            self.condemn(
                "kernels", f"{call} raised {type(error).__name__}: {error}{self._line(error)}"
            )
        if kernel in ("legal", "num_legal", "outcome", "weigh", "may_end"):
            is_whole = isinstance(answer, int | np.integer | np.bool_)
            self.uphold("kernels", is_whole, f"a whole number from {kernel}", repr(answer))
            return int(answer)
        return 0


def step(trial: Trial, state: State, action: int) -> State:
    """Play `action` twice on copies."""
    once, again = state.copy(), state.copy()
    trial.ask("play", once, action)
    trial.ask("play", again, action)
    same = np.array_equal(once, again)
    trial.uphold("repeatable", same, f"play({action}) to give {once}", f"{again} the second time")
    return once


def glance(trial: Trial, state: State, junk: int) -> View:
    """Ask every kernel about one position, with buffers that hold `junk`."""
    game, state = trial.game, state.copy()
    state.setflags(write=False)
    fill = -1 - (junk & 1)
    actions = np.full(game.num_actions + SPARE, fill, dtype=np.int32)
    count = trial.ask("legal", state, actions)
    trial.uphold("actions", count >= 0, "a count of actions", count)
    written = np.flatnonzero(actions != fill)
    used = max(count, int(written[-1]) + 1 if len(written) else 0)
    trial.uphold("most_legal", used <= game.most_legal, f"at most {game.most_legal}", used)
    counted = trial.ask("num_legal", state, actions.copy())
    trial.uphold("num_legal", counted == count, f"{count} from num_legal", counted)
    result = trial.ask("outcome", state)
    words = np.full(game.input_words, junk, dtype=np.uint64)
    trial.ask("planes", state, words)
    return View(tuple(actions[:count].tolist()), result, tuple(words.tolist()))


def bits_of(game: Game, words: Sequence[int]) -> NDArray[np.bool_]:
    """Unpack planes into [planes, 64 * words a plane], the padding behind the cells included."""
    little = np.array(words, dtype="<u8").view(np.uint8)
    return np.unpackbits(little, bitorder="little").astype(bool).reshape(game.num_planes, -1)


def logits_of(game: Game) -> NDArray[np.float32]:
    """Make up logits, all of them different and none of them 0."""
    return np.sin(1 + np.arange(game.num_logits)).astype(np.float32)


def weighed(game: Game, legal: Sequence[int]) -> list[tuple[int, float]]:
    """Say what `weigh` shall find, to the last bit."""
    sums = np.zeros(len(legal), dtype=np.float32)
    for part in logits_of(game)[game.factors[list(legal)]].T:
        sums += part
    return list(zip(legal, sums.tolist(), strict=True))


def compare(trial: Trial, law: str, subject: str, expected: View, found: View) -> None:
    """Uphold `law` for all that two views say; the order of actions matters when compiled only."""
    for kind in ("legal", "outcome", "words"):
        one, other = getattr(expected, kind), getattr(found, kind)
        if kind == "legal" and law != "compiled":
            one, other = sorted(one), sorted(other)
        name = "planes" if kind == "words" else kind
        trial.uphold(law, one == other, f"{subject} to have {name} {one}", other)


def sample(
    records: Sequence[Record], rng: np.random.Generator, size: int
) -> list[tuple[Record, int]]:
    """Pick positions: the first, the last of each game, then any; a position is (game, ply)."""
    ends = [(records[0], 0), *((record, len(record.moves)) for record in records)]
    inner = [(record, ply) for record in records for ply in range(1, len(record.moves))]
    order = rng.permutation(len(inner))
    return [*ends[: (size + 1) // 2], *(inner[i] for i in order[: size // 2])]
