"""Configuration as nested frozen dataclasses: to JSON and back, and changed by `a.b=value`.

A learner's settings are plain dataclasses beside the code they steer. Their annotations are the
schema: what comes from a file or a `--set` is checked against them, and a key nobody knows is
refused with the nearest one that exists.
"""

import dataclasses
import json
import math
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from randori.errors import UserError, nearest

T = TypeVar("T")

_WORDS = {"none": None, "null": None, "true": True, "false": False}


def to_dict(config: Any) -> dict[str, Any]:
    """Turn a config into what JSON can hold; tuples become lists."""
    return {field.name: _plain(getattr(config, field.name)) for field in _settable(config)}


def from_dict(cls: type[T], data: object, where: str = "config.json") -> T:
    """Build a `cls` from parsed JSON; fields that are not given keep their defaults.

    Anything unknown, missing, of another type or refused by a `__post_init__` is a `UserError`
    that opens with `where` and gives the dotted key.
    """
    built: T = _build(cls, data, _Place(where, "", tuple(keys(cls))))
    return built


def override(config: T, assignments: Iterable[str], where: str = "--set") -> T:
    """Return `config` with `a.b=value` applied; values are JSON, or else plain text.

    All are applied before anything is validated, so two settings that depend on each other can be
    changed in any order.
    """
    cls = type(config)
    known = tuple(keys(cls))
    data = to_dict(config)
    for assignment in assignments:
        key, equals, text = (part.strip() for part in assignment.partition("="))
        if not equals or not key:
            raise UserError(f"{where}: expected KEY=VALUE, got {assignment!r}")
        place = _Place(where, key, known)
        value = _plain(_parse(_annotation(cls, key, place), text, place))
        *groups, name = key.split(".")
        target = data
        for group in groups:
            if target[group] is None:
                target[group] = {}
            target = target[group]
        target[name] = value
    return from_dict(cls, data, where)


def keys(cls: Any, prefix: str = "") -> Iterator[str]:
    """Yield every dotted key of a config class, groups left out."""
    hints = get_type_hints(cls)
    for field in _settable(cls):
        group = _group(hints[field.name])
        if group:
            yield from keys(group, f"{prefix}{field.name}.")
        else:
            yield prefix + field.name


def expected(cls: Any) -> Iterator[tuple[str, list[Any] | str]]:
    """Yield every dotted key with what it may hold: a list of the words, or a description."""
    for key in keys(cls):
        annotation = _annotation(cls, key, _Place("", key, ()))
        words = get_origin(annotation) is Literal
        yield key, list(get_args(annotation)) if words else _describe(annotation)


@dataclasses.dataclass(frozen=True)
class _Place:
    """Where a value stands, for error messages."""

    where: str
    key: str
    known: tuple[str, ...]

    def inside(self, name: object) -> "_Place":
        return dataclasses.replace(self, key=f"{self.key}.{name}".lstrip("."))

    def error(self, problem: str) -> UserError:
        return UserError(": ".join(part for part in (self.where, self.key, problem) if part))

    def unknown(self) -> UserError:
        last = self.key.rpartition(".")[2]
        same = [key for key in self.known if key.rpartition(".")[2] == last]
        hint = f"did you mean {same[0]!r}?" if same else nearest(self.key, self.known)
        return UserError(f"{self.where}: unknown key {self.key!r}; {hint}")

    def mismatch(self, annotation: Any, value: object) -> UserError:
        came = repr(value) if len(repr(value)) <= 60 else repr(value)[:57] + "…"
        return self.error(f"expected {_describe(annotation)}, got {came}")


def _build(cls: Any, data: object, place: _Place) -> Any:
    if not isinstance(data, dict):
        raise place.mismatch(cls, data)
    hints = get_type_hints(cls)
    fields = {field.name: field for field in _settable(cls)}
    for name in data:
        if name not in fields:
            raise place.inside(name).unknown()
    values = {name: _coerce(hints[name], data[name], place.inside(name)) for name in data}
    for name, field in fields.items():
        if name not in data and field.default is field.default_factory is dataclasses.MISSING:
            raise place.inside(name).error(f"missing; expected {_describe(hints[name])}")
    try:
        return cls(**values)
    except (ValueError, UserError) as error:
        raise place.error(str(error)) from error


def _coerce(annotation: Any, value: Any, place: _Place) -> Any:
    """Return `value` as the annotation wants it, or raise a `UserError` that says what it wants."""
    if annotation is Any:
        return value
    if dataclasses.is_dataclass(annotation):
        return _build(annotation, value, place)
    kind = get_origin(annotation) or annotation
    if kind not in _COERCIONS:
        raise TypeError(f"{place.key}: a config cannot hold {annotation}")
    return _COERCIONS[kind](annotation, value, place)


