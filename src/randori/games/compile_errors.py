"""What fails in somebody's own game, in one line that names their file, line and function.

Of what it cannot compile, Numba writes a page: the innermost reason and place first, then how it
came there, by way of our own templates. People want the first place that is not ours.
"""

import ast
import re
from contextlib import suppress
from pathlib import Path
from traceback import walk_tb

PLACE = re.compile(
    r'File "(?P<file>[^"]+)", line (?P<line>\d+)|at (?P<at>\S[^\n]*?) \((?P<no>\d+)\)'
)
"""A place, as Numba writes it in two ways."""
NOISE = ("Failed in", "During:", "File ", "There are", "- ", "def ", "<source elided>", "@")
"""How lines begin that are not the reason."""
MOST_WORDS = 300
NO_NUMBER = re.compile(r"expected \w+, got None")
"""What compiled code says of a kernel that returns nothing in some branch."""
OURS = Path(__file__).resolve().parents[1]

Place = tuple[Path, int]


def is_compile_error(error: BaseException) -> bool:
    """Tell whether Numba refused to compile something; Numba itself need not be loaded for that."""
    return any(kind.__module__ == "numba.core.errors" for kind in type(error).__mro__)


def complaint(error: BaseException, own: Path | None) -> str:
    """Say in one line what is wrong with somebody's own game; empty if the fault is not theirs.

    `own` is their file. Kernels that return what they should not fail in the code that calls them,
    which is ours and names no place of theirs.
    """
    if is_compile_error(error) and place_of(error):
        return describe(error)
    if own is None:
        return ""
    name, place = short(own), _raised_in(error, own)
    if place:
        return f"{place}: {type(error).__name__}: {error}; `randori check {name}` tells more"
    is_no_number = isinstance(error, TypeError) and NO_NUMBER.fullmatch(str(error))
    if not (is_compile_error(error) or is_no_number):
        return ""
    return f"the kernels of {name} do not fit together: `randori check {name}` says why"


def describe(error: BaseException) -> str:
    """Say where and why something could not be compiled, in one line."""
    place = place_of(error)
    where = f"{place}: " if place else ""
    return f"{where}Numba wants scalar code that allocates nothing: {_reason(error)}"


def place_of(error: BaseException) -> str:
    """Name the innermost file, line and function that are not ours; empty if none is."""
    said = [
        (Path(found["file"] or found["at"]), int(found["line"] or found["no"]))
        for found in PLACE.finditer(str(error))
    ]
    for path, line in (*said, *_under_way(error)):
        if _is_foreign(path):
            return _name(path, line)
    return ""


def _raised_in(error: BaseException, own: Path) -> str:
    """Name the innermost place that is not ours, if `error` came through the author's file."""
    frames = walk_tb(error.__traceback__)
    places = [(Path(frame.f_code.co_filename), line) for frame, line in frames]
    if own.resolve() not in (path for path, _ in places):
        return ""
    return next((_name(path, line) for path, line in reversed(places) if _is_foreign(path)), "")


def _name(path: Path, line: int) -> str:
    function = _function_at(path, line)
    return f"{short(path)}, line {line}" + (f", in {function}" if function else "")


def _under_way(error: BaseException) -> list[Place]:
    """List the functions that Numba was reading, innermost first: some errors name no place."""
    reading = [frame.f_locals.get("func_id") for frame, _ in walk_tb(error.__traceback__)]
    return [(Path(f.filename), int(f.firstlineno)) for f in reversed(reading) if f is not None]


def _is_foreign(path: Path) -> bool:
    """Tell whether a file is neither Randori's nor of an installed package."""
    path = path.resolve()
    is_installed = any(part.endswith("-packages") for part in path.parts)
    return path.is_file() and OURS not in path.parents and not is_installed


def short(path: Path) -> Path:
    """Write a path from here where it lies below."""
    path = path.resolve()
    return path.relative_to(Path.cwd()) if Path.cwd() in path.parents else path


def _function_at(path: Path, line: int) -> str:
    """Name the innermost function around a line of a file."""
    names = [""]
    with suppress(OSError, SyntaxError, ValueError):  # it may have changed since
        names += [
            node.name
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.FunctionDef) and node.lineno <= line <= (node.end_lineno or 0)
        ]
    return names[-1]


def _reason(error: BaseException) -> str:
    """Return the first words that say what is wrong, and the call that they are about."""
    lines = [line.strip() for line in str(error).splitlines()]
    told = [line for line in lines if line and not line.startswith(NOISE)] or [str(error)]
    call = told[1].removeprefix(">>> ") if told[1:] and told[1].startswith(">>> ") else ""
    return " ".join(f"{told[0]} {call}".split())[:MOST_WORDS]
