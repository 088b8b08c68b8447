"""docs/attention.md: which operator, wiring, score and k to take, in sentences that are made from numbers.

A maker of sentences gives none where a cell that it names is not run.
"""

import json
import statistics

from experiments import paper
from experiments.report import writing
from experiments.report.sections.contests import (
    LEVEL,
    PAGE,
    against_linear,
    anchor,
    cells,
    entropies,
    find,
    heading,
    matching,
    named,
    run_cells,
    tested,
    verdict,
    with_score,
)
from experiments.report.writing import NONE, bullets, listing, table
from experiments.study.contest import validation_figure
from experiments.study.plan import DEGREES, K_SCORES, K_VALUES, SIZES, contests

COST = "study/cost.json"
SCORES = ("hgao", "hgao_cosine", "hgao_uniform")
DATA = ("heterophilous/", "communities/")  # not made for the operator

HEAD = """\
# When attention pays

Which operator, wiring, score and k to take, by what was measured here. `python -m experiments.report` writes this page
from `results/study`: when the figures change, so do the sentences.

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
[Operators](operators.md) has the formulas. Figures are test accuracies in percent (ROC AUC on minesweeper, tolokers and
PATTERN), with the setting and the epoch that validation chose, means over ten graphs, splits, seeds or folds; p is that
of a paired t-test after Holm's correction. [Contests](./results/contests.md) has the protocol, every table and test.
"""


def advice(results):
    """The page."""
    lines = [HEAD]
    for title, makers in QUESTIONS.items():
        found = [text for make in makers for text in make(results)]
        if found:
            lines += [f"## {title}", "", *bullets(found), *BELOW.get(title, nothing)(results)]
    return lines if len(lines) > 1 else [*lines, "Nothing is run yet: `python -m experiments.study`.", ""]


def nothing(results):
    """No lines."""
    return []


def figure(cell):
    """`hGAO 83.60 ± 0.71`."""
    return f"{cell.label} {writing.accuracy(cell.rule)}"


def told(pair, p):
    """`+8.32 points, p < 0.001`."""
    return f"{writing.difference(pair.mean)} points, p {writing.equation(p)}"


# Which operator


def best_hard(results, contest):
    """The best of hGAO's scores by validation."""
    there = [cell for name in SCORES if (cell := named(results, contest, name))]
    return max(there, key=lambda cell: validation_figure(cell.summary)) if there else None


def against(results, contest, first, second):
    """(pair, Holm's p by t) of two rivals' names, or None."""
    for pair, _, p in tested(results, contest):
        if (pair.first.rival.name, pair.second.rival.name) == (first, second):
            return pair, p
    return None


def experts_sentence(results):
    """hGAO beside the linear control, where few neighbours matter."""
    contest = find("experts/operators")
    cell = best_hard(results, contest)
    found = against_linear(results, contest).get(cell.rival.name) if cell else None
    if found:
        word = "take hGAO" if verdict(found) > 0 else "hGAO is not shown to help"
        others = "; ".join(f"{figure(pair.second)} ({told(pair, p)})" for pair, p in found)
        yield f"**Few of many neighbours matter, and their own features tell which: {word}.** On Experts " \
              f"{figure(cell)}, beside {others}."  # fmt: skip


def gcn_sentence(results):
    """The honest answer against GCN and GAT."""
    contest = find("experts/operators")
    cell = best_hard(results, contest)
    found = [entry for name in ("gcn", "gat") if cell and (entry := against(results, contest, cell.rival.name, name))]
    if found:
        epochs = [f"{figure(pair.second)} ({told(pair, p)}), after {epoch(pair.second)} epochs" for pair, p in found]
        yield (
            f"GCN and GAT in the same wiring, trained until validation stops rising: {'; '.join(epochs)}. "
            f"{cell.label} takes {epoch(cell)}."
        )


def epoch(cell):
    """The mean of the chosen ones."""
    return f"{statistics.fmean(cell.rule['epochs']):.0f}"


def lookup_sentence(results):
    """hGAO and those that look at who asks, on the look-up."""
    parts = []
    for size in SIZES:
        there = [named(results, find(f"dictionary/{size}"), name) for name in ("hgao", "topk", "gao")]
        if all(there):
            parts.append(f"{size} keys: " + ", ".join(f"{cell.label} {cell.rule['mean']:.1f}" for cell in there))
    if parts:
        yield (
            "**The right neighbour depends on who asks: not hGAO**, which ranks neighbours once for all; take TopKGAO "
            f"or GAO. On Dictionary with k = 8, {'; '.join(parts)}."
        )


