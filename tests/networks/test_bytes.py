"""Logits as bytes: what a card writes, and what self-play reads from it."""

from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from randori.agents.models import signature_of
from randori.games.game import Game
from randori.games.registry import load_game
from randori.networks.compact import Compactor, to_bytes
from randori.networks.planes import unpack
from randori.search.byte_logits import (
    byte_kernels,
    hear_bytes,
    hear_marked,
    recall_bytes,
    recall_marked,
)
from randori.search.evaluator import STEPS
from randori.search.tree import BROKEN, TOO_MARKED

Logits = NDArray[np.float32]
FACTORS = (5, 11, 1)


def draw(rows: int, factors: tuple[int, ...] = FACTORS, spread: float = 4.0) -> Logits:
    """Logits whose factors are at different heights."""
    rng = np.random.default_rng(1)
    heights = np.repeat(rng.normal(0, 20, len(factors)), factors)
    return (heights + rng.normal(0, spread, (rows, sum(factors)))).astype(np.float32)


def encode(logits: Logits, factors: tuple[int, ...] = FACTORS) -> NDArray[np.uint8]:
    return to_bytes(torch.from_numpy(logits), factors).numpy()


def decode(octets: NDArray[np.uint8]) -> Logits:
    return np.array([hear(row, np.zeros(len(row), np.float32)) for row in octets])


def hear(octets: NDArray[np.uint8], said: Logits) -> Logits:
    tree: Any = None  # what comes of every logit needs no position
    return hear_bytes(tree, 0, octets, said)


def below_best(logits: Logits, factors: tuple[int, ...] = FACTORS) -> Logits:
    parts = np.split(logits, np.cumsum(factors)[:-1], axis=1)
    return np.concatenate([part - part.max(1, keepdims=True) for part in parts], axis=1)


def test_bytes_say_how_far_a_logit_is_below_the_best_of_its_factor() -> None:
    logits = draw(300)
    found, expected = decode(encode(logits)), below_best(logits)
    assert encode(logits).dtype == np.uint8
    assert np.abs(found - expected).max() <= 0.5 / STEPS + 1e-4
    ends = np.cumsum((0, *FACTORS))
    for first, end in pairwise(ends):
        best = logits[:, first:end].argmax(1)
        assert (found[np.arange(300), first + best] == 0.0).all(), "of equals it is one"


def test_what_is_far_below_is_cut_off() -> None:
    logits = np.array([[0.0, -31.8, -32.0, -1e30, 7.0, -3e38]], np.float32)
    assert encode(logits, (4, 2)).tolist() == [[0, 254, 255, 255, 0, 255]]


def test_halves_of_a_step_and_rows_of_any_height() -> None:
    logits = np.array([[0.0, -0.0624, -0.0626, -0.125]], np.float32)
    for height in (0.0, 16.0, -1000.0):
        assert encode(logits + np.float32(height), (4,)).tolist()[0][::3] == [0, 1]
    assert encode(logits, (4,)).tolist() == [[0, 0, 1, 1]]


def test_priors_of_legal_moves_hardly_change() -> None:
    """In Shobu, whose moves have two factors, under logits as far apart as a trained network's."""
    game = load_game("shobu")
    legal = game.factors[game.legal_actions(game.new_state())]
    logits = draw(50, game.factor_sizes)
    priors = []
    for said in (logits, decode(encode(logits, game.factor_sizes))):
        odds = np.exp(above := said[:, legal].sum(2) - said[:, legal].sum(2).max(1)[:, None])
        assert above.max() == 0.0
        priors.append(odds / odds.sum(1, keepdims=True))
    assert np.abs(np.log(priors[0] / priors[1])).max() < 2.1 / STEPS
    assert np.abs(priors[0] - priors[1]).sum(1).max() < 0.12


@pytest.mark.parametrize("logit", [np.inf, -np.inf, np.nan, -np.nan, 3e38])
def test_what_is_no_number_becomes_some_byte(logit: float) -> None:
    logits = draw(6)
    logits[:2] = logit
    logits[2:4, ::3] = logit
    found = decode(encode(logits))
    assert ((found <= 0.0) & (found >= -255 / STEPS)).all()
    assert np.array_equal(found[4:], decode(encode(draw(6)))[4:]), "other rows stay as they are"


def test_what_was_not_kept_says_nothing() -> None:
    """Trees keep no logits where there are too many of them."""
    said = np.ones(3, np.float32)
    assert hear(np.zeros(0, np.uint8), said).tolist() == [1, 1, 1]


def compacted(game: Game, words: NDArray[np.uint64], said: Logits) -> NDArray[np.uint8]:
    """What a card would send."""
    signature = signature_of(game)
    planes = unpack(torch.from_numpy(words.view(np.int64)), signature)
    octets = Compactor(signature, torch.device("cpu"))(torch.from_numpy(said), planes)
    found: NDArray[np.uint8] = octets.numpy()
    return found


