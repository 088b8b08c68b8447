"""A data set of many graphs with one target each."""

import math
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ganet_tf.data import converters
from ganet_tf.data import folds as folding
from ganet_tf.data.arrays import RawGraphs, array_of, offsets
from ganet_tf.data.batching import BatchPlan, GraphStore, batch_maker, make_batches
from ganet_tf.data.converters import from_graph_list
from ganet_tf.data.features import MAX_DEGREE, Encoder, parts_of, save_encoding
from ganet_tf.data.graph import Graph
from ganet_tf.data.targets import MISSING, Target, read_targets, strata
from ganet_tf.errors import DataFormatError

if TYPE_CHECKING:
    import tensorflow as tf


class GraphDataset:
    """Graphs with a target each, kept as flat arrays; a sequence of `Graph` to the eye.

    Other ways in are `ganet_tf.data.load` and the methods `from_...`. Subsets and folds are `GraphDataset`s too and
    share the arrays of the whole.

    Args:
        graphs: List of `Graph`, all with the same number of features.
        labels: Target of each graph: classes of any hashable type, floats, or rows of them; see `Target`. None takes
            the `y` of the graphs, whose classes are numbers already.
        name: Name of the data set.
        num_classes: Number of classes; as many as occur by default.

    Attributes:
        target: `Target`: what is to be predicted.
        encoder: `Encoder`: how the node features were made, to be applied to other graphs.
        class_labels: The original class labels, in the order of the class numbers.
        num_classes: Number of classes; for other targets the number of outputs.

    Example:
    ```python
    path = Graph(x=np.ones((3, 1)), edges=[[0, 1], [1, 0], [1, 2], [2, 1]])
    pair = Graph(x=np.ones((2, 1)), edges=[[0, 1], [1, 0]])
    ds = GraphDataset([path, pair], ["long", "short"])
    ds.y, ds.class_labels                     # [0, 1], ["long", "short"]
    ```
    """

    def __init__(
        self,
        graphs: Iterable[Graph],
        labels: Sequence[Any] | None = None,
        name: str = "graphs",
        num_classes: int | None = None,
    ):
        if isinstance(graphs, Graph):
            raise DataFormatError("this is one Graph, but a list of Graph is needed: put it into one")
        graphs = list(graphs)
        raw = from_graph_list(graphs)
        values = [graph.y for graph in graphs] if labels is None else labels
        if labels is None and all(isinstance(value, int) for value in values):
            y, target = numbered_classes(values, num_classes)
        else:
            y, target = read_targets(values, len(graphs))
        encoder = Encoder("given", num_attributes=raw.node_attributes.shape[1])
        self._set(store_of(raw, encoder, y), name, target, encoder)

    def _set(self, store, name, target, encoder, indices=None, published_folds=None):
        self._store = store
        self._indices = np.arange(len(store.y)) if indices is None else indices
        self._whole = indices is None
        self._published_folds = published_folds
        self.name = name
        self.target = target
        self.encoder = encoder
        self.num_classes = target.width
        self.class_labels = list(target.labels)

    @classmethod
    def _of(cls, *parts, **more) -> "GraphDataset":
        dataset = cls.__new__(cls)
        dataset._set(*parts, **more)
        return dataset

    @classmethod
    def from_graphs(
        cls, graphs: Iterable[Graph], name: str = "graphs", num_classes: int | None = None
    ) -> "GraphDataset":
        """Makes a data set of a list of `Graph`: `GraphDataset(graphs)`."""
        return cls(graphs, None, name, num_classes)

    @classmethod
    def from_networkx(
        cls,
        graphs: Iterable[Any],
        labels: Sequence[Any] | None = None,
        features: str = "auto",
        name: str = "networkx",
        node_label: str = "label",
        node_attributes: str = "x",
        edge_weight: str | None = "weight",
        max_degree: int = MAX_DEGREE,
        unknown: str = "error",
        like: "GraphDataset | Encoder | str | os.PathLike | None" = None,
    ) -> "GraphDataset":
        """Makes a data set of networkx graphs.

        Undirected edges count in both directions, directed ones in theirs. Self-loops are dropped, and parallel edges
        are one edge, whose weight is the sum of theirs.

        Args:
            graphs: List of networkx graphs, each with at least one node.
            labels: Target of each graph: classes of any hashable type (`class_labels` of the result keeps them),
                floats for regression, or rows of 0 and 1 for several labels. None where they are unknown: then all
                are class 0.
            features: As in `ganet_tf.data.load`, but "auto" takes both labels and attributes where nodes have both.
            name: Name of the data set.
            node_label: Node attribute with the node's label, for `features="labels"`.
            node_attributes: Node attribute with a number or a vector, for `features="attributes"`.
            edge_weight: Edge attribute with a number from 0; edges without it have 1. None leaves weights out.
            max_degree: One-hot degrees of `max_degree` and more share a channel.
            unknown: What a node label means later, in graphs made `like` these, if it did not occur here: "error",
                or "other", which is one more channel.
            like: A data set, its `encoder`, or the path of a file that `save_encoder` or a run wrote: nodes get
                features, and graphs class numbers, as they have there. Then `features`, `max_degree` and `unknown` are
                those of `like`.

        Returns:
            `GraphDataset`.

        Raises:
            DataFormatError: If a graph has no nodes, some nodes lack an attribute that others have, there are more or
                fewer labels than graphs, or something did not occur in `like`.

        Example:
        ```python
        train = GraphDataset.from_networkx([nx.path_graph(3), nx.cycle_graph(4)], ["path", "cycle"], features="degree")
        train.class_labels, train.y               # ["cycle", "path"], [1, 0]
        new = GraphDataset.from_networkx([nx.path_graph(4)], like=train)
        ```
        """
        raw = converters.from_networkx(graphs, node_label, node_attributes, edge_weight)
        return cls._of_users(raw, labels, name, features, max_degree, unknown, like)

    @classmethod
    def from_edge_index(
        cls,
        edge_index: Sequence[ArrayLike],
        x: Sequence[ArrayLike] | None = None,
        labels: Sequence[Any] | None = None,
        num_nodes: Sequence[int] | None = None,
        edge_weights: Sequence[ArrayLike | None] | None = None,
        features: str = "auto",
        name: str = "graphs",
        max_degree: int = MAX_DEGREE,
        like: "GraphDataset | Encoder | str | os.PathLike | None" = None,
    ) -> "GraphDataset":
        """Makes a data set of edge indices, as PyG and OGB have them.

        Args:
            edge_index: For each graph an array [2, E]: a row of sources and a row of targets.
            x: For each graph its node features [n, F]; may be left out.
            labels: Target of each graph: classes of any hashable type, floats for regression, or rows of 0 and 1 for
                several labels; None where they are unknown.
            num_nodes: For each graph its number of nodes, where there is no `x`.
            edge_weights: For each graph the weights of its edges [E], or None.
            features, name, max_degree, like: As in `from_networkx`.

        Example:
        ```python
        ds = GraphDataset.from_edge_index([[[0, 1], [1, 0]], [[0, 1, 2], [1, 2, 0]]], num_nodes=[2, 3], labels=[0, 1])
        ```
        """
        raw = converters.from_edge_index(edge_index, x, num_nodes, edge_weights)
        return cls._of_users(raw, labels, name, features, max_degree, "error", like)

    @classmethod
    def from_pyg(
        cls,
        items: Iterable[Any],
        labels: Sequence[Any] | None = None,
        features: str = "auto",
        name: str = "graphs",
        like: "GraphDataset | Encoder | str | os.PathLike | None" = None,
    ) -> "GraphDataset":
        """Makes a data set of PyG's `Data` objects, or of dicts with their fields.

        `x`, `edge_index`, `edge_weight` and `y` are read; `edge_attr` is left aside, with a word.

        Args:
            items: The objects: a list, a data set, a `Batch` or a loader. PyG itself is not needed.
            labels: Target of each graph; the objects' `y` by default. One integer is a class, a float regression,
                several numbers are several targets; graphs without `y` are unknown.
            features, name, like: As in `from_networkx`.

        Example:
        ```python
        ds = GraphDataset.from_pyg(TUDataset("data", "MUTAG"))
        ```
        """
        items = converters.pyg_list(items)
        if labels is None:
            found = [_one_target(converters.field(item, "y", "labels")) for item in items]
            labels = None if all(value is None for value in found) else found
        return cls._of_users(converters.from_pyg(items), labels, name, features, MAX_DEGREE, "error", like)

    @classmethod
    def from_dgl(
        cls,
        graphs: Iterable[Any],
        labels: Any = None,
        node_attributes: str = "feat",
        edge_weight: str = "weight",
        features: str = "auto",
        name: str = "graphs",
        like: "GraphDataset | Encoder | str | os.PathLike | None" = None,
    ) -> "GraphDataset":
        """Makes a data set of DGL's graphs.

        Args:
            graphs: The graphs, or pairs (graph, label) as DGL's data sets have them. DGL itself is not needed.
            labels: Target of each graph.
            node_attributes: Name of the features in `ndata`.
            edge_weight: Name of the weights in `edata`.
            features, name, like: As in `from_networkx`.

        Example:
        ```python
        ds = GraphDataset.from_dgl(dgl.data.GINDataset("MUTAG", self_loop=False), node_attributes="attr")
        ```
        """
        if not hasattr(graphs, "ndata"):
            graphs = list(graphs)
            if labels is None and graphs and all(isinstance(item, tuple) for item in graphs):
                graphs, labels = zip(*graphs, strict=True)
        labels = None if labels is None else [_one_target(value) for value in labels]
        raw = converters.from_dgl(graphs, node_attributes, edge_weight)
        return cls._of_users(raw, labels, name, features, MAX_DEGREE, "error", like)

    @classmethod
    def from_pandas(
        cls,
        edges: Any,
        nodes: Any = None,
        graphs: Any = None,
        graph: str = "graph",
        source: str = "source",
        target: str = "target",
        node: str = "node",
        label: str = "label",
        node_label: str = "label",
        edge_weight: str = "weight",
        directed: bool = False,
        features: str = "auto",
        name: str = "graphs",
        max_degree: int = MAX_DEGREE,
        unknown: str = "error",
        like: "GraphDataset | Encoder | str | os.PathLike | None" = None,
    ) -> "GraphDataset":
        """Makes a data set of tables: pandas frames, dicts of columns, or paths of CSV files.

        Args:
            edges: A row for each edge: its graph, source, target and, where there is one, weight.
            nodes: A row for each node: its graph, name, label where there is one, and numbers as attributes. Without
                it, nodes are those that have edges.
            graphs: A row for each graph: its name and its label, which is a class, or a float for regression. Several
                columns are several targets.
            graph, source, target, edge_weight: Columns of `edges`.
            node, node_label: Columns of `nodes`, beside `graph`.
            label: Column of `graphs`, beside `graph`; where it is not there, all its columns are targets.
            directed: Whether edges hold in the direction that is given alone.
            features, name, max_degree, unknown, like: As in `from_networkx`.

        Example:
        ```python
        edges = {"graph": ["a", "a", "b"], "source": [1, 2, 1], "target": [2, 3, 2], "weight": [1.0, 0.5, 2.0]}
        ds = GraphDataset.from_pandas(edges, graphs={"graph": ["a", "b"], "label": ["yes", "no"]})
        ```
        """
        edges, nodes, graphs = (converters.table(part) for part in (edges, nodes, graphs))
        raw, order, _ = converters.from_tables(
            edges, nodes, graph, source, target, node, node_label, edge_weight, directed
        )
        labels, names = (None, ()) if graphs is None else converters.graph_targets(graphs, graph, label, order)
        return cls._of_users(raw, labels, name, features, max_degree, unknown, like, names)

    @classmethod
    def from_npz(
        cls,
        path: str | os.PathLike,
        features: str = "auto",
        like: "GraphDataset | Encoder | str | os.PathLike | None" = None,
        max_degree: int = MAX_DEGREE,
        unknown: str = "error",
        labelled: bool = True,
    ) -> "GraphDataset":
        """Reads an `.npz` file of many graphs; with `labelled=False` without its targets.

        | array | what | |
        |---|---|---|
        | `sizes` [G] | number of nodes of each graph | needed |
        | `edges` [E, 2], or `edge_index` [2, E] | node numbers from 0 within each graph | needed |
        | `edge_counts` [G] | number of edges of each graph, which stand graph after graph | needed |
        | `x` [N, F] | features of all nodes, graph after graph | |
        | `edge_weights` [E] | | |
        | `y` [G] or [G, T] | targets | |

        Args:
            path: The file.
            features, like, max_degree, unknown: As in `from_networkx`.

        Example:
        ```python
        np.savez("mine.npz", sizes=[2, 3], edge_counts=[2, 1], edges=[[0, 1], [1, 0], [2, 0]], y=[0, 1])
        ds = GraphDataset.from_npz("mine.npz")
        ```
        """
        raw, labels = converters.from_arrays(converters.read_npz(path), str(path))
        labels = labels if labelled else None
        return cls._of_users(raw, labels, Path(path).stem, features, max_degree, unknown, like)

    @classmethod
    def _of_users(cls, raw, labels, name, features, max_degree, unknown, like, names=()):
        """A data set of a user's own graphs, fitted on them or made like another; `names` are those of the targets."""
        encoder, target = parts_of(like)
        y, found = read_targets(labels, len(raw.sizes), target)
        target = replace(found, names=names) if target is None and names else found
        if encoder is None:
            encoder = Encoder.fit(raw, converters.all_features(features, raw), max_degree, unknown)
        return cls._of(store_of(raw, encoder, y), name, target, encoder)

    @classmethod
    def from_raw(
        cls,
        raw: RawGraphs,
        name: str,
        features: str = "auto",
        max_degree: int = MAX_DEGREE,
        published_folds: folding.PublishedFolds | None = None,
        like: "GraphDataset | Encoder | str | os.PathLike | None" = None,
        unknown: str = "error",
    ) -> "GraphDataset":
        """Makes a data set of what a file in TU layout says, with the node features that are asked for."""
        encoder, target = parts_of(like)
        labels = raw.class_labels.tolist() if isinstance(raw.class_labels, np.ndarray) else raw.class_labels
        if raw.y.ndim == 2 or target is not None:
            known = raw.y if raw.y.ndim == 2 else [labels[number] if number >= 0 else None for number in raw.y]
            y, target = read_targets(known, len(raw.y), target)
        else:
            y, target = raw.y, Target("classes", tuple(labels), max(len(labels), 1))
        if encoder is None:
            encoder = Encoder.fit(raw, features, max_degree, unknown)
        return cls._of(store_of(raw, encoder, y), name, target, encoder, published_folds=published_folds)

    def encode(self, graphs: Iterable[Any], labels: Sequence[Any] | None = None, **options: Any) -> "GraphDataset":
        """Makes a data set of other graphs with features, and class numbers, as they are here.

        Args:
            graphs: networkx graphs, objects of PyG or DGL, or `Graph`s, whose `x` then stands for attributes.
            labels: Their targets, where they are known.
            **options: Further arguments of the method that reads such graphs, for example `node_label`.

        Raises:
            DataFormatError: If a label did not occur here (unless this one was made with `unknown="other"`), or there
                are other numbers of attributes.

        Example:
        ```python
        model.predict(train.encode(new_graphs).batches(32))
        ```
        """
        if hasattr(graphs, "to_data_list"):
            return self.from_pyg(graphs, labels, like=self, name=self.name, **options)
        graphs = graphs if hasattr(graphs, "is_directed") or hasattr(graphs, "ndata") else list(graphs)
        first = graphs[0] if isinstance(graphs, list) and graphs else graphs
        if isinstance(first, Graph):
            raw = from_graph_list(graphs)
            return self._of_users(raw, labels, self.name, "auto", MAX_DEGREE, "error", self)
        if converters.field(first, "edge_index") is not None:
            return self.from_pyg(graphs, labels, like=self, name=self.name, **options)
        door = self.from_dgl if hasattr(first, "ndata") else self.from_networkx
        return door(graphs, labels, like=self, name=self.name, **options)

    def save_encoder(self, path: str | os.PathLike) -> None:
        """Writes how features and targets were made as JSON, for example beside a model: `like=` takes the file.

        Example:
        ```python
        model.save("model.keras"), train.save_encoder("encoder.json")
        new = GraphDataset.from_networkx(new_graphs, like="encoder.json")
        ```
        """
        save_encoding(path, self)

    def __len__(self) -> int:
        return len(self._indices)

    def __getitem__(self, index: int | slice | ArrayLike) -> "Graph | GraphDataset":
        """A number gives a `Graph`; a slice, a list of numbers or a mask gives a `GraphDataset`."""
        if isinstance(index, slice) or np.ndim(index) == 1:
            return self.subset(index)
        if not -len(self) <= index < len(self):
            raise IndexError(f"graph {index} of {len(self)}")
        batch = self._store.collate(self._indices[[index]])
        y = self._store.y[self._indices[index]]
        return _graph(batch["x"], batch["edges"], int(y) if y.ndim == 0 else y, batch.get("edge_weights"))

    def __iter__(self) -> Iterator[Graph]:
        return (self[index] for index in range(len(self)))

    def __repr__(self):
        return (
            f"GraphDataset({self.name!r}, graphs={len(self)}, {self.target.kind}={self.num_classes}, "
            f"features={self.num_features} ({self._store.features.kind}))"
        )

    def subset(self, indices: slice | ArrayLike) -> "GraphDataset":
        """Returns the data set of some graphs: a slice, a list of numbers or a mask. The arrays are shared."""
        if not isinstance(indices, slice):
            indices = np.asarray(indices)
            indices = indices.astype(np.int64) if indices.size == 0 else indices
        return self._of(self._store, self.name, self.target, self.encoder, self._indices[indices])

    @property
    def weighted(self) -> bool:
        """Whether edges have weights."""
        return self._store.edge_weights is not None

    @property
    def num_features(self) -> int:
        return self._store.features.width

    @property
    def features(self) -> str:
        """What the node features are: "labels", "degree", ..., or "given"."""
        return self._store.features.kind

    @property
    def y(self) -> np.ndarray:
        """Targets: classes int32 [graphs], -1 where they are unknown; others float32 [graphs, outputs]."""
        return self._store.y[self._indices]

    @property
    def sizes(self) -> np.ndarray:
        """Number of nodes of each graph."""
        return self._store.sizes[self._indices]

    @property
    def edge_counts(self) -> np.ndarray:
        """Number of directed edges of each graph."""
        return self._store.edge_counts[self._indices]

    def with_features(self, features: str, max_degree: int = MAX_DEGREE) -> "GraphDataset":
        """Returns the same graphs with other node features: "degree", "attributes+degree", ...

        "attributes" stands for the features that they have now. See `ganet_tf.data.features.Encoder`.
        """
        everything = self.arrays()
        sizes = self.sizes
        edges = everything["edges"] - np.repeat(offsets(sizes)[:-1].astype(np.int32), self.edge_counts)[:, None]
        raw = RawGraphs(
            edges=edges,
            degrees=np.bincount(everything["edges"][:, 1], minlength=len(everything["x"])),
            node_offsets=offsets(sizes),
            edge_offsets=offsets(self.edge_counts),
            y=self.y,
            class_labels=self.class_labels,
            node_labels=np.zeros((len(everything["x"]), 0), np.int32),
            node_label_counts=np.zeros(0, np.int64),
            node_label_values=[],
            node_attributes=everything["x"],
            edge_weights=everything.get("edge_weights"),
        )
        encoder = Encoder.fit(raw, features, max_degree, self.encoder.unknown)
        folds = self._published_folds if self._whole else None
        store, encoder = store_of(raw, encoder, self.y), encoder.after(self.encoder)
        return self._of(store, self.name, self.target, encoder, published_folds=folds)

    def with_targets(self, labels: Sequence[Any]) -> "GraphDataset":
        """Returns the same graphs with other targets, one for each: classes, floats, or rows of 0 and 1.

        Example:
        ```python
        numbers = ds.with_targets([float(ds.class_labels[y]) for y in ds.y])   # classes 3, 7, ... as numbers
        ```
        """
        y, target = read_targets(labels, len(self))
        everything = np.zeros((len(self._store.y), *y.shape[1:]), y.dtype)
        everything[self._indices] = y
        indices, folds = (None, self._published_folds) if self._whole else (self._indices, None)
        return self._of(replace(self._store, y=everything), self.name, target, self.encoder, indices, folds)

    def with_arrays(self, **arrays: ArrayLike) -> "GraphDataset":
        """Returns the same graphs with further inputs of a model, which every batch then has beside `x` and `edges`.

        Args:
            **arrays: [graphs, ...] each, a row for each graph.

        Example:
        ```python
        ds = ds.with_arrays(fields=data.receptive_fields(ds, width=18))     # for models.PSCN
        ```
        """
        more = dict(self._store.more)
        for name, array in arrays.items():
            array = np.asarray(array)
            if array.ndim == 0 or len(array) != len(self):
                raise DataFormatError(f"{name} must have a row for each of {len(self)} graphs, but is {array.shape}")
            if name in ("x", "edges", "graph_ids", "edge_weights"):
                raise DataFormatError(f"{name} is the name of an input that the graphs have already; take another")
            more[name] = np.zeros((len(self._store.y), *array.shape[1:]), array.dtype)
            more[name][self._indices] = array
        indices, folds = (None, self._published_folds) if self._whole else (self._indices, None)
        return self._of(replace(self._store, more=more), self.name, self.target, self.encoder, indices, folds)

    def with_published_folds(self, folds: Any) -> "GraphDataset":
        """Returns the same graphs with folds that somebody published.

        Args:
            folds: An object like `ganet_tf.data.folds.PublishedFolds`: `available()`, and `indices(index, num_graphs)`
                that returns the graphs (train, test) of fold `index`, counted from 1.
        """
        indices = None if self._whole else self._indices
        return self._of(self._store, self.name, self.target, self.encoder, indices, folds)

    def arrays(self) -> dict[str, np.ndarray]:
        """Returns all graphs as one batch: dict of `x`, `edges` (batch-wide node numbers) and `graph_ids`."""
        return self._store.collate(self._indices)

    def batches(
        self,
        batch_size: int,
        shuffle: bool = False,
        seed: int = 0,
        drop_remainder: bool = False,
        initial_epoch: int = 0,
        share: tuple[int, int] | None = None,
    ) -> "tf.data.Dataset":
        """Makes a finite `tf.data.Dataset` of batches for `fit`, `evaluate` and `predict`.

        Args:
            batch_size: Number of graphs in a batch.
            shuffle: Whether to put the graphs in a new order each epoch.
            seed: Decides the orders: that of an epoch is a function of `(seed, epoch)` alone.
            drop_remainder: Whether to leave out a last batch that is not full.
            initial_epoch: Number of the first epoch. A run that resumes at epoch e passes e, and sees what
                it would have seen without the interruption. An epoch counts once its last batch was handed out.
            share: (index, count): one worker's part of every batch, where `count` of them train together; see
                `docs/distributed.md`. Graphs are dealt out by size. A third element then holds weights [B_r], with
                which the workers' gradients add up to that of the whole batch; a worker whose part of a small batch
                is empty gets one graph of weight 0.

        Returns:
            Dataset of `({"x" [N, F] float32, "edges" [E, 2] int32, "graph_ids" [N] int32}, y [B] int32)`, of known
            cardinality and prefetched. Graphs with edge weights have "edge_weights" [E] float32, too; `y` is float32
            [B, T] for regression and several labels. Where the classes of some graphs are unknown, a third element
            holds weights [B], 0 for those graphs.
        """
        plan = BatchPlan(self._indices, batch_size, shuffle, seed, drop_remainder)
        return make_batches(plan, self._store, initial_epoch, share)

    def numpy_batches(
        self,
        batch_size: int,
        shuffle: bool = False,
        seed: int = 0,
        drop_remainder: bool = False,
        epoch: int = 0,
        share: tuple[int, int] | None = None,
    ) -> Iterator[tuple[dict[str, np.ndarray], np.ndarray]]:
        """Yields one epoch's batches as NumPy arrays, for a training loop of your own.

        They are those of `batches` in the same epoch; see there for the arguments.
        """
        plan = BatchPlan(self._indices, batch_size, shuffle, seed, drop_remainder)
        make_batch = batch_maker(plan, self._store, share)
        for step in range(plan.num_batches):
            yield make_batch(epoch, step)

    def sort_pooling_k(self, quantile: float = 0.6, minimum: int = 10) -> int:
        """DGCNN's k: the size that a share `quantile` of the graphs does not exceed, at least `minimum`."""
        if not 0 < quantile <= 1:
            raise DataFormatError(f"quantile must be above 0 and at most 1, but is {quantile}")
        rank = math.ceil(quantile * len(self)) - 1
        return max(minimum, int(np.sort(self.sizes)[rank]))

    @property
    def fold_kind(self) -> str:
        """What `fold` gives under `splits="auto"`: "published" or "stratified"."""
        return "published" if self._published_folds is not None and self._published_folds.available() else "stratified"

    def fold_indices(
        self, index: int, splits: str = "auto", seed: int = 0, num_folds: int = 10
    ) -> tuple[np.ndarray, np.ndarray]:
        """Returns index arrays (train, test) of fold `index`, counted from 1: what `fold` gives as data sets."""
        if splits not in ("auto", "published", "stratified"):
            raise DataFormatError(f"splits must be 'auto', 'published' or 'stratified', but is {splits!r}")
        kind = splits
        if splits == "auto":
            kind = self.fold_kind if num_folds == 10 else "stratified"
        count = 10 if kind == "published" else num_folds
        if isinstance(index, bool) or int(index) != index or not 1 <= index <= count:
            raise DataFormatError(f"fold {index!r}: folds are numbered from 1 to {count}")
        if kind == "stratified":
            return folding.stratified_folds(strata(self.y, self.target, num_folds), num_folds, seed)[index - 1]
        if self._published_folds is None:
            raise DataFormatError(f"{self!r} has no published folds; use splits='stratified'")
        return self._published_folds.indices(index, len(self))

    def fold(
        self, index: int, splits: str = "auto", seed: int = 0, num_folds: int = 10
    ) -> tuple["GraphDataset", "GraphDataset"]:
        """Cuts off one fold for testing.

        Args:
            index: Number of the fold, from 1.
            splits: "published": DGCNN's ten folds, which the paper's table of data sets shows. They are random, not
                stratified, and their test parts have floor(n / 10) graphs. "stratified": scikit-learn's. "auto":
                published where they can be found, else stratified; `fold_kind` tells which.
            seed: Decides the stratified folds.
            num_folds: Number of stratified folds. The published ones are ten: with another number "auto" means
                "stratified".

        Returns:
            Two `GraphDataset`s, (train, test).
        """
        train, test = self.fold_indices(index, splits, seed, num_folds)
        return self.subset(train), self.subset(test)

    def split(self, fraction: float, seed: int = 0) -> tuple["GraphDataset", "GraphDataset"]:
        """Cuts off a part for validation, with like class shares; returns `GraphDataset`s (rest, part)."""
        rest, part = folding.stratified_split(strata(self.y, self.target, 2), fraction, seed)
        return self.subset(rest), self.subset(part)

    def statistics(self) -> dict[str, Any]:
        """Returns the columns of the paper's table and some more, as a dict."""
        sizes, edges = self.sizes, self.edge_counts
        return {
            "name": self.name,
            "graphs": len(self),
            "max_nodes": int(sizes.max()),
            "avg_nodes": float(sizes.mean()),
            "avg_edges": float(edges.mean() / 2),
            "avg_degree": float((edges / sizes).mean()),
            "edges_per_node": float(edges.sum() / sizes.sum()),
            "classes": self.num_classes,
            "class_counts": self._class_counts(),
            "features": self.num_features,
        }

    def _class_counts(self):
        if self.target.kind != "classes":
            return []
        return np.bincount(self.y[self.y != MISSING], minlength=self.num_classes).tolist()


