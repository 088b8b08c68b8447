"""The alternative of section 3.1: the k neighbours with the largest similarity scores, then as GAO."""

import tensorflow as tf

from ganet_tf import native
from ganet_tf.ops.attention import attend, attend_natively, join_heads, kept, split_heads, table_scores, times
from ganet_tf.ops.checks import check_k
from ganet_tf.ops.dense import adjacency_mask, attend_selected, entry_matrix, ranking, top_k_mask
from ganet_tf.ops.implementations import chosen, neighbor_lists
from ganet_tf.ops.neighbor_tables import all_neighbors, entry_places, table_matrix
from ganet_tf.ops.neighborhood import Neighborhood, entry_weights, neighborhood
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
    implementation: str = "auto",
    edge_weights: tf.Tensor | None = None,
    heads: int = 1,
    score: str = "dot",
    temperature: tf.Tensor | None = None,
    dropout: float = 0.0,
    dropout_seed: tf.Tensor | None = None,
) -> tf.Tensor:
    """o_i = Σ_j softmax_j(e_ij) v_j over the k neighbours j in N(i) with the largest e_ij = a_ij q_i · k_j.

    Arguments as in `gao`; `k` is the number of neighbours to keep. With `score="uniform"` e_ij ranks, and the chosen
    are averaged: queries and keys are needed here, but get no gradient.
    """
    check_k(k)
    way = chosen(implementation, values)
    parts = split_heads(queries, keys, values, heads, score, scale, temperature)
    if way == "native":
        lists = neighbor_lists(edges, tf.shape(values)[0], edge_weights)

        def attended(head, _, **options):
            return native.topk_gao(*head[:3], lists, k, uniform=head.uniform, **options)

        return attend_natively(attended, parts, dropout, dropout_seed)
    run = _dense if way == "dense" else _sparse
    nb = neighborhood(edges, tf.shape(values)[0])
    factors = entry_weights(nb, edges, edge_weights, values.dtype)
    keeps = kept(nb, heads, dropout, dropout_seed, values.dtype)
    return join_heads([run(head, k, edges, nb, factors, keep) for head, keep in zip(parts, keeps, strict=True)])


def _sparse(head, k, edges, nb, factors, keep):
    scores = times(entry_scores(head.queries, head.keys, nb), factors)
    table = select_by_entry(nb, scores, k, entries=factors is not None or keep is not None)
    return attend(head, table, table_matrix(table, nb.num_nodes), factors, keep)


def _dense(head, k, edges, nb, factors, keep):
    factors = entry_matrix(nb, factors)
    scores = times(tf.matmul(head.queries, head.keys, transpose_b=True), factors)
    chosen = top_k_mask(ranking(scores, adjacency_mask(edges, nb.num_nodes)), k)
    return attend_selected(head, *chosen, factors, entry_matrix(nb, keep))


def entry_scores(queries: tf.Tensor, keys: tf.Tensor, nb: Neighborhood) -> tf.Tensor:
    """q_i · k_j for every entry (i, j) of the neighbour lists: [E + N]."""
    scores = table_scores(queries, keys, all_neighbors(nb))
    return tf.gather(tf.reshape(scores, [-1]), entry_places(nb))
