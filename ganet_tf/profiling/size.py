"""The numbers that the cost of an operator depends on."""

from dataclasses import dataclass

import numpy as np

from ganet_tf.ops.neighbor_tables import FOLD_WIDTH


@dataclass(frozen=True)
class Size:
    """How large one call of an operator is.

    Args:
        nodes: N, rows of `x`.
        edges: E, rows of `edges`, without the self-loops that every operator adds.
        features: F, channels of `x`.
        units: U, channels that come out.
        k: neighbours that the hard operators keep.
        longest: neighbours of the node that has most of them, itself included.
        table: places of the neighbour table: each node's list, filled up to whole rows.
    """

    nodes: int
    edges: int
    features: int
    units: int
    k: int = 0
    longest: int = 0
    table: int = 0

    @property
    def neighbours(self):
        """All pairs (i, j) with j in N(i): the edges and a self-loop a node."""
        return self.edges + self.nodes

    @classmethod
    def of(cls, edges, nodes, features, units=None, k=0):
        """Reads the size off an edge list.

        Args:
            edges: array [E, 2] of (source, target), or None for an operator without a graph.
            nodes: number of nodes.
            features: channels that go in.
            units: channels that come out; as many as go in when left out.
            k: neighbours that a hard operator keeps; 0 for the others.
        """
        units = features if units is None else units
        if edges is None:
            return cls(nodes, 0, features, units, k, 0, 0)
        degrees = np.bincount(np.asarray(edges)[:, 1], minlength=nodes) + 1
        table = int((-(-degrees // FOLD_WIDTH)).sum()) * FOLD_WIDTH
        return cls(nodes, len(edges), features, units, k, int(degrees.max(initial=0)), table)
