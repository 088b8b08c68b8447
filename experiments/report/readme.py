"""The tables of README.md and configs/README.md."""

from typing import NamedTuple

from experiments import config_loader, paper
from experiments.report import writing
from experiments.report.runs import NETWORKS, NODE_SETS, TUNED, graph_run, node_run, reported_runs, tuned_run
from experiments.report.writing import MISSING, NONE, SELECTED_ON_TEST, table


def readme_block(results):
    """Ours beside the paper's on all nine data sets, as Markdown."""
    best, last = f"best test epoch {SELECTED_ON_TEST}", "last epoch"
    graph_heads = ["test accuracy, %", "", "paper", best, last, f"tuned: {best}", f"tuned: {last}"]
    node_heads = ["test accuracy, %", "hGANet: paper", "hGANet", "GCN", "GAT"]
    lines = [
        *table(graph_heads, [graph_line(results, d, m) for d in writing.DATASETS for m in NETWORKS], left=2),
        *table(node_heads, [node_line(results, dataset) for dataset in NODE_SETS]),
        f"Mean ± standard deviation over ten folds or seeds. {SELECTED_ON_TEST} The epoch is selected on test, which "
        "is probably what the paper reports; the last epoch is not selected at all. *Tuned*: with the setting that "
        "validation preferred to what the paper says, where it did. On nodes, validation chooses "
        "the epoch. [RESULTS.md](RESULTS.md) has every table, the control without attention, longer training and the "
        "protocol that selects nothing on test; [docs/results](docs/results) has paired tests, tuning, what the "
        "attention does, and the command behind each figure. `make report` writes all of it from `results/`.",
    ]
    return "\n".join(lines)


def graph_line(results, dataset, model):
    """A line of Table 5: the paper's setting, and the tuned one where there is one."""
    figures = [paper.cell(dataset, model).text]
    for run in (graph_run(dataset, model), tuned_run(dataset, model) if dataset in TUNED else None):
        summary = results.get(run) if run else None
        rules = [writing.accuracy(summary[rule]) for rule in ("best_test_epoch", "last_epoch")] if summary else []
        figures += rules or [MISSING if run else NONE, NONE]
    return [writing.dataset(dataset), writing.MODELS[model], *figures]


def node_line(results, dataset):
    """A data set of Table 6: hGANet beside GCN and GAT trained here."""
    found = [results.rule(node_run(dataset, model), "validation") for model in ("hganet", "gcn", "gat")]
    ours = [writing.accuracy(rule) if rule else MISSING for rule in found]
    return [dataset, paper.cell(dataset, "hganet").text, *ours]


class Pair(NamedTuple):
    """A data set and a model that train.py has a config for, and the file that it is read or derived from."""

    dataset: str
    model: str
    file: str


def pairs(folder):
    """Every `Pair`, by data set and model. The one place that knows where configs come from."""
    found = []
    for path in sorted(folder.glob("*.yaml")):
        config = config_loader.load(path)
        found.append(Pair(config.dataset, config.model.name, path.name))
    return found


def config_table(results, folder):
    """The table of configs/README.md: every config in `folder`, its cell in the paper, and what it gave here."""
    figures = config_figures(results)
    rows = []
    for pair in pairs(folder):
        cell = paper.cell(pair.dataset, pair.model)
        place = [cell.place, cell.text] if cell else ["-", "-"]
        derived = "" if pair.file.endswith(f"_{pair.model}.yaml") else f", `--model {pair.model}`"
        rows.append([f"`{pair.file}`{derived}", *place, *figures.get((pair.dataset, pair.model), ("", ""))])
    return "\n".join(table(["file", "the paper's cell", "paper", "measured", "run time"], rows, left=5))


def config_figures(results):
    """{(data set, model): (figures, run time)} of every config that was run as it stands, as texts."""
    summaries = {(run.dataset, run.model): results.get(run) for run in reported_runs() if run.is_plain}
    return {
        pair: (figure(summary), writing.duration(summary["duration_seconds"]))
        for pair, summary in summaries.items()
        if summary
    }


def figure(summary):
    """`85.00 last, 90.00 best test †`, or the figure at the epoch that validation chose."""
    if summary["task"] == "node":
        return writing.mean(summary["validation"])
    last, best = (writing.mean(summary[rule]) for rule in ("last_epoch", "best_test_epoch"))
    return f"{last} last, {best} best test {SELECTED_ON_TEST}"
