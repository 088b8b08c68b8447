"""Ranking_k of eq. (5): for each node, the k neighbours with the largest scores, by `tf.math.top_k`.

Only nodes with more than k neighbours need ranking. They are put in buckets by degree, in powers of two, so
that the padded places stay below twice the number of entries, whatever the largest degree is.
"""

from typing import NamedTuple

import tensorflow as tf

from ganet_tf.ops.tables import Table, first_neighbors


class _Buckets(NamedTuple):
    places: tf.Tensor  # [P] int32: entries to rank, bucket after bucket, each row padded to its bucket's width
    valid: tf.Tensor  # [P] bool
    widths: tf.Tensor  # [B] int32
    counts: tf.Tensor  # [B] int32: rows in each bucket
    row_source: tf.Tensor  # [N] int32: node -> its row in concat(first_neighbors, ranked rows)


def select(nb, entry_scores, k):
    """The `Table` [N, min(k, largest degree)] of the neighbours with the largest `entry_scores` [E + N].

    Equal scores are taken in order of the node index. No gradient flows through a choice.
    """
    first = first_neighbors(nb, k)
    buckets = nb.part(("buckets", k), lambda: _buckets(nb, k))
    scores = tf.gather(tf.stop_gradient(entry_scores), buckets.places)
    scores = tf.where(buckets.valid, scores, tf.constant(scores.dtype.min, scores.dtype))
    ranked = _rank(scores, tf.gather(nb.columns, buckets.places), buckets, k)
    # With no row to rank, `first` may be narrower than k and `ranked` is empty.
    ranked = ranked[:, : tf.shape(first.columns)[1]]
    columns = tf.gather(tf.concat([first.columns, ranked], 0), buckets.row_source)
    return Table(columns, first.mask, None)


def _buckets(nb, k):
    long_rows = tf.reshape(tf.where(nb.degrees > k), [-1])
    degrees = tf.gather(nb.degrees, long_rows)
    order = tf.argsort(degrees, stable=True)
    rows, degrees = tf.cast(tf.gather(long_rows, order), tf.int32), tf.gather(degrees, order)
    bounds = tf.constant([2**b for b in range(31)])
    bucket = tf.searchsorted(bounds, degrees)  # the smallest power of two that holds the row
    row_widths = tf.gather(bounds, bucket)
    ends = tf.cumsum(row_widths, axis=0)
    total = tf.reduce_max(tf.pad(ends, [[0, 1]]))
    owner = tf.searchsorted(ends, tf.range(total), side="right")
    offset = tf.range(total) - tf.gather(ends - row_widths, owner)
    places = tf.gather(tf.gather(nb.row_splits, rows), owner) + offset
    valid = offset < tf.gather(degrees, owner)
    used, _, counts = tf.unique_with_counts(bucket)
    ranked_row = tf.range(tf.size(rows)) + nb.num_nodes
    row_source = tf.dynamic_stitch([tf.range(nb.num_nodes), rows], [tf.range(nb.num_nodes), ranked_row])
    return _Buckets(tf.where(valid, places, 0), valid, tf.gather(bounds, used), counts, row_source)


def _rank(scores, columns, buckets, k):
    """The columns of the k best of each row, [ranked rows, k]: one `top_k` a bucket."""

    def step(b, start, best):
        width, count = buckets.widths[b], buckets.counts[b]
        size = width * count
        block = tf.reshape(scores[start : start + size], [count, width])
        chosen = tf.math.top_k(block, k, sorted=False).indices
        at = start + tf.range(count)[:, None] * width + chosen
        return b + 1, start + size, tf.concat([best, tf.gather(columns, at)], 0)

    none = tf.zeros([0, k], tf.int32)
    shapes = [tf.TensorShape([]), tf.TensorShape([]), tf.TensorShape([None, k])]
    return tf.while_loop(lambda b, *_: b < tf.size(buckets.widths), step, [0, 0, none], shapes)[2]
