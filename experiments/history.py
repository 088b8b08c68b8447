"""The learning curve of one fold: a list of rows, and `history.csv` that grows by one line an epoch."""

import csv
import io
from pathlib import Path

from ganet_tf.files import write_whole


class History:
    """Rows {"epoch": 1, "train_loss": ..., ...}, on disk as they come.

    A line is written with one call, so a killed process can leave at most a part of the last one;
    `read` leaves it out. Numbers are written in full, so that reading gives the same ones.

    Args:
        path: history.csv.
        rows: rows of an interrupted run to begin with; the file is made anew from them.
    """

    def __init__(self, path, rows=()):
        self.path = Path(path)
        self.rows = [dict(row) for row in rows]
        write_whole(self.path, "".join(_line(row.keys()) for row in self.rows[:1]))
        self._append("".join(_line(row.values()) for row in self.rows))

    def add(self, row):
        """Appends one epoch."""
        self.rows.append(row)
        self._append(("" if len(self.rows) > 1 else _line(row.keys())) + _line(row.values()))

    def column(self, name):
        """One value of all epochs."""
        return [row[name] for row in self.rows]

    def _append(self, text):
        with open(self.path, "a", encoding="utf-8", newline="") as file:
            file.write(text)


def read(path):
    """Rows of a history.csv, without a last line that was cut off."""
    text = Path(path).read_text(encoding="utf-8")
    whole = text[: text.rfind("\n") + 1]
    rows = list(csv.DictReader(io.StringIO(whole)))
    return [{k: int(v) if k == "epoch" else float(v) for k, v in row.items()} for row in rows]


def _line(items):
    return ",".join(str(item) for item in items) + "\n"
