"""A plain multilayer perceptron, paper C's trunk: for small boards and quick checks."""

from itertools import pairwise

from torch import Tensor, nn

from randori.networks.config import NetworkConfig, Signature
from randori.networks.heads import Factors, squash


class Mlp(nn.Module):
    """Planes [B, C, H, W] to logits [B, P] and values [B]."""

    def __init__(self, config: NetworkConfig, signature: Signature) -> None:
        super().__init__()
        widths = [signature.planes * signature.cells] + [config.hidden] * config.blocks
        self.trunk = nn.Sequential(nn.Flatten())
        for inputs, outputs in pairwise(widths):
            self.trunk.extend([nn.Linear(inputs, outputs), nn.ReLU()])
        self.policy = Factors(widths[-1], signature)
        self.value = nn.Linear(widths[-1], 1)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Judge a batch of positions."""
        features = self.trunk(x)
        return self.policy(features), squash(self.value(features))
