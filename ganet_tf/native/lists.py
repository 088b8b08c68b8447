"""Neighbour lists made by the native kernels, once for each batch."""

import weakref

import tensorflow as tf

from ganet_tf.native.library import library

WEIGHTED, ROOT, SKIP_SELF = 1, 2, 4  # flags of the ops, as in src/ops.cc


def lists(edges, num_nodes, edge_weights=None):
    """The neighbour lists of a graph: N(i) is the sources of the edges into i, and i itself, ascending.

    A repeated edge counts once, with the sum of its weights; every node has one self-loop of weight 1, whatever
    self-loops `edges` has.

    Args:
        edges: [E, 2] int32 or int64 (source, target) rows in any order; sorted by target, then source, without
            repetitions and self-loops is the fast case.
        num_nodes: scalar, N.
        edge_weights: [E] float32 or float64, a_ij for each edge j -> i, or None. No gradient flows into them.

    Returns:
        A `Lists` of N rows and N columns.

    Raises:
        tf.errors.InvalidArgumentError: For a wrong shape or an edge out of range, when the op runs.
        TypeError: For `edges` that are not integers.
    """
    edges = tf.convert_to_tensor(edges)
    if not edges.dtype.is_integer:
        raise TypeError(f"`edges` must be integers (int32), but is {edges.dtype.name}.")
    if edges.dtype not in (tf.int32, tf.int64):
        edges = tf.cast(edges, tf.int64)
    num_nodes = tf.cast(num_nodes, tf.int32)
    weighted = edge_weights is not None
    given = tf.convert_to_tensor(edge_weights) if weighted else nothing(tf.float32)
    made = library().ops.ganet_lists(edges, num_nodes, given, flags=WEIGHTED if weighted else 0)
    _as_vectors(made)
    return Lists(made.row_splits, made.columns, num_nodes, made.weights if weighted else None)


def segments(graph_ids, num_nodes):
    """The rows of each graph as `Lists`: a row a graph, a column a node.

    Args:
        graph_ids: [N] int32 or int64, ascending from 0.
        num_nodes: scalar, N.

    Returns:
        A `Lists` of (last id + 1) rows and N columns.

    Raises:
        tf.errors.InvalidArgumentError: For ids that descend, or another number of them, when the op runs.
    """
    num_nodes = tf.cast(num_nodes, tf.int32)
    made = library().ops.ganet_segments(tf.convert_to_tensor(graph_ids), num_nodes)
    _as_vectors(made)
    nodes = tf.range(num_nodes)
    result = Lists(made.row_splits, nodes, num_nodes)
    result.remember("transposed", (tf.range(num_nodes + 1), made.ids, nodes))
    return result


class Lists:
    """Lists of columns, one list a row (CSR), and what follows from them, made on first use.

    Attributes:
        row_splits: [rows + 1] int32; the entries of row i are row_splits[i] .. row_splits[i + 1] - 1.
        columns: [entries] int32.
        num_columns: scalar int32.
        weights: [entries] floats, or None for ones.
    """

    def __init__(self, row_splits, columns, num_columns, weights=None):
        self.row_splits, self.columns, self.num_columns, self.weights = row_splits, columns, num_columns, weights
        self._parts = weakref.WeakKeyDictionary()

    @property
    def num_rows(self):
        """Scalar int32."""
        return tf.size(self.row_splits) - 1

    def transposed(self):
        """(column_splits [columns + 1], rows [entries], places [entries]): the entries of each column, by row."""
        return self.part(
            "transposed",
            lambda: _as_vectors(library().ops.ganet_transpose(self.row_splits, self.columns, self.num_columns)),
        )

    def weights_as(self, dtype):
        """(weights or nothing, flag) as the ops take them."""
        if self.weights is None:
            return nothing(dtype), 0
        return tf.cast(self.weights, dtype), WEIGHTED

    def factors(self, normalization, dtype, loops=True):
        """What a product is multiplied by before and after: "sym" 1/√d, 1/√d; "row" nothing, 1/d; None nothing.

        d is the number of entries of a row, or the sum of their weights; of those outside the diagonal, if not `loops`.
        """
        if normalization is None:
            return nothing(dtype), nothing(dtype)

        def make():
            weights, flags = self.weights_as(dtype)
            flags |= (ROOT if normalization == "sym" else 0) | (0 if loops else SKIP_SELF)
            return library().ops.ganet_normalization(self.row_splits, self.columns, weights, flags=flags)

        made = self.part(("factors", normalization, dtype, loops), make)
        return (made if normalization == "sym" else nothing(dtype)), made

    def part(self, key, make):
        """The value remembered under `key` where we are now (eagerly, or in a graph), made the first time."""
        if isinstance(self.row_splits, tf.__internal__.EagerTensor) and not tf.executing_eagerly():
            with tf.init_scope():
                return self.part(key, make)
        known = self._parts.setdefault(_place(), {})
        if key not in known:
            known[key] = make()
        return known[key]

    def remember(self, key, value):
        """Keep `value` as what `part` would make."""
        self._parts.setdefault(_place(), {})[key] = value


def _as_vectors(tensors):
    """Tells TensorFlow that tensors made by our ops have one axis."""
    for tensor in tensors:
        tensor.set_shape([None])
    return tuple(tensors)


def nothing(dtype):
    """The [0] tensor that stands for an argument that is left out."""
    return tf.zeros([0], dtype)


class _Eagerly:
    """Where eager tensors are made; a weak dictionary cannot have None as key."""


_EAGERLY = _Eagerly()


def _place():
    return _EAGERLY if tf.executing_eagerly() else tf.compat.v1.get_default_graph()
