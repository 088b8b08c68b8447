"""The graph convolution of Kipf and Welling: D̂^-½ Â D̂^-½ H with Â = A + I."""

import tensorflow as tf

from ganet_tf.ops import sparse
from ganet_tf.ops.checks import NORMALIZATIONS, check_choice, check_implementation
from ganet_tf.ops.dense import adjacency_mask
from ganet_tf.ops.neighborhood import neighborhood
from ganet_tf.ops.precision import in_float32


@in_float32
def gcn(h: tf.Tensor, edges: tf.Tensor, normalization: str | None = "sym", implementation: str = "sparse") -> tf.Tensor:
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
        adjacency = tf.cast(adjacency_mask(edges, num_nodes), h.dtype)
        before, after = _factors(tf.reduce_sum(adjacency, axis=1), normalization)
        return after * (adjacency @ (before * h))
    nb = neighborhood(edges, num_nodes)
    before, after = _factors(tf.cast(nb.degrees, h.dtype), normalization)
    return after * _sum_of_neighbors(nb, before * h)


def _factors(degrees, normalization):
    """What features are multiplied by before and after the sum over neighbours: [N, 1] or 1."""
    degrees = degrees[:, None]
    if normalization == "sym":
        return tf.math.rsqrt(degrees), tf.math.rsqrt(degrees)
    return 1.0, 1.0 / degrees if normalization == "row" else 1.0


def _sum_of_neighbors(nb, h):
    """Â h, with a gradient that is a CSR product as well."""

    @tf.custom_gradient
    def run(h):
        def gradient(d_output):
            return sparse.matmul(nb.adjacency(h.dtype, transposed=True), d_output, nb.num_nodes)

        return sparse.matmul(nb.adjacency(h.dtype), h, nb.num_nodes), gradient

    return run(h)
