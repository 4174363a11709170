"""Files that are there whole or not at all, whatever kills the process.

Everything is written under a temporary name in the same directory, flushed to the disk and only
then renamed. A kill leaves at most a `.tmp-…` entry, which no reader looks at and which `sweep`
removes. What the disk refuses is said in one line that names the way on.
"""

import errno
import os
import secrets
import shlex
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from randori.errors import UserError

TEMPORARY = ".tmp-"

_REFUSALS = {
    errno.ENOSPC: ("disk full", "free some space"),
    errno.EDQUOT: ("disk quota used up", "free some space"),
    errno.EFBIG: ("file size limit reached", "raise the limit (`ulimit -f`)"),
    errno.EACCES: ("permission denied", "make it writable"),
    errno.EPERM: ("permission denied", "make it writable"),
    errno.EROFS: ("read-only file system", "make it writable"),
}


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn the disk's refusal to write `path` into a `UserError` that says how to go on."""
    try:
        yield
    except OSError as error:
        reason, remedy = _REFUSALS.get(
            error.errno or 0, (str(error.strerror or error).lower(), "put that right")
        )
        run = next((p for p in path.parents if _is_run(p)), None)
        ending = (
            f"nothing saved before is lost: {remedy}, then `randori resume {shlex.quote(str(run))}`"
            if run
            else f"{remedy} and try again"
        )
        raise UserError(f"{reason} while writing {path}; {ending}") from error


def write_bytes(path: Path, data: bytes) -> None:
    """Put `data` at `path`, in place of what was there."""
    temporary = _temporary(path)
    with explained(path):
        try:
            _write_through(temporary, data)
            os.replace(temporary, path)
            sync_folder(path.parent)
        except BaseException:
            remove(temporary)
            raise


def write_text(path: Path, text: str) -> None:
    """Put `text` at `path` as UTF-8."""
    write_bytes(path, text.encode())


def write_folder(path: Path, files: Mapping[str, bytes]) -> None:
    """Put a folder of `files` at `path`.

    A folder that is there already is moved aside first, and for an instant neither has the name:
    only replace what no one can use.
    """
    temporary, old = _temporary(path), _temporary(path)
    with explained(path):
        try:
            temporary.mkdir()
            for name, data in files.items():
                _write_through(temporary / name, data)
            sync_folder(temporary)
            if path.exists():
                os.rename(path, old)
            os.rename(temporary, path)
            sync_folder(path.parent)
        finally:
            remove(temporary)
            remove(old)


def sync_folder(folder: Path) -> None:
    """Make the renames and removals in `folder` outlast a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        # Some network file systems cannot sync a folder; the rename is atomic all the same.
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(descriptor)


def remove(path: Path) -> None:
    """Remove a file or a whole folder, if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def sweep(folder: Path) -> None:
    """Remove what killed writers left in `folder` and one level below.

    Only the holder of the run's lock may call it: another writer's temporary looks the same.
    """
    for leftover in [*folder.glob(f"{TEMPORARY}*"), *folder.glob(f"*/{TEMPORARY}*")]:
        with explained(leftover):
            remove(leftover)


def _is_run(folder: Path) -> bool:
    return all(os.path.exists(folder / part) for part in ("config.json", "checkpoints"))


def _temporary(path: Path) -> Path:
    return path.with_name(f"{TEMPORARY}{path.name}-{secrets.token_hex(4)}")


def _write_through(path: Path, data: bytes) -> None:
    with open(path, "xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
