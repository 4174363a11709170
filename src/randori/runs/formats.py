"""The three file formats of a run: JSON, npz and safetensors, to bytes and back.

Readers trust nothing. A missing, cut, foreign or altered file is a one-line `UserError` that names
it; nothing is ever unpickled. Arrays are checked against a CRC, since a flipped bit in a weight
would otherwise go unnoticed.
"""

import io
import json
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy
from numpy.typing import NDArray

from randori.errors import UserError

Arrays = Mapping[str, NDArray[Any]]


def json_bytes(value: object) -> bytes:
    """Encode `value` for people to read too; numpy scalars become plain numbers."""
    return (json.dumps(value, indent=2, default=_plain) + "\n").encode()


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object."""
    try:
        value = json.loads(_read_bytes(path))
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path} is damaged: expected JSON ({error})") from None
    if not isinstance(value, dict):
        raise UserError(f"{path} is damaged: expected a JSON object, got a {type(value).__name__}")
    return value


def npz_bytes(arrays: Arrays) -> bytes:
    """Encode `arrays` as an npz archive, uncompressed."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asarray(array), allow_pickle=False)
    return buffer.getvalue()


def read_npz(path: Path) -> dict[str, NDArray[Any]]:
    """Read the arrays of an npz archive."""
    data = _read_bytes(path)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if any(member.comment for member in archive.infolist()):
                raise ValueError("a comment hides other members")
            # `read` checks a member's CRC before numpy looks at its header.
            return {
                name.removesuffix(".npy"): np.lib.format.read_array(
                    io.BytesIO(archive.read(name)), allow_pickle=False
                )
                for name in archive.namelist()
            }
    except Exception as error:  # zipfile meets damage with a dozen different exceptions
        raise UserError(f"{path} is damaged: expected npz arrays ({error})") from None


def tensors_bytes(arrays: Arrays, info: Mapping[str, Any]) -> bytes:
    """Encode `arrays` as safetensors, with `info` as JSON under the metadata key `randori`."""
    # safetensors takes an array's memory as it lies, so a transposed one would come back wrong.
    dense = {
        name: np.asarray(array, dtype=array.dtype.newbyteorder("<"), order="C")
        for name, array in arrays.items()
    }
    text = json.dumps(info, default=_plain)
    metadata = {"randori": text, "crc32": str(_checksum(dense, text))}
    return safetensors.numpy.save(dense, metadata=metadata)


def read_tensors(path: Path) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Read the arrays and the info of a safetensors file that Randori wrote."""
    data = _read_bytes(path)
    try:
        arrays = safetensors.numpy.load(data)
        header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    except Exception as error:  # SafetensorError, or numpy's on a dtype that it lacks
        raise UserError(f"{path} is damaged or not a safetensors file ({error})") from None
    metadata = header.get("__metadata__", {})
    if "randori" not in metadata:
        raise UserError(f"{path} was not written by Randori: expected metadata named 'randori'")
    if metadata.get("crc32") != str(_checksum(arrays, metadata["randori"])):
        raise UserError(f"{path} is damaged: its checksum does not match its contents")
    return arrays, json.loads(metadata["randori"])


def _read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise UserError(f"{path} is missing") from None
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from None


def _checksum(arrays: Arrays, text: str) -> int:
    crc = zlib.crc32(text.encode())
    for name, array in sorted(arrays.items()):
        crc = zlib.crc32(f"{name} {array.dtype} {array.shape}".encode(), crc)
        crc = zlib.crc32(array.reshape(-1).view(np.uint8).data, crc)
    return crc


def _plain(value: object) -> object:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"not JSON: {value!r} ({type(value).__name__})")
