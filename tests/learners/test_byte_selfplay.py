"""Self-play over lanes of bytes is self-play over what the bytes say."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from randori.agents.models import signature_of
from randori.games.dice import seed_dice
from randori.games.game import Game
from randori.games.kernels import specialise
from randori.games.registry import load_game
from randori.learners import group as groups
from randori.learners.group import Group
from randori.learners.settings import SelfPlayConfig
from randori.learners.slots import play_on
from randori.learners.yields import FinishedGame
from randori.networks.compact import Compactor
from randori.networks.planes import unpack
from randori.search.byte_logits import byte_kernels
from randori.search.evaluator import STEPS, measure_rate, selfplay_lane
from randori.search.search import SearchConfig
from randori.search.tree import make_trees
from randori.search.uniform import UniformEvaluator

Build = Callable[[Game], Any]
SHOBU = "shobu:cap=40"
SPREAD = 12
CONFIG = SelfPlayConfig(
    slots=4, search=SearchConfig(20, cache_mb=0.0), fast_simulations=5, full_share=0.5,
    byte_logits=True,
)  # fmt: skip


@cache
def game_of(spec: str) -> Game:
    return load_game(spec)


class ByteLane:
    """Another lane's answers as bytes."""

    def __init__(self, game: Game, inner: Any) -> None:
        self.states, self.words, self.values = inner.states, inner.words, inner.values
        self.logits: Any = np.zeros((len(inner.values), game.compact_width), np.uint8)
        self._game, self._inner, self._signature = game, inner, signature_of(game)
        self._compact = Compactor(self._signature, torch.device("cpu"))

    def launch(self, count: int) -> None:
        self._inner.launch(count)
        self.logits[:] = self._octets()

    def _octets(self) -> NDArray[np.uint8]:
        said = torch.from_numpy(SPREAD * self._inner.logits)
        octets: NDArray[np.uint8] = self._compact(said, self._planes()).numpy()
        return octets

    def _planes(self) -> torch.Tensor:
        return unpack(torch.from_numpy(self.words.view(np.int64)), self._signature)

    def wait(self) -> None:
        self._inner.wait()


class RoundedLane(ByteLane):
    """What they say, as float32: 16 bits are enough for it."""

    def __init__(self, game: Game, inner: Any) -> None:
        super().__init__(game, inner)
        self.logits = np.zeros(inner.logits.shape, np.float32)

    def launch(self, count: int) -> None:
        self._inner.launch(count)
        octets, game = self._octets(), self._game
        if not len(game.marks):
            self.logits[:] = octets / -STEPS
            return
        cells = self._planes().flatten(1).numpy() > 0
        ends, begins = np.cumsum((0, *game.factor_sizes)), np.cumsum((0, *game.most_marked))
        for row in range(len(octets)):
            for f, begin in enumerate(begins[:-1]):
                own = ends[f] + np.flatnonzero(cells[row][game.marks[ends[f] : ends[f + 1]]])
                self.logits[row, own] = octets[row, begin : begin + len(own)] / -STEPS


class Rounded:
    """An evaluator that says in float32 what `Terse` says in bytes."""

    name = "rounded"

    def __init__(self, game: Game, inner: Any) -> None:
        self._game, self._inner = game, inner

    def lane(self, batch: int) -> Any:
        return RoundedLane(self._game, self._inner.lane(batch))


class Terse(Rounded):
    """An evaluator that has bytes for self-play."""

    def compact_lane(self, batch: int) -> Any:
        return ByteLane(self._game, self._inner.lane(batch))


def pair_of(game: Game, hashed: Build, config: SelfPlayConfig, seed: int = 1) -> list[Group]:
    """Two groups that shall play alike, the first over bytes."""
    return [
        Group(game, kind(game, hashed(game)), config, seed_dice(seed, config.slots))
        for kind in (Terse, Rounded)
    ]


def expect_alike(ours: Group, theirs: Group, steps: int) -> None:
    """Let both play on and compare all that they find, to the last bit."""
    for _ in range(steps):
        ours.step()
        theirs.step()
        found, expected = ours.take(), theirs.take()
        assert found.games == expected.games
        assert np.array_equal(found.rows.counts, expected.rows.counts)
    assert ours.evaluations == theirs.evaluations > steps
    for name in ("nodes", "moves", "edges", "used"):
        assert np.array_equal(getattr(ours._trees, name), getattr(theirs._trees, name)), name


@pytest.mark.parametrize(
    "changes",
    [{}, {"keep_tree": False}, {"gumbel": 4}],
    ids=["plain", "trees anew", "gumbel"],
)
def test_bytes_play_as_what_they_say(changes: dict[str, Any], hashed: Build) -> None:
    ours, theirs = pair_of(game_of("connect4"), hashed, replace(CONFIG, **changes))
    assert ours._trees.logits.dtype == np.uint8
    assert theirs._trees.logits.dtype == np.uint16
    expect_alike(ours, theirs, 300)


