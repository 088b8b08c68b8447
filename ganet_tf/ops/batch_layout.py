"""Where the graphs of a batch are in its rows, made once from `graph_ids` and shared by every layer; moving rows."""

from typing import NamedTuple

import tensorflow as tf

from ganet_tf import native
from ganet_tf.ops.checks import check_graph_ids
from ganet_tf.ops.tensor_cache import TensorCache, cached

BLOCK_HEIGHT = 32


def graph_layout(graph_ids: tf.Tensor, num_nodes: tf.Tensor, way: str = "sparse") -> "GraphLayout":
    """The `GraphLayout` of a batch: kept on `graph_ids` (see `tensor_cache`), or made now; a native one if so asked."""
    return cached(NativeGraphLayout if way == "native" else GraphLayout, graph_ids, num_nodes)


class Blocks(NamedTuple):
    """Rows of the batch in blocks of equal height, each of one graph only."""

    places: tf.Tensor  # [R, BLOCK_HEIGHT] int32: row of the batch, -1 where a block is not full
    inverse: tf.Tensor  # [N] int32: place of each row in the flattened blocks
    graphs: tf.Tensor  # [R] int32: the graph of each block


class GraphLayout(TensorCache):
    """The graphs of a batch.

    Attributes:
        graph_ids: [N] int32, ascending.
        num_graphs: scalar int32, the last id + 1.
        splits: [num_graphs + 1] int32; graph g has the rows splits[g] .. splits[g + 1] - 1.
        sizes: [num_graphs] int32.
        segments: the same as `native.Lists`, where native kernels work on it; else None.
    """

    segments = None

    def __init__(self, graph_ids, num_nodes):
        super().__init__()
        with tf.control_dependencies(check_graph_ids(graph_ids, num_nodes)):
            self.graph_ids = tf.identity(tf.cast(graph_ids, tf.int32))  # a cast alone may be none, and wait for nothing
        self.num_graphs = tf.reduce_max(tf.pad(self.graph_ids[-1:] + 1, [[0, 1]]))
        self.splits = tf.searchsorted(self.graph_ids, tf.range(self.num_graphs + 1))
        self.sizes = self.splits[1:] - self.splits[:-1]

    def usable(self, num_nodes):
        """Whether this was made where we are now; the number of nodes is the tensor's own."""
        return super().usable()

    def blocks(self):
        """The batch in blocks of `BLOCK_HEIGHT` rows: at most N + BLOCK_HEIGHT · graphs places."""
        return self.part("blocks", self._make_blocks)

    def _make_blocks(self):
        per_graph = (self.sizes + BLOCK_HEIGHT - 1) // BLOCK_HEIGHT
        ends = tf.cumsum(per_graph)
        first = ends - per_graph
        graphs = tf.searchsorted(ends, tf.range(tf.reduce_max(tf.pad(ends, [[0, 1]]))), side="right")
        piece = tf.range(tf.size(graphs)) - tf.gather(first, graphs)
        places = (tf.gather(self.splits, graphs) + piece * BLOCK_HEIGHT)[:, None] + tf.range(BLOCK_HEIGHT)
        inside = places < tf.gather(self.splits, graphs + 1)[:, None]
        shift = first * BLOCK_HEIGHT - self.splits[:-1]
        inverse = tf.range(tf.size(self.graph_ids)) + tf.gather(shift, self.graph_ids)
        return Blocks(tf.where(inside, places, -1), inverse, graphs)


class NativeGraphLayout(GraphLayout):
    """A `GraphLayout` that native kernels make, and work on."""

    def __init__(self, graph_ids, num_nodes):
        TensorCache.__init__(self)
        check_graph_ids(graph_ids, num_nodes, compiled=False)
        self.segments = native.segments(graph_ids, num_nodes)
        self.splits = self.segments.row_splits
        self.graph_ids = self.segments.transposed()[1]
        self.num_graphs = self.segments.num_rows
        self.sizes = self.splits[1:] - self.splits[:-1]


def take_rows(x: tf.Tensor, places: tf.Tensor, inverse: tf.Tensor) -> tf.Tensor:
    """x[places], with zero rows where a place is -1. Each row of `x` may be taken once at most.

    Its gradient gathers, where that of `tf.gather` would scatter.

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
