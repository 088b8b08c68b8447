"""The summaries below results/, each read once."""

import json
from functools import cache
from pathlib import Path

from experiments.report import summaries
from ganet_tf.errors import RunError


class Results:
    """What the cells of RESULTS.md gave, as far as they were run.

    Args:
        folder: results/.
    """

    def __init__(self, folder):
        self.folder = Path(folder)
        self._read = cache(self._read_once)

    def get(self, cell):
        """A cell's summary, or None while it is not finished."""
        return self._read(cell.name)

    def rule(self, cell, rule):
        """The entry of one selection rule in a cell's summary, or None."""
        summary = self.get(cell)
        return summary.get(rule) if summary else None

    def missing(self, cells):
        """Those cells that are not finished, each once."""
        return list(dict.fromkeys(cell for cell in cells if self.get(cell) is None))

    def _read_once(self, name):
        folder = self.folder / name
        try:
            return summaries.finished(folder)
        except (json.JSONDecodeError, UnicodeDecodeError, KeyError) as error:
            raise RunError(
                f"results/{name}/summary.json is not a summary that train.py wrote ({error!r}): delete that folder "
                f"and give `python -m experiments.report.run --only {name}`."
            ) from error
