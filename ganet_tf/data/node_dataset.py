"""A data set of one graph whose nodes have targets."""

import copy
import functools
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array

from ganet_tf.data import converters
from ganet_tf.data.arrays import array_of, ranges
from ganet_tf.data.batching import BatchPlan
from ganet_tf.data.features import MAX_DEGREE, Encoder, parts_of, save_encoding
from ganet_tf.data.graph import as_edges, as_features, as_weights, check_finite, weighted_edges
from ganet_tf.data.neighbor_lists import NeighborLists, as_array, name_of, open_array
from ganet_tf.data.sampling import NeighborSampler, as_fanout, make_sampled_batches, sampled_batch_maker
from ganet_tf.data.targets import MISSING, Target, is_missing, read_targets, strata
from ganet_tf.errors import DataFormatError, OutOfMemoryError
from ganet_tf.memory import available_memory
from ganet_tf.spelling import nearest

if TYPE_CHECKING:
    import scipy.sparse as sp
    import tensorflow as tf

SPLITS = ("train", "val", "test", "all")
CHECKED_ROWS = 2**16  # of features, that a check of all of them holds at a time


class NodeDataset:
    """One graph, a target for each node, and which nodes are for training, validation and testing.

    Args:
        adjacency: scipy sparse or dense matrix [N, N], entry (i, j) not 0 = an edge from i to j; or edges [E, 2] as
            pairs (source, target). An undirected graph has a symmetric matrix. Self-loops are dropped. Entries other
            than 1 are edge weights.
        x: Node features [N, F]. A scipy matrix stays sparse.
        y: Targets [N]: classes as numbers from 0, or of any other hashable type but float; floats, or rows of them
            [N, T]; see `Target`. A class of -1, and NaN, is unknown: such nodes may be in no mask.
        train_mask, val_mask, test_mask: Boolean [N], or node numbers. May be left out, then the split is empty.
        name: Name of the data set.
        num_classes: Number of classes; as many as occur by default.
        normalize_features: "row" divides each row of `x` by its sum (rows of zeros stay), None leaves it.
        edge_weights: A number from 0 for each of the edges, where `adjacency` is a list of them.
        graph_ids: For several graphs without an edge between them: the graph of each node, ascending from 0.
        published: (train, val, test) booleans [S, N] of S published splits; without masks the first one is taken.

    Attributes:
        target, encoder, class_labels, num_classes: As in `GraphDataset`.
        num_splits: How many published splits there are.

    Example:
    ```python
    edges = [[0, 1], [1, 0], [1, 2], [2, 1]]
    ds = NodeDataset(edges, np.eye(3), ["red", "red", "blue"], train_mask=[0, 2], test_mask=[1])
    ds.y, ds.class_labels                     # [1, 1, 0], ["blue", "red"]
    ```
    """

    def __init__(
        self,
        adjacency: "ArrayLike | sp.sparray | sp.spmatrix",
        x: "ArrayLike | sp.sparray | sp.spmatrix",
        y: ArrayLike,
        train_mask: ArrayLike | None = None,
        val_mask: ArrayLike | None = None,
        test_mask: ArrayLike | None = None,
        name: str = "nodes",
        num_classes: int | None = None,
        normalize_features: str | None = None,
        edge_weights: ArrayLike | None = None,
        graph_ids: ArrayLike | None = None,
        published: Sequence[ArrayLike] | None = None,
    ):
        self.x = normalized(sparse_features(x) if hasattr(x, "tocsr") else as_features(x), normalize_features)
        self.num_nodes, self.num_features = self.x.shape
        if self.num_nodes == 0:
            raise DataFormatError("the graph has no nodes: x has 0 rows")
        edges, weights = edges_of(adjacency, self.num_nodes, edge_weights)
        self.edges, self.edge_weights = weighted_edges(edges, weights, self.num_nodes)
        self.y, self.target = node_targets(y, self.num_nodes, num_classes)
        self.num_classes, self.class_labels = self.target.width, list(self.target.labels)
        self.encoder = Encoder("given", num_attributes=self.num_features)
        self.name = name
        self.graph_ids = None if graph_ids is None else as_graph_ids(graph_ids, self.edges, self.num_nodes)
        self._published = None if published is None else as_published(published, self.num_nodes)
        masks = (train_mask, val_mask, test_mask)
        if published is not None and all(mask is None for mask in masks):
            masks = self._published[:, 0]
        self._set_masks(*masks)

    @property
    def num_splits(self) -> int:
        """How many published splits there are; 0 where the data set has none."""
        return 0 if self._published is None else self._published.shape[1]

    def published_split(self, number: int) -> "NodeDataset":
        """Returns the same graph with one of its published splits, numbered from 1."""
        if not 1 <= number <= self.num_splits:
            raise DataFormatError(f"{self.name} has {self.num_splits} published splits, numbered from 1, not {number}")
        other = copy.copy(self)
        other._set_masks(*self._published[:, number - 1])
        return other

    def _set_masks(self, train, val, test):
        self._split_nodes = {}
        for split, mask in (("train", train), ("val", val), ("test", test)):
            setattr(self, f"{split}_mask", as_mask(mask, self.num_nodes, f"{split}_mask"))
            self._check_known(getattr(self, f"{split}_mask"), f"{split}_mask")

    def _check_known(self, nodes, name):
        y = self.y[nodes]
        if y.ndim == 1 and len(y) and not MISSING <= y.min() <= y.max() < self.num_classes:
            self._refuse_classes(y)
        unknown = y == MISSING if y.ndim == 1 else np.isnan(y).all(axis=1)
        if unknown.any():
            raise DataFormatError(f"{name} has {unknown.sum()} nodes whose target is unknown; leave them out")

    @classmethod
    def from_networkx(
        cls,
        graph: Any,
        y: str = "y",
        split: str = "split",
        features: str = "auto",
        name: str = "networkx",
        node_label: str = "label",
        node_attributes: str = "x",
        edge_weight: str | None = "weight",
        max_degree: int = MAX_DEGREE,
        unknown: str = "error",
        like: Any = None,
    ) -> "NodeDataset":
        """Makes a data set of one networkx graph.

        Args:
            graph: The graph; an undirected edge counts in both directions.
            y: Node attribute with the node's target; nodes without it are unknown.
            split: Node attribute with "train", "val" or "test"; nodes without it are in no split.
            features: "labels", "attributes", "degree" (one-hot), "normalized_degree", "constant", a sum such as
                "labels+degree", or "auto": labels and attributes where nodes have them, else the normalised degree.
            name: Name of the data set.
            node_label: Node attribute with the node's label, for `features="labels"`.
            node_attributes: Node attribute with a number or a vector, for `features="attributes"`.
            edge_weight: Edge attribute with a number from 0; edges without it have 1. None leaves weights out.
            max_degree: One-hot degrees of `max_degree` and more share a channel.
            unknown: What a node label means later, in a graph made `like` this, if it did not occur here: "error", or
                "other", which is one more channel.
            like: A data set, its `encoder`, or the path of a file that `save_encoder` or a run wrote: nodes get
                features, and class numbers, as they have there.

        Example:
        ```python
        graph = nx.karate_club_graph()
        ds = NodeDataset.from_networkx(graph, y="club", features="degree").random_split(seed=0)
        ```
        """
        raw = converters.from_networkx([graph], node_label, node_attributes, edge_weight, (y, split))
        rows = [values for _, values in graph.nodes(data=True)]
        labels, splits = [row.get(y) for row in rows], [row.get(split) for row in rows]
        return cls._of_users(raw, labels, splits, name, features, max_degree, unknown, like)

    @classmethod
    def from_edge_index(
        cls,
        edge_index: ArrayLike,
        x: ArrayLike,
        y: ArrayLike,
        train_mask: ArrayLike | None = None,
        val_mask: ArrayLike | None = None,
        test_mask: ArrayLike | None = None,
        edge_weights: ArrayLike | None = None,
        **options: Any,
    ) -> "NodeDataset":
        """Makes a data set of an edge index [2, E], a row of sources and a row of targets, as PyG and OGB have it.

        Args:
            edge_index: Array [2, E].
            edge_weights: Weights of its edges [E], or None.
            x: Features [N, F], an array or a scipy sparse matrix.
            y: Targets [N]: class numbers or names, -1 where unknown; floats for regression; [N, T] of 0 and 1 for
                several labels.
            train_mask, val_mask, test_mask: Boolean masks [N] or node numbers of the three splits, or None.
            **options: `name`, `num_classes` and the other arguments of `NodeDataset`.

        Example:
        ```python
        ds = NodeDataset.from_edge_index([[0, 1, 1, 2], [1, 0, 2, 1]], np.eye(3), [0, 1, 1], train_mask=[0, 1])
        ```
        """
        masks = [None if mask is None else array_of(mask) for mask in (train_mask, val_mask, test_mask)]
        weights = None if edge_weights is None else array_of(edge_weights)
        x = x if hasattr(x, "tocsr") else array_of(x)
        pairs = PairList(converters.pairs_of(edge_index))
        return cls(pairs, x, _targets(y), *masks, edge_weights=weights, **options)

    @classmethod
    def from_pyg(cls, item: Any, **options: Any) -> "NodeDataset":
        """Makes a data set of one of PyG's `Data` objects, or of a dict with its fields.

        `x`, `edge_index`, `edge_weight`, `y` and the three masks are read; masks [N, S] are S published splits.
        `edge_attr` is left aside, with a word.

        Example:
        ```python
        ds = NodeDataset.from_pyg(Planetoid("data", "Cora")[0])
        ```
        """
        parts = [converters.field(item, *names) for names in (("edge_index",), ("x", "node_feat"), ("y",))]
        if any(part is None for part in parts):
            raise DataFormatError(f"a {type(item).__name__} needs edge_index, x and y")
        converters.say_left_aside("edge_attr", converters.field(item, "edge_attr", "edge_feat") is not None)
        masks = [converters.field(item, f"{split}_mask") for split in ("train", "val", "test")]
        if all(np.ndim(mask) == 2 for mask in masks):  # a column for each published split
            options["published"], masks = [array_of(mask).T.astype(bool) for mask in masks], [None] * 3
        return cls.from_edge_index(*parts, *masks, converters.field(item, "edge_weight"), **options)

    @classmethod
    def from_dgl(
        cls, graph: Any, node_attributes: str = "feat", y: str = "label", edge_weight: str = "weight", **options: Any
    ) -> "NodeDataset":
        """Makes a data set of one of DGL's graphs.

        Args:
            graph: The graph, with features, targets and masks (`train_mask`, ...) in `ndata`.
            node_attributes, y: Names in `ndata`.
            edge_weight: Name in `edata`.
            **options: Further arguments of `NodeDataset`.

        Example:
        ```python
        ds = NodeDataset.from_dgl(dgl.data.CoraGraphDataset()[0])
        ```
        """
        index = converters.dgl_edges(graph, edge_weight)
        for needed in (node_attributes, y):
            if needed not in graph.ndata:
                raise DataFormatError(f"ndata has no {needed!r}; it has {', '.join(graph.ndata)}")
        masks = [converters.field(graph.ndata, f"{split}_mask") for split in ("train", "val", "test")]
        weights = converters.field(graph.edata, edge_weight)
        return cls.from_edge_index(index, graph.ndata[node_attributes], graph.ndata[y], *masks, weights, **options)

    @classmethod
    def from_pandas(
        cls,
        edges: Any,
        nodes: Any,
        source: str = "source",
        target: str = "target",
        node: str = "node",
        y: str = "y",
        split: str = "split",
        node_label: str = "label",
        edge_weight: str = "weight",
        directed: bool = False,
        features: str = "auto",
        name: str = "nodes",
        max_degree: int = MAX_DEGREE,
        unknown: str = "error",
        like: Any = None,
    ) -> "NodeDataset":
        """Makes a data set of two tables: pandas frames, dicts of columns, or paths of CSV files.

        Args:
            edges: A row for each edge: its source, target and, where there is one, weight.
            nodes: A row for each node: its name, its target, its split and label where there are any, and numbers as
                attributes. An empty target is unknown.
            source, target, edge_weight: Columns of `edges`.
            node, y, split, node_label: Columns of `nodes`.
            directed: Whether edges hold in the direction that is given alone.
            features, name, max_degree, unknown, like: As in `GraphDataset.from_networkx`.

        Example:
        ```python
        nodes = {"node": ["a", "b", "c"], "y": ["red", "blue", "red"], "age": [1.0, 2.0, 3.0]}
        ds = NodeDataset.from_pandas({"source": ["a", "b"], "target": ["b", "c"]}, nodes)
        ```
        """
        edges, nodes = converters.table(edges), converters.table(nodes)
        raw, _, order = converters.from_tables(
            edges, nodes, None, source, target, node, node_label, edge_weight, directed, (y, split)
        )
        labels, splits = (converters.typed_column(nodes, column, order) for column in (y, split))
        return cls._of_users(raw, labels, splits, name, features, max_degree, unknown, like)

    @classmethod
    def from_npz(
        cls, path: str | os.PathLike, name: str | None = None, labelled: bool = True, **options: Any
    ) -> "NodeDataset":
        """Reads an `.npz` file of one graph; with `labelled=False` without its targets and splits.

        | array | what | |
        |---|---|---|
        | `edges` [E, 2], or `edge_index` [2, E] | node numbers from 0 | needed |
        | `x` [N, F], or `x_data`, `x_indices`, `x_indptr`, `x_shape` | features, dense or as a CSR matrix | needed |
        | `y` [N] or [N, T] | targets; -1 or NaN where they are unknown | needed |
        | `train_mask`, `val_mask`, `test_mask` | booleans [N] or node numbers | |
        | `edge_weights` [E] | | |

        Example:
        ```python
        np.savez("mine.npz", edges=[[0, 1], [1, 0]], x=np.eye(2), y=[0, 1], train_mask=[0], test_mask=[1])
        ds = NodeDataset.from_npz("mine.npz")
        ```
        """
        arrays = converters.read_npz(path)
        x = converters.matrix_in(arrays, str(path))
        if "y" not in arrays and labelled:
            raise DataFormatError(f"{path} has no array 'y'; it has {', '.join(arrays)}")
        y = arrays["y"] if labelled else np.full(x.shape[0], MISSING)
        masks = [arrays.get(f"{split}_mask") if labelled else None for split in ("train", "val", "test")]
        pairs = PairList(converters.edges_in(arrays, str(path)))
        parts = {f"x_{part}" for part in ("data", "indices", "indptr", "shape")}
        known = {"edges", "edge_index", "x", "y", "edge_weights", "train_mask", "val_mask", "test_mask", *parts}
        converters.say_unread(arrays, known, str(path))
        weights = arrays.get("edge_weights")
        return cls(pairs, x, y, *masks, name=name or Path(path).stem, edge_weights=weights, **options)

    @classmethod
    def from_csr(
        cls,
        indptr: ArrayLike | str | os.PathLike,
        indices: ArrayLike | str | os.PathLike,
        x: ArrayLike | str | os.PathLike,
        y: ArrayLike | str | os.PathLike,
        train: ArrayLike | None = None,
        val: ArrayLike | None = None,
        test: ArrayLike | None = None,
        check: bool = False,
        name: str = "nodes",
        num_classes: int | None = None,
        edge_weights: ArrayLike | str | os.PathLike | None = None,
    ) -> "NodeDataset":
        """Makes a data set of neighbour lists in compressed rows, for graphs that are larger than the memory.

        Nothing is copied, sorted or looked through: memory maps stay memory maps, and opening takes the same moment
        for any number of edges and features. `sampled_batches` and `models.predict_layerwise` then read what they
        need. `python -m ganet_tf.data.convert` makes such files. What is wrong in the files is found when a sample
        meets it, or by `check=True` at once.

        Args:
            indptr: [N + 1] integers: the neighbours of node i, those that send to it, are
                `indices[indptr[i] : indptr[i + 1]]`. It is the same for an undirected graph, whose edges stand in both
                directions; for a directed one it is the transposed matrix (DGL's "csc").
            indices: [E] node numbers, ascending in each list, each once, without the node itself.
            x: Features [N, F] of any type of number; a batch is float32.
            y: Targets [N]: classes from 0, -1 where unknown; others as in `NodeDataset`, and then copied.
            train, val, test: Node numbers, or booleans [N].
            check: Whether to look through everything, as other ways in do.
            name: Name of the data set.
            num_classes: Number of classes; without it a pass over `y` finds out.
            edge_weights: [E], or None.

        Each array may be the path of an .npy file, which is then mapped.

        Raises:
            DataFormatError: If the arrays do not belong together, a file is truncated, or, where it is looked at, has
                something else than expected: names the file.

        Example:
        ```python
        ds = NodeDataset.from_csr("indptr.npy", "indices.npy", "x.npy", "y.npy", train=np.load("train.npy"))
        model.fit(ds.sampled_batches([10, 5], 512, shuffle=True), epochs=3)
        ```
        """
        self = cls.__new__(cls)
        self.graph_ids = self._published = None
        weights = None if edge_weights is None else as_array(edge_weights)
        self.neighbors = NeighborLists(as_array(indptr), as_array(indices), weights)
        self.x, y = as_array(x), as_array(y)
        self.num_nodes, self.edge_weights, self.name = self.neighbors.num_nodes, self.neighbors.edge_weights, name
        for array, what in ((self.x, name_of(self.x, "x")), (y, name_of(y, "y"))):
            if array.ndim == 0 or len(array) != self.num_nodes:
                raise DataFormatError(
                    f"{what} has the shape {array.shape}, but {self.neighbors.names['indptr']} is of "
                    f"{self.num_nodes} nodes: they must have one row for each"
                )
        if self.num_nodes == 0 or self.x.ndim != 2 or self.x.dtype.kind not in "fiub":
            raise DataFormatError(
                f"{name_of(self.x, 'x')} must hold numbers [nodes, features], but is {self.x.dtype} {self.x.shape}"
            )
        self.num_features = self.x.shape[1]
        self.y, self.target = mapped_targets(y, num_classes)
        self.num_classes, self.class_labels = self.target.width, list(self.target.labels)
        self.encoder = Encoder("given", num_attributes=self.num_features)
        parts = {"train": train, "val": val, "test": test}
        self._split_nodes = {split: node_numbers(part, self.num_nodes, split) for split, part in parts.items()}
        for split, nodes in self._split_nodes.items():
            self._check_known(nodes, split)
        if check:
            self.check()
        return self

    @classmethod
    def from_folder(cls, folder: str | os.PathLike, check: bool = False, labelled: bool = True) -> "NodeDataset":
        """Opens a folder that `python -m ganet_tf.data.convert` made: arrays of `from_csr`, opened as memory maps.

        With `labelled=False` it is opened without its targets and splits, which may be missing then.

        | file | what |
        |---|---|
        | `indptr.npy` [N + 1], `indices.npy` [E] | neighbour lists |
        | `x.npy` [N, F], `y.npy` [N] | features and targets |
        | `train.npy`, `val.npy`, `test.npy` | node numbers; may be missing |
        | `edge_weights.npy` [E] | may be missing |
        | `graph.json` | `num_classes`, which saves a pass over the targets; may be missing |
        """
        folder = Path(folder)
        splits = ("train", "val", "test") if labelled else ()
        optional = {name: folder / f"{name}.npy" for name in (*splits, "edge_weights")}
        found = {name: open_array(path) for name, path in optional.items() if path.is_file()}
        indptr, indices, x, y = (folder / f"{name}.npy" for name in ("indptr", "indices", "x", "y"))
        classes = described(folder / "graph.json").get("num_classes")
        if not labelled:
            y, classes = np.full(len(open_array(x)), MISSING), 1
        return cls.from_csr(indptr, indices, x, y, check=check, name=folder.name, num_classes=classes, **found)

    def check(self) -> None:
        """Looks through all edges, features and targets of a data set `from_csr`: raises DataFormatError."""
        self.neighbors.check()
        for start in range(0, self.num_nodes, CHECKED_ROWS):
            check_finite(np.asarray(self.x[start : start + CHECKED_ROWS], np.float32), name_of(self.x, "x"))
        if self.y.ndim == 1 and not MISSING <= self.y.min() <= self.y.max() < self.num_classes:
            self._refuse_classes(self.y)

    def _refuse_classes(self, y):
        raise DataFormatError(
            f"{name_of(self.y, 'y')} must hold classes below {self.num_classes} (-1 where unknown), but has {y.min()} "
            f"to {y.max()}"
        )

    @functools.cached_property
    def neighbors(self) -> NeighborLists:
        """The neighbour lists, which all samplers of this graph share."""
        return NeighborLists.from_edges(self.edges, self.num_nodes, self.edge_weights)

    @functools.cached_property
    def edges(self) -> np.ndarray:
        """Edges (source, target), int32 [E, 2], sorted by (target, source)."""
        return self.neighbors.edges()

    @property
    def num_edges(self) -> int:
        """Number of directed edges."""
        return len(self.edges) if "edges" in self.__dict__ else self.neighbors.num_edges

    @functools.cached_property
    def train_mask(self) -> np.ndarray:
        """Which nodes are for training, boolean [N]."""
        return as_mask(self._split_nodes["train"], self.num_nodes, "train")

    @functools.cached_property
    def val_mask(self) -> np.ndarray:
        """Which nodes are for validation, boolean [N]."""
        return as_mask(self._split_nodes["val"], self.num_nodes, "val")

    @functools.cached_property
    def test_mask(self) -> np.ndarray:
        """Which nodes are for testing, boolean [N]."""
        return as_mask(self._split_nodes["test"], self.num_nodes, "test")

    @classmethod
    def _of_users(cls, raw, labels, splits, name, features, max_degree, unknown, like):
        """A data set of a user's own graph, fitted on it or made like another."""
        encoder, target = parts_of(like)
        if encoder is None:
            encoder = Encoder.fit(raw, converters.all_features(features, raw), max_degree, unknown)
        x = encoder.apply(raw).take(np.arange(len(raw.degrees)))
        y, target = read_targets(labels, len(x), target, "nodes")
        masks = split_masks(splits) if like is None else [None] * 3  # new nodes are predicted, whatever was theirs
        dataset = cls(PairList(raw.edges), x, y, *masks, name=name, edge_weights=raw.edge_weights)
        dataset.encoder, dataset.target = encoder, target
        dataset.num_classes, dataset.class_labels = target.width, list(target.labels)
        return dataset

    def random_split(
        self, train: float = 0.6, val: float = 0.2, test: float | None = None, seed: int = 0
    ) -> "NodeDataset":
        """Returns the same graph with its nodes cut at random into three splits.

        Args:
            train, val, test: Shares of the nodes whose target is known, or whole numbers of nodes. `test` takes the
                rest by default.
            seed: Decides the splits.

        Example:
        ```python
        ds = data.load("Karate").random_split(0.5, 0.25, seed=1)
        ```
        """
        return self._split(np.zeros(self.num_nodes, np.int64), train, val, test, seed)

    def stratified_split(
        self, train: float = 0.6, val: float = 0.2, test: float | None = None, seed: int = 0
    ) -> "NodeDataset":
        """Returns the same graph with its nodes cut into three splits with like shares of the classes, or of a range.

        Args:
            train, val, test: Shares of the nodes whose target is known, or whole numbers of nodes. `test` takes the
                rest by default.
            seed: Decides the splits.
        """
        return self._split(strata(self.y, self.target, 3), train, val, test, seed)

    def _split(self, groups, train, val, test, seed):
        known = self.y != MISSING if self.y.ndim == 1 else ~np.isnan(self.y).all(axis=1)
        nodes = np.flatnonzero(known)
        counts = split_counts(len(nodes), train, val, test)
        rng = np.random.default_rng(seed)
        order = rng.permutation(nodes)
        # Spread each group evenly over (0, 1); each piece of that line then has its share of every group.
        place = np.empty(self.num_nodes)
        members = order[np.argsort(groups[order], kind="stable")]
        sizes = np.unique(groups[nodes], return_counts=True)[1]
        numbers = ranges(np.zeros(len(sizes)), sizes) + np.repeat(rng.random(len(sizes)), sizes)
        place[members] = numbers / np.repeat(sizes, sizes)
        ranked = order[np.argsort(place[order], kind="stable")]
        other = copy.copy(self)
        other._published = None
        other._set_masks(*(np.sort(part) for part in np.split(ranked[: sum(counts)], np.cumsum(counts)[:-1])))
        return other

    def save_encoder(self, path: str | os.PathLike) -> None:
        """Writes how features and targets were made as JSON, for example beside a model: `like=` takes the file.

        Example:
        ```python
        model.save("model.keras"), train.save_encoder("encoder.json")
        new = NodeDataset.from_networkx(new_graph, like="encoder.json")
        ```
        """
        save_encoding(path, self)

    def __len__(self) -> int:
        return self.num_nodes

    def __repr__(self):
        parts = "/".join(str(len(self.nodes(split))) for split in ("train", "val", "test"))
        return (
            f"NodeDataset({self.name!r}, nodes={self.num_nodes}, edges={self.num_edges}, "
            f"{self.target.kind}={self.num_classes}, features={self.num_features}, train/val/test={parts})"
        )

    @property
    def weighted(self) -> bool:
        """Whether edges have weights."""
        return self.edge_weights is not None

    @property
    def nonzero_share(self) -> float:
        """Share of the features that are not 0: where it is small, sparse batches are quicker."""
        count = self.x.nnz if hasattr(self.x, "nnz") else np.count_nonzero(self.x)
        return count / max(self.num_nodes * self.num_features, 1)

    def nodes(self, split: str) -> np.ndarray:
        """Returns the node numbers of a split, int32; "all" is every node."""
        if split not in SPLITS:
            raise DataFormatError(f"there is no split {split!r}{nearest(split, SPLITS)}; there are {', '.join(SPLITS)}")
        if split == "all":
            return np.arange(self.num_nodes, dtype=np.int32)
        if split in self._split_nodes:
            return self._split_nodes[split]
        return np.flatnonzero(getattr(self, f"{split}_mask")).astype(np.int32)

    def with_features(self, features: str, max_degree: int = MAX_DEGREE) -> "NodeDataset":
        """Returns the same graph with other node features: "degree", "attributes+degree", ...

        "attributes" stands for the features that it has now. See `ganet_tf.data.features.Encoder`.
        """
        x = self.x.toarray() if hasattr(self.x, "toarray") else self.x
        raw = converters.assemble([self.edges], [self.num_nodes], [self.edge_weights], None, x)
        encoder = Encoder.fit(raw, features, max_degree, self.encoder.unknown)
        other = copy.copy(self)
        other.x = encoder.apply(raw).take(np.arange(self.num_nodes))
        other.num_features = other.x.shape[1]
        other.encoder = encoder.after(self.encoder)
        return other

    def with_targets(self, y: Sequence[Any]) -> "NodeDataset":
        """Returns the same graph with other targets, one for each node: classes, floats, or rows of 0 and 1."""
        other = copy.copy(self)
        other.y, other.target = node_targets(y, self.num_nodes, None)
        other.num_classes, other.class_labels = other.target.width, list(other.target.labels)
        other._set_masks(self.train_mask, self.val_mask, self.test_mask)
        return other

    def batches(
        self, split: str = "train", sample_weight: bool = False, sparse: bool | None = None
    ) -> "tf.data.Dataset":
        """Makes a `tf.data.Dataset` of one element: the whole graph, with the nodes of one split to be predicted.

        Args:
            split: "train", "val", "test" or "all".
            sample_weight: False: `({"x", "edges", "nodes" [n] int32}, y [n])`; a model puts out logits for `nodes`
                only, so that plain losses and metrics are right. True: `({"x", "edges"}, y [N], weights [N])`, for
                models that know nothing of `nodes`; the loss then needs `reduction="mean_with_sample_weight"`, and
                metrics belong into `weighted_metrics`.
            sparse: Whether "x" comes as a `tf.SparseTensor`. The models here take it, and are several times quicker
                with it where most features are 0, as in bags of words. By default it does where `x` is sparse.

        Returns:
            Dataset of cardinality 1. A graph with edge weights has "edge_weights" [E] float32 among its inputs,
            several graphs have "graph_ids" [N] int32.
        """
        import tensorflow as tf  # here, so that data can be read and looked at without it

        nodes = self.nodes(split)
        if len(nodes) == 0:
            raise DataFormatError(f"the split {split!r} of {self.name} has no nodes: give {split}_mask")
        is_sparse = hasattr(self.x, "toarray")
        if sparse or (sparse is None and is_sparse):
            x = sparse_tensor(self.x)
        else:
            x = self.x.toarray() if is_sparse else in_memory(self.x)
        inputs = {"x": x, "edges": self.edges}
        if self.edge_weights is not None:
            inputs["edge_weights"] = self.edge_weights
        if self.graph_ids is not None:
            inputs["graph_ids"] = self.graph_ids
        if sample_weight:
            weights = np.zeros(self.num_nodes, np.float32)
            weights[nodes] = 1
            y = np.maximum(self.y, 0) if self.y.ndim == 1 else self.y
            return tf.data.Dataset.from_tensors((inputs, y, weights))
        y = self.y[nodes] if self.y.ndim > 1 else self.y[nodes].astype(np.int32, copy=False)
        return tf.data.Dataset.from_tensors(({**inputs, "nodes": nodes}, y))

    def sampled_batches(
        self,
        fanout: int | Sequence[int | None] | None,
        batch_size: int,
        split: str = "train",
        shuffle: bool = False,
        seed: int = 0,
        hops: int = 2,
        drop_remainder: bool = False,
        initial_epoch: int = 0,
        share: tuple[int, int] | None = None,
    ) -> "tf.data.Dataset":
        """Makes a `tf.data.Dataset` of sub-graphs: some nodes of a split to be predicted, and sampled neighbours.

        For graphs that are too large for a step on the whole. See `docs/large-graphs.md` for how many hops a model
        looks at, and `models.predict_layerwise` for exact predictions of all nodes.

        Args:
            fanout: Neighbours to draw for a node: one number for each hop, or one for all. None or -1: all of them.
            batch_size: Nodes to be predicted in a batch; the last one may have fewer.
            split: "train", "val", "test" or "all".
            shuffle: Whether each epoch has an order of its own. Neighbours are drawn again in each epoch in any case.
            seed: Decides the orders and the neighbours, together with the epoch's number.
            hops: Number of hops, where `fanout` is one number.
            drop_remainder: Whether to leave out a last, smaller batch.
            initial_epoch: The epoch to begin with, where an interrupted training resumes.
            share: (index, count): one worker's part of the nodes to be predicted, with its weights as third element,
                as in `GraphDataset.batches`. Each worker draws neighbours of its own.

        Returns:
            Dataset of known cardinality with elements as in `batches`: `({"x", "edges", "nodes" [n]}, y [n])`, where
            `edges` and `nodes` are numbers within the sub-graph.
        """
        sampler, plan = self._sampling(fanout, hops, split, (batch_size, shuffle, seed, drop_remainder))
        return make_sampled_batches(sampler, plan, initial_epoch, share)

    def sampled_numpy_batches(
        self,
        fanout: int | Sequence[int | None] | None,
        batch_size: int,
        split: str = "train",
        shuffle: bool = False,
        seed: int = 0,
        hops: int = 2,
        drop_remainder: bool = False,
        epoch: int = 0,
        share: tuple[int, int] | None = None,
        first: int = 0,
    ) -> Iterator[tuple]:
        """Yields one epoch's batches of `sampled_batches` as NumPy arrays, from batch number `first` on."""
        sampler, plan = self._sampling(fanout, hops, split, (batch_size, shuffle, seed, drop_remainder))
        make_batch = sampled_batch_maker(sampler, plan, share)
        for step in range(first, plan.num_batches):
            yield make_batch(epoch, step)

    def _sampling(self, fanout, hops, split, plan):
        """The sampler of this graph for a fanout, and the plan of a split's batches."""
        seeds = self.nodes(split)
        if len(seeds) == 0:
            raise DataFormatError(f"the split {split!r} of {self.name} has no nodes: give {split}_mask")
        return NeighborSampler(self.x, self.neighbors, self.y, as_fanout(fanout, hops)), BatchPlan(seeds, *plan)

    def statistics(self) -> dict[str, Any]:
        """Returns the columns of the paper's table and some more, as a dict."""
        return {
            "name": self.name,
            "nodes": self.num_nodes,
            "features": self.num_features,
            **{split: len(self.nodes(split)) for split in ("train", "val", "test")},
            "edges": self.num_edges // 2,
            "avg_degree": self.num_edges / self.num_nodes,
            "classes": self.num_classes,
        }


