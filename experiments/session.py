"""The steps of train.py between parsing and training, each a few lines."""

import dataclasses
import sys

from experiments import config as schema
from experiments import config_loader, resolve, selection
from experiments.tasks import GraphTask
from experiments.lock import guard
from experiments.node_task import NodeTask
from ganet_tf.errors import ConfigError, RunError

# Settings that may differ between two visits to one folder: more runs only add to it.
FREE = ("runs",)
SMALL_BATCH = 10_000  # nodes and edges

# About two minutes on two cores; the configs' own epochs give the figures to compare with the paper.
DEMO_EPOCHS = {"MUTAG": "60", "BA2Motifs": "10"}


def choose_demo(arguments):
    """Without any flag: MUTAG where it can be had, else one line why not, and BA2Motifs."""
    arguments.dataset, reason = resolve.demo_dataset(arguments.data_dir)
    arguments.epochs = DEMO_EPOCHS[arguments.dataset]
    if reason:
        print(f"MUTAG cannot be had, so this runs on the generated BA2Motifs: {reason}", file=sys.stderr)


def settle_splits(config, dataset):
    """`splits: auto` becomes what it means for this data set, so that a run cannot mix two kinds."""
    if config.task == "node" or config.splits == "stratified":
        return config
    if config.splits == "auto":
        splits = dataset.fold_kind if config.folds == 10 else "stratified"
        return dataclasses.replace(config, splits=splits)
    if config.folds != 10:
        raise ConfigError(f"There are 10 published folds, but folds is {config.folds}: set splits to stratified.")
    return config


def suitable_threads(config, dataset):
    """1 for small batches, whose operations are too short to be shared out, else 0: one a core.

    On MUTAG a second thread doubles the processor time and saves none.
    """
    if config.task == "node":
        batch = dataset.num_nodes + len(dataset.edges)
    else:
        batch = config.batch_size * (dataset.sizes.mean() + dataset.edge_counts.mean())
    return 1 if batch < SMALL_BATCH else 0


def make_task(config, dataset):
    """The task object of a config."""
    return (GraphTask if config.task == "graph" else NodeTask)(config, dataset)


def claim(folder, config):
    """Writes config.yaml into a new folder, or makes sure that an old one has the same config.

    Returns:
        The config; `runs` may have grown to what the folder already had.

    Raises:
        RunError: when the folder belongs to another config; nothing is changed then.
    """
    with guard(folder.path):
        if not folder.config.exists():
            strangers = [p.name for p in folder.path.iterdir() if not p.name.startswith(".")]
            if strangers:
                raise RunError(
                    f"{folder.path} is not empty and not a run's folder (it has {strangers[0]} in it); "
                    "choose another with --output."
                )
            config_loader.save(config, folder.config)
            return config
        old = config_loader.load(folder.config)
        if old.task == config.task:
            changed = config_loader.differences(old, config, ignore=FREE)
        else:
            changed = [("task", old.task, config.task)]
        if changed:
            listed = ", ".join(f"{key} {before!r} there, {now!r} now" for key, before, now in changed)
            raise RunError(
                f"{folder.path} holds a run with another config ({listed}); "
                "nothing was changed: choose another folder with --output, or delete that one."
            )
        if config.task == "node" and config.runs != old.runs:
            config = dataclasses.replace(config, runs=max(config.runs, old.runs))
            config_loader.save(config, folder.config)
        return config


def greet(report, config, dataset, folder, numbers):
    """Says what is going to happen, and what has happened before."""
    finished = folder.results(numbers)
    report.skip(len(finished))
    what = f"{schema.label(config)} on {config.dataset} ({dataset!r})"
    report.say(
        f"{what}: {len(numbers)} {folder.member_word}s of at most {config.epochs} epochs, protocol "
        f"{config.protocol}, into {folder.path}"
    )
    if config.task == "graph":
        report.say(f"folds: {config.splits}")
    if finished and len(finished) == len(numbers):
        report.say(
            f"This run is finished: here is its result. To run it anew, delete {folder.path} or choose "
            "another folder with --output."
        )
    elif finished:
        report.say(f"Already finished: {folder.member_word} {', '.join(map(str, finished))}.")


def facts(dataset):
    """What summary.json says of the data."""
    return {"data": dataset.statistics()}


def conclude(report, summary, folder, elsewhere):
    """Prints the result; returns the exit code."""
    for number, holder in elsewhere.items():
        report.note(f"{folder.member_word} {number} is being trained by {holder}, which will write the summary.")
    for number, reason in summary["failed"].items():
        report.note(f"{folder.member_word} {number} failed: {reason}.")
    if not report.quiet and summary["folds"]:
        report.table(summary)
        if summary["missing"]:
            report.say(f"Not finished yet: {folder.member_word} {', '.join(map(str, summary['missing']))}.")
        report.say(f"{folder.path / 'summary.md'}, summary.json and curves.png have it all.")
    print(last_line(summary, folder))
    return 1 if summary["failed"] else 0


def last_line(summary, folder):
    """The whole result in a line."""
    rules = [rule for rule in selection.LABELS if rule in summary]
    figures = [f"{rule} {summary[rule]['mean']:.2f} ± {summary[rule]['std']:.2f}" for rule in rules]
    if summary["paper_text"]:
        figures.append(f"paper {summary['paper_text']}")
    count = f"{len(summary['folds'])} {folder.member_word}s"
    return f"{summary['dataset']} {summary['label']} ({count}): {', '.join(figures) or 'nothing finished'}"
