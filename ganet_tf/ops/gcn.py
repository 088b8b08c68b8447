"""The graph convolution of Kipf and Welling: D̂^-½ Â D̂^-½ H with Â = A + I."""

import tensorflow as tf

from ganet_tf import native
from ganet_tf.ops import sparse
from ganet_tf.ops.checks import NORMALIZATIONS, check_choice
from ganet_tf.ops.dense import adjacency_mask, entry_matrix
from ganet_tf.ops.implementations import chosen, neighbor_lists
from ganet_tf.ops.neighborhood import entry_weights, neighborhood, weighted
from ganet_tf.ops.precision import in_float32


@in_float32
def gcn(
    h: tf.Tensor,
    edges: tf.Tensor,
    normalization: str | None = "sym",
    implementation: str = "auto",
    edge_weights: tf.Tensor | None = None,
) -> tf.Tensor:
    """Sum each node's neighbours' `h` [N, F] with GCN's weights.

    Args:
        h: [N, F] features, X W of the GCN layer.
        edges: [E, 2] (source, target).
        normalization: "sym", 1/√(d̂_i d̂_j); "row", 1/d̂_i (DGCNN's); or None, 1.
        implementation: "auto", "native", "sparse" or "dense": see `implementations`.
        edge_weights: [E], a_ij of Â, with a_ii = 1 and d̂_i = Σ_j a_ij; None is 1 for every edge.
    """
    check_choice(normalization, "normalization", NORMALIZATIONS)
    way, num_nodes = chosen(implementation, h), tf.shape(h)[0]
    if way == "native":
        return native.gcn(h, neighbor_lists(edges, num_nodes, edge_weights), normalization)
    if way == "dense":
        adjacency = tf.cast(adjacency_mask(edges, num_nodes), h.dtype)
        if edge_weights is not None:
            nb = neighborhood(edges, num_nodes)
            adjacency = entry_matrix(nb, entry_weights(nb, edges, edge_weights, h.dtype))
        before, after = _factors(tf.reduce_sum(adjacency, axis=1), normalization)
        return after * (adjacency @ (before * h))
    graph = neighborhood(edges, num_nodes)
    if edge_weights is not None:
        graph = weighted(graph, edges, edge_weights)
    before, after = _factors(tf.cast(graph.degrees, h.dtype), normalization)
    return after * _sum_of_neighbors(graph, before * h)


def _factors(degrees, normalization):
    """What features are multiplied by before and after the sum over neighbours: [N, 1] or 1."""
    degrees = degrees[:, None]
    if normalization == "sym":
        return tf.math.rsqrt(degrees), tf.math.rsqrt(degrees)
    return 1.0, 1.0 / degrees if normalization == "row" else 1.0


def _sum_of_neighbors(graph, h):
    """Â h, with a gradient that is a CSR product as well."""

    @tf.custom_gradient
    def run(h):
        def gradient(d_output):
            return sparse.matmul(graph.adjacency(h.dtype, transposed=True), d_output, tf.shape(h)[0])

        return sparse.matmul(graph.adjacency(h.dtype), h, tf.shape(h)[0]), gradient

    return run(h)
