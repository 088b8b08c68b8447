"""The plots of RESULTS.md, from results/ alone and the same to the byte each time.

A plot is drawn from plain values, and carries their fingerprint and the versions it was drawn with. Another version of
matplotlib sets text a little differently: there a plot counts as up to date when its fingerprint is.
"""

import hashlib
import io
import json
import platform
from importlib.metadata import version
from math import nan

from experiments import paper
from experiments.report import writing
from experiments.report.runs import (
    GRAPH_MODELS,
    K_SETS,
    K_VALUES,
    LINEAR,
    NODE_MODELS,
    NODE_SETS,
    graph_run,
    node_run,
)
from experiments.report.sections.advice import cost_panels

COLUMNS = {**paper.ROWS, LINEAR: "linear"}  # short enough for an axis
STYLES = {  # rule: (marker, colour, filled, words)
    "best_test_epoch": ("o", "#d62728", True, "best test epoch (selected on test)"),
    "max_test_lgcn": ("o", "#d62728", True, "LGCN's rule (selected on test)"),
    "last_epoch": ("s", "#1f77b4", False, "last epoch"),
    "validation": ("D", "#2ca02c", True, "epoch chosen on validation"),
    "paper": ("x", "black", True, "the paper"),
}

DEGREE_MARKERS = {16: "o", 32: "s", 64: "^", 128: "D"}  # of the picture of costs


def plots(results):
    """{file name: PNG bytes}."""
    drawn = {"graphs.png": graphs(results), "nodes.png": nodes(results), "k.png": k_values(results)}
    costs = cost_panels(results)
    more = {"cost.png": cost_png(costs)} if any(panel["series"] for panel in costs) else {}
    return {**{name: png(panels) for name, panels in drawn.items()}, **more}


def graphs(results):
    """Tables 5 and 7 and the validation protocol: a panel for each data set."""
    return [_panel(results, d, GRAPH_MODELS, ("best_test_epoch", "last_epoch", "validation")) for d in writing.DATASETS]


def nodes(results):
    """Table 6: a panel for each data set."""
    return [_panel(results, dataset, NODE_MODELS, ("max_test_lgcn", "validation")) for dataset in NODE_SETS]


def _panel(results, dataset, models, rules):
    """{"title", "ticks", "label", "lines", "series": {rule: [(place, mean, sd)]}} of one data set."""
    series = {}
    for place, model in enumerate(models):
        runs = [node_run(dataset, model)] if dataset in NODE_SETS else [
            graph_run(dataset, model), graph_run(dataset, model, "validation")
        ]  # fmt: skip
        for rule in rules:
            for entry in filter(None, (results.rule(run, rule) for run in runs)):
                series.setdefault(rule, []).append((place, entry["mean"], entry["std"]))
        figure = paper.cell(dataset, model)
        if figure and figure.accuracy is not None:
            series.setdefault("paper", []).append((place, figure.accuracy, figure.std))
    ticks = [COLUMNS[model] for model in models]
    return {"title": writing.dataset(dataset), "ticks": ticks, "label": "", "lines": False, "series": series}


def k_values(results):
    """Figure 3: a panel for each data set."""
    panels = []
    for dataset in K_SETS:
        series = {}
        for place, k in enumerate(K_VALUES):
            for rule in ("best_test_epoch", "last_epoch"):
                if entry := results.rule(graph_run(dataset, "hganet", k=k), rule):
                    series.setdefault(rule, []).append((place, entry["mean"], entry["std"]))
        title, ticks = writing.dataset(dataset), [str(k) for k in K_VALUES]
        panels.append({"title": title, "ticks": ticks, "label": "k", "lines": True, "series": series})
    return panels


