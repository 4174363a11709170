"""Packed words to planes, where the network runs: 64 cells travel as 8 bytes.

Plane p lies in words ``[p * wpp, (p + 1) * wpp)``, wpp = `Signature.words_per_plane`; its cell
``c = row * width + column`` is bit ``c % 64`` of word ``c // 64``. Bits past the last cell are
ignored.
"""

from collections.abc import Callable

import numpy as np
import torch
from numba import njit
from numpy.typing import NDArray
from torch import Tensor

from randori.networks.config import Signature


def unpack(words: Tensor, signature: Signature, dtype: torch.dtype = torch.float32) -> Tensor:
    """Unpack int64 words [B, W] to planes [B, C, H, W] in channels-last order, on their device."""
    # By bytes, so that the intermediate tensors are an eighth of what int64 shifts would make.
    # Lowest byte first: torch runs on no big-endian machine that has a network to feed.
    octets = words.view(torch.uint8).view(-1, signature.planes, signature.words_per_plane * 8, 1)
    shifts = torch.arange(8, dtype=torch.uint8, device=words.device)
    bits = (octets >> shifts).bitwise_and_(1).flatten(2)[:, :, : signature.cells]
    planes = bits.reshape(-1, signature.planes, signature.height, signature.width)
    return planes.to(dtype, memory_format=torch.channels_last)


def _unpack_rows(
    words: NDArray[np.uint64], count: int, cells: int, planes: NDArray[np.float32]
) -> None:
    num_planes = planes.shape[1]
    words_per_plane = words.shape[1] // num_planes
    for row in range(count):
        for plane in range(num_planes):
            for index in range(words_per_plane):
                word = words[row, plane * words_per_plane + index]
                first = index * 64
                for bit in range(min(64, cells - first)):
                    planes[row, plane, first + bit] = (word >> np.uint64(bit)) & np.uint64(1)


unpack_rows: Callable[[NDArray[np.uint64], int, int, NDArray[np.float32]], None] = njit(
    cache=True, nogil=True
)(_unpack_rows)
"""Unpack rows ``[0, count)`` of words [B, W] into float planes [B, C, cells]."""