@pytest.mark.parametrize(("spec", "megabytes", "enough"), [("connect4", 0.02, 12), (SHOBU, 1, 3)])
def test_bytes_are_remembered(spec: str, megabytes: float, enough: int, hashed: Build) -> None:
    """There are more places for them, so other answers come at once; the games are the same."""
    config = replace(CONFIG, slots=1, search=SearchConfig(20, cache_mb=megabytes))
    pair = pair_of(game_of(spec), hashed, config)
    assert [group._cache.logits.dtype for group in pair] == [np.uint8, np.float32]
    assert len(pair[0]._cache.keys) > len(pair[1]._cache.keys)
    games: list[list[FinishedGame]] = [[], []]
    for group, finished in zip(pair, games, strict=True):
        while len(finished) < enough:
            group.step()
            finished += group.take().games
    assert games[0] == games[1]


@pytest.mark.slow  # kernels of a large game, twice
def test_more_logits_than_nodes_keep(hashed: Build) -> None:
    """Then moves are listed as soon as answers come."""
    ours, theirs = pair_of(game_of("choko"), hashed, CONFIG)
    assert ours._trees.logits.shape[2] == 0
    assert ours._asked.logits.dtype == np.uint8
    expect_alike(ours, theirs, 120)


@pytest.mark.parametrize(
    "changes",
    [{}, {"keep_tree": False}],
    ids=["plain", "trees anew"],
)
def test_logits_that_matter_play_as_what_they_say(changes: dict[str, Any], hashed: Build) -> None:
    ours, theirs = pair_of(game_of(SHOBU), hashed, replace(CONFIG, **changes))
    assert ours._asked.logits.shape[1] == ours._trees.logits.shape[2] == 280
    expect_alike(ours, theirs, 60)


def test_bytes_of_another_width_are_refused(hashed: Build) -> None:
    game = game_of(SHOBU)
    whole = replace(game, marks=np.zeros(0, dtype=np.int32), most_marked=())
    with pytest.raises(ValueError, match="expected 280 bytes a row, found 792"):
        Group(game, Terse(whole, hashed(game)), CONFIG, seed_dice(1, CONFIG.slots))


@pytest.mark.parametrize("spec", ["connect4", SHOBU])
def test_trees_of_bytes_grow(spec: str, hashed: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    def cramped(slots: int, nodes: int, edges: int, game: Game, kept: Any) -> Any:
        return make_trees(slots, 2, game.most_legal, game, kept)

    monkeypatch.setattr(groups, "make_trees", cramped)
    ours, theirs = pair_of(game_of(spec), hashed, CONFIG)
    expect_alike(ours, theirs, 60)
    assert ours._trees.logits.shape[1] > 2
    assert ours._trees.logits.dtype == np.uint8


def test_a_saved_group_plays_on_over_bytes_or_not(hashed: Build) -> None:
    """A checkpoint does not know what the lane was like."""
    game = game_of("connect4")
    ours, theirs = pair_of(game, hashed, CONFIG)
    expect_alike(ours, theirs, 77)
    saved, _ = ours.save()
    restored, other = pair_of(game, hashed, CONFIG, seed=9)
    for group in (restored, other):
        group.restore(saved)
    expect_alike(restored, other, 150)


def test_play_on_over_bytes_compiled_as_plain(hashed: Build) -> None:
    game = game_of("tictactoe")
    config = replace(CONFIG, noise_share=0.0, search=SearchConfig(12, cache_mb=0.01))
    fast, slow = (Group(game, Terse(game, hashed(game)), config, seed_dice(1, 4)) for _ in range(2))
    slow._step = specialise(play_on, game._bindings.filled(byte_kernels(game)), compiled=False)
    with np.errstate(over="ignore"):
        for _ in range(30):
            fast.step()
            slow.step()
            assert fast.take().games == slow.take().games
    assert fast.evaluations == slow.evaluations > 50


@pytest.mark.parametrize("logit", [np.inf, np.nan])
def test_answers_that_are_no_numbers_lead_to_legal_moves(logit: float) -> None:
    game = game_of("connect4")

    class Astray(UniformEvaluator):
        def lane(self, batch: int) -> Any:
            lane = super().lane(batch)
            lane.logits[:, ::2] = logit
            return lane

    group = Group(game, Terse(game, Astray(game)), CONFIG, seed_dice(1, 4))
    games: list[Any] = []
    while len(games) < 8:
        group.step()
        games += group.take().games
    for record in games:
        state = game.new_state()
        for action in record.moves:
            assert action in game.legal_actions(state)
            game.plain.play(state, action)


def test_who_has_no_bytes_is_asked_for_none(hashed: Build) -> None:
    game = game_of("connect4")
    terse = Terse(game, hashed(game))
    assert selfplay_lane(hashed(game), 3, True).logits.dtype == np.float32
    assert selfplay_lane(terse, 3, True).logits.dtype == np.uint8
    assert selfplay_lane(terse, 3, False).logits.dtype == np.float32


@pytest.mark.parametrize("spec", ["tictactoe", SHOBU])
def test_the_bare_rate_is_that_of_the_lanes_of_self_play(spec: str, hashed: Build) -> None:
    game = game_of(spec)
    made: list[Any] = []

    class Watched(Terse):
        def compact_lane(self, batch: int) -> Any:
            made.append(super().compact_lane(batch))
            return made[-1]

    assert measure_rate(Watched(game, UniformEvaluator(game)), 64, 3, 0.01, is_compact=True) > 0
    assert len(made) == 3
