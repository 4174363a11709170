"""The residual network of AlphaGo Zero, at any size: the default, and paper A's with 6×96."""

from torch import Tensor, nn

from randori.networks.config import NetworkConfig, Signature
from randori.networks.heads import PolicyHead, ValueHead
from randori.networks.layers import ConvRelu


class Block(nn.Module):
    """Two 3×3 convolutions and a way around them."""

    def __init__(self, channels: int, norm: bool) -> None:
        super().__init__()
        self.first = ConvRelu(channels, channels, 3, norm)
        self.second = ConvRelu(channels, channels, 3, norm)

    def forward(self, x: Tensor) -> Tensor:
        """Add what the convolutions find to what came in."""
        y: Tensor = self.second(self.first(x), x)
        return y


class ResNet(nn.Module):
    """Planes [B, C, H, W] to logits [B, P] and values [B]."""

    def __init__(self, config: NetworkConfig, signature: Signature) -> None:
        super().__init__()
        channels, norm = config.channels, config.batch_norm
        self.stem = ConvRelu(signature.planes, channels, 3, norm)
        self.blocks = nn.Sequential(*(Block(channels, norm) for _ in range(config.blocks)))
        self.policy = PolicyHead(
            channels, config.policy_channels, signature.cells, signature.factors, norm
        )
        self.value = ValueHead(channels, config.value_channels, config.hidden, norm)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Judge a batch of positions."""
        x = self.blocks(self.stem(x))
        return self.policy(x), self.value(x)
