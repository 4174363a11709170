"""How the command line speaks: results to stdout, everything else to stderr, JSON when asked."""

import json
import os
import shutil
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from tempfile import NamedTemporaryFile
from time import monotonic
from typing import TYPE_CHECKING, Any

from randori.errors import UserError
from randori.runs import atomic

if TYPE_CHECKING:
    from rich.console import Console

PIPED_WIDTH = 200
"""Columns of a table that no terminal shows: wide enough that nothing is cut."""
PATIENCE = 1.0
"""Seconds of compiling that go without saying."""
SPARKS = "▁▂▃▄▅▆▇█"


def console(*, stderr: bool = False) -> "Console":
    """Make a console for results, or for everything else; a pipe gets no colours and no cuts."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    return Console(
        file=stream,
        width=None if stream.isatty() else PIPED_WIDTH,
        highlight=False,
        markup=False,
        emoji=False,
    )


def program() -> str:
    """Return how a shell finds this program: by name, or by path in a virtual environment."""
    if shutil.which("randori"):
        return "randori"
    beside = Path(sys.executable).parent / "randori"
    return os.path.relpath(beside) if beside.is_file() else f"{sys.executable} -m randori"


def note(message: str) -> None:
    """Say something that is not a result."""
    print(message, file=sys.stderr, flush=True)


def print_json(value: Any) -> None:
    """Print a result for programs."""
    print(json.dumps(value))


def print_table(
    rows: Sequence[Sequence[str]], heads: Sequence[str], *, numbers: Sequence[int] = ()
) -> None:
    """Print a table of texts; the columns in `numbers` are set to the right."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for i, head in enumerate(heads):
        is_last = i == len(heads) - 1
        table.add_column(
            head,
            justify="right" if i in numbers else "left",
            no_wrap=not is_last,
            overflow="fold",
        )
    for row in rows:
        table.add_row(*row)
    screen = console()
    with screen.capture() as captured:
        screen.print(table)
    for line in captured.get().splitlines():
        print(line.rstrip())


def clock(seconds: float) -> str:
    """Write a duration: 0:05, 12:34, 1:02:03."""
    minutes, rest = divmod(max(0, round(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def amount(number: float) -> str:
    """Write a number with about three digits: 0.81, 12.3, 4 321, 56.7 k, 2.61 M."""
    for size, unit in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if abs(number) >= max(1e4, size):
            return f"{number / size:.{_digits(number / size)}f}{unit}"
    if number == int(number) or abs(number) >= 1000:
        return f"{round(number):,}".replace(",", " ")
    return f"{number:.{_digits(number)}f}"


def _digits(number: float) -> int:
    return 2 if abs(number) < 10 else 1 if abs(number) < 100 else 0


def percent(share: float) -> str:
    """Write a share of 1 as whole per cents."""
    return f"{100 * share:.0f} %"


def beyond_bare(share: float) -> str:
    """Explain a pace that is above the bare network's; empty where it is not."""
    if round(100 * share) <= 100:
        return ""
    return (
        "above 100 % of bare: the network alone was measured too low "
        "(something else ran then, or one thread did not fill the device)"
    )


def sparkline(values: Sequence[float], width: int, span: tuple[float, float] | None = None) -> str:
    """Draw values as a line of bars, at most `width` of them; `span` fixes the scale."""
    if not values or width < 1:
        return ""
    count = min(width, len(values))
    cuts = [round(i * len(values) / count) for i in range(count + 1)]
    means = [sum(values[a:b]) / (b - a) for a, b in pairwise(cuts)]
    low, high = span or (min(means), max(means))
    if high <= low:
        return SPARKS[3] * count
    top = len(SPARKS) - 1
    return "".join(SPARKS[round(top * min(1, max(0, (m - low) / (high - low))))] for m in means)


def printable(text: str) -> str:
    """Leave out what would command a terminal instead of showing on it."""
    return "".join(letter for letter in text if letter.isprintable())


def one_line(message: str) -> str:
    """Join the lines of a message: an error is one line, whatever library wrote it."""
    return " ".join(message.split()) if "\n" in message else message


@contextmanager
def announced(game: str, tell: Callable[[str], None] = note) -> Iterator[Callable[[], float]]:
    """Say so when kernels are really being compiled, and not only read from the cache.

    `tell` hears it once, from another thread. What is yielded tells how many seconds went into
    compiling so far. Numba documents these events for applications: numba.readthedocs.io, "Event
    API".
    """
    from numba.core import event

    message = (
        f"compiling kernels for {game}: up to a minute the first time this is done, then cached"
    )
    depth = 0
    has_begun = False
    since = seconds = 0.0
    timer = threading.Timer(PATIENCE, print)

    def speak() -> None:
        nonlocal has_begun
        has_begun = True
        tell(message)

    def on_start(listener: object, event: object) -> None:
        nonlocal depth, timer, since
        depth += 1
        if depth == 1:
            since = monotonic()
        if depth == 1 and not has_begun:
            timer = threading.Timer(PATIENCE, speak)
            timer.daemon = True
            timer.start()

    def on_end(listener: object, event: object) -> None:
        nonlocal depth, seconds
        depth -= 1
        if depth == 0:
            seconds += monotonic() - since
            timer.cancel()

    methods = {"on_start": on_start, "on_end": on_end}
    listener = type("Announcer", (event.Listener,), methods)()
    with event.install_listener("numba:compile", listener):
        yield lambda: seconds
    timer.cancel()


def go_silent() -> None:
    """Send what is still buffered nowhere: the reader at the other end of the pipe has left."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())


def expect_new_file(path: Path, *, force: bool = False, way_out: str = "") -> None:
    """Refuse a file that cannot be made, before hours are spent on its content.

    `force` allows to replace one; `way_out` says how that is asked for, if it can be.
    """
    if path.is_dir():
        raise UserError(f"{path} is a folder; give the name of a file")
    if path.exists() and not force:
        raise UserError(f"{path} exists already; choose another name{way_out}")
    if not path.parent.is_dir():
        raise UserError(f"there is no folder {str(path.parent)!r} for {path.name}")
    begin = f"{atomic.TEMPORARY}{path.name}-"
    with atomic.explained(path), NamedTemporaryFile(dir=path.parent, prefix=begin):
        pass
