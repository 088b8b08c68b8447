"""The alternative of section 3.1: the k neighbours with the largest similarity scores, then as GAO."""

import tensorflow as tf

from ganet_tf.ops.attention import attend, scaled, table_scores
from ganet_tf.ops.checks import check_implementation, check_k
from ganet_tf.ops.dense import adjacency_mask, attend_selected, ranking, top_k_mask
from ganet_tf.ops.neighbor_tables import all_neighbors, entry_places, table_matrix
from ganet_tf.ops.neighborhood import Neighborhood, neighborhood
from ganet_tf.ops.precision import in_float32
from ganet_tf.ops.selection import select_by_entry


@in_float32
def topk_gao(
    queries: tf.Tensor,
    keys: tf.Tensor,
    values: tf.Tensor,
    edges: tf.Tensor,
    k: int,
    scale: float | str | None = None,
    implementation: str = "sparse",
) -> tf.Tensor:
    """o_i = Σ_j softmax_j(q_i · k_j) v_j over the k neighbours j in N(i) with the largest q_i · k_j.

    Arguments as in `gao`; `k` is the number of neighbours to keep.
    """
    check_k(k)
    check_implementation(implementation)
    queries = scaled(queries, scale)
    num_nodes = tf.shape(queries)[0]
    if implementation == "dense":
        scores = ranking(tf.matmul(queries, keys, transpose_b=True), adjacency_mask(edges, num_nodes))
        return attend_selected(queries, keys, values, *top_k_mask(scores, k))
    nb = neighborhood(edges, num_nodes)
    table = select_by_entry(nb, entry_scores(queries, keys, nb), k)
    return attend(queries, keys, values, table, table_matrix(table, num_nodes))


def entry_scores(queries: tf.Tensor, keys: tf.Tensor, nb: Neighborhood) -> tf.Tensor:
    """q_i · k_j for every entry (i, j) of the neighbour lists: [E + N]."""
    scores = table_scores(queries, keys, all_neighbors(nb))
    return tf.gather(tf.reshape(scores, [-1]), entry_places(nb))
