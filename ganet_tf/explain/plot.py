"""A picture of what a model attends to in one graph."""

from typing import TYPE_CHECKING, Any

import keras
import networkx as nx
import numpy as np

from ganet_tf import layers
from ganet_tf.explain.attention import Attention, attention, channel_attention

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's, which colour-blind eyes can tell apart; the ring of each node that chooses.
COLORS = ("#d55e00", "#0072b2", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
DRAWABLE = 500  # nodes
SMALL = 40  # nodes that leave room for large ones


def plot_attention(
    model: keras.Model,
    graph: Any,
    module: int | str = 0,
    nodes: Any = None,
    labels: Any = None,
    title: str | None = None,
    ax: "Axes | None" = None,
) -> "Figure":
    """Draws whom some nodes of a graph attend to, with matplotlib.

    Nodes have the colour of their gate (hGAO), lines go from a node that chooses to its candidates: solid and as
    wide as the attention weight to those that it chose, thin and dashed to those that it left out. For a model with
    cGAO, whose channels attend to each other, it is the matrix of these weights.

    Args:
        model: A model with attention layers, see `ganet_tf.explain.attention`.
        graph: A `Graph`, a small `NodeDataset`, or a dict of the model's inputs for one graph.
        module: Which attention layer: its number from 0, or its name.
        nodes: The nodes whose choice is drawn, at most six; by default the two with the most candidates that are no
            neighbours of each other.
        labels: What to write into the nodes, a list of texts; their numbers by default, where they can be read.
        title: Above the picture.
        ax: matplotlib axes to draw on; a new figure by default.

    Returns:
        The matplotlib figure: `figure.savefig("attention.png")`, or the last line of a notebook's cell.

    Raises:
        ValueError: For a model without attention, a module that it does not have, more than 500 nodes.

    Example:

    >>> figure = explain.plot_attention(model, test[0], module=1)
    >>> figure.savefig("attention.png")
    """
    ax = new_axes() if ax is None else ax
    if any(isinstance(part, layers.CGAO) for part in model._flatten_layers()):
        looks = channel_attention(model, graph)
        name = pick(module, list(looks))
        draw_channels(ax, looks[name], title or name)
    else:
        looks = {look.name: look for look in attention(model, graph)}
        look = looks[pick(module, list(looks))]
        draw_choices(ax, look, nodes, labels)
        ax.set_title(title or f"{look.name}: " + ("all neighbours" if look.k is None else f"k = {look.k}"))
    return ax.figure


def new_axes():
    """The axes of a figure that is not pyplot's: nobody has to close it, and a notebook shows it once."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 6), layout="constrained")
    FigureCanvasAgg(figure)
    return figure.add_subplot()


def pick(module, names):
    """The name of a module given by number or name."""
    if isinstance(module, str) and module in names:
        return module
    if not isinstance(module, str) and -len(names) <= module < len(names):
        return names[module]
    raise ValueError(
        f"There is no module {module!r}: the attention layers are {', '.join(names)}, or 0 to {len(names) - 1}."
    )


def draw_choices(ax, look: Attention, nodes=None, labels=None):
    """One graph: gates as colours, chosen and left-out candidates of some nodes as lines."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    count = int(look.rows[-1]) + 1
    if count > DRAWABLE:
        raise ValueError(
            f"The graph has {count} nodes, of which a picture shows {DRAWABLE} at most: give a smaller one."
        )
    nodes = default_nodes(look) if nodes is None else [int(node) for node in nodes][: len(COLORS)]
    outside = [node for node in nodes if not 0 <= node < count]
    if outside:
        raise ValueError(f"There is no node {outside[0]}: the graph has the nodes 0 to {count - 1}.")
    places = layout(look.rows, look.columns, count)
    lines(ax, places[look.rows], places[look.columns], look.rows < look.columns, "#b0b0b0", 0.6)
    weights, chosen = look.weights(), look.chosen()
    for node, color in zip(nodes, COLORS, strict=False):
        draw_candidates(ax, look, weights, chosen, places, node, color)
    rings = dict(zip(nodes, COLORS, strict=False))
    values = np.zeros(count) if look.gates is None else look.gates
    low, high = (0, 1) if look.gates is None else gate_range(values)
    order = [*(node for node in range(count) if node not in rings), *rings]  # those that choose lie on top
    size = 220 if count <= SMALL else 90
    ax.scatter(
        *places[order].T,
        c=values[order] if look.gates is not None else np.full(count, 0.75),
        cmap="viridis" if look.gates is not None else "Greys",
        vmin=low,
        vmax=high if look.gates is not None else 2,
        s=[size + 140 if node in rings else size for node in order],
        edgecolors=[rings.get(node, "#606060") for node in order],
        linewidths=[3 if node in rings else 0.5 for node in order],
        zorder=3,
    )
    if look.gates is not None:
        ax.figure.colorbar(ScalarMappable(Normalize(low, high), "viridis"), ax=ax, shrink=0.7, label="gate σ(y)")
    write_labels(ax, places, labels, values, (low, high))
    ax.legend(handles=legend(nodes, look, chosen), loc="upper center", bbox_to_anchor=(0.5, 0), ncols=2, frameon=False)
    ax.set_axis_off()


def gate_range(gates):
    """The ends of the colour scale: the gates' own, but no less than a tenth apart, so that noise is not contrast."""
    low, high = float(np.min(gates)), float(np.max(gates))
    middle = (low + high) / 2
    return min(low, middle - 0.05), max(high, middle + 0.05)


def default_nodes(look):
    """The node with the most candidates, and then with the most among those that are no candidates of the first."""
    sizes, found, left = np.bincount(look.rows), [], np.arange(look.rows[-1] + 1)
    while len(left) and len(found) < 2:
        found.append(int(left[np.argmax(sizes[left])]))
        left = np.setdiff1d(left, look.columns[look.rows == found[-1]])
    return found


def layout(rows, columns, count):
    """[N, 2] places of the nodes; the same for the same graph."""
    graph = nx.Graph()
    graph.add_nodes_from(range(count))
    graph.add_edges_from(np.stack([rows, columns], 1)[rows < columns].tolist())
    graph.add_edges_from(np.stack([columns, rows], 1)[rows > columns].tolist())
    # Kamada and Kawai's unfolds rings and chains, but takes n³; a spring layout starts from there for small graphs.
    start = nx.kamada_kawai_layout(graph) if count <= 60 and nx.is_connected(graph) else None
    places = start or nx.spring_layout(graph, seed=0, iterations=80, k=1.6 / np.sqrt(count))
    return np.array([places[node] for node in range(count)])


def lines(ax, starts, ends, shown, color, width, style="-"):
    """Thin lines between places."""
    from matplotlib.collections import LineCollection

    pairs = np.stack([starts, ends], axis=1)[shown]
    ax.add_collection(LineCollection(pairs, colors=color, linewidths=width, linestyles=style, zorder=1))


def draw_candidates(ax, look, weights, chosen, places, node, color):
    """A line from a node to each candidate: as wide as its weight if it was chosen, else thin and dashed."""
    mine = np.flatnonzero((look.rows == node) & (look.columns != node))
    here = np.broadcast_to(places[node], (len(mine), 2))
    there, picked = places[look.columns[mine]], chosen[mine]
    lines(ax, here, there, picked, color, line_width(weights[mine][picked]))
    lines(ax, here, there, ~picked, color, 1.2, (0, (4, 3)))


def line_width(weight):
    """Points for an attention weight."""
    return 1.5 + 8 * weight


def write_labels(ax, places, labels, values, ends):
    """Texts in the nodes, dark on light and light on dark."""
    if labels is None and len(places) > 80:
        return
    for node, (x, y) in enumerate(places):
        dark = (values[node] - ends[0]) / (ends[1] - ends[0]) < 0.6 and ends != (0, 1)
        text = str(node if labels is None else labels[node])
        color, size = "white" if dark else "black", 9 if len(places) <= SMALL else 6
        ax.text(x, y, text, ha="center", va="center", fontsize=size, color=color, zorder=4)


def legend(nodes, look, chosen):
    """What lines and rings mean, and where nobody is left out that nobody is."""
    from matplotlib.lines import Line2D

    grey = "#606060"
    handles = [
        Line2D([], [], color=grey, lw=line_width(weight), label=f"attended to, weight {weight}")
        for weight in (0.5, 0.1)
    ]
    left_out = ~chosen[np.isin(look.rows, nodes)]
    if left_out.any():
        handles.append(Line2D([], [], color=grey, lw=1.2, ls=(0, (4, 3)), label="neighbour, left out"))
    elif look.k is not None:
        most = int(np.bincount(look.rows)[nodes].max())
        handles.append(Line2D([], [], lw=0, label=f"nobody left out: at most {most} candidates, k = {look.k}"))
    rings = {"marker": "o", "mfc": "none", "mew": 3, "ms": 10, "lw": 0}
    return handles + [
        Line2D([], [], mec=color, label=f"node {node} chooses", **rings)
        for node, color in zip(nodes, COLORS, strict=False)
    ]


def draw_channels(ax, weights, title):
    """The attention among channels as a matrix."""
    image = ax.imshow(weights, cmap="viridis", vmin=0)
    ax.figure.colorbar(image, ax=ax, shrink=0.8, label="attention weight")
    ax.set(xlabel="attends to channel", ylabel="channel", title=title)
