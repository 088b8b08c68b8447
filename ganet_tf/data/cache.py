"""A binary cache of parsed arrays: one file a data set, mapped into memory instead of read."""

import json
import logging
import os
import zlib
from pathlib import Path

import numpy as np

from ganet_tf.data.aligned import ALIGNMENT
from ganet_tf.data.cache_folder import say_unwritable
from ganet_tf.files import write_whole

log = logging.getLogger(__name__)

# Part of every file's name and header: raise it when the arrays change their meaning.
VERSION = 1
MAGIC = b"GANETTF1"


def cache_path(folder, name, key):
    """Where the arrays for a data set are kept; `key` is a digest of the file that they came from."""
    return Path(folder) / "arrays" / f"{name}-{key[:20]}-v{VERSION}.bin"


def save_arrays(path, arrays):
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


def load_arrays(path):
    """Maps the arrays of a file into memory.

    Returns:
        Dict of read-only arrays, or None if there is no such file that can be read, or it is damaged in any way.
    """
    try:
        return _load(path)
    except OSError:
        return None
    except (ValueError, KeyError, TypeError) as error:
        log.warning("%s is damaged (%s) and will be made anew", path, error)
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
