"""An evaluator around another one that shows it positions turned: at random, or in every way.

A network never learns the symmetries of a game exactly. A random turn (AlphaGo Zero) averages its
errors over the search; the mean over all turns costs so many evaluations a position.
"""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from randori.errors import UserError
from randori.games.dice import Dice, below, seed_dice
from randori.games.game import Game
from randori.games.rules import INPUT_WORDS
from randori.games.symmetry import Table, turn_planes, turned_logits
from randori.search.evaluator import Evaluator, Lane
from randori.search.uniform import ArrayLane

Turns = Literal["auto", "none", "random", "all"]


def in_turns(game: Game, inner: Evaluator, turns: Turns) -> Evaluator:
    """Return an evaluator that asks `inner` about positions in these ways.

    By itself a game of two symmetries has both: `docs/results/models.md` says what that is worth.
    """
    if turns == "auto":
        turns = "all" if len(game.symmetries) == 2 and turns_of(game) is not None else "none"
    return inner if turns == "none" else SymmetricEvaluator(game, inner, turns)


def turns_of(game: Game) -> Table | None:
    """Return where logits go under each symmetry; None where they do not stay factors."""
    return turned_logits(game.symmetries.actions, game.factors, game.num_logits)


class SymmetricEvaluator:
    """Asks `inner` about turned positions and turns its answers back."""

    def __init__(
        self, game: Game, inner: Evaluator, turns: Literal["random", "all"], seed: int = 0
    ) -> None:
        logits = turns_of(game)
        if logits is None:
            raise UserError(f"the moves of {game.name} do not turn factor by factor: turns=none")
        self.name = f"{inner.name}, turns: {turns}"
        self._game, self._inner, self._logits, self._turns = game, inner, logits, turns
        self._seed = seed

    def lane(self, batch: int) -> "SymmetricLane":
        """Make a lane with dice of its own."""
        self._seed += 1
        count = len(self._game.symmetries) if self._turns == "all" else 0
        inner = self._inner.lane(batch * max(1, count))
        return SymmetricLane(self._game, batch, inner, self._logits, count, self._seed)


class SymmetricLane(ArrayLane):
    """Turns its questions in `launch` and its answers in `wait`."""

    def __init__(
        self, game: Game, batch: int, inner: Lane, logits: Table, count: int, seed: int
    ) -> None:
        super().__init__(game, batch)
        self.states = inner.states[:batch]  # only their width counts: nobody plays on from these
        self._game, self._logit_map, self._inner = game, logits, inner
        self._count = count
        self._drawn = np.zeros(batch * max(1, count), dtype=np.int32)
        self._dice = seed_dice(seed, 1)[0]
        self._asked = 0

    def launch(self, count: int) -> None:
        """Start on the turned rows."""
        game = self._game
        game.kernel(turn_questions)(
            self.words[:count], self._inner.words, self._drawn, self._count,
            game.symmetries.inputs, game.cells, self._dice,
        )  # fmt: skip
        self._asked = count
        self._inner.launch(count * max(1, self._count))

    def wait(self) -> None:
        """Wait for the answers and turn them back."""
        self._inner.wait()
        if self._asked:
            self._game.kernel(turn_answers)(
                self._inner.logits, self._inner.values, self._drawn, max(1, self._count),
                self._logit_map, self.logits[: self._asked], self.values,
            )  # fmt: skip
            self._asked = 0


def turn_questions(
    words: NDArray[np.uint64],
    turned: NDArray[np.uint64],
    drawn: NDArray[np.int32],
    count: int,
    inputs: Table,
    plane_cells: int,
    dice: Dice,
) -> None:
    """Write every row in `count` ways, or in one random way if that is 0."""
    copies = max(1, count)
    for row in range(len(words)):
        for k in range(copies):
            at = row * copies + k
            drawn[at] = k if count > 0 else below(dice, len(inputs))
            turn_planes(words[row], INPUT_WORDS, inputs[drawn[at]], plane_cells, turned[at])


def turn_answers(
    turned: NDArray[np.float32],
    turned_values: NDArray[np.float32],
    drawn: NDArray[np.int32],
    copies: int,
    logit_map: Table,
    logits: NDArray[np.float32],
    values: NDArray[np.float32],
) -> None:
    """Average what was said of the ways of each row."""
    share = np.float32(1.0 / copies)
    for row in range(len(logits)):
        values[row] = 0.0
        for p in range(logits.shape[1]):
            logits[row, p] = 0.0
        for k in range(copies):
            at = row * copies + k
            values[row] += share * turned_values[at]
            for p in range(logits.shape[1]):
                logits[row, p] += share * turned[at, logit_map[drawn[at], p]]
