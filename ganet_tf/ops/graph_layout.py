"""Where the graphs of a batch are in its rows, made once from `graph_ids` and shared by every layer."""

from typing import NamedTuple

import tensorflow as tf

from ganet_tf.ops.checks import check_graph_ids
from ganet_tf.ops.derived import Derived, remembered

BLOCK_HEIGHT = 32


def graph_layout(graph_ids, num_nodes):
    """The `GraphLayout` of a batch: remembered on `graph_ids` (see `derived`), or made now."""
    return remembered(GraphLayout, graph_ids, num_nodes)


class Blocks(NamedTuple):
    """Rows of the batch in blocks of equal height, each of one graph only."""

    places: tf.Tensor  # [R, BLOCK_HEIGHT] int32: row of the batch, -1 where a block is not full
    inverse: tf.Tensor  # [N] int32: place of each row in the flattened blocks
    graphs: tf.Tensor  # [R] int32: the graph of each block


class GraphLayout(Derived):
    """The graphs of a batch.

    Attributes:
        graph_ids: [N] int32, ascending.
        num_graphs: scalar int32, the last id + 1.
        splits: [num_graphs + 1] int32; graph g has the rows splits[g] .. splits[g + 1] - 1.
        sizes: [num_graphs] int32.
    """

    def __init__(self, graph_ids, num_nodes):
        super().__init__()
        with tf.control_dependencies(check_graph_ids(graph_ids, num_nodes)):
            self.graph_ids = tf.cast(graph_ids, tf.int32)
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
