"""Which differences between models are significant: paired tests over folds."""

import statistics
from dataclasses import dataclass

from experiments.report import writing
from experiments.report.results import fold_differences
from experiments.report.runs import (
    GRAPH_RIVALS,
    LINEAR,
    NETWORKS,
    NODE_RIVALS,
    NODE_SETS,
    VALIDATION_SETS,
    graph_run,
    node_run,
    planetoid_i,
)
from experiments.report.statistics import TIE, corrected_t, held_out_ratio, holm, smallest_wilcoxon, wilcoxon
from experiments.report.writing import missing_note, table
from experiments.tasks import VALIDATION_SHARE

LEVEL = 0.05
VALIDATED = tuple(dataset for dataset in writing.DATASETS if dataset in VALIDATION_SETS)
PROTOCOLS = {  # (title, rule, data sets, share of the training graphs that validation takes)
    "paper": ("last epoch", "last_epoch", writing.DATASETS, 0.0),
    "validation": ("epoch chosen on validation", "validation", VALIDATED, VALIDATION_SHARE),
}
FAMILIES = {
    "attention operators against each other": (("hganet", "cganet"), ("hganet", "ganet"), ("cganet", "ganet")),
    "each attention operator against the linear map": tuple((m, LINEAR) for m in ("hganet", "cganet", "ganet")),
    "the paper's two networks against DGCNN": (("hganet", "dgcnn"), ("cganet", "dgcnn")),
    "the paper's two networks against the rows that it quotes": tuple((m, r) for m in NETWORKS for r in GRAPH_RIVALS),
}
LABELS = {**writing.OPERATORS, "dgcnn": "DGCNN", **{model: writing.MODELS[model] for model in GRAPH_RIVALS}}
LABELS |= {**{model: writing.MODELS[model] for model in NODE_RIVALS}, "planetoid_i": "Planetoid I"}
HEADS = (
    "data set", "comparison", "mean difference ± sd", "better / equal / worse folds", "Wilcoxon p", "Holm",
    "corrected t", "p", "Holm",
)  # fmt: skip


@dataclass(frozen=True)
class Comparison:
    """Two models on one data set.

    Args:
        dataset: canonical name.
        models: the two, the first minus the second.
        differences: of the accuracies in percent, one for each fold.
        p_wilcoxon: of the signed-rank test.
        t: the corrected t statistic.
        p_t: its p-value.
    """

    dataset: str
    models: tuple[str, str]
    differences: tuple[float, ...]
    p_wilcoxon: float
    t: float
    p_t: float

    @property
    def words(self):
        """`hGAO - cGAO`."""
        return " - ".join(LABELS[model] for model in self.models)


def compare(results, dataset, models, protocol):
    """The comparison, or None while one of its runs is missing."""
    _, rule, _, share = PROTOCOLS[protocol]
    summaries = [results.get(graph_run(dataset, model, protocol)) for model in models]
    if None in summaries:
        return None
    differences = fold_differences(*summaries, rule)
    t, p = corrected_t(differences, held_out_ratio(len(differences), share))
    return Comparison(dataset, models, differences, wilcoxon(differences), t, p)


def paired_tests(results):
    """All tables of paired tests, with what each of them allows to say."""
    compared = dict.fromkeys(model for pairs in FAMILIES.values() for pair in pairs for model in pair)
    runs = [
        graph_run(dataset, model, protocol)
        for protocol, (_, _, datasets, _) in PROTOCOLS.items()
        for dataset in datasets
        for model in compared
        if dataset in GRAPH_RIVALS.get(model, datasets)
    ]
    lines = [
        "# Paired tests",
        "",
        "Every model was trained and tested on the same folds, so accuracies are compared per fold; figures "
        "selected on test are left out. *Wilcoxon* is the signed-rank test, exact also with ties, which takes "
        "the folds as independent. *Corrected t* is Nadeau and Bengio's resampled t-test, t = mean(d) / sqrt((1/n + "
        "n_test/n_train) var(d)) with n - 1 degrees of freedom, which allows for training sets that overlap; "
        "n_test/n_train is 1/9 for ten folds, and 1/8.1 where validation takes a tenth of the training graphs. "
        "*Holm* is the p-value before it, corrected for all comparisons of its table. One seed: what another seed "
        "changes is not in these tests.",
        "",
    ]
    for protocol, (title, _, _, _) in PROTOCOLS.items():
        for family, pairs in FAMILIES.items():
            lines += [f"## {title.capitalize()}: {family}", "", *family_lines(results, protocol, pairs)]
    return [*lines, *node_tests(results), *missing_note(results, runs)]


