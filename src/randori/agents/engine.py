"""A program behind a text protocol: commands in, answers out, and never a wait without an end.

One thread is enough for a program: whoever asks it something also empties its error output, so it
cannot block on that. It runs in a process group of its own, which dies as a whole. On Linux it also
dies with the process that started it, however that ends.
"""

import ctypes
import os
import select
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from queue import SimpleQueue
from time import monotonic

from randori.errors import UserError

GRACE = 1.0
"""Seconds that an answer may be late: a busy machine is not the program's fault."""
PATIENCE = 1.0
"""Seconds to leave after being asked to, and again after being told to."""
GLANCE = 0.1
"""Seconds between two looks at whether the program still lives."""
LONGEST_ANSWER = 1 << 20
KEPT_ERRORS = 4096
"""Bytes of the error output that are kept for its last line."""
PR_SET_PDEATHSIG = 1
"""Linux, <sys/prctl.h>: which signal comes when the parent dies."""


class EngineFailure(Exception):
    """A program that can no longer be used, and why."""


class NotSpoken(EngineFailure):
    """A program that runs, or ended as if all were well, but does not speak the protocol."""


class Refusal(Exception):
    """An answer that begins with ``?``: the program is well but will not do it."""


@dataclass(frozen=True)
class Limit:
    """How long all answers together may take, from now on."""

    seconds: float
    _start: float = field(default_factory=monotonic)

    @property
    def left(self) -> float:
        """Seconds until the last answer is too late."""
        return self._start + self.seconds + GRACE - monotonic()


def find_program(name: str) -> str:
    """Return the path of a program; Debian's games are found even where PATH leaves them out."""
    found = shutil.which(name) or shutil.which(name, path="/usr/games")
    if found is None:
        raise UserError(f"there is no program {name!r}; install it, or give its path")
    return found


def start_program(command: Sequence[str]) -> "subprocess.Popen[bytes]":
    """Start a program that dies with this process.

    Linux takes the thread that starts a program for its parent, so that they are all started by
    one thread, which lives for as long as this process.
    """
    started: Future[subprocess.Popen[bytes]] = Future()
    _starter(os.getpid()).put((command, started))
    return started.result()


@cache
def _starter(pid: int) -> "SimpleQueue[tuple[Sequence[str], Future[subprocess.Popen[bytes]]]]":
    """Return the orders of the thread that starts programs; a fork has none of its parent's."""
    orders: SimpleQueue[tuple[Sequence[str], Future[subprocess.Popen[bytes]]]] = SimpleQueue()

    def serve() -> None:
        while True:
            command, started = orders.get()
            try:
                program = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                    bufsize=0, start_new_session=True, preexec_fn=_last_wish(pid),
                )  # fmt: skip
                started.set_result(program)
                del program
            except Exception as error:
                started.set_exception(error)
            del command, started

    threading.Thread(target=serve, name="engines", daemon=True).start()
    return orders


def _last_wish(parent: int) -> Callable[[], None] | None:
    """Return what a new program does first: ask to be killed when its parent dies."""
    if sys.platform != "linux":
        return None
    prctl = ctypes.CDLL(None).prctl  # found before the fork: nothing is loaded after it

    def wish() -> None:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:  # which died before it could be asked
            os._exit(1)

    return wish


