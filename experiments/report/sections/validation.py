"""Beyond the paper: the validation protocol, and the operators that the paper only describes."""

from experiments import paper
from experiments.report import names
from experiments.report import writing as numbers
from experiments.report.markdown import missing_note, table
from experiments.report.references import HONEST, honest
from experiments.report.runs import GRAPH_MODELS, HONEST_SETS, LINEAR, OPERATOR_SETS, PAPERS_ROWS, graph_cell
from experiments.report.writing import MISSING, NONE, SELECTED_ON_TEST

SETS = tuple(dataset for dataset in names.DATASETS if dataset in HONEST_SETS)


def validation_section(results):
    """What remains when the test fold is looked at once."""
    cells = [graph_cell(dataset, model, "validation") for model in GRAPH_MODELS for dataset in SETS]
    rows = [validation_row(results, model) for model in GRAPH_MODELS]
    return [
        "## Beyond the paper: nothing selected on test",
        "",
        "A stratified tenth of each fold's training graphs chooses the epoch (lowest validation loss, the first on "
        "ties); the test fold is evaluated once. Below ours: the paper's figures, and what Errica et al. (ICLR "
        "2020) measured for others under such a protocol, on folds of their own.",
        "",
        *table(["model", *map(names.dataset, SETS)], [*rows, *reference_rows()]),
        *missing_note(results, cells),
    ]


def validation_row(results, model):
    """Our figures of one model."""
    found = [results.rule(graph_cell(dataset, model, "validation"), "validation") for dataset in SETS]
    return [names.MODELS[model], *(numbers.accuracy(rule) if rule else MISSING for rule in found)]


def reference_rows():
    """Other people's lines."""
    rows = [
        [f"{names.MODELS[model]}, the paper", *(paper.cell(dataset, model).text for dataset in SETS)]
        for model in PAPERS_ROWS
    ]
    return [*rows, *([f"{model}, Errica et al.", *(honest(model, d) or NONE for d in SETS)] for model in HONEST)]


def operators_section(results):
    """TopKGAO and SampledGAO in hGAO's place."""
    models = ("topk", "sampled", "hganet", "ganet", LINEAR)
    cells = [graph_cell(dataset, model) for dataset in OPERATOR_SETS for model in models]
    labels = {**names.MODELS, **names.OPERATORS}
    rows = []
    for cell in cells:
        summary = results.get(cell)
        rules = [summary["best_test_epoch"], summary["last_epoch"]] if summary else []
        figures = [numbers.accuracy(rule) for rule in rules] or [MISSING, NONE]
        rows.append([names.dataset(cell.dataset), labels[cell.model], *figures])
    return [
        "## Beyond the paper: TopKGAO and SampledGAO",
        "",
        "The paper describes two other ways to attend to few neighbours and has no figures for them: TopKGAO takes "
        "the k = 8 neighbours with the largest attention scores, SampledGAO draws one neighbour from the softmax of "
        "the scores (in evaluation the most probable one). Protocol of Table 5.",
        "",
        *table(["data set", "operator", f"best test epoch {SELECTED_ON_TEST}", "last epoch"], rows, left=2),
        *missing_note(results, cells),
    ]
