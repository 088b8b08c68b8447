"""Table 5 once more with as many epochs as the authors' later code has: the more there are, the higher the best one."""

from experiments.report import names
from experiments.report import writing as numbers
from experiments.report.markdown import bullets, missing_note, table
from experiments.report.runs import LONGER_EPOCHS, LONGER_MODELS, LONGER_SETS, graph_cell, longer_cell
from experiments.report.sections.tables import GRAPH_HEADS, graph_row
from experiments.report.writing import NONE, SELECTED_ON_TEST

SETS = tuple(dataset for dataset in names.DATASETS if dataset in LONGER_SETS)


def longer_section(results):
    """Short and long runs under each other, and what the rest of the epochs changed."""
    pairs = [(graph_cell(d, model), longer_cell(d, model)) for d in SETS for model in LONGER_MODELS]
    cells = [cell for pair in pairs for cell in pair]
    rows = [[*graph_row(results, cell), epochs(results, cell)] for cell in cells]
    sentences = [text for pair in pairs for text in gained(results, *pair)]
    return [
        "### The same, trained longer",
        "",
        "The paper does not say how many epochs it trained. On these data sets our configs have fewer than its "
        f"authors' later code ({LONGER_EPOCHS}), to save time. A rule that looks at test finds more to choose from in "
        "more epochs; the last epoch tells whether the network itself got better. Not chosen on validation, and for "
        "comparison only.",
        "",
        *table([*GRAPH_HEADS, "epochs"], rows, left=2),
        *bullets(sentences),
        *missing_note(results, cells),
    ]


def epochs(results, cell):
    """How many a run had."""
    summary = results.get(cell)
    return summary["config"]["epochs"] if summary else NONE


def gained(results, short, long):
    """A sentence on a model that was trained both ways."""
    if results.missing([short, long]):
        return
    before, after = results.get(short), results.get(long)
    best, last = (
        numbers.difference(after[rule]["mean"] - before[rule]["mean"]) for rule in ("best_test_epoch", "last_epoch")
    )
    yield (
        f"{names.dataset(short.dataset)}, {names.MODELS[short.model]}: {epochs(results, long)} epochs instead of "
        f"{epochs(results, short)} change the best test epoch {SELECTED_ON_TEST} by {best} points and the last epoch "
        f"by {last}."
    )
