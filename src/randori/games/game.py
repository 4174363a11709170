"""The game seam: five kernels and a handful of facts, and what follows from them for every game."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from threading import Lock
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from randori.games.kernels import Bindings, State, specialise
from randori.games.rules import Rules
from randori.games.symmetry import NO_SYMMETRIES, Symmetries, no_turns

if TYPE_CHECKING:
    from randori.games.position import Position

F = TypeVar("F", bound=Callable[..., Any])

_SPECIALISING = Lock()
"""Held while kernels are made: another thread must not see functions that are half bound."""


@dataclass(frozen=True, eq=False)
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

    constants: Mapping[str, Any] = field(default_factory=dict)
    """Module constants of the kernels that an option changes, by name."""
    most_legal: int = 0
    """No position has more legal actions; 0 stands for `num_actions`."""
    symmetries: Symmetries = NO_SYMMETRIES
    """None given stands for the identity alone."""
    factors: NDArray[np.int32] = field(default_factory=lambda: np.zeros((0, 1), dtype=np.int32))
    """[A, F] the logits whose sum is an action's logit; none given stands for one an action."""
    factor_sizes: tuple[int, ...] = ()
    """Logits of each policy sub-head; they stand one after another in the network's output."""

    glyphs: str = "xo"
    """How the first and the second player's stones are written; an empty cell is a dot."""
    columns: str = "abcdefghijklmnopqrstuvwxyz"
    """How the columns are named, from the left."""
    action_text: Callable[[State, int], str] | None = None
    """None writes action i < cells as column and row (1 at the top), the rest as ``pass``."""
    set_up: Callable[[str, int], State] | None = None
    """(cells, side) -> state, where cells are glyphs; raises ValueError for what cannot be."""
    position_text: Callable[[State], str] | None = None
    """None derives it from the planes."""
    parse_position: Callable[[str], State] | None = None
    """None derives it from `set_up`; raises ValueError for what cannot be."""
    positions: Mapping[str, str] = field(default_factory=dict)
    """Named positions."""
    title: str = ""
    """One line for people."""

    spec: str = ""
    """How the registry finds this game again; options that are as by default are left out."""
    identity: str = ""
    """The same with the game's name instead of a file's path: what a model is for."""
    _kernels: dict[Any, Any] = field(default_factory=dict, repr=False, init=False)
    _shared: dict[Any, Any] = field(default_factory=dict, repr=False, init=False)
    """What templates call, compiled once for all of them."""

    def __post_init__(self) -> None:
        fill = object.__setattr__
        fill(self, "spec", self.spec or self.name)
        fill(self, "identity", self.identity or self.name)
        fill(self, "title", self.title or self.name)
        fill(self, "most_legal", self.most_legal or self.num_actions)
        if not len(self.symmetries):
            fill(self, "symmetries", no_turns(self.shape, self.num_planes, self.num_actions))
        if not len(self.factors):
            fill(self, "factors", np.arange(self.num_actions, dtype=np.int32)[:, None])
            fill(self, "factor_sizes", (self.num_actions,))

    @property
    def cells(self) -> int:
        """Number of cells of the board."""
        return self.shape[0] * self.shape[1]

    @property
    def plane_words(self) -> int:
        """Words of one packed plane."""
        return (self.cells + 63) // 64

    @property
    def input_words(self) -> int:
        """Words of all planes."""
        return self.num_planes * self.plane_words

    @property
    def num_logits(self) -> int:
        """Width of the policy output."""
        return sum(self.factor_sizes)

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
            bound[name] = specialise(rule, self._bindings, compiled=False)
        return Rules(**bound)

    @property
    def _bindings(self) -> Bindings:
        facts = {
            "NUM_ACTIONS": self.num_actions,
            "MOST_LEGAL": self.most_legal,
            "STATE_WORDS": self.num_words,
            "INPUT_WORDS": self.input_words,
        }
        home = cast(FunctionType, self.rules.play).__globals__
        return Bindings(self.name, home, self.constants, {**self.rules._asdict(), **facts})

    def kernel(self, template: F) -> F:
        """Return `template` compiled for this game; the same one for the same template."""
        with _SPECIALISING:
            if template not in self._kernels:
                self._kernels[template] = specialise(template, self._bindings, built=self._shared)
            kernel: F = self._kernels[template]
        return kernel

    def new_state(self) -> State:
        """Return the row of the first position."""
        state = np.zeros(self.num_words, dtype=np.uint64)
        self.plain.start(state)
        return state

    def legal_actions(self, state: State) -> list[int]:
        """List the legal action ids of one position, in the order of the kernel."""
        actions = np.zeros(self.num_actions, dtype=np.int32)
        return [int(a) for a in actions[: self.plain.legal(state, actions)]]
