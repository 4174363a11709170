"""Which runtime judges: the fastest that this machine has, or the one asked for."""

import logging

import torch
from torch import nn

from randori.errors import UserError, nearest
from randori.networks.config import Signature
from randori.networks.cuda_runtime import CudaEvaluator
from randori.networks.lanes import NetworkEvaluator
from randori.networks.openvino_runtime import OpenVinoEvaluator, import_openvino
from randori.networks.torch_runtime import TorchEvaluator

RUNTIMES = ("auto", "cuda", "openvino", "torch")

logger = logging.getLogger(__name__)


def make_evaluator(
    network: nn.Module,
    signature: Signature,
    runtime: str = "auto",
    precision: str = "auto",
    threads: int | None = None,
    streams: int = 1,
) -> NetworkEvaluator:
    """Put a network on a runtime: "cuda", "openvino", "torch", or "auto" for the first it can.

    `precision` is "fp32", "bf16" or "auto": bf16 on CUDA and where OpenVINO finds a CPU made for
    it, else fp32. `threads` and `streams` are OpenVINO's: cores to use, lanes to work on at the
    same time. For torch there is `torch.set_num_threads`.
    """
    runtime = _chosen(runtime)
    if runtime == "cuda":
        precision = "bf16" if precision == "auto" else precision
        return CudaEvaluator(network, signature, precision=precision)
    if runtime == "openvino":
        return OpenVinoEvaluator(network, signature, precision, threads, streams)
    precision = "fp32" if precision == "auto" else precision
    return TorchEvaluator(network, signature, precision=precision)


def expect_runtime(runtime: str) -> None:
    """Raise `UserError` if this machine does not have a runtime."""
    if runtime not in RUNTIMES:
        raise UserError(f"no runtime {runtime!r}: {nearest(runtime, RUNTIMES)}")
    if runtime == "cuda" and not torch.cuda.is_available():
        raise UserError("runtime 'cuda' needs an NVIDIA GPU that torch can see; use 'auto'")
    if runtime == "openvino" and not has_openvino():
        raise UserError("runtime 'openvino' needs its package: pip install 'randori[openvino]'")


def _chosen(runtime: str) -> str:
    expect_runtime(runtime)
    if runtime != "auto":
        return runtime
    if torch.cuda.is_available():
        return "cuda"
    if has_openvino():
        return "openvino"
    logger.warning(
        "OpenVINO is not installed, so networks run on torch, which is slower; "
        "pip install 'randori[openvino]'"
    )
    return "torch"


def has_openvino() -> bool:
    """Whether OpenVINO is there and in working order."""
    try:
        import_openvino()
    except ImportError:
        return False
    return True
