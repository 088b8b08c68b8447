"""Every setting that was tried, by its validation figures alone."""

import itertools
import shlex

from experiments.report import names
from experiments.report import writing as numbers
from experiments.report.markdown import missing_note, table
from experiments.report.runs import Cell, all_cells
from experiments.report.tuning import FEW_FOLDS, best_first, tuning_cells

# What a tuning run and the reported run of the same setting may differ in.
FREE = ("seed", "runs", "deterministic", "folds", "splits")
FOLDER = "tuning"


class Tried:
    """A tuning run on disk: its place below results/ and its summary."""

    def __init__(self, name, summary):
        self.name = name
        self.setting = changed(summary["command"])
        self.summary = summary
        self.rule = summary.get("validation")

    @property
    def what(self):
        """The model, data set and protocol whose setting it is."""
        return tuple(self.summary[key] for key in ("label", "dataset", "protocol"))


def changed(command):
    """What a command's --set changes, as Markdown."""
    words = shlex.split(command)
    start = words.index("--set") + 1 if "--set" in words else len(words)
    pairs = itertools.takewhile(lambda word: not word.startswith("--"), words[start:])
    return ", ".join(f"`{pair}`" for pair in pairs if pair not in FEW_FOLDS) or "the config as it was"


def tried(results):
    """{what: its finished runs, best first}: those of the list and any other that lies in results/."""
    groups = {}
    for cell in all_tuning_cells(results):
        summary = results.get(cell)
        run = Tried(cell.name, summary) if summary else None
        if run and run.rule:
            groups.setdefault(run.what, []).append(run)
    return {what: sorted(runs, key=lambda run: (*best_first(run.rule), run.name)) for what, runs in groups.items()}


def all_tuning_cells(results):
    """The settings of the list, then those that were tried once and have left it: nothing that was tried is hidden."""
    listed = tuning_cells()
    folders = {path.parent for path in (results.folder / FOLDER).glob("*/*/summary.json")}
    there = {folder.relative_to(results.folder).as_posix() for folder in folders}
    others = sorted(there - {cell.name for cell in listed})
    return [*listed, *(Cell(name, "", "", "validation") for name in others)]


def tuning_section(results):
    """A table for each data set, highest validation accuracy first."""
    lines = [
        "## Tuning",
        "",
        "Settings were compared by their validation accuracy at the epoch that validation chose, the mean over seeds "
        "(nodes) or folds (graphs); the highest is chosen, of equals the one with the lower validation loss. (The "
        "loss alone would compare how sure networks of different decay are.) Test figures played no part and are not "
        "shown. Each line changes what it names in the config file as it was then. IMDB-M and D&D were "
        "cut into three stratified folds here instead of ten, to save time; COLLAB was not tuned.",
        "",
    ]
    for runs in tried(results).values():
        lines += group_lines(results, runs)
    return [*lines, *missing_note(results, tuning_cells())]


def group_lines(results, runs):
    """The table of one data set and model."""
    label, dataset, _ = runs[0].what
    open_ones = results.missing(cell for cell in tuning_cells() if cell.dataset == dataset)
    word = "best so far" if open_ones else "chosen"
    rows = [
        [
            run.setting,
            numbers.loss(run.rule["val_loss"]),
            f"{run.rule['val_accuracy']:.2f}",
            len(run.summary["folds"]),
            word if run is runs[0] else "",
        ]
        for run in runs
    ]
    heads = ["setting", "validation loss", "validation accuracy, %", "runs", ""]
    what = f"{names.MODELS.get(label, label)} on {names.dataset(dataset)}"
    title = f"### {what}: {numbers.count(len(runs), 'setting')} tried"
    return [title, "", *table(heads, rows), *in_use(results, runs), ""]


def in_use(results, runs):
    """Which of the settings the reported runs have."""
    parts = []
    for cell in all_cells():
        summary = results.get(cell)
        if summary and Tried(cell.name, summary).what == runs[0].what:
            used = [run.setting for run in runs if comparable(run.summary) == comparable(summary)]
            words = f"with {used[0]}" if used else "with none of these settings as a whole"
            parts.append(f"`{cell.name}` was trained {words}")
    return [f"Reported: {'; '.join(parts)}."] if parts else []


def comparable(summary):
    """A config without what has nothing to do with its setting."""
    return {key: value for key, value in summary["config"].items() if key not in FREE}
