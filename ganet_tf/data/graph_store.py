"""Many graphs as a few flat arrays."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ganet_tf.data.aligned import aligned_empty
from ganet_tf.data.features import NodeFeatures


@dataclass(frozen=True, eq=False)
class GraphStore:
    """The flat arrays behind a `GraphDataset`; subsets of a data set share one store.

    Args:
        features: `NodeFeatures` of all nodes, graph after graph.
        edges: int32 [E, 2] pairs (source, target), numbered from 0 within each graph, sorted by (target, source).
        node_offsets: int64 [G + 1]; graph g has the nodes node_offsets[g] to node_offsets[g + 1].
        edge_offsets: int64 [G + 1], the same for edges.
        y: int32 [G].
    """

    features: NodeFeatures
    edges: np.ndarray
    node_offsets: np.ndarray
    edge_offsets: np.ndarray
    y: np.ndarray

    @cached_property
    def sizes(self):
        return np.diff(self.node_offsets)

    @cached_property
    def edge_counts(self):
        return np.diff(self.edge_offsets)

    def collate(self, graphs):
        """Puts some graphs side by side as one.

        Args:
            graphs: Graph numbers, [B].

        Returns:
            Dict with `x` [N, F] float32, `edges` [E, 2] int32 (sorted by target) and `graph_ids` [N] int32.
        """
        sizes = self.sizes[graphs]
        nodes = ranges(self.node_offsets[graphs], sizes)
        first_nodes = np.cumsum(sizes) - sizes
        edges = shifted(self.edges, self.edge_offsets[graphs], self.edge_counts[graphs], first_nodes)
        graph_ids = np.repeat(np.arange(len(graphs), dtype=np.int32), sizes)
        return {"x": self.features.take(nodes), "edges": edges, "graph_ids": graph_ids}


def ranges(starts, counts):
    """Concatenates arange(start, start + count) for every pair.

    Example: `ranges([5, 0], [2, 3])` is `[5, 6, 0, 1, 2]`.
    """
    starts, counts = np.asarray(starts, np.int64), np.asarray(counts, np.int64)
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total) + np.repeat(starts - (ends - counts), counts)


def shifted(edges, starts, counts, shifts):
    """Returns the edges `ranges(starts, counts)`, those of each range shifted by its own number."""
    out = aligned_empty((int(np.sum(counts)), 2), np.int32)
    np.take(edges, ranges(starts, counts), axis=0, out=out, mode="clip")
    out += np.repeat(shifts.astype(np.int32), counts)[:, None]
    return out
