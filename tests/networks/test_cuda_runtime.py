"""What is particular to CUDA graphs; the seam itself is checked in test_evaluators."""

import threading
from collections.abc import Callable
from dataclasses import replace
from itertools import chain

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import nn

from randori.networks import Signature
from randori.networks.compact import Compactor
from randori.networks.cuda_runtime import CudaEvaluator, graph_sizes
from randori.networks.lanes import evaluate
from randori.networks.planes import unpack

Build = Callable[..., nn.Module]
Draw = Callable[..., NDArray[np.uint64]]

CONNECT4 = Signature(2, 6, 7, (7,))
MANY = Signature(2, 6, 7, (100, 200))
MARKED = replace(
    MANY, marks=(*np.sort(np.arange(100) % 42), *np.sort(np.arange(200) % 84)),
    most_marked=(80, 150), compact_width=240,
)  # fmt: skip
needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")


def test_graph_sizes_go_down_to_one() -> None:
    assert graph_sizes(4096) == [4096, 1024, 256, 64, 16, 4, 1]
    assert graph_sizes(6) == [6, 2, 1]
    assert graph_sizes(1) == [1]


@needs_gpu
def test_lane_arrays_are_pinned(seasoned: Build) -> None:
    lane = CudaEvaluator(seasoned(CONNECT4, 1), CONNECT4).lane(8)
    for array in (lane.words.view(np.int64), lane.logits, lane.values):
        assert torch.from_numpy(array).is_pinned()


@needs_gpu
def test_load_keeps_the_weights_in_place(seasoned: Build) -> None:
    evaluator = CudaEvaluator(seasoned(CONNECT4, 1), CONNECT4)
    before = [weight.data_ptr() for weight in evaluator.network.parameters()]
    evaluator.load(seasoned(CONNECT4, 2).cuda())
    assert [weight.data_ptr() for weight in evaluator.network.parameters()] == before


@needs_gpu
def test_many_threads_with_two_lanes_each(seasoned: Build, random_words: Draw) -> None:
    evaluator = CudaEvaluator(seasoned(CONNECT4, 1), CONNECT4)
    found: dict[int, list[tuple[NDArray[np.uint64], NDArray[np.float32]]]] = {}

    def work(thread: int) -> None:
        # Threads make their lanes while others already launch theirs.
        batches = [random_words(CONNECT4, 256, seed=2 * thread + side) for side in (0, 1)]
        lanes = [evaluator.lane(256), evaluator.lane(256)]
        for _ in range(20):
            for lane, words in zip(lanes, batches, strict=True):
                lane.words[:] = words
                lane.launch(256)
            for lane in lanes:
                lane.wait()
        found[thread] = [(words, lane.logits) for words, lane in zip(batches, lanes, strict=True)]

    threads = [threading.Thread(target=work, args=(thread,)) for thread in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 6
    for words, logits in chain.from_iterable(found.values()):
        np.testing.assert_array_equal(evaluate(evaluator, words)[0], logits)


@needs_gpu
@pytest.mark.parametrize("signature", [MANY, MARKED], ids=["all", "marked"])
@pytest.mark.parametrize("count", [64, 13, 1])
def test_many_logits_come_as_bytes(
    seasoned: Build, random_words: Draw, count: int, signature: Signature
) -> None:
    evaluator = CudaEvaluator(seasoned(signature, 1), signature)
    words = random_words(signature, 64)
    lane = evaluator.compact_lane(64)
    lane.words[:] = words
    lane.launch(count)
    lane.wait()
    assert torch.from_numpy(lane.logits).is_pinned()
    wide = evaluator.lane(64)
    wide.words[:] = words
    wide.launch(count)
    wide.wait()
    planes = unpack(torch.from_numpy(words[:count].view(np.int64)), signature)
    compactor = Compactor(signature, torch.device("cpu"))
    expected = compactor(torch.from_numpy(wide.logits[:count]), planes).numpy()
    assert lane.logits.dtype == np.uint8
    np.testing.assert_array_equal(lane.logits[:count], expected)
    np.testing.assert_array_equal(lane.values[:count], wide.values[:count])
    assert expected.max() > 2


@needs_gpu
def test_more_marks_than_may_be_spoil_nothing_else(seasoned: Build) -> None:
    evaluator = CudaEvaluator(seasoned(MARKED, 1), MARKED)
    values = []
    for lane in (evaluator.compact_lane(8), evaluator.lane(8)):
        lane.words[:] = np.uint64(2**64 - 1)
        lane.launch(8)
        lane.wait()
        values.append(lane.values.copy())
    np.testing.assert_array_equal(*values)


@needs_gpu
def test_few_logits_stay_as_they_are(seasoned: Build) -> None:
    assert CudaEvaluator(seasoned(CONNECT4, 1), CONNECT4).compact_lane(4).logits.dtype == np.float32
