"""One graph, and the rules its arrays keep."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ganet_tf.errors import DataFormatError


@dataclass(frozen=True, eq=False)
class Graph:
    """One graph: node features, directed edges and a class.

    Whatever is given is brought into the one form that the whole package uses, and checked.

    Args:
        x: Node features, [n, F]; kept as float32. A graph has at least one node, and features are finite.
        edges: Pairs (source, target) of node numbers from 0, [m, 2]; kept as int32, sorted by
            (target, source), without self-loops and repetitions. An undirected edge stands in both directions.
        y: The class of the graph, an integer from 0. Leave it out where it is unknown.

    Example:
    ```python
    triangle = Graph(x=np.ones((3, 1)), edges=[[0, 1], [1, 0], [1, 2], [2, 1], [2, 0], [0, 2]], y=1)
    ```
    """

    x: np.ndarray
    edges: np.ndarray
    y: int = 0

    def __post_init__(self):
        x = as_features(self.x)
        if len(x) == 0:
            raise DataFormatError("a graph has no nodes: x has 0 rows; leave empty graphs out of the data set")
        edges = canonical_edges(as_edges(self.edges), len(x))
        object.__setattr__(self, "x", x)
        object.__setattr__(self, "edges", edges)
        object.__setattr__(self, "y", as_class(self.y))

    @property
    def num_nodes(self) -> int:
        return len(self.x)

    def __repr__(self):
        return f"Graph(nodes={len(self.x)}, edges={len(self.edges)}, features={self.x.shape[1]}, y={self.y})"


def as_features(x: ArrayLike, name: str = "x") -> np.ndarray:
    """Returns node features as a float32 matrix; refuses other shapes, NaN and infinity."""
    x = np.asarray(x)
    if x.ndim != 2:
        raise DataFormatError(f"{name} must have the shape [nodes, features], but has {x.shape}")
    if x.dtype.kind not in "fiub":
        raise DataFormatError(f"{name} must hold numbers, but its type is {x.dtype}")
    with np.errstate(over="ignore"):
        x = np.ascontiguousarray(x, dtype=np.float32)
    check_finite(x, name)
    return x


def check_finite(x: np.ndarray, name: str = "x") -> None:
    """Raises an error that names the first row of `x` with a NaN or an infinity."""
    # The sum is NaN or infinite if any entry is, and costs no array of booleans.
    with np.errstate(all="ignore"):
        if np.isfinite(np.sum(x, dtype=np.float64)):
            return
    bad = np.flatnonzero(~np.isfinite(x).all(axis=1))
    if len(bad):
        raise DataFormatError(
            f"{name} has NaN or infinite values in {len(bad)} rows, the first is row {bad[0]}; "
            "replace them or drop those nodes"
        )


def as_edges(edges: ArrayLike, name: str = "edges") -> np.ndarray:
    """Returns edges as an [m, 2] integer array; an empty list is an edgeless graph."""
    edges = np.asarray(edges)
    if edges.size == 0:
        return np.zeros((0, 2), np.int32)
    if edges.ndim != 2 or edges.shape[1] != 2:
        raise DataFormatError(f"{name} must have the shape [edges, 2], a row = (source, target), but has {edges.shape}")
    if edges.dtype.kind not in "iu":
        raise DataFormatError(f"{name} must hold integer node numbers, but its type is {edges.dtype}")
    return edges


def canonical_edges(edges: np.ndarray, num_nodes: int) -> np.ndarray:
    """Sorts by (target, source), drops self-loops and repetitions, checks the range.

    Args:
        edges: Integer array [m, 2].
        num_nodes: Node numbers must be below it.

    Returns:
        int32 array [m', 2].
    """
    if len(edges) == 0:
        return np.zeros((0, 2), np.int32)
    if edges.min() < 0 or edges.max() >= num_nodes:
        raise DataFormatError(
            f"edges name node {edges.min() if edges.min() < 0 else edges.max()}, "
            f"but the graph has {num_nodes} nodes, numbered from 0 to {num_nodes - 1}"
        )
    key = edges[:, 1].astype(np.int64) * num_nodes + edges[:, 0]
    key = np.unique(key[edges[:, 0] != edges[:, 1]])
    return np.stack([key % num_nodes, key // num_nodes], axis=1).astype(np.int32)


def as_class(y: ArrayLike) -> int:
    """Returns a class as a plain int from 0."""
    value = np.asarray(y)
    if value.size != 1 or value.dtype.kind not in "iub" or int(value.reshape(())) < 0:
        raise DataFormatError(f"y must be a class number, an integer from 0, but is {y!r}")
    return int(value.reshape(()))
