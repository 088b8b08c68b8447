"""A contest: rivals on one data set, all with the same budget, tuned on seeds that are not reported.

Each rival has a grid of settings. Every setting of it is run on the tuning seeds; the one with the best validation
figure, at the epoch that validation chose, is then run on the reported seeds. Test figures play no part in that. On
generated data a seed is a graph of its own; on data with published splits run n trains on split n.
"""

from dataclasses import dataclass

from experiments.report.results import finished
from experiments.report.runs import COMMON

FOLDER = "study"  # below results/ and runs/
TUNING = "tuning"  # folder of the settings that were tried
TUNING_SEED = "100"


@dataclass(frozen=True)
class Rival:
    """One of those that compete.

    Args:
        name: its folder.
        settings: `key=value` words for --set.
        grid: the settings to choose from, each a tuple of such words.
        model: train.py's --model.
    """

    name: str
    settings: tuple[str, ...] = ()
    grid: tuple[tuple[str, ...], ...] = ((),)
    model: str = "hganet"


@dataclass(frozen=True)
class Contest:
    """Rivals on one data set.

    Args:
        name: its folder: `teacher/cora`.
        dataset: the data set's name.
        rivals: who competes.
        common: settings of all of them; a rival's own come after these, and win.
        pairs: (first, second) rivals whose differences are tested; one family for Holm's correction.
        task: "node" or "graph".
        runs: reported repetitions on nodes.
        tuning_runs: repetitions for each setting that is tried.
    """

    name: str
    dataset: str
    rivals: tuple[Rival, ...]
    common: tuple[str, ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()
    task: str = "node"
    runs: int = 10
    tuning_runs: int = 2

    def rival(self, name):
        """The rival of a name."""
        return next(rival for rival in self.rivals if rival.name == name)

    def folder(self, rival, setting=None):
        """Where a cell lies below results/ and runs/: the reported one, or a setting that is tried."""
        parts = [FOLDER, self.name, *([TUNING] if setting is not None else []), rival.name]
        return "/".join([*parts, *([words(setting)] if setting is not None else [])])

    def flags(self, rival, setting, tuning=False):
        """train.py's flags of a cell."""
        flags = ["--task", self.task, "--dataset", self.dataset, "--model", rival.model]
        if self.task == "graph":
            flags += ["--protocol", "validation"]
        else:
            flags += ["--runs", str(self.tuning_runs if tuning else self.runs)]
        settings = last_wins((*self.common, *rival.settings, *setting))
        return [*flags, "--set", *settings, *(["--seed", TUNING_SEED] if tuning else []), *COMMON]


def words(setting):
    """A setting as a folder's name: the last parts of its keys."""
    return ",".join(f"{pair.partition('=')[0].split('.')[-1]}={pair.partition('=')[2]}" for pair in setting) or "plain"


def last_wins(settings):
    """The words without those whose key comes again."""
    return tuple({pair.partition("=")[0]: pair for pair in settings}.values())


def validation_figure(summary):
    """What settings are compared by: (validation metric, minus the validation loss), more is better."""
    return summary["validation"][f"val_{summary.get('metric', 'accuracy')}"], -summary["validation"]["val_loss"]


def chosen(contest, rival, results):
    """The setting that validation prefers; None while one of the grid is not there.

    Args:
        contest, rival: whose setting.
        results: the results/ folder.
    """
    if len(rival.grid) == 1:
        return rival.grid[0]
    found = [finished(results / contest.folder(rival, setting)) for setting in rival.grid]
    if None in found:
        return None
    best = max(range(len(found)), key=lambda i: validation_figure(found[i]))
    return rival.grid[best]
