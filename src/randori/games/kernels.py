"""Turn plain Python functions into compiled kernels: the hinge of the whole system.

A game is a file of scalar functions. Everything that must be fast (perft, rollouts, search,
self-play) is a *template*: a plain function whose global names `start`, `legal`, `play`, `outcome`
and `planes` are left open. `specialise` rebuilds a template and every plain function it calls: the
template's open names become the game's functions, and the constants in the game's own file become
what its options ask for. Then it hands them to Numba.

The rebuilt function is no closure, and its name carries a digest of every source file and constant
that went into it: so Numba's on-disk cache is hit in the next process, and missed when the rules
change. Without `compiled` the same functions come back bound but not compiled: what tests and
people use on single positions, at no compile time.
"""

import hashlib
import os
import uuid
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

State = NDArray[np.uint64]
"""One position, a row of words; word 0 counts the plies, so its low bit is the side to move."""
Actions = NDArray[np.int32]

ONGOING, FIRST, SECOND, DRAW = range(4)
"""What `outcome` answers."""

wide: Any = np.int64
"""Widen an index: kernels that are always called with int64 are compiled only once."""

U0 = np.uint64(0)
U1 = np.uint64(1)

F = TypeVar("F", bound=Callable[..., Any])


def bit(index: int) -> np.uint64:
    """Return the word in which only bit `index` is set."""
    return U1 << np.uint64(index)


def has(word: np.uint64, index: int) -> bool:
    """Tell whether bit `index` of `word` is set."""
    return bool((word >> np.uint64(index)) & U1)


def popcount(word: np.uint64) -> int:
    """Count the set bits of `word`."""
    return int(word).bit_count()


def lowest(word: np.uint64) -> int:
    """Return the index of the lowest set bit; `word` is not 0."""
    return (int(word) & -int(word)).bit_length() - 1


def without_lowest(word: np.uint64) -> np.uint64:
    """Clear the lowest set bit of `word`, which is not 0."""
    return word & (word - U1)


def reverse(word: np.uint64) -> np.uint64:
    """Return `word` with its 64 bits in the opposite order."""
    return np.uint64(int(f"{int(word):064b}"[::-1], 2))


def scratch(size: int) -> NDArray[np.uint64]:
    """Return `size` words of zeros that live until the caller returns; never hand them upwards.

    Compiled, they are on the stack, so `size` has to be a literal or a module constant.
    """
    return np.zeros(size, dtype=np.uint64)


def prefetch(array: Any, index: int) -> None:
    """Ask memory for ``array[index]``, which will be read soon; a hint, so any index will do."""


