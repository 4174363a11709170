"""Packed words become the planes that the layout says, on every path."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from randori.networks import Signature
from randori.networks.planes import unpack, unpack_rows

Draw = Callable[..., NDArray[np.uint64]]


def reference(words: NDArray[np.uint64], signature: Signature) -> NDArray[np.float64]:
    planes = np.zeros((len(words), signature.planes, signature.height, signature.width))
    for row, plane, r, c in np.ndindex(planes.shape):
        cell = r * signature.width + c
        word = int(words[row, plane * signature.words_per_plane + cell // 64])
        planes[row, plane, r, c] = word >> (cell % 64) & 1
    return planes


def test_words_of_a_signature() -> None:
    assert Signature(2, 8, 8, (65,)).num_words == 2
    assert Signature(2, 6, 7, (7,)).num_words == 2
    assert Signature(3, 19, 19, (362,)).num_words == 18
    assert Signature(8, 4, 4, (64, 8, 2, 64)).num_logits == 138


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_torch_unpacks_like_the_reference(
    signature: Signature, random_words: Draw, dtype: torch.dtype
) -> None:
    words = random_words(signature, 5)
    planes = unpack(torch.from_numpy(words.view(np.int64)), signature, dtype)
    assert planes.dtype == dtype
    assert planes.is_contiguous(memory_format=torch.channels_last)
    np.testing.assert_array_equal(planes.float().numpy(), reference(words, signature))


@pytest.mark.parametrize("compiled", [True, False])
def test_numba_unpacks_like_the_reference_and_no_row_further(
    signature: Signature, random_words: Draw, compiled: bool
) -> None:
    words = random_words(signature, 5)
    planes = np.full((5, signature.planes, signature.cells), 7, np.float32)
    kernel = unpack_rows if compiled else getattr(unpack_rows, "py_func", unpack_rows)
    kernel(words, 3, signature.cells, planes)
    expected = reference(words, signature).reshape(planes.shape)
    np.testing.assert_array_equal(planes[:3], expected[:3])
    assert (planes[3:] == 7).all()
