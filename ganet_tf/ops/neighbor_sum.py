"""A H, the sum over each node's neighbours without the node itself, for SAGEConv, ChebConv and DiffPool."""

import tensorflow as tf

from ganet_tf import native
from ganet_tf.ops import sparse
from ganet_tf.ops.implementations import neighbor_lists
from ganet_tf.ops.neighborhood import neighborhood, weighted


def neighbors(edges, num_nodes, way="sparse", edge_weights=None):
    """The graph A: `NativeNeighbors` if the `way` is "native", else `Neighbors`.

    Args:
        edges: [E, 2] (source, target).
        num_nodes: scalar, N.
        way: what `implementations.chosen` says.
        edge_weights: [E], a_ij; None is 1 for every edge.
    """
    if way == "native":
        return NativeNeighbors(neighbor_lists(edges, num_nodes, edge_weights))
    nb = neighborhood(edges, num_nodes)
    return Neighbors(nb, None if edge_weights is None else weighted(nb, edges, edge_weights))


class Neighbors:
    """A graph without the nodes themselves, on CSR matrices.

    Args:
        nb: its `Neighborhood`.
        weights: its `EdgeWeights`; None is a_ij = 1.
    """

    def __init__(self, nb, weights=None):
        self.nb, self.weights = nb, weights

    def sum(self, h):
        """Σ_{j in N(i), j ≠ i} a_ij h_j: [N, C] -> [N, C], with a gradient that is a CSR product as well."""

        @tf.custom_gradient
        def run(h):
            def gradient(d_output):
                return sparse.matmul(self._adjacency(h.dtype, transposed=True), d_output, self.nb.num_nodes)

            return sparse.matmul(self._adjacency(h.dtype), h, self.nb.num_nodes), gradient

        return run(h)

    def counts(self, dtype):
        """How many neighbours each node has, itself left out, or the sum of their weights: [N, 1]."""
        if self.weights is None:
            return tf.cast(self.nb.degrees - 1, dtype)[:, None]
        return tf.math.segment_sum(self.entries(dtype), self.nb.rows)[:, None]

    def squares(self, dtype):
        """Σ_{j ≠ i} a_ij² of each node: [N, 1]."""
        return tf.math.segment_sum(self.entries(dtype) ** 2, self.nb.rows)[:, None]

    def entries(self, dtype):
        """a_ij of each entry of the neighbour lists, 0 for the nodes themselves: [E + N]."""
        others = tf.not_equal(self.nb.rows, self.nb.columns)
        if self.weights is None:
            return tf.cast(others, dtype)
        return tf.where(others, self.weights.entries(dtype), tf.zeros([], dtype))

    def _adjacency(self, dtype, transposed=False):
        """A as a CSR matrix: Â of the neighbour lists, with zeros for the nodes themselves."""

        def make():
            if transposed:
                return sparse.transpose(self._adjacency(dtype), dtype)
            return self.nb.matrix(self.entries(dtype))

        return (self.nb if self.weights is None else self.weights).part(("neighbors_alone", dtype, transposed), make)


class NativeNeighbors:
    """The same on the `native.Lists` of a graph."""

    def __init__(self, lists):
        self.lists = lists

    def sum(self, h):
        """As `Neighbors`."""
        return native.neighbor_sum(h, self.lists, loops=False)

    def mean(self, h):
        """Σ a_ij h_j / Σ a_ij; zeros where there is nothing."""
        return native.neighbor_sum(h, self.lists, "row", loops=False)

    def counts(self, dtype):
        """As `Neighbors`."""
        if self.lists.weights is not None:
            return self.sum(self._ones(dtype))
        splits = self.lists.row_splits
        return tf.cast(splits[1:] - splits[:-1] - 1, dtype)[:, None]

    def squares(self, dtype):
        """As `Neighbors`."""
        if self.lists.weights is None:
            return self.counts(dtype)
        squared = native.Lists(self.lists.row_splits, self.lists.columns, self.lists.num_columns, self.lists.weights**2)
        return native.neighbor_sum(self._ones(dtype), squared, loops=False)

    def _ones(self, dtype):
        return tf.ones([self.lists.num_columns, 1], dtype)