def mix(key: np.uint64, word: np.uint64) -> np.uint64:
    """Stir `word` into the hash `key` (the finaliser of splitmix64)."""
    key = (key ^ word) + np.uint64(0x9E3779B97F4A7C15)
    key = (key ^ (key >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    key = (key ^ (key >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return key ^ (key >> np.uint64(31))


_INLINED: set[Callable[..., Any]] = set()


def inlined(function: F) -> F:
    """Mark a function of a hot loop that takes a whole tree: a call would cost more than its work.

    Numba passes the arrays of a tuple one by one, some hundred words for a tree.
    """
    _INLINED.add(function)
    return function


@dataclass(frozen=True)
class Bindings:
    """What a specialised function finds under its global names."""

    label: str
    """a name for the cache: the game's"""
    home: Mapping[str, Any]
    """the globals of the game's own file"""
    constants: Mapping[str, Any]
    """names that change there, because of options"""
    holes: Mapping[str, Any] = field(default_factory=dict)
    """names that change everywhere else"""
    left_open: Mapping[str, Any] = field(default_factory=dict)
    """what stands under such a name before it changes; a file's own thing of that name stays"""

    def filled(self, holes: Mapping[str, Any]) -> "Bindings":
        """Return the same with more holes filled."""
        return replace(self, holes={**self.holes, **holes})

    def scope(self, function: FunctionType) -> dict[str, Any]:
        """Return the globals that `function` shall have."""
        around = function.__globals__
        if around is self.home:
            return {**around, **self.constants}
        own = {name: around.get(name) for name in self.left_open}
        kept = {n: f for n, f in own.items() if f is not None and f is not self.left_open[n]}
        return {**around, **self.holes, **kept}


def specialise(
    template: F,
    bindings: Bindings,
    *,
    compiled: bool = True,
    built: dict[FunctionType, Any] | None = None,
) -> F:
    """Rebuild `template` and all plain functions it reaches, with `bindings` in their globals.

    `built` collects the functions that templates with the same bindings share; the template itself
    is always built anew. The result has the template's type. With NUMBA_DISABLE_JIT=1 nothing is
    compiled.
    """
    compiled = compiled and not int(os.environ.get("NUMBA_DISABLE_JIT") or 0)
    shared = {} if built is None else built
    built = {f: shared[f] for f in shared if f is not template}
    calls = _reach(template, bindings)
    family = list(calls)
    circles = _circles(calls) if compiled else set()
    mark = f"{bindings.label}_{_digest(family, bindings)}" if compiled else bindings.label
    scopes: list[dict[str, Any]] = []
    for function in family:
        if function in built:
            continue
        scope = bindings.scope(function)
        bound = FunctionType(function.__code__, scope, function.__name__, function.__defaults__)
        bound.__kwdefaults__ = function.__kwdefaults__
        bound.__qualname__ = f"{function.__qualname__}_{mark}"
        bound.__module__ = function.__module__
        bound.__doc__ = function.__doc__
        scopes.append(scope)
        if not compiled:
            built[function] = bound
        elif function is template:
            built[function] = _compile_entry(bound, has_circles=bool(circles))
        else:
            built[function] = _compile_part(bound, function, function in circles)
    for scope in scopes:
        for name, value in scope.items():
            if isinstance(value, FunctionType) and value in built:
                scope[name] = built[value]
    entry = built.pop(cast(FunctionType, template))
    shared.update(built)
    return cast(F, entry)


def _reach(
    template: Callable[..., Any], bindings: Bindings
) -> dict[FunctionType, list[FunctionType]]:
    """List `template` and every plain function it calls by a global name, however far.

    Each comes with those that it calls itself.
    """
    assert isinstance(template, FunctionType)
    found: list[FunctionType] = [template]
    calls = {}
    for function in found:
        scope = bindings.scope(function)
        values = (scope.get(name) for name in sorted(_names(function.__code__)))
        calls[function] = [value for value in values if isinstance(value, FunctionType)]
        found += [value for value in dict.fromkeys(calls[function]) if value not in found]
    return calls


def _circles(calls: Mapping[FunctionType, list[FunctionType]]) -> set[FunctionType]:
    """Find the functions that may call themselves, by way of others or not.

    An attribute with a function's name counts as a call, and so does what leads from one circle to
    another.
    """
    left = set(calls)
    while True:
        called = {below for function in left for below in calls[function]}
        kept = {function for function in left & called if not left.isdisjoint(calls[function])}
        if kept == left:
            return kept
        left = kept


_OWN_FILES = {str(Path(__file__).with_name(f"{name}.py")) for name in
              ("kernels", "pipelines", "intrinsics")}  # fmt: skip
"""What a kernel becomes depends on these, too."""


def _names(code: CodeType) -> set[str]:
    inner = (c for c in code.co_consts if isinstance(c, CodeType))
    return set(code.co_names).union(*(_names(c) for c in inner))


def _digest(family: list[FunctionType], bindings: Bindings) -> str:
    """Hash the files behind `family`, its code and the constants that it reads.

    The files alone are not enough: one file can hold two versions of a rule, and it can have
    changed since it was imported. Modules count too, because what is cached refers to them.
    """
    from randori.games.compilers import PART

    digest = hashlib.sha256(f"{sorted(PART)}".encode())
    files = {function.__code__.co_filename for function in family} | _OWN_FILES
    for content in sorted(map(_file, files)):  # where they lie does not matter
        digest.update(content)
    for function in family:
        scope = bindings.scope(function)
        digest.update(f"{function.__module__} {_outline(function.__code__)}".encode())
        for name in sorted(_names(function.__code__)):
            value = scope.get(name)
            if isinstance(value, FunctionType):
                digest.update(f"{name} is {family.index(value)};".encode())
            else:
                digest.update(f"{name} = {_content(value)};".encode())
    return digest.hexdigest()[:16]


def _outline(code: CodeType) -> str:
    consts = [_outline(c) if isinstance(c, CodeType) else repr(c) for c in code.co_consts]
    return f"{code.co_code.hex()} {code.co_names} {consts}"


def _file(path: str) -> bytes:
    return Path(path).read_bytes() if Path(path).is_file() else b""


def _content(value: Any, above: tuple[FunctionType, ...] = ()) -> str:
    """Write a constant in full; what kernels cannot read as one (modules, types) counts nothing.

    A function that its author has compiled counts with its file and all that it takes from around;
    `above` are those that call it.
    """
    function = getattr(value, "py_func", value)
    if isinstance(function, FunctionType):
        return "" if function in above else _whole(function, (*above, function))
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{value.shape}{value.tobytes().hex()}"
    if isinstance(value, tuple):
        return f"({', '.join(_content(part, above) for part in value)})"
    return repr(value) if isinstance(value, int | float | str | np.generic) else ""


def _whole(function: FunctionType, above: tuple[FunctionType, ...]) -> str:
    """Write a function in full, with what it calls and reads."""
    file = hashlib.sha256(_file(function.__code__.co_filename)).hexdigest()
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    around = [function.__globals__.get(name) for name in sorted(_names(function.__code__))]
    taken = [function.__defaults__, *(function.__kwdefaults__ or {}).items(), *cells, *around]
    return f"{_outline(function.__code__)} {file} {[_content(value, above) for value in taken]}"


OPTIONS = {"nogil": True, "error_model": "numpy", "_nrt": False}
"""Kernels get all their memory from outside, so they run without Numba's reference counts, which
would otherwise cost more than the search itself."""


def _compile_entry(bound: FunctionType, has_circles: bool) -> Any:
    """Hand a template to Numba, and keep it on disk with all that it calls inside, if it can be."""
    from randori.games.compilers import KERNEL, njit  # here: Numba costs `randori --help` 0.3 s

    # Whether those that call themselves can be kept is seen when they are compiled, if we compile.
    if has_circles and not KERNEL:
        return njit(**OPTIONS)(bound)
    try:
        kernel = njit(cache=True, **KERNEL, **OPTIONS)(bound)
    except RuntimeError:  # Numba finds no folder that it may write to
        _warn_of_no_folder()
        return njit(**KERNEL, **OPTIONS)(bound)
    _keep_apart(kernel)
    return kernel


@cache
def _warn_of_no_folder() -> None:
    """Say once why everything is compiled anew in every process."""
    warnings.warn(
        "there is no folder to keep compiled kernels in: set NUMBA_CACHE_DIR to one that can be "
        "written to, or they are compiled anew each time",
        stacklevel=2,
    )


def _compile_part(bound: FunctionType, original: FunctionType, is_circular: bool) -> Any:
    """Hand Numba what templates call; Python never does, so that it needs no wrapper for it."""
    from randori.games.compilers import PART, njit
    from randori.games.intrinsics import INTRINSICS

    if original in INTRINSICS:
        return INTRINSICS[original]
    unwrapped = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    way = {} if is_circular else PART  # what is called through its address has to have one
    return njit(forceinline=original in _INLINED, **way, **unwrapped, **OPTIONS)(bound)


def _keep_apart(kernel: Any) -> None:
    """Let no two processes write one file of Numba's cache.

    Numba counts a kernel's signatures and names its files by the number. Processes that compile two
    of them at the same time both take the next number, and from then on the cache answers a call
    with the machine code of another signature: garbage or a crash. With names of their own such
    processes lose an entry at worst, which is then compiled again.
    """
    files = kernel._cache._cache_file
    mark = uuid.uuid4().hex[:12]
    files._data_name_pattern = files._data_name_pattern.replace("{number", f"{mark}-{{number")
