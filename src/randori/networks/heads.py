"""The ends of a network: policy logits by factors, a value, and what it learns beside them.

All return float32 whatever the network computes in, so that a value near ±1 keeps its digits.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from randori.networks.layers import ConvRelu

SUBHEAD_WIDTH = 256  # paper A, section 4.3.4


class Factors(nn.Module):
    """Features [B, F] to logits [B, sum(factors)].

    One factor is one linear layer. Several are paper A's chain: each sub-head sees the features
    and the logits of all sub-heads before it.
    """

    def __init__(self, features: int, factors: tuple[int, ...]) -> None:
        super().__init__()
        if len(factors) == 1:
            self.stages = nn.ModuleList([nn.Linear(features, factors[0])])
            return
        self.stages = nn.ModuleList(
            nn.Sequential(
                nn.Linear(features + sum(factors[:place]), SUBHEAD_WIDTH),
                nn.ReLU(),
                nn.Linear(SUBHEAD_WIDTH, size),
            )
            for place, size in enumerate(factors)
        )

    def forward(self, features: Tensor) -> Tensor:
        """Run the chain; the sub-heads' logits come out one after the other."""
        parts: list[Tensor] = []
        for stage in self.stages:
            parts.append(stage(torch.cat([features, *parts], 1) if parts else features))
        return (torch.cat(parts, 1) if len(parts) > 1 else parts[0]).float()


class PolicyHead(nn.Module):
    """A trunk's output [B, C, H, W] to logits [B, P]."""

    def __init__(
        self, channels: int, width: int, cells: int, factors: tuple[int, ...], norm: bool
    ) -> None:
        super().__init__()
        self.conv = ConvRelu(channels, width, 1, norm)
        self.factors = Factors(width * cells, factors)

    def forward(self, x: Tensor) -> Tensor:
        """Reduce the channels, flatten the board, run the sub-heads."""
        logits: Tensor = self.factors(self.conv(x).flatten(1))
        return logits


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
