"""The network on plain torch: runs everywhere, and the one that the others are checked against."""

import torch
from torch import nn

from randori.networks.config import Signature
from randori.networks.lanes import HostArrays, parse_precision
from randori.networks.layers import prepare
from randori.networks.planes import unpack


class TorchEvaluator:
    """Judges by running the module as it is, batch norm folded, on any torch device."""

    def __init__(
        self,
        network: nn.Module,
        signature: Signature,
        device: str = "cpu",
        precision: str = "fp32",
    ) -> None:
        self.name = f"torch {device} {precision}"
        self.signature = signature
        self.device = torch.device(device)
        self.dtype = parse_precision(precision)
        self.load(network)

    def load(self, network: nn.Module) -> None:
        """Take over this network's weights; every lane uses them from its next launch on."""
        self.network = prepare(network, self.device, self.dtype)

    def lane(self, batch: int) -> "TorchLane":
        """Make a new lane of at most `batch` rows."""
        return TorchLane(self, batch)


class TorchLane(HostArrays):
    """A lane whose launch does the work, so that wait has nothing left to do."""

    def __init__(self, evaluator: TorchEvaluator, batch: int) -> None:
        super().__init__(batch, evaluator.signature)
        self._evaluator = evaluator

    def launch(self, count: int) -> None:
        """Judge rows ``[0, count)``."""
        self.check(count)
        ours = self._evaluator
        with torch.inference_mode():
            words = self.words_tensor[:count].to(ours.device)
            logits, values = ours.network(unpack(words, ours.signature, ours.dtype))
            self.logits_tensor[:count] = logits
            self.values_tensor[:count] = values

    def wait(self) -> None:
        """Return at once."""
