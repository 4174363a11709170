"""One gradient step at a time: the loss of AlphaZero, its optimiser, and how both are stored."""

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from randori.agents.models import signature_of
from randori.errors import UserError
from randori.games.game import Game
from randori.learners.replay import Samples
from randori.networks.planes import unpack


@dataclass(frozen=True)
class TrainConfig:
    """How the network learns from the rows."""

    batch: int = 256
    """rows a gradient step"""
    reuse: float = 6.0
    """how often a row is drawn on average: this paces the learner"""
    learning_rate: float = 2e-3
    final_share: float = 0.05
    """the learning rate falls by a cosine to this share of it at the end, where there is one"""
    warm_up_steps: int = 100
    """steps in which the learning rate rises from nothing"""
    optimizer: Literal["adamw", "adam", "sgd"] = "adamw"
    """sgd has momentum 0.9"""
    l2: float = 1e-4
    """weight of ‖θ‖² in the loss; for adamw the decoupled decay"""
    value_weight: float = 1.0
    """weight of (v − z)² against the cross entropy of the policy"""
    search_share: float = 0.5
    """the value target z is the game's result mixed with the search's own value by this share"""
    clip: float = 5.0
    """largest norm of a gradient; 0 leaves it alone"""

    def __post_init__(self) -> None:
        if self.batch < 2:
            raise ValueError(f"batch must be at least 2, not {self.batch}")
        if self.reuse <= 0:
            raise ValueError(f"reuse must be above 0, not {self.reuse}")


@dataclass(frozen=True)
class Losses:
    """What a step saw, before it moved."""

    policy: float
    """cross entropy, in nats; its floor is the entropy of the search's own policy"""
    value: float
    """mean of (v − z)²"""


def policy_value_loss(
    logits: Tensor, value: Tensor, policy: Tensor, target: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the cross entropy over legal actions and the squared error of the value.

    `policy` is −1 where an action is illegal.
    """
    illegal = policy < 0
    log_share = torch.log_softmax(logits.masked_fill(illegal, -torch.inf), dim=1)
    cross = -(policy * log_share.masked_fill(illegal, 0.0)).sum(dim=1)
    return cross.mean(), (value - target).square().mean()


class Trainer:
    """A network with its optimiser."""

    def __init__(
        self, game: Game, network: nn.Module, config: TrainConfig, device: torch.device
    ) -> None:
        self.network = network.to(device)
        self.steps = 0
        self._config = config
        self._device = device
        self._signature = signature_of(game)
        self._factors = torch.as_tensor(game.factors.astype(np.int64), device=device)
        self._optimizer = make_optimizer(network, config)

    def step(self, samples: Samples, rate_share: float) -> Losses:
        """Take one gradient step at `rate_share` of the learning rate."""
        config = self._config
        warm = min(1.0, (self.steps + 1) / max(1, config.warm_up_steps))
        for group in self._optimizer.param_groups:
            group["lr"] = config.learning_rate * rate_share * warm
        words = torch.as_tensor(samples.words.view(np.int64)).to(self._device, non_blocking=True)
        policy = torch.as_tensor(samples.policy).to(self._device, non_blocking=True)
        target = torch.as_tensor(samples.values).to(self._device, non_blocking=True)
        self.network.train()
        on_cuda = self._device.type == "cuda"
        with torch.autocast("cuda", torch.bfloat16, enabled=on_cuda):
            factors, value = self.network(unpack(words, self._signature))
        logits = factors.float()[:, self._factors].sum(dim=2)
        cross, error = policy_value_loss(logits, value.float(), policy, target)
        losses = Losses(cross.item(), error.item())
        if not math.isfinite(losses.policy + losses.value):
            raise UserError(
                f"the loss is no number any more at step {self.steps}: resume from the last "
                "checkpoint with a lower train.learning_rate"
            )
        self._optimizer.zero_grad(set_to_none=True)
        torch.autograd.backward([cross + config.value_weight * error])
        if config.clip > 0:
            nn.utils.clip_grad_norm_(self.network.parameters(), config.clip)
        self._optimizer.step()
        self.steps += 1
        return losses

    def weights(self) -> dict[str, NDArray[Any]]:
        """Return the network's weights as arrays."""
        tensors = self.network.state_dict().items()
        return {name: tensor.detach().cpu().numpy().copy() for name, tensor in tensors}

    def load_weights(self, weights: dict[str, NDArray[Any]]) -> None:
        """Take over weights of the same shape."""
        self.network.load_state_dict({name: torch.tensor(a) for name, a in weights.items()})

    def save(self) -> dict[str, NDArray[Any]]:
        """Return the optimiser's memory and torch's dice as arrays."""
        arrays = {"torch_rng": torch.get_rng_state().numpy().copy()}
        for index, memory in self._optimizer.state_dict()["state"].items():
            for name, value in memory.items():
                arrays[f"optimizer.{index}.{name}"] = torch.as_tensor(value).cpu().numpy().copy()
        return arrays

    def restore(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Take over what `save` returned."""
        torch.set_rng_state(torch.tensor(arrays["torch_rng"]))
        state = self._optimizer.state_dict()
        for name, array in arrays.items():
            if name.startswith("optimizer."):
                _, index, key = name.split(".", 2)
                state["state"].setdefault(int(index), {})[key] = torch.tensor(array)
        self._optimizer.load_state_dict(state)


def make_optimizer(network: nn.Module, config: TrainConfig) -> torch.optim.Optimizer:
    """Build the optimiser of `config`; the gradient of l2·‖θ‖² is 2·l2·θ."""
    parameters = list(network.parameters())
    if config.optimizer == "adamw":
        return torch.optim.AdamW(parameters, config.learning_rate, weight_decay=config.l2)
    if config.optimizer == "adam":
        return torch.optim.Adam(parameters, config.learning_rate, weight_decay=2 * config.l2)
    return torch.optim.SGD(
        parameters, config.learning_rate, momentum=0.9, weight_decay=2 * config.l2
    )
