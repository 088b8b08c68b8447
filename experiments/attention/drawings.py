"""The drawings: choices of the hard selection on graphs, and entropies and gates as tables in colour."""

import io
from typing import NamedTuple

import networkx as nx
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from experiments.attention.layers import looks
from experiments.attention.measures import candidates_of
from experiments.report.runs import TUNING
from ganet_tf.explain.plot import gate_range, line_width
from ganet_tf.files import write_whole

QUERY_COLORS = ("#d55e00", "#0072b2")
COLORS = "viridis"
PANELS = 4
QUERIES = 2  # nodes of one graph whose choice is drawn
FEWEST, MOST = 6, 40  # nodes in a drawing


def save(figure, path):
    """Writes a PNG that is the same byte for byte whenever the figure is."""
    FigureCanvasAgg(figure)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=110, metadata={"Software": None})
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, buffer.getvalue())


def draw_choice(model, batches, entry, path):
    """Draws some graphs of the first batch: gates as colours, chosen and left-out neighbours of a few nodes as lines.

    Args:
        model: a trained hGANet.
        batches: what it is looked at with.
        entry: its entry in results/attention; the module whose attention is the least even is drawn.
        path: the PNG file.
    """
    inputs = batches[0]
    name = min(entry["modules"], key=lambda module: module["entropy"]["mean"] if module["entropy"] else 1)["name"]
    look = next(look for look in looks(model, inputs) if look.name == name)
    candidates = candidates_of(np.asarray(inputs["edges"]), int(inputs["x"].shape[0]))
    panels = pick_panels(candidates, entry["k"], inputs.get("graph_ids"))
    figure = Figure(figsize=(11, 10), layout="constrained")
    shown = look.gates[np.concatenate([panel.nodes for panel in panels])]
    scale = Normalize(*gate_range(shown))
    axes = figure.subplots(2, 2).ravel()
    for place, panel in zip(axes, panels, strict=False):
        _draw_panel(place, panel, look, candidates, scale)
    for place in axes:
        place.set_axis_off()
    word = "fold" if entry["task"] == "graph" else "seed"
    figure.suptitle(f"{entry['label']} on {entry['dataset']}, {word} {entry['fold']}, {name}, k = {entry['k']}")
    figure.colorbar(ScalarMappable(scale, COLORS), ax=axes, shrink=0.6, label="gate sigmoid(y)")
    figure.legend(handles=_legend(any(len(panel.queries) > 1 for panel in panels)), loc="outside lower center", ncols=5)
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


def _legend(two):
    names = ("the node that chooses", "another one")
    return [
        Line2D([], [], color="#606060", lw=line_width(0.5), label="chosen, weight 0.5"),
        Line2D([], [], color="#606060", lw=line_width(0.1), label="chosen, weight 0.1"),
        Line2D([], [], color="#606060", lw=1, ls=(0, (4, 3)), label="candidate, not chosen"),
        *(
            Line2D([], [], color="none", marker="o", mfc="none", mec=color, mew=3, ms=12, label=name)
            for color, name in list(zip(QUERY_COLORS, names, strict=True))[: 2 if two else 1]
        ),
    ]


def draw_layers(entries, folder):
    """Draws layers.png (the reported runs) and layers_tuning.png (settings tried) from their entries."""
    tuning = [entry for entry in entries if entry["run"].startswith(f"{TUNING}/")]
    reported = [entry for entry in entries if entry not in tuning]
    for name, group in (("layers.png", reported), ("layers_tuning.png", tuning)):
        if group:
            _draw_layer_tables(group, folder / name)


