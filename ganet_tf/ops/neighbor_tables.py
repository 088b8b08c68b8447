"""Rectangular tables of neighbours: what batched kernels can work on, without ever being [N, N].

A `Table` is `columns` [R, W]: row r holds up to W neighbours of node `rows[r]` (of node r, where `rows` is
None). Unused places are masked and point at the node itself, so that nothing of another graph leaks in.
"""

from typing import NamedTuple

import tensorflow as tf

from ganet_tf.ops import sparse

FOLD_WIDTH = 16


class Table(NamedTuple):
    """Neighbours in rows of equal width; see the module."""

    columns: tf.Tensor  # [R, W] int32
    mask: tf.Tensor  # [R, W] bool
    rows: tf.Tensor | None  # [R] int32 ascending, or None for 0 .. N - 1
    entries: tf.Tensor | None = None  # [R, W] int32: which entry of the neighbour lists is here (any, where masked)


def all_neighbors(nb, width: int = FOLD_WIDTH) -> Table:
    """All neighbours of each node, long lists folded into several rows: at most E + N·width places."""

    def make():
        per_node = (nb.degrees + width - 1) // width
        ends = tf.cumsum(per_node)
        count = tf.reduce_max(tf.pad(ends, [[0, 1]]))
        rows = tf.searchsorted(ends, tf.range(count), side="right")
        piece = tf.range(count) - tf.gather(ends - per_node, rows)
        start = tf.gather(nb.row_splits, rows) + piece * width
        return _table_of_places(nb, start, tf.gather(nb.row_splits, rows + 1), rows, width)

    return nb.part(("all_neighbors", width), make)


def entry_places(nb, width: int = FOLD_WIDTH) -> tf.Tensor:
    """For each entry of the neighbour lists, [E + N], its place in the flattened `all_neighbors` table."""

    def make():
        table = all_neighbors(nb, width)
        return tf.reshape(tf.where(tf.reshape(table.mask, [-1])), [-1])

    return nb.part(("entry_places", width), make)


def first_neighbors(nb, k: int) -> Table:
    """Each node's first min(k, largest degree) neighbours: all of them, where it has no more than k."""

    def make():
        width = tf.minimum(k, nb.max_degree)
        return _table_of_places(nb, nb.row_splits[:-1], nb.row_splits[1:], None, width)

    return nb.part(("first_neighbors", k), make)


def table_matrix(table: Table, num_nodes: tf.Tensor):
    """The function from weights [N, W] to the [N, N] CSR matrix with them at the places of `table`."""
    rows = tf.broadcast_to(tf.range(num_nodes)[:, None], tf.shape(table.columns))
    places = sparse.indices(tf.reshape(rows, [-1]), tf.reshape(table.columns, [-1]))
    return lambda weights: sparse.square_matrix(places, tf.reshape(weights, [-1]), num_nodes)


def folded_matrix(nb, width=FOLD_WIDTH):
    """As `table_matrix`, for `all_neighbors`: only the places that are in use go into the matrix."""
    return lambda weights: nb.matrix(tf.gather(tf.reshape(weights, [-1]), entry_places(nb, width)))


def _table_of_places(nb, start, end, rows, width):
    places = start[:, None] + tf.range(width)
    mask = places < end[:, None]
    own = tf.range(nb.num_nodes) if rows is None else rows
    entries = tf.minimum(places, tf.size(nb.columns) - 1)
    columns = tf.gather(nb.columns, entries)
    return Table(tf.where(mask, columns, own[:, None]), mask, rows, entries)
