"""Agents under the lamp: a study is one agent's search of one position, and can go on."""

import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Protocol

from randori.explorer.view import View
from randori.games.position import Position


class Study(Protocol):
    """One agent's search of one position."""

    @property
    def spent(self) -> int:
        """How much was run."""

    def run(self, amount: int) -> None:
        """Search on."""

    def look(self, path: Sequence[int]) -> View:
        """Tell what is known after these actions."""


class Engine(Protocol):
    """An agent that can be studied."""

    spec: str
    unit: str
    """what `run` counts"""
    usual: int
    """how much the agent itself would run; 0 where looking is enough"""

    def study(self, position: Position) -> Study:
        """Start on a position."""

    def first_sight(self, position: Position) -> View:
        """Tell what the network says without search; a `UserError` where there is none."""


@contextmanager
def stoppable() -> Iterator[Callable[[], bool]]:
    """Let Ctrl-C end a search between two simulations, instead of tearing one apart."""
    stopped = False

    def stop(number: int, frame: FrameType | None) -> None:
        nonlocal stopped
        stopped = True

    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    before = signal.signal(signal.SIGINT, stop)
    try:
        yield lambda: stopped
    finally:
        signal.signal(signal.SIGINT, before)


def follow(position: Position, path: Sequence[int]) -> Position:
    """Play actions one after the other."""
    for action in path:
        position = position.play(action)
    return position
