"""The top of RESULTS.md: what its tables amount to, in sentences made from the figures."""

import statistics

from experiments import paper
from experiments.report import writing
from experiments.report.runs import (
    GRAPH_MODELS,
    GRAPH_RIVALS,
    LINEAR,
    LONGER_SETS,
    NETWORKS,
    NODE_RIVALS,
    NODE_SETS,
    OPEN_RIVALS,
    OPEN_SETS,
    PAPERS_ROWS,
    TUNED,
    VALIDATION_SETS,
    graph_run,
    longer_run,
    node_run,
    open_run,
    tuned_run,
)
from experiments.report.sections.attention import is_uniform
from experiments.report.sections.paired_tests import FAMILIES, PROTOCOLS, corrected, winners
from experiments.report.sections.tables import TABLE_5_MODELS
from experiments.report.sections.validation import ERRICA
from experiments.report.writing import SELECTED_ON_TEST, bullets

BEST = f"at the best test epoch {SELECTED_ON_TEST}"


def findings(results):
    """As many sentences as there are figures for."""
    reported = [graph_run(d, model) for model in PAPERS_ROWS for d in writing.DATASETS]
    tuned = [tuned_run(d, model) for model in NETWORKS for d in TUNED]
    longer = [longer_run(d, "hganet") for d in LONGER_SETS]
    lines = [
        *against_paper(results, reported, "best_test_epoch", BEST),
        *against_paper(results, tuned, "best_test_epoch", f"with the tuned setting, {BEST}"),
        *against_paper(results, longer, "best_test_epoch", f"trained longer, {BEST}"),
        *in_open_wiring(results),
        *against_paper(results, reported, "last_epoch", "at the last epoch"),
        *gain_from_test(results),
        *nodes(results),
        *nodes_against_others(results),
        *validation(results),
        *quoted_rows(results),
        *above_rivals(results),
        *against_control(results),
        *paired(results),
        *uniform(results),
    ]
    return ["## Findings", "", *bullets(lines)] if lines else []


def against_paper(results, runs, rule, words):
    """On how many data sets each model is at least the paper's."""
    pairs = {}
    for run in runs:
        figure = paper.cell(run.dataset, run.model).accuracy
        pairs.setdefault(run.model, []).append((results.rule(run, rule), figure))
    return counted(f"At least the paper's figure {words}", pairs)


def in_open_wiring(results):
    """The best figure of hGANet with the wiring open beside the paper's, where that was tried."""
    for dataset in OPEN_SETS:
        hard = open_rules(results, dataset, [rival for rival in OPEN_RIVALS if rival != LINEAR])
        control = open_rules(results, dataset, [LINEAR])
        if hard:
            text = paper.cell(dataset, "hganet").text
            beside = f", its linear control at most {highest(control)} {SELECTED_ON_TEST}" if control else ""
            yield (
                f"{writing.dataset(dataset)}, hGANet in the open wiring, {writing.count(len(hard), 'variant')}: "
                f"at most {highest(hard)} {BEST}{beside}; the paper has {text}."
            )


def open_rules(results, dataset, rivals):
    """What rivals have at their best test epochs, with the config's settings and with the tuned ones."""
    runs = [open_run(dataset, rival, tuned) for rival in rivals for tuned in (False, True)]
    return [rule for run in runs if (rule := results.rule(run, "best_test_epoch"))]


def highest(rules):
    """The best mean, with its spread."""
    return writing.accuracy(max(rules, key=lambda rule: rule["mean"]))


def validation(results):
    """How our models under validation stand to others' figures of DGCNN and of the baseline without edges."""
    lines = []
    for other in ("DGCNN", "structure-agnostic baseline"):
        datasets = [d for d in VALIDATION_SETS if d in ERRICA[other]]
        pairs = {
            model: [
                (results.rule(graph_run(d, model, "validation"), "validation"), ERRICA[other][d][0]) for d in datasets
            ]
            for model in GRAPH_MODELS
        }
        lines += counted(f"With nothing selected on test, at least the {other} of Errica et al.", pairs)
    return lines


def counted(words, pairs):
    """`<words>: hGANet on 3 of 6 data sets, ...`, from {model: [(our rule's entry or None, their figure)]}."""
    found = {
        model: [writing.reaches(ours, figure) for ours, figure in entries if ours] for model, entries in pairs.items()
    }
    return [f"{words}: {', '.join(shares(found))}."] if any(found.values()) else []


def shares(found):
    """[`hGANet on 3 of 6 data sets`, ...] from {model: [true or false, for each data set that there is]}."""
    return [
        f"{writing.MODELS[model]} on {writing.of(sum(answers), len(answers), 'data set')}"
        for model, answers in found.items()
        if answers
    ]


