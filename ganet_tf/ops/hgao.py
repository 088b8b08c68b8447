"""hGAO, eqs. (4)-(10): attention of each node over the k neighbours with the largest projections."""

import tensorflow as tf

from ganet_tf import native
from ganet_tf.ops.attention import (
    attend,
    attend_natively,
    join_heads,
    kept,
    split_heads,
    table_scores,
    table_softmax,
    times,
)
from ganet_tf.ops.checks import GATES, check_choice, check_k
from ganet_tf.ops.dense import adjacency_mask, attend_selected, entry_matrix, masked, ranking, top_k_mask
from ganet_tf.ops.implementations import chosen, neighbor_lists
from ganet_tf.ops.neighbor_tables import table_matrix
from ganet_tf.ops.neighborhood import entry_weights, neighborhood
from ganet_tf.ops.precision import in_float32
from ganet_tf.ops.selection import rankable, select_by_entry, select_by_node


@in_float32
def projection_scores(x: tf.Tensor, projection: tf.Tensor) -> tf.Tensor:
    """Eq. (4): y = |X p| / ‖p‖, [N]; zeros where p is zero."""
    # The gradient of a norm is NaN at zero, so a zero p is divided by a constant instead.
    safe = tf.where(tf.reduce_all(tf.equal(projection, 0)), tf.ones_like(projection), projection)
    return tf.abs(tf.linalg.matvec(x, projection)) / tf.norm(safe)


def gate(scores: tf.Tensor, kind: str | None = "sigmoid") -> tf.Tensor:
    """Eq. (7): what features are multiplied by. "sigmoid", σ(y); "double", 2 σ(y), which is 1 at y = 0; None, 1."""
    check_choice(kind, "gate", GATES)
    if kind is None:
        return tf.ones_like(scores)
    return tf.sigmoid(scores) if kind == "sigmoid" else 2.0 * tf.sigmoid(scores)


@in_float32
def hgao(
    queries: tf.Tensor,
    keys: tf.Tensor,
    values: tf.Tensor,
    scores: tf.Tensor,
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
    """o_i = Σ_j softmax_j(q_i · k_j) v_j over the k neighbours j in N(i) with the largest a_ij · `scores`_j.

    Args:
        queries: [N, F], the features x_i as they are.
        keys, values: [N, F] and [N, U], made from the gated features x̃_j.
        scores: [N], y of eq. (4), or [N, heads]. They rank and get no gradient here: p learns through the gate.
        edges: [E, 2] (source, target).
        k: how many neighbours to keep; nodes with fewer keep all.
        scale: factor on q · k: None (the paper's, 1), "sqrt" (1/√F) or a number.
        implementation: "auto", "native" or "sparse", O(E + N·k·F), or "dense", ranking N x N as the paper does: see
            `implementations`.
        edge_weights: [E], a_ij of eq. (5): they rank, with a_ii = 1, and do no more; None is 1 for every edge.
        heads: how many: `keys` are [N, heads · F], `values` [N, heads · U], `queries` as here or [N, heads · F].
        score: "dot"; "cosine", e_ij = τ q_i · k_j / (‖q_i‖ ‖k_j‖); or "uniform", the mean over the chosen, for
            which queries and keys may be None.
        temperature: [heads], τ of "cosine".
        dropout: rate on the attention weights; needs `dropout_seed`, a [2] int seed. None: no dropout (inference).

    Returns:
        [N, heads · U].
    """
    check_k(k)
    way = chosen(implementation, values)
    parts = split_heads(queries, keys, values, heads, score, scale, temperature)
    rankings = [scores] if heads == 1 else tf.unstack(scores, heads, axis=1)
    if way == "native":
        lists = neighbor_lists(edges, tf.shape(values)[0], edge_weights)

        def attended(head, number, **options):
            return native.hgao(*head.tensors, rankings[number], lists, k, **options)

        return attend_natively(attended, parts, dropout, dropout_seed)
    run = _dense if way == "dense" else _sparse
    nb = neighborhood(edges, tf.shape(values)[0])
    factors = entry_weights(nb, edges, edge_weights, scores.dtype)
    keeps = kept(nb, heads, dropout, dropout_seed, values.dtype)
    per_head = zip(parts, rankings, keeps, strict=True)
    return join_heads([run(head, own, k, edges, nb, factors, keep) for head, own, keep in per_head])


def _sparse(head, scores, k, edges, nb, factors, keep):
    table = _chosen(scores, k, nb, factors, entries=keep is not None)
    return attend(head, table, table_matrix(table, nb.num_nodes), keep=keep)


def _dense(head, scores, k, edges, nb, factors, keep):
    mask = adjacency_mask(edges, nb.num_nodes)
    if factors is None:
        to_rank = masked(tf.broadcast_to(rankable(tf.stop_gradient(scores))[None, :], tf.shape(mask)), mask)
    else:
        to_rank = ranking(scores[None, :] * entry_matrix(nb, factors), mask)
    return attend_selected(head, *top_k_mask(to_rank, k), keep=entry_matrix(nb, keep))


def _chosen(scores, k, nb, factors, entries=False):
    """Eq. (5): the k neighbours of each node with the largest a_ij y_j."""
    if factors is None:
        return select_by_node(nb, scores, k, entries)
    return select_by_entry(nb, factors * tf.gather(scores, nb.columns), k, entries)


@in_float32
def selected(
    queries: tf.Tensor | None,
    keys: tf.Tensor | None,
    scores: tf.Tensor,
    edges: tf.Tensor,
    k: int,
    scale: float | str | None = None,
    edge_weights: tf.Tensor | None = None,
    heads: int = 1,
    score: str = "dot",
    temperature: tf.Tensor | None = None,
) -> tuple[tf.Tensor, tf.Tensor]:
    """What hGAO attends to, the first in the ranking first; arguments as in `hgao`.

    Returns:
        (indices [N, w] int32, -1 where there is none; weights [N, w]); [N, heads, w] for several heads.
    """
    check_k(k)
    nb = neighborhood(edges, tf.shape(scores)[0])
    factors = entry_weights(nb, edges, edge_weights, scores.dtype)
    parts = split_heads(queries, keys, None, heads, score, scale, temperature)
    if heads == 1:
        return _selected(parts[0], scores, k, nb, factors)
    found = [_selected(*of_head, k, nb, factors) for of_head in zip(parts, tf.unstack(scores, axis=1), strict=True)]
    return tuple(tf.stack(tensors, axis=1) for tensors in zip(*found, strict=True))


def _selected(head, scores, k, nb, factors):
    table = _chosen(scores, k, nb, factors, entries=True)
    similarity = tf.zeros(tf.shape(table.columns), scores.dtype)
    if not head.uniform:
        similarity = table_scores(head.queries, head.keys, table)
    weights = table_softmax(similarity, table, nb.num_nodes)
    of_score = times(tf.gather(scores, table.columns), None if factors is None else tf.gather(factors, table.entries))
    by_index = tf.argsort(tf.where(table.mask, table.columns, tf.int32.max))
    of_score = tf.gather(masked(of_score, table.mask), by_index, batch_dims=1)
    by_score = tf.argsort(of_score, direction="DESCENDING", stable=True)  # stable: ties stay in order of the index
    order = tf.gather(by_index, by_score, batch_dims=1)
    indices = tf.where(table.mask, table.columns, -1)
    return tf.gather(indices, order, batch_dims=1), tf.gather(weights, order, batch_dims=1)
