"""What the runs gave: the summaries, and the attention statistics, below results/."""

import json
from functools import cache
from pathlib import Path

from experiments.report.runs import reported_runs
from ganet_tf.errors import RunError

ATTENTION = "attention"  # the folder that `python -m experiments.attention` writes
SELECTION = "selection.json"  # in that folder: how often the hard selection is active, from the data alone


class Results:
    """What lies in results/, each file read once.

    Args:
        folder: results/.
    """

    def __init__(self, folder):
        self.folder = Path(folder)
        self._read = cache(self._read_once)

    def get(self, run):
        """A run's summary, or None while it is not finished."""
        return self._read(run.name)

    def summary(self, name):
        """The same by the run's name."""
        return self._read(name)

    def rule(self, run, rule):
        """The entry of one selection rule in a run's summary, or None."""
        summary = self.get(run)
        return summary.get(rule) if summary else None

    def missing(self, runs):
        """Those runs that are not finished, each once."""
        return list(dict.fromkeys(run for run in runs if self.get(run) is None))

    def attention(self):
        """The attention statistics of every run that has some: the reported ones first, in the report's order."""
        order = {run.name: place for place, run in enumerate(reported_runs())}
        folder = self.folder / ATTENTION
        paths = folder.glob("*/**/*.json")  # a run's name has a folder; what is beside them is of no run
        entries = [json.loads(path.read_text(encoding="utf-8")) for path in paths]
        return sorted(entries, key=lambda entry: (order.get(entry["run"], len(order)), entry["run"]))

    def selection(self):
        """{data set: how many of its nodes have more than k candidates}, empty where nobody counted."""
        path = self.folder / ATTENTION / SELECTION
        return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}

    def _read_once(self, name):
        try:
            return finished(self.folder / name)
        except (json.JSONDecodeError, UnicodeDecodeError, KeyError) as error:
            raise RunError(
                f"results/{name}/summary.json is not a summary that train.py wrote ({error!r}): delete that folder "
                f"and run `python -m experiments.report.run --only {name}`."
            ) from error


def fold_differences(first, second, rule):
    """First minus second summary's accuracy under a rule, in percentage points: each fold against the same fold.

    Raises:
        RunError: when the two were not tested on the same folds.
    """
    folds = [dict(zip(one["folds"], one[rule]["per_fold"], strict=True)) for one in (first, second)]
    if folds[0].keys() != folds[1].keys() or cut(first) != cut(second):
        raise RunError(
            f"A paired test needs the same folds, but {first['label']} on {first['dataset']} has {described(first)} "
            f"and {second['label']} has {described(second)}: run one of them again with the other's folds and splits."
        )
    return tuple(value - folds[1][number] for number, value in folds[0].items())


def cut(summary):
    """What decides which graphs are in a fold, beside its number: train.py's --seed does not."""
    return summary["config"].get("splits"), summary["config"].get("folds")


def described(summary):
    """`folds 1, 2, 3 of 3, stratified`."""
    splits, number = cut(summary)
    return f"folds {', '.join(map(str, summary['folds']))} of {number}, {splits}"


def finished(folder):
    """The summary of a run's folder that has all its folds, else None."""
    path = folder / "summary.json"
    summary = json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
    return summary if summary and summary["complete"] else None