def _draw_layer_tables(entries, path):
    """Two tables in colour, a row for each run and a column for each module: entropies, and mean gates."""
    width = max(len(entry["modules"]) for entry in entries)
    figure = Figure(figsize=(11, 1.8 + 0.28 * len(entries)), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.1, h_pad=0.1)
    figure.suptitle("What the attention does, module by module (white: no such module, or no gate)")
    for axes, key, title in zip(
        figure.subplots(1, 2, sharey=True),
        ("entropy", "gate"),
        ("entropy of the attention / log n (1: uniform)", "mean gate sigmoid(y), hGAO only"),
        strict=True,
    ):
        table = np.full((len(entries), width), np.nan)
        for row, entry in enumerate(entries):
            for column, module in enumerate(entry["modules"]):
                table[row, column] = module[key]["mean"] if module[key] else np.nan
        _draw_table(axes, table, title, low=0 if key == "entropy" else 0.5)
        axes.set_yticks(range(len(entries)), [entry["run"] for entry in entries])
    save(figure, path)


def _draw_table(axes, table, title, low):
    axes.imshow(table, cmap=COLORS, vmin=low, vmax=1, aspect="auto")
    for (row, column), value in np.ndenumerate(table):
        if not np.isnan(value):
            color = "black" if (value - low) / (1 - low) > 0.6 else "white"
            axes.text(column, row, f"{value:.3f}", ha="center", va="center", color=color, fontsize=8)
    axes.set_xticks(range(table.shape[1]), [f"module {i + 1}" for i in range(table.shape[1])])
    axes.set_title(title, fontsize=10)


class Panel(NamedTuple):
    """One drawing.

    Attributes:
        title: what it shows.
        nodes: [n] node numbers of the batch, ascending.
        queries: those nodes whose choice is drawn.
    """

    title: str
    nodes: np.ndarray
    queries: list


def pick_panels(candidates, k, graph_ids=None):
    """Up to four drawings of a batch: whole graphs, or where all nodes are one graph, neighbourhoods of a node.

    Args:
        candidates: the batch's `Candidates`.
        k: how many a node keeps.
        graph_ids: [N], the graph of each node, or None for one graph.
    """
    return _neighborhoods(candidates, k) if graph_ids is None else _graphs(candidates, k, np.asarray(graph_ids))


def _graphs(candidates, k, graph_ids):
    """Graphs of a size that can be drawn: first those with an active node, the sparsest first."""
    sizes = np.bincount(graph_ids)
    active = np.bincount(graph_ids, candidates.sizes > k)
    entries = np.bincount(graph_ids, candidates.sizes)
    fitting = np.flatnonzero((sizes >= FEWEST) & (sizes <= MOST))
    ranked = sorted(fitting, key=lambda graph: (active[graph] == 0, entries[graph] / sizes[graph] ** 2, graph))
    panels = []
    for graph in ranked[:PANELS]:
        nodes = np.flatnonzero(graph_ids == graph)
        queries = _queries(candidates, nodes)
        left_out = "" if active[graph] else f": nobody is left out, no node has more than {k} candidates"
        panels.append(Panel(f"test graph {graph + 1}, {len(nodes)} nodes{left_out}", nodes, queries))
    return panels


def _queries(candidates, nodes):
    """The node with the most candidates, and then with the most among those that are no candidates of the first."""
    left, queries = nodes, []
    while len(left) and len(queries) < QUERIES:
        queries.append(int(left[np.argmax(candidates.sizes[left])]))
        left = np.setdiff1d(left, candidates_of_node(candidates, queries[-1]))
    return queries


def _neighborhoods(candidates, k):
    """Nodes with more than k candidates (or, without any, with the most), spread evenly over the graph."""
    fitting = np.flatnonzero((candidates.sizes > k) & (candidates.sizes <= MOST))
    if not len(fitting):
        fitting = np.sort(np.argsort(-candidates.sizes, kind="stable")[:PANELS])
    chosen = fitting[np.linspace(0, len(fitting) - 1, min(PANELS, len(fitting))).astype(int)]
    return [
        Panel(f"node {node}, {candidates.sizes[node]} candidates", candidates_of_node(candidates, node), [int(node)])
        for node in chosen
    ]


def candidates_of_node(candidates, node):
    """Node numbers, ascending, the node itself among them."""
    start, end = np.searchsorted(candidates.rows, (node, node + 1))
    return candidates.columns[start:end]
