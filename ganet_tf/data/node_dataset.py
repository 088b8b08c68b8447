"""A data set of one graph whose nodes have classes."""

import copy
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ganet_tf.data.features import MAX_DEGREE, build_features
from ganet_tf.data.graph import as_edges, as_features, canonical_edges
from ganet_tf.data.sampling import NeighborSampler, as_fanout, make_sampled_batches
from ganet_tf.errors import DataFormatError
from ganet_tf.spelling import nearest

if TYPE_CHECKING:
    import scipy.sparse as sp
    import tensorflow as tf

SPLITS = ("train", "val", "test", "all")


class NodeDataset:
    """One graph, a class for each node, and which nodes are for training, validation and testing.

    Args:
        adjacency: scipy sparse or dense matrix [N, N], entry (i, j) not 0 = an edge from i to j; or edges [E, 2] as
            pairs (source, target). An undirected graph has a symmetric matrix. Self-loops are dropped.
        x: Node features [N, F], dense or scipy sparse.
        y: Classes, integers from 0, [N]. Nodes in no mask may have any class.
        train_mask, val_mask, test_mask: Boolean [N], or node numbers. May be left out, then the split is empty.
        name: Name of the data set.
        num_classes: Number of classes; from `y` by default.
        normalize_features: "row" divides each row of `x` by its sum (rows of zeros stay), None leaves it.

    Example:
    ```python
    ds = NodeDataset(scipy_adjacency, x, y, train_mask, val_mask, test_mask)
    model.fit(ds.batches("train"), validation_data=ds.batches("val"), epochs=200)
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
    ):
        self.x = normalized(as_features(x.toarray() if hasattr(x, "toarray") else x), normalize_features)
        self.num_nodes, self.num_features = self.x.shape
        if self.num_nodes == 0:
            raise DataFormatError("the graph has no nodes: x has 0 rows")
        self.edges = canonical_edges(edges_of(adjacency, self.num_nodes), self.num_nodes)
        self.y = as_classes(y, self.num_nodes)
        self.num_classes = int(self.y.max()) + 1 if num_classes is None else int(num_classes)
        if self.y.max() >= self.num_classes:
            raise DataFormatError(f"a node has the class {self.y.max()}, but num_classes is {self.num_classes}")
        self.train_mask = as_mask(train_mask, self.num_nodes, "train_mask")
        self.val_mask = as_mask(val_mask, self.num_nodes, "val_mask")
        self.test_mask = as_mask(test_mask, self.num_nodes, "test_mask")
        self.name = name

    def __len__(self) -> int:
        return self.num_nodes

    def __repr__(self):
        parts = "/".join(str(int(mask.sum())) for mask in (self.train_mask, self.val_mask, self.test_mask))
        return (
            f"NodeDataset({self.name!r}, nodes={self.num_nodes}, edges={len(self.edges)}, "
            f"classes={self.num_classes}, features={self.num_features}, train/val/test={parts})"
        )

    def nodes(self, split: str) -> np.ndarray:
        """Returns the node numbers of a split, int32; "all" is every node."""
        if split not in SPLITS:
            raise DataFormatError(f"there is no split {split!r}{nearest(split, SPLITS)}; there are {', '.join(SPLITS)}")
        if split == "all":
            return np.arange(self.num_nodes, dtype=np.int32)
        return np.flatnonzero(getattr(self, f"{split}_mask")).astype(np.int32)

    def with_features(self, features: str, max_degree: int = MAX_DEGREE) -> "NodeDataset":
        """Returns the same graph with other node features: "degree", "attributes+degree", ...

        "attributes" stands for the features that it has now. See `ganet_tf.data.features.build_features`.
        """
        degrees = np.bincount(self.edges[:, 1], minlength=self.num_nodes)
        none = np.zeros((self.num_nodes, 0), np.int32)
        blocks = build_features(features, degrees, np.array([self.num_nodes]), none, [], self.x, max_degree)
        other = copy.copy(self)
        other.x = blocks.take(np.arange(self.num_nodes))
        other.num_features = other.x.shape[1]
        return other

    def batches(self, split: str = "train", sample_weight: bool = False, sparse: bool = False) -> "tf.data.Dataset":
        """Makes a `tf.data.Dataset` of one element: the whole graph, with the nodes of one split to be predicted.

        Args:
            split: "train", "val", "test" or "all".
            sample_weight: False: `({"x", "edges", "nodes" [n] int32}, y [n])`; a model puts out logits for `nodes`
                only, so that plain losses and metrics are right. True: `({"x", "edges"}, y [N], weights [N])`, for
                models that know nothing of `nodes`; the loss then needs `reduction="mean_with_sample_weight"`, and
                metrics belong into `weighted_metrics`.
            sparse: Whether "x" comes as a `tf.SparseTensor`. The models here take it, and are several times quicker
                with it where most features are 0, as in bags of words.

        Returns:
            Dataset of cardinality 1.
        """
        import tensorflow as tf  # here, so that data can be read and looked at without it

        nodes = self.nodes(split)
        if len(nodes) == 0:
            raise DataFormatError(f"the split {split!r} of {self.name} has no nodes: give {split}_mask")
        inputs = {"x": sparse_tensor(self.x) if sparse else self.x, "edges": self.edges}
        if sample_weight:
            weights = np.zeros(self.num_nodes, np.float32)
            weights[nodes] = 1
            return tf.data.Dataset.from_tensors((inputs, self.y, weights))
        return tf.data.Dataset.from_tensors(({**inputs, "nodes": nodes}, self.y[nodes]))

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

        Returns:
            Dataset of known cardinality with elements as in `batches`: `({"x", "edges", "nodes" [n]}, y [n])`, where
            `edges` and `nodes` are numbers within the sub-graph.
        """
        sampler = NeighborSampler(self.x, self.edges, self.y, as_fanout(fanout, hops))
        seeds = self.nodes(split)
        if len(seeds) == 0:
            raise DataFormatError(f"the split {split!r} of {self.name} has no nodes: give {split}_mask")
        return make_sampled_batches(sampler, seeds, batch_size, shuffle, seed, drop_remainder, initial_epoch)

    def statistics(self) -> dict[str, Any]:
        """Returns the columns of the paper's table and some more, as a dict."""
        return {
            "name": self.name,
            "nodes": self.num_nodes,
            "features": self.num_features,
            "train": int(self.train_mask.sum()),
            "val": int(self.val_mask.sum()),
            "test": int(self.test_mask.sum()),
            "edges": len(self.edges) // 2,
            "avg_degree": len(self.edges) / self.num_nodes,
            "classes": self.num_classes,
        }


