"""Soft attention of each node over a `Table` of neighbours, with a gradient of our own.

    e_ij = q_i · k_j,    α_i = softmax over the table's row(s) of i,    o_i = Σ_j α_ij v_j

Scores are batched products against gathered keys; the weighted sum and the gradients, which TensorFlow would
run as slow scatters, are products with CSR matrices.
"""

import tensorflow as tf

from ganet_tf.ops import sparse
from ganet_tf.ops.neighbor_tables import Table

# Gathered keys and values of more bytes than this are worked on block by block: they stay in the cache, and
# the allocator does not have to map and clear new pages on every call.
BLOCK_BYTES = 4 * 2**20


def scaled(queries: tf.Tensor, scale: float | str | None) -> tf.Tensor:
    """`queries` times the scores' factor: None is 1 (the paper), "sqrt" is 1/√F, or any number."""
    if scale is None:
        return queries
    factor = float(queries.shape[1]) ** -0.5 if scale == "sqrt" else float(scale)
    return queries * tf.constant(factor, queries.dtype)


def attend(queries: tf.Tensor, keys: tf.Tensor, values: tf.Tensor, table: Table, matrix_of) -> tf.Tensor:
    """The output [N, U] of `queries` [N, F] attending to the `keys` [N, F] and `values` [N, U] in `table`.

    `matrix_of` makes the CSR matrix with given weights [R, W] at the places of `table`.
    """
    num_nodes = tf.shape(queries)[0]

    @tf.custom_gradient
    def run(queries, keys, values):
        weights = table_softmax(table_scores(queries, keys, table), table, num_nodes)
        output = sparse.matmul(matrix_of(weights), values, num_nodes)

        def gradient(d_output):
            d_weights = table_scores(d_output, values, table)
            # Σ_j α_ij dα_ij = do_i · o_i, so the softmax needs no second pass over the table.
            mean = per_row(tf.reduce_sum(d_output * output, axis=1), table)
            d_scores = matrix_of(weights * (d_weights - mean[:, None]))
            d_queries = sparse.matmul(d_scores, keys, num_nodes)
            d_keys = sparse.matmul(sparse.transpose(d_scores, queries.dtype), queries, num_nodes)
            d_values = sparse.matmul(sparse.transpose(matrix_of(weights), queries.dtype), d_output, num_nodes)
            return d_queries, d_keys, d_values

        return output, gradient

    return run(queries, keys, values)


def table_scores(left: tf.Tensor, right: tf.Tensor, table: Table) -> tf.Tensor:
    """left_i · right_j for each place (i, j) of `table`: [R, W]."""
    shape = tf.shape(table.columns)
    row_bytes = shape[1] * left.shape[1] * left.dtype.size
    block = tf.maximum(BLOCK_BYTES // tf.maximum(row_bytes, 1), 1)

    def scores(start, end):
        rows = None if table.rows is None else table.rows[start:end]
        mine = left[start:end] if rows is None else tf.gather(left, rows)
        gathered = tf.gather(right, table.columns[start:end])  # [rows, W, F]
        return tf.matmul(gathered, mine[:, :, None])[:, :, 0]

    def block_by_block():
        count = (shape[0] + block - 1) // block
        parts = tf.TensorArray(left.dtype, size=count, infer_shape=False, element_shape=[None, None])

        def step(b, parts):
            start = b * block
            return b + 1, parts.write(b, scores(start, tf.minimum(start + block, shape[0])))

        return tf.while_loop(lambda b, _: b < count, step, [0, parts])[1].concat()

    result = tf.cond(shape[0] <= block, lambda: scores(0, shape[0]), block_by_block)
    result.set_shape(table.columns.shape)
    return result


def table_softmax(scores: tf.Tensor, table: Table, num_nodes: tf.Tensor) -> tf.Tensor:
    """The softmax of `scores` [R, W] over all places that belong to the same node."""
    scores = tf.where(table.mask, scores, tf.constant(float("-inf"), scores.dtype))
    if table.rows is None:
        return tf.nn.softmax(scores)
    largest = tf.math.unsorted_segment_max(tf.reduce_max(scores, axis=1), table.rows, num_nodes)
    weights = tf.exp(scores - per_row(largest, table)[:, None])
    total = tf.math.unsorted_segment_sum(tf.reduce_sum(weights, axis=1), table.rows, num_nodes)
    return weights / per_row(total, table)[:, None]


def per_row(per_node: tf.Tensor, table: Table) -> tf.Tensor:
    """What belongs to each node, [N, ...], for each row of `table`, [R, ...]."""
    return per_node if table.rows is None else tf.gather(per_node, table.rows)