def _coerce_scalar(annotation: Any, value: Any, place: _Place) -> Any:
    if type(value) is annotation and (annotation is not float or math.isfinite(value)):
        return value
    if annotation is float and type(value) is int and abs(value) < 2**1023:
        return float(value)
    # JSON reads 1e6 as a float, and people write step counts so.
    if annotation is int and type(value) is float and value.is_integer():
        return int(value)
    raise place.mismatch(annotation, value)


def _coerce_literal(annotation: Any, value: Any, place: _Place) -> Any:
    for choice in get_args(annotation):
        if type(choice) is type(value) and choice == value:
            return choice
    raise place.mismatch(annotation, value)


def _coerce_union(annotation: Any, value: Any, place: _Place) -> Any:
    members = [member for member in get_args(annotation) if member is not type(None)]
    if value is None and len(members) < len(get_args(annotation)):
        return None
    # An exact type wins over a conversion: 3 stays an int in `float | int`.
    members.sort(key=lambda member: member is not type(value))
    for member in members:
        try:
            return _coerce(member, value, place)
        except UserError:
            if len(members) == 1 and isinstance(value, dict | list | tuple):
                raise  # the complaint about one item inside says more than ours would
    raise place.mismatch(annotation, value)


def _coerce_tuple(annotation: Any, value: Any, place: _Place) -> Any:
    items = get_args(annotation)
    if not isinstance(value, list | tuple):
        raise place.mismatch(annotation, value)
    if items[1:] == (...,):
        items = items[:1] * len(value)
    if len(items) != len(value):
        raise place.mismatch(annotation, value)
    return tuple(
        _coerce(item, part, place.inside(i))
        for i, (item, part) in enumerate(zip(items, value, strict=True))
    )


def _coerce_dict(annotation: Any, value: Any, place: _Place) -> Any:
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise place.mismatch(annotation, value)
    item = (get_args(annotation) or (str, Any))[1]
    return {key: _coerce(item, part, place.inside(key)) for key, part in value.items()}


_COERCIONS: dict[Any, Callable[[Any, Any, _Place], Any]] = {
    int: _coerce_scalar,
    float: _coerce_scalar,
    bool: _coerce_scalar,
    str: _coerce_scalar,
    type(None): _coerce_scalar,
    Literal: _coerce_literal,
    Union: _coerce_union,
    types.UnionType: _coerce_union,
    tuple: _coerce_tuple,
    dict: _coerce_dict,
}

_NAMES = {
    int: "a whole number",
    float: "a finite number",
    bool: "true or false",
    str: "text",
    type(None): "none",
}


def _describe(annotation: Any) -> str:
    if annotation in _NAMES:
        return _NAMES[annotation]
    kind, args = get_origin(annotation), get_args(annotation)
    if kind is Literal:
        return "one of " + ", ".join(repr(choice) for choice in args)
    if kind in (Union, types.UnionType):
        return " or ".join(_describe(member) for member in args)
    if kind is tuple and args[1:] == (...,):
        return f"a list, each item {_describe(args[0])}"
    if kind is tuple:
        return f"a list [{', '.join(_describe(item) for item in args)}]"
    return "an object"


def _parse(annotation: Any, text: str, place: _Place) -> Any:
    """Read the right side of an assignment: as JSON where that fits, otherwise as it stands."""
    value: object = text
    if text.lower() in _WORDS:
        value = _WORDS[text.lower()]
    else:
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return _coerce(annotation, text, place)
    try:
        return _coerce(annotation, value, place)
    except UserError as error:
        try:
            return _coerce(annotation, text, place)
        except UserError:
            raise error from None


def _annotation(cls: Any, key: str, place: _Place) -> Any:
    """Return what a dotted key may hold; a group itself can only be switched off."""
    annotation: Any = cls
    for name in key.split("."):
        group = _group(annotation)
        if group is None or name not in {field.name for field in _settable(group)}:
            raise place.unknown()
        annotation = get_type_hints(group)[name]
    if dataclasses.is_dataclass(annotation):
        names = ", ".join(f"{key}.{field.name}" for field in _settable(annotation))
        raise place.error(f"is a group; set one of {names}")
    return type(None) if _group(annotation) else annotation


def _group(annotation: Any) -> Any:
    """Return the dataclass behind `Group` or `Group | None`, or None for anything else."""
    members = [kind for kind in get_args(annotation) or (annotation,) if kind is not type(None)]
    return members[0] if len(members) == 1 and dataclasses.is_dataclass(members[0]) else None


def _settable(cls: Any) -> list[dataclasses.Field[Any]]:
    return [field for field in dataclasses.fields(cls) if field.init]


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        return to_dict(value)
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return value
