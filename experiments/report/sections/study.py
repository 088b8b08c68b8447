"""When attention pays: docs/attention.md, from results/study. Sentences are made from numbers, and change with them.

A *cell* is one rival of a contest: what it was tuned to, what it gave, and at which epoch. Two cells are compared run
by run: both trained on the same graph, split or seed.
"""

import json
import statistics
from typing import NamedTuple

from experiments import paper
from experiments.report import writing
from experiments.report.results import fold_differences
from experiments.report.statistics import TIE, corrected_t, held_out_ratio, holm, wilcoxon
from experiments.report.writing import NONE, SELECTED_ON_TEST, bullets, listing, table
from experiments.study.contest import chosen, words
from experiments.study.plan import DEGREES, K_VALUES, SIZES, contests
from experiments.tasks import VALIDATION_SHARE

LEVEL = 0.05
COST = "study/cost.json"
COMMAND = "python -m experiments.study"
NAMES = {
    "hgao": "hGAO", "hgao_cosine": "hGAO, cosine", "hgao_uniform": "hGAO, uniform", "linear": "linear map",
    "gao_cosine": "GAO, cosine", "topk": "TopKGAO", "paper_hgao": "hGAO, the paper's wiring",
    "paper_uniform": "hGAO, uniform, the paper's wiring", "paper_linear": "linear map, the paper's wiring",
    "all": "all three switches", "none": "none of them, the paper's wiring",
}  # fmt: skip
GROUPS = {  # part of the contests' names: (title, what is asked there)
    "teacher/": (
        "Nodes with a mean teacher",
        "The paper's network, its linear control, GCN and GAT, each with the teacher's weight chosen on validation.",
    ),
    "experts/operators": (
        "Experts: operators and wirings",
        "A generated task (`data.load(\"Experts\")`): 3 of about 63 neighbours know a node's class, and a mark in "
        "their features tells who they are. Every run has a graph of its own. The open wiring is `embedding=\"dense\", "
        "skip=\"both\", out=\"dense\"`; all operators have it, where nothing else is said.",
    ),
    "experts/k": ("Experts: how many neighbours to keep", "hGAO in the open wiring, with and without the softmax."),
    "degrees/": (
        "Experts: hard beside soft attention at growing degrees",
        "More and more ordinary neighbours around the same three experts; hGAO keeps k = 8.",
    ),
    "experts/wiring": (
        "Experts: which of the three switches does it",
        "hGAO with uniform scores: each switch opened alone in the paper's wiring, and closed alone in the open one.",
    ),
    "heterophilous/": (
        "Heterophilous graphs",
        "Platonov et al.'s graphs on their ten published splits; ROC AUC on minesweeper and tolokers, else accuracy. "
        "The operators that Experts told apart: GAO with the paper's score, TopKGAO and cGAO do not take part.",
    ),
    "dictionary/": (
        "Dictionary: when the right neighbour depends on who asks",
        "Brody et al.'s look-up. hGAO ranks neighbours without a look at who asks, so of more keys than k it must miss "
        "some; TopKGAO need not.",
    ),
    "communities/": (
        "PATTERN and CLUSTER",
        "Dwivedi et al.'s generated graphs, 25 for each run; ROC AUC on PATTERN, accuracy on CLUSTER. The same "
        "operators as on the heterophilous graphs.",
    ),
    "graphs/": (
        "Graph classification",
        "What Experts recommends in the paper's networks, beside the linear map in the same wiring; ten folds, epoch "
        "chosen on validation, settings of the configs.",
    ),
}  # fmt: skip

HEAD = """\
# When attention pays

Which operator, wiring, score and k to take, by what was measured here. This page is written from `results/study` by
`python -m experiments.report`; `python -m experiments.study` runs what is missing, and `--list` shows it. In every
contest all rivals have the same number of settings to choose from, on validation, with seeds from 100 on that are not
reported; the epoch is chosen on validation too, by the accuracy (ROC AUC) on Experts, the look-up and the heterophilous
graphs, elsewhere by the loss; and the chosen epoch stands beside the cap, because a rival that
still rises at its cap has not been beaten. Every name in a table leads to its summary, which has the command.

```python
from ganet_tf import models

model = models.NodeClassifier(
    num_classes=4,
    operator="hgao",
    k=8,
    embedding="dense",
    skip="both",
    out="dense",  # what was selected is not averaged with all neighbours again
    score="cosine",
    gate="double",  # or score="uniform": the selection alone, a mean over the k chosen
)
model = models.MeanTeacher(model, weight=2.0)  # few labels, many nodes: see its docstring
```

In `train.py`: `--set model.embedding=dense model.skip=both model.out=dense model.score=cosine teacher.weight=2`.
"""


