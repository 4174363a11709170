"""Configs go to JSON and back unchanged, and every mistake in one is named."""

import json
from dataclasses import dataclass, field
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from randori.errors import UserError
from randori.runs.config import from_dict, keys, override, to_dict


@dataclass(frozen=True)
class Search:
    simulations: int = 100
    exploration: float = 1.5
    kind: Literal["puct", "gumbel"] = "puct"
    temperature: tuple[tuple[int, float], ...] = ((0, 1.0), (10, 0.25))

    def __post_init__(self) -> None:
        if self.simulations < 1:
            raise ValueError("simulations must be at least 1")


@dataclass(frozen=True)
class Noise:
    share: float = 0.25
    low: int = 0
    high: int = 1

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise UserError("low is above high")


@dataclass(frozen=True)
class Config:
    seed: int
    search: Search = field(default_factory=Search)
    noise: Noise | None = None
    name: str | None = None
    limit: int | None = 3
    either: int | str = 0
    fast: bool = False
    widths: tuple[int, ...] = (64, 64)
    extra: dict[str, Any] = field(default_factory=dict)


numbers = st.floats(allow_nan=False, allow_infinity=False)
searches = st.builds(
    Search,
    simulations=st.integers(min_value=1),
    exploration=numbers,
    kind=st.sampled_from(["puct", "gumbel"]),
    temperature=st.lists(st.tuples(st.integers(), numbers)).map(tuple),
)
configs = st.builds(
    Config,
    seed=st.integers(),
    search=searches,
    noise=st.none() | st.builds(Noise, share=numbers),
    name=st.none() | st.text(),
    limit=st.none() | st.integers(),
    either=st.integers() | st.text(),
    fast=st.booleans(),
    widths=st.lists(st.integers()).map(tuple),
    extra=st.dictionaries(st.text(), st.integers() | st.text()),
)
scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3)
values = (
    scalars
    | st.lists(scalars | st.lists(scalars, max_size=2), max_size=2)
    | st.dictionaries(st.sampled_from(["simulations", "kind", "temperature", "low"]), scalars)
)


@settings(max_examples=50, deadline=None)
@given(configs)
def test_json_round_trip(config: Config) -> None:
    assert from_dict(Config, json.loads(json.dumps(to_dict(config)))) == config


@settings(max_examples=50, deadline=None)
@given(configs)
def test_every_leaf_can_be_set(config: Config) -> None:
    assignments = []
    for key in keys(Config):
        value: Any = to_dict(config)
        for name in key.split("."):
            value = value[name] if value is not None else None
        if not key.startswith("noise.") or config.noise:
            assignments.append(f"{key}={json.dumps(value)}")
    assert override(Config(seed=0), assignments) == config


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from([*to_dict(Config(0)), "x"]), values, max_size=3))
def test_any_json_is_a_config_or_a_user_error(data: dict[str, Any]) -> None:
    try:
        config = from_dict(Config, data)
    except UserError:
        return
    assert from_dict(Config, to_dict(config)) == config


def test_missing_fields_keep_their_defaults() -> None:
    config = from_dict(Config, {"seed": 7, "search": {"simulations": 400}})
    assert config == Config(seed=7, search=Search(simulations=400))


