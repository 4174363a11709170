"""Paper D's network: four convolutions, two fully connected layers, dropout while training.

The paper names the layers and refers to Nair's Othello tutorial for the rest. As there, the last
two convolutions lose the board's edge, where the board is large enough to have an inside.
"""

import torch
from torch import Tensor, nn

from randori.networks.config import NetworkConfig, Signature
from randori.networks.heads import Factors, squash
from randori.networks.layers import ConvRelu, linear


class Cnn(nn.Module):
    """Planes [B, C, H, W] to logits [B, P] and values [B]."""

    def __init__(self, config: NetworkConfig, signature: Signature) -> None:
        super().__init__()
        channels, norm, hidden = config.channels, config.batch_norm, config.hidden
        shrink = 1 if min(signature.height, signature.width) >= 6 else 0
        self.convs = nn.Sequential(
            ConvRelu(signature.planes, channels, 3, norm),
            ConvRelu(channels, channels, 3, norm),
            ConvRelu(channels, channels, 3, norm, padding=1 - shrink),
            ConvRelu(channels, channels, 3, norm, padding=1 - shrink),
        )
        inside = (signature.height - 4 * shrink) * (signature.width - 4 * shrink)
        self.full = nn.Sequential(
            *(linear(channels * inside, 2 * hidden, norm), nn.ReLU(), nn.Dropout(config.dropout)),
            *(linear(2 * hidden, hidden, norm), nn.ReLU(), nn.Dropout(config.dropout)),
        )
        self.policy = Factors(hidden, signature)
        self.value = nn.Linear(hidden, 1)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Judge a batch of positions."""
        features = self.full(torch.flatten(self.convs(x), 1))
        return self.policy(features), squash(self.value(features))
