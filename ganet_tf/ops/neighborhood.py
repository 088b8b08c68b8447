"""What the operators need to know about a graph, made once from `edges` and shared by every layer.

N(i), the neighbours that node i attends to, are the sources of the edges into i, and i itself. They are kept
as one list a node (CSR: `columns` between `row_splits`), ascending, so that ties go to the smaller index.

`neighborhood(edges, num_nodes)` keeps its result on the `edges` tensor, `weighted` on the `edge_weights` tensor: see
`tensor_cache`.
"""

import tensorflow as tf

from ganet_tf.ops import sparse
from ganet_tf.ops.checks import check_edge_weights, check_edges
from ganet_tf.ops.tensor_cache import TensorCache, cached


def neighborhood(edges: tf.Tensor, num_nodes: tf.Tensor) -> "Neighborhood":
    """The `Neighborhood` of a graph: kept on `edges`, or made now.

    Args:
        edges: [E, 2] int tensor of (source, target) rows. Any order; sorted by target, then source, without
            repetitions and self-loops is the fast case, anything else is brought into that form first.
        num_nodes: scalar, N.
    """
    return cached(Neighborhood, edges, num_nodes)


def weighted(nb: "Neighborhood", edges: tf.Tensor, edge_weights: tf.Tensor) -> "EdgeWeights":
    """The `EdgeWeights` of a graph: kept on `edge_weights`, or made now.

    Args:
        nb: the neighbourhood of `edges`.
        edges: [E, 2], in the order of the weights.
        edge_weights: [E] floats, a_ij of each edge. They are data: no gradient flows into them.
    """
    return cached(EdgeWeights, edge_weights, nb, tf.convert_to_tensor(edges))


class Neighborhood(TensorCache):
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
                edges = _canonical(tf.cast(edges, tf.int32))
            self.num_nodes = tf.convert_to_tensor(num_nodes, tf.int32)
            self._set_lists(edges)

    def _set_lists(self, edges):
        n = self.num_nodes
        source, target = tf.unstack(edges, axis=1)
        nodes = tf.range(n)
        above = tf.cast(source > target, tf.int32)
        # Per node, how many neighbours come before and after the node itself.
        no_weights = tf.zeros([0], tf.int32)
        counts = tf.raw_ops.DenseBincount(input=2 * target + above, size=2 * n, weights=no_weights)
        before, after = tf.unstack(tf.reshape(counts, [-1, 2]), axis=1)
        self.degrees = before + after + 1
        self.row_splits = tf.pad(tf.cumsum(self.degrees), [[1, 0]])
        self.max_degree = tf.reduce_max(tf.pad(self.degrees, [[0, 1]]))
        # dynamic_stitch is a plain permutation copy, seven times faster than scatter_nd.
        edge_places = tf.range(tf.size(target)) + target + above
        self_places = self.row_splits[:-1] + before
        entries = tf.dynamic_stitch([edge_places, self_places], [edges, tf.stack([nodes, nodes], 1)])
        self.columns, self.rows = tf.unstack(tf.reshape(entries, [-1, 2]), axis=1)

    def usable(self, num_nodes):
        """Whether this can serve here: made in the same graph (or eagerly) for as many nodes."""
        known, asked = tf.get_static_value(self.num_nodes), tf.get_static_value(num_nodes)
        return super().usable() and (known is None or asked is None or known == asked)

    def matrix(self, values):
        """The [N, N] CSR matrix with `values` [E + N] at the entries of the neighbour lists."""
        indices = self.part("indices", lambda: sparse.indices(self.rows, self.columns))
        return sparse.square_matrix(indices, values, self.num_nodes)

    def adjacency(self, dtype, transposed=False):
        """Â = A + I, or its transpose, as a CSR matrix of ones."""

        def make():
            if transposed:
                return sparse.transpose(self.adjacency(dtype), dtype)
            return self.matrix(tf.ones_like(self.columns, dtype))

        return self.part(("adjacency", dtype, transposed), make)


class EdgeWeights(TensorCache):
    """The weights a_ij of a graph's neighbour lists, with a_ii = 1 whatever a given self-loop says.

    The weights of an edge that is given several times are added, as `ganet_tf.data` does. (Without weights such an edge
    is one edge.)

    Attributes:
        degrees: [N], d̂_i = Σ_j a_ij, at least 1.
    """

    def __init__(self, edge_weights, nb, edges):
        super().__init__()
        self._nb = nb
        with tf.name_scope("edge_weights"), tf.control_dependencies(check_edge_weights(edge_weights, edges)):
            # The neighbour lists are sorted by (target, source): each given edge is looked up in them.
            key = tf.bitcast(tf.stack([nb.columns, nb.rows], 1), tf.int64)
            places = tf.searchsorted(key, tf.bitcast(tf.cast(edges, tf.int32), tf.int64))
            given = tf.math.unsorted_segment_sum(tf.stop_gradient(edge_weights), places, tf.size(nb.columns))
            self._entries = tf.where(tf.equal(nb.rows, nb.columns), tf.ones_like(given), given)
            self.degrees = tf.math.segment_sum(self._entries, nb.rows)

    def usable(self, nb, edges):
        """Whether this was made here, for the same neighbour lists."""
        return super().usable() and self._nb is nb

    def entries(self, dtype):
        """a_ij of each entry of the neighbour lists: [E + N]."""
        return self.part(("entries", dtype), lambda: tf.cast(self._entries, dtype))

    def adjacency(self, dtype, transposed=False):
        """Â, or its transpose, as a CSR matrix."""

        def make():
            if transposed:
                return sparse.transpose(self.adjacency(dtype), dtype)
            return self._nb.matrix(self.entries(dtype))

        return self.part(("adjacency", dtype, transposed), make)


def entry_weights(nb, edges, edge_weights, dtype):
    """a_ij of each entry of the neighbour lists, [E + N], or None for a graph without weights."""
    return None if edge_weights is None else weighted(nb, edges, edge_weights).entries(dtype)


def _canonical(edges):
    """`edges` sorted by target, then source, each once, without self-loops; as they are where they are so."""
    # A (source, target) pair of int32, read as one int64, is target · 2³² + source: the key to sort by.
    key = tf.bitcast(edges, tf.int64)
    is_canonical = tf.reduce_all(key[1:] > key[:-1]) & tf.reduce_all(tf.not_equal(edges[:, 0], edges[:, 1]))
    result = tf.cond(is_canonical, lambda: edges, lambda: _sort_and_clean(key))
    result.set_shape([None, 2])
    return result


def _sort_and_clean(key):
    key = tf.sort(key)
    edges = tf.bitcast(key, tf.int32)
    repeated = tf.pad(tf.cast(tf.equal(key[1:], key[:-1]), tf.int32), [[1, 0]])[: tf.size(key)]
    return tf.boolean_mask(edges, tf.equal(repeated, 0) & tf.not_equal(edges[:, 0], edges[:, 1]))
