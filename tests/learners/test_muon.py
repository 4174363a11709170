"""Muon against what it stands for: orthogonal steps, and torch's own AdamW for the rest."""

import copy

import pytest
import torch
from torch import nn

from randori.learners.muon import LENGTH, Muon, evened, is_matrix


def net() -> nn.Sequential:
    """Two convolutions of one shape, one that is tall as a matrix, and one that mixes no cells."""
    torch.manual_seed(3)
    layers = [
        nn.Conv2d(2, 16, 3, bias=False, padding=1), nn.BatchNorm2d(16), nn.ReLU(),
        nn.Conv2d(16, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 16, 3, padding=1), nn.ReLU(),
        nn.Conv2d(16, 160, 3), nn.ReLU(), nn.Conv2d(160, 2, 1), nn.Flatten(), nn.Linear(32, 3),
    ]  # fmt: skip
    return nn.Sequential(*layers).to(memory_format=torch.channels_last)


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
    torch.manual_seed(1)
    ours = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3)).double()
    theirs = copy.deepcopy(ours)
    optimizers = (
        Muon(ours, 0.01, 0.1),
        torch.optim.AdamW(theirs.parameters(), 0.01, weight_decay=0.1),
    )
    for _ in range(20):
        facts = torch.randn(32, 6).double()
        for network, optimizer in zip((ours, theirs), optimizers, strict=True):
            optimizer.zero_grad()
            network(facts).square().mean().backward()
            optimizer.step()
    for one, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        assert torch.allclose(one, other, atol=1e-6)


def test_the_first_step_of_convolutions_by_hand() -> None:
    """One by one, each laid out row by row; the momentum points where the gradient does."""
    network = net()
    optimizer = Muon(network, 0.01, 0.5)
    convs = [one for one in network.parameters() if is_matrix(one)]
    assert [tuple(one.shape[:2]) for one in convs] == [(16, 16), (16, 16), (160, 16)]
    before = [one.detach().clone() for one in convs]
    learn(network, optimizer, 1)
    for conv, old in zip(convs, before, strict=True):
        assert conv.grad is not None
        matrix = conv.grad.flatten(1)
        is_tall = len(matrix) > matrix.shape[1]
        even = evened(matrix.T[None])[0].T if is_tall else evened(matrix[None])[0]
        step = even.reshape(old.shape) * LENGTH * max(matrix.shape) ** 0.5
        assert torch.allclose(conv, old * (1 - 0.005) - 0.01 * step, atol=1e-5)


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
