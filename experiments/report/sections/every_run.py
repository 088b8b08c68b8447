"""The last table of RESULTS.md: where each figure comes from, and how to get it again."""

import shlex

from experiments.report import writing as numbers
from experiments.report.markdown import table
from experiments.report.runs import COMMON, all_cells
from experiments.report.sections.tuning import all_tuning_cells
from experiments.report.writing import MISSING, NONE

HEADS = ("cell", "command", "seed", "revision", "TensorFlow / Keras", "training time")


def cells_section(results):
    """A line for every cell, tuning included."""
    cells = [*all_cells(), *all_tuning_cells(results)]
    done = len(cells) - len(results.missing(cells))
    return [
        "## Every cell",
        "",
        f"{done} of {numbers.count(len(cells), 'cell')} have been run{machines(results, cells)}. Each command gives "
        "its cell again; the same seed, versions and `--deterministic` give the same figures. Fold or run n trains "
        "with seed + n. Training time is the sum over folds or runs, beside other work. Tuning runs start from the "
        "config that lies beside their summary, because what they found may have changed the one in `configs/` "
        "since.",
        "",
        *table(HEADS, [row(results, cell) for cell in cells], left=2),
    ]


def row(results, cell):
    """A line of the table."""
    summary = results.get(cell)
    if summary is None:
        return [cell.name, f"`{cell.command}`", MISSING, NONE, NONE, NONE]
    return [
        f"[{cell.name}](results/{cell.name}/summary.json)",
        f"`{kept_command(cell) if cell.name.startswith('tuning/') else cell.command}`",
        summary["seed"],
        numbers.revision(summary["git_revision"]),
        f"{summary['versions']['tensorflow']} / {summary['versions']['keras']}",
        numbers.duration(summary["duration_seconds"]),
    ]


def kept_command(cell):
    """The run again from the config that was kept with its summary."""
    config, output = f"results/{cell.name}/config.yaml", f"runs/{cell.name}"
    return shlex.join(["python", "train.py", "--config", config, *COMMON, "--output", output])


def machines(results, cells):
    """On what, as far as the summaries say."""
    found = [summary["hardware"] for cell in cells if (summary := results.get(cell))]
    kinds = sorted({f"{entry['processor']}, {numbers.count(entry['cores'], 'core')}" for entry in found})
    return f" on {' and '.join(kinds)}" if kinds else ""
