"""From a config to a network."""

from collections.abc import Callable

from torch import nn

from randori.errors import UserError, nearest
from randori.networks.cnn import Cnn
from randori.networks.config import NetworkConfig, Signature
from randori.networks.mlp import Mlp
from randori.networks.resnet import ResNet

KINDS: dict[str, Callable[[NetworkConfig, Signature], nn.Module]] = {
    "resnet": ResNet,
    "cnn": Cnn,
    "mlp": Mlp,
}


def build(config: NetworkConfig, signature: Signature) -> nn.Module:
    """Make an untrained network: planes [B, C, H, W] -> logits [B, P], values [B].

    The weights come from torch's global generator: seed it first (`torch.manual_seed`).
    """
    if config.kind not in KINDS:
        raise UserError(f"no network kind {config.kind!r}: {nearest(config.kind, KINDS)}")
    return KINDS[config.kind](config, signature)
