"""What to build and what a game asks for, as plain values: importing this needs no torch."""

from dataclasses import dataclass
from typing import Any, Literal

from randori.errors import UserError


@dataclass(frozen=True)
class NetworkConfig:
    """The shape of a network; every default runs on a laptop."""

    kind: Literal["resnet", "cnn", "mlp"] = "resnet"
    """cnn is paper D's, mlp paper C's"""
    blocks: int = 6
    """resnet: residual blocks; mlp: hidden layers; cnn: unused"""
    channels: int = 64
    """width of every 3×3 convolution; mlp: unused"""
    hidden: int = 64
    """width of the value head's hidden layer, of mlp layers, of cnn's last layer"""
    policy: Literal["planes", "dense"] = "planes"
    """resnet: planes finds logits by convolution, where the game says which cell is whose"""
    policy_channels: int = 32
    """resnet: channels that a dense policy head looks at"""
    value_channels: int = 32
    """resnet: channels that the value head pools"""
    dropout: float = 0.3
    """cnn only: share of fully connected units dropped while training"""
    batch_norm: bool = True
    """after convolutions; off for policy-gradient learners; mlp has none"""
    value: Literal["scalar", "wdl"] = "scalar"
    """resnet: scalar is a tanh, wdl the shares of win, draw and loss (trained as such)"""
    pooling: Literal["none", "squeeze", "global"] = "none"
    """resnet: how blocks see the whole board"""
    reply: bool = False
    """resnet: while training, also guess the opponent's answer"""
    ownership: bool = False
    """resnet: while training, also guess who has which cell in the end"""

    def __post_init__(self) -> None:
        for field in ("channels", "hidden", "policy_channels", "value_channels"):
            if getattr(self, field) < 1:
                raise UserError(f"network.{field} must be at least 1, not {getattr(self, field)}")
        if self.blocks < 0:
            raise UserError(f"network.blocks must not be negative: {self.blocks}")
        extras = (self.value != "scalar", self.pooling != "none", self.reply, self.ownership)
        if self.kind != "resnet" and any(extras):
            raise UserError(
                f"network.value, pooling, reply and ownership are for resnet, not for {self.kind}"
            )
        if not 0 <= self.dropout < 1:
            raise UserError(f"network.dropout must be in [0, 1), not {self.dropout}")


def brought_up_to_date(stored: Any) -> Any:
    """Return the stored settings of a network with those that are newer than they are.

    Before there was a choice of policies, every one was dense.
    """
    return {"policy": "dense", **stored} if isinstance(stored, dict) else stored


@dataclass(frozen=True)
class Signature:
    """What a game asks of a network: the planes it shows and the logits it reads."""

    planes: int
    height: int
    width: int
    factors: tuple[int, ...]  # logits of each factor of the policy; a plain one has one
    owned_cells: int = 0  # cells that somebody has in the end, where a network may guess that
    spots: tuple[int, ...] = ()  # where each logit stands in planes, if it does
    subheads: tuple[int, ...] = ()  # sizes of a dense policy's sub-heads, if not the factors'
    parts: tuple[tuple[int, ...], ...] = ()  # which of their logits add up to each, or −1
    marks: tuple[int, ...] = ()  # the bit of planes without which each logit is idle
    most_marked: tuple[int, ...] = ()  # logits of each factor that matter at once, at most
    compact_width: int = 0  # of a row of those that matter

    @property
    def cells(self) -> int:
        """Cells of one plane."""
        return self.height * self.width

    @property
    def num_logits(self) -> int:
        """Logits a position, all factors one after the other."""
        return sum(self.factors)

    @property
    def words_per_plane(self) -> int:
        """64-bit words that hold one plane."""
        return -(-self.cells // 64)

    @property
    def num_words(self) -> int:
        """64-bit words that hold one position's planes."""
        return self.planes * self.words_per_plane
