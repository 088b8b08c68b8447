"""The paper's three tables of accuracies, ours beside them."""

from experiments import paper
from experiments.report import names
from experiments.report import writing as numbers
from experiments.report.markdown import missing_note, table
from experiments.report.runs import LINEAR, NODE_MODELS, NODE_SETS, PAPERS_ROWS, graph_cell, node_cell
from experiments.report.writing import MISSING, NONE, SELECTED_ON_TEST

TABLE_5_MODELS = (*PAPERS_ROWS, LINEAR)
TABLE_7_MODELS = ("ganet", "cganet", "hganet", LINEAR)
GRAPH_HEADS = (
    "data set", "model", "paper", f"best test epoch {SELECTED_ON_TEST}", "at least the paper's?",
    f"best epoch of the mean curve {SELECTED_ON_TEST}", "last epoch",
)  # fmt: skip


def table_5(results):
    """Graph classification: a line for each data set and model."""
    cells = [graph_cell(dataset, model) for dataset in names.DATASETS for model in TABLE_5_MODELS]
    rows = [graph_row(results, cell) for cell in cells]
    return [
        "## Table 5: graph classification",
        "",
        "Test accuracy in percent, mean ± standard deviation over ten published folds. The paper's DGCNN row is quoted "
        "from that model's authors, who report the last epoch; ours has hGANet's head and folds. The control is hGANet "
        "with a plain linear map in the place of attention.",
        "",
        *table(GRAPH_HEADS, rows, left=2),
        *missing_note(results, cells),
    ]


def graph_row(results, cell):
    """A line of Table 5."""
    figure = paper.cell(cell.dataset, cell.model)
    head = [names.dataset(cell.dataset), names.MODELS[cell.model], figure.text if figure else NONE]
    summary = results.get(cell)
    if summary is None:
        return [*head, MISSING, NONE, NONE, NONE]
    best, mean, last = (summary[rule] for rule in ("best_test_epoch", "best_mean_epoch", "last_epoch"))
    return [*head, numbers.accuracy(best), mark(best, figure), numbers.accuracy(mean), numbers.accuracy(last)]


def mark(rule, figure):
    """Whether ours is at least the paper's, where it has a figure."""
    if figure is None or figure.accuracy is None:
        return NONE
    return "yes" if numbers.reaches(rule, figure.accuracy) else "no"


def table_7(results):
    """Operators: the paper's shape, a column for each data set."""
    cells = [graph_cell(dataset, model) for model in TABLE_7_MODELS for dataset in names.DATASETS]
    rows = [row for model in TABLE_7_MODELS for row in operator_rows(results, model)]
    return [
        "## Table 7: operators",
        "",
        "The same network, folds and settings; only the attention operator differs.",
        "",
        *table(["operator", "figure", *map(names.dataset, names.DATASETS)], rows, left=2),
        *ganet_on_dd(results),
        *missing_note(results, cells),
    ]


def operator_rows(results, model):
    """The paper's line and ours under two rules."""
    operator = names.OPERATORS[model]
    figures = [paper.cell(dataset, model) for dataset in names.DATASETS]
    rows = [[operator, "paper", *(figure.text for figure in figures)]] if all(figures) else []
    for rule, words in (("best_test_epoch", f"best test epoch {SELECTED_ON_TEST}"), ("last_epoch", "last epoch")):
        found = [results.rule(graph_cell(dataset, model), rule) for dataset in names.DATASETS]
        rows.append([operator, words, *(numbers.accuracy(entry) if entry else MISSING for entry in found)])
    return rows


def ganet_on_dd(results):
    """The cell that the paper could not fill."""
    summary = results.get(graph_cell("DD", "ganet"))
    if summary is None:
        return ["The paper's GANet ran out of memory on D&D; ours has not been trained there yet.", ""]
    return [
        "The paper's GANet ran out of memory on D&D. Ours works on neighbour lists instead of N x N matrices and "
        f"trains: {numbers.accuracy(summary['best_test_epoch'])} at the best test epoch {SELECTED_ON_TEST}, "
        f"{numbers.accuracy(summary['last_epoch'])} at the last.",
        "",
    ]


def table_6(results):
    """Node classification: ours at the epoch that validation chose."""
    heads = [
        "data set", "model", "paper", "ours, epoch chosen on validation", "at least the paper's?",
        f"LGCN's rule {SELECTED_ON_TEST}",
    ]  # fmt: skip
    cells = [node_cell(dataset, model) for dataset in NODE_SETS for model in NODE_MODELS]
    return [
        "## Table 6: node classification",
        "",
        "Test accuracy in percent, mean ± standard deviation over ten seeds on the standard split. LGCN's rule (the "
        "authors' earlier code) keeps the best test value among the epochs at which validation was best so far: it "
        "looks at test, and stands here only for comparison. The paper quotes GCN and GAT from their authors; ours are "
        "trained here.",
        "",
        *table(heads, [node_row(results, cell) for cell in cells], left=2),
        *missing_note(results, cells),
    ]


def node_row(results, cell):
    """A line of Table 6."""
    figure, summary = paper.cell(cell.dataset, cell.model), results.get(cell)
    head = [cell.dataset, names.MODELS[cell.model], figure.text if figure else NONE]
    if summary is None:
        return [*head, MISSING, NONE, NONE]
    rule = summary["validation"]
    return [*head, numbers.accuracy(rule), mark(rule, figure), numbers.accuracy(summary["max_test_lgcn"])]
