"""Where an unfinished fold stands: two alternating files with checksums.

A resumed fold must equal an uninterrupted one to the last bit, whenever it was killed. So a checkpoint is all
variables of model and optimizer, the dropout layers' seeds included, the best weights so far, and a JSON record
(epoch, history), in one file that is there whole or not at all, with its SHA-256 in front. There are two, because
then a damaged one costs epochs and not the fold. `keras.callbacks.BackupAndRestore` keeps all variables, too, but
neither history nor best weights, and nothing by which a halved file could be told from a whole one.
"""

import hashlib
import io
import json
import time
from pathlib import Path

import numpy as np

from ganet_tf.errors import RunError
from ganet_tf.files import write_whole

MAGIC = b"ganet_tf checkpoint 1\n"
NAMES = ("checkpoint-a.bin", "checkpoint-b.bin")
SHARE = 0.05  # of the training time may go into checkpoints


class Checkpoint:
    """Saves and restores one fold.

    Args:
        folder: the fold's folder.
        note: called with one sentence when a file is corrupt.
    """

    def __init__(self, folder, note=print):
        self.folder = Path(folder)
        self.note = note
        self._turn = 0
        self._next_time = 0.0

    def due(self):
        """Whether enough time went by that a checkpoint costs no more than its share."""
        return time.monotonic() >= self._next_time

    def save(self, record, arrays):
        """Writes the older of the two files; the newer one stays as the fallback.

        Args:
            record: JSON-able dictionary; needs "epoch", and "pretrained" where steps come before the first one.
            arrays: {group: list of arrays}, for example the model's variables.
        """
        start = time.monotonic()
        write_whole(self.folder / NAMES[self._turn], encode(record, arrays))
        self._turn = 1 - self._turn
        end = time.monotonic()
        self._next_time = end + (end - start) / SHARE

    def load(self):
        """(record, arrays) of the newest file that is whole, or None."""
        found = []
        for turn, name in enumerate(NAMES):
            try:
                record, arrays = decode((self.folder / name).read_bytes())
                found.append((record["epoch"], turn, record, arrays))
            except FileNotFoundError:
                continue
            except (OSError, RunError) as error:
                self.note(f"{self.folder.name}: {name} is corrupt ({error}).")
        if not found:
            return None
        epoch, turn, record, arrays = max(found, key=lambda entry: (entry[0], entry[2].get("pretrained", 0)))
        self._turn = 1 - turn
        where = f"epoch {epoch}" if epoch else f"{record.get('pretrained', 0)} steps before the first epoch"
        self.note(f"{self.folder.name}: continuing after {where}.")
        return record, arrays

    def delete(self):
        """Removes both files: the fold is finished."""
        for name in NAMES:
            (self.folder / name).unlink(missing_ok=True)


def encode(record, arrays):
    """One byte string: magic line, SHA-256, then an uncompressed npz."""
    buffer = io.BytesIO()
    flat = {f"{group}/{i}": array for group, items in arrays.items() for i, array in enumerate(items)}
    text = json.dumps({"record": record, "counts": {group: len(items) for group, items in arrays.items()}})
    np.savez(buffer, record=np.frombuffer(text.encode("utf-8"), np.uint8), **flat)
    body = buffer.getvalue()
    return MAGIC + hashlib.sha256(body).hexdigest().encode("ascii") + b"\n" + body


def decode(data):
    """The inverse of `encode`.

    Raises:
        RunError: when a byte is missing or wrong, or the content is not what `encode` writes.
    """
    body = data[len(MAGIC) + 65 :]
    digest = data[len(MAGIC) : len(MAGIC) + 64]
    if not data.startswith(MAGIC) or hashlib.sha256(body).hexdigest().encode("ascii") != digest:
        raise RunError("its checksum does not match")
    try:
        with np.load(io.BytesIO(body), allow_pickle=False) as file:
            content = json.loads(file["record"].tobytes().decode("utf-8"))
            counts = content["counts"]
            arrays = {group: [file[f"{group}/{i}"] for i in range(n)] for group, n in counts.items()}
        record = content["record"]
        record["epoch"] + record.get("pretrained", 0)  # numbers: the newer of two files is found by them
    except Exception as error:  # whatever NumPy, zip and JSON say to bytes that nobody here wrote
        raise RunError(f"it holds no checkpoint: {type(error).__name__}") from error
    return record, arrays


def values(variables):
    """The arrays of Keras variables."""
    return [np.array(variable.numpy()) for variable in variables]  # copies: training goes on


def assign(variables, arrays):
    """Puts arrays into variables.

    Raises:
        RunError: when they do not fit, for example after the package changed a model.
    """
    check(variables, arrays)
    for variable, array in zip(variables, arrays, strict=True):
        variable.assign(array)


def check(variables, arrays):
    """Raises RunError when the arrays are not of the variables' number, shapes and types."""
    kinds = [(tuple(variable.shape), variable.dtype) for variable in variables]
    if kinds != [(array.shape, array.dtype.name) for array in arrays]:
        raise RunError("the checkpoint was written by another model: its shapes do not fit")