SEARCH_KEYS = "search.simulations, search.exploration, search.kind, search.temperature"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "expected an object, got []"),
        ({}, "seed: missing; expected a whole number"),
        ({"seed": True}, "seed: expected a whole number, got True"),
        ({"seed": 1.5}, "seed: expected a whole number, got 1.5"),
        ({"seed": None}, "seed: expected a whole number, got None"),
        ({"seed": 1, "fast": 1}, "fast: expected true or false, got 1"),
        ({"seed": 1, "name": 5}, "name: expected text or none, got 5"),
        ({"seed": 1, "limit": "x"}, "limit: expected a whole number or none, got 'x'"),
        ({"seed": 1, "widths": 3}, "widths: expected a list, each item a whole number, got 3"),
        ({"seed": 1, "widths": [3, "x"]}, "widths.1: expected a whole number, got 'x'"),
        ({"seed": 1, "search": []}, "search: expected an object, got []"),
        (
            {"seed": 1, "search": {"exploration": float("inf")}},
            "search.exploration: expected a finite number, got inf",
        ),
        (
            {"seed": 1, "search": {"exploration": 10**400}},
            f"search.exploration: expected a finite number, got 1{'0' * 56}…",
        ),
        (
            {"seed": 1, "search": {"kind": "gumble"}},
            "search.kind: expected one of 'puct', 'gumbel', got 'gumble'",
        ),
        (
            {"seed": 1, "search": {"temperature": [[1]]}},
            "search.temperature.0: expected a list [a whole number, a finite number], got [1]",
        ),
        (
            {"seed": 1, "search": {"simulatons": 4}},
            "unknown key 'search.simulatons'; did you mean 'search.simulations'?",
        ),
        ({"seed": 1, "noise": {"hi": 4}}, "unknown key 'noise.hi'; did you mean 'noise.high'?"),
        (
            {"seed": 1, "search": {"simulations": 0}},
            "search: simulations must be at least 1",
        ),
        ({"seed": 1, "noise": {"low": 3}}, "noise: low is above high"),
    ],
)
def test_bad_data(data: object, message: str) -> None:
    with pytest.raises(UserError) as caught:
        from_dict(Config, data)
    assert str(caught.value) == f"config.json: {message}"


@pytest.mark.parametrize(
    ("assignment", "expected"),
    [
        ("search.simulations=1e3", Config(0, search=Search(simulations=1000))),
        ("search.exploration=2", Config(0, search=Search(exploration=2.0))),
        ("search.kind=gumbel", Config(0, search=Search(kind="gumbel"))),
        ("search.temperature=[[5, 1]]", Config(0, search=Search(temperature=((5, 1.0),)))),
        ("noise.share=0.5", Config(0, noise=Noise(share=0.5))),
        ("fast=True", Config(0, fast=True)),
        ("fast=FALSE", Config(0, fast=False)),
        ("limit=None", Config(0, limit=None)),
        ("name=none", Config(0, name=None)),
        ('name="none"', Config(0, name="none")),
        ("name=400", Config(0, name="400")),
        ("name=a=b", Config(0, name="a=b")),
        ("either=4", Config(0, either=4)),
        ("either=four", Config(0, either="four")),
        (" widths = [] ", Config(0, widths=())),
        ('extra={"a": [1]}', Config(0, extra={"a": [1]})),
    ],
)
def test_override(assignment: str, expected: Config) -> None:
    changed = override(Config(0), [assignment])
    assert changed == expected
    assert type(changed.search.exploration) is float


def test_override_switches_a_group_off() -> None:
    assert override(Config(0, noise=Noise()), ["noise=none"]).noise is None


def test_settings_that_depend_on_each_other_come_in_any_order() -> None:
    assert override(Config(0), ["noise.low=5", "noise.high=6"]).noise == Noise(low=5, high=6)


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        ("search.simulations", "expected KEY=VALUE, got 'search.simulations'"),
        ("=4", "expected KEY=VALUE, got '=4'"),
        ("simulations=4", "unknown key 'simulations'; did you mean 'search.simulations'?"),
        ("serch.kind=puct", "unknown key 'serch.kind'; did you mean 'search.kind'?"),
        ("fast.er=1", "unknown key 'fast.er'; did you mean 'fast'?"),
        ("search.simulations=many", "search.simulations: expected a whole number, got 'many'"),
        ("search.simulations=2.5", "search.simulations: expected a whole number, got 2.5"),
        ("search.simulations=0", "search: simulations must be at least 1"),
        ("search={}", f"search: is a group; set one of {SEARCH_KEYS}"),
        ("noise={}", "noise: expected none, got {}"),
        ("search.exploration=NaN", "search.exploration: expected a finite number, got nan"),
        ("fast=maybe", "fast: expected true or false, got 'maybe'"),
    ],
)
def test_bad_override(assignment: str, message: str) -> None:
    with pytest.raises(UserError) as caught:
        override(Config(0), [assignment])
    assert str(caught.value) == f"--set: {message}"


def test_a_word_like_no_key_lists_the_keys() -> None:
    with pytest.raises(UserError, match=r"unknown key 'zzz'; known: .*search\.kind.*widths"):
        override(Config(0), ["zzz=1"])
