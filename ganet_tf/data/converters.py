"""Users' own graphs as flat arrays: networkx graphs, edge indices, objects of PyG and DGL, tables.

None of those libraries is imported: what is looked at are the attributes of the objects.
"""

import csv
import logging
import os
from collections.abc import Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array

from ganet_tf.data.archive import check_members, open_zip
from ganet_tf.data.arrays import RawGraphs, array_of, offsets
from ganet_tf.data.graph import Graph, as_edges, as_features, as_weights, weighted_edges
from ganet_tf.data.targets import MISSING, is_missing, label_columns, listed
from ganet_tf.errors import DataFormatError

log = logging.getLogger(__name__)


def assemble(
    edges: Sequence[np.ndarray],
    sizes: Sequence[int],
    weights: Sequence[np.ndarray | None] | None = None,
    labels: Sequence[Hashable] | None = None,
    attributes: ArrayLike | None = None,
) -> RawGraphs:
    """Puts graphs together, without targets.

    Args:
        edges: For each graph the pairs (source, target), in any order.
        sizes: For each graph its number of nodes.
        weights: For each graph the weights of its edges, or None: then they are 1.
        labels: For each node of all graphs its label, or None.
        attributes: [all nodes, A], or None.
    """
    if len(edges) == 0:
        raise DataFormatError("graphs is empty: a data set needs at least one graph")
    for index, size in enumerate(sizes):
        if size == 0:
            raise DataFormatError(f"graph {index} has no nodes; leave empty graphs out of the data set")
    if sum(sizes) >= 2**31:
        raise DataFormatError(f"there are {sum(sizes):,} nodes, but their numbers must be below 2^31")
    many = [as_edges(pairs) for pairs in edges]
    attributes = np.zeros((sum(sizes), 0), np.float32) if attributes is None else as_features(attributes)
    if len(attributes) != sum(sizes):
        raise DataFormatError(f"x has {len(attributes)} rows, but there are {sum(sizes)} nodes")
    weights = [None] * len(many) if weights is None else list(weights)
    if len(weights) != len(many):
        raise DataFormatError(f"there are {len(many)} graphs, but edge weights of {len(weights)}")
    names = [f"edge_weights of graph {number}" for number in range(len(many))] if len(many) > 1 else ["edge_weights"]
    weights = [as_weights(w, len(e), name) for e, w, name in zip(many, weights, names, strict=True)]
    done = [weighted_edges(pairs, values, n) for pairs, values, n in zip(many, weights, sizes, strict=True)]
    some = any(values is not None and (values != 1).any() for _, values in done)
    if some:
        done = [(pairs, np.ones(len(pairs), np.float32) if values is None else values) for pairs, values in done]
    if labels is not None and (lost := sum(map(is_missing, labels))):
        raise DataFormatError(
            f"{lost} of {len(labels)} nodes have no label, the others have; give them one of their own, such as 'none'"
        )
    codes, counts, values = label_columns([] if labels is None else [labels], sum(sizes))
    return RawGraphs(
        edges=np.concatenate([pairs for pairs, _ in done]),
        degrees=np.concatenate([np.bincount(e[:, 1], minlength=n) for (e, _), n in zip(done, sizes, strict=True)]),
        node_offsets=offsets(sizes),
        edge_offsets=offsets([len(pairs) for pairs, _ in done]),
        y=np.full(len(many), MISSING, np.int32),
        class_labels=[],
        node_labels=codes,
        node_label_counts=np.array(counts, np.int64),
        node_label_values=values,
        node_attributes=attributes,
        edge_weights=np.concatenate([values for _, values in done]) if some else None,
    )


def all_features(features: str, raw: RawGraphs) -> str:
    """What "auto" means for users' own graphs: everything that their nodes have."""
    both = raw.node_labels.shape[1] > 0 and raw.node_attributes.shape[1] > 0
    return "labels+attributes" if features == "auto" and both else features