def real_sentence(results):
    """Where hGAO stands beside the linear map on data that were not made for it."""
    above, below, level = [], [], []
    for contest in matching(*DATA):
        found = against_linear(results, contest)
        for name in SCORES:
            if name in found:
                pair, _ = found[name][0]
                text = f"{pair.first.label} on {contest.dataset} ({writing.difference(pair.mean)})"
                {1: above, -1: below, 0: level}[verdict(found[name])].append(text)
    if above or below or level:
        yield (
            "**Data that were not made for it**, hGAO with each score beside the linear map in the same wiring and, "
            f"where that is run, in the paper's: above it in all: {listing(above) or 'nowhere'}; below it in all: "
            f"{listing(below) or 'nowhere'}; neither in {writing.count(len(level), 'case')}."
        )


def winners_sentence(results):
    """What is best there."""
    parts = []
    for contest in matching(*DATA):
        there = sorted((c for c in cells(results, contest) if c.summary), key=lambda cell: -cell.rule["mean"])
        if there:
            best = best_hard(results, contest) if named(results, contest, "hgao") else None
            beside = f", {figure(best)}" if best and best.rival != there[0].rival else ""
            parts.append(f"{contest.dataset}: {figure(there[0])}{beside}")
    if parts:
        yield (
            "The highest test mean there (selected on test, no advice), and the score of hGAO in the open wiring that "
            f"validation prefers: {'; '.join(parts)}."
        )


def graphs_sentence(results):
    """Graph classification beside the linear map."""
    there = [(contest, pair, p) for contest in matching("graphs/") for pair, _, p in tested(results, contest)]
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


OVERVIEW = {  # column: the rivals that may stand there
    "paper's score": ("hgao",),
    "cosine": ("hgao_cosine", "open_cosine"),
    "uniform": ("hgao_uniform", "open_uniform"),
}


def overview(results):
    """hGAO beside the linear control on all data: the differences, those that stand after correction in bold."""
    rows = []
    for contest in contests():
        hard = against_linear(results, contest)
        gains = [next((gain(*hard[name][0]) for name in names if name in hard), NONE) for names in OVERVIEW.values()]
        if any(text != NONE for text in gains):
            control = next(hard[name][0][0].second for names in OVERVIEW.values() for name in names if name in hard)
            link = f"[{heading(contest)}](./{PAGE.removeprefix('docs/')}#{anchor(contest)})"
            rows.append([link, writing.accuracy(control.rule), *gains])
    if not rows:
        return []
    text = (
        "hGAO minus the linear map in the same wiring, in points, everywhere: in bold where p is below "
        f"{LEVEL} (Holm's correction within a contest; graph classification: over all its sets)."
    )
    return [text, "", *table(["data and contest", "linear map, %", *OVERVIEW], rows)]


def gain(pair, p):
    """`+8.32`, in bold where it stands."""
    text = writing.difference(pair.mean)
    return f"**{text}**" if p < LEVEL else text


# Which wiring, score and k


def wiring_sentence(results):
    """Which switch does it."""
    there = run_cells(results, find("experts/wiring"))
    if {"none", "all"} <= set(there):
        opened = [f"{name.removeprefix('only_')} {there[name].rule['mean']:.1f}" for name in there if "only" in name]
        closed = [
            f"{name.removeprefix('without_')} {there[name].rule['mean']:.1f}" for name in there if "without" in name
        ]
        yield (
            f"**Open it**, all three switches: on Experts the paper's wiring gives "
            f"{writing.accuracy(there['none'].rule)}, the open one {writing.accuracy(there['all'].rule)}; one switch "
            f"alone: {', '.join(opened) or 'not run'}; all but one: {', '.join(closed) or 'not run'}. In the paper's a "
            "GCN stands before the operator, after it and at the end, and averages over all neighbours again."
        )


def papers_wiring_sentence(results):
    """The same question where nothing was made for the answer."""
    parts = []
    for contest in matching(*DATA):
        found = against(results, contest, "hgao", "paper_hgao")
        if found:
            pair, p = found
            parts.append(f"{contest.dataset} {writing.difference(pair.mean)} (p {writing.equation(p)})")
    if parts:
        yield f"Elsewhere hGAO in the open wiring minus hGAO in the paper's: {', '.join(parts)}."


