"""DiffPool (Ying et al., 2018): graphs into smaller ones by a soft assignment of nodes to clusters, without [N, N]."""

from typing import NamedTuple

import tensorflow as tf

from ganet_tf.ops.batch_layout import graph_layout, take_rows
from ganet_tf.ops.implementations import chosen
from ganet_tf.ops.neighbor_sum import neighbors
from ganet_tf.ops.pooling import graph_sum, node_counts
from ganet_tf.ops.precision import in_float32


class Pooled(NamedTuple):
    """What `diff_pool` gives for each of B graphs."""

    x: tf.Tensor  # [B, c, F]: Sᵀ X
    adjacency: tf.Tensor  # [B, c, c]: Sᵀ A S
    link_loss: tf.Tensor  # [B]: ‖A - S Sᵀ‖²_F / n²
    entropy: tf.Tensor  # [B]: mean over the nodes of the entropy of their assignments


@in_float32
def diff_pool(x, logits, edges, graph_ids, edge_weights=None, implementation="auto"):
    """Pools the nodes of each graph into clusters by S = softmax(logits).

    The link loss needs no pairs of nodes, because ‖A - S Sᵀ‖²_F = Σ A_ij² - 2 tr(Sᵀ A S) + ‖Sᵀ S‖²_F: what is
    pooled already is all it takes. Time O(E · c + N · c · (F + c)), memory O(N · (F + c) + B · c · (F + c)).

    Args:
        x: [N, F].
        logits: [N, c].
        edges: [E, 2] (source, target).
        graph_ids: [N], ascending.
        edge_weights: [E], the entries of A; None is 1 for every edge.
        implementation: "auto", "native" or "sparse": see `implementations`.

    Returns:
        `Pooled`. A graph without nodes has zeros everywhere.
    """
    num_nodes, way = tf.shape(x)[0], chosen(implementation, x)
    graph, layout = neighbors(edges, num_nodes, way, edge_weights), graph_layout(graph_ids, num_nodes, way)
    s = tf.nn.softmax(logits)
    products = graph_products(s, tf.concat([x, graph.sum(s), s], 1), layout)  # [B, c, F + 2c]
    clusters = logits.shape[1]
    pooled, adjacency, overlap = tf.split(products, [x.shape[1], clusters, clusters], axis=2)
    counts = node_counts(layout, x.dtype)[:, 0]
    squares = graph_sum(graph.squares(x.dtype), layout)[:, 0]
    distance = squares - 2 * tf.linalg.trace(adjacency) + tf.reduce_sum(tf.square(overlap), axis=[1, 2])
    node_entropy = -tf.reduce_sum(s * tf.nn.log_softmax(logits), axis=1, keepdims=True)
    return Pooled(pooled, adjacency, distance / counts**2, graph_sum(node_entropy, layout)[:, 0] / counts)


def graph_products(left, right, layout):
    """Leftᵀ Right for each graph: [N, a] and [N, b] -> [graphs, a, b]."""
    blocks = layout.blocks()  # of one height, so that graphs of any size make one batched product
    left_blocks = take_rows(left, blocks.places, blocks.inverse)
    right_blocks = take_rows(right, blocks.places, blocks.inverse)
    partial = tf.matmul(left_blocks, right_blocks, transpose_a=True)  # [R, a, b]
    result = tf.math.segment_sum(partial, blocks.graphs)
    result.set_shape([None, left.shape[1], right.shape[1]])
    return result
