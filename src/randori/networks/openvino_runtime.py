"""The network on OpenVINO: 1.3 to 1.9 times as fast as torch here, bf16 where the CPU has it.

Conversion (tracing) costs some 0.4 s and holds the GIL, so `load` avoids it: a graph is converted
once as a template, and a copy of it with the new weights for its constants is compiled. That needs
each weight to be one constant of the graph, which `fold` sees to for our own networks; a network
where OpenVINO computes with weights while converting is converted at every load.
"""

import sys
import threading
from copy import deepcopy
from types import ModuleType
from typing import Any, cast

import numpy as np
import torch
from torch import nn

from randori.errors import UserError
from randori.networks.config import Signature
from randori.networks.lanes import HostArrays, parse_precision
from randori.networks.layers import fold
from randori.networks.planes import unpack_rows


def import_openvino() -> Any:
    """Import OpenVINO with its telemetry shut out; this is the only place that may import it.

    `import openvino` alone reports to a server through the package `openvino_telemetry`. With
    None in its place the import of that package fails, and OpenVINO uses its own empty stub.
    """
    cast(dict[str, ModuleType | None], sys.modules)["openvino_telemetry"] = None
    import openvino

    return openvino


_OPENING = threading.Lock()
_CORES: list[Any] = []


def open_core() -> Any:
    """Return the one `Core` of this process, which lives as long as it does.

    A core gives its thread another stack for signals, and a thread whose cores go in the order in
    which they came is left with memory that is no longer there: the next Ctrl-C is a crash.
    """
    with _OPENING:
        if not _CORES:
            _CORES.append(import_openvino().Core())
        return _CORES[0]


class OpenVinoEvaluator:
    """Judges with a compiled graph that takes any batch size.

    A graph of fixed size is no faster at that size (measured), so one serves full batches,
    partial ones and single positions. `threads` is how many cores to use (all, if None), `streams`
    how many lanes to work on at the same time, each with its share of them.
    """

    def __init__(
        self,
        network: nn.Module,
        signature: Signature,
        precision: str = "auto",
        threads: int | None = None,
        streams: int = 1,
    ) -> None:
        self.openvino = import_openvino()
        self.signature = signature
        self._core = open_core()
        precision = self._supported(precision)
        self.name = f"openvino {precision}"
        self._options: dict[str, Any] = {
            "INFERENCE_PRECISION_HINT": {"fp32": "f32", "bf16": "bf16"}[precision],
            "PERFORMANCE_HINT": "LATENCY",
            "NUM_STREAMS": streams,
            # Pinned threads halve the speed as soon as something else runs on one of the cores.
            "ENABLE_CPU_PINNING": False,
        }
        if threads is not None:
            self._options["INFERENCE_NUM_THREADS"] = threads
        self.template = Template(self.openvino, fold(network).cpu().float(), signature)
        self.load(network)

    def load(self, network: nn.Module) -> None:
        """Take over this network's weights; every lane uses them from its next launch on."""
        folded = fold(network).cpu().float()
        if self.template.is_fillable:
            model = self.template.filled(folded)
        else:
            model = _convert(self.openvino, folded, self.signature, share_weights=False)
        # Lanes look here at every launch; the old graph lives until the last has let go of it.
        self.compiled = self._core.compile_model(model, "CPU", self._options)

    def lane(self, batch: int) -> "OpenVinoLane":
        """Make a new lane of at most `batch` rows."""
        return OpenVinoLane(self, batch)

    def _supported(self, precision: str) -> str:
        has_bf16 = "BF16" in self._core.get_property("CPU", "OPTIMIZATION_CAPABILITIES")
        if precision == "auto":
            return "bf16" if has_bf16 else "fp32"
        parse_precision(precision)
        if precision == "bf16" and not has_bf16:
            raise UserError("this CPU has no bf16 arithmetic; use precision 'fp32' or 'auto'")
        return precision


class Template:
    """A converted graph whose float constants are places for a network's weights."""

    def __init__(self, openvino: Any, folded: nn.Module, signature: Signature) -> None:
        self._openvino = openvino
        # Random weights: conversion merges equal constants and drops additions of zero, both of
        # which a fresh network has. The graph's constants lie in this module's memory.
        self._source = _randomized(folded)
        self._model = _convert(openvino, self._source, signature, share_weights=True)
        names = {tensor.data_ptr(): name for name, tensor in self._source.state_dict().items()}
        self._places = {
            node.friendly_name: names.get(node.data.ctypes.data, "")
            for node in _float_constants(self._model)
        }
        self.is_fillable = sorted(self._places.values()) == sorted(names.values())

    def filled(self, folded: nn.Module) -> Any:
        """A copy of the graph that computes with this network's weights."""
        weights = folded.state_dict()
        model = self._model.clone()
        for node in _float_constants(model):
            weight = weights[self._places[node.friendly_name]].reshape(tuple(node.shape))
            constant = self._openvino.op.Constant(weight.numpy(), shared_memory=False)
            node.output(0).replace(constant.output(0))
        return model


def _convert(openvino: Any, folded: nn.Module, signature: Signature, share_weights: bool) -> Any:
    shape = [signature.planes, signature.height, signature.width]
    # Two rows: tracing one would make its size look like a constant.
    example = torch.zeros(2, *shape)
    model = openvino.convert_model(folded, example_input=example, share_weights=share_weights)
    model.reshape([-1, *shape])
    return model


def _randomized(network: nn.Module) -> nn.Module:
    copy = deepcopy(network)
    generator = torch.Generator().manual_seed(0)
    for tensor in copy.state_dict().values():
        if tensor.is_floating_point():
            tensor.uniform_(generator=generator)  # positive: some networks take a square root
    return copy


def _float_constants(model: Any) -> list[Any]:
    return [
        node
        for node in model.get_ordered_ops()
        if node.get_type_name() == "Constant" and node.data.dtype == np.float32
    ]


class OpenVinoLane(HostArrays):
    """A lane that computes in the background; OpenVINO reads and writes its arrays directly."""

    def __init__(self, evaluator: OpenVinoEvaluator, batch: int) -> None:
        ours = evaluator.signature
        super().__init__(batch, ours)
        self._evaluator = evaluator
        self._planes = np.zeros((batch, ours.planes, ours.height, ours.width), np.float32)
        self._flat_planes = self._planes.reshape(batch, ours.planes, ours.cells)
        self._compiled: Any = None
        self._request: Any = None
        self._bound = 0

    def launch(self, count: int) -> None:
        """Start on rows ``[0, count)``."""
        self.check(count)
        compiled = self._evaluator.compiled
        if compiled is not self._compiled:
            self._compiled, self._request = compiled, compiled.create_infer_request()
            self._bound = 0
        if count != self._bound:
            self._bind(count)
        unpack_rows(self.words, count, self._evaluator.signature.cells, self._flat_planes)
        self._request.start_async()

    def wait(self) -> None:
        """Return once the answers are there."""
        request = getattr(self, "_request", None)  # None too while the lane is being made
        if request is not None:
            request.wait()

    def _bind(self, count: int) -> None:
        tensor = self._evaluator.openvino.Tensor
        self._request.set_input_tensor(tensor(self._planes[:count], shared_memory=True))
        self._request.set_output_tensor(0, tensor(self.logits[:count], shared_memory=True))
        self._request.set_output_tensor(1, tensor(self.values[:count], shared_memory=True))
        self._bound = count