class PairList:
    """Pairs (source, target) [E, 2] that are known to be such: two nodes and two edges would look like a matrix."""

    def __init__(self, pairs: np.ndarray):
        self.pairs = pairs


def sparse_tensor(x: "np.ndarray | sp.csr_array") -> "tf.SparseTensor":
    """Returns the `tf.SparseTensor` of a matrix, in canonical order."""
    import tensorflow as tf

    if hasattr(x, "tocoo"):
        parts = x.tocoo()
        return tf.SparseTensor(np.stack([parts.row, parts.col], axis=1).astype(np.int64), parts.data, x.shape)
    places = np.argwhere(x)
    return tf.SparseTensor(places, x[tuple(places.T)], x.shape)


def sparse_features(x: "sp.sparray | sp.spmatrix") -> "sp.csr_array":
    """Returns sparse features as a CSR matrix of float32, sorted and without zeros; refuses NaN and infinity."""
    x = csr_array(x, dtype=np.float32, copy=True)
    x.sum_duplicates()
    x.eliminate_zeros()
    if not np.isfinite(x.data).all():
        row = int(np.searchsorted(x.indptr, (~np.isfinite(x.data)).argmax(), side="right")) - 1
        raise DataFormatError(f"x has NaN or infinite values, the first in row {row}; replace them or drop those nodes")
    return x


