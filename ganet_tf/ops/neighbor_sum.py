"""A H, the sum over each node's neighbours without the node itself, for SAGEConv, ChebConv and DiffPool."""

import tensorflow as tf

from ganet_tf.ops import sparse


def neighbor_sum(nb, h):
    """Σ_{j in N(i), j ≠ i} h_j: [N, C] -> [N, C], with a gradient that is a CSR product as well."""

    @tf.custom_gradient
    def run(h):
        def gradient(d_output):
            return sparse.matmul(_adjacency(nb, h.dtype, transposed=True), d_output, nb.num_nodes)

        return sparse.matmul(_adjacency(nb, h.dtype), h, nb.num_nodes), gradient

    return run(h)


def neighbor_counts(nb, dtype):
    """How many neighbours each node has, itself left out: [N, 1]."""
    return tf.cast(nb.degrees - 1, dtype)[:, None]


def _adjacency(nb, dtype, transposed=False):
    """A as a CSR matrix: Â of the neighbour lists, with zeros for the nodes themselves."""

    def make():
        if transposed:
            return sparse.transpose(_adjacency(nb, dtype), dtype)
        return nb.matrix(tf.cast(tf.not_equal(nb.rows, nb.columns), dtype))

    return nb.part(("neighbors_alone", dtype, transposed), make)
