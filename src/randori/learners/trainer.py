"""One gradient step at a time: a network, its optimiser, and how both are stored.

On a card the whole step is one captured graph: the host only draws the next batch meanwhile.
"""

import math
from contextlib import nullcontext
from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from randori.agents.models import signature_of
from randori.errors import UserError
from randori.games.game import Game
from randori.learners.losses import Losses, Targets, losses_of, parts_of, tensors_of
from randori.learners.muon import Muon
from randori.learners.replay import Samples
from randori.learners.settings import TrainConfig
from randori.learners.threads import Threads
from randori.networks.cuda_runtime import CAPTURING, cuda
from randori.networks.grow import grow
from randori.networks.heads import Outputs
from randori.networks.planes import unpack

FIRST_MEAN = 10
"""A running mean reaches back over one in so many of all steps at most, so that it gets going."""
EAGER_STEPS = 3
"""Steps before one is captured, in which libraries choose kernels and the optimiser allocates."""


class Trainer:
    """A network with its optimiser."""

    def __init__(
        self,
        game: Game,
        network: nn.Module,
        config: TrainConfig,
        device: torch.device,
        threads: Threads | None = None,
    ) -> None:
        on_card = device.type == "cuda"
        self.network = network.to(device)
        for weight in network.parameters():
            if weight.dim() == 4:  # faster on cards and CPUs alike
                weight.data = weight.data.contiguous(memory_format=torch.channels_last)
        self.has_mean = config.average > 0
        self.player = deepcopy(network) if self.has_mean else self.network
        """what plays and is stored: the network itself, or the mean of what it was"""
        self.steps = 0
        self._config = config
        self._device = device
        self._threads = threads
        self._in_bf16 = config.precision == "bf16" or (
            config.precision == "auto" and has_bf16(device)
        )
        self._signature = signature_of(game)
        self._owned = replace(self._signature, planes=2 * game.stone_planes)
        self._factors = torch.as_tensor(game.factors.astype(np.int64), device=device)
        learns_replies = getattr(network, "reply", None) is not None
        self._parts = parts_of(self._factors, sum(game.factor_sizes)) if learns_replies else None
        self._optimizer = make_optimizer(network, config, device)
        weights = (1.0, config.value_weight, config.reply_weight, config.owner_weight)
        self._weights = torch.tensor(weights, device=device)
        self._sums = torch.zeros(5, device=device)
        self._pull = torch.ones((), device=device)
        self._summed = 0
        # Before self-play's batches: a step is short, and the next weights wait for it.
        self._stream: Any = cuda.Stream(device, priority=-1) if on_card else None
        self._graph: Any = None
        self._inputs: Targets | None = None
        self._taken = 0

    def targets_of(self, samples: Samples) -> Targets:
        """Make a batch ready for `step`; safe to call from another thread, for the next one."""
        targets = tensors_of(samples)
        if self._stream is None:
            return targets
        return Targets(*(tensor.pin_memory() for tensor in targets))

    def step(self, targets: Targets, rate_share: float) -> None:
        """Take one gradient step at `rate_share` of the learning rate; `take_losses` tells more."""
        config = self._config
        warm = min(1.0, (self.steps + 1) / max(1, config.warm_up_steps))
        rate = config.learning_rate * rate_share * warm
        pull = 1 / max(1, min(config.average, self.steps // FIRST_MEAN))
        if self._stream is None:
            _set_rate(self._optimizer, rate)
            self._pull.fill_(pull)
            with nullcontext() if self._threads is None else self._threads.step():
                self._move(targets)
        else:
            with torch.cuda.stream(self._stream):
                _set_rate(self._optimizer, rate)
                self._pull.fill_(pull)
                self._step_on_card(targets)
        self.steps += 1
        self._summed += 1

    def _step_on_card(self, targets: Targets) -> None:
        """Copy a batch over and run the captured step, which is made when all has settled."""
        if self._inputs is None or self._inputs.words.shape != targets.words.shape:
            self._inputs = Targets(*(tensor.to(self._device) for tensor in targets))
            self._graph, self._taken = None, 0
        for ours, theirs in zip(self._inputs, targets, strict=True):
            ours.copy_(theirs, non_blocking=True)
        if self._graph is None and self._taken >= EAGER_STEPS and self._config.optimizer != "sgd":
            self._capture(self._inputs)
        if self._graph is None:
            self._move(self._inputs)
            self._taken += 1
        else:
            self._graph.replay()

    def _capture(self, inputs: Targets) -> None:
        self._stream.synchronize()
        self._optimizer.zero_grad(set_to_none=True)
        graph = torch.cuda.CUDAGraph()
        with CAPTURING:  # see networks/cuda_runtime.py: self-play goes on launching meanwhile
            graph.capture_begin(capture_error_mode="thread_local")
            try:
                self._move(inputs)
            finally:
                graph.capture_end()
        self._graph = graph

    def _move(self, targets: Targets) -> None:
        """Enqueue the gradient step."""
        config = self._config
        self.network.train()
        kind, in_bf16 = self._device.type, self._in_bf16
        with torch.autocast(kind, torch.bfloat16, enabled=in_bf16, cache_enabled=False):
            said = self._ask(unpack(targets.words, self._signature))
        owners = None
        if said.owners is not None:
            owners = unpack(targets.owners, self._owned).flatten(1)
        losses, error = losses_of(
            said, targets, self._factors, self._parts, config.search_share, owners
        )
        self._optimizer.zero_grad(set_to_none=True)
        torch.autograd.backward([(losses * self._weights).sum()])
        if config.clip > 0:
            nn.utils.clip_grad_norm_(self.network.parameters(), config.clip)
        self._optimizer.step()
        with torch.no_grad():
            self._sums += torch.cat([losses, error[None]])
            if self.has_mean:
                self._follow()

    def _follow(self) -> None:
        """Move the mean towards the newest weights: all of them in a few kernels."""
        newest, means = (network.state_dict() for network in (self.network, self.player))
        moving = [name for name, mean in means.items() if mean.is_floating_point()]
        steps = torch._foreach_sub([newest[n] for n in moving], [means[n] for n in moving])
        torch._foreach_mul_(steps, self._pull)
        torch._foreach_add_([means[n] for n in moving], steps)
        for name in means.keys() - set(moving):
            means[name].copy_(newest[name])

    def _ask(self, planes: Tensor) -> Outputs:
        learn = getattr(self.network, "learn", None)
        said: Outputs = learn(planes) if learn else Outputs(*self.network(planes))
        return Outputs(said.logits.float(), said.value.float(), *map(_as_float, said[2:]))

    def take_losses(self) -> Losses | None:
        """Return the mean losses since the last call, once all steps are done."""
        self.finish()
        if not self._summed:
            return None
        policy, value, reply, owners, error = (self._sums / self._summed).tolist()
        self._sums.zero_()
        self._summed = 0
        if not math.isfinite(policy + value + reply + owners):
            raise UserError(
                f"the loss is no number any more by step {self.steps}: resume from the last "
                "checkpoint with a lower train.learning_rate"
            )
        return Losses(policy, error, reply, owners)

    def finish(self) -> None:
        """Wait until every step that was asked for is done."""
        if self._stream is not None:
            self._stream.synchronize()

    def weights(self) -> dict[str, NDArray[Any]]:
        """Return the newest weights as arrays."""
        self.finish()
        return _arrays_of(self.network)

    def player_weights(self) -> dict[str, NDArray[Any]]:
        """Return the weights that play as arrays."""
        self.finish()
        return _arrays_of(self.player)

    def load_weights(self, weights: dict[str, NDArray[Any]]) -> None:
        """Take over weights of the same shape; a mean begins anew."""
        self.finish()
        self.network.load_state_dict(_tensors_of(weights))
        self._begin_mean(self.network.state_dict())

    def take_over(
        self, weights: dict[str, NDArray[Any]], mean: dict[str, NDArray[Any]] | None = None
    ) -> bool:
        """Take over weights and their mean; tell whether the network has grown since.

        A network with more blocks than they are of grows, and its mean begins anew.
        """
        has_grown = weights.keys() != self.network.state_dict().keys()
        if has_grown:
            grow(self.network, weights)
            self._begin_mean(self.network.state_dict())
        else:
            self.load_weights(weights)
            if mean:
                self._begin_mean(_tensors_of(mean))
        return has_grown

    def _begin_mean(self, weights: dict[str, Tensor]) -> None:
        """Set the mean, where there is one."""
        if self.has_mean:
            self.player.load_state_dict(weights)
            if self._stream is not None:  # steps have a stream of their own
                self._stream.wait_stream(torch.cuda.current_stream(self._device))

    def save(self) -> dict[str, NDArray[Any]]:
        """Return the mean, the optimiser's memory and torch's dice as arrays."""
        self.finish()
        arrays = {"torch_rng": torch.get_rng_state().numpy().copy()}
        if self.has_mean:
            arrays |= {f"mean.{name}": array for name, array in _arrays_of(self.player).items()}
        for index, memory in self._optimizer.state_dict()["state"].items():
            for name, value in memory.items():
                arrays[f"optimizer.{index}.{name}"] = torch.as_tensor(value).cpu().numpy().copy()
        return arrays

    def restore(self, arrays: dict[str, NDArray[Any]], *, with_optimizer: bool = True) -> None:
        """Take over what `save` returned, but for the mean, which belongs to the weights.

        A network that has grown needs a fresh optimiser.
        """
        torch.set_rng_state(torch.tensor(arrays["torch_rng"]))
        if not with_optimizer:
            return
        state = self._optimizer.state_dict()
        for name, array in arrays.items():
            if name.startswith("optimizer."):
                _, index, key = name.split(".", 2)
                state["state"].setdefault(int(index), {})[key] = torch.tensor(array)
        self._optimizer.load_state_dict(state)
        for weight, memory in self._optimizer.state.items():
            for key, value in memory.items():
                if isinstance(value, Tensor) and value.shape == weight.shape:
                    # Stored plainly; a fused step wants every part laid out as its weight is.
                    memory[key] = torch.empty_like(weight).copy_(value)


def has_bf16(device: torch.device) -> bool:
    """Tell whether a device computes in bf16 rather than imitating it."""
    if device.type == "cuda":
        return True
    asked: Any = getattr(torch.cpu, "get_capabilities", dict)  # older versions of torch lack it
    known = asked()
    return bool(known.get("avx512_bf16") or known.get("amx_bf16"))


def make_optimizer(
    network: nn.Module, config: TrainConfig, device: torch.device
) -> torch.optim.Optimizer:
    """Build the optimiser of `config`; the gradient of l2·‖θ‖² is 2·l2·θ."""
    parameters = list(network.parameters())
    if config.optimizer == "sgd":
        return torch.optim.SGD(
            parameters, config.learning_rate, momentum=0.9, weight_decay=2 * config.l2
        )
    rate: Any = config.learning_rate
    options: dict[str, Any] = {}
    if device.type == "cuda":  # a captured step reads its learning rate from the card
        rate = torch.tensor(rate, device=device)
        options = {"fused": True, "capturable": True}
    if config.optimizer == "muon":
        return Muon(network, rate, config.l2, **options)
    if config.optimizer == "adamw":
        return torch.optim.AdamW(parameters, rate, weight_decay=config.l2, **options)
    return torch.optim.Adam(parameters, rate, weight_decay=2 * config.l2, **options)


def _arrays_of(network: nn.Module) -> dict[str, NDArray[Any]]:
    tensors = network.state_dict().items()
    return {name: tensor.detach().cpu().numpy().copy() for name, tensor in tensors}


def _tensors_of(weights: dict[str, NDArray[Any]]) -> dict[str, Tensor]:
    return {name: torch.tensor(array) for name, array in weights.items()}


def _set_rate(optimizer: torch.optim.Optimizer, rate: float) -> None:
    for group in optimizer.param_groups:
        if isinstance(group["lr"], Tensor):
            group["lr"].fill_(rate)
        else:
            group["lr"] = rate


def _as_float(part: Tensor | None) -> Tensor | None:
    return None if part is None else part.float()
