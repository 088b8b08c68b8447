"""What a file in TU layout says, as arrays, before features are chosen."""

import hashlib
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np


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
        node_attributes: float32 [N, A]; A = 0 where there are none.
    """

    edges: np.ndarray
    degrees: np.ndarray
    node_offsets: np.ndarray
    edge_offsets: np.ndarray
    y: np.ndarray
    class_labels: np.ndarray
    node_labels: np.ndarray
    node_label_counts: np.ndarray
    node_attributes: np.ndarray

    @cached_property
    def sizes(self):
        return np.diff(self.node_offsets)

    @classmethod
    def names(cls):
        """Names of the arrays."""
        return {field.name for field in fields(cls)}

    def arrays(self):
        """The arrays by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def digest(self):
        """SHA-256 of the content: the same for files that hold the same graphs in other bytes.

        Labels count as codes, because sources differ in the numbers that stand for them. Attributes do not count:
        not every source of a data set has them.
        """
        digest = hashlib.sha256()
        for array in (self.node_offsets, self.edge_offsets, self.edges, self.y, self.node_labels):
            digest.update(repr(array.shape).encode())
            digest.update(np.ascontiguousarray(array))
        return digest.hexdigest()
