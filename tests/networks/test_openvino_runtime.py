"""What is particular to OpenVINO: no telemetry, its stack for signals, and two ways to load."""

import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import nn

from randori.errors import UserError
from randori.networks import NetworkConfig, Signature
from randori.networks.build import KINDS, build
from randori.networks.choose import has_openvino
from randori.networks.lanes import evaluate
from randori.networks.layers import fold
from randori.networks.openvino_runtime import (
    OpenVinoEvaluator,
    Template,
    import_openvino,
    open_core,
)
from randori.networks.planes import unpack
from randori.networks.torch_runtime import TorchEvaluator

Build = Callable[..., nn.Module]
Draw = Callable[..., NDArray[np.uint64]]

pytestmark = pytest.mark.skipif(not has_openvino(), reason="no OpenVINO")

CONNECT4 = Signature(2, 6, 7, (7,))

FORGET_AND_INTERRUPT = """
import gc, signal
from randori.networks import NetworkConfig, Signature
from randori.networks.build import build
from randori.networks.openvino_runtime import OpenVinoEvaluator
signature = Signature(1, 3, 3, (9,))
network = build(NetworkConfig(kind="mlp"), signature)
evaluators = [OpenVinoEvaluator(network, signature) for _ in range(2)]
while evaluators:
    del evaluators[0]
    gc.collect()
try:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.raise_signal(signal.SIGINT)
except KeyboardInterrupt:
    print("interrupted")
"""

CONVERT_AND_REPORT = """
import sys
from randori.networks import NetworkConfig, Signature
from randori.networks.build import build
from randori.networks.openvino_runtime import OpenVinoEvaluator
signature = Signature(1, 3, 3, (9,))
OpenVinoEvaluator(build(NetworkConfig(kind="mlp"), signature), signature)
from openvino.tools.ovc import convert_impl, telemetry_utils, utils
loaded = [name for name, module in sys.modules.items()
          if name.split(".")[0] == "openvino_telemetry" and module is not None]
used = {module.tm.__name__ for module in (convert_impl, telemetry_utils, utils)}
print(loaded, used)
"""


def test_telemetry_is_never_loaded() -> None:
    done = subprocess.run(
        [sys.executable, "-c", CONVERT_AND_REPORT], check=True, capture_output=True, text=True
    )
    assert done.stdout.strip() == "[] {'openvino.tools.ovc.telemetry_stub'}"


def test_ctrl_c_after_networks_were_let_go() -> None:
    """In another process: without its stack for signals it dies."""
    done = subprocess.run(
        [sys.executable, "-c", FORGET_AND_INTERRUPT], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout.strip()) == (0, "interrupted"), done.stderr


@pytest.mark.parametrize("kind", KINDS)
def test_our_networks_load_without_conversion(kind: str) -> None:
    signature = Signature(8, 4, 4, (64, 8, 2, 64))
    # Fresh, so that every bias is zero: equal weights must not be taken for one.
    network = build(NetworkConfig(kind=kind, blocks=2, channels=16), signature)
    assert Template(import_openvino(), fold(network), signature).is_fillable


def test_a_fresh_network_gives_way_to_a_trained_one(seasoned: Build, random_words: Draw) -> None:
    network = build(NetworkConfig(blocks=2, channels=16, policy_channels=8, hidden=24), CONNECT4)
    evaluator = OpenVinoEvaluator(network, CONNECT4, precision="fp32")
    trained = seasoned(CONNECT4, 2)
    evaluator.load(trained)
    words = random_words(CONNECT4, 4)
    found = evaluate(evaluator, words)
    expected = evaluate(TorchEvaluator(trained, CONNECT4), words)
    np.testing.assert_allclose(found[0], expected[0], rtol=0, atol=2e-5)
    np.testing.assert_allclose(found[1], expected[1], rtol=0, atol=2e-5)


def test_making_an_evaluator_draws_no_random_numbers(seasoned: Build) -> None:
    network = seasoned(CONNECT4, 1)
    before = torch.get_rng_state()
    OpenVinoEvaluator(network, CONNECT4)
    assert torch.equal(torch.get_rng_state(), before)


class Foreign(nn.Module):
    """A network that `fold` cannot fold, so that OpenVINO computes with its weights."""

    def __init__(self) -> None:
        super().__init__()
        self.trunk = nn.Sequential(
            nn.Conv2d(2, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten()
        )
        self.scale = nn.Parameter(torch.rand(7, 168))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        features = self.trunk(x)
        return features @ (self.scale * 0.5).T, torch.tanh(features.mean(1))


def test_a_foreign_network_loads_all_the_same(random_words: Draw) -> None:
    torch.manual_seed(0)
    first, second = Foreign(), Foreign()
    evaluator = OpenVinoEvaluator(first, CONNECT4, precision="fp32")
    assert not evaluator.template.is_fillable
    words = random_words(CONNECT4, 4)
    planes = unpack(torch.from_numpy(words.view(np.int64)), CONNECT4)
    for network in (second, first):
        evaluator.load(network)
        expected = network.eval()(planes)[0].detach().numpy()
        np.testing.assert_allclose(evaluate(evaluator, words)[0], expected, atol=2e-5)


def test_bf16_is_used_where_the_cpu_has_it_and_refused_elsewhere(seasoned: Build) -> None:
    network = seasoned(CONNECT4, 1)
    capabilities = open_core().get_property("CPU", "OPTIMIZATION_CAPABILITIES")
    auto = OpenVinoEvaluator(network, CONNECT4)
    if "BF16" in capabilities:
        assert auto.name == "openvino bf16"
    else:
        assert auto.name == "openvino fp32"
        with pytest.raises(UserError, match="no bf16"):
            OpenVinoEvaluator(network, CONNECT4, precision="bf16")


def test_threads_and_streams_reach_the_runtime(seasoned: Build) -> None:
    evaluator = OpenVinoEvaluator(seasoned(CONNECT4, 1), CONNECT4, threads=1, streams=1)
    assert evaluator.compiled.get_property("INFERENCE_NUM_THREADS") == 1
    assert evaluator.compiled.get_property("NUM_STREAMS") == 1
