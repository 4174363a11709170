"""Spec strings: ``name:value,key=value``, the one way to write a game, an agent or a network.

    othello:size=6        uct:simulations=800        az:runs/mine,simulations=200

A factory is a plain function; its keyword parameters are the options, with their defaults and
types, which the defaults show where none are written; None is written ``auto``. What is wrong with
a spec is said in one line that names the nearest right word.
"""

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from randori.errors import UserError, nearest

LARGE = 2**31
"""Numbers of options stay below this; what needs more is a slip, or cannot be allocated."""
SHOWN = 40
"""Characters of a wrong value that an error repeats."""
_SWITCH = {"yes": True, "true": True, "on": True, "no": False, "false": False, "off": False}


@dataclass(frozen=True)
class Spec:
    """A parsed spec: a name, at most one bare value, and options as text."""

    name: str
    value: str | None
    options: Mapping[str, str]

    def __str__(self) -> str:
        parts = [self.value] if self.value is not None else []
        parts += [f"{key}={text}" for key, text in self.options.items()]
        return f"{self.name}:{','.join(parts)}" if parts else self.name


def parse_spec(text: str) -> Spec:
    """Split ``name:value,key=value`` into its parts."""
    name, _, rest = text.strip().partition(":")
    value: str | None = None
    options: dict[str, str] = {}
    for part in filter(None, (p.strip() for p in rest.split(","))):
        key, equals, content = part.partition("=")
        if equals and key.strip().isidentifier():
            if key.strip() in options:
                raise UserError(f"{text!r} gives {key.strip()!r} twice")
            options[key.strip()] = content.strip()
        elif value is None and not options:
            value = part
        else:
            raise UserError(f"{text!r}: expected key=value, found {part!r}")
    return Spec(name.strip(), value, options)


def options_of(factory: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """Return the parameters of `factory` that a spec may set: those with a default."""
    parameters = inspect.signature(factory).parameters.values()
    return {p.name: p for p in parameters if p.default is not inspect.Parameter.empty}


def bind_options(spec: Spec, factory: Callable[..., Any]) -> dict[str, Any]:
    """Turn the options of `spec` into keyword arguments of `factory`, by its annotations."""
    known = options_of(factory)
    hints = get_type_hints(factory)
    bound: dict[str, Any] = {}
    for key, text in spec.options.items():
        if key not in known:
            raise UserError(f"{spec.name!r} has no option {key!r}; {nearest(key, known)}")
        if not text:
            raise UserError(f"{spec.name}:{key}: nothing stands behind {key}=")
        kind = hints.get(key, _kind_of(known[key].default))
        bound[key] = _convert(text, kind, f"{spec.name}:{key}")
    return bound


def _kind_of(default: Any) -> Any:
    """Tell what an option without annotation takes."""
    return str | None if default is None else type(default)


def option_text(value: Any) -> str:
    """Write the value of an option as a spec has it."""
    if value is None or isinstance(value, bool):
        return {None: "auto", True: "yes", False: "no"}[value]
    return str(value).removesuffix(".0") if isinstance(value, float) else str(value)


def _convert(text: str, kind: Any, where: str) -> Any:
    if get_origin(kind) is UnionType and NoneType in get_args(kind):
        if text.lower() == "auto":
            return None
        kind = next(part for part in get_args(kind) if part is not NoneType)
    if get_origin(kind) is Literal:
        if text in get_args(kind):
            return text
        raise UserError(f"{where}: expected one of {', '.join(get_args(kind))}; found {text!r}")
    if kind is bool:
        if text.lower() in _SWITCH:
            return _SWITCH[text.lower()]
        raise UserError(f"{where}: expected yes or no, found {text!r}")
    return _read_number(text, kind, where) if kind in (int, float) else text


def _read_number(text: str, kind: type[int] | type[float], where: str) -> int | float:
    """Read a number in ASCII: digits of other scripts would name the same agent twice."""
    shown = text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
    try:
        number = float(text) if text.isascii() else math.nan
        if abs(number) < LARGE:
            return kind(text)
        if not math.isnan(number) and text.lstrip("+-")[:1].isdigit():
            raise UserError(f"{where}: {shown} is too large, expected less than {LARGE}")
    except ValueError:
        pass
    word = "a whole number" if kind is int else "a number"
    raise UserError(f"{where}: expected {word}, found {shown!r}")
