"""What a run found: `summary.json` for programs, `summary.md` for papers, `curves.png` for the eye."""

import io
import json
import platform
import statistics
from datetime import datetime, timezone

import numpy as np

from experiments import environment, paper, selection
from experiments.config import fold_numbers, label, to_tree
from experiments.console import clock
from experiments.lock import guard
from experiments.run_folder import read_history
from ganet_tf.files import write_whole

COLORS = {"train": "#7f7f7f", "val": "#1f77b4", "test": "#d62728"}


def write_summary(config, folder, command, facts=None):
    """Writes summary.json, summary.md and curves.png of everything that is finished so far.

    Every process writes it at its end, one after another, so the last one's has all folds in it.

    Args:
        config: the run's config.
        folder: its `RunFolder`.
        command: what to type to get it again.
        facts: more entries for summary.json, for example where the folds came from.

    Returns:
        The summary as a dictionary; without rules when no fold is finished.
    """
    with guard(folder.path):
        summary, curves = summarize(config, folder, command, facts)
        write_whole(folder.path / "summary.json", json.dumps(summary, indent=2, ensure_ascii=False) + "\n")
        write_whole(folder.path / "summary.md", markdown(summary))
        if curves:
            plot_curves(curves, summary, folder)
    return summary


def summarize(config, folder, command, facts=None):
    """(summary, {number: history rows}) from the result files of a run."""
    results = folder.results(fold_numbers(config))
    good = {number: result for number, result in results.items() if "failed" not in result}
    curves = {number: read_history(folder.fold(number) / "history.csv") for number in good}
    cell = paper.cell(config.dataset, config.model.name, getattr(config.model, "operator", None))
    summary = {
        "dataset": config.dataset,
        "model": config.model.name,
        "label": label(config),
        "task": config.task,
        "protocol": config.protocol,
        "folds": list(good),
        "complete": len(good) == len(fold_numbers(config)),
        "missing": [number for number in fold_numbers(config) if number not in results],
        "failed": {number: result["failed"] for number, result in results.items() if "failed" in result},
        "paper": cell.accuracy if cell else None,
        "paper_text": cell.text if cell else None,
        "paper_source": cell.place if cell else None,
        **_rules(good, curves),
        **_origin(config, command, results),
        **(facts or {}),
        "config": to_tree(config),
    }
    return summary, curves


def _rules(results, curves):
    """{rule: mean, std (n - 1) and the single values, all in percent}."""
    found = {}
    for rule in selection.LABELS:
        entries = [result["rules"][rule] for result in results.values() if rule in result["rules"]]
        if entries:
            found[rule] = _statistics([entry["accuracy"] for entry in entries], [entry["epoch"] for entry in entries])
            if "val_loss" in entries[0]:  # what settings may be chosen by
                found[rule]["val_loss"] = round(statistics.fmean(entry["val_loss"] for entry in entries), 6)
                accuracy = statistics.fmean(entry["val_accuracy"] for entry in entries)
                found[rule]["val_accuracy"] = round(100 * accuracy, 4)
    if "best_test_epoch" in found:
        epoch, accuracies = selection.best_mean_epoch(list(curves.values()))
        found["best_mean_epoch"] = _statistics(accuracies, [epoch] * len(accuracies))
    return {rule: found[rule] for rule in selection.LABELS if rule in found}


def _statistics(accuracies, epochs):
    percent = [100 * accuracy for accuracy in accuracies]
    return {
        "mean": round(statistics.fmean(percent), 4),
        "std": round(statistics.stdev(percent), 4) if len(percent) > 1 else 0.0,
        "per_fold": [round(value, 4) for value in percent],
        "epochs": epochs,
    }


def _origin(config, command, results):
    """Where the figures come from."""
    revisions = sorted({str(result.get("git_revision")) for result in results.values()})
    threads = sorted({result["threads"] for result in results.values() if "threads" in result})
    return {
        "command": command,
        "seed": config.seed,
        "deterministic": config.deterministic,
        "threads": threads[0] if len(threads) == 1 else threads or environment.threads(),
        "git_revision": revisions[0] if len(revisions) == 1 else revisions or environment.git_revision(),
        "versions": environment.versions(),
        "hardware": environment.hardware(),
        "platform": platform.platform(terse=True),
        "duration_seconds": round(sum(result.get("seconds", 0) for result in results.values()), 1),
        "written": datetime.now(timezone.utc).isoformat(timespec="seconds"),
    }


