"""Rearranging rows with a gradient that gathers, where that of `tf.gather` would scatter."""

import tensorflow as tf


def take_rows(x, places, inverse):
    """x[places], with zero rows where a place is -1. Each row of `x` may be taken once at most.

    Args:
        x: [N, C].
        places: int tensor of any shape S, rows of `x` or -1.
        inverse: [N] int, where each row of `x` is in the flattened result, -1 where it was not taken.

    Returns:
        S + [C].
    """
    channels = x.shape[1] if x.shape[1] is not None else tf.shape(x)[1]

    @tf.custom_gradient
    def run(x):
        def gradient(d_output):
            return _gather_or_zero(tf.reshape(d_output, [-1, channels]), inverse)

        return _gather_or_zero(x, places), gradient

    return run(x)


def _gather_or_zero(x, places):
    # A row of zeros at the end, not a product with a mask: NaN · 0 would leak from one graph to another.
    padded = tf.pad(x, [[0, 1], [0, 0]])
    return tf.gather(padded, tf.where(places < 0, tf.shape(x)[0], places))
