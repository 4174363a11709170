"""Every runtime keeps the evaluator seam's promises and gives the network's own answers.

Tolerance against torch in fp32 on the CPU: 2e-5 for an fp32 runtime (5e-3 on CUDA, where torch's
fp32 convolutions round their inputs to TF32), 0.06 for a bf16 one (8 bits of mantissa through some
six layers, logits of size one).
"""

import threading
from collections.abc import Callable, Iterable

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import nn

from randori.networks import Signature
from randori.networks.build import KINDS
from randori.networks.choose import has_openvino, make_evaluator
from randori.networks.lanes import NetworkEvaluator, evaluate
from randori.networks.planes import unpack
from randori.search.evaluator import Lane

Build = Callable[..., nn.Module]
Draw = Callable[..., NDArray[np.uint64]]
Floats = NDArray[np.float32]
Answers = tuple[Floats, Floats]

CONNECT4 = Signature(2, 6, 7, (7,))
NO_GPU = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
NO_OPENVINO = pytest.mark.skipif(not has_openvino(), reason="no OpenVINO")


@pytest.fixture(
    params=[
        "torch",
        pytest.param("openvino", marks=NO_OPENVINO),
        pytest.param("cuda", marks=NO_GPU),
    ]
)
def runtime(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def answers(network: nn.Module, words: NDArray[np.uint64], signature: Signature) -> Answers:
    planes = unpack(torch.from_numpy(words.view(np.int64)), signature)
    with torch.inference_mode():
        logits, values = network.eval()(planes)
    return logits.numpy(), values.numpy()


def tolerance(evaluator: NetworkEvaluator) -> float:
    if evaluator.name.endswith("bf16"):
        return 0.06
    return 5e-3 if evaluator.name.startswith("cuda") else 2e-5


def close(
    found: Iterable[Floats],
    expected: Iterable[Floats],
    evaluator: NetworkEvaluator,
) -> bool:
    return all(
        np.allclose(a, b, rtol=0, atol=tolerance(evaluator))
        for a, b in zip(found, expected, strict=True)
    )


def judge(lane: Lane, words: NDArray[np.uint64]) -> Answers:
    lane.words[: len(words)] = words
    lane.launch(len(words))
    lane.wait()
    return lane.logits[: len(words)].copy(), lane.values[: len(words)].copy()


def test_agrees_with_the_network(
    runtime: str, signature: Signature, seasoned: Build, random_words: Draw
) -> None:
    network = seasoned(signature, 1)
    words = random_words(signature, 6)
    evaluator = make_evaluator(network, signature, runtime)
    assert close(evaluate(evaluator, words), answers(network, words, signature), evaluator)


def test_agrees_closely_in_fp32(runtime: str, seasoned: Build, random_words: Draw) -> None:
    network = seasoned(CONNECT4, 1)
    words = random_words(CONNECT4, 6)
    evaluator = make_evaluator(network, CONNECT4, runtime, precision="fp32")
    assert tolerance(evaluator) < 0.06
    assert close(evaluate(evaluator, words), answers(network, words, CONNECT4), evaluator)


def test_torch_in_bf16_agrees_loosely(seasoned: Build, random_words: Draw) -> None:
    network = seasoned(CONNECT4, 1)
    words = random_words(CONNECT4, 6)
    exact = answers(network, words, CONNECT4)
    evaluator = make_evaluator(network, CONNECT4, "torch", "bf16")
    found = evaluate(evaluator, words)
    assert close(found, exact, evaluator)
    assert np.abs(found[0] - exact[0]).max() > 2e-5  # it did compute in bf16


def test_a_lane_has_the_seams_arrays(runtime: str, seasoned: Build) -> None:
    signature = Signature(3, 9, 9, (5, 4))
    lane = make_evaluator(seasoned(signature, 1), signature, runtime).lane(5)
    assert lane.states.shape == (5, 0), "a network looks at planes"
    assert lane.words.shape == (5, signature.num_words)
    assert lane.logits.shape == (5, signature.num_logits)
    assert lane.values.shape == (5,)
    assert {lane.states.dtype, lane.words.dtype} == {np.dtype(np.uint64)}
    assert {lane.logits.dtype, lane.values.dtype} == {np.dtype(np.float32)}


def test_partial_batches(runtime: str, seasoned: Build, random_words: Draw) -> None:
    network = seasoned(CONNECT4, 1)
    evaluator = make_evaluator(network, CONNECT4, runtime)
    lane = evaluator.lane(16)
    words = random_words(CONNECT4, 16)
    expected = answers(network, words, CONNECT4)
    # Up, down and up again: a runtime that binds a size must bind it anew.
    for count in (5, 16, 1, 16, 3):
        found = judge(lane, words[:count])
        assert close(found, [part[:count] for part in expected], evaluator)


@pytest.mark.parametrize("count", [-1, 0, 5])
def test_counts_that_do_not_fit_are_refused(runtime: str, seasoned: Build, count: int) -> None:
    lane = make_evaluator(seasoned(CONNECT4, 1), CONNECT4, runtime).lane(4)
    with pytest.raises(ValueError, match="lane of 4"):
        lane.launch(count)


@pytest.mark.parametrize("kind", KINDS)
def test_load_reaches_existing_lanes(
    runtime: str, kind: str, seasoned: Build, random_words: Draw
) -> None:
    networks = [seasoned(CONNECT4, seed, kind) for seed in (1, 2, 3)]
    words = random_words(CONNECT4, 4)
    evaluator = make_evaluator(networks[0], CONNECT4, runtime)
    lane = evaluator.lane(4)
    old = answers(networks[0], words, CONNECT4)
    assert close(judge(lane, words), old, evaluator)
    for network in (networks[1], networks[2], networks[0]):
        evaluator.load(network)
        new = answers(network, words, CONNECT4)
        found = judge(lane, words)
        assert close(found, new, evaluator)
        assert network is networks[0] or not close(found, old, evaluator)


def test_load_copies_the_weights(runtime: str, seasoned: Build, random_words: Draw) -> None:
    network = seasoned(CONNECT4, 1)
    words = random_words(CONNECT4, 4)
    evaluator = make_evaluator(network, CONNECT4, runtime)
    evaluator.load(network)
    lane = evaluator.lane(4)
    before = judge(lane, words)
    with torch.no_grad():
        for weight in network.parameters():
            weight.add_(0.1)
    np.testing.assert_array_equal(judge(lane, words)[0], before[0])


def test_two_lanes_in_flight(runtime: str, seasoned: Build, random_words: Draw) -> None:
    network = seasoned(CONNECT4, 1)
    evaluator = make_evaluator(network, CONNECT4, runtime)
    batches = [random_words(CONNECT4, 8, seed) for seed in (1, 2)]
    lanes = [evaluator.lane(8), evaluator.lane(8)]
    for lane, words in zip(lanes, batches, strict=True):
        lane.words[:] = words
        lane.launch(8)
    for lane, words in zip(lanes, batches, strict=True):
        lane.wait()
        expected = answers(network, words, CONNECT4)
        assert close((lane.logits, lane.values), expected, evaluator)


def test_repeatable_bit_for_bit(runtime: str, seasoned: Build, random_words: Draw) -> None:
    network = seasoned(CONNECT4, 1)
    words = random_words(CONNECT4, 64)
    evaluator = make_evaluator(network, CONNECT4, runtime)
    lane = evaluator.lane(64)
    first = judge(lane, words)
    judge(lane, random_words(CONNECT4, 9, seed=5))
    other = make_evaluator(network, CONNECT4, runtime)
    other.load(network)
    for again in (judge(lane, words), evaluate(evaluator, words), evaluate(other, words)):
        np.testing.assert_array_equal(again[0], first[0])
        np.testing.assert_array_equal(again[1], first[1])


def test_no_batch_sees_half_of_a_load(runtime: str, seasoned: Build, random_words: Draw) -> None:
    networks = [seasoned(CONNECT4, seed) for seed in (1, 2)]
    words = random_words(CONNECT4, 32)
    evaluator = make_evaluator(networks[0], CONNECT4, runtime)
    lane = evaluator.lane(32)
    whole = []
    for network in networks:
        evaluator.load(network)
        whole.append(judge(lane, words)[0].tobytes())
    assert whole[0] != whole[1]

    def load_in_turn() -> None:
        for turn in range(8):
            evaluator.load(networks[turn % 2])

    learner = threading.Thread(target=load_in_turn)
    learner.start()
    seen = set()
    while learner.is_alive():
        seen.add(judge(lane, words)[0].tobytes())
    learner.join()
    assert seen <= set(whole)
    assert judge(lane, words)[0].tobytes() == whole[1]