def from_graph_list(graphs: Sequence[Graph]) -> RawGraphs:
    """`Graph`s, whose features stand as attributes."""
    strange = next((graph for graph in graphs if not isinstance(graph, Graph)), None)
    if strange is not None:
        raise DataFormatError(
            f"a list of Graph is needed, but there is a {type(strange).__name__} in it; networkx graphs go to "
            "GraphDataset.from_networkx, others to from_edge_index, from_pyg, from_dgl or from_pandas"
        )
    widths = {graph.x.shape[1] for graph in graphs}
    if len(widths) > 1:
        raise DataFormatError(f"all graphs need the same number of features, but they have {sorted(widths)}")
    x = np.concatenate([graph.x for graph in graphs]) if graphs else None
    edges, weights = [graph.edges for graph in graphs], [graph.edge_weights for graph in graphs]
    return assemble(edges, [graph.num_nodes for graph in graphs], weights, None, x)


# networkx


def from_networkx(
    graphs: Iterable[Any],
    node_label: str = "label",
    node_attributes: str = "x",
    edge_weight: str | None = "weight",
    used: Iterable[str] = frozenset(),
) -> RawGraphs:
    """networkx graphs; see `GraphDataset.from_networkx`. `used` are node attributes that are no features."""
    graphs = graph_list(graphs, "is_directed", "networkx")
    edges, weights = [], []
    for graph in graphs:
        number = {node: place for place, node in enumerate(graph)}
        pairs = as_edges([(number[u], number[v]) for u, v in graph.edges()])
        values = _edge_values(graph, edge_weight)
        if not graph.is_directed():
            loops = pairs[:, 0] == pairs[:, 1]
            values = None if values is None else np.concatenate([values, values[~loops]])
            pairs = np.concatenate([pairs, pairs[~loops][:, ::-1]])
        edges.append(pairs)
        weights.append(values)
    of_edges = {name for graph in graphs for *_, data in graph.edges(data=True) for name in data}
    say_left_aside(_names(of_edges - {edge_weight}))
    labels, rows = node_values(graphs, node_label), _rows(graphs, node_attributes)
    of_nodes = {name for graph in graphs for _, data in graph.nodes(data=True) for name in data}
    if labels is None and rows is None and (others := of_nodes - set(used)):
        log.warning(
            "nodes have neither %r nor %r, but %s: say node_label= or node_attributes= to make features of it",
            node_label,
            node_attributes,
            _names(others),
        )
    return assemble(edges, [len(graph) for graph in graphs], weights, labels, rows)


def _names(keys):
    return ", ".join(sorted(map(str, keys)))


def graph_list(graphs: Iterable[Any], sign: str, kind: str) -> list[Any]:
    """Graphs as a list.

    Args:
        graphs: What was given for a list of them.
        sign: An attribute that each of them has, and no list.
        kind: Whose graphs they are, for messages.

    Raises:
        DataFormatError: for one graph that is not in a list, and for something else in it.
    """
    if hasattr(graphs, sign):
        raise DataFormatError(
            f"this is one {type(graphs).__name__}, but a list of {kind} graphs is needed: put it into one, or take "
            "NodeDataset, whose nodes have targets"
        )
    graphs = list(graphs)
    strange = next((graph for graph in graphs if not hasattr(graph, sign)), None)
    if strange is not None:
        raise DataFormatError(f"a {type(strange).__name__} is not one of {kind}'s graphs, of which a list is needed")
    return graphs


def _edge_values(graph, key):
    """The edge attribute `key`, where edges without it have 1, as networkx has it; None if no edge has it."""
    if key is None:
        return None
    values = [data.get(key) for *_, data in graph.edges(data=True)]
    if all(value is None for value in values):
        return None
    try:
        return np.array([1.0 if value is None else float(value) for value in values])
    except (TypeError, ValueError):
        raise DataFormatError(
            f"the edge attribute {key!r} must be a number; edge_weight=None leaves it aside"
        ) from None


def node_values(graphs: Sequence[Any], key: str) -> list[Any] | None:
    """The node attribute `key` of all nodes, or None if no node has it; some but not all is an error."""
    values = [data.get(key) for graph in graphs for _, data in graph.nodes(data=True)]
    missing = sum(value is None for value in values)
    if missing == len(values):
        return None
    if missing:
        raise DataFormatError(f"{missing} of {len(values)} nodes have no attribute {key!r}, the others have")
    return values


