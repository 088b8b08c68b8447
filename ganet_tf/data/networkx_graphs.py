"""Users' networkx graphs as flat arrays."""

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from ganet_tf.data.arrays import RawGraphs, offsets
from ganet_tf.data.graph import as_edges, as_features, canonical_edges
from ganet_tf.errors import DataFormatError


def read_networkx(
    graphs: Iterable[Any],
    labels: Sequence[Hashable] | None = None,
    node_label: str = "label",
    node_attributes: str = "x",
) -> RawGraphs:
    """Reads networkx graphs; see `GraphDataset.from_networkx` for the arguments."""
    graphs = list(graphs)
    if not graphs:
        raise DataFormatError("graphs is empty: a data set needs at least one graph")
    edges = [_edges(index, graph) for index, graph in enumerate(graphs)]
    sizes = [len(graph) for graph in graphs]
    codes, counts = _node_labels(graphs, node_label)
    y, class_labels = _classes(labels, len(graphs))
    return RawGraphs(
        edges=np.concatenate(edges),
        degrees=np.concatenate([np.bincount(e[:, 1], minlength=n) for e, n in zip(edges, sizes, strict=True)]),
        node_offsets=offsets(sizes),
        edge_offsets=offsets([len(e) for e in edges]),
        y=y,
        class_labels=class_labels,
        node_labels=codes,
        node_label_counts=counts,
        node_attributes=_attributes(graphs, node_attributes),
    )


def _edges(index, graph):
    if len(graph) == 0:
        raise DataFormatError(f"graph {index} has no nodes; leave empty graphs out of the data set")
    number = {node: place for place, node in enumerate(graph)}
    edges = as_edges([(number[u], number[v]) for u, v in graph.edges()])
    if not graph.is_directed():
        edges = np.concatenate([edges, edges[:, ::-1]])
    return canonical_edges(edges, len(graph))


def _values(graphs, key):
    """The node attribute `key` of all nodes, or None if no node has it; some but not all is an error."""
    values = [data.get(key) for graph in graphs for _, data in graph.nodes(data=True)]
    missing = sum(value is None for value in values)
    if missing == len(values):
        return None
    if missing:
        raise DataFormatError(f"{missing} of {len(values)} nodes have no attribute {key!r}, the others have")
    return values


def _node_labels(graphs, key):
    values = _values(graphs, key)
    if values is None:
        return np.zeros((sum(map(len, graphs)), 0), np.int32), []
    known = {value: code for code, value in enumerate(_sorted(set(values)))}
    return np.array([[known[value]] for value in values], np.int32), [len(known)]


def _attributes(graphs, key):
    values = _values(graphs, key)
    if values is None:
        return np.zeros((sum(map(len, graphs)), 0), np.float32)
    rows = [np.atleast_1d(value) for value in values]
    widths = {len(row) for row in rows}
    if len(widths) > 1:
        raise DataFormatError(f"node attribute {key!r} must have one length, but has {sorted(widths)}")
    return as_features(np.stack(rows), f"node attribute {key!r}")


def _classes(labels, count):
    labels = [0] * count if labels is None else list(labels)
    if len(labels) != count:
        raise DataFormatError(f"there are {count} graphs, but {len(labels)} labels")
    class_labels = _sorted(set(labels))
    known = {label: number for number, label in enumerate(class_labels)}
    return np.array([known[label] for label in labels], np.int32), class_labels


def _sorted(values):
    """Sorted values; of mixed types, which do not compare, by their text."""
    try:
        return sorted(values)
    except TypeError:
        return sorted(values, key=str)