def png(panels):
    """The picture as bytes, with its origin in the file."""
    import matplotlib.style
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with matplotlib.style.context("default"):  # whatever the user's own settings are
        rows = -(-len(panels) // 3)
        figure = Figure(figsize=(11, 0.6 + 3.2 * rows), dpi=100, layout="constrained")
        FigureCanvasAgg(figure)  # no window system needed
        for axes, panel in zip(figure.subplots(rows, 3).flat, panels, strict=True):
            _draw(axes, panel)
        _legend(figure)
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", metadata={"Software": tools(), "Source": fingerprint(panels)})
    return buffer.getvalue()


def cost_png(panels):
    """Accuracy against cost: a line for each operator, a shape for each degree."""
    import matplotlib.style
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    with matplotlib.style.context("default"):
        figure = Figure(figsize=(11, 4), dpi=100, layout="constrained")
        FigureCanvasAgg(figure)
        for axes, panel in zip(figure.subplots(1, len(panels), sharey=True), panels, strict=True):
            for label, points in panel["series"].items():
                _, costs, means, spreads = zip(*points, strict=True)
                (line, *_) = axes.errorbar(costs, means, spreads, label=label, capsize=2, linewidth=1)
                for degree, cost, mean, _ in points:
                    axes.plot(cost, mean, DEGREE_MARKERS[degree], color=line.get_color(), markersize=7)
            axes.set(xlabel=f"{panel['label']} of one attention layer", xscale="log")
            axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            axes.xaxis.set_minor_formatter(NullFormatter())
            axes.grid(alpha=0.3)
        figure.axes[0].set_ylabel("test accuracy on Experts, %")
        lines, labels = figure.axes[0].get_legend_handles_labels()
        degrees = sorted({degree for points in panels[0]["series"].values() for degree, *_ in points})
        shapes = [Line2D([], [], color="black", linestyle="", marker=DEGREE_MARKERS[degree]) for degree in degrees]
        words = [f"{degree} ordinary neighbours" for degree in degrees]
        figure.legend([*lines, *shapes], [*labels, *words], loc="outside right upper")
        figure.suptitle("Hard (k = 8) and soft attention as neighbourhoods grow")
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", metadata={"Software": tools(), "Source": fingerprint(panels)})
    return buffer.getvalue()


def _draw(axes, panel):
    axes.set_title(panel["title"])
    axes.set_xticks(range(len(panel["ticks"])), panel["ticks"])
    axes.set(xlim=(-0.5, len(panel["ticks"]) - 0.5), xlabel=panel["label"], ylabel="accuracy, %")
    axes.grid(axis="y", alpha=0.3)
    used = [rule for rule in STYLES if rule in panel["series"]]
    for number, rule in enumerate(used):
        marker, colour, filled, words = STYLES[rule]
        places, means, spreads = zip(*panel["series"][rule], strict=True)
        shift = 0.13 * (number - (len(used) - 1) / 2)  # side by side: bars would hide each other
        axes.errorbar(
            [place + shift for place in places],
            means,
            [nan if spread is None else spread for spread in spreads],
            label=words,
            color=colour,
            marker=marker,
            markerfacecolor=colour if filled else "white",
            capsize=2,
            linewidth=1,
            linestyle="-" if panel["lines"] else "",
        )
    if not set(used) - {"paper"}:
        axes.text(0.5, 0.5, "not run yet", ha="center", va="center", transform=axes.transAxes, color="#7f7f7f")


def _legend(figure):
    handles = {}
    for axes in figure.axes:
        found, words = axes.get_legend_handles_labels()
        handles.update(zip(words, found, strict=True))
    words = [style[3] for style in STYLES.values() if style[3] in handles]
    if words:
        figure.legend([handles[word] for word in words], words, loc="outside lower center", ncols=4, frameon=False)


def fingerprint(panels):
    """A sum over everything that is drawn."""
    return hashlib.sha256(json.dumps(panels, sort_keys=True).encode()).hexdigest()


def tools():
    """What the bytes of a picture depend on beside its values."""
    return f"matplotlib {version('matplotlib')}, Pillow {version('pillow')}, {platform.machine()}"


def same_picture(old, new):
    """Whether a file shows what was drawn now: to the byte, or by fingerprint when drawn with other versions."""
    if old == new:
        return True
    (old_tools, old_source), (_, source) = origin(old), origin(new)
    return old_tools != tools() and old_source == source


def origin(data):
    """(versions, fingerprint) that a PNG carries; None for each it does not."""
    from PIL import Image

    try:
        with Image.open(io.BytesIO(data)) as image:
            return image.info.get("Software"), image.info.get("Source")
    except OSError:
        return None, None
