"""Sums, means and maxima over the nodes of each graph, and the way back: a graph's row for each of its nodes."""

import tensorflow as tf

from ganet_tf import native
from ganet_tf.ops.batch_layout import graph_layout
from ganet_tf.ops.implementations import chosen
from ganet_tf.ops.precision import in_float32


@in_float32
def sum_pooling(x, graph_ids, implementation="auto"):
    """o_g = Σ x_i over the nodes i of graph g: [N, C] -> [graphs, C]. A graph without nodes gets zeros."""
    return graph_sum(x, graph_layout(graph_ids, tf.shape(x)[0], chosen(implementation, x)))


@in_float32
def mean_pooling(x, graph_ids, implementation="auto"):
    """o_g = (1/n_g) Σ x_i over the nodes i of graph g: [N, C] -> [graphs, C]. No nodes: zeros."""
    layout = graph_layout(graph_ids, tf.shape(x)[0], chosen(implementation, x))
    return graph_sum(x, layout) / node_counts(layout, x.dtype)


@in_float32
def max_pooling(x, graph_ids, implementation="auto"):
    """o_g = max x_i over the nodes i of graph g, channel by channel: [N, C] -> [graphs, C]. No nodes: zeros.

    Nodes that share the maximum share its gradient, so that their order does not matter.
    """
    layout = graph_layout(graph_ids, tf.shape(x)[0], chosen(implementation, x))
    if layout.segments is not None:
        return native.segment_max(x, layout.segments)
    return _keep_width(tf.math.segment_max(x, layout.graph_ids), x)


def graph_sum(x, layout):
    """The sum of `x` [N, C] over each graph of `layout`: [graphs, C]."""
    if layout.segments is not None:
        return native.segment_sum(x, layout.segments)
    return _keep_width(tf.math.segment_sum(x, layout.graph_ids), x)


def node_counts(layout, dtype):
    """How many nodes each graph has, [graphs, 1], at least 1: something to divide by."""
    return tf.cast(tf.maximum(layout.sizes, 1), dtype)[:, None]


def per_node(values, layout):
    """The row of its graph for each node: [graphs, C] -> [N, C]; the gradient sums where `tf.gather`'s scatters."""

    @tf.custom_gradient
    def run(values):
        return tf.gather(values, layout.graph_ids), lambda d_output: graph_sum(d_output, layout)

    return run(values)


def _keep_width(pooled, x):
    pooled.set_shape([None, *x.shape[1:]])
    return pooled
