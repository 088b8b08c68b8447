"""Set2Set (Vinyals et al., 2016): an LSTM that asks the nodes of a graph several times, by attention."""

import tensorflow as tf

from ganet_tf import native
from ganet_tf.ops.batch_layout import graph_layout
from ganet_tf.ops.implementations import chosen
from ganet_tf.ops.pooling import graph_sum, per_node
from ganet_tf.ops.precision import in_float32


@in_float32
def set2set(x, graph_ids, kernel, recurrent_kernel, bias, steps, implementation="auto"):
    """[q_T, r_T] of each graph after T steps, from q*_0 = 0:

        q_t = LSTM(q*_{t-1}),    a_i = softmax_i(x_i · q_t),    r_t = Σ_i a_i x_i,    q*_t = [q_t, r_t]

    Args:
        x: [N, C].
        graph_ids: [N], ascending.
        kernel, recurrent_kernel, bias: [2C, 4C], [C, 4C] and [4C], as a Keras LSTM has them.
        steps: T.
        implementation: "auto", "native" or "sparse": see `implementations`.

    Returns:
        [graphs, 2C].
    """
    layout = graph_layout(graph_ids, tf.shape(x)[0], chosen(implementation, x))
    query = tf.zeros([layout.num_graphs, x.shape[1]], x.dtype)
    state, answer = query, query
    for _ in range(steps):
        gates = tf.concat([query, answer], 1) @ kernel + query @ recurrent_kernel + bias
        enter, forget, candidate, leave = tf.split(gates, 4, axis=1)
        state = tf.sigmoid(forget) * state + tf.sigmoid(enter) * tf.tanh(candidate)
        query = tf.sigmoid(leave) * tf.tanh(state)
        answer = _attended(x, query, layout)
    return tf.concat([query, answer], 1)


def _attended(x, query, layout):
    """The mean of each graph's nodes, weighted by a softmax of their products with the graph's query."""
    scores = tf.reduce_sum(x * per_node(query, layout), axis=1, keepdims=True)  # [N, 1]
    if layout.segments is not None:
        return graph_sum(native.segment_softmax(scores, layout.segments) * x, layout)
    # A softmax does not change when a constant is subtracted, so the largest score needs no gradient.
    largest = tf.math.segment_max(tf.stop_gradient(scores), layout.graph_ids)
    weights = tf.exp(scores - tf.gather(largest, layout.graph_ids))
    total = graph_sum(weights, layout)
    return tf.math.divide_no_nan(graph_sum(weights * x, layout), total)  # no nodes: zeros
