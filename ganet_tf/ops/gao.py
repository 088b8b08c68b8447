"""GAO, eq. (3): soft dot-product attention of each node over all its neighbours."""

import tensorflow as tf

from ganet_tf.ops.attention import attend, scaled
from ganet_tf.ops.checks import check_implementation
from ganet_tf.ops.dense import adjacency_mask, masked
from ganet_tf.ops.neighbor_tables import all_neighbors, folded_matrix
from ganet_tf.ops.neighborhood import neighborhood
from ganet_tf.ops.precision import in_float32


@in_float32
def gao(
    queries: tf.Tensor,
    keys: tf.Tensor,
    values: tf.Tensor,
    edges: tf.Tensor,
    scale: float | str | None = None,
    implementation: str = "sparse",
) -> tf.Tensor:
    """o_i = Σ_j softmax_j(q_i · k_j) v_j over j in N(i).

    Args:
        queries, keys: [N, F].
        values: [N, U].
        edges: [E, 2] (source, target).
        scale: factor on the scores: None (the paper's, 1), "sqrt" (1/√F) or a number.
        implementation: "sparse", O(E·F), or "dense", O(N²·F).
    """
    check_implementation(implementation)
    queries = scaled(queries, scale)
    num_nodes = tf.shape(queries)[0]
    if implementation == "dense":
        mask = adjacency_mask(edges, num_nodes)
        scores = masked(tf.matmul(queries, keys, transpose_b=True), mask)
        return tf.nn.softmax(scores) @ values
    nb = neighborhood(edges, num_nodes)
    return attend(queries, keys, values, all_neighbors(nb), folded_matrix(nb))
