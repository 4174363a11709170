"""Lines that come while a search runs: a thread reads them, so that thinking can notice the next.

What any protocol of lines needs; the words in them are its own affair.
"""

import os
from collections.abc import Iterable, Iterator
from queue import Empty, Queue
from threading import Thread

INTERRUPT = "# interrupt"
"""The comment by which GoGui asks a program to cut its thinking short."""


class Lines:
    """The lines of a stream, in order; after its end there are no more."""

    def __init__(self, stream: Iterable[bytes]) -> None:
        self._queue: Queue[str | None] = Queue()
        self._next: list[str | None] = []
        self._num_read = self._num_taken = self._num_hurried = 0
        Thread(target=self._read, args=(stream,), daemon=True).start()

    def take(self) -> str | None:
        """Wait for a line and return it; None at the end of the stream."""
        line = self._next.pop() if self._next else self._queue.get()
        self._num_taken += 1
        return line

    def arrives_within(self, seconds: float | None) -> bool:
        """Wait for at most that long, or without end; tell whether there is a line, or the end."""
        if not self._next:
            try:
                wait = seconds is None or seconds > 0
                self._next.append(self._queue.get(block=wait, timeout=seconds if wait else None))
            except Empty:
                return False
        return True

    @property
    def is_hurried(self) -> bool:
        """Whether thinking should end: the client said so behind the line that was taken last.

        Lines are counted, for the word may come before anybody has started on its line.
        """
        return 0 < self._num_taken <= self._num_hurried

    def _read(self, stream: Iterable[bytes]) -> None:
        try:
            for data in stream:
                line = data.decode(errors="replace")
                if line.strip() == INTERRUPT:
                    self._num_hurried = self._num_read
                else:
                    self._num_read += 1
                    self._queue.put(line)
        finally:
            self._queue.put(None)


def lines_of(descriptor: int) -> Iterator[bytes]:
    """Yield the lines of a file as they come, the last one even without its end.

    A buffered stream would not do: it cannot be closed while a thread waits in it.
    """
    rest = b""
    while data := os.read(descriptor, 1 << 16):
        *whole, rest = (rest + data).split(b"\n")
        yield from whole
    if rest:
        yield rest