def edges_of(
    adjacency: "ArrayLike | sp.sparray | sp.spmatrix", num_nodes: int, edge_weights: ArrayLike | None = None
) -> tuple[np.ndarray, np.ndarray | None]:
    """Returns the pairs (source, target) and weights of a sparse or dense matrix, or of an edge list."""
    if isinstance(adjacency, PairList):
        return adjacency.pairs, as_weights(edge_weights, len(adjacency.pairs))
    if hasattr(adjacency, "tocoo"):
        matrix = adjacency.tocoo()
        shape, entries = matrix.shape, matrix.data
        edges = np.stack([matrix.row, matrix.col], axis=1)[entries != 0]
    else:
        array = np.asarray(adjacency)
        is_list = array.ndim == 2 and array.shape[1] == 2 and array.shape != (num_nodes, num_nodes)
        if is_list or array.size == 0:
            edges = as_edges(array, "adjacency")
            return edges, as_weights(edge_weights, len(edges))
        shape, entries = array.shape, array[array != 0] if array.ndim == 2 else array
        edges = np.argwhere(array != 0)
    if shape != (num_nodes, num_nodes):
        hint = "; an edge_index [2, E] goes to NodeDataset.from_edge_index" if len(shape) == 2 and shape[0] == 2 else ""
        raise DataFormatError(f"adjacency has the shape {shape}, but x has {num_nodes} rows: [N, N] is expected{hint}")
    if edge_weights is not None:
        raise DataFormatError("edge_weights belong to a list of edges; a matrix has its weights as entries")
    entries = entries[entries != 0]
    if (entries == 1).all():
        return edges, None
    return edges, as_weights(entries, len(edges), "adjacency")


