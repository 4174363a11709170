"""One gradient step: the loss against plain loops, the optimiser against what it should do."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from randori.agents.models import signature_of
from randori.errors import UserError
from randori.games.game import Game
from randori.games.registry import load_game
from randori.learners.harvest import NONE_MADE
from randori.learners.losses import (
    Losses,
    Targets,
    owner_loss,
    parts_of,
    policy_loss,
    reply_loss,
    shares_of,
    wdl_loss,
)
from randori.learners.replay import Samples
from randori.learners.settings import TrainConfig
from randori.learners.trainer import Trainer
from randori.networks.build import build
from randori.networks.config import NetworkConfig
from randori.networks.planes import unpack

CPU = torch.device("cpu")
NO_CARD = pytest.mark.skipif(not torch.cuda.is_available(), reason="no card")
DEVICES = ["cpu", pytest.param("cuda", marks=NO_CARD)]


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def by_rows_and_columns() -> Game:
    """Tic-tac-toe whose policy has two factors."""
    cells = np.arange(9)
    factors = np.stack([cells // 3, 3 + cells % 3], axis=1).astype(np.int32)
    return replace(load_game("tictactoe"), factors=factors, factor_sizes=(3, 3))


GAMES = {
    "one factor": load_game("tictactoe"),
    "two factors": by_rows_and_columns(),
    "connect4": load_game("connect4"),
}


def some_samples(game: Game, count: int, seed: int = 0) -> Samples:
    rng = np.random.default_rng(seed)
    words = np.zeros((count, game.input_words), dtype=np.uint64)
    actions = np.zeros((count, game.most_legal), dtype=np.int32)
    shares = np.full((count, game.most_legal), -1.0, dtype=np.float32)
    for i in range(count):
        state = game.new_state()
        for _ in range(rng.integers(0, 5)):
            game.plain.play(state, int(rng.choice(game.legal_actions(state))))
        game.plain.planes(state, words[i])
        legal = game.legal_actions(state)
        actions[i, : len(legal)] = legal
        shares[i, : len(legal)] = rng.dirichlet(np.ones(len(legal)))
    return Samples(
        words, actions, shares, rng.uniform(-1, 1, count).astype(np.float32),
        rng.integers(-1, 2, count).astype(np.float32),
        rng.integers(-1, game.num_actions, count).astype(np.int32),
        words[:, : game.owner_words].copy(),
        np.where(rng.random(count) < 0.8, NONE_MADE, rng.uniform(-1, 1, count)).astype(np.float32),
    )  # fmt: skip


def step(trainer: Trainer, samples: Samples, share: float = 1.0) -> Losses:
    trainer.step(trainer.targets_of(samples), share)
    losses = trainer.take_losses()
    assert losses is not None
    return losses


def make_trainer(
    game: Game, seed: int = 0, kind: str = "mlp", device: torch.device = CPU, **settings: Any
) -> Trainer:
    torch.manual_seed(seed)
    channels = 16 if settings.get("optimizer") == "muon" else 8
    shape = NetworkConfig(kind, blocks=1, channels=channels, hidden=16, policy_channels=4)
    network = build(shape, signature_of(game))
    config = TrainConfig(**{"warm_up_steps": 0, "batch": 4, "precision": "fp32", **settings})
    return Trainer(game, network, config, device)


def weights_equal(a: Trainer, b: Trainer) -> bool:
    ours, theirs = a.weights(), b.weights()
    return all(np.array_equal(ours[name], theirs[name]) for name in ours)


def loss_by_loops(game: Game, network: nn.Module, samples: Samples) -> tuple[float, float]:
    """The same loss with nothing but loops and `math`."""
    words = torch.as_tensor(samples.words.view(np.int64))
    with torch.no_grad():
        factors, values = network(unpack(words, signature_of(game)))
    cross = error = 0.0
    for row, shares in enumerate(samples.shares):
        pairs = zip(samples.actions[row].tolist(), shares.tolist(), strict=True)
        policy = {action: share for action, share in pairs if share >= 0}
        logits = {a: sum(float(factors[row, f]) for f in game.factors[a]) for a in policy}
        log_total = math.log(sum(math.exp(logit) for logit in logits.values()))
        for a, logit in logits.items():
            cross -= policy[a] * (logit - log_total)
        amends, result = float(samples.amends[row]), float(samples.results[row])
        ended = result if amends == NONE_MADE else amends
        target = 0.25 * ended + 0.75 * float(samples.values[row])
        error += (float(values[row]) - target) ** 2
    return cross / len(samples.shares), error / len(samples.shares)


@pytest.mark.parametrize("name", GAMES)
def test_the_loss_is_the_one_in_the_papers(name: str) -> None:
    game = GAMES[name]
    trainer = make_trainer(game, search_share=0.75)
    samples = some_samples(game, 6)
    for _ in range(3):
        expected = loss_by_loops(game, trainer.network, samples)
        losses = step(trainer, samples)
        assert (losses.policy, losses.value) == pytest.approx(expected, abs=1e-5)


def test_the_gradient_of_the_policy() -> None:
    """(softmax − target) / B on legal actions, nothing on the others, whatever they say."""
    samples = some_samples(GAMES["connect4"], 5)
    shares = torch.as_tensor(samples.shares).clone()
    shares[0, :3] = -1
    shares[0, 3:] = torch.tensor([0.1, 0.2, 0.3, 0.4])
    logits = torch.randn(5, 7, requires_grad=True)
    wild = logits.detach().clone()
    wild[0, :3] = 1e4
    wild.requires_grad_()
    for leaf in (logits, wild):
        policy_loss(leaf, shares).backward()  # type: ignore[no-untyped-call]
        legal = shares >= 0
        found = torch.softmax(leaf.detach().masked_fill(~legal, -torch.inf), dim=1)
        expected = torch.where(legal, (found - shares) / 5, torch.zeros(()))
        assert leaf.grad is not None
        assert torch.allclose(leaf.grad, expected, atol=1e-6)
        assert (leaf.grad[~legal] == 0).all()
    assert torch.allclose(logits.grad, wild.grad, atol=1e-6)


def results_and_values(results: list[float], values: list[float], amends: list[float]) -> Targets:
    nothing = torch.zeros(0)
    told = [torch.tensor(part) for part in (values, results, amends)]
    return Targets(nothing, nothing, nothing, told[0], told[1], nothing, nothing, told[2])


def test_win_draw_and_loss_by_hand() -> None:
    scores = torch.tensor([[1.0, 0.0, -1.0], [0.5, 2.0, 0.0]])
    logs = torch.log_softmax(scores, 1)
    drawn = logs[:, 1].exp()
    targets = results_and_values([1.0, 0.0], [0.5, -0.2], [NONE_MADE, NONE_MADE])
    first = [(1.5 - drawn[0]) / 2, drawn[0], (0.5 - drawn[0]) / 2]
    second = [(0.8 - drawn[1]) / 2, drawn[1], (1.2 - drawn[1]) / 2]
    searched = (torch.tensor([first, second]) * logs).sum()
    by_hand = 0.75 * (logs[0, 0] + logs[1, 1]) + 0.25 * searched
    assert wdl_loss(scores, targets, 0.25) == pytest.approx(float(-by_hand / 2))


def test_what_amends_stands_for_the_result() -> None:
    """Where none are made nothing changes."""
    scores = torch.randn(3, 3, generator=torch.Generator().manual_seed(0))
    results, values = [1.0, -1.0, 0.0], [0.3, 0.2, 0.1]
    plain = results_and_values(results, values, [NONE_MADE] * 3)
    sure = results_and_values([-1.0, 1.0, -1.0], values, [1.0, -1.0, NONE_MADE])
    mixed = results_and_values([1.0, -1.0, -1.0], values, [NONE_MADE] * 3)
    assert wdl_loss(scores, sure, 0.5) == pytest.approx(float(wdl_loss(scores, mixed, 0.5)))
    assert wdl_loss(scores, plain, 0.5) != pytest.approx(float(wdl_loss(scores, mixed, 0.5)))
    unsure = results_and_values(results, values, [0.4, 0.4, 0.4])
    again = results_and_values([-1.0, 0.0, 1.0], values, [0.4, 0.4, 0.4])
    assert wdl_loss(scores, unsure, 0.5) == wdl_loss(scores, again, 0.5)


@pytest.mark.parametrize("belief", [0.0, 0.3, 1.0])
def test_a_value_is_split_into_shares_that_make_it_up(belief: float) -> None:
    """The draws that are believed in stay, as far as the value leaves room for them."""
    values = torch.linspace(-1, 1, 21)
    shares = shares_of(values, torch.full((21,), belief))
    assert torch.allclose(shares.sum(1), torch.ones(21))
    assert (shares > -1e-6).all()
    assert torch.allclose(shares[:, 0] - shares[:, 2], values, atol=1e-6)
    assert shares[10, 1] == pytest.approx(belief)


def test_replies_and_owners_by_hand() -> None:
    logits = torch.tensor([[0.0, 1.0], [3.0, 0.0], [9.0, 9.0]])
    replies = torch.tensor([1, 0, -1])
    logs = torch.log_softmax(logits, 1)
    assert reply_loss(logits, replies) == pytest.approx(float(-(logs[0, 1] + logs[1, 0]) / 2))
    assert reply_loss(logits, torch.tensor([-1, -1, -1])) == 0
    cells = torch.tensor([[2.0, -1.0, 0.0]])
    owned = torch.tensor([[1.0, 0.0, 0.0, 0.0, 1.0, 0.0]])
    share = torch.sigmoid(cells)[0]
    by_hand = -(share[0].log() + (1 - share[1]).log() + math.log(0.5)) / 3
    assert owner_loss(cells, owned) == pytest.approx(float(by_hand))


def test_parts_add_up_the_logits_of_an_action() -> None:
    """As a product for factored policies, and as nothing where each action has a logit."""
    game = load_game("shobu")
    factors = torch.as_tensor(game.factors.astype(np.int64))
    logits = torch.randn(3, sum(game.factor_sizes), generator=torch.Generator().manual_seed(0))
    parts = parts_of(factors, sum(game.factor_sizes))
    assert parts is not None
    assert torch.allclose(logits @ parts, logits[:, factors].sum(dim=2), atol=1e-5)
    plain = torch.as_tensor(load_game("connect4").factors.astype(np.int64))
    assert parts_of(plain, 7) is None


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("kind", ["mlp", "resnet"])
def test_two_states_are_learnt_by_heart(name: str, kind: str) -> None:
    game = GAMES[name]
    trainer = make_trainer(game, kind=kind, learning_rate=0.02, l2=0.0, search_share=1.0)
    samples = some_samples(game, 2, seed=3)
    if name == "two factors":  # a sum of a row's and a column's logit must be able to say it
        one_hot = np.where(samples.shares >= 0, 0, -1).astype(np.float32)
        for row in one_hot:
            row[int(np.flatnonzero(row >= 0)[-1])] = 1
        samples = replace(samples, shares=one_hot)
    shares = np.where(samples.shares > 0, samples.shares, 1)
    floor = float(-(np.maximum(samples.shares, 0) * np.log(shares)).sum(axis=1).mean())
    for _ in range(300):
        losses = step(trainer, samples)
    assert losses.policy == pytest.approx(floor, abs=0.02)
    assert losses.value < 0.001


def test_bf16_learns_the_same_less_exactly() -> None:
    game = load_game("connect4")
    samples = some_samples(game, 4, seed=3)
    ours, theirs = (make_trainer(game, kind="resnet", precision=p) for p in ("bf16", "fp32"))
    for _ in range(20):
        mine, exact = step(ours, samples), step(theirs, samples)
    assert not weights_equal(ours, theirs)
    assert mine.policy == pytest.approx(exact.policy, rel=0.05)
    assert mine.value == pytest.approx(exact.value, abs=0.05)
    assert {weight.dtype.name for weight in ours.weights().values()} == {"float32", "int64"}


def test_the_side_tasks_are_learnt_too() -> None:
    """Two states by heart again, with every head; the trunk has to serve them all."""
    game = load_game("connect4")
    torch.manual_seed(0)
    shape = NetworkConfig(
        blocks=1, channels=16, value="wdl", pooling="global", reply=True, ownership=True
    )
    config = TrainConfig(warm_up_steps=0, batch=4, learning_rate=0.02, l2=0.0, search_share=0.0)
    trainer = Trainer(game, build(shape, signature_of(game)), config, CPU)
    samples = replace(some_samples(game, 2, seed=3), replies=np.array([2, 5], np.int32))
    first = step(trainer, samples)
    for _ in range(300):
        losses = step(trainer, samples)
    assert losses.reply < 0.05 < first.reply
    assert losses.value < 0.01 < first.value
    empty = 1 - np.bitwise_count(samples.owners).sum() / (2 * game.cells)
    assert losses.owners == pytest.approx(empty * math.log(2), abs=0.03)


def test_the_value_weight() -> None:
    """At 0 only the policy moves the network; the value head stays as it was."""
    game = GAMES["one factor"]
    trainer = make_trainer(game, value_weight=0.0, l2=0.0, optimizer="sgd", kind="resnet")
    before = trainer.weights()
    trainer.step(trainer.targets_of(some_samples(game, 4)), 1.0)
    after = trainer.weights()
    still = {n for n in before if n.startswith("value.") and "running" not in n}
    still -= {n for n in still if "num_batches" in n}
    assert still
    assert all(np.array_equal(before[n], after[n]) for n in still)
    assert any(not np.array_equal(before[n], after[n]) for n in before if n not in still)


@pytest.mark.parametrize("optimizer", ["adamw", "muon", "adam", "sgd"])
@pytest.mark.parametrize("kind", ["mlp", "resnet", "cnn"])
def test_a_restored_trainer_goes_on_bit_for_bit(optimizer: str, kind: str) -> None:
    """Momentum, running means and the dice of dropout included."""
    game = load_game("connect4")
    ours = make_trainer(game, 1, kind, optimizer=optimizer, warm_up_steps=6)
    for seed in range(4):
        ours.step(ours.targets_of(some_samples(game, 4, seed)), 1.0)
    weights, arrays = ours.weights(), ours.save()
    for seed in range(10, 14):
        ours.step(ours.targets_of(some_samples(game, 4, seed)), 0.5)
    theirs = make_trainer(game, 2, kind, optimizer=optimizer, warm_up_steps=6)
    assert not weights_equal(ours, theirs)
    theirs.load_weights(weights)
    theirs.restore(arrays)
    theirs.steps = 4
    for seed in range(10, 14):
        theirs.step(theirs.targets_of(some_samples(game, 4, seed)), 0.5)
    assert weights_equal(ours, theirs)
    again, other = theirs.save(), ours.save()
    assert again.keys() == other.keys()
    assert all(np.array_equal(again[name], other[name]) for name in again)


@pytest.mark.parametrize(
    ("kind", "optimizer"), [("mlp", "adamw"), ("resnet", "adamw"), ("resnet", "muon")]
)
@pytest.mark.parametrize("device", DEVICES)
def test_the_mean_of_the_weights(kind: str, optimizer: str, device: str) -> None:
    """Against plain arithmetic: a tenth of all steps at first, `average` of them later.

    On a card most of these steps are one captured graph.
    """
    game = load_game("connect4")
    ours = make_trainer(game, 1, kind, torch.device(device), average=3, optimizer=optimizer)
    mean = ours.weights()
    for taken in range(60):
        ours.step(ours.targets_of(some_samples(game, 4, taken)), 1.0)
        share = 1 / max(1, min(3, taken // 10))
        for name, newest in ours.weights().items():
            mean[name] = mean[name] + share * (newest - mean[name])
    for name, found in ours.player_weights().items():
        expected = 60 if name.endswith("num_batches_tracked") else mean[name]
        np.testing.assert_allclose(found, expected, rtol=2e-4, atol=2e-6)
    assert not all(
        np.array_equal(newest, ours.player_weights()[name])
        for name, newest in ours.weights().items()
    )
    theirs = make_trainer(game, 2, kind, average=3, optimizer=optimizer)
    stored = {n.removeprefix("mean."): a for n, a in ours.save().items() if n.startswith("mean.")}
    theirs.take_over(ours.weights(), stored)
    assert weights_equal(ours, theirs)
    assert all(
        np.array_equal(theirs.player_weights()[n], a) for n, a in ours.player_weights().items()
    )


def test_without_a_mean_the_newest_weights_play() -> None:
    ours = make_trainer(load_game("tictactoe"))
    assert ours.player is ours.network
    assert not any(name.startswith("mean.") for name in ours.save())


def test_restored_moments_are_laid_out_as_their_weights() -> None:
    """A fused step on a card refuses anything else; there, convolutions are channels-last."""
    game = load_game("connect4")
    ours, theirs = (make_trainer(game, seed, "resnet") for seed in (1, 2))
    ours.step(ours.targets_of(some_samples(game, 4)), 1.0)
    for weight in theirs.network.parameters():
        if weight.dim() == 4:
            weight.data = weight.data.contiguous(memory_format=torch.channels_last)
    theirs.restore(ours.save())
    for weight, memory in theirs._optimizer.state.items():
        assert memory["exp_avg"].stride() == weight.stride()
        assert memory["exp_avg_sq"].stride() == weight.stride()


@pytest.mark.parametrize("optimizer", ["adamw", "muon", "adam", "sgd"])
def test_a_trainer_that_never_stepped_can_be_restored(optimizer: str) -> None:
    game = GAMES["one factor"]
    ours, theirs = (make_trainer(game, seed, optimizer=optimizer) for seed in (1, 2))
    arrays, weights = ours.save(), ours.weights()
    theirs.load_weights(weights)
    theirs.restore(arrays)
    for trainer in (ours, theirs):
        trainer.step(trainer.targets_of(some_samples(game, 4)), 1.0)
    assert weights_equal(ours, theirs)


@pytest.mark.parametrize(("optimizer", "share"), [("sgd", 2.0), ("adamw", 1.0), ("muon", 1.0)])
def test_what_l2_does(optimizer: str, share: float) -> None:
    """The gradient of l2·‖θ‖² is 2·l2·θ; where the decay is decoupled it is l2·θ."""
    game = GAMES["one factor"]
    rate, l2 = 0.1, 0.01
    settings = {"optimizer": optimizer, "learning_rate": rate, "clip": 0.0}
    start = make_trainer(game, **settings).weights()
    found = []
    for weight in (0.0, l2):
        trainer = make_trainer(game, l2=weight, **settings)
        trainer.step(trainer.targets_of(some_samples(game, 4)), 1.0)
        found.append(trainer.weights())
    for name, weight in start.items():
        assert found[1][name] - found[0][name] == pytest.approx(
            -rate * share * l2 * weight, abs=1e-6
        )


def test_what_l2_does_to_adam() -> None:
    """It is part of the gradient: where the loss has none, the sign of −θ remains."""
    game = GAMES["one factor"]
    trainer = make_trainer(game, optimizer="adam", learning_rate=0.01, l2=0.5, kind="mlp")
    before = trainer.weights()
    quiet = some_samples(game, 4)
    quiet = replace(quiet, words=np.zeros_like(quiet.words))  # no input: first weights unused
    trainer.step(trainer.targets_of(quiet), 1.0)
    name = next(n for n in before if before[n].ndim == 2 and before[n].shape[1] == 18)
    step = trainer.weights()[name] - before[name]
    assert step == pytest.approx(-0.01 * np.sign(before[name]), abs=1e-4)


def test_the_learning_rate_warms_up() -> None:
    game = GAMES["one factor"]
    trainer = make_trainer(game, warm_up_steps=4, learning_rate=0.8)
    rates = []
    for share in (1.0, 1.0, 1.0, 1.0, 1.0, 0.5):
        trainer.step(trainer.targets_of(some_samples(game, 4)), share)
        rates.append(trainer._optimizer.param_groups[0]["lr"])
    assert rates == pytest.approx([0.2, 0.4, 0.6, 0.8, 0.8, 0.4])


@pytest.mark.parametrize("clip", [0.01, 0.0])
def test_gradients_are_clipped(clip: float) -> None:
    game = GAMES["one factor"]
    settings = {"optimizer": "sgd", "learning_rate": 1.0, "l2": 0.0, "value_weight": 50.0}
    trainer = make_trainer(game, clip=clip, **settings)
    before = trainer.weights()
    trainer.step(trainer.targets_of(some_samples(game, 4)), 1.0)
    after = trainer.weights()
    moved = math.sqrt(sum(float(((after[n] - before[n]) ** 2).sum()) for n in before))
    assert moved == pytest.approx(0.01, rel=1e-3) if clip else moved > 0.1


@pytest.mark.parametrize(
    "wrong", [{"batch": 1}, {"reuse": 0.0}, {"reuse": -1.0}, {"average": -1}], ids=str
)
def test_settings_that_cannot_work_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        TrainConfig(**wrong)


def test_a_loss_that_is_no_number_ends_the_run() -> None:
    game = load_game("tictactoe")
    network = build(NetworkConfig(kind="mlp", blocks=1, hidden=8), signature_of(game))
    trainer = Trainer(game, network, TrainConfig(batch=2), torch.device("cpu"))
    trainer.load_weights({name: array * np.nan for name, array in trainer.weights().items()})
    trainer.step(trainer.targets_of(some_samples(game, 2)), 1.0)
    with pytest.raises(UserError, match=r"learning_rate"):
        trainer.take_losses()
