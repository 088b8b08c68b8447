"""GraphSAGE's aggregators: mean, sum or maximum over a node's neighbours, without the node itself."""

import tensorflow as tf

from ganet_tf import native
from ganet_tf.ops.checks import check_choice
from ganet_tf.ops.implementations import chosen
from ganet_tf.ops.neighbor_sum import neighbors
from ganet_tf.ops.precision import in_float32

AGGREGATORS = ("mean", "max", "sum")


@in_float32
def aggregate_neighbors(h, edges, aggregator="mean", edge_weights=None, implementation="auto"):
    """m_i = mean, maximum or sum of a_ij h_j over the neighbours j of i, zeros where there are none.

    The mean is Σ_j a_ij h_j / Σ_j a_ij; without weights every a_ij is 1.

    Args:
        h: [N, C].
        edges: [E, 2] (source, target).
        aggregator: "mean", "max" (channel by channel) or "sum".
        edge_weights: [E], a_ij; None is 1 for every edge.
        implementation: "auto", "native" or "sparse": see `implementations`. A maximum with weights is sparse.

    Returns:
        [N, C].
    """
    check_choice(aggregator, "aggregator", AGGREGATORS)
    way = chosen(implementation, h)
    if aggregator == "max" and edge_weights is not None:
        way = "sparse"
    graph = neighbors(edges, tf.shape(h)[0], way, edge_weights)
    if aggregator == "max":
        return native.neighbor_max(h, graph.lists, loops=False) if way == "native" else _largest(graph, h)
    if aggregator == "sum":
        return graph.sum(h)
    if way == "native":
        return graph.mean(h)
    total, counts = graph.sum(h), graph.counts(h.dtype)
    return tf.math.divide_no_nan(total, counts) if edge_weights is not None else total / tf.maximum(counts, 1)


@in_float32
def unit_rows(h):
    """Each row of `h` [N, C] divided by its length; zeros stay."""
    return tf.math.l2_normalize(h, axis=-1)


def _largest(graph, h):
    """Maximum of a_ij h_j over neighbours; those that share it share its gradient."""
    nb = graph.nb
    lone = nb.degrees[:, None] < 2
    itself = tf.equal(nb.rows, nb.columns)[:, None]
    factors = None if graph.weights is None else graph.entries(h.dtype)[:, None]

    def times(entries):
        return entries if factors is None else factors * entries

    @tf.custom_gradient
    def run(h):
        lowest = tf.constant(float("-inf"), h.dtype)
        entries = tf.where(itself, lowest, times(tf.gather(h, nb.columns)))  # [E + N, C]
        largest = tf.math.segment_max(entries, nb.rows)
        attained = tf.equal(entries, tf.gather(largest, nb.rows)) & ~itself

        def gradient(d_output):
            ones = tf.cast(attained, h.dtype)
            share = d_output / tf.maximum(tf.math.segment_sum(ones, nb.rows), 1)
            # Summed in the order of the columns: the gradient of a gather would scatter.
            order = nb.part("by_column", lambda: tf.argsort(nb.columns, stable=True))
            parts = tf.gather(times(ones * tf.gather(share, nb.rows)), order)
            return tf.math.segment_sum(parts, tf.gather(nb.columns, order))

        return tf.where(lone, tf.zeros([], h.dtype), largest), gradient

    result = run(h)
    result.set_shape([None, h.shape[1]])
    return result
