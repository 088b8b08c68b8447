"""Ranking_k of eq. (5): for each node, the k neighbours with the largest scores, by `tf.math.top_k`.

Only nodes with more than k neighbours need ranking. They are put in buckets by degree, so that the padded
places stay below one and a half times the entries, whatever the largest degree is.
"""

from typing import NamedTuple

import tensorflow as tf

from ganet_tf.ops.neighbor_tables import Table, first_neighbors

# The widths of the buckets: powers of two, and one and a half times these.
WIDTHS = sorted({2**b for b in range(1, 31)} | {3 * 2**b for b in range(29)})


class _Buckets(NamedTuple):
    places: tf.Tensor  # [P] int32: entries to rank, bucket after bucket, in rows as wide as their bucket
    columns: tf.Tensor  # [P] int32: the node of each of these entries, N where a place is padding
    widths: tf.Tensor  # [B] int32
    counts: tf.Tensor  # [B] int32: rows in each bucket
    row_source: tf.Tensor  # [N] int32: node -> its row in concat(first_neighbors, ranked rows)


def select_by_node(nb, scores: tf.Tensor, k: int, entries: bool = False) -> Table:
    """The `Table` [N, min(k, largest degree)] of the neighbours with the largest `scores` [N] of theirs.

    Equal scores are taken in order of the node index. No gradient flows through a choice. The table says which
    `entries` of the neighbour lists were chosen where that is asked for.
    """
    buckets = _buckets(nb, k)
    return _select(nb, tf.gather(_with_lowest(scores), buckets.columns), buckets, k, entries)


def select_by_entry(nb, scores: tf.Tensor, k: int, entries: bool = False) -> Table:
    """As `select_by_node`, but each entry (i, j) of the neighbour lists has a score of its own: [E + N]."""
    buckets = _buckets(nb, k)
    return _select(nb, tf.gather(_with_lowest(scores), buckets.places), buckets, k, entries)


def _with_lowest(scores):
    """`scores` and, at the end, for padding, one that ranks below all."""
    return tf.concat([rankable(tf.stop_gradient(scores)), tf.constant([float("-inf")], scores.dtype)], 0)


def rankable(scores: tf.Tensor) -> tf.Tensor:
    """`scores` that can be sorted: NaN and -inf count as the lowest number there is, still above padding's -inf."""
    lowest = tf.constant(scores.dtype.min, scores.dtype)
    return tf.where(scores > lowest, scores, lowest)


def _select(nb, scores, buckets, k, entries):
    first = first_neighbors(nb, k)
    kept, source = (first.entries, buckets.places) if entries else (first.columns, buckets.columns)
    # With nothing to rank `first` may be narrower than k, and `ranked` is empty.
    ranked = _rank(scores, buckets, k, source)[:, : tf.shape(kept)[1]]
    chosen = tf.gather(tf.concat([kept, ranked], 0), buckets.row_source)
    if not entries:
        return Table(chosen, first.mask, None)
    columns = tf.where(first.mask, tf.gather(nb.columns, chosen), tf.range(nb.num_nodes)[:, None])
    return Table(columns, first.mask, None, chosen)


def _buckets(nb, k):
    return nb.part(("buckets", k), lambda: _make_buckets(nb, k))


def _make_buckets(nb, k):
    bounds = tf.constant(WIDTHS)
    bucket_of = tf.where(nb.degrees > k, tf.searchsorted(bounds, nb.degrees), -1)
    used = tf.sort(tf.unique(tf.boolean_mask(bucket_of, bucket_of >= 0)).y)
    widths, num_entries = tf.gather(bounds, used), tf.size(nb.columns)

    def step(b, rows, places, counts):
        mine = tf.cast(tf.where(tf.equal(bucket_of, used[b]))[:, 0], tf.int32)
        table = tf.gather(nb.row_splits, mine)[:, None] + tf.range(widths[b])
        table = tf.where(table < tf.gather(nb.row_splits, mine + 1)[:, None], table, num_entries)
        found = [mine, tf.reshape(table, [-1]), tf.size(mine)[None]]
        return b + 1, *(tf.concat([old, new], 0) for old, new in zip((rows, places, counts), found, strict=True))

    start = [0, *[_empty(nb.columns)] * 3]
    shapes = [tf.TensorShape([])] + [tf.TensorShape([None])] * 3
    _, rows, places, counts = tf.while_loop(lambda b, *_: b < tf.size(used), step, start, shapes)
    columns = tf.gather(tf.concat([nb.columns, nb.num_nodes[None]], 0), places)
    nodes = tf.range(nb.num_nodes)
    row_source = tf.dynamic_stitch([nodes, rows], [nodes, tf.range(tf.size(rows)) + nb.num_nodes])
    return _Buckets(places, columns, widths, counts, row_source)


def _rank(scores, buckets, k, source):
    """What `source` [P] has at the k largest of each row of `scores` [P]: [ranked rows, k], one `top_k` a bucket."""

    def step(b, start, best):
        width, count = buckets.widths[b], buckets.counts[b]
        end = start + width * count
        chosen = tf.math.top_k(tf.reshape(scores[start:end], [count, width]), k, sorted=False).indices
        at = start + tf.range(count)[:, None] * width + chosen
        return b + 1, end, tf.concat([best, tf.gather(source, at)], 0)

    none = tf.reshape(_empty(buckets.places), [-1, k])
    shapes = [tf.TensorShape([]), tf.TensorShape([]), tf.TensorShape([None, k])]
    return tf.while_loop(lambda b, *_: b < tf.size(buckets.widths), step, [0, 0, none], shapes)[2]


def _empty(like):
    """No entries of `like`, in a form that TensorFlow's optimiser does not take for a fixed size of zero.

    With `tf.zeros([0])` as a loop's first value it folds the size of the loop's result to zero as well.
    """
    return like[tf.size(like) :]
