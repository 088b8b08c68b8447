"""The top of RESULTS.md: what its tables amount to, in sentences made from the figures."""

import statistics

from experiments import paper
from experiments.attention.measures import is_asleep
from experiments.report import names
from experiments.report import writing as numbers
from experiments.report.markdown import bullets
from experiments.report.references import HONEST
from experiments.report.runs import (
    GRAPH_MODELS,
    HONEST_SETS,
    LINEAR,
    LONGER_SETS,
    NETWORKS,
    NODE_SETS,
    PAPERS_ROWS,
    TUNED,
    graph_cell,
    longer_cell,
    node_cell,
    tuned_cell,
)
from experiments.report.sections.attention import read_cells
from experiments.report.sections.paired_tests import FAMILIES, PROTOCOLS, corrected, winners
from experiments.report.sections.tables import TABLE_5_MODELS
from experiments.report.writing import SELECTED_ON_TEST

BEST = f"at the best test epoch {SELECTED_ON_TEST}"


def in_short(results):
    """As many sentences as there are figures for."""
    reported = [graph_cell(d, model) for model in PAPERS_ROWS for d in names.DATASETS]
    tuned = [tuned_cell(d, model) for model in NETWORKS for d in TUNED]
    longer = [longer_cell(d, "hganet") for d in LONGER_SETS]
    lines = [
        *against_paper(results, reported, "best_test_epoch", BEST),
        *against_paper(results, tuned, "best_test_epoch", f"with the tuned setting, {BEST}"),
        *against_paper(results, longer, "best_test_epoch", f"trained longer, {BEST}"),
        *against_paper(results, reported, "last_epoch", "at the last epoch"),
        *gain_from_test(results),
        *nodes(results),
        *nodes_against_others(results),
        *honest(results),
        *against_control(results),
        *paired(results),
        *asleep(results),
    ]
    return ["## In short", "", *bullets(lines)] if lines else []


def against_paper(results, cells, rule, words):
    """On how many data sets each model is at least the paper's."""
    pairs = {}
    for cell in cells:
        figure = paper.cell(cell.dataset, cell.model).accuracy
        pairs.setdefault(cell.model, []).append((results.rule(cell, rule), figure))
    return counted(f"At least the paper's figure {words}", pairs)


def honest(results):
    """How our models stand to honest figures of DGCNN and of the baseline without edges."""
    lines = []
    for other in ("DGCNN", "structure-agnostic baseline"):
        datasets = [d for d in HONEST_SETS if d in HONEST[other]]
        pairs = {
            model: [
                (results.rule(graph_cell(d, model, "validation"), "validation"), HONEST[other][d][0]) for d in datasets
            ]
            for model in GRAPH_MODELS
        }
        lines += counted(f"With nothing selected on test, at least the {other} of Errica et al.", pairs)
    return lines


def counted(words, pairs):
    """`<words>: hGANet on 3 of 6 data sets, ...`, from {model: [(our rule's entry or None, their figure)]}."""
    found = {
        model: [numbers.reaches(ours, figure) for ours, figure in entries if ours] for model, entries in pairs.items()
    }
    return [f"{words}: {', '.join(shares(found))}."] if any(found.values()) else []


def shares(found):
    """[`hGANet on 3 of 6 data sets`, ...] from {model: [true or false, for each data set that there is]}."""
    return [
        f"{names.MODELS[model]} on {numbers.of(sum(answers), len(answers), 'data set')}"
        for model, answers in found.items()
        if answers
    ]


def gain_from_test(results):
    """What choosing the epoch on test is worth."""
    cells = [graph_cell(dataset, model) for dataset in names.DATASETS for model in TABLE_5_MODELS]
    found = [summary for cell in cells if (summary := results.get(cell))]
    if not found:
        return []
    gain = statistics.fmean(entry["best_test_epoch"]["mean"] - entry["last_epoch"]["mean"] for entry in found)
    return [
        f"Choosing each fold's epoch on test instead of taking the last one is worth {gain:.2f} points on average "
        f"over {numbers.count(len(found), 'cell')} of Table 5: no progress of any model."
    ]


def nodes(results):
    """Where hGANet is at least the paper's on nodes, and its distance elsewhere."""
    found = {d: results.rule(node_cell(d, "hganet"), "validation") for d in NODE_SETS}
    gaps = {d: rule["mean"] - paper.cell(d, "hganet").accuracy for d, rule in found.items() if rule}
    distances = numbers.listing(f"{numbers.difference(gap)} on {d}" for d, gap in gaps.items())
    return [f"hGANet on nodes against the paper's figure, in percentage points: {distances}."] if gaps else []


def nodes_against_others(results):
    """On how many node sets hGANet is above the control and the baselines, all trained here."""
    found = {}
    for other in (LINEAR, "gcn", "gat"):
        pairs = [[results.rule(node_cell(d, model), "validation") for model in ("hganet", other)] for d in NODE_SETS]
        found[other] = [ours["mean"] > theirs["mean"] for ours, theirs in pairs if ours and theirs]
    words = f"On nodes hGANet's mean is above that of {numbers.listing(shares(found))}."
    return [words] if any(found.values()) else []


def against_control(results):
    """How often hGANet is above the same network without attention."""
    found = []
    for dataset in names.DATASETS:
        cells = graph_cell(dataset, "hganet"), graph_cell(dataset, LINEAR)
        if not results.missing(cells):
            rules = [[results.get(cell)[rule]["mean"] for cell in cells] for rule in ("best_test_epoch", "last_epoch")]
            found.append([attention > control for attention, control in rules])
    if not found:
        return []
    best, last = map(sum, zip(*found, strict=True))
    return [
        f"hGANet's mean is above the linear control's on {numbers.of(best, len(found), 'data set')} {BEST} and on "
        f"{last} at the last epoch."
    ]


def paired(results):
    """How many differences between models are more than noise."""
    tested = [corrected(results, protocol, pairs) for protocol in PROTOCOLS for pairs in FAMILIES.values()]
    total = sum(len(found) for found, *_ in tested)
    standing = sum(len(winners(*parts)) for parts in tested)
    words = f"Of {numbers.count(total, 'paired comparison')} between models, fold by fold"
    return [f"{words}, {standing or 'none'} is more than noise under both tests after correction."] if total else []


def asleep(results):
    """On which data sets the attention of the trained hGANet is a plain mean."""
    cells = {graph_cell(d, "hganet").name: d for d in names.DATASETS}
    cells |= {node_cell(d, "hganet").name: d for d in NODE_SETS}
    seen = [cell for cell in read_cells(results.folder / "inside") if cell["cell"] in cells]
    sleepers = [names.dataset(cells[cell["cell"]]) for cell in seen if is_asleep(cell["modules"])]
    if not sleepers:
        return []
    return [
        "The attention of the trained hGANet is as good as uniform in every module on "
        f"{numbers.of(len(sleepers), len(seen), 'data set')} ({numbers.listing(sleepers)}): what it reaches there, it "
        "reaches with a plain mean over neighbours."
    ]
