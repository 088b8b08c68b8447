"""The attention explorer: one HTML file to click through graphs, modules and nodes, without a network."""

import html
import json
import os
import re
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any

import keras
import networkx as nx
import numpy as np
import tensorflow as tf

from ganet_tf.data import GraphDataset, NodeDataset
from ganet_tf.explain.attention import attention, inputs_of
from ganet_tf.explain.plot import layout
from ganet_tf.files import write_whole

KS = (1, 2, 3, 4, 6, 8, 12, 16)  # what the class probabilities are computed for, and the model's own k
AROUND = 150  # nodes drawn around one of a graph that is too large to be drawn whole
CENTERS = 12  # of a node data set


def explore(
    model: keras.Model,
    dataset: Any,
    path: str | os.PathLike = "attention.html",
    graphs: int = 50,
    max_nodes: int = 500,
    title: str | None = None,
) -> Path:
    """Writes a page to look at what a model attends to: one HTML file that opens offline in any browser.

    Choose a graph, an attention layer and a node: the page shows its candidates, the k that it chose, gates and
    attention weights, the class probabilities, and how all of it would change with k. Nodes can be coloured by label,
    gate or prediction. Press ? there for its keys.

    Args:
        model: A trained model with layers `HGAO`, `GAO`, `TopKGAO`, `SampledGAO` or `GAT`; `plot_attention` draws
            those of cGAO.
        dataset: `GraphDataset` (its first `graphs`; a fold's test part, for example) or `NodeDataset`.
        path: The HTML file.
        graphs: At most so many graphs.
        max_nodes: Of a larger graph a part is drawn, around its node with the most neighbours; of a larger
            `NodeDataset` the surroundings of some nodes.
        title: Of the page.

    Returns:
        The path.

    Raises:
        ImportError: Without Bokeh, which the extra `explain` installs.
        ValueError: For a model without attention, or a data set without graphs.

    Example:

    >>> train, test = data.load("BA2Motifs").fold(1)
    >>> explain.explore(model, test, "attention.html", graphs=20)
    """
    bokeh_script, figures = bokeh_parts()
    views = node_views(model, dataset, max_nodes) if isinstance(dataset, NodeDataset) else None
    views = graph_views(model, dataset, graphs, max_nodes) if views is None else views
    content = {**views, "title": title or f"{model.name} on {dataset.name}", "figures": figures}
    page = resources.files("ganet_tf.explain").joinpath("explorer.html").read_text(encoding="utf-8")
    page = page.replace("@TITLE@", html.escape(content["title"]))
    page = page.replace("@DATA@", json.dumps(content, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/"))
    path = Path(path)
    write_whole(path, page.replace("@BOKEH@", bokeh_script))
    return path


def graph_views(model, dataset: GraphDataset, most: int, max_nodes: int) -> dict:
    """What the page shows of a data set of graphs."""
    if not len(dataset):
        raise ValueError("The data set has no graphs: there is nothing to explore.")
    dataset = dataset[: min(most, len(dataset))]
    answers = answers_by_k(model, [inputs_of(model, inputs) for inputs, *_ in dataset.batches(32)], dataset.target)
    names_of = [node_names(dataset, graph) for graph in dataset]
    labels = sorted({name for names in names_of for name in names}, key=by_number)
    places, views, facts = {name: place for place, name in enumerate(labels)}, [], None
    for number, (graph, names) in enumerate(zip(dataset, names_of, strict=True)):
        looks = attention(model, graph)
        view = view_of(looks, drawn_part(looks[0], max_nodes))
        ids = view["ids"]
        view["labels"] = [places[names[node]] for node in ids]
        view["influence"] = rounded(influence(model, graph)[ids])
        view["answers"] = {k: [rows[number]] for k, rows in answers.items()}
        views.append({"name": f"graph {number}", "truth": truth(graph.y, dataset.target), **view})
        facts = facts or facts_of(looks)
    return {"task": "graph", **facts, **target_facts(dataset.target), "labels": labels, "graphs": views}


def node_views(model, dataset: NodeDataset, max_nodes: int) -> dict:
    """What the page shows of one graph, whole or in parts."""
    looks = attention(model, dataset)
    count = len(dataset)
    whole = count <= max_nodes
    test = dataset.nodes("test") if len(dataset.nodes("test")) else np.arange(count)
    centers = [None] if whole else test[np.linspace(0, len(test) - 1, min(CENTERS, len(test))).astype(int)].tolist()
    answers = answers_by_k(model, [inputs_of(model, dataset)], dataset.target)
    views = []
    for center in centers:
        nodes = drawn_part(looks[0], count if whole else AROUND, center)
        view = view_of(looks, nodes)
        view["truths"] = [truth(dataset.y[node], dataset.target) for node in nodes]
        view["answers"] = {k: [rows[node] for node in nodes] for k, rows in answers.items()}
        views.append({"name": dataset.name if whole else f"around node {center}", "truth": None, **view})
    return {"task": "node", **facts_of(looks), **target_facts(dataset.target), "labels": [], "graphs": views}


def facts_of(looks):
    """The attention layers by name, each with its k."""
    return {"modules": [{"name": look.name, "k": look.k, "gated": look.gates is not None} for look in looks]}


def target_facts(target):
    """What the outputs are."""
    names = [str(label) for label in target.labels] or [f"output {i}" for i in range(target.width)]
    return {"kind": target.kind, "classes": names}


def truth(y, target):
    """The target as the page shows it: a class number, numbers, or nothing where it is unknown."""
    if target.kind == "classes":
        return int(y) if y >= 0 else None
    return rounded(np.atleast_1d(y))


def view_of(looks, nodes):
    """One drawing: the places of its nodes, its edges, and of each of its nodes all candidates, layer by layer."""
    rows, columns = looks[0].rows, looks[0].columns
    place = np.full(int(rows[-1]) + 1, -1)
    place[nodes] = np.arange(len(nodes))
    inside = (place[rows] >= 0) & (place[columns] >= 0)
    ends = place[rows[inside]], place[columns[inside]]
    places = layout(*ends, len(nodes))
    low, high = places.min(axis=0), places.max(axis=0)
    places = (places - low) / np.where(high > low, high - low, 1)
    pairs = np.unique(np.sort(np.stack(ends, 1), axis=1), axis=0)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    order = np.concatenate([np.arange(*np.searchsorted(rows, (node, node + 1))) for node in nodes])
    return {
        "ids": [int(node) for node in nodes],
        "x": rounded(places[:, 0]),
        "y": rounded(places[:, 1]),
        "edges": pairs.ravel().tolist(),
        "starts": [0, *np.cumsum(np.bincount(rows, minlength=len(place))[nodes]).tolist()],
        "candidates": columns[order].tolist(),
        "layers": [
            {
                "ranks": rounded(look.ranks[order], 9),  # all digits of a float32: ties must stay what they are
                "similarities": rounded(look.similarities[order]),
                "gates": None if look.gates is None else rounded(look.gates[nodes]),
            }
            for look in looks
        ],
    }


def drawn_part(look, most, center=None):
    """The nodes to draw, ascending: all, or those nearest to a node (the one with the most neighbours)."""
    count = int(look.rows[-1]) + 1
    if count <= most:
        return np.arange(count)
    center = int(np.argmax(np.bincount(look.rows))) if center is None else center
    graph = nx.Graph(list(zip(look.rows.tolist(), look.columns.tolist(), strict=True)))
    nearest = [center, *(node for _, node in nx.bfs_edges(graph, center))]
    return np.sort(nearest[:most])


def node_names(dataset, graph):
    """What a node is called in the legend: its label or degree where features are one-hot, else its degree."""
    encoder = dataset.encoder
    first = encoder.kind.split("+")[0]
    if first == "labels" and len(encoder.labels) == 1:
        names = [str(label) for label in encoder.labels[0]] + ["other"]
        return [names[code] for code in np.argmax(graph.x[:, : len(names)], axis=1)]
    degrees = np.bincount(graph.edges[:, 1], minlength=graph.num_nodes)
    return [f"degree {degree}" for degree in degrees]


def by_number(name):
    """A key to sort texts with numbers in them by: degree 2 comes before degree 10."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", name)]


def answers_by_k(model, batches, target):
    """{k: outputs as the page shows them}: "" for the model as it is, others with k in the place of its own."""
    choosing = [part for part in model._flatten_layers() if hasattr(part, "k") and hasattr(part, "score_options")]
    shown = {"classes": tf.nn.softmax, "multilabel": tf.sigmoid, "regression": tf.identity}[target.kind]

    def run() -> list:
        return [rounded(row) for inputs in batches for row in shown(model(inputs, training=False)).numpy()]

    found = {"": run()}
    return found | {str(k): with_k(choosing, k, run) for k in KS} if choosing else found


def with_k(choosing, k: int, run: Callable):
    """What `run` returns while some layers choose k neighbours."""
    own = [layer.k for layer in choosing]
    try:
        for layer in choosing:
            layer.k = k
        return run()
    finally:
        for layer, before in zip(choosing, own, strict=True):
            layer.k = before


def influence(model, graph):
    """[n] How much each node's features move the largest output: the norm of the gradient times the features."""
    inputs = inputs_of(model, graph)
    with tf.GradientTape() as tape:
        tape.watch(inputs["x"])
        best = tf.reduce_max(model(inputs, training=False))
    gradient = tape.gradient(best, inputs["x"])
    return tf.norm(gradient * inputs["x"], axis=1).numpy()


def rounded(values, digits=5):
    """Plain numbers of few digits: the file stays small, and the page shows no more."""
    return [float(f"{value:.{digits}g}") for value in np.asarray(values, np.float64)]


def bokeh_parts():
    """Bokeh's JavaScript as it comes with its Python package, and the two empty figures as JSON."""
    try:
        from bokeh.embed import json_item
        from bokeh.palettes import Viridis256
        from bokeh.resources import Resources
    except ImportError as error:
        raise ImportError('explore needs Bokeh: pip install "ganet-tf[explain]", or pip install bokeh.') from error
    figures = {"graph": json_item(graph_figure(), "graph"), "choice": json_item(choice_figure(), "choice")}
    return Resources(mode="inline", components=["bokeh"]).render_js(), {**figures, "palette": list(Viridis256)}


def graph_figure():
    """Edges, the lines to a node's candidates, and nodes; the page fills them in."""
    from bokeh.models import ColumnDataSource, CustomJS, HoverTool, Range1d, TapTool
    from bokeh.plotting import figure

    ends = {"x0": [], "y0": [], "x1": [], "y1": []}
    edges = ColumnDataSource({**ends, "alpha": []}, name="edges")
    chosen, left_out = (ColumnDataSource({**ends, "width": []}, name=name) for name in ("chosen", "left_out"))
    columns = ("x", "y", "color", "alpha", "marker", "size", "ring", "ring_width", "node", "label", "gate", "answer")
    nodes = ColumnDataSource({name: [] for name in columns}, name="nodes")
    nodes.selected.js_on_change("indices", CustomJS(code="window.explorer.tapped(cb_obj.indices)"))
    plot = figure(
        name="graph_plot",
        sizing_mode="stretch_both",
        min_height=240,
        tools="pan,wheel_zoom,reset",
        active_scroll="wheel_zoom",
        x_range=Range1d(-0.06, 1.06),
        y_range=Range1d(-0.06, 1.06),
        output_backend="canvas",
    )
    plot.segment("x0", "y0", "x1", "y1", source=edges, line_color="#8c8c8c", line_alpha="alpha")
    segments = {"line_color": "#d55e00", "line_cap": "round"}
    plot.segment("x0", "y0", "x1", "y1", source=left_out, line_dash=[5, 4], line_width=1.5, **segments)
    plot.segment("x0", "y0", "x1", "y1", source=chosen, line_width="width", **segments)
    drawn = plot.scatter(
        "x",
        "y",
        source=nodes,
        marker="marker",
        size="size",
        fill_color="color",
        fill_alpha="alpha",
        line_color="ring",
        line_alpha="alpha",
        line_width="ring_width",
    )
    drawn.nonselection_glyph = drawn.selection_glyph = None  # the page says itself what is selected
    names = ColumnDataSource({"x": [], "y": [], "text": [], "color": [], "back": []}, name="names")
    plot.text(
        "x",
        "y",
        "text",
        source=names,
        x_offset=10,
        y_offset=-8,
        text_font_size="12px",
        text_color="color",
        background_fill_color="back",
        background_fill_alpha=0.75,
        padding=1,
    )
    tips = [("node", "@node"), ("label", "@label"), ("gate", "@gate"), ("answer", "@answer")]
    plot.add_tools(TapTool(renderers=[drawn]), HoverTool(renderers=[drawn], tooltips=tips))
    plot.axis.visible = False
    plot.grid.visible = False
    return transparent(plot)


def choice_figure():
    """A row for each candidate, a column for each k: the attention weight as colour."""
    from bokeh.models import BasicTicker, ColumnDataSource, FactorRange, HoverTool, Range1d, Span
    from bokeh.plotting import figure

    cells = ColumnDataSource({"k": [], "candidate": [], "weight": [], "color": []}, name="cells")
    plot = figure(
        name="choice_plot",
        sizing_mode="stretch_both",
        min_height=160,
        tools="",
        toolbar_location=None,
        x_range=Range1d(0.5, 8.5),
        y_range=FactorRange(),
        x_axis_label="k",
        y_axis_label="candidate",
    )
    plot.rect("k", "candidate", 0.94, 0.9, source=cells, fill_color="color", line_color=None)
    plot.add_tools(HoverTool(tooltips=[("candidate", "@candidate"), ("k", "@k"), ("weight", "@weight{0.000}")]))
    plot.add_layout(Span(name="k_line", location=8, dimension="height", line_color="#d55e00", line_width=2))
    plot.xaxis.ticker = BasicTicker(min_interval=1)
    plot.grid.visible = False
    return transparent(plot)


def transparent(plot):
    """A figure that lies on whatever the page's colours are."""
    plot.background_fill_color = plot.border_fill_color = plot.outline_line_color = None
    plot.toolbar.logo = None
    return plot
