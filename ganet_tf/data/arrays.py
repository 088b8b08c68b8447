"""The graphs of a whole data set as a few flat arrays."""

import hashlib
import math
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike
from scipy.sparse import coo_array

from ganet_tf.errors import DataFormatError

# What Eigen wants. `tf.data` copies any array that begins elsewhere, and the copies cost more than the collation:
# an epoch of batches of DD's size takes a third of the time with aligned arrays.
ALIGNMENT = 64


def aligned_empty(shape: tuple[int, ...], dtype: DTypeLike) -> np.ndarray:
    """Like `np.empty`, but the data begin at a multiple of 64 bytes."""
    dtype = np.dtype(dtype)
    size = math.prod(shape) * dtype.itemsize
    raw = np.empty(size + ALIGNMENT, np.uint8)
    start = -raw.ctypes.data % ALIGNMENT
    return raw[start : start + size].view(dtype).reshape(shape)


# What tells one data set from another.
CONTENT = ("node_offsets", "edge_offsets", "edges", "degrees", "y", "node_labels")


@dataclass(frozen=True, eq=False)
class RawGraphs:
    """The graphs of one data set as flat arrays; this is what the binary cache keeps.

    Args:
        edges: int32 [E, 2] (source, target), numbered within each graph, sorted by (target, source), unique, no loops.
        degrees: int32 [N], number of edges that point at each node.
        node_offsets, edge_offsets: int64 [G + 1].
        y: int32 [G], class numbers from 0.
        class_labels: int64 [C], the labels in the file.
        node_labels: int32 [N, L], label codes from 0; L = 0 where there are none.
        node_label_counts: int64 [L], number of different labels in each column.
        node_label_values: The labels that the codes stand for, column after column; int64 where they come from a file.
        node_attributes: float32 [N, A]; A = 0 where there are none.
        edge_weights: float32 [E], or None where there are none.
    """

    edges: np.ndarray
    degrees: np.ndarray
    node_offsets: np.ndarray
    edge_offsets: np.ndarray
    y: np.ndarray
    class_labels: np.ndarray
    node_labels: np.ndarray
    node_label_counts: np.ndarray
    node_label_values: np.ndarray
    node_attributes: np.ndarray
    edge_weights: np.ndarray | None = None

    @cached_property
    def sizes(self) -> np.ndarray:
        return np.diff(self.node_offsets)

    @property
    def label_values(self) -> list[list]:
        """The labels of each column, in the order of their codes."""
        values = self.node_label_values
        values = values.tolist() if isinstance(values, np.ndarray) else list(values)
        ends = np.cumsum(self.node_label_counts).astype(int).tolist()
        return [values[start:end] for start, end in zip([0, *ends[:-1]], ends, strict=True)] if ends else []

    @classmethod
    def names(cls) -> set[str]:
        return {field.name for field in fields(cls)} - {"edge_weights"}

    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays of a file, which has no edge weights, by name."""
        return {field.name: getattr(self, field.name) for field in fields(self) if field.name in self.names()}

    def digest(self) -> str:
        """`content_digest` of these graphs."""
        return content_digest({name: array_digest(getattr(self, name)) for name in CONTENT})


def array_digest(array: np.ndarray) -> str:
    """SHA-256 of an array: type, shape and content."""
    digest = hashlib.sha256(f"{array.dtype.str} {array.shape} ".encode())
    digest.update(np.ascontiguousarray(array))
    return digest.hexdigest()


def content_digest(digests: dict[str, str]) -> str:
    """Digest of what a data set holds: the same for files that hold the same graphs in other bytes.

    Labels count as codes, because sources differ in the numbers that stand for them. Attributes do not count: not
    every source of a data set has them.

    Args:
        digests: `array_digest` of the arrays of `RawGraphs` by name.
    """
    return hashlib.sha256("".join(digests[name] for name in CONTENT).encode()).hexdigest()


def sort_edges(columns: list[np.ndarray], num_nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """Sorts edges by (target, source), without self-loops and repetitions.

    A sparse matrix in compressed rows is just that: scipy sorts by counting, in linear time and little memory.

    Args:
        columns: List of the two arrays source and target, int32 [E]. It is emptied, so that they can be freed.
        num_nodes: Number of nodes.

    Returns:
        (sources, degrees): the sources of all edges, target after target, and how many edges each target has.
    """
    target, source = columns.pop(), columns.pop()
    keep = source != target
    if not keep.all():
        source, target = source[keep], target[keep]
    del keep
    matrix = coo_array((np.ones(len(source), np.int8), (target, source)), shape=(num_nodes, num_nodes))
    del source, target
    matrix = matrix.tocsr()  # sums up repetitions
    matrix.sort_indices()
    return matrix.indices.astype(np.int32, copy=False), np.diff(matrix.indptr).astype(np.int32)


def local_edges(
    sources: np.ndarray, degrees: np.ndarray, node_offsets: np.ndarray, name: str = "edges"
) -> tuple[np.ndarray, np.ndarray]:
    """Numbers the nodes of sorted edges within each graph.

    Args:
        sources, degrees: From `sort_edges`.
        node_offsets: int64 [G + 1].
        name: Where the edges come from, for messages.

    Returns:
        (edges, edge_offsets): int32 [E, 2] and int64 [G + 1].

    Raises:
        DataFormatError: If an edge joins nodes of different graphs.
    """
    sizes = np.diff(node_offsets)
    edge_ends = np.concatenate([[0], np.cumsum(degrees, dtype=np.int64)])
    edge_offsets = edge_ends[node_offsets]
    edges = np.empty((len(sources), 2), np.int32)
    first_nodes = node_offsets[:-1].astype(np.int32)
    np.subtract(sources, np.repeat(first_nodes, np.diff(edge_offsets)), out=edges[:, 0])
    local = np.arange(len(degrees), dtype=np.int32) - np.repeat(first_nodes, sizes)
    edges[:, 1] = np.repeat(local, degrees)
    outside = edges[:, 0] >= np.repeat(sizes.astype(np.int32), np.diff(edge_offsets))
    outside |= edges[:, 0] < 0
    if outside.any():
        edge = int(outside.argmax())
        target = int(np.searchsorted(edge_ends, edge, side="right"))
        raise DataFormatError(f"{name} joins node {sources[edge] + 1} and node {target}, which are in different graphs")
    return edges, edge_offsets


def array_of(value: Any) -> np.ndarray:
    """A NumPy array of an array, or of a tensor of any library."""
    for name in ("detach", "cpu"):
        value = getattr(value, name)() if hasattr(value, name) else value
    try:
        return value.numpy() if hasattr(value, "numpy") else np.asarray(value)
    except (TypeError, RuntimeError) as error:  # sparse tensors, and types that NumPy does not have
        raise DataFormatError(f"a {type(value).__name__} cannot be read as an array: {error}") from None


def offsets(counts: ArrayLike) -> np.ndarray:
    """Returns int64 [n + 1]: where each of n parts begins, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]).astype(np.int64)


def ranges(starts: ArrayLike, counts: ArrayLike) -> np.ndarray:
    """Concatenates arange(start, start + count) for every pair.

    Example: `ranges([5, 0], [2, 3])` is `[5, 6, 0, 1, 2]`.
    """
    starts, counts = np.asarray(starts, np.int64), np.asarray(counts, np.int64)
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total) + np.repeat(starts - (ends - counts), counts)
