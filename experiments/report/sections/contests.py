"""Contests beyond the paper, from results/study: the tables of RESULTS.md, and docs/results/contests.md with the tests.

A *cell* is one rival of a contest: what it was tuned to, what it gave, and at which epoch. Two cells are compared run
by run: both trained on the same graph, split or seed.
"""

import json
import statistics
from typing import NamedTuple

from experiments import paper
from experiments.report import writing
from experiments.report.results import fold_differences
from experiments.report.runs import LINEAR
from experiments.report.statistics import TIE, corrected_t, held_out_ratio, holm, wilcoxon
from experiments.report.writing import NONE, SELECTED_ON_TEST, listing, table
from experiments.study.contest import chosen, validation_figure, words
from experiments.study.plan import K_SCORES, K_VALUES, contests
from experiments.tasks import VALIDATION_SHARE

LEVEL = 0.05
COMMAND = "python -m experiments.study"
PAGE = "docs/results/contests.md"
SPELT = {"hgao": "hGAO", "cgao": "cGAO", "topk": "TopKGAO", LINEAR: "linear map"}  # other operators: in capitals
READ = {"paper_": ", the paper's wiring", "open_mean_": ", mean readout", "open_": ""}  # how rivals' names begin
SWITCHES = {"all": "all three switches", "none": "none of them, the paper's wiring"}
GROUPS = {  # part of the contests' names: (title, what is asked there)
    "teacher/": (
        "Nodes with a mean teacher",
        "The paper's network, its linear control, GCN and GAT, each with a teacher chosen on validation. Citeseer's "
        "grid was made wider once, on validation, for all four: with the weight alone to choose, hGAO had 72.10 on "
        "test.",
    ),
    "experts/operators": (
        "Experts: operators and wirings",
        "A generated task (`data.load(\"Experts\")`): 3 of about 63 neighbours know a node's class, and a mark in "
        "their features tells who they are. Every run has a graph of its own. The open wiring is `embedding=\"dense\", "
        "skip=\"both\", out=\"dense\"`; all operators have it, where nothing else is said.",
    ),
    "experts/k": ("Experts: how many neighbours to keep", "hGAO in the open wiring, with each score."),
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
        "Platonov et al.'s graphs on their ten published splits; ROC AUC on minesweeper and tolokers, else accuracy.",
    ),
    "dictionary/": (
        "Dictionary: when the right neighbour depends on who asks",
        "Brody et al.'s look-up. hGAO ranks neighbours without a look at who asks, so of more keys than k each module "
        "must miss some, and two modules with k = 8 those beyond sixteen; TopKGAO need not.",
    ),
    "communities/": (
        "PATTERN and CLUSTER",
        "Dwivedi et al.'s generated graphs, 25 for each run; ROC AUC on PATTERN, accuracy on CLUSTER.",
    ),
    "graphs/": (
        "Graph classification",
        "What Experts recommends in the paper's networks, beside the linear map in the same wiring; ten folds, epoch "
        "chosen on validation, settings of the configs.",
    ),
}  # fmt: skip

HEAD = f"""\
# Contests: when attention pays

Every table and paired test behind [When attention pays](../attention.md). In a contest all rivals have the same number
of settings to choose from, on validation, with two seeds from 100 on that are not reported; what they had there stands
below the figures, and where two settings are close, two seeds cannot tell which is better. The epoch is chosen on
validation too, by the accuracy (ROC AUC) on Experts, Dictionary, Pubmed and the heterophilous graphs, elsewhere by the
loss. The chosen epoch, a mean over the runs, stands beside the cap, because a rival that still rises at its cap has not
been beaten. Rivals are compared run by run: on generated data a run is a graph of its own, on nodes with published
splits a split, on Cora, Citeseer and Pubmed a seed (the split is the same, so tests say nothing about other splits),
on graph data sets a fold. Every name leads to its summary, which has the command. `{COMMAND}` runs what is missing,
`--list` shows it.
"""


class Cell(NamedTuple):
    """One rival of a contest, and its summary, or None while it is not run."""

    contest: object
    rival: object
    summary: dict | None

    @property
    def label(self):
        return name_of(self.rival.name)

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


# Cells and pairs


def name_of(rival):
    """A rival as readers know it: `hgao_cosine` is hGAO, cosine; `open_uniform` is hGAO, uniform."""
    begin = next((word for word in READ if rival.startswith(word)), "")
    operator, _, score = rival.removeprefix(begin).partition("_")
    if operator in K_SCORES and not score:
        operator, score = "hgao", operator
    if rival in SWITCHES or score not in ("", *K_SCORES):
        return SWITCHES.get(rival) or rival.replace("_", " ")
    return (SPELT.get(operator) or operator.upper()) + (f", {score}" if score else "") + READ.get(begin, "")