class Engine:
    """A running program."""

    def __init__(self, command: Sequence[str]) -> None:
        try:
            self._process = start_program(command)
        except OSError as error:
            raise EngineFailure(f"does not start: {error.strerror}") from None
        pipes = (self._process.stdin, self._process.stdout, self._process.stderr)
        self._pipes = [pipe for pipe in pipes if pipe is not None]
        self._in, self._out, self._err = (pipe.fileno() for pipe in self._pipes)
        for pipe in self._pipes:
            os.set_blocking(pipe.fileno(), False)
        self._poll = select.poll()
        self._poll.register(self._out, select.POLLIN)
        self._poll.register(self._err, select.POLLIN)
        self._unsent, self._answer, self._errors = b"", b"", b""
        self._owner = os.getpid()

    @property
    def is_alive(self) -> bool:
        """Whether the program runs."""
        return self._process.poll() is None

    @property
    def is_ours(self) -> bool:
        """Whether this process started it: a fork must leave its parent's programs alone."""
        return self._owner == os.getpid()

    def ask(self, command: str, limit: Limit) -> str:
        """Return the answer to a command; raise `Refusal`, or kill and raise `EngineFailure`."""
        self._send(command)
        while (answer := self._complete_answer()) is None:
            left = limit.left
            if left <= 0:
                word = command.split()[0]
                words = f"no answer to {word} within {limit.seconds:g} s"
                raise self._failure(words, NotSpoken)
            self._exchange(min(left, GLANCE))
        if answer.startswith("?"):
            raise Refusal(answer[1:].strip())
        return answer[1:].strip()

    def _send(self, command: str) -> None:
        self._unsent += f"{command}\n".encode()
        self._poll.register(self._in, select.POLLOUT)

    def _complete_answer(self) -> str | None:
        """Take an answer, up to its empty line, from what has come so far."""
        self._answer = self._answer.replace(b"\r", b"").lstrip()
        line, is_line, _ = self._answer.partition(b"\n")
        if is_line and line[:1] not in (b"=", b"?"):
            words = line.decode(errors="replace")
            raise self._failure(f"answered {shorten(words)!r}, which is not GTP", NotSpoken)
        answer, is_complete, rest = self._answer.partition(b"\n\n")
        if is_complete:
            self._answer = rest
            return answer.decode(errors="replace")
        if len(self._answer) > LONGEST_ANSWER:
            raise self._failure(f"answered more than {LONGEST_ANSWER} bytes")
        return None

    def _exchange(self, seconds: float) -> None:
        """Write and read what is possible now, or becomes possible within this time."""
        ready = {fd for fd, _ in self._poll.poll(1000 * seconds)}
        if not ready and not self.is_alive and not self._poll.poll(0):
            raise self._crash()  # what it started still holds its output open
        if self._err in ready:
            self._read_errors()
        if self._in in ready:
            try:
                self._unsent = self._unsent[os.write(self._in, self._unsent) :]
            except BrokenPipeError:
                raise self._crash() from None
            if not self._unsent:
                self._poll.unregister(self._in)
        if self._out in ready:
            data = os.read(self._out, 65536)
            if not data:
                raise self._crash()
            self._answer += data

    def _read_errors(self) -> bool:
        """Take some error output; tell whether there was any."""
        try:
            data = os.read(self._err, 65536)
        except BlockingIOError:
            return False
        if not data:
            with suppress(KeyError):
                self._poll.unregister(self._err)
        self._errors = (self._errors + data)[-KEPT_ERRORS:]
        return bool(data)

    def _crash(self) -> EngineFailure:
        """Say how the program ended, after it has closed its output."""
        try:
            code = self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            return self._failure("closed its output")
        deadline = monotonic() + PATIENCE  # for what it started may write on
        while self._read_errors() and monotonic() < deadline:
            pass
        lines = self._errors.decode(errors="replace").strip().splitlines()
        verb = "crashed" if code > 0 else "ended"
        how = f"{verb} with exit code {code}" if code >= 0 else f"killed by signal {-code}"
        kind = NotSpoken if code == 0 else EngineFailure
        return self._failure(f"{how}: {shorten(lines[-1])}" if lines else how, kind)

    def _failure(self, words: str, kind: type[EngineFailure] = EngineFailure) -> EngineFailure:
        self.kill()
        return kind(words)

    def leave(self) -> None:
        """Ask the program to quit, without waiting for it."""
        with suppress(OSError, ValueError):
            self._pipes[0].write(b"quit\n")
        self._pipes[0].close()

    def ends_within(self, seconds: float) -> bool:
        """Wait for the end; tell whether it came."""
        try:
            self._process.wait(max(0.0, seconds))
        except subprocess.TimeoutExpired:
            return False
        return True

    def tell(self, sign: signal.Signals) -> None:
        """Send a signal to the program and to all that it started, as far as that is allowed."""
        try:
            os.killpg(self._process.pid, sign)
        except ProcessLookupError:
            pass
        except PermissionError:  # some of them run under another user: at least the program itself
            with suppress(OSError):
                self._process.send_signal(sign)

    def kill(self) -> None:
        """End the program and all that it started, and give everything back."""
        if self._pipes[1].closed:
            return
        self.tell(signal.SIGKILL)
        self.ends_within(PATIENCE)  # it ends at once, unless it may not be killed
        for pipe in self._pipes:
            pipe.close()


def shut_down(engines: Sequence[Engine]) -> None:
    """Ask programs to quit, then tell them to, then kill them; all at once, so in 2 s at most."""
    ours = [engine for engine in engines if engine.is_ours]
    for engine in ours:
        engine.leave()
    deadline = monotonic() + PATIENCE
    late = [engine for engine in ours if not engine.ends_within(deadline - monotonic())]
    for engine in late:
        engine.tell(signal.SIGTERM)
    deadline = monotonic() + PATIENCE
    for engine in late:
        engine.ends_within(deadline - monotonic())
    for engine in ours:
        engine.kill()


def shorten(words: str, length: int = 100) -> str:
    """Cut what a program said to a length that fits into a sentence."""
    return words if len(words) <= length else f"{words[: length - 1]}…"
