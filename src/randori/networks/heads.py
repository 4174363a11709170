"""The ends of a network: policy logits, a value, and what it learns beside them.

All return float32 whatever the network computes in, so that a value near ±1 keeps its digits.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from randori.networks.config import Signature
from randori.networks.layers import ConvRelu

SUBHEAD_WIDTH = 256  # paper A, section 4.3.4


class Factors(nn.Module):
    """Features [B, F] to logits [B, P].

    One factor is one linear layer. Several are paper A's chain: each sub-head sees the features
    and the logits of all sub-heads before it. Where sub-heads are not the game's own factors, their
    logits add up to those.
    """

    def __init__(self, features: int, signature: Signature) -> None:
        super().__init__()
        sizes = signature.subheads or signature.factors
        parts = torch.tensor(signature.parts) if signature.parts else None  # −1: no more of them
        self.parts: Tensor | None
        self.register_buffer(
            "parts", None if parts is None else parts % (sum(sizes) + 1), persistent=False
        )
        if len(sizes) == 1:
            self.stages = nn.ModuleList([nn.Linear(features, sizes[0])])
            return
        self.stages = nn.ModuleList(
            nn.Sequential(
                nn.Linear(features + sum(sizes[:place]), SUBHEAD_WIDTH),
                nn.ReLU(),
                nn.Linear(SUBHEAD_WIDTH, size),
            )
            for place, size in enumerate(sizes)
        )

    def forward(self, features: Tensor) -> Tensor:
        """Run the chain; its logits come out one factor after the other."""
        said: list[Tensor] = []
        for stage in self.stages:
            said.append(stage(torch.cat([features, *said], 1) if said else features))
        logits = (torch.cat(said, 1) if len(said) > 1 else said[0]).float()
        if self.parts is None:
            return logits
        padded = nn.functional.pad(logits, (0, 1))  # what is no part adds nothing
        return padded.index_select(1, self.parts.flatten()).view(-1, *self.parts.shape).sum(2)


class PolicyHead(nn.Module):
    """A trunk's output [B, C, H, W] to logits [B, P], every cell of it to all of them."""

    def __init__(self, channels: int, width: int, signature: Signature, norm: bool) -> None:
        super().__init__()
        self.conv = ConvRelu(channels, width, 1, norm)
        self.factors = Factors(width * signature.cells, signature)

    def forward(self, x: Tensor) -> Tensor:
        """Reduce the channels, flatten the board, run the sub-heads."""
        logits: Tensor = self.factors(self.conv(x).flatten(1))
        return logits


class PlanesHead(nn.Module):
    """A trunk's output [B, C, H, W] to planes, of whose cells some are the logits [B, P]."""

    def __init__(self, channels: int, signature: Signature, norm: bool) -> None:
        super().__init__()
        planes = max(signature.spots) // signature.cells + 1
        self.conv = ConvRelu(channels, channels, 3, norm)
        self.planes = nn.Conv2d(channels, planes, 1)
        self.spots: Tensor
        self.register_buffer("spots", torch.tensor(signature.spots), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        """Convolve, and pick the cells that are logits."""
        logits: Tensor = self.planes(self.conv(x)).flatten(1)
        return logits.index_select(1, self.spots).float()


class Outputs(NamedTuple):
    """What a network says while it learns."""

    logits: Tensor
    """[B, P]"""
    value: Tensor
    """[B]"""
    wdl: Tensor | None = None
    """[B, 3] logits of win, draw and loss"""
    reply: Tensor | None = None
    """[B, P] logits of the opponent's answer"""
    owners: Tensor | None = None
    """[B, cells] logits of a cell being mine in the end"""


class ValueHead(nn.Module):
    """A trunk's output [B, C, H, W] to scores [B, n], from board-wide mean and maximum."""

    def __init__(self, channels: int, width: int, hidden: int, norm: bool, scores: int) -> None:
        super().__init__()
        self.conv = ConvRelu(channels, width, 1, norm)
        self.hidden = nn.Linear(2 * width, hidden)
        self.last = nn.Linear(hidden, scores)

    def forward(self, x: Tensor) -> Tensor:
        """Reduce the channels, pool the board, judge."""
        board = self.conv(x).flatten(2)
        pooled = torch.cat([board.mean(2), board.amax(2)], 1)
        scores: Tensor = self.last(torch.relu(self.hidden(pooled))).float()
        return scores


class OwnerHead(nn.Module):
    """A trunk's output [B, C, H, W] to a logit of each cell being mine in the end."""

    def __init__(self, channels: int, planes: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(channels, planes, 1)

    def forward(self, x: Tensor) -> Tensor:
        """Judge cell by cell."""
        logits: Tensor = self.conv(x).flatten(1).float()
        return logits


def expected(scores: Tensor) -> Tensor:
    """Logits [B, 3] of win, draw and loss as a value [B] in [-1, 1]."""
    shares = torch.softmax(scores.float(), 1)
    return shares[:, 0] - shares[:, 2]


def squash(score: Tensor) -> Tensor:
    """A score [B, 1] as a value [B] in [-1, 1]."""
    return torch.tanh(score.float()).flatten()