def sparse_tensor(x: np.ndarray) -> "tf.SparseTensor":
    """Returns the `tf.SparseTensor` of a matrix, in canonical order."""
    import tensorflow as tf

    places = np.argwhere(x)
    return tf.SparseTensor(places, x[tuple(places.T)], x.shape)


def edges_of(adjacency: "ArrayLike | sp.sparray | sp.spmatrix", num_nodes: int) -> np.ndarray:
    """Returns the pairs (source, target) of a sparse or dense matrix, or of an edge list."""
    if hasattr(adjacency, "tocoo"):
        matrix = adjacency.tocoo()
        shape = matrix.shape
        edges = np.stack([matrix.row, matrix.col], axis=1)[matrix.data != 0]
    else:
        array = np.asarray(adjacency)
        is_list = array.ndim == 2 and array.shape[1] == 2 and num_nodes != 2
        if is_list or array.size == 0:
            return as_edges(array, "adjacency")
        shape = array.shape
        edges = np.argwhere(array != 0)
    if shape != (num_nodes, num_nodes):
        raise DataFormatError(f"adjacency has the shape {shape}, but x has {num_nodes} rows: [N, N] is expected")
    return edges


def as_classes(y: ArrayLike, num_nodes: int) -> np.ndarray:
    y = np.asarray(y)
    if y.shape != (num_nodes,):
        raise DataFormatError(f"y must have one class for each of the {num_nodes} nodes, but its shape is {y.shape}")
    if y.dtype.kind not in "iub" or y.min() < 0:
        raise DataFormatError("y must hold class numbers, integers from 0")
    return y.astype(np.int32)


def as_mask(mask: ArrayLike | None, num_nodes: int, name: str) -> np.ndarray:
    """Returns a boolean mask; node numbers are accepted in its place, None is the empty split."""
    if mask is None:
        return np.zeros(num_nodes, bool)
    mask = np.asarray(mask)
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


def normalized(x: np.ndarray, how: str | None) -> np.ndarray:
    """Divides each row by its sum for "row"; rows whose sum is 0 stay."""
    if how is None:
        return x
    if how != "row":
        raise DataFormatError(f"normalize_features must be 'row' or None, but is {how!r}")
    sums = x.sum(axis=1, keepdims=True)
    return np.divide(x, sums, out=x.copy(), where=sums != 0)