class Cell(NamedTuple):
    """One rival of a contest, and its summary, or None while it is not run."""

    contest: object
    rival: object
    summary: dict | None

    @property
    def label(self):
        return NAMES.get(self.rival.name, self.rival.name.replace("_", " ") if "_" in self.rival.name else
                         self.rival.name.upper())  # fmt: skip

    @property
    def rule(self):
        return self.summary["validation"]

    @property
    def cap(self):
        return self.summary["config"]["epochs"]


class Pair(NamedTuple):
    """A comparison of two cells: differences run by run, and the p-values of both tests."""

    first: Cell
    second: Cell
    differences: tuple
    p_wilcoxon: float
    p_t: float

    @property
    def mean(self):
        return statistics.fmean(self.differences)


def study(results):
    """The page."""
    groups = {title: [c for c in contests() if c.name.startswith(part)] for part, (title, _) in GROUPS.items()}
    asked = {title: text for title, text in GROUPS.values()}
    lines = [HEAD, "", *advice(results), *headline(results)]
    for title, group in groups.items():
        lines += [f"## {title}", "", asked[title], ""]
        for contest in group:
            lines += contest_lines(results, contest)
    return [*lines, *not_run(results)]


def study_summary(results):
    """The section of RESULTS.md: what the contests say, in a few sentences."""
    return [
        "## When attention pays",
        "",
        "Beyond the paper: contests of operators, wirings, scores and k with equal budgets, on data where attention "
        "might pay, and nodes with a mean teacher. Tables and tests are in [docs/attention.md](docs/attention.md).",
        "",
        *bullets(sentences(results)),
    ]


# Cells and pairs


def cells(results, contest):
    """Every rival of a contest."""
    return [Cell(contest, rival, results.summary(contest.folder(rival))) for rival in contest.rivals]


def named(results, contest, name):
    """One cell, if it is run, else None."""
    cell = next(cell for cell in cells(results, contest) if cell.rival.name == name)
    return cell if cell.summary else None


def find(name):
    """The contest of a name."""
    return next(contest for contest in contests() if contest.name == name)


def pairs(results, contest):
    """The comparisons of a contest whose cells are both there."""
    found = []
    for names in contest.pairs:
        first, second = (named(results, contest, name) for name in names)
        if first and second:
            differences = fold_differences(first.summary, second.summary, "validation")
            _, p = corrected_t(differences, overlap(contest, first.summary))
            found.append(Pair(first, second, differences, wilcoxon(differences), p))
    return found


def overlap(contest, summary):
    """n_test / n_train where training sets overlap: Nadeau and Bengio's correction; else 0, a plain t-test."""
    if contest.task == "graph":
        return held_out_ratio(len(summary["folds"]), VALIDATION_SHARE)
    if contest.name.startswith("heterophilous/"):
        return summary["data"]["test"] / summary["data"]["train"]
    return 0.0


def adjusted(found):
    """[(pair, Holm's p by Wilcoxon, by t)] of one contest."""
    both = holm([pair.p_wilcoxon for pair in found]), holm([pair.p_t for pair in found])
    return list(zip(found, *both, strict=True))


# Tables


def contest_lines(results, contest):
    """The tables of one contest: what the rivals gave, and their differences."""
    there = [cell for cell in cells(results, contest) if cell.summary]
    title = f"### {contest.dataset}, `{contest.name}`"
    if not there:
        return [title, "", "Not run yet.", ""]
    metric = there[0].summary.get("metric", "accuracy")
    unit = "ROC AUC" if metric == "roc_auc" else "accuracy"
    heads = ["rival", "chosen on validation", f"validation {unit}, %", f"test {unit}, %", "runs", "epoch of cap",
             "entropy / log n"]  # fmt: skip
    heads += [f"best test epoch {SELECTED_ON_TEST}"] if shows_best(contest) else []
    rows = [cell_row(results, cell, metric) for cell in sorted(there, key=lambda cell: -cell.rule["mean"])]
    lines = [title, "", *table(heads, rows, left=2), *figures_of_paper(contest, there)]
    return [*lines, *at_cap(there), *pair_lines(results, contest)]