def _rows(graphs, key):
    values = node_values(graphs, key)
    if values is None:
        return None
    rows = [np.atleast_1d(value) for value in values]
    widths = {len(row) for row in rows}
    if len(widths) > 1:
        raise DataFormatError(f"node attribute {key!r} must have one length, but has {sorted(widths)}")
    return as_features(np.stack(rows), f"node attribute {key!r}")


# Edge indices, as PyG and OGB have them


def from_edge_index(
    edge_index: Sequence[ArrayLike],
    x: Sequence[ArrayLike] | None = None,
    num_nodes: Sequence[int] | None = None,
    edge_weights: Sequence[ArrayLike | None] | None = None,
) -> RawGraphs:
    """Edge indices [2, E] of several graphs; see `GraphDataset.from_edge_index`."""
    many = [pairs_of(index) for index in edge_index]
    if x is None and num_nodes is None:
        raise DataFormatError("x or num_nodes must be given: an edge_index alone does not tell the number of nodes")
    if x is not None and len(x) != len(many):
        raise DataFormatError(f"there are {len(many)} edge indices, but {len(x)} matrices x")
    rows = None if x is None else [as_features(array_of(part), f"x of graph {i}") for i, part in enumerate(x)]
    sizes = [len(part) for part in rows] if rows is not None else [int(size) for size in num_nodes]
    if len(sizes) != len(many):
        raise DataFormatError(f"there are {len(many)} edge indices, but {len(sizes)} numbers of nodes")
    if rows is not None and len({part.shape[1] for part in rows}) > 1:
        raise DataFormatError(
            f"all graphs need the same number of features, but they have {sorted({part.shape[1] for part in rows})}"
        )
    weights = None if edge_weights is None else [None if w is None else array_of(w) for w in edge_weights]
    return assemble(many, sizes, weights, None, None if rows is None else np.concatenate(rows))


def pairs_of(edge_index: ArrayLike) -> np.ndarray:
    """Pairs (source, target) [E, 2] of an edge index [2, E]."""
    index = array_of(edge_index)
    if index.size == 0:
        return np.zeros((0, 2), np.int32)
    if index.ndim != 2 or index.shape[0] != 2:
        hint = ": this looks like pairs [E, 2], which Graph and NodeDataset take" if index.ndim == 2 else ""
        raise DataFormatError(f"edge_index must have the shape [2, E], but has {index.shape}{hint}")
    return as_edges(index.T, "edge_index")


def field(item: Any, *names: str) -> Any:
    """The first of some attributes, or entries, that an object has and that is not None."""
    for name in names:
        value = item.get(name) if isinstance(item, Mapping) else getattr(item, name, None)
        if value is not None:
            return value
    return None


def pyg_list(items: Any) -> list[Any]:
    """PyG's objects one by one: a data set's, a list's, those of a `Batch` or of a loader's batches."""
    if isinstance(items, Mapping) or hasattr(items, "to_data_list") or hasattr(items, "to_dict"):
        items = [items]  # a data set has neither
    return [part for item in items for part in (item.to_data_list() if hasattr(item, "to_data_list") else [item])]


def from_pyg(items: Sequence[Any]) -> RawGraphs:
    """PyG's `Data` objects, or dicts of their fields (as OGB has them)."""
    for item in items:
        check_pyg(item)
    say_left_aside("edge_attr", any(field(item, "edge_attr", "edge_feat") is not None for item in items))
    x = [field(item, "x", "node_feat") for item in items]
    if any(part is None for part in x) and not all(part is None for part in x):
        raise DataFormatError("some graphs have x, and others have none")
    sizes = [field(item, "num_nodes") for item in items]
    weights = [field(item, "edge_weight") for item in items]
    known = None if x and x[0] is None else x
    if known is None and any(size is None for size in sizes):
        raise DataFormatError("a graph has neither x nor num_nodes: its number of nodes is not known")
    return from_edge_index(
        [field(item, "edge_index") for item in items], known, sizes if known is None else None, weights
    )


def check_pyg(item: Any) -> None:
    """Raises DataFormatError for what has no edge index."""
    if field(item, "edge_index") is None:
        hint = "" if field(item, "adj_t") is None else "; ToSparseTensor(remove_edge_index=False) keeps it beside adj_t"
        hint = "; its to_homogeneous() makes one" if hasattr(item, "to_homogeneous") else hint
        raise DataFormatError(f"a {type(item).__name__} has no edge_index: it is not one of PyG's Data{hint}")


