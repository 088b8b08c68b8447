"""What the operators need to know about a graph, made once from `edges` and shared by every layer.

N(i), the neighbours that node i attends to, are the sources of the edges into i, and i itself. They are kept
as one list a node (CSR: `columns` between `row_splits`), ascending, so that ties go to the smaller index.

`neighborhood(edges, num_nodes)` remembers its result on the `edges` tensor, see `derived`.
"""

import tensorflow as tf

from ganet_tf.ops import csr
from ganet_tf.ops.checks import check_edges
from ganet_tf.ops.derived import Derived, remembered


def neighborhood(edges, num_nodes):
    """The `Neighborhood` of a graph: remembered on `edges`, or made now.

    Args:
        edges: [E, 2] int tensor of (source, target) rows. Any order; sorted by target, then source, without
            repetitions and self-loops is the fast case, anything else is brought into that form first.
        num_nodes: scalar, N.
    """
    return remembered(Neighborhood, edges, num_nodes)


class Neighborhood(Derived):
    """Neighbour lists of a graph, and the tables and matrices derived from them, each made on first use.

    Attributes:
        num_nodes: scalar int32, N.
        rows, columns: [E + N] int32, the entries (i, j) with j in N(i), sorted by i, then j.
        row_splits: [N + 1] int32; the entries of node i are row_splits[i] .. row_splits[i + 1] - 1.
        degrees: [N] int32, the size of N(i), at least 1.
        max_degree: scalar int32.
    """

    def __init__(self, edges, num_nodes):
        super().__init__()
        with tf.name_scope("neighborhood"):
            with tf.control_dependencies(check_edges(edges, num_nodes)):
                edges = _canonical(tf.cast(edges, tf.int32), num_nodes)
            self.num_nodes = tf.convert_to_tensor(num_nodes, tf.int32)
            self._set_lists(edges[:, 0], edges[:, 1])

    def _set_lists(self, source, target):
        n = self.num_nodes
        nodes = tf.range(n)
        splits = tf.searchsorted(target, tf.range(n + 1))  # of the edges alone, without the node itself
        below = tf.cumsum(tf.pad(tf.cast(source < target, tf.int32), [[1, 0]]))
        smaller = tf.gather(below, splits[1:]) - tf.gather(below, splits[:-1])
        edge_places = tf.range(tf.size(target)) + target + tf.cast(source > target, tf.int32)
        self_places = splits[:-1] + nodes + smaller
        # dynamic_stitch is a plain permutation copy, seven times faster than scatter_nd.
        entries = tf.dynamic_stitch(
            [edge_places, self_places],
            [tf.stack([target, source], 1), tf.stack([nodes, nodes], 1)],
        )
        self.rows, self.columns = tf.unstack(tf.reshape(entries, [-1, 2]), axis=1)
        self.row_splits = splits + tf.range(n + 1)
        self.degrees = self.row_splits[1:] - self.row_splits[:-1]
        self.max_degree = tf.reduce_max(tf.pad(self.degrees, [[0, 1]]))

    def usable(self, num_nodes):
        """Whether this can serve here: made in the same graph (or eagerly) for as many nodes."""
        known, asked = tf.get_static_value(self.num_nodes), tf.get_static_value(num_nodes)
        return super().usable() and (known is None or asked is None or known == asked)

    def gcn_matrix(self, normalization, dtype, transposed=False):
        """The matrix of the GCN layer: D̂^-½ Â D̂^-½ ("sym"), D̂^-1 Â ("row") or Â (None), with Â = A + I."""

        def make():
            if transposed:
                return csr.transpose(self.gcn_matrix(normalization, dtype), dtype)
            values = self._gcn_values(normalization, dtype)
            return csr.csr_matrix(self.rows, self.columns, values, self.num_nodes, self.num_nodes)

        return self.part(("gcn", normalization, dtype, transposed), make)

    def _gcn_values(self, normalization, dtype):
        degrees = tf.cast(self.degrees, dtype)
        if normalization == "sym":
            inverse = tf.math.rsqrt(degrees)
            return tf.gather(inverse, self.rows) * tf.gather(inverse, self.columns)
        if normalization == "row":
            return tf.gather(1.0 / degrees, self.rows)
        return tf.ones_like(self.columns, dtype)


def _canonical(edges, num_nodes):
    """`edges` sorted by target, then source, each once, without self-loops; as they are where they are so."""
    source, target = edges[:, 0], edges[:, 1]
    ordered = (target[1:] > target[:-1]) | ((target[1:] == target[:-1]) & (source[1:] > source[:-1]))
    is_canonical = tf.reduce_all(ordered) & tf.reduce_all(source != target)
    result = tf.cond(is_canonical, lambda: edges, lambda: _sort_and_clean(source, target, num_nodes))
    result.set_shape([None, 2])
    return result


def _sort_and_clean(source, target, num_nodes):
    n = tf.cast(tf.maximum(num_nodes, 1), tf.int64)
    key = tf.sort(tf.cast(target, tf.int64) * n + tf.cast(source, tf.int64))
    source, target = tf.cast(key % n, tf.int32), tf.cast(key // n, tf.int32)
    first = tf.pad(key[1:] != key[:-1], [[1, 0]], constant_values=True)[: tf.size(key)]
    return tf.boolean_mask(tf.stack([source, target], 1), first & (source != target))