def store_of(raw: RawGraphs, encoder: Encoder, y: np.ndarray) -> GraphStore:
    """The flat arrays of some graphs with their features and targets."""
    return GraphStore(encoder.apply(raw), raw.edges, raw.node_offsets, raw.edge_offsets, y, raw.edge_weights)


def numbered_classes(values: Sequence[int], num_classes: int | None) -> tuple[np.ndarray, Target]:
    """Targets of classes that are numbers already."""
    y = np.array(values, np.int32)
    width = max(int(y.max(initial=0)) + 1, 1) if num_classes is None else int(num_classes)
    if y.max(initial=0) >= width:
        raise DataFormatError(f"a graph has the class {y.max()}, but num_classes is {num_classes}")
    return y, Target("classes", tuple(range(width)), width)


def _one_target(value):
    """A graph's own target: a number, or a row of them; None where there is none."""
    if value is None or np.size(array := array_of(value)) == 0:
        return None
    return array.reshape(-1) if array.size > 1 else array.reshape(-1)[0]


def _graph(x, edges, y, edge_weights=None):
    """A `Graph` of arrays that are known to be right, without sorting and checking them again."""
    graph = object.__new__(Graph)
    for name, value in (("x", x), ("edges", edges), ("y", y), ("edge_weights", edge_weights)):
        object.__setattr__(graph, name, value)
    return graph
