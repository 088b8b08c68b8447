"""What a run found: `summary.json` for programs, `summary.md` for papers, `curves.png` for the eye."""

import io
import json
import platform
import statistics
from datetime import datetime, timezone

import numpy as np

from experiments import environment, paper, selection
from experiments.answers import class_figures, class_pages
from experiments.config import fold_numbers, label, to_tree
from experiments.console import clock, mean_and_std, number
from experiments.lock import guard
from experiments.objective import METRICS, OBJECTIVES
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
        pages = []
        if found := class_figures(folder.fold(n) / "test.csv" for n in summary["folds"]):
            pages, table = class_pages(*found)
            write_whole(folder.path / "confusion.csv", table)
        write_whole(folder.path / "summary.md", markdown(summary, pages))
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
        **_kind(good),
        **_origin(config, command, results),
        **(facts or {}),
        "config": to_tree(config),
    }
    return summary, curves


def metrics_of(results):
    """What was measured in some folds, the reported one first; accuracy where nothing is finished."""
    rules = [entry for result in results.values() for entry in result["rules"].values()]
    return [name for name in METRICS if rules and name in rules[0]] or ["accuracy"]


def _kind(results):
    """What the figures are, where they are no accuracies."""
    metric = metrics_of(results)[0]
    return {} if metric == "accuracy" else {"metric": metric}


def _rules(results, curves):
    """{rule: mean, std (n - 1) and the single values, in percent where the metric is a share}."""
    found = {}
    metric, *others = metrics_of(results)
    for rule in selection.LABELS:
        entries = [result["rules"][rule] for result in results.values() if rule in result["rules"]]
        if entries:
            epochs = [entry["epoch"] for entry in entries]
            found[rule] = _statistics([entry[metric] for entry in entries], epochs, metric)
            for other in others:
                more = _statistics([entry[other] for entry in entries], epochs, other)
                found[rule][other] = {name: more[name] for name in ("mean", "std", "per_fold")}
            if "val_loss" in entries[0]:  # what settings may be chosen by
                found[rule]["val_loss"] = round(statistics.fmean(entry["val_loss"] for entry in entries), 6)
                for name in (metric, *others):
                    values = [entry[f"val_{name}"] for entry in entries if entry[f"val_{name}"] is not None]
                    mean = _rounded(METRICS[name].scale * statistics.fmean(values), name) if values else None
                    found[rule][f"val_{name}"] = mean
    if {"best_test_epoch", "last_epoch"} <= set(found):  # repetitions on nodes stop when they will: no common curve
        epoch, values = selection.best_mean_epoch(list(curves.values()), metric, METRICS[metric].higher)
        values = [None if value != value else value for value in values]
        found["best_mean_epoch"] = _statistics(values, [epoch] * len(values), metric)
    return {rule: found[rule] for rule in selection.LABELS if rule in found}


def _statistics(values, epochs, metric):
    """Over the folds in which the metric is defined."""
    scaled = [None if value is None else METRICS[metric].scale * value for value in values]
    known = [value for value in scaled if value is not None]
    return {
        "mean": _rounded(statistics.fmean(known), metric) if known else None,
        "std": _rounded(statistics.stdev(known), metric) if len(known) > 1 else 0.0,
        "per_fold": [None if value is None else _rounded(value, metric) for value in scaled],
        "epochs": epochs,
    }


def _rounded(value, metric):
    """Percent to four digits behind the point; numbers in a unit of the user's to six that count."""
    return round(value, 4) if METRICS[metric].scale == 100 else float(f"{value:.6g}")


def _origin(config, command, results):
    """Where the figures come from."""
    revisions = sorted({str(result.get("git_revision")) for result in results.values()})
    threads = sorted({result["threads"] for result in results.values() if "threads" in result})
    ways = sorted({result["implementation"] for result in results.values() if result.get("implementation")})
    return {
        "command": command,
        "seed": config.seed,
        "deterministic": config.deterministic,
        "threads": threads[0] if len(threads) == 1 else threads or environment.threads(),
        "implementation": ways[0] if len(ways) == 1 else ways or environment.implementation(config),
        "git_revision": revisions[0] if len(revisions) == 1 else revisions or environment.git_revision(),
        "versions": environment.versions(),
        "hardware": environment.hardware(),
        "platform": platform.platform(terse=True),
        "duration_seconds": round(sum(result.get("seconds", 0) for result in results.values()), 1),
        "written": datetime.now(timezone.utc).isoformat(timespec="seconds"),
    }


def markdown(summary, pages=()):
    """The summary as a table that can be pasted into a paper's draft, and further lines after it."""
    name = summary.get("metric", "accuracy")
    metric = METRICS[name]
    word = "folds" if summary["task"] == "graph" else "runs"
    total = len(summary["folds"]) + len(summary["missing"]) + len(summary["failed"])
    rules = [rule for rule in selection.LABELS if rule in summary]
    lines = [
        f"# {summary['label']} on {summary['dataset']}, protocol {summary['protocol']}",
        "",
        f"Test {metric.text}{' in percent' if metric.unit else ''} over {len(summary['folds'])} of {total} {word}, "
        "mean ± standard deviation.",
        "",
        f"| which epoch | {metric.text} |",
        "|---|---|",
    ]
    lines += [f"| {selection.LABELS[r]} | {mean_and_std(summary[r], name)} |" for r in rules]
    lines += [
        f"| {selection.LABELS[rule]}: {METRICS[other].title} | {mean_and_std(summary[rule][other], other)} |"
        for rule in rules
        for other in METRICS
        if other in summary[rule]
    ]
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
    return "\n".join([*lines, "", *([*pages, ""] if pages else []), *_footer(summary), ""])


def _per_fold(summary, rules, word):
    metric = summary.get("metric", "accuracy")
    lines = [f"| {word[:-1]} | {' | '.join(rules)} |", "|---|" + "---|" * len(rules)]
    for i, fold in enumerate(summary["folds"]):
        values = [(number(summary[r]["per_fold"][i], metric), summary[r]["epochs"][i]) for r in rules]
        cells = [f"{value} (epoch {epoch})" for value, epoch in values]
        lines.append(f"| {fold} | {' | '.join(cells)} |")
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
    """Draws `curves.png`: every fold thin, the mean thick; the metric on the left, loss on the right.

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
    name = summary.get("metric", "accuracy")
    metric = METRICS[name]
    _draw(left, curves, name, metric.scale)
    left.set_ylabel(f"{metric.text}, %" if metric.unit else metric.text)
    if summary["paper"] is not None:
        left.axhline(summary["paper"], color="black", linestyle=":", label="paper")
    _draw(right, curves, "loss", 1)
    right.set_ylabel(next(kind.loss_text for kind in OBJECTIVES.values() if name == kind.metrics[0]))
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
    known = ~np.isnan(table)  # an epoch in which a metric is defined nowhere has no mean
    return np.where(known, table, 0).sum(axis=0) / np.where(known.any(axis=0), known.sum(axis=0), np.nan)
