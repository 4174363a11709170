"""The rows of a run on disk: a shard with every checkpoint, deleted when no longer needed."""

from dataclasses import fields
from pathlib import Path

import numpy as np

from randori.learners.yields import Rows
from randori.runs.shards import drop_shards, write_shard


class RowLog:
    """Rows that wait for the next checkpoint, and the shards that earlier ones wrote."""

    def __init__(self, folder: Path, window: int) -> None:
        self._folder = folder
        self._window = window
        self._fresh: list[Rows] = []
        self.shards: list[tuple[int, int]] = []
        """(number, rows) of each shard that is needed, oldest first"""

    @property
    def is_fresh(self) -> bool:
        """Whether there are rows that no shard holds yet."""
        return bool(self._fresh)

    def add(self, rows: Rows) -> None:
        """Keep rows for the next shard."""
        if len(rows):
            self._fresh.append(rows)

    def write(self, number: int) -> None:
        """Write the waiting rows as shard `number`."""
        if self._fresh:
            arrays = {
                part.name: np.concatenate([getattr(rows, part.name) for rows in self._fresh])
                for part in fields(Rows)
            }
            write_shard(self._folder, number, arrays)
            self.shards.append((number, len(arrays["results"])))
            self._fresh = []
            self._forget()

    def _forget(self) -> None:
        """Leave out shards that neither the next checkpoint nor the one before it can need."""
        covered = 0
        for number, rows in reversed(self.shards[:-1]):
            if covered >= self._window:
                self.shards = [shard for shard in self.shards if shard[0] > number]
                return
            covered += rows

    def prune(self) -> None:
        """Delete the shards that were left out, once a checkpoint says that they are."""
        if self.shards:
            drop_shards(self._folder, before=self.shards[0][0])
