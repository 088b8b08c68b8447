"""The tables of README.md and configs/README.md."""

from experiments import paper
from experiments.config import all_configs
from experiments.report import writing
from experiments.report.runs import NETWORKS, NODE_SETS, graph_run, node_run, reported_runs
from experiments.report.writing import MISSING, NONE, SELECTED_ON_TEST, table


def readme_block(results):
    """Ours beside the paper's on all nine data sets, as Markdown, a line for each."""
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
    return "\n".join(lines)


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
    return [dataset, paper.cell(dataset, "hganet").text.split(" ")[0], *figures, *[NONE] * 3]


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