def from_dgl(graphs: Sequence[Any], node_attributes: str = "feat", edge_weight: str = "weight") -> RawGraphs:
    """DGL's graphs: `edges()`, `num_nodes()`, `ndata` and `edata`."""
    graphs = graph_list(graphs, "ndata", "DGL")
    index = [dgl_edges(graph, edge_weight) for graph in graphs]
    sizes = [int(graph.num_nodes()) for graph in graphs]
    x = [field(graph.ndata, node_attributes) for graph in graphs]
    if any(part is None for part in x) and not all(part is None for part in x):
        raise DataFormatError(f"some graphs have ndata[{node_attributes!r}], and others have none")
    others = {name for graph in graphs for name in graph.ndata}
    if others and node_attributes not in others:
        log.warning(
            "ndata has no %r, but %s: say node_attributes= to make features of it", node_attributes, _names(others)
        )
    weights = [field(graph.edata, edge_weight) for graph in graphs]
    known = None if x and x[0] is None else x
    return from_edge_index(index, known, sizes if known is None else None, weights)


def dgl_edges(graph: Any, edge_weight: str) -> np.ndarray:
    """The edge index [2, E] of one of DGL's graphs."""
    if not all(hasattr(graph, name) for name in ("edges", "num_nodes", "ndata", "edata")):
        raise DataFormatError(f"a {type(graph).__name__} is not one of DGL's graphs")
    if not getattr(graph, "is_homogeneous", True):
        raise DataFormatError(
            "a graph has several types of nodes or edges, which is not supported; dgl.to_homogeneous makes one of them"
        )
    say_left_aside(_names(set(graph.edata) - {edge_weight, "_ID"}))
    return np.stack([array_of(end) for end in graph.edges()])


def say_left_aside(names: str, some: bool = True) -> None:
    """Says in a line that edge attributes are not used, where there are `some` of these names."""
    if names and some:
        log.warning("%s is left aside: the operators use edge weights, but no other features of edges", names)


# Tables


def read_csv(path: str | os.PathLike) -> dict[str, list[str]]:
    """The columns of a CSV file with a line of names, by name; values are text."""
    if not Path(path).is_file():
        raise DataFormatError(f"{path} is not a file")
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            rows = [row for row in csv.reader(file) if row]
    except (csv.Error, UnicodeDecodeError) as error:
        raise DataFormatError(f"{path} cannot be read as CSV ({error})") from error
    if not rows:
        raise DataFormatError(f"{path} is empty: its first line must have the names of the columns")
    names = [name.strip() for name in rows[0]]
    if len(set(names)) != len(names):
        raise DataFormatError(f"{path} has two columns of one name: {', '.join(names)}")
    for line, row in enumerate(rows[1:], 2):
        if len(row) != len(names):
            raise DataFormatError(f"{path} has {len(names)} columns, but {len(row)} in row {line}")
    columns = [[value.strip() for value in column] for column in zip(*rows[1:], strict=True)] or [[] for _ in names]
    return dict(zip(names, columns, strict=True))


def table(value: Any) -> Any:
    """A table as it is, or read from a CSV file."""
    return read_csv(value) if isinstance(value, (str, os.PathLike)) else value


def graph_targets(graphs: Any, graph: str, label: str, order: Sequence[Hashable]) -> tuple[list[Any], tuple[str, ...]]:
    """Targets of the graphs in `order`, out of a table of graphs; and the names of its columns, if they are several."""
    names = _keys(graphs, graph, "graphs")
    columns = [label] if label in graphs else [name for name in graphs if name != graph]
    if not columns:
        raise DataFormatError(f"the table of graphs has no column {label!r}, nor any other beside {graph!r}")
    values = [_typed(column(graphs, name, "graphs"), name) for name in columns]
    for name, part in zip(columns, values, strict=True):
        text = next((value for value in part if isinstance(value, str)), None)
        if len(columns) > 1 and text is not None:
            raise DataFormatError(
                f"the table of graphs has no column {label!r}, so that all its columns {_names(columns)} are targets, "
                f"but {name!r} has the text {text!r}; call the column with the target {label!r}, or leave others out"
            )
    rows = dict(zip(names, values[0] if len(columns) == 1 else map(list, zip(*values, strict=True)), strict=True))
    if len(rows) != len(names):
        raise DataFormatError("the table of graphs names a graph twice")
    lost = [name for name in order if name not in rows]
    if lost or len(rows) != len(order):
        strange = lost[0] if lost else next(iter(rows.keys() - set(order)))
        raise DataFormatError(f"graph {strange!r} is not in both the table of graphs and the others")
    return [rows[name] for name in order], tuple(map(str, columns)) if len(columns) > 1 else ()


