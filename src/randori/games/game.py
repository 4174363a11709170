"""The game seam: five kernels and a handful of facts, and what follows from them for every game."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from threading import Lock
from types import FunctionType
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from randori.errors import UserError
from randori.games import rules as placeholders
from randori.games.kernels import Bindings, State, specialise
from randori.games.look import PLAIN, Look
from randori.games.marks import Runs, runs_of
from randori.games.rules import Rules
from randori.games.symmetry import NO_SYMMETRIES, Symmetries, Table, no_turns

if TYPE_CHECKING:
    from randori.games.position import Position

F = TypeVar("F", bound=Callable[..., Any])

_SPECIALISING = Lock()
"""Held while kernels are made: another thread must not see functions that are half bound."""


class ExactSolver(Protocol):
    """What knows the exact worth of positions that are not over."""

    nodes: NDArray[np.int64]
    """[1] positions visited so far"""

    def score(self, state: State) -> int:
        """Return the score for the side to move: positive for a win, 0 for a draw."""

    def scores(self, state: State) -> dict[int, int]:
        """Return the score of each legal action, for the side that plays it."""


MOST_ACTIONS = 65_534
"""Action ids are stored in 16 bits, and one number stands for no action."""
MOST_MOVES = 32_767
"""Places among the legal moves are stored in 16 bits with a sign."""


@dataclass(frozen=True, eq=False, repr=False)
class Game:
    """One game with its options settled."""

    name: str
    rules: Rules
    num_actions: int
    num_words: int
    """Words of a state."""
    num_planes: int
    shape: tuple[int, int]
    """Height and width of the board that the network sees."""
    longest: int
    """No game has more plies."""

    evaluations: Mapping[str, Callable[[State], int]] = field(default_factory=dict)
    """Kernels that judge a position for its mover at a glance, by name; 100 is about a stone. The
    first is what searches use if nobody chooses; every game also has ``material``."""
    solver: Callable[["Game"], ExactSolver] | None = None
    """Makes what knows the exact worth of any position."""
    solvable: int = 0
    """With at most so many empty cells that takes a moment; 0 if it always does."""
    pass_action: int = -1
    """What hands the turn over when played, whether it is legal or not; -1 if there is no such."""
    has_threats: bool = True
    """Whether games are won by threats that no answer meets; if not, searches in play look for such
    at the root alone."""
    can_repeat: bool = True
    """Whether a position can come again; searches in play take that for a draw, so that agents do
    not go round in circles. If not, or if the state itself knows the past, they need not look."""
    constants: Mapping[str, Any] = field(default_factory=dict)
    """Module constants of the kernels that an option changes, by name."""
    most_legal: int = 0
    """No position has more legal actions; 0 stands for `num_actions`."""
    symmetries: Symmetries = NO_SYMMETRIES
    """None given stands for the identity alone."""
    factors: NDArray[np.int32] = field(default_factory=lambda: np.zeros((0, 1), dtype=np.int32))
    """[A, F] the logits whose sum is an action's logit; none given stands for one an action."""
    factor_sizes: tuple[int, ...] = ()
    """Logits of each factor; they stand one after another in the network's output."""
    spots: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, dtype=np.int32))
    """[P] where a logit stands in the planes of a convolution: plane * cells + cell of `shape`;
    none given stands for nowhere, so that networks have logits without a place."""
    marks: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, dtype=np.int32))
    """[P] without which bit of its planes, plane * cells + cell, a position has no use for a logit;
    within a factor they ascend. None given stands for use everywhere."""
    most_marked: tuple[int, ...] = ()
    """How many logits of each factor a position has use for at most, where there are marks."""
    subheads: tuple[int, ...] = ()
    """Logits of each sub-head of a policy without planes; none given stands for the factors."""
    parts: NDArray[np.int32] = field(default_factory=lambda: np.zeros((0, 1), dtype=np.int32))
    """[P, K] those of them that add up to a logit; −1 stands for none."""

    board: tuple[int, int] = (0, 0)
    """Height and width of the board that people see; none given stands for `shape`."""
    seen: Table = field(default_factory=lambda: np.zeros((2, 0), dtype=np.int32))
    """[2, board cells] the bit of the mover's stone planes that shows a cell to each side; none
    given stands for cell i as bit i, whoever is to move."""
    glyphs: str = "xo"
    """How the first and the second player's stones are written; an empty cell is a dot."""
    sides: str = ""
    """How the side to move is written; none given stands for `glyphs`."""
    columns: str = "abcdefghijklmnopqrstuvwxyz"
    """How the columns are named, from the left."""
    rows_up: bool = False
    """Whether row 1 is at the bottom; texts begin with the top row all the same."""
    pushes: bool = False
    """Whether a move can shift stones of the opponent."""
    look: Look = PLAIN
    """Colours and shapes of the drawn board."""

    action_text: Callable[[State, int], str] | None = None
    """None writes action i < cells as column and row, the rest as ``pass``."""
    explain: Callable[[State, str], str] | None = None
    """Says why a move, as text, is not legal; empty where it cannot tell."""
    split_moves: Callable[[str], list[str]] | None = None
    """Cuts moves that people write without spaces; raises ValueError for what cannot be."""
    details: Callable[[State], str] | None = None
    """What a position text says behind the side to move, because no board shows it."""
    set_up: Callable[..., State] | None = None
    """(cells, side) -> state, where cells are glyphs; with `details` their text comes third, empty
    if there was none. Raises ValueError for what cannot be."""
    position_text: Callable[[State], str] | None = None
    """None derives it from the planes."""
    parse_position: Callable[[str], State] | None = None
    """None derives it from `set_up`; raises ValueError for what cannot be."""
    formats: Mapping[str, Callable[[State], str]] = field(default_factory=dict)
    """Other ways to write a position, by name."""
    positions: Mapping[str, str] = field(default_factory=dict)
    """Named positions."""
    margin: Callable[[State], float] | None = None
    """By how much the first player is ahead, in points, where games are won by points."""
    placements: Callable[[np.random.Generator, int], NDArray[np.uint64]] | None = None
    """Draws so many random positions, as `randori stats` counts moves in."""
    title: str = ""
    """One line for people."""

    spec: str = ""
    """How the registry finds this game again; options that are as by default are left out."""
    identity: str = ""
    """The same with the game's name instead of a file's path: what a model is for."""
    _kernels: dict[Any, Any] = field(default_factory=dict, repr=False, init=False)
    _shared: dict[Any, Any] = field(default_factory=dict, repr=False, init=False)
    """What templates call, compiled once for all of them."""

    def __repr__(self) -> str:
        return f"<Game {self.spec}>"

    def __post_init__(self) -> None:
        fill = object.__setattr__
        fill(self, "spec", self.spec or self.name)
        fill(self, "identity", self.identity or self.name)
        fill(self, "title", self.title or self.name)
        fill(self, "most_legal", self.most_legal or self.num_actions)
        if self.num_actions > MOST_ACTIONS or self.most_legal > MOST_MOVES:
            raise UserError(
                f"{self.name}: at most {MOST_ACTIONS} actions, {MOST_MOVES} of them legal at once; "
                f"it has {self.num_actions} and {self.most_legal}"
            )
        if not len(self.symmetries):
            fill(self, "symmetries", no_turns(self.shape, self.num_planes, self.num_actions))
        if not len(self.factors):
            fill(self, "factors", np.arange(self.num_actions, dtype=np.int32)[:, None])
            fill(self, "factor_sizes", (self.num_actions,))
        if self.num_logits > MOST_ACTIONS:
            raise UserError(
                f"{self.name}: {self.num_logits} logits, at most {MOST_ACTIONS} will do"
            )
        fill(self, "board", self.board if all(self.board) else self.shape)
        if not self.seen.size:
            fill(self, "seen", np.tile(np.arange(self.board_cells, dtype=np.int32), (2, 1)))

    @property
    def cells(self) -> int:
        """Number of cells of a plane."""
        return self.shape[0] * self.shape[1]

    @property
    def board_cells(self) -> int:
        """Number of cells of the board that people see."""
        return self.board[0] * self.board[1]

    @property
    def side_names(self) -> str:
        """How the first and the second player are written as the side to move."""
        return self.sides or self.glyphs

    @property
    def stone_planes(self) -> int:
        """Planes that show one side's stones: the mover's come first, then its opponent's."""
        return -(-self.board_cells // self.cells)

    @property
    def plane_words(self) -> int:
        """Words of one packed plane."""
        return (self.cells + 63) // 64

    @property
    def input_words(self) -> int:
        """Words of all planes."""
        return self.num_planes * self.plane_words

    @property
    def owner_words(self) -> int:
        """Words that tell who has which cell in the end; 0 if both sides see another board."""
        if not np.array_equal(self.seen[0], self.seen[1]):
            return 0
        return 2 * self.stone_planes * self.plane_words

    @property
    def num_logits(self) -> int:
        """Width of the policy output."""
        return sum(self.factor_sizes)

    @property
    def compact_width(self) -> int:
        """Width of a policy output that leaves out what does not matter, if the game says what."""
        return self.runs.width if len(self.marks) else self.num_logits

    @cached_property
    def runs(self) -> Runs:
        """Where the logits stand that matter to a position."""
        return runs_of(self.marks, self.factor_sizes, self.most_marked, self.cells)

    def start(self) -> "Position":
        """Return the first position."""
        from randori.games.position import Position

        return Position(self, self.new_state())

    def position(self, text: str) -> "Position":
        """Read a position: ``start``, a name that the game knows, or a position text."""
        from randori.games.position import Position
        from randori.games.text import parse_position

        return Position(self, parse_position(self, text))

    @cached_property
    def plain(self) -> Rules:
        """The rules with the constants bound, uncompiled: for single positions."""
        bound = self.rules._asdict()
        for name, rule in bound.items():
            bound[name] = self.uncompiled(rule)
        return Rules(**bound)

    @property
    def _bindings(self) -> Bindings:
        runs = self.runs
        facts = {
            "NUM_ACTIONS": self.num_actions,
            "MOST_LEGAL": self.most_legal,
            "NUM_LOGITS": self.num_logits,
            "FACTORS": self.factors.astype(np.uint16),
            "NUM_FACTORS": self.factors.shape[1],
            "RUN_MASKS": runs.masks,
            "RUN_FIRST": runs.first,
            "RUN_LENGTH": runs.length,
            "RUN_BEGINS": runs.begins,
            "NUM_RUN_WORDS": runs.masks.shape[1],
            "RUN_SHARED": runs.shared,
            "RUN_CELLS": self.cells,
            "RUN_SPAN": runs.span,
            "LONGEST": self.longest,
            "STATE_WORDS": self.num_words,
            "INPUT_WORDS": self.input_words,
            "STONE_WORDS": self.stone_planes * self.plane_words,
            "OWNER_WORDS": 2 * self.stone_planes * self.plane_words,
            "PASS_ACTION": self.pass_action,
            "HAS_THREATS": self.has_threats,
            "CAN_REPEAT": self.can_repeat,
        }
        home = cast(FunctionType, self.rules.play).__globals__
        holes = {**self.rules._asdict(), **facts}
        left_open = {name: getattr(placeholders, name) for name in Rules._fields}
        return Bindings(self.name, home, self.constants, holes, left_open)

    def kernel(self, template: F, **holes: Any) -> F:
        """Return `template` compiled for this game; the same one for the same template.

        `holes` fills further names that the template and what it calls leave open.
        """
        filled = tuple(sorted(holes.items()))
        with _SPECIALISING:
            if (template, filled) not in self._kernels:
                shared = self._shared.setdefault(filled, {})
                bindings = self._bindings.filled(holes)
                self._kernels[template, filled] = specialise(template, bindings, built=shared)
            kernel: F = self._kernels[template, filled]
        return kernel

    def uncompiled(self, template: F, **holes: Any) -> F:
        """Return `template` bound to this game but not compiled: for single positions."""
        return specialise(template, self._bindings.filled(holes), compiled=False)

    def new_state(self) -> State:
        """Return the row of the first position."""
        state = np.zeros(self.num_words, dtype=np.uint64)
        self.plain.start(state)
        return state

    def legal_actions(self, state: State) -> list[int]:
        """List the legal action ids of one position, in the order of the kernel."""
        actions = np.zeros(self.num_actions, dtype=np.int32)
        return [int(a) for a in actions[: self.plain.legal(state, actions)]]