def node_tests(results):
    """hGANet against the other rows of Table 6: over seeds, since all were tested on the same nodes."""
    runs = [run for dataset in NODE_SETS for run in node_rivals(dataset)]
    found = [compare_nodes(results, run) for run in runs]
    found = [comparison for comparison in found if comparison]
    adjusted = holm([c.p_wilcoxon for c in found]), holm([c.p_t for c in found])
    rows = [row(*parts) for parts in zip(found, *adjusted, strict=True)]
    return [
        "## Nodes: hGANet against the rows that the paper quotes",
        "",
        "Ten seeds of each on the one standard split, run n of one against run n of the other, at the epoch that "
        "validation chose; *corrected t* is the plain paired t-test here, since nothing is resampled. A small p says "
        "that other seeds would give the same order on this split, and nothing about other splits. cGANet is not "
        "among the paper's networks for nodes.",
        "",
        *(
            [*table(HEADS, rows, left=2), ""]
            if found
            else ["No comparison yet: both of its runs have to be there.", ""]
        ),
        *missing_note(results, [*(node_run(dataset, "hganet") for dataset in NODE_SETS), *runs]),
    ]


def node_rivals(dataset):
    """The runs of the quoted rows; of Planetoid both models."""
    return [*(node_run(dataset, model) for model in NODE_RIVALS), planetoid_i(dataset)]


def compare_nodes(results, run):
    """hGANet minus a rival's run, or None while one is missing."""
    summaries = [results.get(node_run(run.dataset, "hganet")), results.get(run)]
    if None in summaries:
        return None
    differences = fold_differences(*summaries, "validation")
    t, p = corrected_t(differences, 0.0)
    return Comparison(run.dataset, ("hganet", run.name.partition("/")[2]), differences, wilcoxon(differences), t, p)


def corrected(results, protocol, pairs):
    """The comparisons of one table that there are figures for, and their p-values after correction, by either test."""
    datasets = PROTOCOLS[protocol][2]
    found = [compare(results, dataset, models, protocol) for dataset in datasets for models in pairs]
    found = [comparison for comparison in found if comparison]
    return found, holm([c.p_wilcoxon for c in found]), holm([c.p_t for c in found])


def winners(found, holm_wilcoxon, holm_t):
    """The comparisons that stand under both tests."""
    return [c for c, *p in zip(found, holm_wilcoxon, holm_t, strict=True) if max(p) < LEVEL]


def family_lines(results, protocol, pairs):
    """One table and its reading."""
    found, *adjusted = corrected(results, protocol, pairs)
    if not found:
        return ["No comparison yet: both of its runs have to be there.", ""]
    rows = [row(*parts) for parts in zip(found, *adjusted, strict=True)]
    return [*table(HEADS, rows, left=2), reading(found, *adjusted), ""]


def row(comparison, holm_wilcoxon, holm_t):
    """A line of the table."""
    d = comparison.differences
    signs = sum(v > TIE for v in d), sum(abs(v) <= TIE for v in d), sum(v < -TIE for v in d)
    return [
        writing.dataset(comparison.dataset),
        comparison.words,
        f"{writing.difference(statistics.fmean(d))} ± {statistics.stdev(d):.2f}",
        " / ".join(map(str, signs)),
        writing.p_value(comparison.p_wilcoxon),
        writing.p_value(holm_wilcoxon),
        writing.statistic(comparison.t),
        writing.p_value(comparison.p_t),
        writing.p_value(holm_t),
    ]


def reading(found, holm_wilcoxon, holm_t):
    """What the table allows to say, in plain words."""
    total = len(found)
    raw = [sum(p < LEVEL for p in values) for values in ([c.p_wilcoxon for c in found], [c.p_t for c in found])]
    kept = [sum(p < LEVEL for p in values) for values in (holm_wilcoxon, holm_t)]
    text = (
        f"Of {writing.count(total, 'comparison')}, {raw[0]} (Wilcoxon) and {raw[1]} (corrected t) are below {LEVEL} "
        f"before correction, where chance alone gives {LEVEL * total:.1f} on average; {kept[0]} and {kept[1]} after "
        "it."
    )
    smallest = total * smallest_wilcoxon(len(found[0].differences))
    if smallest >= LEVEL:
        text += f" (Wilcoxon's test cannot go below {smallest:.3f} here after correction, with so few folds.)"
    standing = winners(found, holm_wilcoxon, holm_t)
    if not any(kept):
        return text + " So this table gives no order of these models: chance alone may have made it."
    if not standing:
        return text + " The two tests agree on none of them: take none of these differences for granted."
    return text + f" Below {LEVEL} under both tests after correction: {writing.listing(map(direction, standing))}."


def direction(comparison):
    """`hGAO above linear on PROTEINS`."""
    first, second = (LABELS[model] for model in comparison.models)
    word = "above" if comparison.t > 0 else "below"
    return f"{first} {word} {second} on {writing.dataset(comparison.dataset)}"