def gain_from_test(results):
    """What choosing the epoch on test is worth."""
    runs = [graph_run(dataset, model) for dataset in writing.DATASETS for model in TABLE_5_MODELS]
    found = [summary for run in runs if (summary := results.get(run))]
    if not found:
        return []
    gain = statistics.fmean(entry["best_test_epoch"]["mean"] - entry["last_epoch"]["mean"] for entry in found)
    return [
        f"Choosing each fold's epoch on test instead of taking the last one is worth {gain:.2f} points on average "
        f"over {writing.count(len(found), 'run')} of Table 5; it is no progress of any model."
    ]


def nodes(results):
    """Where hGANet is at least the paper's on nodes, and its distance elsewhere."""
    found = {d: results.rule(node_run(d, "hganet"), "validation") for d in NODE_SETS}
    gaps = {d: rule["mean"] - paper.cell(d, "hganet").accuracy for d, rule in found.items() if rule}
    distances = writing.listing(f"{writing.difference(gap)} on {d}" for d, gap in gaps.items())
    return [f"hGANet on nodes against the paper's figure, in percentage points: {distances}."] if gaps else []


def nodes_against_others(results):
    """On how many node sets hGANet is above the control and the baselines, all trained here."""
    found = {}
    for other in (LINEAR, "gcn", "gat"):
        pairs = [[results.rule(node_run(d, model), "validation") for model in ("hganet", other)] for d in NODE_SETS]
        found[other] = [ours["mean"] > theirs["mean"] for ours, theirs in pairs if ours and theirs]
    words = f"On nodes hGANet's mean is above that of {writing.listing(shares(found))}."
    return [words] if any(found.values()) else []


def quoted_rows(results):
    """On how many data sets the models that the paper quotes are at least the quoted figure, by its own rule."""
    pairs = {
        model: [(results.rule(graph_run(d, model), "best_mean_epoch"), paper.cell(d, model).accuracy) for d in datasets]
        for model, datasets in GRAPH_RIVALS.items()
        if model != "pscn"  # its rule is not known
    }
    rule = f"at the best epoch of the mean curve {SELECTED_ON_TEST}, as there"
    return counted(f"Of the rows that the paper quotes, at least the quoted figure {rule}", pairs)


def above_rivals(results):
    """On how many data sets hGANet is above them, nothing selected on test."""
    found = {}
    for model, datasets in GRAPH_RIVALS.items():
        pairs = [[results.rule(graph_run(d, m), "last_epoch") for m in ("hganet", model)] for d in datasets]
        found[model] = [ours["mean"] > theirs["mean"] for ours, theirs in pairs if ours and theirs]
    for model in NODE_RIVALS:
        pairs = [[results.rule(node_run(d, m), "validation") for m in ("hganet", model)] for d in NODE_SETS]
        found[model] = [ours["mean"] > theirs["mean"] for ours, theirs in pairs if ours and theirs]
    words = f"hGANet's mean is above that of {writing.listing(shares(found))}, all trained here: on graphs at the last "
    return [f"{words}epoch, on nodes at the one that validation chose."] if any(found.values()) else []


def against_control(results):
    """How often hGANet is above the same network without attention."""
    found = []
    for dataset in writing.DATASETS:
        runs = graph_run(dataset, "hganet"), graph_run(dataset, LINEAR)
        if not results.missing(runs):
            rules = [[results.get(run)[rule]["mean"] for run in runs] for rule in ("best_test_epoch", "last_epoch")]
            found.append([attention > control for attention, control in rules])
    if not found:
        return []
    best, last = map(sum, zip(*found, strict=True))
    return [
        f"hGANet's mean is above the linear control's on {writing.of(best, len(found), 'data set')} {BEST} and on "
        f"{last} at the last epoch."
    ]


def paired(results):
    """How many differences between models are more than noise."""
    tested = [corrected(results, protocol, pairs) for protocol in PROTOCOLS for pairs in FAMILIES.values()]
    total = sum(len(found) for found, *_ in tested)
    standing = sum(len(winners(*parts)) for parts in tested)
    words = f"Of {writing.count(total, 'paired comparison')} between models over folds"
    return [f"{words}, {standing or 'none'} is significant under both tests after correction."] if total else []


def uniform(results):
    """On which data sets the attention of the trained hGANet is a plain mean."""
    datasets = {graph_run(d, "hganet").name: d for d in writing.DATASETS}
    datasets |= {node_run(d, "hganet").name: d for d in NODE_SETS}
    seen = [entry for entry in results.attention() if entry["run"] in datasets]
    found = [writing.dataset(datasets[entry["run"]]) for entry in seen if is_uniform(entry["modules"])]
    if not found:
        return []
    return [
        "The attention of the trained hGANet is as good as uniform in every module on "
        f"{writing.of(len(found), len(seen), 'data set')} ({writing.listing(found)}): what it reaches there, it "
        "reaches with a plain mean over neighbours."
    ]
