"""The short form for the README, and the two columns of configs/README.md."""

from experiments import config_loader, paper
from experiments.report import names
from experiments.report import writing as numbers
from experiments.report.markdown import table
from experiments.report.runs import (
    MODELS,
    NETWORKS,
    NODE_SETS,
    TUNED,
    all_cells,
    graph_cell,
    node_cell,
    tuned_cell,
)
from experiments.report.writing import MISSING, NONE, SELECTED_ON_TEST


def readme_block(results):
    """Ours beside the paper's on all nine data sets, as Markdown."""
    best, last = f"best test epoch {SELECTED_ON_TEST}", "last epoch"
    graph_heads = ["test accuracy, %", "", "paper", best, last, f"tuned: {best}", f"tuned: {last}"]
    node_heads = ["test accuracy, %", "hGANet: paper", "hGANet", "GCN", "GAT"]
    lines = [
        *table(graph_heads, [graph_line(results, d, m) for d in names.DATASETS for m in NETWORKS], left=2),
        *table(node_heads, [node_line(results, dataset) for dataset in NODE_SETS]),
        f"Mean ± standard deviation over ten folds or seeds. {SELECTED_ON_TEST} The epoch is selected on test, which "
        "is probably what the paper reports; the last epoch is not selected at all. *Tuned*: with the setting that "
        "validation preferred to what the paper says, where it did. On nodes, validation chooses "
        "the epoch. [RESULTS.md](RESULTS.md) has every table, the control without attention, longer training, the "
        "protocol without a look at test, paired tests, and the command behind each figure; `make report` "
        "writes it from `results/`.",
    ]
    return "\n".join(lines)


def graph_line(results, dataset, model):
    """A line of Table 5: the paper's setting, and the tuned one where there is one."""
    figures = [paper.cell(dataset, model).text]
    for cell in (graph_cell(dataset, model), tuned_cell(dataset, model) if dataset in TUNED else None):
        summary = results.get(cell) if cell else None
        rules = [numbers.accuracy(summary[rule]) for rule in ("best_test_epoch", "last_epoch")] if summary else []
        figures += rules or [MISSING if cell else NONE, NONE]
    return [names.dataset(dataset), names.MODELS[model], *figures]


def node_line(results, dataset):
    """A data set of Table 6: hGANet beside GCN and GAT trained here."""
    found = [results.rule(node_cell(dataset, model), "validation") for model in ("hganet", "gcn", "gat")]
    ours = [numbers.accuracy(rule) if rule else MISSING for rule in found]
    return [dataset, paper.cell(dataset, "hganet").text, *ours]


def config_table(results, folder):
    """The table of configs/README.md: every config file in `folder`, its cell in the paper, and what it gave here."""
    figures = config_figures(results)
    rows = []
    for path in sorted(folder.glob("*.yaml")):
        config = config_loader.load(path)
        cell = paper.cell(config.dataset, config.model.name)
        place = [cell.place, cell.text] if cell else ["-", "-"]
        rows.append([f"`{path.name}`", *place, *figures.get(path.name, ("", ""))])
    return "\n".join(table(["file", "the paper's cell", "paper", "measured", "run time"], rows, left=5))


def config_figures(results):
    """{config file: (figures, run time)} of every shipped config whose cell was run, as texts."""
    found = {}
    for cell in all_cells():
        summary = results.get(cell)
        if summary and is_plain(cell):
            found[f"{cell.name}.yaml"] = (figure(summary), numbers.duration(summary["duration_seconds"]))
    return found


def is_plain(cell):
    """Whether a cell is its config as it stands, under the config's own protocol."""
    plain = cell.model in (*MODELS, "gcn", "gat") and not cell.settings
    return plain and (cell.dataset in NODE_SETS or cell.protocol == "paper")


def figure(summary):
    """`85.00 last, 90.00 best test`, or the figure at the epoch that validation chose."""
    if summary["task"] == "node":
        return numbers.mean(summary["validation"])
    return f"{numbers.mean(summary['last_epoch'])} last, {numbers.mean(summary['best_test_epoch'])} best test"
