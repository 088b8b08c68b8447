"""The paper's own way: an [N, N] mask. For faithfulness, profiling and tests, never on the default path."""

import tensorflow as tf

from ganet_tf.errors import OutOfMemoryError
from ganet_tf.memory import available_memory
from ganet_tf.ops.attention import times
from ganet_tf.ops.neighborhood import neighborhood
from ganet_tf.ops.selection import rankable


def adjacency_mask(edges: tf.Tensor, num_nodes: tf.Tensor, matrices: int = 3) -> tf.Tensor:
    """[N, N] bool: whether row i has column j as a neighbour. `matrices`: how many [N, N] floats will be live.

    Raises:
        OutOfMemoryError: above the memory at hand (in graph mode with an unknown N: an InvalidArgumentError
            of the same text when the step runs), instead of the process being killed.
    """
    with tf.control_dependencies(_check_memory(num_nodes, matrices)):
        nb = neighborhood(edges, num_nodes)
        places = tf.stack([nb.rows, nb.columns], 1)
        shape = tf.stack([nb.num_nodes, nb.num_nodes])
        return tf.scatter_nd(places, tf.ones_like(nb.rows, tf.bool), shape)


def masked(scores, mask):
    """`scores` [N, N], -inf where there is no edge."""
    return tf.where(mask, scores, tf.constant(float("-inf"), scores.dtype))


def ranking(scores, mask):
    """`scores` [N, N] to rank by, -inf where there is no edge, above that everywhere else, also where they are not."""
    return masked(rankable(tf.stop_gradient(scores)), mask)


def entry_matrix(nb, values: tf.Tensor | None) -> tf.Tensor | None:
    """[N, N] with `values` [E + N] at the entries of the neighbour lists, zeros elsewhere; None for None."""
    if values is None:
        return None
    return tf.scatter_nd(tf.stack([nb.rows, nb.columns], 1), values, tf.stack([nb.num_nodes, nb.num_nodes]))


def top_k_mask(scores, k):
    """The k largest of each row of a `ranking`: (indices [N, k], valid [N, k]); ties to the smaller index."""
    found = tf.math.top_k(scores, tf.minimum(k, tf.shape(scores)[1]))
    return found.indices, found.values > float("-inf")


def attend_selected(head, indices, valid, factors=None, keep=None):
    """Attention of each node over its selected nodes `indices` [N, k], eqs. (6) and (9).

    `factors` on the scores and `keep` on the attention weights are [N, N], or None for ones.
    """
    factors, keep = (None if t is None else tf.gather(t, indices, batch_dims=1) for t in (factors, keep))
    if head.uniform:
        scores = tf.zeros(tf.shape(indices), head.values.dtype)
    else:
        scores = tf.matmul(tf.gather(head.keys, indices), head.queries[:, :, None])[:, :, 0]
    weights = tf.nn.softmax(masked(times(scores, factors), valid))
    return tf.matmul(times(weights, keep)[:, None, :], tf.gather(head.values, indices))[:, 0, :]


def _check_memory(num_nodes, matrices):
    """Refuse an [N, N] operator that would not fit; returns the checks to depend on in graph mode."""
    limit = available_memory()
    known = tf.get_static_value(num_nodes)
    if known is not None:
        needed = 4 * matrices * int(known) ** 2
        if needed > limit:
            raise OutOfMemoryError(
                f'implementation="dense" needs about {needed / 1e9:,.1f} GB for {int(known):,} nodes, but '
                f'{limit / 1e9:,.1f} GB are free: use implementation="sparse", which gives the same numbers.'
            )
        return []
    n = tf.cast(num_nodes, tf.float64)
    text = f'implementation="dense" needs more than the {limit} bytes that are free: use "sparse". Bytes needed:'
    return [tf.debugging.Assert(4.0 * matrices * n * n <= float(limit), [text, 4.0 * matrices * n * n])]
