"""The folder of a run: where its files are, and how they are written so that a crash cannot halve them."""

import errno
import json
import os
import shutil
import tempfile
from pathlib import Path

from ganet_tf.errors import RunError
from ganet_tf.files import UNFINISHED, remove_unfinished

PROBE_BYTES = 32 * 2**20  # a model, two checkpoints and a temporary copy of the largest shipped config


class RunFolder:
    """Paths below one run's folder.

    Layout: `config.yaml`, `fold-01/{history.csv, result.json, model.keras}` (`run-01` on the node
    task), `summary.json`, `summary.md`, `curves.png`. A member with a `result.json` is finished: that
    file is written last.

    Args:
        path: the folder.
        task: "graph" (members are folds) or "node" (members are runs).
    """

    def __init__(self, path, task="graph"):
        self.path = Path(path)
        self.member_word = "fold" if task == "graph" else "run"

    @property
    def config(self):
        return self.path / "config.yaml"

    def member(self, number):
        """The folder of one fold or run."""
        return self.path / f"{self.member_word}-{number:02d}"

    def result(self, number):
        """The parsed result.json of a finished member, or None."""
        path = self.member(number) / "result.json"
        try:
            return json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise RunError(
                f"{path} cannot be read ({error}); delete it to train that {self.member_word} again."
            ) from error

    def results(self, numbers):
        """{number: result} of those members that are finished."""
        found = {number: self.result(number) for number in numbers}
        return {number: result for number, result in found.items() if result is not None}

    def prepare(self, size=PROBE_BYTES):
        """Makes the folder and proves, before hours of training, that it can be written.

        Raises:
            RunError: for a read-only or full disk, or a file where the folder should be.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self._probe(size)
        except OSError as error:
            full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            problem = f"the disk is full ({size / 2**20:.0f} MiB are needed)" if full else error.strerror
            raise RunError(
                f"The run folder {self.path} cannot be written: {problem}; choose another with --output or make room."
            ) from error

    def _probe(self, size):
        """Writes and removes a file as large as what training will write."""
        handle, name = tempfile.mkstemp(dir=self.path, prefix=UNFINISHED)
        try:
            with os.fdopen(handle, "wb") as file:
                for _ in range(max(1, size // 2**20)):
                    file.write(os.urandom(2**10) * 2**10)
                file.flush()
                os.fsync(file.fileno())
        finally:
            Path(name).unlink(missing_ok=True)

    def clear_member(self, number, keep=("lock",)):
        """Removes what an unfinished member left, to start it anew."""
        folder = self.member(number)
        for path in folder.glob("*") if folder.is_dir() else ():
            if path.name not in keep:
                shutil.rmtree(path) if path.is_dir() else path.unlink()

    def remove_litter(self, number):
        """Removes temporary files of a process that was killed while it wrote."""
        remove_unfinished(self.member(number))
