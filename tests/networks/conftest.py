"""Signatures of real games, random packed positions, and networks that look trained."""

from collections.abc import Callable, Iterator

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import nn

from randori.agents.models import signature_of
from randori.games.registry import load_game
from randori.networks import NetworkConfig, Signature
from randori.networks.build import build

SIGNATURES = {
    "othello": Signature(2, 8, 8, (65,)),
    "connect4": Signature(2, 6, 7, (7,)),
    "shobu": signature_of(load_game("shobu")),
    "go": Signature(3, 19, 19, (362,)),
}


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Networks this small spend their time waiting for other threads, not computing."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(params=SIGNATURES)
def signature(request: pytest.FixtureRequest) -> Signature:
    return SIGNATURES[request.param]


@pytest.fixture
def random_words() -> Callable[[Signature, int], NDArray[np.uint64]]:
    """Packed positions with every bit random, those past the last cell too."""

    def make(signature: Signature, count: int, seed: int = 0) -> NDArray[np.uint64]:
        rng = np.random.default_rng(seed)
        shape = (count, signature.num_words)
        return rng.integers(0, 2**64, shape, dtype=np.uint64)

    return make


@pytest.fixture
def seasoned() -> Callable[..., nn.Module]:
    """Build a small network whose batch norms are far from the identity."""

    def make(signature: Signature, seed: int, kind: str = "resnet") -> nn.Module:
        torch.manual_seed(seed)
        config = NetworkConfig(kind=kind, blocks=2, channels=16, policy_channels=8, hidden=24)
        network = build(config, signature)
        for module in network.modules():
            if isinstance(module, nn.BatchNorm1d | nn.BatchNorm2d):
                nn.init.uniform_(module.weight, 0.5, 1.5)
                nn.init.normal_(module.bias, 0, 0.3)
                assert module.running_mean is not None
                assert module.running_var is not None
                nn.init.normal_(module.running_mean, 0, 0.3)
                nn.init.uniform_(module.running_var, 0.5, 2)
        return network

    return make