def cell_row(results, cell, metric):
    """A line of the table."""
    setting = chosen(cell.contest, cell.rival, results.folder)
    epochs = cell.rule["epochs"]
    return [
        f"[{cell.label}](results/{cell.contest.folder(cell.rival)}/summary.json)",
        f"`{words(setting)}`" if len(cell.rival.grid) > 1 and setting else NONE,
        f"{cell.rule[f'val_{metric}']:.2f}",
        writing.accuracy(cell.rule),
        len(cell.summary["folds"]),
        f"{statistics.fmean(epochs):.0f} of {cell.cap}",
        entropies(results, cell.contest, cell.rival.name) or NONE,
        *([writing.accuracy(cell.summary["best_test_epoch"])] if shows_best(cell.contest) else []),
    ]


def shows_best(contest):
    """Whether a column says what the best test epoch would have given: where the paper has a figure, on nodes."""
    return contest.name.startswith("teacher/")


def entropies(results, contest, name):
    """The entropy of each module of a rival's network, or nothing where nobody looked."""
    path = results.folder / contest.folder(contest.rival(name)) / "entropy.json"
    if not path.exists():
        return ""
    return " ".join(f"{value:.2f}" for value in json.loads(path.read_text(encoding="utf-8"))["modules"])


def figures_of_paper(contest, there):
    """What the paper has for a data set of its own."""
    cell = paper.cell(contest.dataset, "hganet")
    if contest.task == "graph" or cell is None:
        return []
    reached = [one.label for one in there if writing.reaches(one.rule, cell.accuracy)]
    text = f"The paper's hGANet has {cell.text} %; at least that, under validation: {listing(reached) or 'none'}."
    return [text, ""]


def at_cap(there):
    """Whose chosen epochs sit at the cap."""
    late = [cell.label for cell in there if max(cell.rule["epochs"]) > 0.98 * cell.cap]
    return [f"Not at rest: a chosen epoch of {listing(late)} sits at the cap.", ""] if late else []


def pair_lines(results, contest):
    """The comparisons of a contest."""
    found = adjusted(pairs(results, contest))
    if not found:
        return []
    heads = ["comparison", "mean difference ± sd", "better / equal / worse", "Wilcoxon p", "Holm", "t-test p", "Holm"]
    return [*table(heads, [pair_row(*entry) for entry in found]), reading(found), ""]


def pair_row(pair, holm_wilcoxon, holm_t):
    """A line of the table."""
    d = pair.differences
    signs = sum(v > TIE for v in d), sum(abs(v) <= TIE for v in d), sum(v < -TIE for v in d)
    values = pair.p_wilcoxon, holm_wilcoxon, pair.p_t, holm_t
    return [
        f"{pair.first.label} - {pair.second.label}",
        f"{writing.difference(pair.mean)} ± {statistics.stdev(d):.2f}",
        " / ".join(map(str, signs)),
        *map(writing.p_value, values),
    ]


def reading(found):
    """What the comparisons allow to say after correction, by the t-test; Wilcoxon's has its floor."""
    good = [pair for pair, _, p in found if p < LEVEL]
    open_ones = [pair for pair, _, p in found if p >= LEVEL]
    parts = [f"{pair.first.label} {'above' if pair.mean > 0 else 'below'} {pair.second.label}" for pair in good]
    text = f"After Holm's correction, t-test, below {LEVEL}: {'; '.join(parts) or 'nothing'}."
    if open_ones:
        text += " Not told apart: " + "; ".join(f"{p.first.label} and {p.second.label}" for p in open_ones) + "."
    return text


# What it says


def advice(results):
    """The sentences that tell a user what to do, each with its figure."""
    found = sentences(results)
    return ["## In short", "", *(bullets(found) or ["Nothing is run yet.", ""]), *overview(results)]


def sentences(results):
    """Each from the cells that it names; none where one of them is missing."""
    makers = (
        experts_sentence, gcn_sentence, soft_sentence, entropy_sentence, wiring_sentence, k_sentence, cost_sentence,
        lookup_sentence, teacher_sentence, real_sentence, graphs_sentence,
    )  # fmt: skip
    return [text for make in makers for text in make(results)]


