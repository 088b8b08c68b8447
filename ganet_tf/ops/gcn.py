"""The graph convolution of Kipf and Welling: D̂^-½ Â D̂^-½ H with Â = A + I."""

import tensorflow as tf

from ganet_tf.ops import csr
from ganet_tf.ops.checks import NORMALIZATIONS, check_choice, check_implementation
from ganet_tf.ops.dense import adjacency_mask
from ganet_tf.ops.neighborhood import neighborhood
from ganet_tf.ops.precision import in_float32


@in_float32
def gcn(h, edges, normalization="sym", implementation="sparse"):
    """Sum each node's neighbours' `h` [N, F] with GCN's weights.

    Args:
        h: [N, F] features, X W of the GCN layer.
        edges: [E, 2] (source, target).
        normalization: "sym", 1/√(d̂_i d̂_j); "row", 1/d̂_i (DGCNN's); or None, 1.
        implementation: "sparse" or "dense".
    """
    check_choice(normalization, "normalization", NORMALIZATIONS)
    check_implementation(implementation)
    num_nodes = tf.shape(h)[0]
    if implementation == "dense":
        return _dense_matrix(edges, num_nodes, normalization, h.dtype) @ h
    nb = neighborhood(edges, num_nodes)

    @tf.custom_gradient
    def run(h):
        def gradient(d_output):
            return csr.matmul(nb.gcn_matrix(normalization, h.dtype, transposed=True), d_output)

        return csr.matmul(nb.gcn_matrix(normalization, h.dtype), h), gradient

    return run(h)


def _dense_matrix(edges, num_nodes, normalization, dtype):
    matrix = tf.cast(adjacency_mask(edges, num_nodes), dtype)
    degrees = tf.reduce_sum(matrix, axis=1)
    if normalization == "sym":
        return matrix * tf.math.rsqrt(degrees)[:, None] * tf.math.rsqrt(degrees)[None, :]
    if normalization == "row":
        return matrix / degrees[:, None]
    return matrix
