"""npz and safetensors come back as they went, or not at all."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from randori.errors import UserError
from randori.runs.formats import npz_bytes, read_npz, read_tensors, tensors_bytes

Loaded = tuple[dict[str, NDArray[Any]], dict[str, Any]]

ARRAYS: dict[str, NDArray[Any]] = {
    "transposed": np.arange(6, dtype=np.float32).reshape(2, 3).T,
    "strided": np.arange(10, dtype=np.int16)[::3],
    "empty": np.zeros((0, 3), np.float16),
    "scalar": np.array(2**63, np.uint64),
    "mask": np.array([True, False]),
    "file": np.arange(3, dtype=">i4"),
}
INFO = {"game": "go:size=9", "network": {"blocks": 6}, "rate": np.float32(0.5)}


def load_npz(path: Path) -> Loaded:
    return read_npz(path), {}


SMALL = {name: ARRAYS[name] for name in ("mask", "strided")}
FORMATS = [(npz_bytes(ARRAYS), load_npz), (tensors_bytes(ARRAYS, INFO), read_tensors)]


def same(a: Loaded, b: Loaded) -> bool:
    return (
        a[1] == b[1]
        and a[0].keys() == b[0].keys()
        and all(
            x.dtype == y.dtype and np.array_equal(x, y)
            for x, y in ((a[0][k], b[0][k]) for k in a[0])
        )
    )


@pytest.mark.parametrize(("data", "load"), FORMATS)
def test_round_trip(data: bytes, load: Callable[[Path], Loaded], tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(data)
    arrays, info = load(tmp_path / "file")
    assert info in ({}, {**INFO, "rate": 0.5})
    assert arrays.keys() == ARRAYS.keys()
    for name, array in arrays.items():
        assert array.dtype.newbyteorder("<") == ARRAYS[name].dtype.newbyteorder("<")
        assert array.shape == ARRAYS[name].shape
        assert array.flags.writeable
        np.testing.assert_array_equal(array, ARRAYS[name])


@pytest.mark.parametrize(
    ("data", "load"), [(npz_bytes(SMALL), load_npz), (tensors_bytes(SMALL, {"a": 1}), read_tensors)]
)
def test_damage_never_passes(data: bytes, load: Callable[[Path], Loaded], tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(data)
    good = load(path)
    for length in range(len(data)):
        path.write_bytes(data[:length])
        with pytest.raises(UserError, match="damaged"):
            load(path)
    for place in range(len(data)):
        path.write_bytes(data[:place] + bytes([data[place] ^ 1 << place % 8]) + data[place + 1 :])
        try:
            loaded = load(path)
        except UserError:
            continue
        assert same(loaded, good), place  # a date inside a zip may change, an array may not


def test_nothing_is_pickled_or_unpickled(tmp_path: Path) -> None:
    objects = np.array([{}], dtype=object)
    with pytest.raises(ValueError, match="pickle"):
        npz_bytes({"a": objects})
    np.savez(tmp_path / "a.npz", a=objects)
    with pytest.raises(UserError, match=r"a\.npz is damaged: .*allow_pickle=False"):
        read_npz(tmp_path / "a.npz")


def test_numpy_reads_our_npz(tmp_path: Path) -> None:
    (tmp_path / "a.npz").write_bytes(npz_bytes(ARRAYS))
    with np.load(tmp_path / "a.npz", allow_pickle=False) as loaded:
        np.testing.assert_array_equal(loaded["transposed"], ARRAYS["transposed"])
