"""What is kept between runs: the folder, and the parsed arrays in it."""

import json
import logging
import os
import tempfile
import zlib
from pathlib import Path

import numpy as np
import platformdirs

from ganet_tf.data.arrays import ALIGNMENT
from ganet_tf.files import write_whole

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


# Part of every file's name and header: raise it when the arrays change their meaning.
VERSION = 1
MAGIC = b"GANETTF1"


def cache_path(folder: Path, name: str, key: str) -> Path:
    """Where the arrays for a data set are kept; `key` is a digest of the file that they came from."""
    return Path(folder) / "arrays" / f"{name}-{key[:20]}-v{VERSION}.bin"


def save_arrays(path: Path, arrays: dict[str, np.ndarray]) -> None:
    """Writes arrays to one file. The file appears whole or not at all, whoever else writes it at the same time.

    A cache that cannot be written is no reason to fail: one line says so.

    Args:
        path: The file.
        arrays: Dict of arrays.
    """
    header, start = {}, 0
    for name, array in arrays.items():
        crc = zlib.crc32(np.ascontiguousarray(array))
        header[name] = {"dtype": array.dtype.str, "shape": array.shape, "start": start, "crc": crc}
        start += -(-array.nbytes // ALIGNMENT) * ALIGNMENT
    text = json.dumps({"size": start, "arrays": header}).encode()
    text += b" " * (-(len(MAGIC) + 8 + len(text)) % ALIGNMENT)
    try:
        write_whole(path, lambda file: _write(file, text, arrays.values()))
    except OSError as error:
        say_unwritable(error)


def _write(file, text, arrays):
    file.write(MAGIC + len(text).to_bytes(8, "little") + text)
    for array in arrays:
        file.write(np.ascontiguousarray(array))
        file.write(bytes(-array.nbytes % ALIGNMENT))


def load_arrays(path: Path) -> dict[str, np.ndarray] | None:
    """Maps the arrays of a file into memory.

    Returns:
        Dict of read-only arrays, or None if there is no such file that can be read, or it is damaged in any way.
    """
    try:
        return _load(path)
    except OSError:
        return None
    except (ValueError, KeyError, TypeError) as error:
        log.warning("%s is damaged (%s) and will be made again", path, error)
        return None


def _load(path):
    with open(path, "rb") as file:
        head = file.read(len(MAGIC) + 8)
        if head[: len(MAGIC)] != MAGIC:
            raise ValueError("wrong header")
        length = int.from_bytes(head[len(MAGIC) :], "little")
        if length > 1 << 20:
            raise ValueError("wrong header length")
        header = json.loads(file.read(length))
        begin = len(MAGIC) + 8 + length
        if os.fstat(file.fileno()).st_size != begin + header["size"]:
            raise ValueError("wrong size")
        whole = np.memmap(file, np.uint8, "r")[begin:] if header["size"] else np.zeros(0, np.uint8)
    return {name: _view(whole, name, entry) for name, entry in header["arrays"].items()}


def _view(whole, name, entry):
    dtype, shape = np.dtype(entry["dtype"]), tuple(entry["shape"])
    size = int(np.prod(shape)) * dtype.itemsize
    part = whole[entry["start"] : entry["start"] + size]
    if zlib.crc32(part) != entry["crc"]:
        raise ValueError(f"wrong checksum of {name}")
    return np.asarray(part).view(dtype).reshape(shape)
