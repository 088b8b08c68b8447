"""Time and memory over the number of nodes, with the paper's points.

    python -m experiments.efficiency.plot results/efficiency/table.json results/efficiency/plot.png

draws again what `profile_ops.py --json` has measured before.
"""

import io
import json
import sys
from itertools import groupby
from pathlib import Path
from types import SimpleNamespace

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from experiments.efficiency.text import one_way
from ganet_tf.files import write_whole
from ganet_tf.layers.operators import profiled_operators

# An operator has a colour (Okabe and Ito's) and a shape: lines that lie on each other are still told apart.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#606060", "#56b4e9", "#000000")
SHAPES = (("o", 8), ("s", 7), ("^", 8), ("D", 5), ("v", 7), ("P", 7), ("h", 7), ("<", 7))
# An implementation has a dash, and open or filled shapes.
WAYS = {"dense": ("--", "none"), "sparse": ("-", "full"), "native": (":", "left")}
PANELS = (
    ("time_ms", "time_ms", "ms", "CPU time of one forward pass"),
    ("memory_bytes_profiler", "memory_bytes", "MB", "Memory at the fullest moment"),
)


def draw(rows):
    """A figure of two log-log panels: one line an operator and implementation, the paper's cells as crosses."""
    figure = Figure(figsize=(10, 4.8), dpi=110, layout="constrained")
    for axes, (ours, papers, unit, title) in zip(figure.subplots(1, 2), PANELS, strict=True):
        scale = 1e-6 if unit == "MB" else 1.0
        for name, extra, line in _lines(rows):
            points = [(row.nodes, getattr(row, ours) * scale) for row in line if getattr(row, ours)]
            if points:
                axes.plot(*zip(*points, strict=True), label=name, alpha=0.85, **_style(line[0]))
                note = {"fontsize": "x-small", "color": _style(line[0])["color"], "va": "center"}
                axes.annotate(extra, points[-1], (7, 0), textcoords="offset points", **note)
        for row in rows:
            if row.paper:
                cross = {"ms": 9, "mew": 1.8, "color": _style(row)["color"]}
                axes.plot(row.nodes, row.paper[papers] * scale, "x", label="_", zorder=3, **cross)
        axes.set(xscale="log", yscale="log", xlabel="nodes", ylabel=unit, title=title)
        axes.grid(True, which="major", alpha=0.3)
    _legends(figure, rows)
    return figure


def write_plot(rows, path):
    """Draws the rows into a file; the ending chooses the format (png, svg, pdf)."""
    data = io.BytesIO()
    figure = draw(rows)
    FigureCanvasAgg(figure)
    figure.savefig(data, format=str(path).rpartition(".")[2].lower())
    write_whole(path, data.getvalue())


def _lines(rows):
    """(name, what else tells it apart, rows by nodes) of each line; features, degree and k where there are several."""

    def key(row):
        return (row.operator, row.implementation, row.features, row.degree or 0, row.k)

    several = {part: len({getattr(row, part) for row in rows}) > 1 for part in ("features", "degree")}
    several_k = len({row.k for row in rows if row.k}) > 1
    for _, line in groupby(sorted(rows, key=lambda row: (*key(row), row.nodes)), key=key):
        line = list(line)
        extra = [f"{part}={getattr(line[0], part):g}" for part, differs in several.items() if differs]
        extra += [f"k={line[0].k}"] if several_k and line[0].k else []
        way = [] if one_way(line[0].operator) else [line[0].implementation]
        yield " ".join([line[0].operator, *way, *extra]), " ".join(extra), line


def _style(row):
    names = list(profiled_operators())
    at = names.index(row.operator) if row.operator in names else -1
    marker, size = SHAPES[at % len(SHAPES)]
    dash, fill = ("-", "full") if one_way(row.operator) else WAYS.get(row.implementation, ("-", "full"))
    return {"color": COLOURS[at % len(COLOURS)], "marker": marker, "ms": size, "ls": dash, "fillstyle": fill}


def _legends(figure, rows):
    """One for the operators, one for how they are computed."""
    measured = [row for row in rows if row.time_ms]
    order = [*profiled_operators(), *(row.operator for row in measured)]
    firsts = {row.operator: row for row in sorted(measured, key=lambda row: order.index(row.operator))}
    operators = [
        Line2D([], [], label=name, **{**_style(row), "ls": "-", "fillstyle": "full"}) for name, row in firsts.items()
    ]
    found = {row.implementation for row in measured if not one_way(row.operator)}
    ways = [
        Line2D([], [], color="#404040", marker="o", ls=dash, fillstyle=fill, label=way)
        for way, (dash, fill) in WAYS.items()
        if way in found
    ]
    if any(row.paper for row in rows):
        ways.append(Line2D([], [], color="#404040", marker="x", ls="", ms=9, mew=1.8, label="the paper's table"))
    handles = [*operators, Line2D([], [], ls="", label=""), *ways]
    if operators:
        figure.legend(handles=handles, loc="outside right upper", fontsize="small", frameon=False, handlelength=3.2)


if __name__ == "__main__":
    table, picture = sys.argv[1:]
    write_plot([SimpleNamespace(**row) for row in json.loads(Path(table).read_text(encoding="utf-8"))], picture)
