"""The tables of README.md and configs/README.md."""

from experiments import paper
from experiments.config import all_configs
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


def config_table(results):
    """The table of configs/README.md: each data set and model with a config, its cell in the paper, what it gave."""
    figures = config_figures(results)
    rows = []
    for name, config, path in all_configs():
        dataset, model = config.dataset, config.model.name
        cell = paper.cell(dataset, model)
        place = [cell.place, cell.text] if cell else ["-", "-"]
        file = f"`{path.name}`" if path.stem == name else f"`{path.name}`, `--model {model}`"
        rows.append([file, *place, *figures.get((dataset, model), ("", ""))])
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
