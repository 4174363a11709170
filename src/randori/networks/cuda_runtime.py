"""The network as captured CUDA graphs: one call launches copy in, unpacking, network, copy out.

Every lane has its own stream, pinned buffers and graphs, so lanes overlap; they share one set of
weights at fixed addresses. `load` writes new weights there, ordered on the device between the
batches before and after it: no batch sees half of each, and no graph is captured again.
"""

import threading
from functools import cached_property
from typing import Any
from weakref import WeakSet

import torch
from torch import nn

from randori.networks.compact import Compactor
from randori.networks.config import Signature
from randori.networks.lanes import HostArrays, parse_precision
from randori.networks.layers import prepare
from randori.networks.planes import unpack

WARM_UP = 3  # runs before a capture, in which libraries choose kernels and allocate workspaces
CAPTURING = threading.Lock()  # torch captures one graph at a time in a process
# Rows from which a waiting thread sleeps. Below, for play, it spins: 80 µs less, but a core burnt.
SLEEPING = 64
MANY_LOGITS = 256  # from so many on they come as bytes, where self-play asks
cuda: Any = torch.cuda  # whose constructors have no annotations


class CudaEvaluator:
    """Judges on an NVIDIA card."""

    def __init__(
        self,
        network: nn.Module,
        signature: Signature,
        device: str = "cuda",
        precision: str = "bf16",
    ) -> None:
        self.name = f"cuda {precision}"
        self.signature = signature
        self.dtype = parse_precision(precision)
        index = torch.device(device).index
        self.device = torch.device("cuda", torch.cuda.current_device() if index is None else index)
        self.network = prepare(network, self.device, self.dtype)
        self.order = threading.Lock()  # held while work is enqueued, never while it runs
        self.loaded: torch.cuda.Event = cuda.Event()  # the last load has reached the weights
        self.loaded.record(torch.cuda.current_stream(self.device))
        self._lanes: WeakSet[CudaLane] = WeakSet()

    def load(self, network: nn.Module) -> None:
        """Take over this network's weights; every lane uses them from its next launch on."""
        weights = prepare(network, self.device, self.dtype).state_dict()
        stream = torch.cuda.current_stream(self.device)
        with self.order, torch.cuda.device(self.device):
            for lane in self._lanes:
                stream.wait_event(lane.done)
            self.network.load_state_dict(weights)
            self.loaded.record(stream)

    def lane(self, batch: int) -> "CudaLane":
        """Make a new lane of at most `batch` rows; this captures its graphs.

        Meanwhile other threads may launch and load, but not wait for the whole device.
        """
        return self._add(CudaLane(self, batch))

    def compact_lane(self, batch: int) -> "CudaLane":
        """Make a new lane whose logits are bytes where there are many, as `lane` makes others."""
        many = self.signature.num_logits >= MANY_LOGITS
        return self._add(CudaLane(self, batch, self._compactor if many else None))

    @cached_property
    def _compactor(self) -> Compactor:
        """Shared by all lanes of bytes: it holds nothing but tables."""
        return Compactor(self.signature, self.device)

    def _add(self, lane: "CudaLane") -> "CudaLane":
        with self.order:
            self._lanes.add(lane)
        return lane


class CudaLane(HostArrays):
    """A lane with a stream and a graph for each of a few batch sizes."""

    def __init__(
        self, evaluator: CudaEvaluator, batch: int, compactor: Compactor | None = None
    ) -> None:
        said = torch.uint8 if compactor else torch.float32
        width = compactor.width if compactor else None
        super().__init__(batch, evaluator.signature, pinned=True, said=said, width=width)
        self._evaluator = evaluator
        self._compactor = compactor
        self._device_words = torch.zeros_like(self.words_tensor, device=evaluator.device)
        self._stream: torch.cuda.Stream = cuda.Stream(evaluator.device)
        # The last launch has filled the pinned outputs.
        self.done: torch.cuda.Event = cuda.Event(blocking=batch >= SLEEPING)
        self._stream.wait_stream(torch.cuda.current_stream(evaluator.device))
        self._graphs: dict[int, torch.cuda.CUDAGraph] = {}
        for size in graph_sizes(batch):
            self._graphs[size] = self._capture(size)
        self.done.record(self._stream)

    def launch(self, count: int) -> None:
        """Start on rows ``[0, count)``; runs the smallest captured size that holds them."""
        self.check(count)
        graph = self._graphs[min(size for size in self._graphs if size >= count)]
        with self._evaluator.order, torch.cuda.stream(self._stream):
            self._stream.wait_event(self._evaluator.loaded)
            graph.replay()
            self.done.record(self._stream)

    def wait(self) -> None:
        """Return once the answers are there."""
        if hasattr(self, "done"):  # not yet while the lane is being made
            self.done.synchronize()

    def _capture(self, size: int) -> torch.cuda.CUDAGraph:
        with torch.inference_mode(), torch.cuda.stream(self._stream):
            for _ in range(WARM_UP):
                self._enqueue(size)
        self._stream.synchronize()
        graph = torch.cuda.CUDAGraph()
        # The sizes of one lane never run at the same time, so they may share their memory.
        pool = next(iter(self._graphs.values())).pool() if self._graphs else None
        with CAPTURING, torch.inference_mode(), torch.cuda.stream(self._stream):
            # Not `with torch.cuda.graph(...)`: that waits for the whole device, which fails while
            # another thread captures. "thread_local" lets other threads go on launching.
            graph.capture_begin(pool=pool, capture_error_mode="thread_local")
            try:
                self._enqueue(size)
            finally:
                graph.capture_end()
        return graph

    def _enqueue(self, size: int) -> None:
        ours = self._evaluator
        words = self._device_words[:size]
        words.copy_(self.words_tensor[:size], non_blocking=True)
        planes = unpack(words, ours.signature, ours.dtype)
        logits, values = ours.network(planes)
        if self._compactor is not None:
            logits = self._compactor(logits, planes)
        self.logits_tensor[:size].copy_(logits, non_blocking=True)
        self.values_tensor[:size].copy_(values, non_blocking=True)


def graph_sizes(batch: int) -> list[int]:
    """The batch sizes to capture, largest first: each a quarter of the one before."""
    sizes = [batch]
    while sizes[-1] > 1:
        sizes.append(-(-sizes[-1] // 4))
    return sizes
