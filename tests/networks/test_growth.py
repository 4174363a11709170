"""A network that grows says what it said before."""

from dataclasses import replace
from typing import Any

import pytest
import torch

from randori.errors import UserError
from randori.networks.build import build
from randori.networks.config import NetworkConfig, Signature
from randori.networks.grow import grow

SIGNATURE = Signature(2, 4, 5, (7,))


def trained(config: NetworkConfig) -> Any:
    """A network whose norms have seen data and whose weights are all in use."""
    torch.manual_seed(1)
    network = build(config, SIGNATURE)
    for _ in range(3):
        network(torch.rand(16, 2, 4, 5))
    return network.eval()


@pytest.mark.parametrize("pooling", ["none", "squeeze", "global"])
@pytest.mark.parametrize("norm", [True, False])
def test_more_blocks_change_nothing_at_first(pooling: Any, norm: bool) -> None:
    config = NetworkConfig(blocks=2, channels=8, pooling=pooling, batch_norm=norm)
    small = trained(config)
    large = build(replace(config, blocks=4), SIGNATURE)
    grow(large, {name: tensor.numpy() for name, tensor in small.state_dict().items()})
    planes = torch.rand(6, 2, 4, 5)
    with torch.no_grad():
        for ours, theirs in zip(large.eval()(planes), small(planes), strict=True):
            assert torch.allclose(ours, theirs, atol=1e-6)
    large.train()
    logits, values = large(planes)
    (logits.square().sum() + values.sum()).backward()
    fresh = [p for n, p in large.named_parameters() if n.startswith("blocks.3.")]
    assert any(p.grad is not None and p.grad.abs().sum() > 0 for p in fresh), "it can learn"


def test_more_channels_are_refused() -> None:
    small = build(NetworkConfig(blocks=1, channels=8), SIGNATURE)
    large = build(NetworkConfig(blocks=1, channels=16), SIGNATURE)
    with pytest.raises(UserError, match=r"network\.blocks"):
        grow(large, {name: tensor.numpy() for name, tensor in small.state_dict().items()})
