"""Turned questions: whatever the network says, symmetric positions get symmetric answers."""

from typing import Any

import numpy as np
import pytest

from randori.games.game import Game
from randori.games.registry import load_game
from randori.games.symmetry import turned_logits
from randori.search.symmetric import SymmetricEvaluator, in_turns
from randori.search.uniform import ArrayLane


class Opinionated:
    """Answers that depend on every bit of the planes, and on no symmetry."""

    name = "opinionated"

    def __init__(self, game: Game) -> None:
        self.game = game

    def lane(self, batch: int) -> Any:
        game = self.game

        class Lane(ArrayLane):
            def launch(self, count: int) -> None:
                for row in range(count):
                    seed = [int(word) for word in self.words[row]]
                    rng = np.random.default_rng(seed)
                    self.logits[row] = rng.normal(size=game.num_logits)
                    self.values[row] = rng.uniform(-1, 1)

        return Lane(game, batch)


def planes_of(game: Game, state: Any) -> Any:
    words = np.zeros(game.input_words, dtype=np.uint64)
    game.plain.planes(state, words)
    return words


def turned(game: Game, words: Any, turn: int) -> Any:
    """The planes under a symmetry, bit by bit."""
    out = np.zeros_like(words)
    for i in range(game.num_planes * game.cells):
        plane, cell = divmod(i, game.cells)
        if int(words[plane * game.plane_words + cell // 64]) >> (cell % 64) & 1:
            to, at = divmod(int(game.symmetries.inputs[turn, i]), game.cells)
            out[to * game.plane_words + at // 64] |= np.uint64(1 << (at % 64))
    return out


def ask(lane: Any, rows: Any) -> tuple[Any, Any]:
    lane.words[: len(rows)] = rows
    lane.launch(len(rows))
    lane.wait()
    return lane.logits[: len(rows)].copy(), lane.values[: len(rows)].copy()


def some_words(game: Game) -> Any:
    rng = np.random.default_rng(3)
    state = game.new_state()
    for _ in range(7):
        game.plain.play(state, int(rng.choice(game.legal_actions(state))))
    return planes_of(game, state)


def action_logits(game: Game, logits: Any) -> Any:
    return logits[game.factors].sum(axis=1)


@pytest.mark.parametrize("spec", ["connect4", "othello:size=6", "go:size=5", "shobu"])
def test_all_turns_make_any_network_symmetric(spec: str) -> None:
    game = load_game(spec)
    lane = SymmetricEvaluator(game, Opinionated(game), "all").lane(32)
    words = some_words(game)
    count = len(game.symmetries)
    images = [turned(game, words, turn) for turn in range(count)]
    logits, values = ask(lane, np.array(images))
    assert values == pytest.approx(np.full(count, values[0]), abs=1e-5)
    inner = Opinionated(game).lane(count)
    plain, plain_values = ask(inner, np.array(images))
    assert values[0] == pytest.approx(plain_values.mean(), abs=1e-5), "the mean over the images"
    ours = action_logits(game, logits[0])
    for turn in range(count):
        moved = action_logits(game, logits[turn])[game.symmetries.actions[turn]]
        assert moved == pytest.approx(ours, abs=1e-4)
    by_hand = sum(
        action_logits(game, plain[turn])[game.symmetries.actions[turn]] for turn in range(count)
    )
    assert ours == pytest.approx(by_hand / count, abs=1e-4)


def test_a_random_turn_is_one_of_them() -> None:
    game = load_game("othello:size=6")
    words = some_words(game)
    images = np.array([turned(game, words, turn) for turn in range(8)])
    _, wanted = ask(Opinionated(game).lane(8), images)
    lane = SymmetricEvaluator(game, Opinionated(game), "random").lane(400)
    _, values = ask(lane, np.repeat(words[None], 400, axis=0))
    seen = {float(value) for value in values}
    assert seen == {float(value) for value in wanted}


def test_factors_that_do_not_turn_are_noticed() -> None:
    actions = np.array([[0, 1, 2, 3], [1, 0, 2, 3]], dtype=np.int32)
    factors = np.array([[0, 2], [1, 2], [0, 3], [1, 3]], dtype=np.int32)
    assert turned_logits(actions, factors, 4) is None
    fitting = np.array([[0, 1, 2, 3], [1, 0, 3, 2]], dtype=np.int32)
    table = turned_logits(fitting, factors, 4)
    assert table is not None
    assert table.tolist() == [[0, 1, 2, 3], [1, 0, 2, 3]]


@pytest.mark.parametrize(
    ("spec", "is_asked_twice"),
    [("connect4", True), ("othello", False), ("tictactoe", False), ("shobu", False)],
)
def test_unless_told_otherwise_only_games_with_two_symmetries_are_shown_in_every_way(
    spec: str, is_asked_twice: bool
) -> None:
    game = load_game(spec)
    plain = Opinionated(game)
    found = in_turns(game, plain, "auto")
    assert isinstance(found, SymmetricEvaluator) if is_asked_twice else found is plain
    assert in_turns(game, plain, "none") is plain
