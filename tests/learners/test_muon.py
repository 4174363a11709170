"""Muon against what it stands for: orthogonal steps, and torch's own AdamW for the rest."""

import copy

import pytest
import torch
from torch import nn

from randori.learners.muon import LENGTH, MOMENTUM, Muon, evened


def net() -> nn.Sequential:
    torch.manual_seed(3)
    return nn.Sequential(
        nn.Conv2d(2, 16, 3, bias=False), nn.BatchNorm2d(16), nn.ReLU(),
        nn.Conv2d(16, 24, 3), nn.ReLU(), nn.Conv2d(24, 20, 1),
        nn.Flatten(), nn.Linear(20 * 4, 3),
    )  # fmt: skip


def learn(network: nn.Module, optimizer: torch.optim.Optimizer, steps: int, seed: int = 0) -> float:
    dice = torch.Generator().manual_seed(seed)
    total = 0.0
    for _ in range(steps):
        boards = torch.randn(32, 2, 6, 6, generator=dice)
        wanted = (boards[:, 0].sum((1, 2)) > 0).long()
        loss = nn.functional.cross_entropy(network(boards), wanted)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        total += float(loss.detach())
    return total / steps


@pytest.mark.parametrize("shape", [(1, 16, 144), (3, 64, 576), (2, 20, 24)])
def test_directions_stay_and_lengths_become_equal(shape: tuple[int, ...]) -> None:
    torch.manual_seed(0)
    matrices = torch.randn(shape) * torch.logspace(0, -1, shape[2])
    even = evened(matrices)
    sizes = torch.linalg.svdvals(even)
    assert sizes.min() > 0.6
    assert sizes.max() < 1.3
    left, _, right = torch.linalg.svd(matrices, full_matrices=False)
    exact = left @ right
    assert torch.allclose(even, exact, atol=0.2)
    assert nn.functional.cosine_similarity(even.flatten(), exact.flatten(), dim=0) > 0.97


def test_what_is_no_matrix_is_learnt_as_by_adamw() -> None:
    """Bit for bit would be too much to ask; the convolutions stand still in both."""
    ours, theirs = net(), net()
    for network in (ours, theirs):
        for one in network.parameters():
            one.requires_grad_(one.dim() != 4 or one.shape[1] == 2)
    mine = Muon(ours, 0.01, 0.1)
    known = torch.optim.AdamW(
        [one for one in theirs.parameters() if one.requires_grad], 0.01, weight_decay=0.1
    )
    assert learn(ours, mine, 30) == pytest.approx(learn(theirs, known, 30), rel=1e-4)
    for one, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        assert torch.allclose(one, other, atol=1e-4)


def test_the_first_step_of_a_convolution_by_hand() -> None:
    network = net()
    optimizer = Muon(network, 0.01, 0.5)
    conv = network[3]
    assert isinstance(conv, nn.Conv2d)
    before = conv.weight.detach().clone()
    learn(network, optimizer, 1)
    assert conv.weight.grad is not None
    # The momentum is a share of the gradient, and so is what Nesterov looks ahead to.
    ahead = conv.weight.grad * (1 - MOMENTUM + MOMENTUM * (1 - MOMENTUM))
    step = evened(ahead.flatten(1)[None])[0].view_as(before) * LENGTH * 144**0.5
    assert torch.allclose(conv.weight, before * (1 - 0.005) - 0.01 * step, atol=1e-6)


def test_steps_are_as_long_as_those_of_adamw() -> None:
    """Within a factor of two, so that learning rates carry over."""
    lengths = []
    for kind in (Muon, torch.optim.AdamW):
        network = net()
        optimizer = Muon(network, 0.01, 0.0) if kind is Muon else kind(network.parameters(), 0.01)
        learn(network, optimizer, 20)
        conv = network[3]
        assert isinstance(conv, nn.Conv2d)
        before = conv.weight.detach().clone()
        learn(network, optimizer, 1)
        lengths.append(float((conv.weight.detach() - before).norm()))
    assert 0.5 < lengths[0] / lengths[1] < 2


def test_it_learns_and_goes_on_where_it_was() -> None:
    network = net()
    optimizer = Muon(network, 0.005, 0.01)
    at_first, later = learn(network, optimizer, 60), learn(network, optimizer, 60, seed=1)
    assert later < 0.8 * at_first
    twin = copy.deepcopy(network)
    other = Muon(twin, 0.005, 0.01)
    other.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    assert learn(network, optimizer, 5, seed=2) == learn(twin, other, 5, seed=2)
