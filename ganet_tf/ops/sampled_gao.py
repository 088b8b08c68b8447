"""The hard attention of Xu et al. (2015) on a graph: one neighbour, drawn from softmax_j(q_i · k_j).

The paper describes it (section 2.2) and says that nobody had realised it on graphs. Instead of reinforcement
learning it is trained with the straight-through Gumbel-softmax (Jang et al., 2017): the output is the drawn
neighbour's value, the gradient that of the softmax of the noisy scores.
"""

import tensorflow as tf

from ganet_tf.ops import sparse
from ganet_tf.ops.attention import per_row, scaled, table_scores, table_softmax, times
from ganet_tf.ops.dense import adjacency_mask, entry_matrix, masked, ranking, top_k_mask
from ganet_tf.ops.implementations import check_implementation
from ganet_tf.ops.neighbor_tables import all_neighbors, entry_places, folded_matrix
from ganet_tf.ops.neighborhood import entry_weights, neighborhood
from ganet_tf.ops.precision import in_float32
from ganet_tf.ops.selection import select_by_entry


@in_float32
def sampled_gao(
    queries: tf.Tensor,
    keys: tf.Tensor,
    values: tf.Tensor,
    edges: tf.Tensor,
    temperature: float = 1.0,
    noise_seed: tf.Tensor | None = None,
    scale: float | str | None = None,
    implementation: str = "auto",
    edge_weights: tf.Tensor | None = None,
) -> tf.Tensor:
    """o_i = v_j for one neighbour j of i.

    Args:
        queries, keys: [N, F].
        values: [N, U].
        edges: [E, 2] (source, target).
        temperature: of the softmax that gives the gradient; lower is closer to the drawn neighbour, and noisier.
        noise_seed: [2] int seed of the draw (training), or None for the most probable neighbour (inference).
        scale, implementation, edge_weights: as in `gao`; there is no native kernel, "auto" and "native" are "sparse".
    """
    check_implementation(implementation)
    queries = scaled(queries, scale)
    nb = neighborhood(edges, tf.shape(queries)[0])
    noise = _gumbel(tf.shape(nb.columns), noise_seed, queries.dtype)
    run = _sampled_dense if implementation == "dense" else _sampled_sparse
    factors = entry_weights(nb, edges, edge_weights, queries.dtype)
    return run(queries, keys, values, nb, edges, noise, temperature, factors)


def _gumbel(shape, seed, dtype):
    """Gumbel noise for each entry of the neighbour lists: argmax(e + noise) is a draw from softmax(e)."""
    if seed is None:
        return tf.zeros(shape, dtype)
    tiny = dtype.as_numpy_dtype(1e-20) if dtype == tf.float32 else dtype.as_numpy_dtype(1e-200)
    uniform = tf.random.stateless_uniform(shape, seed, minval=tiny, maxval=1.0, dtype=dtype)
    return -tf.math.log(-tf.math.log(uniform) + tiny)


def _sampled_sparse(queries, keys, values, nb, _, noise, temperature, factors):
    table, places = all_neighbors(nb), entry_places(nb)
    factors = None if factors is None else tf.gather(factors, table.entries)
    flat_noise = tf.dynamic_stitch(
        [tf.range(tf.size(table.columns)), tf.cast(places, tf.int32)],
        [tf.zeros([tf.size(table.columns)], noise.dtype), noise],
    )

    @tf.custom_gradient
    def run(queries, keys, values):
        noisy = times(table_scores(queries, keys, table), factors) + tf.reshape(flat_noise, tf.shape(table.columns))
        best = select_by_entry(nb, tf.gather(tf.reshape(noisy, [-1]), places), 1).columns
        drawn = tf.reshape(best, [-1])  # [N, 1], or [0, 0] without nodes

        def gradient(d_output):
            soft = table_softmax(noisy / temperature, table, nb.num_nodes)
            d_soft = table_scores(d_output, values, table)
            mean = tf.reduce_sum(soft * d_soft, axis=1)
            if table.rows is not None:
                mean = tf.math.unsorted_segment_sum(mean, table.rows, nb.num_nodes)
            d_noisy = soft * (d_soft - per_row(mean, table)[:, None]) / temperature
            d_scores = folded_matrix(nb)(times(d_noisy, factors))
            places = sparse.indices(tf.range(nb.num_nodes), drawn)
            hard = sparse.square_matrix(places, tf.ones_like(drawn, d_output.dtype), nb.num_nodes)
            return (
                sparse.matmul(d_scores, keys, nb.num_nodes),
                sparse.matmul(sparse.transpose(d_scores, d_output.dtype), queries, nb.num_nodes),
                sparse.matmul(sparse.transpose(hard, d_output.dtype), d_output, nb.num_nodes),
            )

        return tf.gather(values, drawn), gradient

    return run(queries, keys, values)


def _sampled_dense(queries, keys, values, nb, edges, noise, temperature, factors):
    mask = adjacency_mask(edges, nb.num_nodes)
    entries = tf.stack([nb.rows, nb.columns], 1)
    noise = tf.scatter_nd(entries, noise, tf.stack([nb.num_nodes, nb.num_nodes]))
    noisy = times(tf.matmul(queries, keys, transpose_b=True), entry_matrix(nb, factors)) + noise
    soft = tf.nn.softmax(masked(noisy, mask) / temperature)
    drawn = tf.reshape(top_k_mask(ranking(noisy, mask), 1)[0], [-1])
    hard = tf.one_hot(drawn, nb.num_nodes, dtype=values.dtype)
    return (soft + tf.stop_gradient(hard - soft)) @ values
