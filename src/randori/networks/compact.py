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
    below = torch.empty_like(logits)
    parts, rooms = (torch.split_with_sizes(whole, factors, 1) for whole in (logits, below))
    for part, room in zip(parts, rooms, strict=True):
        # Few operations over all logits, because each is a kernel of its own on a card.
        best = part.amax(1, keepdim=True).mul_(STEPS).add_(0.5)  # half a step: bytes are cut off
        torch.sub(best, part, alpha=STEPS, out=room)
    return below.clamp_(max=255).to(torch.uint8)


class Compactor:
    """Writes logits as bytes; where a game marks them, only those that matter to a position."""

    def __init__(self, signature: Signature, device: torch.device) -> None:
        self._factors: tuple[int, ...] = signature.factors
        self.width = signature.compact_width or signature.num_logits
        self._is_marked = bool(signature.marks)
        if not self._is_marked:
            return
        self._nowhere = room = sum(signature.most_marked)  # behind all that matters
        self._rest = self.width - room  # no run is longer
        *others, last = signature.most_marked
        self._factors = (*others, last + self._rest)
        # What `runs_of` tabulates for the reader, over bits of planes instead of places in words.
        marks = np.asarray(signature.marks)
        parts = np.split(marks, np.cumsum(signature.factors)[:-1])
        self._bits = int(marks.max()) + 1
        lengths = np.stack([np.bincount(part, minlength=self._bits) for part in parts])
        starts = lengths.cumsum(1) - lengths
        ends = np.cumsum(signature.most_marked)[:, None]
        runs = [part + f * self._bits for f, part in enumerate(parts)]
        within = [np.arange(len(part)) - starts[f, part] for f, part in enumerate(parts)]
        tables = (lengths, ends - np.array(signature.most_marked)[:, None] - lengths,
                  ends - lengths, np.concatenate(runs), np.concatenate(within))  # fmt: skip
        self._lengths, self._shifts, self._last, self._runs, self._within = (
            torch.from_numpy(table).to(device) for table in tables
        )

    def __call__(self, logits: Tensor, planes: Tensor) -> Tensor:
        """Turn float32 logits [B, P] about planes [B, C, H, W] into bytes [B, width]."""
        if not self._is_marked:
            return to_bytes(logits, self._factors)
        marked = planes.flatten(1)[:, None, : self._bits] > 0
        starts = (marked * self._lengths).cumsum(2).add_(self._shifts)
        # Where more is marked than may be (the bare rate is that of random planes) it has no room.
        starts.masked_fill_(~marked | (starts > self._last), self._nowhere)
        places = starts.flatten(1).index_select(1, self._runs).add_(self._within)
        packed = logits.new_full((len(logits), self.width), NOTHING).scatter_(1, places, logits)
        packed.narrow(1, self._nowhere, self._rest).fill_(NOTHING)
        return to_bytes(packed, self._factors)
