"""The list of runs: where each figure comes from, and how to get it again."""

import shlex

from experiments.report import writing
from experiments.report.runs import COMMON, reported_runs
from experiments.report.sections.tuning import all_tuning_runs
from experiments.report.writing import MISSING, NONE, table

HEADS = ("run", "command", "seed", "revision", "TensorFlow / Keras", "training time")


def every_run(results):
    """A line for every run, tuning included."""
    runs = [*reported_runs(), *all_tuning_runs(results)]
    done = len(runs) - len(results.missing(runs))
    return [
        "# Every run",
        "",
        f"{done} of {writing.count(len(runs), 'run')} have been trained{machines(results, runs)}. Each command "
        "repeats its run; the same seed, versions, kind of processor and `--deterministic` give the same figures. Fold "
        "n (on nodes: seed n) trains with seed + n. Training time is the sum over folds or seeds, beside other work. A "
        "tuning run starts from the config beside its summary, because what it found may have changed the one in "
        "`configs/` since.",
        "",
        *table(HEADS, [row(results, run) for run in runs], left=2),
    ]


def row(results, run):
    """A line of the table."""
    summary = results.get(run)
    if summary is None:
        return [run.name, f"`{run.command}`", MISSING, NONE, NONE, NONE]
    return [
        f"[{run.name}](results/{run.name}/summary.json)",
        f"`{kept_command(run) if run.is_tuning else run.command}`",
        summary["seed"],
        writing.revision(summary["git_revision"]),
        f"{summary['versions']['tensorflow']} / {summary['versions']['keras']}",
        writing.duration(summary["duration_seconds"]),
    ]


def kept_command(run):
    """The run again from the config that was kept with its summary."""
    config, output = f"results/{run.name}/config.yaml", f"runs/{run.name}"
    return shlex.join(["python", "train.py", "--config", config, *COMMON, "--output", output])


def machines(results, runs):
    """On what, as far as the summaries say."""
    found = [summary["hardware"] for run in runs if (summary := results.get(run))]
    kinds = sorted({f"{entry['processor']}, {writing.count(entry['cores'], 'core')}" for entry in found})
    return f" on {' and '.join(kinds)}" if kinds else ""
