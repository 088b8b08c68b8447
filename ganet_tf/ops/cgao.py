"""cGAO, eq. (11): attention of each channel over all channels of the same graph, no edges."""

import tensorflow as tf

from ganet_tf.ops.batch_layout import graph_layout, take_rows
from ganet_tf.ops.precision import in_float32


@in_float32
def cgao(
    keys: tf.Tensor,
    values: tf.Tensor,
    graph_ids: tf.Tensor | None = None,
    scale: float | str | None = None,
    heads: int = 1,
) -> tf.Tensor:
    """For each graph, O = V softmax(Kᵀ K)ᵀ, the softmax over each row.

    Args:
        keys, values: [N, heads · U].
        graph_ids: [N], ascending; None for one graph.
        scale: factor on Kᵀ K, which grows with the number of nodes: None (the paper's, 1), "sqrt" (1/√n), "mean"
            (1/n), n being the nodes of the graph, or a number.
        heads: groups of channels, each of which attends only to itself.

    Returns:
        [N, heads · U].
    """
    if heads > 1:
        parts = zip(tf.split(keys, heads, axis=1), tf.split(values, heads, axis=1), strict=True)
        return tf.concat([cgao(k, v, graph_ids, scale) for k, v in parts], axis=1)
    if graph_ids is None:
        scores = tf.matmul(keys, keys, transpose_a=True)
        count = tf.cast(tf.shape(keys)[0], keys.dtype)
        return tf.matmul(values, _weights(scores, count, scale), transpose_b=True)
    layout = graph_layout(graph_ids, tf.shape(keys)[0])
    blocks = layout.blocks()
    # Graphs of any size in blocks of one height: a padded [graphs, largest graph] batch could be quadratic.
    key_blocks = take_rows(keys, blocks.places, blocks.inverse)  # [R, height, U]
    value_blocks = take_rows(values, blocks.places, blocks.inverse)
    partial = tf.matmul(key_blocks, key_blocks, transpose_a=True)  # [R, U, U]
    scores = tf.math.segment_sum(partial, blocks.graphs)  # [graphs, U, U]
    weights = _weights(scores, tf.cast(layout.sizes, keys.dtype)[:, None, None], scale)
    output = tf.matmul(value_blocks, tf.gather(weights, blocks.graphs), transpose_b=True)
    flat = tf.reshape(output, [-1, values.shape[1]])
    return take_rows(flat, blocks.inverse, tf.reshape(blocks.places, [-1]))


def _weights(scores, nodes, scale):
    """softmax(E), after the factor on E that `scale` asks for."""
    if scale == "sqrt":
        scores = scores * tf.math.rsqrt(nodes)
    elif scale == "mean":
        scores = scores / nodes
    elif scale is not None:
        scores = scores * tf.constant(scale, scores.dtype)
    return tf.nn.softmax(scores)