def cells(results, contest):
    """Every rival of a contest."""
    return [Cell(contest, rival, results.summary(contest.folder(rival))) for rival in contest.rivals]


def run_cells(results, contest):
    """{rival's name: cell} of those that are run."""
    return {cell.rival.name: cell for cell in cells(results, contest) if cell.summary}


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


def tested(results, contest):
    """[(pair, Holm's p by Wilcoxon, by t)]: a contest is one family; all sets of graph classification are one."""
    family = [contest] if contest.task == "node" else [other for other in contests() if other.task == "graph"]
    found = [pair for other in family for pair in pairs(results, other)]
    both = holm([pair.p_wilcoxon for pair in found]), holm([pair.p_t for pair in found])
    return [entry for entry in zip(found, *both, strict=True) if entry[0].first.contest == contest]


def against_linear(results, contest):
    """{rival: [(pair, Holm's p by t)]}: every comparison with the linear map, in a rival's own wiring first."""
    found = {}
    for pair, _, p in tested(results, contest):
        if pair.second.rival.name.endswith("linear"):
            found.setdefault(pair.first.rival.name, []).append((pair, p))
    return {name: sorted(entries, key=lambda entry: other_wiring(entry[0])) for name, entries in found.items()}


def other_wiring(pair):
    """Whether one of a pair has the paper's wiring, and the other one does not."""
    return len({cell.rival.name.startswith("paper_") for cell in (pair.first, pair.second)}) == 2


def verdict(entries):
    """1 for what is above the linear map in every wiring that it was compared with, -1 for what is below, else 0."""
    signs = {0 if p >= LEVEL else 1 if pair.mean > 0 else -1 for pair, p in entries}
    return signs.pop() if len(signs) == 1 else 0


# RESULTS.md

SHORT = {"paper_hgao": "hGAO, paper's wiring", "paper_linear": "linear, paper's wiring", "linear": "linear"}
TAUGHT = ("hgao", "linear", "gcn", "gat")
GRAPHS = tuple(f"open_{readout}{score}" for readout in ("", "mean_") for score in ("cosine", "uniform", "linear"))
WIRINGS = (
    "none", "only_embedding", "only_skip", "only_out", "without_embedding", "without_skip", "without_out", "all",
)  # fmt: skip
ON_DATA = ("experts/operators", "dictionary/", "heterophilous/", "communities/")


def contest_tables(results):
    """The section of RESULTS.md: test figures of all contests, at a glance."""
    parts = (
        operators_table(results),
        grid("Nodes, few labels, with a mean teacher", matching("teacher/"), TAUGHT, results, paper_too=True),
        grid("Graph classification in the open wiring", matching("graphs/"), GRAPHS, results),
        k_table(results),
        grid("Hard beside soft attention as neighbourhoods grow", matching("degrees/"), DEGREE_RIVALS, results),
        grid("Experts: which of the three switches does it", [find("experts/wiring")], WIRINGS, results),
    )
    text = (
        "Beyond the paper: contests of operators, wirings, scores and k with equal budgets, on data where attention "
        "might pay, and nodes with a mean teacher. Test figures in percent, at the epoch and with the setting that "
        f"validation chose, means over ten runs. In **bold** what is above the linear map, in *italics* what is below, "
        f"below {LEVEL} by the t-test after Holm's correction, in both wirings where both were compared; only hGAO was "
        "compared. [docs/attention.md](docs/attention.md) says what to do with it, and "
        f"[{PAGE}]({PAGE}) has spreads, settings, epochs and every test."
    )
    lines = [line for part in parts for line in part]
    return ["## When attention pays", "", text, "", *(lines or [f"Not run yet: `{COMMAND}`.", ""])]


DEGREE_RIVALS = ("hgao_uniform", "hgao_cosine", "gao_cosine", "gat")


def matching(*parts):
    """The contests whose names begin so, in the order in which they are run."""
    return [contest for contest in contests() if contest.name.startswith(parts)]


def operators_table(results):
    """Every operator on all data of nodes; ROC AUC where it says so."""
    group = [contest for part in ON_DATA for contest in matching(part)]
    rivals = [rival.name for rival in find("heterophilous/actor").rivals]  # Experts has one more
    return grid("Operators, in the open wiring where nothing else is said", group, rivals, results)


