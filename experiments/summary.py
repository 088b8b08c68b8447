"""What a run found: `summary.json` for programs, `summary.md` for papers."""

import json
import platform
import statistics
from datetime import datetime, timezone

from experiments import config as schema
from experiments import environment, history, paper, selection
from experiments.config_loader import to_tree
from experiments.lock import guard
from experiments.console import clock
from ganet_tf.files import write_whole


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
    from experiments.plots import plot_curves

    with guard(folder.path):
        summary, curves = summarize(config, folder, command, facts)
        write_whole(folder.path / "summary.json", json.dumps(summary, indent=2, ensure_ascii=False) + "\n")
        write_whole(folder.path / "summary.md", markdown(summary))
        if curves:
            plot_curves(curves, summary, folder)
    return summary


def summarize(config, folder, command, facts=None):
    """(summary, {number: history rows}) from the result files of a run."""
    results = folder.results(schema.members(config))
    good = {number: result for number, result in results.items() if "failed" not in result}
    curves = {number: history.read(folder.member(number) / "history.csv") for number in good}
    cell = paper.cell(config.dataset, config.model.name, getattr(config.model, "operator", None))
    summary = {
        "dataset": config.dataset,
        "model": config.model.name,
        "label": schema.label(config),
        "task": config.task,
        "protocol": config.protocol,
        "folds": list(good),
        "complete": len(good) == len(schema.members(config)),
        "missing": [number for number in schema.members(config) if number not in results],
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
    return {
        "command": command,
        "seed": config.seed,
        "deterministic": config.deterministic,
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
