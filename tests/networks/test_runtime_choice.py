"""The runtime is the best there is, or the one asked for, or an error that says what to do."""

import logging
import sys
from collections.abc import Callable

import pytest
import torch
from torch import nn

from randori.errors import UserError
from randori.networks import Signature
from randori.networks.choose import has_openvino, make_evaluator

Build = Callable[..., nn.Module]

CONNECT4 = Signature(2, 6, 7, (7,))


@pytest.fixture
def network(seasoned: Build) -> nn.Module:
    return seasoned(CONNECT4, 1)


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)


@pytest.fixture
def no_openvino(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openvino", None)


def test_unknown_runtime_names_the_nearest(network: nn.Module) -> None:
    with pytest.raises(UserError, match="did you mean 'openvino'"):
        make_evaluator(network, CONNECT4, "openvno")


def test_unknown_precision_names_the_nearest(network: nn.Module) -> None:
    for runtime in ("torch", "openvino") if has_openvino() else ("torch",):
        with pytest.raises(UserError, match="did you mean 'bf16'"):
            make_evaluator(network, CONNECT4, runtime, precision="bf1")


@pytest.mark.usefixtures("no_gpu")
def test_cuda_without_a_gpu_says_what_to_do(network: nn.Module) -> None:
    with pytest.raises(UserError, match="use 'auto'"):
        make_evaluator(network, CONNECT4, "cuda")


@pytest.mark.usefixtures("no_openvino")
def test_openvino_without_the_package_says_what_to_do(network: nn.Module) -> None:
    with pytest.raises(UserError, match="pip install"):
        make_evaluator(network, CONNECT4, "openvino")


@pytest.mark.usefixtures("no_gpu", "no_openvino")
def test_auto_falls_back_to_torch_with_one_notice(
    network: nn.Module, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        evaluator = make_evaluator(network, CONNECT4)
    assert evaluator.name == "torch cpu fp32"
    assert len(caplog.records) == 1


@pytest.mark.usefixtures("no_gpu")
@pytest.mark.skipif(not has_openvino(), reason="no OpenVINO")
def test_auto_takes_openvino_on_a_cpu(network: nn.Module, caplog: pytest.LogCaptureFixture) -> None:
    assert make_evaluator(network, CONNECT4).name.startswith("openvino")
    assert not caplog.records


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_auto_takes_the_gpu(network: nn.Module) -> None:
    assert make_evaluator(network, CONNECT4).name == "cuda bf16"
