"""Muon: steps whose matrices are all of one size in every direction, for weights that are matrices.

A gradient of a convolution is mostly of low rank: a step along it moves a few directions far and
the others hardly. Muon (K. Jordan, 2024) keeps the momentum's directions and makes their lengths
equal, by a few steps of a Newton-Schulz iteration; what is no matrix is learnt by AdamW. Steps are
about as long as AdamW's (J. Liu et al., 2025), so that both have one learning rate.
"""

import math
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn

MOMENTUM = 0.95
FIRST, SECOND, TINY = 0.9, 0.999, 1e-8
"""Of AdamW."""
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

    def __init__(self, network: nn.Module, rate: float | Tensor, decay: float) -> None:
        weights = list(network.parameters())
        groups = [
            {"params": [one for one in weights if is_matrix(one)], "even": True},
            {"params": [one for one in weights if not is_matrix(one)], "even": False},
        ]
        super().__init__([group for group in groups if group["params"]], {"lr": rate})
        self._decay = decay

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> None:  # type: ignore[override]
        """Take a step; every weight decays by the share that the learning rate gives."""
        assert closure is None
        for group in self.param_groups:
            weights = [one for one in group["params"] if one.grad is not None]
            if not weights:
                continue
            for one in weights:
                self._remember(one, group["even"])
            steps = self._evened(weights) if group["even"] else self._adapted(weights)
            keep, rate = 1 - group["lr"] * self._decay, -group["lr"]
            torch._foreach_mul_(weights, keep)
            torch._foreach_mul_(steps, rate)
            torch._foreach_add_(weights, steps)

    def _remember(self, weight: Tensor, even: bool) -> None:
        memory = self.state[weight]
        if not memory:
            memory["mean"] = torch.zeros_like(weight)
            if not even:
                memory["square"] = torch.zeros_like(weight)
                memory["count"] = torch.zeros((), device=weight.device)

    def _part(self, weights: Iterable[Tensor], name: str) -> list[Tensor]:
        return [self.state[weight][name] for weight in weights]

    def _evened(self, weights: list[Tensor]) -> list[Tensor]:
        """Return the steps of convolutions, those of one shape computed together."""
        grads, means = _grads(weights), self._part(weights, "mean")
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

    def _adapted(self, weights: list[Tensor]) -> list[Tensor]:
        """Return the steps of AdamW."""
        grads, means = _grads(weights), self._part(weights, "mean")
        squares, counts = self._part(weights, "square"), self._part(weights, "count")
        torch._foreach_add_(counts, 1.0)
        torch._foreach_lerp_(means, grads, 1 - FIRST)
        torch._foreach_mul_(squares, SECOND)
        torch._foreach_addcmul_(squares, grads, grads, 1 - SECOND)
        # All weights have been there from the start.
        seen, spread = (1 - torch.pow(rate, counts[0]) for rate in (FIRST, SECOND))
        below = torch._foreach_sqrt(squares)
        torch._foreach_div_(below, spread.sqrt())
        torch._foreach_add_(below, TINY)
        torch._foreach_mul_(below, seen)
        return list(torch._foreach_div(means, below))


def _grads(weights: list[Tensor]) -> list[Tensor]:
    return [one.grad for one in weights if one.grad is not None]