def figure(cell):
    """`hGAO 83.60 ± 0.71`."""
    return f"{cell.label} {writing.accuracy(cell.rule)}"


def teacher_sentence(results):
    """Whether nodes reach the paper's figure."""
    for contest in contests():
        if contest.name.startswith("teacher/"):
            there = [cell for cell in cells(results, contest) if cell.summary]
            cell = named(results, contest, "hgao")
            if cell:
                goal = paper.cell(contest.dataset, "hganet")
                word = "reaches" if writing.reaches(cell.rule, goal.accuracy) else "does not reach"
                others = ", ".join(figure(one) for one in there if one is not cell and one.rival.name != "hgao")
                beside = f" Beside it: {others}." if others else ""
                yield (
                    f"**{contest.dataset}, few labels**: with a mean teacher hGANet {word} the paper's {goal.text} %: "
                    f"{writing.accuracy(cell.rule)} under validation.{beside}"
                )


def best_hard(results, contest):
    """The best of hGAO's scores by validation."""
    there = [named(results, contest, name) for name in ("hgao", "hgao_cosine", "hgao_uniform")]
    there = [cell for cell in there if cell]
    return max(there, key=lambda cell: cell.rule["val_accuracy"]) if there else None


def against(results, contest, first, name):
    """(the second cell, Holm's p by t) of a pair of the contest, or None."""
    for pair, p in corrected(results, contest):
        if (pair.first.rival.name, pair.second.rival.name) == (first.rival.name, name):
            return pair, p
    return None


def experts_sentence(results):
    """hGAO beside the linear control, where few neighbours matter."""
    contest = find("experts/operators")
    cell = best_hard(results, contest)
    found = against(results, contest, cell, "linear") if cell else None
    if found:
        pair, p = found
        word = "take hGAO" if pair.mean > 0 and p < LEVEL else "hGAO is not shown to help"
        yield (
            f"**Operator.** Few of many neighbours matter, and their own features tell which: {word}. On Experts, "
            f"{figure(cell)} beside {figure(pair.second)}: {writing.difference(pair.mean)} points (Holm-corrected p "
            f"{writing.equation(p)})."
        )
    found = against(results, contest, cell, "paper_linear") if cell else None
    if found:
        pair, p = found
        yield (
            f"**Operator.** Against the linear map in the paper's wiring, {writing.accuracy(pair.second.rule)}: "
            f"{writing.difference(pair.mean)} points (Holm-corrected p {writing.equation(p)})."
        )


def gcn_sentence(results):
    """The honest answer against GCN and GAT."""
    contest = find("experts/operators")
    cell = best_hard(results, contest)
    for name in ("gcn", "gat"):
        found = against(results, contest, cell, name) if cell else None
        if found:
            pair, p = found
            epochs = [statistics.fmean(one.rule["epochs"]) for one in (pair.first, pair.second)]
            yield (
                f"**Operator.** Against {pair.second.label} in the same wiring, trained until validation stops rising: "
                f"{writing.difference(pair.mean)} points (Holm-corrected p {writing.equation(p)}), in {epochs[0]:.0f} "
                f"epochs instead of {epochs[1]:.0f}."
            )


def soft_sentence(results):
    """Hard beside soft, and the softmax."""
    contest = find("experts/operators")
    for first, second in (("hgao_uniform", "gao_cosine"), ("hgao_uniform", "hgao"), ("hgao_cosine", "hgao")):
        cell = named(results, contest, first)
        found = against(results, contest, cell, second) if cell else None
        if found:
            pair, p = found
            yield (
                f"**Score.** {figure(pair.first)} beside {figure(pair.second)} on Experts: "
                f"{writing.difference(pair.mean)} points (Holm-corrected p {writing.equation(p)})."
            )


def entropy_sentence(results):
    """How awake the attention is, in the wiring that Experts recommends."""
    contest = find("experts/operators")
    awake, papers = (entropies(results, contest, name) for name in ("hgao_cosine", "hgao"))
    if awake and papers:
        yield (
            "**Score.** The entropy of hGAO's attention in the open wiring on Experts, module by module, 1 for a "
            f"uniform one: {awake} (cosine), {papers} (the paper's score). Uniform scores are 1 by definition: who "
            "wants attention to read takes cosine."
        )


