"""Steps for the sides that run on TensorFlow: everything inside `tf.function`, as `fit` and users do."""

import tensorflow as tf


def set_threads(threads):
    """Limits TensorFlow's threads; has to come before its first operation."""
    tf.get_logger().setLevel("ERROR")
    tf.config.threading.set_intra_op_parallelism_threads(threads)
    tf.config.threading.set_inter_op_parallelism_threads(threads)


def compiled(call, variables, mode, x, *graph):
    """A function without arguments around `call(x, *graph)`.

    Args:
        call: the layer.
        variables: function that gives its weights once it has been called.
        mode: "forward", or "forward+backward": gradients of x and of all weights for a given output gradient.
        x: [N, F] features; their values serve as the output gradient too, since all widths are equal.
        graph: the other inputs.
    """

    @tf.function(autograph=False, reduce_retracing=False)
    def forward(x, *graph):
        return call(x, *graph)

    @tf.function(autograph=False, reduce_retracing=False)
    def forward_and_backward(x, *graph):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = call(x, *graph)
        return tape.gradient(y, [x, *variables()], output_gradients=x)

    step = forward if mode == "forward" else forward_and_backward
    return lambda: step(x, *graph)
