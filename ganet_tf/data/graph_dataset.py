"""A data set of many graphs with one class each."""

import math
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ganet_tf.data import folds as folding
from ganet_tf.data.arrays import RawGraphs, offsets
from ganet_tf.data.batching import BatchPlan, GraphStore, batch_maker, make_batches
from ganet_tf.data.features import MAX_DEGREE, NodeFeatures, build_features
from ganet_tf.data.graph import Graph
from ganet_tf.data.networkx_graphs import read_networkx
from ganet_tf.errors import DataFormatError

if TYPE_CHECKING:
    import tensorflow as tf


class GraphDataset:
    """Graphs with a class each, kept as flat arrays; a sequence of `Graph` to the eye.

    Made by `ganet_tf.data.load`, `GraphDataset.from_graphs` or `GraphDataset.from_networkx`. Subsets and folds are
    `GraphDataset`s too and share the arrays of the whole.

    Args:
        store: The flat arrays.
        name: Name of the data set.
        indices: Which graphs of the store, in which order; all of them by default.
        num_classes: Number of classes; from the store's `y` by default.
        class_labels: The original class labels, in the order of the class numbers.
        published_folds: `PublishedFolds`, if there are any.

    Example:
    ```python
    ds = data.load("MUTAG")
    train, test = ds.fold(1)
    batches = train.batches(32, shuffle=True, seed=0)
    ```
    """

    def __init__(
        self,
        store: GraphStore,
        name: str = "graphs",
        indices: np.ndarray | None = None,
        num_classes: int | None = None,
        class_labels: Sequence[Hashable] | None = None,
        published_folds: folding.PublishedFolds | None = None,
    ):
        self._store = store
        self._indices = np.arange(len(store.y)) if indices is None else indices
        self._whole = indices is None
        self._published_folds = published_folds
        self.name = name
        self.num_classes = int(store.y.max(initial=0)) + 1 if num_classes is None else int(num_classes)
        self.class_labels = list(range(self.num_classes)) if class_labels is None else list(class_labels)

    @classmethod
    def from_graphs(
        cls, graphs: Iterable[Graph], name: str = "graphs", num_classes: int | None = None
    ) -> "GraphDataset":
        """Makes a data set of a list of `Graph`, all with the same number of features."""
        graphs = list(graphs)
        if not graphs:
            raise DataFormatError("graphs is empty: a data set needs at least one graph")
        widths = {graph.x.shape[1] for graph in graphs}
        if len(widths) > 1:
            raise DataFormatError(f"all graphs need the same number of features, but they have {sorted(widths)}")
        store = GraphStore(
            features=NodeFeatures.dense(np.concatenate([graph.x for graph in graphs])),
            edges=np.concatenate([graph.edges for graph in graphs]),
            node_offsets=offsets([len(graph.x) for graph in graphs]),
            edge_offsets=offsets([len(graph.edges) for graph in graphs]),
            y=np.array([graph.y for graph in graphs], np.int32),
        )
        if num_classes is not None and store.y.max() >= num_classes:
            raise DataFormatError(f"a graph has the class {store.y.max()}, but num_classes is {num_classes}")
        return cls(store, name, num_classes=num_classes)

    @classmethod
    def from_networkx(
        cls,
        graphs: Iterable[Any],
        labels: Sequence[Hashable] | None = None,
        features: str = "auto",
        name: str = "networkx",
        node_label: str = "label",
        node_attributes: str = "x",
        max_degree: int = MAX_DEGREE,
    ) -> "GraphDataset":
        """Makes a data set of networkx graphs.

        Undirected edges count in both directions, directed ones in theirs. Self-loops and parallel edges are dropped.

        Args:
            graphs: List of networkx graphs, each with at least one node.
            labels: Class of each graph, of any hashable type; `class_labels` of the result keeps the originals. None
                where they are unknown: then all are class 0.
            features: As in `ganet_tf.data.load`.
            name: Name of the data set.
            node_label: Node attribute with the node's label, for `features="labels"`.
            node_attributes: Node attribute with a number or a vector, for `features="attributes"`.
            max_degree: One-hot degrees of `max_degree` and more share a channel.

        Returns:
            `GraphDataset`.

        Raises:
            DataFormatError: If a graph has no nodes, some nodes lack an attribute that others have, or there are more
                or fewer labels than graphs.

        Example:
        ```python
        ds = GraphDataset.from_networkx([nx.path_graph(3), nx.cycle_graph(4)], ["path", "cycle"], features="degree")
        ds.class_labels, ds.y                     # ["cycle", "path"], [1, 0]
        ```
        """
        return cls.from_raw(read_networkx(graphs, labels, node_label, node_attributes), name, features, max_degree)

    @classmethod
    def from_raw(
        cls,
        raw: RawGraphs,
        name: str,
        features: str = "auto",
        max_degree: int = MAX_DEGREE,
        published_folds: folding.PublishedFolds | None = None,
    ) -> "GraphDataset":
        """Makes a data set of what a file says, with the node features that are asked for."""
        x = build_features(
            features,
            raw.degrees,
            raw.sizes,
            raw.node_labels,
            raw.node_label_counts,
            raw.node_attributes,
            max_degree,
        )
        store = GraphStore(x, raw.edges, raw.node_offsets, raw.edge_offsets, raw.y)
        labels = raw.class_labels.tolist() if isinstance(raw.class_labels, np.ndarray) else raw.class_labels
        return cls(store, name, None, len(labels), labels, published_folds)

    def __len__(self) -> int:
        return len(self._indices)

    def __getitem__(self, index: int | slice | ArrayLike) -> "Graph | GraphDataset":
        """A number gives a `Graph`; a slice, a list of numbers or a mask gives a `GraphDataset`."""
        if isinstance(index, slice) or np.ndim(index) == 1:
            return self.subset(index)
        if not -len(self) <= index < len(self):
            raise IndexError(f"graph {index} of {len(self)}")
        batch = self._store.collate(self._indices[[index]])
        return _graph(batch["x"], batch["edges"], int(self._store.y[self._indices[index]]))

    def __iter__(self) -> Iterator[Graph]:
        return (self[index] for index in range(len(self)))

    def __repr__(self):
        return (
            f"GraphDataset({self.name!r}, graphs={len(self)}, classes={self.num_classes}, "
            f"features={self.num_features} ({self._store.features.kind}))"
        )

    def subset(self, indices: slice | ArrayLike) -> "GraphDataset":
        """Returns the data set of some graphs: a slice, a list of numbers or a mask. The arrays are shared."""
        if not isinstance(indices, slice):
            indices = np.asarray(indices)
            indices = indices.astype(np.int64) if indices.size == 0 else indices
        return GraphDataset(self._store, self.name, self._indices[indices], self.num_classes, self.class_labels)

    @property
    def num_features(self) -> int:
        return self._store.features.width

    @property
    def features(self) -> str:
        """What the node features are: "labels", "degree", ..., or "given"."""
        return self._store.features.kind

    @property
    def y(self) -> np.ndarray:
        """Classes, int32 [graphs]."""
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

        "attributes" stands for the features that they have now. See `ganet_tf.data.features.build_features`.
        """
        everything = self.arrays()
        sizes, y = self.sizes, self.y
        degrees = np.bincount(everything["edges"][:, 1], minlength=len(everything["x"]))
        x = build_features(features, degrees, sizes, np.zeros((len(degrees), 0)), [], everything["x"], max_degree)
        edges = everything["edges"] - np.repeat(offsets(sizes)[:-1].astype(np.int32), self.edge_counts)[:, None]
        store = GraphStore(x, edges, offsets(sizes), offsets(self.edge_counts), y)
        folds = self._published_folds if self._whole else None
        return GraphDataset(store, self.name, None, self.num_classes, self.class_labels, folds)

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
    ) -> "tf.data.Dataset":
        """Makes a finite `tf.data.Dataset` of batches for `fit`, `evaluate` and `predict`.

        Args:
            batch_size: Number of graphs in a batch.
            shuffle: Whether to put the graphs in a new order each epoch.
            seed: Decides the orders: that of an epoch is a function of `(seed, epoch)` alone.
            drop_remainder: Whether to leave out a last batch that is not full.
            initial_epoch: Number of the first epoch. A run that resumes at epoch e passes e, and sees what
                it would have seen without the interruption. An epoch counts once its last batch was handed out.

        Returns:
            Dataset of `({"x" [N, F] float32, "edges" [E, 2] int32, "graph_ids" [N] int32}, y [B] int32)`, of known
            cardinality and prefetched.
        """
        plan = BatchPlan(self._indices, batch_size, shuffle, seed, drop_remainder)
        return make_batches(plan, self._store, initial_epoch)

    def numpy_batches(
        self,
        batch_size: int,
        shuffle: bool = False,
        seed: int = 0,
        drop_remainder: bool = False,
        epoch: int = 0,
    ) -> Iterator[tuple[dict[str, np.ndarray], np.ndarray]]:
        """Yields one epoch's batches as NumPy arrays, for a training loop of your own.

        They are those of `batches` in the same epoch; see there for the arguments.
        """
        plan = BatchPlan(self._indices, batch_size, shuffle, seed, drop_remainder)
        make_batch = batch_maker(plan, self._store)
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
        """Returns index arrays (train, test) of fold `index`, counted from 1; see `fold`."""
        if splits not in ("auto", "published", "stratified"):
            raise DataFormatError(f"splits must be 'auto', 'published' or 'stratified', but is {splits!r}")
        kind = splits
        if splits == "auto":
            kind = self.fold_kind if num_folds == 10 else "stratified"
        count = 10 if kind == "published" else num_folds
        if isinstance(index, bool) or int(index) != index or not 1 <= index <= count:
            raise DataFormatError(f"fold {index!r}: folds are numbered from 1 to {count}")
        if kind == "stratified":
            return folding.stratified_folds(self.y, num_folds, seed)[index - 1]
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
        rest, part = folding.stratified_split(self.y, fraction, seed)
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
            "class_counts": np.bincount(self.y, minlength=self.num_classes).tolist(),
            "features": self.num_features,
        }


def _graph(x, edges, y):
    """A `Graph` of arrays that are known to be right, without sorting and checking them again."""
    graph = object.__new__(Graph)
    for name, value in (("x", x), ("edges", edges), ("y", y)):
        object.__setattr__(graph, name, value)
    return graph