def wiring_sentence(results):
    """Which switch does it."""
    contest = find("experts/wiring")
    there = {cell.rival.name: cell for cell in cells(results, contest) if cell.summary}
    if {"none", "all"} <= set(there):
        opened = [f"{name.removeprefix('only_')} {there[name].rule['mean']:.1f}" for name in there if "only" in name]
        closed = [
            f"{name.removeprefix('without_')} {there[name].rule['mean']:.1f}" for name in there if "without" in name
        ]
        yield (
            f"**Wiring.** Open it: on Experts the paper's gives {writing.accuracy(there['none'].rule)}, all three "
            f"switches {writing.accuracy(there['all'].rule)}; one of them alone: {', '.join(opened) or 'not run'}; "
            f"all but one: {', '.join(closed) or 'not run'}."
        )


def k_sentence(results):
    """Figure 3 in kind."""
    contest = find("experts/k")
    for name, word in (("uniform", "without a softmax"), ("dot", "with it")):
        there = [(k, named(results, contest, f"{name}_k{k}")) for k in sorted((*K_VALUES, 8))]
        there = [(k, cell) for k, cell in there if cell]
        if len(there) > 1:
            curve = ", ".join(f"{cell.rule['mean']:.1f} (k = {k})" for k, cell in there)
            yield f"**k** on Experts, {word}: {curve}."


def costs(results):
    """The rows of cost.json."""
    path = results.folder / COST
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else []


def cost_sentence(results):
    """What hard selection saves."""
    rows = {(row["operator"], row["degree"]): row for row in costs(results)}
    degree = DEGREES[-1]
    if ("hgao_uniform", degree) in rows:
        hard, soft = rows["hgao_uniform", degree], rows["gao_cosine", degree]
        yield (
            f"**Cost.** At {degree} ordinary neighbours one layer of hGAO (uniform, k = 8) takes "
            f"{hard['madd'] / 1e6:.1f} million multiply-adds and {hard['cpu_ms']:.1f} ms of processor time forward and "
            f"backward, GAO (cosine) {soft['madd'] / 1e6:.1f} million and {soft['cpu_ms']:.1f} ms."
        )


def beside_linear(results):
    """[(contest, {rival: (pair, Holm's p by t)})]: hGAO and the linear map in the same wiring, where both are run."""
    found = []
    for contest in contests():
        pairs_of = [(pair, p) for pair, p in corrected(results, contest) if is_beside_linear(pair)]
        found += [(contest, {pair.first.rival.name: (pair, p) for pair, p in pairs_of})] if pairs_of else []
    return found


def is_beside_linear(pair):
    """Whether the second of a pair is the linear map in the first one's wiring."""
    first, second = pair.first.rival.name, pair.second.rival.name
    return second.endswith("linear") and first.startswith("paper_") == second.startswith("paper_")


def corrected(results, contest):
    """[(pair, Holm's p by t)] of a contest; the sets of graph classification ask one question, and are one family."""
    if contest.task != "graph":
        return [(pair, p) for pair, _, p in adjusted(pairs(results, contest))]
    found = [(other.name, pair) for other in contests() if other.task == "graph" for pair in pairs(results, other)]
    values = holm([pair.p_t for _, pair in found])
    return [(pair, p) for (name, pair), p in zip(found, values, strict=True) if name == contest.name]


OVERVIEW = {  # column: the rivals that may stand there
    "paper's score": ("hgao",),
    "cosine": ("hgao_cosine", "open_cosine"),
    "uniform": ("hgao_uniform", "open_uniform"),
}


def overview(results):
    """hGAO beside the linear control on all data: the differences, those that stand after correction in bold."""
    rows = []
    for contest, hard in beside_linear(results):
        control = next(iter(hard.values()))[0].second
        row = [f"{contest.dataset}, `{contest.name}`", writing.accuracy(control.rule)]
        for names in OVERVIEW.values():
            row.append(next((gain(*hard[name]) for name in names if name in hard), NONE))
        rows.append(row)
    if not rows:
        return []
    text = (
        "hGAO minus the linear map in the same wiring, in points, everywhere: in bold what stands below "
        f"{LEVEL} by the t-test after Holm's correction within a contest (graph classification: over all its sets)."
    )
    return [text, "", *table(["data and contest", "linear map, %", *OVERVIEW], rows)]


