"""GraphSAGE's aggregators: mean, sum or maximum over a node's neighbours, without the node itself."""

import tensorflow as tf

from ganet_tf.ops.checks import check_choice
from ganet_tf.ops.neighbor_sum import neighbor_counts, neighbor_sum
from ganet_tf.ops.neighborhood import neighborhood
from ganet_tf.ops.precision import in_float32

AGGREGATORS = ("mean", "max", "sum")


@in_float32
def aggregate_neighbors(h, edges, aggregator="mean"):
    """m_i = mean, maximum or sum of h_j over the neighbours j of i, zeros where there are none.

    Args:
        h: [N, C].
        edges: [E, 2] (source, target).
        aggregator: "mean", "max" (channel by channel) or "sum".

    Returns:
        [N, C].
    """
    check_choice(aggregator, "aggregator", AGGREGATORS)
    nb = neighborhood(edges, tf.shape(h)[0])
    if aggregator == "max":
        return _largest(nb, h)
    total = neighbor_sum(nb, h)
    return total if aggregator == "sum" else total / tf.maximum(neighbor_counts(nb, h.dtype), 1)


@in_float32
def unit_rows(h):
    """Each row of `h` [N, C] divided by its length; zeros stay."""
    return tf.math.l2_normalize(h, axis=-1)


def _largest(nb, h):
    """Maximum over neighbours; those that share it share its gradient."""
    lone = nb.degrees[:, None] < 2
    itself = tf.equal(nb.rows, nb.columns)[:, None]

    @tf.custom_gradient
    def run(h):
        lowest = tf.constant(float("-inf"), h.dtype)
        entries = tf.where(itself, lowest, tf.gather(h, nb.columns))  # [E + N, C]
        largest = tf.math.segment_max(entries, nb.rows)
        attained = tf.equal(entries, tf.gather(largest, nb.rows)) & ~itself

        def gradient(d_output):
            ones = tf.cast(attained, h.dtype)
            share = d_output / tf.maximum(tf.math.segment_sum(ones, nb.rows), 1)
            # Summed in the order of the columns: the gradient of a gather would scatter.
            order = nb.part("by_column", lambda: tf.argsort(nb.columns, stable=True))
            parts = tf.gather(ones * tf.gather(share, nb.rows), order)
            return tf.math.segment_sum(parts, tf.gather(nb.columns, order))

        return tf.where(lone, tf.zeros([], h.dtype), largest), gradient

    result = run(h)
    result.set_shape([None, h.shape[1]])
    return result
