"""A folded network is the same function without batch norm."""

from collections.abc import Callable

import pytest
import torch
from torch import nn

from randori.networks import Signature
from randori.networks.build import KINDS
from randori.networks.layers import fold

Build = Callable[..., nn.Module]


@pytest.mark.parametrize("kind", KINDS)
def test_folding_keeps_the_answers(kind: str, signature: Signature, seasoned: Build) -> None:
    network = seasoned(signature, 1, kind).eval()
    planes = torch.rand(4, signature.planes, signature.height, signature.width)
    folded = fold(network)
    for ours, theirs in zip(folded(planes), network(planes), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)
    norms = nn.BatchNorm1d | nn.BatchNorm2d
    assert not any(isinstance(module, norms) for module in folded.modules())


def test_folding_leaves_the_original_alone(signature: Signature, seasoned: Build) -> None:
    network = seasoned(signature, 1).train()
    before = {name: weight.clone() for name, weight in network.state_dict().items()}
    folded = fold(network)
    assert network.training
    assert not folded.training
    assert not any(weight.requires_grad for weight in folded.parameters())
    assert all(weight.requires_grad for weight in network.parameters())
    for weight in folded.parameters():
        weight.zero_()
    for name, weight in network.state_dict().items():
        torch.testing.assert_close(weight, before[name], rtol=0, atol=0)
