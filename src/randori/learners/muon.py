"""Muon: steps whose matrices are all of one size in every direction, for weights that are matrices.

A gradient of a convolution is mostly of low rank: a step along it moves a few directions far and
the others hardly. Muon (K. Jordan, 2024) keeps the momentum's directions and makes their lengths
equal, by a few steps of a Newton-Schulz iteration; what is no matrix is learnt by AdamW. Steps are
about as long as AdamW's (J. Liu et al., 2025), so that both have one learning rate.
"""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

MOMENTUM = 0.95
LENGTH = 0.2
"""The usual size of an entry of AdamW's step, in learning rates."""
LEAST_INPUTS = 16
"""Channels that a convolution must have; what has fewer, such as a network's first, is AdamW's."""
POLYNOMIAL = (3.4445, -4.7750, 2.0315)
ITERATIONS = 5


def evened(matrices: Tensor) -> Tensor:
    """Return matrices [n, r, c] with r ≤ c whose singular values are moved close to 1."""
    a, b, c = POLYNOMIAL
    even: Tensor = matrices / (matrices.norm(dim=(1, 2), keepdim=True) + 1e-7)
    for _ in range(ITERATIONS):
        square = even @ even.mT
        even = a * even + (b * square + c * square @ square) @ even
    return even


def is_matrix(weight: Tensor) -> bool:
    """Tell whether a weight is learnt by Muon: what mixes cells, but for a network's first layer.

    Of layers that only mix channels most are its last, whose directions are not alike.
    """
    return weight.dim() == 4 and weight.shape[2] > 1 and weight.shape[1] >= LEAST_INPUTS


class Muon(torch.optim.Optimizer):
    """Muon for the convolutions of a network, AdamW for all else; may be captured in a graph."""

    def __init__(
        self, network: nn.Module, rate: float | Tensor, decay: float, **options: Any
    ) -> None:
        weights = list(network.parameters())
        rest = [one for one in weights if not is_matrix(one)]
        self._adamw = torch.optim.AdamW(rest, rate, weight_decay=decay, **options)
        matrices = {"params": [one for one in weights if is_matrix(one)], "weight_decay": decay}
        super().__init__([matrices, *self._adamw.param_groups], {"lr": rate})

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> None:  # type: ignore[override]
        """Take a step; every weight decays by the share that the learning rate gives."""
        assert closure is None
        group, *others = self.param_groups
        weights = [one for one in group["params"] if one.grad is not None]
        if weights:
            steps = self._evened(weights)
            torch._foreach_mul_(weights, 1 - group["lr"] * group["weight_decay"])
            torch._foreach_mul_(steps, -group["lr"])
            torch._foreach_add_(weights, steps)
        self._adamw.param_groups, self._adamw.state = others, self.state  # a restore made new ones
        self._adamw.step()

    def _evened(self, weights: list[Tensor]) -> list[Tensor]:
        """Return the steps of convolutions, those of one shape computed together."""
        for one in weights:
            if not self.state[one]:
                self.state[one]["mean"] = torch.zeros_like(one)
        grads = [one.grad for one in weights if one.grad is not None]
        means = [self.state[one]["mean"] for one in weights]
        torch._foreach_lerp_(means, grads, 1 - MOMENTUM)
        ahead = torch._foreach_lerp(grads, means, MOMENTUM)  # Nesterov's
        steps: dict[int, Tensor] = {}
        for shape in {one.shape for one in weights}:
            at = [i for i, one in enumerate(weights) if one.shape == shape]
            # Channels last, as the weights are laid out, so that nothing is copied back and forth.
            boards = torch.stack([ahead[i].permute(0, 2, 3, 1) for i in at]).float()
            matrices = boards.flatten(2)
            is_tall = matrices.shape[1] > matrices.shape[2]
            even = evened(matrices.mT).mT if is_tall else evened(matrices)
            even = even * (LENGTH * math.sqrt(max(matrices.shape[1:])))
            parts = even.contiguous().view_as(boards).permute(0, 1, 4, 2, 3)
            steps |= dict(zip(at, parts, strict=True))
        return [steps[i] for i in range(len(weights))]
