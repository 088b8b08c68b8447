"""What is kept between runs: the folder, and the parsed arrays in it.

The cache is the user's own and is trusted: its checksums tell damage, not malice. What is known by name is compared
with the digest in the registry as well, on every load (see `loading`).
"""

import contextlib
import json
import logging
import os
import shutil
import tempfile
import warnings
from pathlib import Path

import numpy as np
import platformdirs

from ganet_tf.data.arrays import array_digest
from ganet_tf.files import UNFINISHED

log = logging.getLogger(__name__)

_announced = set()  # caches of which it was said that they cannot be written: once is enough
_temporary = []  # a folder for this process alone, in place of such a cache


def cache_folder() -> Path:
    """The cache: the folder named by GANET_CACHE, or a folder of the user's."""
    return Path(os.environ.get("GANET_CACHE") or platformdirs.user_cache_dir("ganet_tf", appauthor=False))


def writable_folder(*parts: str) -> Path:
    """Makes and returns a folder within the cache, or a temporary one if the cache cannot be written."""
    folder = cache_folder().joinpath(*parts)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError as error:
        say_unwritable(error)
        return temporary_folder(*parts)


def temporary_folder(*parts: str) -> Path:
    """Makes and returns a folder that is there until this process ends."""
    if not _temporary:
        _temporary.append(tempfile.TemporaryDirectory(prefix="ganet-"))
    folder = Path(_temporary[0].name).joinpath(*parts)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def say_unwritable(error: OSError) -> None:
    """Says in one line, once, that the cache cannot be written: that is no reason to fail."""
    folder = str(cache_folder())
    if folder not in _announced:
        _announced.add(folder)
        log.warning("the cache %s cannot be written (%s): nothing is kept for the next run", folder, error)


# Part of every folder's name: raise it when the arrays change their meaning.
VERSION = 3
SUMS = "sums.json"


def cache_path(folder: Path, name: str, key: str) -> Path:
    """Where the arrays for a data set are kept; `key` is a digest of the file that they came from."""
    return Path(folder) / "arrays" / f"{name}-{key[:20]}-v{VERSION}"


def save_arrays(path: Path, arrays: dict[str, np.ndarray]) -> None:
    """Writes arrays to a folder of `.npy` files, with a file of their checksums.

    The folder appears whole or not at all, whoever else writes it at the same time. A cache that cannot be written is
    no reason to fail: one line says so.

    Args:
        path: The folder.
        arrays: Dict of arrays.
    """
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=UNFINISHED, dir=path.parent, ignore_cleanup_errors=True) as draft:
            whole = Path(draft) / "whole"
            whole.mkdir()
            _write(whole, arrays)
            _move(whole, path)
    except OSError as error:
        say_unwritable(error)


def _write(folder: Path, arrays: dict[str, np.ndarray]) -> None:
    for name, array in arrays.items():
        with open(folder / f"{name}.npy", "wb") as file:
            np.save(file, array, allow_pickle=False)
            _sync(file)
    with open(folder / SUMS, "w", encoding="utf-8") as file:
        json.dump({name: array_digest(array) for name, array in arrays.items()}, file, indent=1)
        _sync(file)


def _sync(file) -> None:
    file.flush()
    with contextlib.suppress(OSError):  # some network file systems have no sync
        os.fsync(file.fileno())


def _move(whole: Path, path: Path) -> None:
    """Puts a folder in its place; one that another process has just put there is as good."""
    try:
        os.rename(whole, path)
    except OSError:
        if _load_or_none(path) is not None:
            return
        shutil.rmtree(path, ignore_errors=True)  # damaged
        if path.exists() and not path.is_dir():
            path.unlink()
        os.rename(whole, path)


def load_arrays(path: Path) -> tuple[dict[str, np.ndarray], dict[str, str]] | None:
    """Maps the arrays of a folder into memory.

    Every byte is compared with its checksum. That reads all of it once, and is why the second load of COLLAB takes
    0.2 s instead of 0.01.

    Returns:
        Dict of read-only arrays and dict of their digests; or None if there is no such folder that can be read, or it
        is damaged in any way.
    """
    try:
        return _load(Path(path))
    except OSError:
        return None
    except Exception as error:  # a damaged file can raise anything
        log.warning("%s is damaged (%s) and will be made again", path, error)
        return None


def _load_or_none(path: Path):
    try:
        return _load(path)
    except Exception:
        return None


def _load(path: Path) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    sums = json.loads((path / SUMS).read_text(encoding="utf-8"))
    arrays = {}
    for name, expected in sums.items():
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # about headers that NumPy finds odd
            mapped = np.load(path / f"{name}.npy", mmap_mode="r", allow_pickle=False)
        arrays[name] = np.asarray(mapped)
        if array_digest(arrays[name]) != expected:
            raise ValueError(f"wrong checksum of {name}")
    return arrays, sums
