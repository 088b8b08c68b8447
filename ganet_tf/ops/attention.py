"""Soft attention of each node over a `Table` of neighbours, with a gradient of our own.

    e_ij = q_i · k_j,    α_i = softmax over the table's row(s) of i,    o_i = Σ_j α_ij v_j

Scores are batched products against gathered keys; the weighted sum and the gradients, which TensorFlow would
run as slow scatters, are products with CSR matrices.
"""

import tensorflow as tf

from ganet_tf.ops import csr


def scaled(queries, scale):
    """`queries` times the scores' factor: None is 1 (the paper), "sqrt" is 1/√F, or any number."""
    if scale is None:
        return queries
    factor = float(queries.shape[1]) ** -0.5 if scale == "sqrt" else float(scale)
    return queries * tf.cast(factor, queries.dtype)


def attend(queries, keys, values, table):
    """The attention output [N, U] of `queries` [N, F] over the `keys` [N, F] and `values` [N, U] in `table`."""
    num_nodes = tf.shape(queries)[0]

    @tf.custom_gradient
    def run(queries, keys, values):
        weights = table_softmax(table_scores(queries, keys, table), table, num_nodes)
        matrix = matrix_of_table(weights, table, num_nodes)
        output = csr.matmul(matrix, values)

        def gradient(d_output):
            d_weights = table_scores(d_output, values, table)
            # Σ_j α_ij dα_ij = do_i · o_i, so the softmax needs no second pass over the table.
            mean = per_row(tf.reduce_sum(d_output * output, axis=1), table)
            d_scores = matrix_of_table(weights * (d_weights - mean[:, None]), table, num_nodes)
            d_queries = csr.matmul(d_scores, keys)
            d_keys = csr.matmul(d_scores, queries, transpose_a=True)
            d_values = csr.matmul(matrix, d_output, transpose_a=True)
            return d_queries, d_keys, d_values

        return output, gradient

    return run(queries, keys, values)


def attention_weights(queries, keys, table):
    """The weights α in the shape of `table`, zero where it is masked."""
    return table_softmax(table_scores(queries, keys, table), table, tf.shape(queries)[0])


def table_scores(left, right, table):
    """left_i · right_j for each place (i, j) of `table`: [R, W]."""
    gathered = tf.gather(right, table.columns)  # [R, W, F]
    return tf.matmul(gathered, per_row(left, table)[:, :, None])[:, :, 0]


def table_softmax(scores, table, num_nodes):
    """The softmax of `scores` [R, W] over all places that belong to the same node."""
    scores = tf.where(table.mask, scores, tf.constant(float("-inf"), scores.dtype))
    if table.rows is None:
        return tf.nn.softmax(scores)
    largest = tf.math.unsorted_segment_max(tf.reduce_max(scores, axis=1), table.rows, num_nodes)
    weights = tf.exp(scores - per_row(largest, table)[:, None])
    total = tf.math.unsorted_segment_sum(tf.reduce_sum(weights, axis=1), table.rows, num_nodes)
    return weights / per_row(total, table)[:, None]


def per_row(per_node, table):
    """What belongs to each node, [N, ...], for each row of `table`, [R, ...]."""
    return per_node if table.rows is None else tf.gather(per_node, table.rows)


def matrix_of_table(weights, table, num_nodes):
    """The [N, N] CSR matrix with `weights` [R, W] at the places of `table`."""
    rows = tf.range(num_nodes) if table.rows is None else table.rows
    rows = tf.broadcast_to(rows[:, None], tf.shape(table.columns))
    flat = [tf.reshape(t, [-1]) for t in (rows, table.columns, weights)]
    return csr.csr_matrix(*flat, num_nodes, num_nodes)