def markdown(summary):
    """The summary as a table that can be pasted into a paper's draft."""
    word = "folds" if summary["task"] == "graph" else "runs"
    total = len(summary["folds"]) + len(summary["missing"]) + len(summary["failed"])
    rules = [rule for rule in selection.LABELS if rule in summary]
    lines = [
        f"# {summary['label']} on {summary['dataset']}, protocol {summary['protocol']}",
        "",
        f"Test accuracy in percent over {len(summary['folds'])} of {total} {word}, mean ± standard deviation.",
        "",
        "| which epoch | accuracy |",
        "|---|---|",
    ]
    lines += [f"| {selection.LABELS[r]} | {summary[r]['mean']:.2f} ± {summary[r]['std']:.2f} |" for r in rules]
    if summary["paper_text"]:
        lines.append(f"| the paper ({summary['paper_source']}) | {summary['paper_text']} |")
    if rules:
        lines += ["", *_per_fold(summary, rules, word)]
    if summary["failed"]:
        lines += [
            "",
            *(f"{word[:-1].capitalize()} {n} failed: {why}." for n, why in summary["failed"].items()),
        ]
    if summary["missing"]:
        lines += ["", f"Not finished yet: {word} {', '.join(map(str, summary['missing']))}."]
    return "\n".join([*lines, "", *_footer(summary), ""])


def _per_fold(summary, rules, word):
    lines = [f"| {word[:-1]} | {' | '.join(rules)} |", "|---|" + "---|" * len(rules)]
    for i, number in enumerate(summary["folds"]):
        cells = [f"{summary[r]['per_fold'][i]:.2f} (epoch {summary[r]['epochs'][i]})" for r in rules]
        lines.append(f"| {number} | {' | '.join(cells)} |")
    return lines


def _footer(summary):
    versions, hardware = summary["versions"], summary["hardware"]
    return [
        "![learning curves](curves.png)" if summary["folds"] else "",
        "",
        f"Command: `{summary['command']}`  ",
        f"Seed {summary['seed']}{', deterministic' if summary['deterministic'] else ''}; "
        f"training time {clock(summary['duration_seconds'])} on {hardware['cores']} cores "
        f"({hardware['processor']}); Python {versions['python']}, TensorFlow {versions['tensorflow']}, "
        f"Keras {versions['keras']}; revision {summary['git_revision']}.",
    ]


def plot_curves(curves, summary, folder):
    """Draws `curves.png`: every fold thin, the mean thick; accuracy on the left, loss on the right.

    Args:
        curves: {number: history rows}.
        summary: the run's summary, for title and the paper's figure.
        folder: its `RunFolder`.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4), layout="constrained")
    FigureCanvasAgg(figure)  # no window system needed, no global state touched
    left, right = figure.subplots(1, 2)
    figure.suptitle(
        f"{summary['label']} on {summary['dataset']}, protocol {summary['protocol']}, "
        f"{len(curves)} {folder.word}{'' if len(curves) == 1 else 's'}"
    )
    _draw(left, curves, "accuracy", 100)
    left.set_ylabel("accuracy, %")
    if summary["paper"] is not None:
        left.axhline(summary["paper"], color="black", linestyle=":", label="paper")
    _draw(right, curves, "loss", 1)
    right.set_ylabel("cross-entropy")
    for axes in (left, right):
        axes.set_xlabel("epoch")
        axes.grid(alpha=0.3)
        axes.legend()
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=110)
    write_whole(folder.path / "curves.png", buffer.getvalue())


def _draw(axes, curves, what, scale):
    rows = next(iter(curves.values()))
    for split, color in COLORS.items():
        name = f"{split}_{what}"
        if name not in rows[0]:
            continue
        lines = [scale * np.array([row[name] for row in rows]) for rows in curves.values()]
        for line in lines:
            axes.plot(range(1, len(line) + 1), line, color=color, alpha=0.25, linewidth=0.7)
        mean = _mean_curve(lines)
        axes.plot(range(1, len(mean) + 1), mean, color=color, linewidth=2, label=f"{split}, mean")


def _mean_curve(lines):
    """Mean over those curves that reach an epoch: runs that stopped early are of different length."""
    table = np.full((len(lines), max(map(len, lines))), np.nan)
    for row, line in zip(table, lines, strict=True):
        row[: len(line)] = line
    return np.nanmean(table, axis=0)
