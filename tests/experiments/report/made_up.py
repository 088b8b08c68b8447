"""Summaries as train.py writes them, with accuracies that a test makes up."""

import json
import statistics
from random import Random

from experiments.report.runs import NODE_SETS, STAND_INS, reported_runs, tuning_runs

TEN = [80.0, 82.0, 84.0, 86.0, 88.0, 80.0, 82.0, 84.0, 86.0, 88.0]  # mean 84, standard deviation sqrt(80 / 9)


def rule(values, epochs=None, **more):
    """The entry of a selection rule."""
    return {
        "mean": round(statistics.fmean(values), 4),
        "std": round(statistics.stdev(values), 4),
        "per_fold": values,
        "epochs": epochs or [10] * len(values),
        **more,
    }


def summary(run, last, best=None, complete=True, **changes):
    """A run's summary.

    Args:
        run: a `Run`.
        last: accuracy of each fold at the last epoch, or the one that validation chose.
        best: accuracy of each fold where test was looked at; by default two points more.
        complete: whether all folds are there.
        **changes: other entries.
    """
    task = "node" if run.dataset in NODE_SETS else "graph"
    best = best or [value + 2 for value in last]
    if task == "node":
        rules = {"validation": rule(last, val_loss=0.7, val_accuracy=80.0), "max_test_lgcn": rule(best)}
    elif run.protocol == "validation":
        rules = {"validation": rule(last, val_loss=0.5, val_accuracy=70.0)}
    else:
        middle = [(a + b) / 2 for a, b in zip(last, best, strict=True)]
        rules = {"last_epoch": rule(last), "best_test_epoch": rule(best), "best_mean_epoch": rule(middle)}
    config = {"dataset": run.dataset, "model": {"k": 8}, "protocol": run.protocol, "seed": 0, "epochs": 50}
    plain = run.model not in STAND_INS
    return {
        "dataset": run.dataset,
        "model": run.model if plain else "hganet",
        "label": run.model if plain else f"hganet, operator={run.model}",
        "task": task,
        "protocol": run.protocol,
        "folds": list(range(1, len(last) + 1)),
        "complete": complete,
        **rules,
        "command": run.command,
        "seed": 0,
        "git_revision": "0123456789abcdef0123456789abcdef01234567",
        "versions": {"tensorflow": "2.21.0", "keras": "3.15.1"},
        "hardware": {"processor": "Abacus", "cores": 2},
        "duration_seconds": 3725.0,
        "written": "2026-01-01T00:00:00+00:00",
        "config": config,
        **changes,
    }


def write(results, run, found):
    """Puts a summary where the report looks for it."""
    folder = results / run.name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "summary.json").write_text(json.dumps(found), encoding="utf-8")


def write_all(results, seed=0):
    """Every run and every tuning run, with random accuracies."""
    random = Random(seed)
    for run in [*reported_runs(), *tuning_runs()]:
        accuracies = [round(random.gauss(75, 4), 4) for _ in range(10)]
        found = summary(run, accuracies)
        if run.is_tuning:
            found["validation"] |= {"val_loss": round(random.uniform(0.5, 1), 6)}
        write(results, run, found)


def text(lines):
    """A section's lines as one string."""
    return "\n".join(lines)


def put(results, run, last=TEN, **changes):
    """Writes a run's made-up summary where `results` looks for it."""
    write(results.folder, run, summary(run, last, **changes))


def put_rival(results, contest, name, values, epochs=300, setting=None, **more):
    """The summary of a contest's rival, or of a setting that it tried, in a `Results` folder."""
    found = {
        "label": name,
        "dataset": contest.dataset,
        "complete": True,
        "folds": list(range(1, len(values) + 1)),
        "validation": rule(values, [epochs] * len(values), val_loss=0.3, val_accuracy=max(values), val_roc_auc=50.0),
        "config": {"epochs": 4000, "splits": None, "folds": None},
        "data": {"train": 400, "test": 200},
        **more,
    }
    folder = results.folder / contest.folder(contest.rival(name), setting)
    folder.mkdir(parents=True)
    (folder / "summary.json").write_text(json.dumps(found))
