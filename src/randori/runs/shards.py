"""Replay shards: the rows of self-play in numbered npz files, so that a resumed run has its window.

The order that survives a kill: write shards, then the checkpoint that names the last of them, then
drop what is older than the window. A resume drops the shards after the checkpoint it starts from.
"""

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from randori.errors import UserError
from randori.runs import atomic
from randori.runs.folder import numbered
from randori.runs.formats import Arrays, npz_bytes, read_npz

_log = logging.getLogger(__name__)

WINDOW_PACE = 0.4
"""How fast a growing window grows at first, in rows a row (KataGo's figure)."""


def window_after(rows: float, window: int, first: int) -> int:
    """Return how many of the newest of so many rows are learnt from; `first` of 0 never grows."""
    if not first:
        return window
    grown = first * (1 + WINDOW_PACE * ((rows / first) ** 0.75 - 1) / 0.75)
    return int(min(window, max(first, grown)))


def write_shard(folder: Path, number: int, arrays: Arrays) -> Path:
    """Write `replay/NUMBER.npz`; every array has rows along axis 0."""
    path = _replay(folder) / f"{number:06d}.npz"
    with atomic.explained(path):
        path.parent.mkdir(exist_ok=True)
    atomic.write_bytes(path, npz_bytes(arrays))
    return path


def shard_numbers(folder: Path) -> list[int]:
    """Return the numbers of the shards that are there, lowest first."""
    return list(numbered(_replay(folder), ".npz"))


def read_shards(
    folder: Path,
    upto: int,
    newest_rows: int,
    rows_key: str,
    since: Mapping[str, np.generic] | None = None,
) -> dict[str, NDArray[Any]]:
    """Join the newest shards numbered at most `upto`, in order, until they hold `newest_rows`.

    The rows of a shard are those of its array `rows_key`. Shards are taken whole, so that more
    rows may come than were asked for. A damaged one, or one whose arrays differ from the newest
    one's, is skipped with a warning: training goes on with a smaller window. No shard, no arrays.
    `since` has what stands in the arrays that shards of older versions lack.
    """
    taken: list[dict[str, NDArray[Any]]] = []
    rows = 0
    for number, path in reversed(numbered(_replay(folder), ".npz").items()):
        if number > upto or rows >= newest_rows:
            continue
        try:
            shard = read_npz(path)
            for name, entry in (since or {}).items():
                if name not in shard and rows_key in shard:
                    shard[name] = np.full(len(shard[rows_key]), entry)
            if rows_key not in shard or (taken and _kinds(shard) != _kinds(taken[0])):
                raise UserError(f"{path} holds other arrays than the newest shard")
        except UserError as error:
            _log.warning("skipping a replay shard: %s", error)
            continue
        taken.append(shard)
        rows += len(shard[rows_key])
    names = taken[0] if taken else {}
    return {name: np.concatenate([shard[name] for shard in reversed(taken)]) for name in names}


def drop_shards(folder: Path, after: int | None = None, before: int | None = None) -> None:
    """Remove the shards numbered above `after`, and those below `before`.

    Keep what the second newest checkpoint needs: it is the one to resume from if the newest is
    damaged.
    """
    shards = numbered(_replay(folder), ".npz")
    late = [n for n in reversed(shards) if after is not None and n > after]
    early = [n for n in shards if before is not None and n < before]
    # From the outside inwards, so that a kill leaves no gap.
    for number in late + early:
        with atomic.explained(shards[number]):
            shards[number].unlink(missing_ok=True)
    if late or early:
        atomic.sync_folder(_replay(folder))


def _replay(folder: Path) -> Path:
    return folder / "replay"


def _kinds(shard: Arrays) -> dict[str, tuple[object, ...]]:
    return {name: (array.dtype, *array.shape[1:]) for name, array in shard.items()}