def gain(pair, p):
    """`+8.32`, in bold where it stands."""
    text = writing.difference(pair.mean)
    return f"**{text}**" if p < LEVEL else text


def real_sentence(results):
    """Significant gains over the linear control on data that were not made for the operator."""
    gains, below, level = [], [], 0
    for contest, hard in beside_linear(results):
        if contest.name.startswith(("heterophilous/", "communities/")):
            for pair, p in hard.values():
                text = f"{pair.first.label} on {contest.dataset} ({writing.difference(pair.mean)})"
                if p < LEVEL:
                    (gains if pair.mean > 0 else below).append(text)
                level += p >= LEVEL
    if gains or level or below:
        yield (
            "**Other data**, the linear map in the same wiring, after Holm's correction: above it "
            f"{listing(gains) or 'nothing'}; below it {listing(below) or 'nothing'}; "
            f"{writing.count(level, 'comparison')} not told apart."
        )


def lookup_sentence(results):
    """hGAO and TopKGAO on the look-up."""
    parts = []
    for size in SIZES:
        there = [named(results, find(f"dictionary/{size}"), name) for name in ("hgao", "topk", "gao")]
        if all(there):
            parts.append(f"{size} keys: " + ", ".join(f"{cell.label} {cell.rule['mean']:.1f}" for cell in there))
    if parts:
        yield f"**Not hGAO** where the right neighbour depends on who asks. On Dictionary, k = 8, {'; '.join(parts)}."


def graphs_sentence(results):
    """Graph classification beside the linear map."""
    there = [(contest, *entry) for contest in contests() if contest.task == "graph"
             for entry in corrected(results, contest)]  # fmt: skip
    if there:
        good = [f"{pair.first.label} on {contest.dataset} ({writing.difference(pair.mean)})"
                for contest, pair, p in there if p < LEVEL]  # fmt: skip
        sets = len({contest.name for contest, *_ in there})
        yield (
            f"**Graph classification**, {writing.count(sets, 'data set')}: of "
            f"{writing.count(len(there), 'comparison')} with the linear map in the same wiring, {len(good) or 'none'} "
            f"stand{'s' if len(good) == 1 else ''} after correction over all of them"
            f"{': ' + '; '.join(good) if good else ''}."
        )


# The figure


def headline(results):
    """The picture of accuracy against cost, where there is something to draw."""
    if not any(panel["series"] for panel in cost_panels(results)):
        return []
    return [
        "![accuracy against multiply-adds and processor time, hard and soft attention](results/plots/cost.png)",
        "",
        "Test accuracy on Experts at 16, 32, 64 and 128 ordinary neighbours against what one attention layer costs.",
        "",
    ]


def cost_panels(results):
    """[{"label", "series": {rival's label: [(degree, cost, mean, sd)]}}]: multiply-adds, and time."""
    rows = {(row["operator"], row["degree"]): row for row in costs(results)}
    panels = []
    for key, text, unit in (("madd", "million multiply-adds", 1e-6), ("cpu_ms", "ms of processor time", 1)):
        series = {}
        for degree in DEGREES:
            for cell in cells(results, find(f"degrees/{degree}")):
                row = rows.get((cell.rival.name, degree))
                if row and cell.summary:
                    point = (degree, row[key] * unit, cell.rule["mean"], cell.rule["std"])
                    series.setdefault(cell.label, []).append(point)
        panels.append({"label": text, "series": series})
    return panels


def not_run(results):
    """What is missing, and what to type."""
    missing = [f"{contest.name}/{rival.name}" for contest in contests() for rival in contest.rivals
               if results.summary(contest.folder(rival)) is None]  # fmt: skip
    if not missing:
        return []
    whole = [
        contest.name for contest in contests() if all(f"{contest.name}/{r.name}" in missing for r in contest.rivals)
    ]
    single = [name for name in missing if name.rpartition("/")[0] not in whole]
    listed = ", ".join(f"`{name}`" for name in (*whole, *single))
    return ["## Not run", "", f"{listed}. To run what is missing: `{COMMAND}`.", ""]
