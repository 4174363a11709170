"""Layers that become fewer operations for inference.

`fold` merges batch norm into the layer before it. On CUDA a folded convolution, its bias, the way
around it and the ReLU then run as one cuDNN kernel, which doubles the speed of a 6×64 ResNet on an
H200: at that size memory traffic, not arithmetic, is what costs.
"""

from copy import deepcopy

import torch
from torch import Tensor, nn
from torch.nn.utils import fuse_conv_bn_eval, fuse_linear_bn_eval


class Normed(nn.Module):
    """A layer and its batch norm, kept together so that `fold` can make them one."""

    def __init__(self, layer: nn.Conv2d | nn.Linear) -> None:
        super().__init__()
        self.layer = layer
        self.norm: nn.BatchNorm1d | nn.BatchNorm2d
        if isinstance(layer, nn.Conv2d):
            self.norm = nn.BatchNorm2d(layer.out_channels)
        else:
            self.norm = nn.BatchNorm1d(layer.out_features)

    def forward(self, x: Tensor) -> Tensor:
        """Apply the layer, then the norm."""
        y: Tensor = self.norm(self.layer(x))
        return y

    def folded(self) -> nn.Module:
        """The one layer that computes the same in eval mode."""
        if isinstance(self.layer, nn.Conv2d):
            return fuse_conv_bn_eval(self.layer, self.norm)
        return fuse_linear_bn_eval(self.layer, self.norm)


class ConvRelu(nn.Module):
    """A square convolution and its ReLU; keeps the board's size unless `padding` differs."""

    def __init__(
        self, inputs: int, outputs: int, size: int, norm: bool, padding: int | None = None
    ) -> None:
        super().__init__()
        pad = size // 2 if padding is None else padding
        layer = nn.Conv2d(inputs, outputs, size, padding=pad, bias=not norm)
        self.conv: nn.Module = Normed(layer) if norm else layer

    def forward(self, x: Tensor, skip: Tensor | None = None) -> Tensor:
        """relu(conv(x) + skip)."""
        if isinstance(self.conv, nn.Conv2d) and _is_fusable(self.conv, x):
            return _fused(self.conv, x, skip)
        y: Tensor = self.conv(x)
        return torch.relu(y if skip is None else y + skip)


def _is_fusable(conv: nn.Conv2d, x: Tensor) -> bool:
    # AMD's torch says is_cuda too, but has no cuDNN; under autocast the dtypes may differ.
    on_cuda = x.is_cuda and torch.version.cuda is not None
    return on_cuda and x.dtype == conv.weight.dtype and not torch.is_grad_enabled()


def _fused(conv: nn.Conv2d, x: Tensor, skip: Tensor | None) -> Tensor:
    # These two have no gradient and are what torch's own freezing pass puts in place of the parts.
    pad = conv.padding if isinstance(conv.padding, tuple) else ()
    if skip is None:
        return torch.cudnn_convolution_relu(
            x, conv.weight, conv.bias, conv.stride, pad, conv.dilation, conv.groups
        )
    return torch.cudnn_convolution_add_relu(
        x, conv.weight, skip, 1, conv.bias, conv.stride, pad, conv.dilation, conv.groups
    )


def linear(inputs: int, outputs: int, norm: bool) -> nn.Module:
    """A fully connected layer, normed if asked."""
    layer = nn.Linear(inputs, outputs, bias=not norm)
    return Normed(layer) if norm else layer


def fold(network: nn.Module) -> nn.Module:
    """A copy for inference: eval mode, no gradients, every `Normed` replaced by one layer.

    Heads that only training needs are left behind.
    """
    copy = deepcopy(network).eval().requires_grad_(False)
    for name in getattr(copy, "training_only", ()):
        setattr(copy, name, None)
    for module in list(copy.modules()):
        for name, child in list(module.named_children()):
            if isinstance(child, Normed):
                setattr(module, name, child.folded().requires_grad_(False))
    return copy


def prepare(network: nn.Module, device: torch.device, dtype: torch.dtype) -> nn.Module:
    """Fold in the network's own precision, then move to where and how torch will run it."""
    folded = fold(network).to(device=device, dtype=dtype)
    for weight in folded.parameters():
        if weight.dim() == 4:  # channels-last convolutions take half the time, on CPU and GPU
            weight.data = weight.data.contiguous(memory_format=torch.channels_last)
    return folded