def node_targets(y: ArrayLike, num_nodes: int, num_classes: int | None) -> tuple[np.ndarray, Target]:
    """Returns targets of nodes; integers are class numbers already."""
    values = np.asarray(y) if not isinstance(y, list) or len({type(value) for value in y}) == 1 else np.empty(0, object)
    if values.dtype.kind not in "iub" or values.ndim != 1:
        return read_targets(list(y), num_nodes, None, "nodes")
    if values.shape != (num_nodes,):
        raise DataFormatError(
            f"y must have one class for each of the {num_nodes} nodes, but its shape is {values.shape}"
        )
    if values.min() < MISSING:
        raise DataFormatError(f"y must hold class numbers, integers from 0 (-1 where unknown), but has {values.min()}")
    width = max(int(values.max()) + 1, 1) if num_classes is None else int(num_classes)
    if values.max() >= width:
        raise DataFormatError(f"a node has the class {values.max()}, but num_classes is {width}")
    return values.astype(np.int32), Target("classes", tuple(range(width)), width)


def mapped_targets(y: np.ndarray, num_classes: int | None) -> tuple[np.ndarray, Target]:
    """Targets as they are, where they are classes; others are read as those of `NodeDataset` are."""
    if y.dtype.kind not in "iu" or y.ndim != 1:
        return node_targets(y, len(y), num_classes)
    width = max(int(y.max()) + 1, 1) if num_classes is None else int(num_classes)
    return y, Target("classes", tuple(range(width)), width)


