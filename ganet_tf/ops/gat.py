"""Additive attention of GAT (Veličković et al., 2018), for the baseline model."""

import tensorflow as tf

from ganet_tf.ops.neighborhood import entry_weights, neighborhood
from ganet_tf.ops.precision import in_float32


@in_float32
def gat(
    h: tf.Tensor,
    source_scores: tf.Tensor,
    target_scores: tf.Tensor,
    edges: tf.Tensor,
    negative_slope: float = 0.2,
    dropout: float = 0.0,
    dropout_seed: tf.Tensor | None = None,
    edge_weights: tf.Tensor | None = None,
) -> tf.Tensor:
    """o_i = Σ_j α_ij h_j over j in N(i), α_i = softmax_j(LeakyReLU(target_i + source_j)), for each head.

    Args:
        h: [N, heads, U] transformed features.
        source_scores, target_scores: [N, heads], the two halves of the attention vector's product.
        edges: [E, 2] (source, target).
        negative_slope: of the LeakyReLU.
        dropout: rate on α; needs `dropout_seed`, a [2] int seed. None: no dropout (inference).
        edge_weights: [E], what the scores of each edge are multiplied by before the softmax; None is 1.

    Returns:
        [N, heads, U].
    """
    nb = neighborhood(edges, tf.shape(h)[0])
    scores = tf.gather(target_scores, nb.rows) + tf.gather(source_scores, nb.columns)  # [E + N, heads]
    scores = tf.where(scores > 0, scores, negative_slope * scores)  # tf.nn.leaky_relu rounds its slope to float32
    factors = entry_weights(nb, edges, edge_weights, h.dtype)
    if factors is not None:
        scores = scores * factors[:, None]
    # A softmax does not change when a constant is subtracted, so the largest score needs no gradient.
    largest = tf.math.segment_max(tf.stop_gradient(scores), nb.rows)
    weights = tf.exp(scores - tf.gather(largest, nb.rows))
    weights = weights / tf.gather(tf.math.segment_sum(weights, nb.rows), nb.rows)
    if dropout and dropout_seed is not None:
        weights = tf.nn.experimental.stateless_dropout(weights, dropout, seed=dropout_seed)
    return tf.math.segment_sum(weights[:, :, None] * tf.gather(h, nb.columns), nb.rows)
