"""Soft attention of each node over a `Table` of neighbours, with a gradient of our own.

    e_ij = q_i · k_j,    α_i = softmax over the table's row(s) of i,    o_i = Σ_j α_ij v_j

Scores are batched products against gathered keys; the weighted sum and the gradients, which TensorFlow would
run as slow scatters, are products with CSR matrices.

The kinds of score come down to this one: "cosine" is a dot product of normalised queries and keys, "uniform" has no
scores. Edge weights and dropout are numbers for each entry (i, j) of the neighbour lists, so that every
implementation can use the same ones.
"""

from typing import NamedTuple

import tensorflow as tf

from ganet_tf.ops import sparse
from ganet_tf.ops.checks import SCORES, check_choice
from ganet_tf.ops.neighbor_tables import Table

# Gathered keys and values of more bytes than this are worked on block by block: they stay in the cache, and
# the allocator does not have to map and clear new pages on every call.
BLOCK_BYTES = 4 * 2**20


class Head(NamedTuple):
    """What one head attends with, after `scale` and the kind of score."""

    queries: tf.Tensor | None  # [N, D]
    keys: tf.Tensor | None  # [N, D]
    values: tf.Tensor  # [N, U]
    uniform: bool  # whether all that are attended to get the same weight; queries and keys then at most rank

    @property
    def tensors(self):
        """Queries, keys and values, the first two None where all weights are the same."""
        return (None, None, self.values) if self.uniform else self[:3]


def split_heads(queries, keys, values, heads=1, score="dot", scale=None, temperature=None) -> list[Head]:
    """The channels of each head, ready for dot products.

    Args:
        queries: [N, D], the same for all heads, or [N, heads · D].
        keys, values: [N, heads · D] and [N, heads · U].
        score: "dot", q · k; "cosine", τ q · k / (‖q‖ ‖k‖); "uniform", for which queries and keys, the same for all
            heads, only rank, or are None.
        scale: factor on the scores, see `scaled`.
        temperature: [heads], τ of "cosine".
    """
    check_choice(score, "score", SCORES)
    found = []
    for h in range(heads):
        own_values = _part(values, h, heads)
        if score == "uniform":
            found.append(Head(queries, keys, own_values, True))
            continue
        own_keys = _part(keys, h, heads)
        one_for_all = queries.shape[1] == own_keys.shape[1]
        own_queries = queries if one_for_all else _part(queries, h, heads)
        if score == "cosine":
            own_queries = temperature[h] * tf.math.l2_normalize(own_queries, 1)
            own_keys = tf.math.l2_normalize(own_keys, 1)
        found.append(Head(scaled(own_queries, scale), own_keys, own_values, False))
    return found


def _part(tensor, head, heads):
    """The channels of one head."""
    if tensor is None or heads == 1:
        return tensor
    width = tensor.shape[1] // heads
    return tensor[:, head * width : (head + 1) * width]


def join_heads(outputs: list[tf.Tensor]) -> tf.Tensor:
    """[N, heads · U] from [N, U] of each head."""
    return outputs[0] if len(outputs) == 1 else tf.concat(outputs, axis=1)


def kept(nb, heads: int, dropout: float, seed: tf.Tensor | None, dtype) -> list:
    """For each head what dropout multiplies α_ij by, [E + N]: 0 or 1 / (1 - rate); None for no dropout."""
    if not dropout or seed is None:
        return [None] * heads
    ones = tf.ones([heads, tf.size(nb.columns)], dtype)
    return tf.unstack(tf.nn.experimental.stateless_dropout(ones, dropout, seed=seed))


def attend_natively(run, parts: list[Head], dropout: float, dropout_seed: tf.Tensor | None) -> tf.Tensor:
    """The joined outputs of `run(head, number, dropout=..., dropout_seed=...)`, which is native, for each head."""
    seeds = [None] * len(parts)
    if dropout and dropout_seed is not None:
        seeds = [tf.add(tf.cast(dropout_seed, tf.int64), [0, number]) for number in range(len(parts))]
    options = [{"dropout": dropout, "dropout_seed": seed} for seed in seeds]
    return join_heads([run(head, number, **options[number]) for number, head in enumerate(parts)])


def scaled(queries: tf.Tensor, scale: float | str | None) -> tf.Tensor:
    """`queries` times the scores' factor: None is 1 (the paper), "sqrt" is 1/√F, or any number."""
    if scale is None:
        return queries
    factor = float(queries.shape[1]) ** -0.5 if scale == "sqrt" else float(scale)
    return queries * tf.constant(factor, queries.dtype)


def attend(head: Head, table: Table, matrix_of, factors: tf.Tensor | None = None, keep: tf.Tensor | None = None):
    """The output [N, U] of a head's queries attending to its keys and values in `table`.

    Args:
        head: queries, keys and values.
        table: whom each node attends to; with `entries` where one of the last two arguments is given.
        matrix_of: makes the CSR matrix with given weights [R, W] at the places of `table`.
        factors: [E + N], what the scores e_ij are multiplied by (edge weights), or None.
        keep: [E + N], what the attention weights α_ij are multiplied by (dropout), or None.
    """
    factors, keep = (None if t is None else tf.gather(t, table.entries) for t in (factors, keep))
    if head.uniform:
        return _average(head.values, table, matrix_of, keep)
    return _attend(head.queries, head.keys, head.values, table, matrix_of, factors, keep)


def _attend(queries, keys, values, table, matrix_of, factors, keep):
    num_nodes = tf.shape(queries)[0]

    @tf.custom_gradient
    def run(queries, keys, values):
        weights = table_softmax(times(table_scores(queries, keys, table), factors), table, num_nodes)
        output = sparse.matmul(matrix_of(times(weights, keep)), values, num_nodes)

        def gradient(d_output):
            d_weights = times(table_scores(d_output, values, table), keep)
            # Σ_j α_ij dα_ij = do_i · o_i, so the softmax needs no second pass over the table.
            mean = per_row(tf.reduce_sum(d_output * output, axis=1), table)
            d_scores = matrix_of(times(weights * (d_weights - mean[:, None]), factors))
            d_queries = sparse.matmul(d_scores, keys, num_nodes)
            d_keys = sparse.matmul(sparse.transpose(d_scores, queries.dtype), queries, num_nodes)
            kept_weights = sparse.transpose(matrix_of(times(weights, keep)), queries.dtype)
            d_values = sparse.matmul(kept_weights, d_output, num_nodes)
            return d_queries, d_keys, d_values

        return output, gradient

    return run(queries, keys, values)


def _average(values, table, matrix_of, keep):
    """The mean of the values in each node's row(s) of `table`."""
    weights = times(table_softmax(tf.zeros(tf.shape(table.columns), values.dtype), table, tf.shape(values)[0]), keep)

    @tf.custom_gradient
    def run(values):
        def gradient(d_output):
            return sparse.matmul(sparse.transpose(matrix_of(weights), values.dtype), d_output, tf.shape(values)[0])

        return sparse.matmul(matrix_of(weights), values, tf.shape(values)[0]), gradient

    return run(values)


def times(tensor: tf.Tensor, factors: tf.Tensor | None) -> tf.Tensor:
    """`tensor` times `factors`, of which None stands for ones."""
    return tensor if factors is None else tensor * factors


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