def typed_column(nodes: Any, name: str, order: Sequence[int]) -> list[Any]:
    """A column of the table of nodes, in their order; None for each where there is no such column."""
    values = column(nodes, name, "nodes", needed=False)
    if values is None:
        return [None] * len(order)
    values = _typed(values, name)
    return [values[row] for row in order]


def _typed(values, name):
    """A column of text as numbers where all of it is: whole ones for classes, others for regression.

    An empty field and "nan" are missing: None.

    Raises:
        DataFormatError: for numbers with text among them that is neither a class nor a missing target.
    """
    values = listed(values)
    values = [None if isinstance(value, str) and value.lower() == "nan" else value for value in values]
    if not all(value is None or isinstance(value, str) for value in values):
        _say_floats(values, name)
        return values
    for kind in (int, float):
        try:
            return [None if value is None else kind(value) for value in values]
        except ValueError:
            continue
    numbers = [value for value in values if value is not None and _is_float(value)]
    texts = {value for value in values if value is not None} - set(numbers)
    if numbers and all(text.lower() in NOTHING for text in texts):
        raise DataFormatError(
            f"the column {name!r} has numbers such as {numbers[0]} and the text {min(texts)!r}; leave the field empty "
            "where nothing is known"
        )
    decimals = [value for value in numbers if any(map(str.isdigit, value)) and not _is_int(value)]
    if decimals:
        raise DataFormatError(
            f"the column {name!r} is of mixed kinds: it has the number {decimals[0]} and the text {min(texts)!r}; a "
            "column of numbers is for regression, one of names or whole numbers for classes; leave a field empty where "
            "nothing is known, and give names that look like numbers another form, such as v1.5"
        )
    return values


NOTHING = ("na", "n/a", "#n/a", "<na>", "null", "none", "?", "-", "missing", "unknown")


def _say_floats(values, name):
    """Says that classes are taken as numbers, where pandas has made floats of whole numbers with gaps."""
    numbers = [value for value in values if value is not None]
    if len(numbers) < len(values) and all(isinstance(value, float) and value.is_integer() for value in numbers):
        log.warning(
            "the column %r has whole numbers as floats, which is how pandas keeps them beside missing ones: they are "
            "taken as numbers to regress on, or as labels if they are 0 and 1 in several columns; for classes make the "
            "column 'Int64'",
            name,
        )


def _is_int(value):
    try:
        int(value)
    except ValueError:
        return False
    return True


def column(table: Any, name: str, where: str, needed: bool = True) -> list[Any] | None:
    """A column of a table: a pandas frame, a dict of lists, or what `read_csv` returns."""
    if name in table:
        values = table[name]
        if hasattr(values, "columns"):
            raise DataFormatError(f"the table of {where} has two columns of the name {name!r}")
        return values.tolist() if hasattr(values, "tolist") else list(values)
    if needed:
        raise DataFormatError(f"the table of {where} has no column {name!r}; it has {', '.join(map(str, table))}")
    return None


def _keys(table, name, where):
    """A column of names, of which none may be missing."""
    values = column(table, name, where)
    lost = next((row for row, value in enumerate(values) if is_missing(value)), None)
    if lost is not None:
        raise DataFormatError(f"row {lost} of the {where} has no {name!r}")
    return values


def as_numbers(values: Sequence[Any], name: str, where: str) -> np.ndarray:
    """A column as float64."""
    try:
        return np.array([float(value) for value in values])
    except (TypeError, ValueError):
        wrong = next(value for value in values if not _is_float(value))
        raise DataFormatError(f"the column {name!r} of {where} must hold numbers, but has {wrong!r}") from None


