"""The figures of the look inside: choices drawn on graphs, and entropies and gates as tables in colour."""

import io

import networkx as nx
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from experiments.attention.layers import looks
from experiments.attention.measures import candidates_of
from experiments.attention.panels import candidates_of_node, pick_panels
from ganet_tf.files import write_whole

QUERY_COLORS = ("#d62728", "#1f77b4")
COLORS = "viridis"


def save(figure, path):
    """Writes a PNG that is the same byte for byte whenever the figure is."""
    FigureCanvasAgg(figure)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=110, metadata={"Software": None})
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, buffer.getvalue())


def draw_choice(model, batches, report, path):
    """Draws some graphs of the first batch: gates as colours, chosen and left-out neighbours of a few nodes as lines.

    Args:
        model: a trained hGANet.
        batches: what it is looked at with.
        report: its entry in results/inside; the module whose attention is the least even is drawn.
        path: the PNG file.
    """
    inputs = batches[0]
    name = min(report["modules"], key=lambda module: module["entropy"]["mean"] if module["entropy"] else 1)["name"]
    look = next(look for look in looks(model, inputs) if look.name == name)
    candidates = candidates_of(np.asarray(inputs["edges"]), int(inputs["x"].shape[0]))
    panels = pick_panels(candidates, report["k"], inputs.get("graph_ids"))
    figure = Figure(figsize=(11, 10), layout="constrained")
    shown = look.gates[np.concatenate([panel.nodes for panel in panels])]
    scale = Normalize(float(shown.min()), float(shown.max()))
    axes = figure.subplots(2, 2).ravel()
    for place, panel in zip(axes, panels, strict=False):
        _draw_panel(place, panel, look, candidates, scale)
    for place in axes:
        place.set_axis_off()
    member = "fold" if report["task"] == "graph" else "run"
    figure.suptitle(f"{report['label']} on {report['dataset']}, {member} {report['fold']}, {name}, k = {report['k']}")
    figure.colorbar(ScalarMappable(scale, COLORS), ax=axes, shrink=0.6, label="gate sigmoid(y)")
    figure.legend(handles=_legend(), loc="outside lower center", ncols=4)
    save(figure, path)


def _draw_panel(axes, panel, look, candidates, scale):
    graph = nx.Graph()
    graph.add_nodes_from(panel.nodes.tolist())
    inside = np.isin(candidates.rows, panel.nodes) & np.isin(candidates.columns, panel.nodes)
    pairs = np.stack([candidates.rows, candidates.columns], 1)[inside & (candidates.rows < candidates.columns)]
    graph.add_edges_from(pairs.tolist())
    places = nx.spring_layout(graph, seed=0, iterations=100)
    nx.draw_networkx_edges(graph, places, ax=axes, edge_color="#d0d0d0", width=0.5)
    rings = {}
    for query, color in zip(panel.queries, QUERY_COLORS, strict=False):
        _draw_query(axes, query, color, places, look, candidates)
        rings[query] = color
    nx.draw_networkx_nodes(
        graph,
        places,
        ax=axes,
        node_color=look.gates[panel.nodes],
        cmap=COLORS,
        vmin=scale.vmin,
        vmax=scale.vmax,
        node_size=[260 if node in rings else 90 for node in graph],
        edgecolors=[rings.get(node, "#606060") for node in graph],
        linewidths=[3 if node in rings else 0.5 for node in graph],
    )
    axes.set_title(panel.title, fontsize=10)


def _draw_query(axes, query, color, places, look, candidates):
    """A line from a node to each candidate: as wide as its weight if it was chosen, else thin and dashed."""
    start, end = np.searchsorted(look.rows, (query, query + 1))
    weights = dict(zip(look.columns[start:end].tolist(), look.weights[start:end, 0].tolist(), strict=True))
    for other in candidates_of_node(candidates, query).tolist():
        if other == query:
            continue
        (x0, y0), (x1, y1) = places[query], places[other]
        weight = weights.get(other)
        style = {"lw": 1, "ls": (0, (4, 3))} if weight is None else {"lw": line_width(weight), "ls": "-"}
        axes.plot([x0, x1], [y0, y1], color=color, alpha=0.8, zorder=1, **style)


def line_width(weight):
    """Points for an attention weight."""
    return 1.5 + 8 * weight


def _legend():
    return [
        Line2D([], [], color="#606060", lw=line_width(0.5), label="chosen, weight 0.5"),
        Line2D([], [], color="#606060", lw=line_width(0.1), label="chosen, weight 0.1"),
        Line2D([], [], color="#606060", lw=1, ls=(0, (4, 3)), label="candidate, not chosen"),
        Line2D([], [], color="none", marker="o", mec=QUERY_COLORS[0], mew=3, ms=12, label="the node that chooses"),
    ]


def draw_layers(cells, folder):
    """Draws layers.png (the reported cells) and layers_tuning.png (settings tried) of all cells' JSON."""
    tuning = [cell for cell in cells if cell["cell"].startswith("tuning/")]
    reported = [cell for cell in cells if cell not in tuning]
    for name, group in (("layers.png", reported), ("layers_tuning.png", tuning)):
        if group:
            _draw_layer_tables(group, folder / name)


def _draw_layer_tables(cells, path):
    """Two tables in colour, a row for each cell and a column for each module: entropies, and mean gates."""
    width = max(len(cell["modules"]) for cell in cells)
    figure = Figure(figsize=(11, 1.4 + 0.28 * len(cells)), layout="constrained")
    for axes, key, title in zip(
        figure.subplots(1, 2, sharey=True),
        ("entropy", "gate"),
        ("entropy of the attention / log n (1: uniform)", "mean gate sigmoid(y), hGAO only"),
        strict=True,
    ):
        table = np.full((len(cells), width), np.nan)
        for row, cell in enumerate(cells):
            for column, module in enumerate(cell["modules"]):
                table[row, column] = module[key]["mean"] if module[key] else np.nan
        _draw_table(axes, table, title, low=0 if key == "entropy" else 0.5)
        axes.set_yticks(range(len(cells)), [cell["cell"] for cell in cells])
    save(figure, path)


def _draw_table(axes, table, title, low):
    axes.imshow(table, cmap=COLORS, vmin=low, vmax=1, aspect="auto")
    for (row, column), value in np.ndenumerate(table):
        if not np.isnan(value):
            color = "black" if (value - low) / (1 - low) > 0.6 else "white"
            axes.text(column, row, f"{value:.3f}", ha="center", va="center", color=color, fontsize=8)
    axes.set_xticks(range(table.shape[1]), [f"module {i + 1}" for i in range(table.shape[1])])
    axes.set_title(title, fontsize=10)