def words_of(game: Game, states: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The packed planes of states."""
    words = np.zeros((len(states), game.input_words), np.uint64)
    for state, row in zip(states, words, strict=True):
        game.plain.planes(state, row)
    return words


def expect_marked_alone(game: Game, states: NDArray[np.uint64]) -> None:
    """What comes of all logits is what each position has use for, below the best of that."""
    said = draw(len(states), game.factor_sizes)
    words = words_of(game, states)
    planes = unpack(torch.from_numpy(words.view(np.int64)), signature_of(game))
    octets = compacted(game, words, said)
    assert octets.shape == (len(states), game.compact_width)
    assert octets.dtype == np.uint8
    seen, hear = planes.flatten(1).numpy() > 0, game.uncompiled(hear_marked)
    ends = np.cumsum((0, *game.factor_sizes))
    for state, row, logits, cells in zip(states, octets, said, seen, strict=True):
        spoilt = np.full(game.num_logits + game.runs.span, np.nan, np.float32)
        tree: Any = SimpleNamespace(states=state[None], used=np.zeros(BROKEN + 1, np.int32))
        found = hear(tree, 0, row, spoilt)
        assert not tree.used[BROKEN]
        for first, end in pairwise(ends):
            own = first + np.flatnonzero(cells[game.marks[first:end]])
            assert len(own), "every factor is asked about"
            expected = logits[own] - logits[own].max()
            assert np.abs(found[own] - expected).max() <= 0.5 / STEPS + 1e-4


def test_only_logits_of_stones_come_and_each_finds_its_place() -> None:
    game = load_game("shobu")
    expect_marked_alone(game, game.placements(np.random.default_rng(2), 100))


@pytest.mark.parametrize("logit", [np.inf, -np.inf, np.nan, 3e38])
def test_what_is_said_of_nothing_changes_nothing(logit: float) -> None:
    game = load_game("shobu")
    states = game.placements(np.random.default_rng(6), 20)
    words = words_of(game, states)
    cells = unpack(torch.from_numpy(words.view(np.int64)), signature_of(game)).flatten(1)
    said = draw(20, game.factor_sizes)
    before = compacted(game, words, said)
    said[cells.numpy()[:, game.marks] == 0] = logit
    np.testing.assert_array_equal(compacted(game, words, said), before)


def as_they_are(state: NDArray[np.uint64], words: NDArray[np.uint64]) -> None:
    """Planes of what is no state but planes."""
    for word in range(len(words)):
        words[word] = state[word]


def test_more_marks_than_may_be_are_told() -> None:
    """Bare rates are measured on random planes; a position with so many breaks a law."""
    whole = load_game("shobu")
    most, first = (44, 176), whole.factor_sizes[0]
    game = replace(whole, most_marked=most, rules=whole.rules._replace(planes=as_they_are))
    rng = np.random.default_rng(4)
    words = rng.integers(0, 2**16, (40, game.input_words), np.uint64)
    words[:20] &= np.uint64(0x1248)  # few stones, now and then too many
    said = draw(40, game.factor_sizes)
    cells = unpack(torch.from_numpy(words.view(np.int64)), signature_of(game))
    octets, hear = compacted(game, words, said), game.uncompiled(hear_marked)
    told = []
    for row, bits in enumerate(cells.flatten(1).numpy() > 0):
        tree: Any = SimpleNamespace(states=words[row][None], used=np.zeros(BROKEN + 1, np.int32))
        found = hear(tree, 0, octets[row], np.full(game.num_logits + game.runs.span, np.nan))
        told.append(tree.used[BROKEN] == TOO_MARKED)
        parts = [begin + np.flatnonzero(bits[game.marks[begin:end]])
                 for begin, end in ((0, first), (first, game.num_logits))]  # fmt: skip
        assert told[-1] == any(len(own) > n for own, n in zip(parts, most, strict=True))
        for own in () if told[-1] else parts:
            if len(own):
                expected = said[row, own] - said[row, own].max()
                assert np.abs(found[own] - expected).max() <= 0.5 / STEPS + 1e-4
    assert 0 < sum(told) < 40


def test_stones_in_the_middle_of_all_boards_have_as_many_logits_as_may_be() -> None:
    game = load_game("shobu")
    half = ("o......o", ".xx..xx.", ".xx..xx.", "........")
    state = game.position(f"{'/'.join((*half, *half[::-1]))} b").state
    words = words_of(game, state[None])
    cells = unpack(torch.from_numpy(words.view(np.int64)), signature_of(game))
    marked = cells.flatten().numpy()[game.marks] > 0
    counts = [int(part.sum()) for part in np.split(marked, np.cumsum(game.factor_sizes)[:-1])]
    assert tuple(counts) == game.most_marked
    expect_marked_alone(game, state[None])


def test_marks_of_more_logits_than_nodes_keep_are_not_recalled() -> None:
    """There is nothing to recall; what would be read lies behind the row."""
    few, many = load_game("shobu"), load_game("choko")
    marked = replace(many, marks=np.zeros(many.num_logits, np.int32), most_marked=(7,))
    assert byte_kernels(few)["recall_logits"] is recall_marked
    assert byte_kernels(marked)["hear"] is hear_marked
    assert byte_kernels(marked)["recall_logits"] is recall_bytes


def test_marks_in_any_word_of_any_plane() -> None:
    """A made-up game on a board of 81 cells, with runs of one to three logits in three factors."""
    rng = np.random.default_rng(3)
    marks = [np.repeat(cells, rng.integers(1, 4, len(cells))) for cells in
             (np.arange(0, 162, 5), np.arange(60, 70), np.arange(100, 162, 2))]  # fmt: skip
    go = load_game("go:size=9")
    sizes = tuple(map(len, marks))
    game = replace(
        go, marks=np.concatenate(marks).astype(np.int32), factor_sizes=sizes, most_marked=sizes,
        factors=np.zeros((go.num_actions, 3), dtype=np.int32),
    )  # fmt: skip
    states = np.tile(go.new_state(), (6, 1))
    for state in states:
        for _ in range(60):
            go.plain.play(state, int(rng.choice(go.legal_actions(state)[:-1])))  # no pass
    expect_marked_alone(game, states)
