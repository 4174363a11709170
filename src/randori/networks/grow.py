"""Give a trained network more blocks without changing what it says."""

from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from randori.errors import UserError
from randori.networks.layers import Normed


def grow(network: nn.Module, weights: dict[str, NDArray[Any]]) -> None:
    """Load the weights of a smaller network of the same kind into a fresh, deeper one.

    The new blocks add nothing at first: the last thing that they do before the way around them
    joins in is multiplied by zero. So the network says what it said, and goes on learning.
    """
    ours = network.state_dict()
    for name, array in weights.items():
        if name not in ours or tuple(ours[name].shape) != array.shape:
            raise UserError(
                f"a network can grow by network.blocks alone: {name} does not fit any more"
            )
    known = {name.split(".")[1] for name in weights if name.startswith("blocks.")}
    for index, block in enumerate(getattr(network, "blocks", ())):
        if str(index) not in known:
            _silence(block.second)
    tensors: dict[str, Tensor] = {name: torch.tensor(array) for name, array in weights.items()}
    network.load_state_dict({**network.state_dict(), **tensors})


def _silence(module: nn.Module) -> None:
    """Let the last layer of a block say nothing."""
    inner = getattr(module, "conv", module)
    layer = inner.norm if isinstance(inner, Normed) else inner
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.zero_()