def _is_float(value):
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def from_tables(
    edges: Any,
    nodes: Any = None,
    graph: str | None = "graph",
    source: str = "source",
    target: str = "target",
    node: str = "node",
    node_label: str = "label",
    edge_weight: str = "weight",
    directed: bool = False,
    skip: Sequence[str] = (),
) -> tuple[RawGraphs, list[Hashable], list[int]]:
    """Graphs of a table of edges and, where there is one, a table of nodes.

    Nodes are named by whatever stands in the tables. Without a table of nodes they are those that have edges.

    Args:
        edges, nodes: Tables: pandas frames, or dicts of columns.
        graph: Column with the graph that an edge or a node belongs to; None for one graph.
        source, target, edge_weight: Columns of `edges`.
        node, node_label: Columns of `nodes`. All its other columns but `skip` are attributes.
        directed: Whether edges hold in the direction that is given alone.
        skip: Columns of `nodes` that are no attributes.

    Returns:
        (raw, names of the graphs, the rows of `nodes` in the order of the nodes).
    """
    ends = _keys(edges, source, "edges"), _keys(edges, target, "edges")
    of_edge = _keys(edges, graph, "edges") if graph else [0] * len(ends[0])
    keys, order = node_keys(nodes, graph, node, of_edge, ends)
    graphs = list(dict.fromkeys(g for g, _ in keys))
    sizes, place = dict.fromkeys(graphs, 0), {}
    for g, name in keys:
        place[g, name] = sizes[g]
        sizes[g] += 1
    values = column(edges, edge_weight, "edges", needed=False)
    values = None if values is None else as_numbers(values, edge_weight, "edges")
    pairs, weights = _edge_lists(place, sizes, of_edge, ends, values, directed)
    others = set(map(str, edges)) - {str(graph), source, target, edge_weight}
    say_left_aside(f"of the edges {_names(others)}", bool(others))
    labels, attributes = _node_columns(nodes, order, {graph, node, *skip}, node_label)
    return assemble(pairs, list(sizes.values()), weights, labels, attributes), graphs, order


def node_keys(
    nodes: Any, graph: str | None, node: str, of_edge: Sequence[Hashable], ends: tuple[Sequence, Sequence]
) -> tuple[list[tuple], list[int]]:
    """(graph, node) of all nodes, graph after graph, and the rows of the table of nodes in that order."""
    if nodes is None:
        keys = list(dict.fromkeys(key for g, s, t in zip(of_edge, *ends, strict=True) for key in ((g, s), (g, t))))
    else:
        names = _keys(nodes, node, "nodes")
        keys = list(zip(_keys(nodes, graph, "nodes") if graph else [0] * len(names), names, strict=True))
    rows = {}
    for row, key in enumerate(keys):
        if rows.setdefault(key, row) != row:
            raise DataFormatError(f"the table of nodes has node {key[1]!r} of graph {key[0]!r} twice")
    rank = {g: number for number, g in enumerate(dict.fromkeys(g for g, _ in keys))}
    order = sorted(range(len(keys)), key=lambda row: rank[keys[row][0]])
    return [keys[row] for row in order], order


def _edge_lists(place, sizes, of_edge, ends, values, directed):
    """Pairs and weights of each graph."""
    pairs, weights = {g: [] for g in sizes}, {g: [] for g in sizes}
    for row, (g, s, t) in enumerate(zip(of_edge, *ends, strict=True)):
        if (g, s) not in place or (g, t) not in place:
            raise DataFormatError(
                f"row {row} of the edges joins {s!r} and {t!r} of graph {g!r}, which are not both nodes of it"
            )
        pairs[g].append((place[g, s], place[g, t]))
        weights[g].append(None if values is None else values[row])
    many = [np.array(pairs[g], np.int64).reshape(-1, 2) for g in sizes]
    of_graph = [None if values is None else np.array(weights[g], np.float64) for g in sizes]
    both = [_both_ways(p, w, directed) for p, w in zip(many, of_graph, strict=True)]
    return [p for p, _ in both], [w for _, w in both]


def _both_ways(pairs, weights, directed):
    """Adds the other direction of each edge that is listed in one alone."""
    if directed or len(pairs) == 0:
        return pairs, weights
    width = pairs.max() + 1
    lonely = ~np.isin(pairs[:, 1] * width + pairs[:, 0], pairs[:, 0] * width + pairs[:, 1])
    weights = None if weights is None else np.concatenate([weights, weights[lonely]])
    return np.concatenate([pairs, pairs[lonely][:, ::-1]]), weights


