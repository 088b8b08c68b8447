"""DGCNN's sort pooling ("soft pooling" in the paper): the k nodes of each graph with the largest last channel."""

import tensorflow as tf

from ganet_tf.ops.batch_layout import graph_layout, take_rows
from ganet_tf.ops.checks import check_k
from ganet_tf.ops.selection import rankable


def sort_pooling(x: tf.Tensor, graph_ids: tf.Tensor, k: int) -> tf.Tensor:
    """Sort the nodes of each graph by their last channel, descending; keep k, pad with zeros.

    Ties go to the smaller index, NaN comes last. Only real nodes are sorted, so that padding never outranks one,
    however negative its last channel is.

    Args:
        x: [N, C].
        graph_ids: [N], ascending.
        k: nodes to keep of each graph.

    Returns:
        [graphs, k, C].
    """
    check_k(k)
    layout = graph_layout(graph_ids, tf.shape(x)[0])
    # Two stable sorts: by score, then by graph. `rank` is the place among the nodes of the same graph.
    by_score = tf.argsort(rankable(tf.stop_gradient(x[:, -1])), direction="DESCENDING", stable=True)
    by_graph = tf.argsort(tf.gather(layout.graph_ids, by_score), stable=True)
    order = tf.gather(by_score, by_graph)  # [N]: nodes, graph after graph, largest score first
    place = tf.range(k) + layout.splits[:-1, None]
    kept = tf.range(k) < layout.sizes[:, None]
    places = tf.where(kept, tf.gather(order, tf.where(kept, place, 0)), -1)  # [graphs, k]
    nodes = tf.range(tf.size(order))
    rank = tf.dynamic_stitch([order], [nodes]) - tf.gather(layout.splits, layout.graph_ids)
    inverse = tf.where(rank < k, layout.graph_ids * k + rank, -1)
    pooled = take_rows(x, places, inverse)
    pooled.set_shape([None, k, x.shape[1]])
    return pooled
