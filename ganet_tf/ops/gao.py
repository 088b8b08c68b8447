"""GAO, eq. (3): soft dot-product attention of each node over all its neighbours."""

import tensorflow as tf

from ganet_tf import native
from ganet_tf.ops.attention import attend, attend_natively, join_heads, kept, split_heads, times
from ganet_tf.ops.dense import adjacency_mask, entry_matrix, masked
from ganet_tf.ops.implementations import chosen, neighbor_lists
from ganet_tf.ops.neighbor_tables import all_neighbors, folded_matrix
from ganet_tf.ops.neighborhood import entry_weights, neighborhood
from ganet_tf.ops.precision import in_float32


@in_float32
def gao(
    queries: tf.Tensor,
    keys: tf.Tensor,
    values: tf.Tensor,
    edges: tf.Tensor,
    scale: float | str | None = None,
    implementation: str = "auto",
    edge_weights: tf.Tensor | None = None,
    heads: int = 1,
    score: str = "dot",
    temperature: tf.Tensor | None = None,
    dropout: float = 0.0,
    dropout_seed: tf.Tensor | None = None,
) -> tf.Tensor:
    """o_i = Σ_j softmax_j(a_ij q_i · k_j) v_j over j in N(i).

    Args:
        queries, keys: [N, F].
        values: [N, U].
        edges: [E, 2] (source, target).
        scale: factor on the scores: None (the paper's, 1), "sqrt" (1/√F) or a number.
        implementation: "auto", "native" or "sparse", O(E·F), or "dense", O(N²·F): see `implementations`.
        edge_weights: [E], a_ij of eq. (3), with a_ii = 1; None is 1 for every edge.
        heads: how many: `keys` are [N, heads · F], `values` [N, heads · U], `queries` as here or [N, heads · F].
        score: "dot"; "cosine", e_ij = τ q_i · k_j / (‖q_i‖ ‖k_j‖); or "uniform", the mean over N(i), for
            which queries and keys may be None.
        temperature: [heads], τ of "cosine".
        dropout: rate on the attention weights; needs `dropout_seed`, a [2] int seed. None: no dropout (inference).

    Returns:
        [N, heads · U].
    """
    way = chosen(implementation, values)
    parts = split_heads(queries, keys, values, heads, score, scale, temperature)
    if way == "native":
        lists = neighbor_lists(edges, tf.shape(values)[0], edge_weights)
        return attend_natively(lambda head, _, **o: native.gao(*head.tensors, lists, **o), parts, dropout, dropout_seed)
    run = _dense if way == "dense" else _sparse
    nb = neighborhood(edges, tf.shape(values)[0])
    factors = entry_weights(nb, edges, edge_weights, values.dtype)
    keeps = kept(nb, heads, dropout, dropout_seed, values.dtype)
    return join_heads([run(head, edges, nb, factors, keep) for head, keep in zip(parts, keeps, strict=True)])


def _sparse(head, edges, nb, factors, keep):
    return attend(head, all_neighbors(nb), folded_matrix(nb), factors, keep)


def _dense(head, edges, nb, factors, keep):
    mask = adjacency_mask(edges, nb.num_nodes)
    if head.uniform:
        scores = tf.zeros(tf.shape(mask), head.values.dtype)
    else:
        scores = times(tf.matmul(head.queries, head.keys, transpose_b=True), entry_matrix(nb, factors))
    return times(tf.nn.softmax(masked(scores, mask)), entry_matrix(nb, keep)) @ head.values