def described(path: Path) -> dict[str, Any]:
    """What graph.json says; nothing where there is none."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise DataFormatError(f"{path} cannot be read: {error}") from error
    classes = content.get("num_classes") if isinstance(content, dict) else 0
    if classes is not None and (not isinstance(classes, int) or not 1 <= classes < 2**31):
        raise DataFormatError(f"{path}: num_classes must be a whole number from 1")
    return content


def node_numbers(part: ArrayLike | None, num_nodes: int, split: str) -> np.ndarray:
    """Returns the node numbers of a split, int32, from numbers or booleans; None is the empty split."""
    part = np.zeros(0, np.int32) if part is None else as_booleans(np.asarray(part), num_nodes)
    if part.dtype == bool:
        part = np.flatnonzero(as_mask(part, num_nodes, split))
    if part.dtype.kind not in "iu" or part.ndim != 1 or (part.size and not 0 <= part.min() <= part.max() < num_nodes):
        raise DataFormatError(
            f"{split} must be node numbers below {num_nodes} or booleans [{num_nodes}], but is {part.dtype} of shape "
            f"{part.shape}"
        )
    part = part.astype(np.int32)
    part.sort()
    if (part[1:] == part[:-1]).any():
        raise DataFormatError(f"{split} names node {part[1:][part[1:] == part[:-1]][0]} more than once")
    return part


def in_memory(x: np.ndarray) -> np.ndarray:
    """Features as float32 in memory, for a step on the whole graph; refuses more than there is room for."""
    if isinstance(x, np.memmap) and (needed := 4 * x.size) > (free := available_memory()):
        raise OutOfMemoryError(
            f"The features in {name_of(x, 'x')} take {needed / 1e9:.1f} GB, but only {free / 1e9:.1f} GB are free: "
            "train on sampled_batches, predict with predict_layerwise."
        )
    return np.asarray(x, np.float32)


def _targets(y):
    """Targets out of a tensor; a column [N, 1] of whole numbers is one class for each, as OGB has it."""
    y = array_of(y)
    return y[:, 0] if y.ndim == 2 and y.shape[1] == 1 and y.dtype.kind in "iu" else y


def split_masks(splits: Sequence[Any]) -> list[np.ndarray]:
    """Boolean masks of the three splits, from a word for each node; None is no split."""
    words = SPLITS[:3]
    strange = next((word for word in splits if not is_missing(word) and word not in words), None)
    if strange is not None:
        raise DataFormatError(
            f"the split of a node is {strange!r}{nearest(str(strange), words)}; it must be train, val, test or nothing"
        )
    return [np.array([word == split for word in splits], bool) for split in words]


def split_counts(total: int, train: float, val: float, test: float | None) -> list[int]:
    """Numbers of nodes of three splits, from shares or numbers."""
    counts = []
    for name, part in (("train", train), ("val", val), ("test", test)):
        if part is None:
            counts.append(total - sum(counts))
            continue
        whole = isinstance(part, (int, np.integer)) and not isinstance(part, bool)
        if part < 0 or (not whole and part > 1):
            raise DataFormatError(f"{name} must be a share from 0 to 1, or a number of nodes, but is {part!r}")
        counts.append(int(part) if whole else round(part * total))
    if sum(counts) > total or counts[-1] < 0:
        raise DataFormatError(f"the splits ask for {sum(counts[:2])} nodes and more, but only {total} have a target")
    return counts


def as_booleans(mask: np.ndarray, num_nodes: int) -> np.ndarray:
    """A mask of 0 and 1, one for each of three nodes or more, as booleans: no list of nodes looks like that."""
    whole = mask.shape == (num_nodes,) and num_nodes > 2 and mask.dtype.kind in "iu"
    return mask.astype(bool) if whole and np.isin(mask, (0, 1)).all() else mask


def as_mask(mask: ArrayLike | None, num_nodes: int, name: str) -> np.ndarray:
    """Returns a boolean mask; node numbers are accepted in its place, None is the empty split."""
    if mask is None:
        return np.zeros(num_nodes, bool)
    mask = as_booleans(np.asarray(mask), num_nodes)
    if mask.dtype == bool and mask.shape == (num_nodes,):
        return mask.copy()
    if mask.dtype.kind not in "iu" or mask.ndim != 1 or (mask.size and not 0 <= mask.min() <= mask.max() < num_nodes):
        raise DataFormatError(
            f"{name} must be booleans [{num_nodes}] or node numbers below {num_nodes}, "
            f"but is {mask.dtype} of shape {mask.shape}"
        )
    out = np.zeros(num_nodes, bool)
    out[mask] = True
    return out


def as_graph_ids(graph_ids: ArrayLike, edges: np.ndarray, num_nodes: int) -> np.ndarray:
    """Returns the graph of each node as int32; refuses an edge between two graphs."""
    ids = np.asarray(graph_ids)
    steps = np.diff(ids) if ids.shape == (num_nodes,) else np.array([-1])
    if ids.dtype.kind not in "iu" or ids.ravel()[0] != 0 or not np.isin(steps, (0, 1)).all():
        raise DataFormatError(f"graph_ids must be {num_nodes} integers that ascend from 0 without a gap")
    across = np.flatnonzero(ids[edges[:, 0]] != ids[edges[:, 1]])
    if len(across):
        raise DataFormatError(f"the edge {edges[across[0]].tolist()} joins nodes of two graphs (graph_ids)")
    return ids.astype(np.int32)


def as_published(published: Sequence[ArrayLike], num_nodes: int) -> np.ndarray:
    """Returns published splits as booleans [3, S, N]; refuses a node that is in two parts of a split."""
    masks = [np.asarray(part) for part in published]
    shapes = {mask.shape for mask in masks if mask.dtype == bool and mask.ndim == 2 and mask.shape[1] == num_nodes}
    if len(masks) != 3 or len(shapes) != 1 or any(mask.shape not in shapes for mask in masks):
        raise DataFormatError(f"published splits must be three arrays of booleans [S, {num_nodes}]")
    masks = np.stack(masks)
    twice = np.argwhere(masks.sum(axis=0) > 1)
    if len(twice):
        raise DataFormatError(f"node {twice[0][1]} is in two parts of the published split {twice[0][0] + 1}")
    return masks


def normalized(x: "np.ndarray | sp.csr_array", how: str | None) -> "np.ndarray | sp.csr_array":
    """Divides each row by its sum for "row"; rows whose sum is 0 stay."""
    if how is None:
        return x
    if how != "row":
        raise DataFormatError(f"normalize_features must be 'row' or None, but is {how!r}")
    if hasattr(x, "tocsr"):
        sums = np.repeat(np.asarray(x.sum(axis=1)).reshape(-1), np.diff(x.indptr))
        x.data = np.divide(x.data, sums, out=x.data.copy(), where=sums != 0)
        return x
    sums = x.sum(axis=1, keepdims=True)
    return np.divide(x, sums, out=x.copy(), where=sums != 0)