def soft_sentence(results):
    """Hard beside soft, and the softmax."""
    contest = find("experts/operators")
    questions = {
        ("hgao_uniform", "hgao"): "the selection does the work, not the softmax",
        ("hgao_cosine", "hgao"): "with a softmax, cosines",
        ("hgao_uniform", "gao_cosine"): "hard selection is above soft attention",
    }
    for names, words in questions.items():
        found = against(results, contest, *names)
        if found:
            pair, p = found
            head = words.capitalize() if p < LEVEL and pair.mean > 0 else f"Not shown: {words}"
            yield f"**{head}**: on Experts {figure(pair.first)} beside {figure(pair.second)} ({told(pair, p)})."


def entropy_sentence(results):
    """How awake the attention is, in the wiring that Experts recommends."""
    contest = find("experts/operators")
    awake, papers = (entropies(results, contest, name) for name in ("hgao_cosine", "hgao"))
    if awake and papers:
        yield (
            "**Attention to read: cosine.** The entropy of hGAO's attention in the open wiring on Experts, module by "
            f"module, 1 for a uniform one: {awake} (cosine), {papers} (the paper's score). Uniform scores are 1 by "
            "definition."
        )


def k_sentence(results):
    """Figure 3 in kind."""
    contest = find("experts/k")
    for score in K_SCORES:
        there = {k: cell for k in K_VALUES if (cell := named(results, contest, f"{score}_k{k}"))}
        if len(there) > 1 and 8 in there:
            curve = ", ".join(f"{cell.rule['mean']:.1f} (k = {k})" for k, cell in there.items())
            best = max(there, key=lambda k: validation_figure(there[k].summary))
            found = {k: against(results, contest, f"{score}_k8", f"{score}_k{k}") for k in there if k != 8}
            worse = [str(k) for k, (pair, p) in found.items() if p < LEVEL and pair.mean > 0]
            yield (
                f"**{with_score(score)}**: on Experts, where 3 neighbours matter, {curve}. Validation prefers "
                f"k = {best}; below k = 8 after correction: {f'k = {listing(worse)}' if worse else 'none'}."
            )


# What it costs


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
            f"At {degree} ordinary neighbours one layer of hGAO (uniform, k = 8) takes "
            f"{hard['madd'] / 1e6:.1f} million multiply-adds and {hard['cpu_ms']:.1f} ms of processor time forward and "
            f"backward, GAO (cosine) {soft['madd'] / 1e6:.1f} million and {soft['cpu_ms']:.1f} ms."
        )


def degrees_sentence(results):
    """Whether hard selection keeps up as neighbourhoods grow."""
    parts = []
    for degree in DEGREES:
        found = against(results, find(f"degrees/{degree}"), "hgao_uniform", "gao_cosine")
        if found:
            parts.append(f"{writing.difference(found[0].mean)} at {degree} (p {writing.equation(found[1])})")
    if parts:
        yield f"Accuracy of the same, hGAO minus GAO, as ordinary neighbours grow: {', '.join(parts)}."


def picture(results):
    """Accuracy against cost, where there is something to draw."""
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


# Few labels


def teacher_sentence(results):
    """Whether nodes reach the paper's figure."""
    for contest in matching("teacher/"):
        cell = named(results, contest, "hgao")
        if cell:
            goal = paper.cell(contest.dataset, "hganet")
            word = "reaches" if writing.reaches(cell.rule, goal.accuracy) else "does not reach"
            beside = [figure(one) for one in cells(results, contest) if one.summary and one.rival != cell.rival]
            yield (
                f"**{contest.dataset}**: hGANet {word} the paper's {goal.text}: {writing.accuracy(cell.rule)} under "
                f"validation.{f' Beside it, with the same teacher: {listing(beside)}.' if beside else ''}"
            )


def teacher_linear_sentence(results):
    """Whether that is attention's work."""
    found = [(contest, against(results, contest, "hgao", "linear")) for contest in matching("teacher/")]
    parts = [f"{contest.dataset} {told(*entry)}" for contest, entry in found if entry]
    above = [contest.dataset for contest, entry in found if entry and entry[1] < LEVEL and entry[0].mean > 0]
    if parts:
        head = f"Attention adds to it on {listing(above)}" if above else "That is the teacher's work, not attention's"
        yield f"{head}: hGAO minus the linear map, {'; '.join(parts)}."


QUESTIONS = {
    "Which operator": (
        experts_sentence, gcn_sentence, lookup_sentence, real_sentence, winners_sentence, graphs_sentence,
    ),
    "Which wiring": (wiring_sentence, papers_wiring_sentence),
    "Which score": (soft_sentence, entropy_sentence),
    "Which k": (k_sentence,),
    "What it costs": (cost_sentence, degrees_sentence),
    "Few labels: a mean teacher": (teacher_sentence, teacher_linear_sentence),
}  # fmt: skip
BELOW = {"Which operator": overview, "What it costs": picture}
