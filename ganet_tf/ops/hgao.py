"""hGAO, eqs. (4)-(10): attention of each node over the k neighbours with the largest projections."""

import tensorflow as tf

from ganet_tf.ops.attention import attend, scaled, table_scores, table_softmax
from ganet_tf.ops.checks import check_implementation, check_k
from ganet_tf.ops.dense import adjacency_mask, attend_selected, masked, top_k_mask
from ganet_tf.ops.neighbor_tables import table_matrix
from ganet_tf.ops.neighborhood import neighborhood
from ganet_tf.ops.precision import in_float32
from ganet_tf.ops.selection import rankable, select_by_node


@in_float32
def projection_scores(x: tf.Tensor, projection: tf.Tensor) -> tf.Tensor:
    """Eq. (4): y = |X p| / ‖p‖, [N]; zeros where p is zero."""
    # The gradient of a norm is NaN at zero, so a zero p is divided by a constant instead.
    safe = tf.where(tf.reduce_all(tf.equal(projection, 0)), tf.ones_like(projection), projection)
    return tf.abs(tf.linalg.matvec(x, projection)) / tf.norm(safe)


@in_float32
def hgao(
    queries: tf.Tensor,
    keys: tf.Tensor,
    values: tf.Tensor,
    scores: tf.Tensor,
    edges: tf.Tensor,
    k: int,
    scale: float | str | None = None,
    implementation: str = "sparse",
) -> tf.Tensor:
    """o_i = Σ_j softmax_j(q_i · k_j) v_j over the k neighbours j in N(i) with the largest `scores`.

    Args:
        queries: [N, F], the features x_i as they are.
        keys, values: [N, F] and [N, U], made from the gated features x̃_j.
        scores: [N], y of eq. (4). They rank and get no gradient here: p learns through the gate.
        edges: [E, 2] (source, target).
        k: how many neighbours to keep; nodes with fewer keep all.
        scale: factor on q · k: None (the paper's, 1), "sqrt" (1/√F) or a number.
        implementation: "sparse", O(E + N·k·F), or "dense", ranking N x N as the paper does.
    """
    check_k(k)
    check_implementation(implementation)
    queries = scaled(queries, scale)
    num_nodes = tf.shape(queries)[0]
    if implementation == "dense":
        to_rank = tf.broadcast_to(rankable(scores)[None, :], [num_nodes, num_nodes])
        to_rank = masked(to_rank, adjacency_mask(edges, num_nodes))
        return attend_selected(queries, keys, values, *top_k_mask(to_rank, k))
    table = _chosen(scores, edges, k)
    return attend(queries, keys, values, table, table_matrix(table, num_nodes))


@in_float32
def selected(
    queries: tf.Tensor, keys: tf.Tensor, scores: tf.Tensor, edges: tf.Tensor, k: int, scale: float | str | None = None
) -> tuple[tf.Tensor, tf.Tensor]:
    """What hGAO attends to: (indices [N, w] int32, -1 where there is none; weights [N, w]), largest score first."""
    check_k(k)
    table = _chosen(scores, edges, k)
    weights = table_softmax(table_scores(scaled(queries, scale), keys, table), table, tf.shape(scores)[0])
    indices = tf.where(table.mask, table.columns, tf.int32.max)
    by_index = tf.argsort(indices)
    indices, weights = (tf.gather(t, by_index, batch_dims=1) for t in (indices, weights))
    found = indices < tf.int32.max
    ranking = tf.where(found, tf.gather(scores, tf.where(found, indices, 0)), tf.constant(float("-inf"), scores.dtype))
    by_score = tf.argsort(ranking, direction="DESCENDING", stable=True)  # stable: ties stay in order of the index
    return tf.gather(tf.where(found, indices, -1), by_score, batch_dims=1), tf.gather(weights, by_score, batch_dims=1)


def _chosen(scores, edges, k):
    nb = neighborhood(edges, tf.shape(scores)[0])
    return select_by_node(nb, scores, k)
