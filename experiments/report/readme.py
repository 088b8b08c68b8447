"""What README.md and configs/README.md say in figures."""

from experiments import paper
from experiments.config import all_configs
from experiments.report import writing
from experiments.report.runs import NETWORKS, NODE_SETS, graph_run, node_run, reported_runs
from experiments.report.sections.advice import DATA, OVERVIEW, costs
from experiments.report.sections.contests import against_linear, find, matching, named, run_cells, verdict
from experiments.report.writing import MISSING, NONE, SELECTED_ON_TEST, listing, table
from experiments.study.plan import DEGREES


def readme_block(results):
    """Ours beside the paper's on all nine data sets, as Markdown, a line for each, and how to read it."""
    heads = [
        "hGANet: paper",
        f"ours, best test epoch {SELECTED_ON_TEST}",
        "ours",
        "cGANet: paper",
        f"{SELECTED_ON_TEST}",
        "ours",
    ]
    lines = [
        *table(
            ["test accuracy, %", *heads],
            [graph_line(results, dataset) for dataset in writing.DATASETS] + [node_line(results, d) for d in NODE_SETS],
        ),
        f"Mean over ten folds or seeds. {SELECTED_ON_TEST} The epoch is selected on test, which is probably what the "
        "paper reports. *Ours* without it selects nothing on test: on graphs it is the last epoch, on nodes "
        "the epoch of the lowest validation loss. [RESULTS.md](RESULTS.md) has every table, with the spread, the "
        "paper's rivals, the control without attention and tuned settings; [docs/results](docs/results) has paired "
        "tests, tuning, what the attention does, and the command behind each figure. `make report` writes all of it "
        "from `results/`.",
    ]
    return "\n".join([*lines, *(line for text in with_a_teacher(results) for line in ("", text))])


def graph_line(results, dataset):
    """A data set of Table 5: each network's figure in the paper, ours at the best test epoch and at the last."""
    figures = []
    for model in NETWORKS:
        summary = results.get(graph_run(dataset, model))
        figures.append(paper.cell(dataset, model).text)
        figures += [writing.mean(summary[rule]) if summary else MISSING for rule in ("best_test_epoch", "last_epoch")]
    return [writing.dataset(dataset), *figures]


def node_line(results, dataset):
    """A data set of Table 6, which has hGANet alone; older runs did not keep their best test epoch."""
    summary = results.get(node_run(dataset, "hganet"))
    rules = [summary.get(rule) for rule in ("best_test_epoch", "validation")] if summary else [None, None]
    figures = [writing.mean(rule) if rule else NONE if summary else MISSING for rule in rules]
    return [dataset, goal(dataset), *figures, *[NONE] * 3]


def attention_block(results):
    """What README.md says of attention: where hard selection pays, in which wiring, and where it does not."""
    found = [text for make in (hard_beside_soft, wiring, elsewhere) for text in make(results)]
    link = "[docs/attention.md](docs/attention.md) says when to use what, figure by figure."
    return " ".join([*found, link])


def hard_beside_soft(results):
    """Hard beside soft attention where neighbourhoods are largest."""
    degree = DEGREES[-1]
    there = run_cells(results, find(f"degrees/{degree}"))
    madd = {row["operator"]: row["madd"] for row in costs(results) if row["degree"] == degree}
    if {"hgao_uniform", "gao_cosine", "gat"} <= set(there) and {"hgao_uniform", "gao_cosine"} <= set(madd):
        yield (
            "Hard selection pays where few of many neighbours carry the signal: on the generated graphs *Experts* with "
            f"{degree} ordinary neighbours a node, hGAO (k = 8, a plain mean of the chosen) reaches "
            f"{percent(there['hgao_uniform'])}, soft attention {percent(there['gao_cosine'])} with "
            f"{madd['gao_cosine'] / madd['hgao_uniform']:.0f} times the multiply-adds, GAT {percent(there['gat'])}."
        )


def percent(cell):
    """`94.9 ± 1.2 %`."""
    return f"{cell.rule['mean']:.1f} ± {cell.rule['std']:.1f} %"


def wiring(results):
    """The wiring that it takes."""
    there = run_cells(results, find("experts/wiring"))
    if {"none", "all"} <= set(there):
        yield (
            'It takes the open wiring (`embedding="dense"`, `skip="both"`, `out="dense"`): in the paper\'s it reaches '
            f"{there['none'].rule['mean']:.1f} % where the open one reaches {there['all'].rule['mean']:.1f} %."
        )


def elsewhere(results):
    """Where it is above the linear map, of all data that were not made for it."""
    above, asked = [], []
    for contest in matching(*DATA, "graphs/"):
        linear = against_linear(results, contest)
        found = [linear[name] for names in OVERVIEW.values() for name in names if name in linear]
        asked += [contest.dataset] if found else []
        above += [contest.dataset] if any(verdict(entries) > 0 for entries in found) else []
    if asked:
        yield (
            f"Of {writing.count(len(asked), 'data set')} that were not made for it, hGAO is above a linear map in its "
            f"place on {listing(above) or 'none'}."
        )


def with_a_teacher(results):
    """Nodes with few labels."""
    there = {contest.dataset: cell for contest in matching("teacher/") if (cell := named(results, contest, "hgao"))}
    if there:
        figures = [
            f"{cell.rule['mean']:.1f} % on {dataset} (the paper: {goal(dataset)})" for dataset, cell in there.items()
        ]
        yield f"With a mean teacher, it and the epoch chosen on validation, hGANet has {listing(figures)}."


def goal(dataset):
    """The paper's figure without its spread."""
    return paper.cell(dataset, "hganet").text.split(" ")[0]


def config_table(results):
    """The table of configs/README.md: each data set and model with a config, its cell in the paper, what it gave."""
    figures = config_figures(results)
    rows = []
    for name, config, path in all_configs():
        dataset, model = config.dataset, config.model.name
        cell = paper.cell(dataset, model)
        place = [cell.place, cell.text] if cell else ["-", "-"]
        file = f"`{path.name}`" if path.stem == name else f"`{path.name}`, `--model {model}`"
        rows.append([file, *place, *figures.get((dataset, model), ("", ""))])
    return "\n".join(table(["file", "the paper's cell", "paper", "measured", "run time"], rows, left=5))


def config_figures(results):
    """{(data set, model): (figures, run time)} of every config that was run as it stands, as texts."""
    summaries = {(run.dataset, run.model): results.get(run) for run in reported_runs() if run.is_plain}
    return {
        pair: (figure(summary), writing.duration(summary["duration_seconds"]))
        for pair, summary in summaries.items()
        if summary
    }


def figure(summary):
    """`85.00 last, 90.00 best test †`, or the figure at the epoch that validation chose."""
    if summary["task"] == "node":
        return writing.mean(summary["validation"])
    last, best = (writing.mean(summary[rule]) for rule in ("last_epoch", "best_test_epoch"))
    return f"{last} last, {best} best test {SELECTED_ON_TEST}"
