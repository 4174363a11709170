"""The residual network of AlphaGo Zero, at any size: the default, and paper A's with 6×96."""

import torch
from torch import Tensor, nn

from randori.networks.config import NetworkConfig, Signature
from randori.networks.heads import (
    Outputs,
    OwnerHead,
    PlanesHead,
    PolicyHead,
    ValueHead,
    expected,
    squash,
)
from randori.networks.layers import ConvRelu, Normed

SQUEEZE = 4
"""By how much a squeezing layer is narrower than its block."""


class Block(nn.Module):
    """Two 3×3 convolutions and a way around them."""

    def __init__(self, channels: int, norm: bool) -> None:
        super().__init__()
        self.first = ConvRelu(channels, channels, 3, norm)
        self.second: nn.Module = ConvRelu(channels, channels, 3, norm)

    def forward(self, x: Tensor) -> Tensor:
        """Add what the convolutions find to what came in."""
        y: Tensor = self.second(self.first(x), x)
        return y


class GlobalBlock(Block):
    """A block whose first convolution also tells every cell what there is on the whole board."""

    def __init__(self, channels: int, norm: bool) -> None:
        super().__init__(channels, norm)
        self.spread = nn.Linear(2 * channels, channels)

    def forward(self, x: Tensor) -> Tensor:
        """Add mean and maximum of the board, mixed, to every cell in between."""
        y = self.first(x)
        pooled = torch.cat([y.mean((2, 3)), y.amax((2, 3))], 1)
        out: Tensor = self.second(y + self.spread(pooled)[:, :, None, None], x)
        return out


class SqueezeBlock(Block):
    """A block that weighs its channels by what there is on the whole board."""

    def __init__(self, channels: int, norm: bool) -> None:
        super().__init__(channels, norm)
        layer = nn.Conv2d(channels, channels, 3, padding=1, bias=not norm)
        self.second = Normed(layer) if norm else layer
        self.squeeze = nn.Linear(channels, max(1, channels // SQUEEZE))
        self.excite = nn.Linear(max(1, channels // SQUEEZE), channels)

    def forward(self, x: Tensor) -> Tensor:
        """Add what the convolutions find, each channel by its weight."""
        y: Tensor = self.second(self.first(x))
        weights = torch.sigmoid(self.excite(torch.relu(self.squeeze(y.mean((2, 3))))))
        return torch.relu(y * weights[:, :, None, None] + x)


BLOCKS = {"none": Block, "squeeze": SqueezeBlock, "global": GlobalBlock}


def _policy_head(config: NetworkConfig, signature: Signature) -> nn.Module:
    if config.policy == "planes" and signature.spots:
        return PlanesHead(config.channels, signature, config.batch_norm)
    return PolicyHead(config.channels, config.policy_channels, signature, config.batch_norm)


class ResNet(nn.Module):
    """Planes [B, C, H, W] to logits [B, P] and values [B]."""

    training_only = ("reply", "owners")
    """Parts that a network for play does without."""

    def __init__(self, config: NetworkConfig, signature: Signature) -> None:
        super().__init__()
        channels, norm = config.channels, config.batch_norm
        self.stem = ConvRelu(signature.planes, channels, 3, norm)
        block = BLOCKS[config.pooling]
        self.blocks = nn.Sequential(*(block(channels, norm) for _ in range(config.blocks)))
        self.policy = _policy_head(config, signature)
        self._is_wdl = config.value == "wdl"
        scores = 3 if self._is_wdl else 1
        self.value = ValueHead(channels, config.value_channels, config.hidden, norm, scores)
        self.reply: nn.Module | None = None
        self.owners: nn.Module | None = None
        if config.reply:
            self.reply = _policy_head(config, signature)
        if config.ownership and signature.owned_cells:
            self.owners = OwnerHead(channels, signature.owned_cells // signature.cells)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Judge a batch of positions."""
        x = self.blocks(self.stem(x))
        return self.policy(x), self._judge(self.value(x))

    def _judge(self, scores: Tensor) -> Tensor:
        return expected(scores) if self._is_wdl else squash(scores)

    def learn(self, x: Tensor) -> Outputs:
        """Judge a batch of positions with all heads."""
        x = self.blocks(self.stem(x))
        scores = self.value(x)
        return Outputs(
            self.policy(x),
            self._judge(scores),
            scores if self._is_wdl else None,
            self.reply(x) if self.reply is not None else None,
            self.owners(x) if self.owners is not None else None,
        )