def _node_columns(nodes, order, skip, node_label):
    """Labels and attributes of a table of nodes, in the order of the graphs."""
    if nodes is None:
        return None, None
    labels = column(nodes, node_label, "nodes", needed=False) if node_label not in skip else None
    labels = None if labels is None or all(map(is_missing, labels)) else [labels[row] for row in order]
    names = [name for name in nodes if name not in skip and name != node_label]
    columns = [as_numbers(column(nodes, name, "nodes"), name, "nodes") for name in names]
    return labels, np.stack(columns, axis=1)[order] if columns else None


# Files of arrays


def from_arrays(arrays: Mapping[str, np.ndarray], name: str) -> tuple[RawGraphs, Any]:
    """Many graphs out of arrays by name; see `GraphDataset.from_npz`. Returns them and their targets."""
    pairs = edges_in(arrays, name)
    for needed in ("sizes", "edge_counts"):
        if needed not in arrays or arrays[needed].ndim != 1 or arrays[needed].dtype.kind not in "iu":
            raise DataFormatError(f"{name} has no array {needed!r} of whole numbers; it has {', '.join(arrays)}")
    sizes, counts = arrays["sizes"].astype(np.int64), arrays["edge_counts"].astype(np.int64)
    if len(sizes) != len(counts) or min(sizes.min(initial=0), counts.min(initial=0)) < 0 or counts.sum() != len(pairs):
        raise DataFormatError(f"{name}: edge_counts must have a number for each of sizes, and add up to the edges")
    ends = np.cumsum(counts)[:-1]
    weights = np.split(arrays["edge_weights"], ends) if "edge_weights" in arrays else None
    raw = assemble(np.split(pairs, ends), sizes.tolist(), weights, None, arrays.get("x"))
    say_unread(arrays, {"sizes", "edge_counts", "edges", "edge_index", "x", "edge_weights", "y"}, name)
    return raw, arrays.get("y")


def say_unread(arrays: Mapping[str, np.ndarray], known: set[str], name: str) -> None:
    """Says in a line which arrays of a file are not used: `edge_weight` for `edge_weights` would vanish."""
    if others := sorted(set(arrays) - known):
        log.warning("%s: %s is not used; there are %s", name, ", ".join(others), ", ".join(sorted(known)))


def matrix_in(arrays: Mapping[str, np.ndarray], name: str) -> Any:
    """Features `x`, dense or as the parts of a CSR matrix."""
    if "x" in arrays:
        return arrays["x"]
    if not all(f"x_{part}" in arrays for part in ("data", "indices", "indptr", "shape")):
        raise DataFormatError(f"{name} has no features x; it has {', '.join(arrays)}")
    try:
        parts = (arrays["x_data"], arrays["x_indices"], arrays["x_indptr"])
        matrix = csr_array(parts, shape=tuple(int(size) for size in arrays["x_shape"]))
        matrix.check_format(full_check=True)
    except (ValueError, TypeError, IndexError) as error:
        raise DataFormatError(f"{name}: x_data, x_indices, x_indptr and x_shape are no CSR matrix ({error})") from error
    return matrix


def edges_in(arrays: Mapping[str, np.ndarray], name: str) -> np.ndarray:
    """The pairs of an array `edges` [E, 2] or `edge_index` [2, E]."""
    if "edge_index" in arrays:
        return pairs_of(arrays["edge_index"])
    if "edges" not in arrays:
        raise DataFormatError(f"{name} has neither edges [E, 2] nor edge_index [2, E]; it has {', '.join(arrays)}")
    return as_edges(arrays["edges"])


def read_npz(path: str | os.PathLike) -> dict[str, np.ndarray]:
    """The arrays of an `.npz` file; nothing in it is unpickled."""
    with open_zip(Path(path)) as archive:
        check_members(Path(path), archive.infolist(), max_ratio=np.inf)  # features that are mostly 0 pack well
    try:
        with np.load(path, allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}
    except Exception as error:  # a damaged file can raise anything
        raise DataFormatError(f"{path} is not a whole .npz file of plain arrays ({error})") from error
