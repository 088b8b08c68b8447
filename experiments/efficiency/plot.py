"""Time and memory over the number of nodes, with the paper's points."""

import io
from itertools import groupby

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from experiments.efficiency.text import name, one_way
from ganet_tf.files import write_whole
from ganet_tf.layers.operators import operator_names

COLOURS = ("#1f77b4", "#d62728", "#2ca02c", "#ff7f0e", "#9467bd", "#8c564b", "#e377c2", "#17becf")
MARKERS = {"sparse": "o", "dense": "s", "native": "^"}
PANELS = (("time_ms", "time_ms", "CPU inference, ms"), ("memory_bytes_profiler", "memory_bytes", "memory, MB"))


def draw(rows):
    """A figure of two log-log panels: one line an operator and implementation, the paper's cells as crosses."""
    figure = Figure(figsize=(10, 4.6), dpi=100, layout="constrained")
    for axes, (ours, papers, label) in zip(figure.subplots(1, 2), PANELS, strict=True):
        scale = 1e-6 if label.endswith("MB") else 1.0
        for title, line in _lines(rows):
            points = [(row.nodes, getattr(row, ours) * scale) for row in line if getattr(row, ours)]
            dash = "-" if line[0].implementation != "dense" or one_way(line[0].operator) else "--"
            # Where there is one size only, nothing but the marker tells implementations apart.
            mark = "o" if one_way(line[0].operator) else MARKERS.get(line[0].implementation, "o")
            style = {"marker": mark, "ms": 6, "mfc": "none" if dash == "--" else None, "color": _colour(line[0])}
            if points:
                axes.plot(*zip(*points, strict=True), dash, label=title, **style)
        for row in rows:
            if row.paper:
                axes.plot(row.nodes, row.paper[papers] * scale, "x", ms=8, color=_colour(row), label="_")
        axes.set(xscale="log", yscale="log", xlabel="nodes", ylabel=label)
        axes.grid(True, which="major", alpha=0.3)
    _legend(figure, axes, rows)
    return figure


def write_plot(rows, path):
    """Draws the rows into a file; the ending chooses the format (png, svg, pdf)."""
    data = io.BytesIO()
    figure = draw(rows)
    FigureCanvasAgg(figure)
    figure.savefig(data, format=str(path).rpartition(".")[2].lower())
    write_whole(path, data.getvalue())


def _lines(rows):
    """Rows that belong on one line, by nodes; features, degree and k are named where there are several."""

    def key(row):
        return (row.operator, row.implementation, row.features, row.degree or 0, row.k)

    several = {part: len({getattr(row, part) for row in rows}) > 1 for part in ("features", "degree")}
    several_k = len({row.k for row in rows if row.k}) > 1
    for _, line in groupby(sorted(rows, key=lambda row: (*key(row), row.nodes)), key=key):
        line = list(line)
        extra = [f"{part}={getattr(line[0], part):g}" for part, differs in several.items() if differs]
        yield " ".join([name(line[0], several_k), *extra]), line


def _colour(row):
    """One colour an operator that attends, in the order of their table; what else there is is grey."""
    names = operator_names()
    return COLOURS[names.index(row.operator) % len(COLOURS)] if row.operator in names else "#7f7f7f"


def _legend(figure, axes, rows):
    handles, labels = axes.get_legend_handles_labels()
    if any(row.paper for row in rows):
        handles.append(Line2D([], [], color="black", marker="x", ls="", ms=8))
        labels.append("the paper's table")
    if handles:
        figure.legend(handles, labels, loc="outside right upper", fontsize="small", frameon=False)