def grid(title, group, rivals, results, paper_too=False):
    """Contests by rivals; nothing where none of them is run."""
    rows = []
    for contest in group:
        there = run_cells(results, contest)
        if there:
            linear = against_linear(results, contest)
            figures = [marked(there.get(name), linear.get(name, ())) for name in rivals]
            told = paper.cell(contest.dataset, "hganet") if paper_too else None
            rows.append([row_name(contest, there), *([told.text] if told else []), *figures])
    if not rows:
        return []
    heads = ["data", *(["hGANet: paper"] if paper_too else []), *(SHORT.get(name) or name_of(name) for name in rivals)]
    return [f"### {title}", "", *table(heads, rows)]


def row_name(contest, there):
    """`Experts`, with what tells it from the others of its name, and its metric where that is not accuracy."""
    metric = next(iter(there.values())).summary.get("metric", "accuracy")
    last = contest.name.rpartition("/")[2]
    more = [f"{last} keys" if contest.dataset == "Dictionary" else f"{last} neighbours"] if last.isdigit() else []
    more += ["ROC AUC"] if metric == "roc_auc" else []
    return f"[{contest.dataset}]({PAGE}#{anchor(contest)})" + (f", {', '.join(more)}" if more else "")


def anchor(contest):
    """Where its heading is on the page, as GitHub and the site spell it."""
    kept = (letter for letter in heading(contest).lower() if letter.isalnum() or letter in " -_")
    return "".join(kept).replace(" ", "-")


def heading(contest):
    """Its heading on the page."""
    return f"{contest.dataset}, `{contest.name}`"


def marked(cell, entries):
    """A mean, in bold or italics by how it stands to the linear map."""
    if cell is None:
        return NONE
    sign = verdict(entries)
    mark = "**" if sign > 0 else "*" if sign < 0 else ""
    return f"{mark}{writing.mean(cell.rule)}{mark}"


def with_score(score):
    """`hGAO, uniform`."""
    return name_of("hgao" if score == "dot" else f"hgao_{score}")


def k_table(results):
    """Figure 3 in kind."""
    contest = find("experts/k")
    rows = []
    for score in K_SCORES:
        found = [named(results, contest, f"{score}_k{k}") for k in K_VALUES]
        if any(found):
            rows.append([with_score(score), *(marked(cell, ()) for cell in found)])
    if not rows:
        return []
    return ["### Experts: how many neighbours to keep", "", *table(["", *(f"k = {k}" for k in K_VALUES)], rows)]


# docs/results/contests.md


def contests_page(results):
    """Every table and test."""
    lines = [HEAD]
    for part, (title, asked) in GROUPS.items():
        lines += [f"## {title}", "", asked, ""]
        for contest in matching(part):
            lines += contest_lines(results, contest)
    return [*lines, *not_run(results)]


def contest_lines(results, contest):
    """The tables of one contest: what the rivals gave, and their differences."""
    there = [cell for cell in cells(results, contest) if cell.summary]
    title = f"### {heading(contest)}"
    if not there:
        return [title, "", "Not run yet.", ""]
    metric = there[0].summary.get("metric", "accuracy")
    unit = "ROC AUC" if metric == "roc_auc" else "accuracy"
    heads = ["rival", "chosen on validation", f"validation {unit}, %", f"test {unit}, %", "runs", "epoch of cap",
             "entropy / log n"]  # fmt: skip
    heads += [f"best test epoch {SELECTED_ON_TEST}"] if shows_best(contest) else []
    rows = [cell_row(results, cell, metric) for cell in sorted(there, key=lambda cell: -cell.rule["mean"])]
    lines = [title, "", *table(heads, rows, left=2), *figures_of_paper(contest, there)]
    return [*lines, *at_cap(there), *tuning_table(results, contest), *pair_lines(results, contest)]


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


def tuning_table(results, contest):
    """What each setting of each rival had on validation; the chosen one in bold."""
    grid = contest.rivals[0].grid  # which is everybody's
    if len(grid) == 1:
        return []
    rows = []
    for rival in contest.rivals:
        tried = [results.summary(contest.folder(rival, setting)) for setting in rival.grid]
        best = chosen(contest, rival, results.folder)
        if any(tried):
            figures = [f"{validation_figure(one)[0]:.2f}" if one else NONE for one in tried]
            row = [f"**{f}**" if s == best else f for f, s in zip(figures, rival.grid, strict=True)]
            rows.append([name_of(rival.name), *row])
    if not rows:
        return []
    heads = [f"validation, {contest.tuning_runs} tuning seeds", *(f"`{words(setting)}`" for setting in grid)]
    return table(heads, rows)


def pair_lines(results, contest):
    """The comparisons of a contest."""
    found = tested(results, contest)
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
    good = [
        f"{pair.first.label} {'above' if pair.mean > 0 else 'below'} {pair.second.label}"
        for pair, _, p in found
        if p < LEVEL
    ]
    return f"After Holm's correction, t-test, below {LEVEL}: {'; '.join(good) or 'nothing'}."


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
