"""Less memory for more time: a layer whose inner values are computed again in the backward pass."""

import tensorflow as tf


def recomputed(layer, x, edges, graph_ids=None, training=None):
    """`layer(x, edges, graph_ids)`, of which only the input and the output are kept for the gradient.

    The backward pass computes the layer a second time, with the same random numbers: the state of the layer's seeds
    is read before the call, and `stateless_call` draws from it both times. (`tf.recompute_grad` calls a Keras 3 layer a
    second time with other dropout masks, and gives a gradient that is wrong.)

    Args:
        layer: A built layer.
        x: [N, F] node features.
        edges: [E, 2] integers; the tensor itself goes on, so that all layers share what is derived from it.
        graph_ids: [N] integers or None.
        training: Whether dropout is active.

    Returns:
        The layer's output.

    Raises:
        ValueError: For a layer with an `activity_regularizer`, whose loss would get no gradient.
    """
    check_no_activity_loss(layer)
    variables = layer.trainable_variables
    states = layer.non_trainable_variables
    before = [tf.identity(state.value) for state in states]  # a copy: the variable itself moves on

    def call(x, weights):
        return layer.stateless_call(weights, before, x, edges, graph_ids, training=training)

    @tf.custom_gradient
    def run(x, *weights):
        def gradient(d_output):
            # Not before the gradient is there: a graph would otherwise do it right after the first time, and keep it.
            with tf.control_dependencies([d_output]), tf.GradientTape() as tape:
                inputs = [tf.identity(tensor) for tensor in (x, *weights)]
                tape.watch(inputs)
                again, _ = call(inputs[0], inputs[1:])
            return tape.gradient(again, inputs, d_output, unconnected_gradients=tf.UnconnectedGradients.ZERO)

        output, after = call(x, weights)
        return (output, *after), lambda d_output, *_: gradient(d_output)

    output, *after = run(x, *(tf.convert_to_tensor(variable.value) for variable in variables))
    for state, value in zip(states, after, strict=True):
        state.assign(value)
    return output


def check_no_activity_loss(layer):
    """Raises if the layer, or one in it, adds a loss of its outputs."""
    for part in layer._flatten_layers():
        if part.activity_regularizer is not None:
            raise ValueError(
                f"'{part.name}' has an activity_regularizer, whose loss would be lost when '{layer.name}' is computed "
                "again for its gradient: leave one of activity_regularizer and recompute=True out."
            )
