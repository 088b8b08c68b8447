"""One graph, and the rules its arrays keep."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ganet_tf.errors import DataFormatError


@dataclass(frozen=True, eq=False)
class Graph:
    """One graph: node features, directed edges, and what is to be predicted.

    Whatever is given is brought into the one form that the whole package uses, and checked.

    Args:
        x: Node features, [n, F]; kept as float32. A graph has at least one node, and features are finite.
        edges: Pairs (source, target) of node numbers from 0, [m, 2]; kept as int32, sorted by
            (target, source), without self-loops and repetitions. An undirected edge stands in both directions.
        y: What is to be predicted: a class, an integer from 0 (-1 where it is unknown); a float, or a row of
            numbers. Leave it out where there is nothing to predict.
        edge_weights: A number from 0 for each of `edges`, [m], or None. Those of repeated edges are added.

    Example:
    ```python
    triangle = Graph(x=np.ones((3, 1)), edges=[[0, 1], [1, 0], [1, 2], [2, 1], [2, 0], [0, 2]], y=1)
    ```
    """

    x: np.ndarray
    edges: np.ndarray
    y: int | float | np.ndarray = 0
    edge_weights: np.ndarray | None = None

    def __post_init__(self):
        x = as_features(self.x)
        if len(x) == 0:
            raise DataFormatError("a graph has no nodes: x has 0 rows; leave empty graphs out of the data set")
        edges = as_edges(self.edges)
        edges, weights = weighted_edges(edges, as_weights(self.edge_weights, len(edges)), len(x))
        object.__setattr__(self, "x", x)
        object.__setattr__(self, "edges", edges)
        object.__setattr__(self, "y", as_target(self.y))
        object.__setattr__(self, "edge_weights", weights)

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
        hint = "; transpose it, or use from_edge_index" if edges.ndim == 2 and edges.shape[0] == 2 else ""
        raise DataFormatError(
            f"{name} must have the shape [edges, 2], a row = (source, target), but has {edges.shape}{hint}"
        )
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
    return weighted_edges(edges, None, num_nodes)[0]


def weighted_edges(
    edges: np.ndarray, weights: np.ndarray | None, num_nodes: int
) -> tuple[np.ndarray, np.ndarray | None]:
    """As `canonical_edges`, with weights that follow their edges; those of repetitions are added."""
    if len(edges) == 0:
        return np.zeros((0, 2), np.int32), None if weights is None else np.zeros(0, np.float32)
    if edges.min() < 0 or edges.max() >= num_nodes:
        raise DataFormatError(
            f"edges name node {edges.min() if edges.min() < 0 else edges.max()}, "
            f"but the graph has {num_nodes} nodes, numbered from 0 to {num_nodes - 1}"
        )
    key = edges[:, 1].astype(np.int64) * num_nodes + edges[:, 0]
    keep = edges[:, 0] != edges[:, 1]
    if weights is None:
        key = np.unique(key[keep])
    else:
        key, place = np.unique(key[keep], return_inverse=True)
        weights = np.bincount(place.reshape(-1), weights[keep], len(key)).astype(np.float32)
    return np.stack([key % num_nodes, key // num_nodes], axis=1).astype(np.int32), weights


def as_weights(weights: ArrayLike | None, num_edges: int, name: str = "edge_weights") -> np.ndarray | None:
    """Returns edge weights as a float32 array; refuses negative ones, NaN, infinity and another number of them."""
    if weights is None:
        return None
    weights = np.asarray(weights)
    if weights.shape != (num_edges,):
        raise DataFormatError(f"{name} must have one number for each of the {num_edges} edges, but has {weights.shape}")
    if weights.dtype.kind not in "fiub":
        raise DataFormatError(f"{name} must hold numbers, but its type is {weights.dtype}")
    with np.errstate(over="ignore"):
        weights = weights.astype(np.float32)
    wrong = ~(weights >= 0) | np.isinf(weights)
    if wrong.any():
        raise DataFormatError(
            f"{name} must be finite and not negative, but edge {wrong.argmax()} has {weights[wrong.argmax()]}; "
            "to leave weights out, give the edges alone"
        )
    return weights


def as_target(y: ArrayLike) -> int | float | np.ndarray:
    """Returns a class as a plain int from 0 (or -1), a number as a float, a row of numbers as an array."""
    value = np.asarray(y)
    if value.ndim == 1 and value.dtype.kind in "fiub" and value.size:
        return value
    if value.size == 1 and value.dtype.kind == "f":
        return float(value.reshape(()))
    if value.size != 1 or value.dtype.kind not in "iub" or int(value.reshape(())) < -1:
        raise DataFormatError(
            f"y must be a class number, an integer from 0 (-1 where it is unknown), a float or a row of numbers, "
            f"but is {y!r}"
        )
    return int(value.reshape(()))
