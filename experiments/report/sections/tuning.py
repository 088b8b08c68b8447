"""Every setting that was tried, by its validation figures alone."""

import itertools
import shlex

from experiments.report import writing
from experiments.report.runs import FEW_FOLDS, TUNING, Run, reported_runs, tuning_runs
from experiments.report.writing import missing_note, table

# What a tuning run and the reported run of the same setting may differ in.
FREE = ("seed", "runs", "deterministic", "folds", "splits")


class Tried:
    """A setting that was tried: the name of its run, what it changes, and what it gave."""

    def __init__(self, name, summary):
        self.name = name
        self.setting = changed(summary["command"])
        self.summary = summary
        self.rule = summary.get("validation")

    @property
    def what(self):
        """The model, data set and protocol whose setting it is."""
        return tuple(self.summary[key] for key in ("label", "dataset", "protocol"))

    @property
    def capped(self):
        """Whether most of its runs would have learned on: their chosen epoch is the last one."""
        epochs, cap = self.rule["epochs"], self.summary["config"]["epochs"]
        return 2 * sum(epoch == cap for epoch in epochs) > len(epochs)


def changed(command):
    """What a command's --set changes, as Markdown."""
    words = shlex.split(command)
    start = words.index("--set") + 1 if "--set" in words else len(words)
    pairs = itertools.takewhile(lambda word: not word.startswith("--"), words[start:])
    return ", ".join(f"`{pair}`" for pair in pairs if pair not in FEW_FOLDS) or "the config as it was"


def best_first(rule):
    """Sorts validation figures as the choice goes."""
    return -rule["val_accuracy"], rule["val_loss"]


def tried(results):
    """{what: its finished settings, best first}: those of the list and any other that lies in results/."""
    groups = {}
    for run in all_tuning_runs(results):
        summary = results.get(run)
        found = Tried(run.name, summary) if summary else None
        if found and found.rule:
            groups.setdefault(found.what, []).append(found)
    return {
        what: sorted(group, key=lambda one: (one.capped, *best_first(one.rule), one.name))
        for what, group in groups.items()
    }


def all_tuning_runs(results):
    """The settings of the list, then those that were tried once and have left it: nothing that was tried is hidden."""
    listed = tuning_runs()
    folders = {path.parent for path in (results.folder / TUNING).glob("*/*/summary.json")}
    there = {folder.relative_to(results.folder).as_posix() for folder in folders}
    others = sorted(there - {run.name for run in listed})
    return [*listed, *(Run(name, "", "", "validation") for name in others)]


def tuning(results):
    """A table for each data set, highest validation accuracy first."""
    lines = [
        "# Tuning",
        "",
        "Settings were compared by their validation accuracy at the epoch that validation chose, the mean over seeds "
        "(nodes) or folds (graphs); the highest is chosen, of equals the one with the lower validation loss. (The "
        "loss alone would compare how confident networks of different decay are.) A setting is not chosen if in most "
        "of its runs the chosen epoch is the last one. Test figures played no part and are not shown. Each line "
        "changes what it names in the config file as it was then. IMDB-M and D&D were cut into three stratified folds "
        "here instead of ten, to save time; COLLAB was not tuned. Of the models that the paper quotes, only what their "
        "sources leave open, or say in two ways, was tried.",
        "",
    ]
    for group in tried(results).values():
        lines += group_lines(results, group)
    return [*lines, *missing_note(results, tuning_runs())]


def group_lines(results, group):
    """The table of one data set and model."""
    label, dataset, _ = group[0].what
    model = group[0].summary["model"]
    open_ones = results.missing(run for run in tuning_runs() if (run.dataset, run.model) == (dataset, model))
    word = "best so far" if open_ones else "chosen"
    rows = [
        [
            one.setting,
            writing.loss(one.rule["val_loss"]),
            f"{one.rule['val_accuracy']:.2f}",
            len(one.summary["folds"]),
            "not yet at its best when it ended" if one.capped else word if one is group[0] else "",
        ]
        for one in group
    ]
    heads = ["setting", "validation loss", "validation accuracy, %", "folds or seeds", ""]
    what = f"{writing.MODELS.get(label, label)} on {writing.dataset(dataset)}"
    title = f"## {what}: {writing.count(len(group), 'setting')} tried"
    return [title, "", *table(heads, rows), *in_use(results, group), ""]


def in_use(results, group):
    """Which of the settings the reported runs have."""
    parts = []
    for run in reported_runs():
        summary = results.get(run)
        if summary and Tried(run.name, summary).what == group[0].what:
            used = [one.setting for one in group if comparable(one.summary) == comparable(summary)]
            words = f"with {used[0]}" if used else "with none of these settings as a whole"
            parts.append(f"`{run.name}` was trained {words}")
    return [f"Reported: {'; '.join(parts)}."] if parts else []


def comparable(summary):
    """A config without what has nothing to do with its setting."""
    return {key: value for key, value in summary["config"].items() if key not in FREE}
