"""Logits as a card sends them to self-play: as bytes, and only those that matter to a position.

`search/byte_logits.py` says why, and reads them.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from randori.networks.config import Signature
from randori.search.evaluator import STEPS

NOTHING = float("-inf")


def to_bytes(logits: Tensor, factors: Sequence[int]) -> Tensor:
    """Write float32 logits [B, P] as bytes (`ByteLane`); what is no number is any byte."""
    # Few operations, because each is a kernel of its own on a card.
    parts = torch.split_with_sizes(logits, factors, 1)
    best = torch.stack([part.amax(1) for part in parts], 1)
    best.mul_(STEPS).add_(0.5)  # half a step: bytes are cut off
    below = torch.empty_like(logits)
    for f, room in enumerate(torch.split_with_sizes(below, factors, 1)):
        torch.sub(best[:, f : f + 1], parts[f], alpha=STEPS, out=room)
    return below.clamp_(max=255).to(torch.uint8)


class Compactor:
    """Writes logits as bytes; where a game marks them, only those that matter to a position.

    Where a logit goes is linear in the bits of the planes: one further for each logit before it
    whose bit is set, and out of the way unless its own is. So one matrix product says it of all.
    """

    def __init__(self, signature: Signature, device: torch.device) -> None:
        self._factors: tuple[int, ...] = signature.factors
        self.width = signature.compact_width or signature.num_logits
        self._is_marked = bool(signature.marks)
        if not self._is_marked:
            return
        rest = self.width - sum(signature.most_marked)  # no run is longer
        *others, last = signature.most_marked
        self._factors = (*others, last + rest)
        marks = np.asarray(signature.marks)
        self._planes = int(marks.max()) // signature.cells + 1  # so many have all the bits
        bits = np.arange(self._planes * signature.cells)[:, None]
        parts = np.split(marks, np.cumsum(signature.factors)[:-1])
        begins = np.cumsum((0, *others))
        away = 1 << self.width.bit_length()  # exact in any precision that a product may have
        moves, origins = [], []
        for begin, part in zip(begins, parts, strict=True):
            before = (bits < part) * np.bincount(part, minlength=len(bits))[:, None]
            within = np.arange(len(part)) - np.searchsorted(part, part)
            moves.append(before - away * (bits == part))
            origins.append(begin + within + away)
        self._moves, self._origins = (
            torch.from_numpy(np.concatenate(tables, -1, dtype=np.float32)).to(device)
            for tables in (moves, origins)
        )
        # Where more is marked than may be (bare rates are those of random planes) runs of two
        # factors meet, but stay in here.
        self._room = away + int(begins.max()) + max(signature.factors)

    def __call__(self, logits: Tensor, planes: Tensor) -> Tensor:
        """Turn float32 logits [B, P] about planes [B, C, H, W] into bytes [B, width]."""
        if not self._is_marked:
            return to_bytes(logits, self._factors)
        bits = planes[:, : self._planes].flatten(1).float()
        places = torch.addmm(self._origins, bits, self._moves).long()
        packed = logits.new_empty(len(logits), self._room)
        matter = packed[:, : self.width].fill_(NOTHING)
        packed.scatter_(1, places, logits)
        return to_bytes(matter, self._factors)
