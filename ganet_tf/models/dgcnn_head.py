"""The end of DGCNN: from node features to class scores of graphs."""

import numbers

import keras
import tensorflow as tf

from ganet_tf import ops
from ganet_tf.layers import SortPooling
from ganet_tf.layers.checks import check_rate, check_units
from ganet_tf.layers.dropout import Dropout
from ganet_tf.ops.implementations import chosen

MINIMUM_K = 10  # pooling halves k, and the second convolution needs 5 places


@keras.saving.register_keras_serializable(package="ganet_tf")
class DGCNNHead(keras.layers.Layer):
    """The head of DGCNN (Zhang et al. 2018), which section 4.2 keeps: sort pooling, convolutions, two dense layers.

        SortPooling(k), Conv1D(16, kernel C, stride C, ReLU), MaxPool(2), Conv1D(32, kernel 5, ReLU),
        Dense(128, ReLU), Dropout, Dense(num_classes)

    Args:
        num_classes: Number of classes.
        sort_pooling_k: Nodes kept of each graph, at least 10.
        dropout: Before the last layer.
        kernel_initializer, kernel_regularizer: For all matrices.
        implementation: How convolutions are computed: as matrix products where it comes to `"native"` (see `HGAO`), by
            TensorFlow's kernels otherwise.
        **kwargs: `name`, `dtype`.

    Call arguments:
        x: [N, C] node features.
        graph_ids: [N] ascending integers; left out, all nodes are one graph.
        training: Whether dropout is active.

    Returns:
        [B, num_classes] logits.

    Raises:
        ValueError: For `sort_pooling_k` below 10.

    Example:

    >>> DGCNNHead(2, sort_pooling_k=10)(np.ones((5, 97), dtype="float32")).shape
    TensorShape([1, 2])
    """

    def __init__(
        self,
        num_classes: int,
        sort_pooling_k: int = 30,
        dropout: float = 0.5,
        kernel_initializer="glorot_uniform",
        kernel_regularizer=None,
        implementation: str = "auto",
        **kwargs,
    ):
        super().__init__(**kwargs)
        ops.check_implementation(implementation)
        self.implementation = implementation
        self.num_classes = check_units(num_classes)
        self.sort_pooling_k = check_sort_pooling_k(sort_pooling_k)
        self.dropout = check_rate(dropout, "dropout")
        self.kernel_initializer = kernel_initializer
        self.kernel_regularizer = kernel_regularizer
        self.supports_jit = False

    def build(self, x_shape, graph_ids_shape=None):
        """Makes the layers: the first convolution's kernel is as long as a node has channels."""
        channels, k = x_shape[-1], self.sort_pooling_k
        matrix = {
            "kernel_initializer": self.kernel_initializer,
            "kernel_regularizer": self.kernel_regularizer,
            "dtype": self.dtype_policy,
        }
        dtype = {"dtype": self.dtype_policy}
        self.pooling = SortPooling(k, **dtype)
        self.stack = keras.Sequential(
            [
                keras.Input((k, channels), dtype=self.compute_dtype),
                keras.layers.Reshape((k * channels, 1), **dtype),
                NodeConv1D(16, channels, strides=channels, activation="relu", **matrix),
                keras.layers.MaxPooling1D(2, **dtype),
                keras.layers.Conv1D(32, 5, activation="relu", **matrix),
                keras.layers.Flatten(**dtype),
                keras.layers.Dense(128, activation="relu", **matrix),
                Dropout(self.dropout, **dtype),
                keras.layers.Dense(self.num_classes, **matrix),
            ],
            name="stack",
        )
        self.pooling.build(x_shape, graph_ids_shape=graph_ids_shape)

    def call(self, x, graph_ids=None, training=None):
        """Pools, then convolves along the sorted nodes."""
        pooled = self.pooling(x, graph_ids=graph_ids)  # [B, k, C]
        count = tf.shape(pooled)[0]
        # TensorFlow's pooling gives a wrong shape for a batch of nothing: such a batch gets a graph of zeros meanwhile.
        pooled = tf.cond(count > 0, lambda: pooled, lambda: tf.zeros([1, *pooled.shape[1:]], pooled.dtype))
        pooled = tf.ensure_shape(pooled, [None, *pooled.shape[1:]])
        return self.run_stack(pooled, training)[:count]

    def run_stack(self, pooled, training):
        """What comes behind the pooling."""
        if chosen(self.implementation, pooled) != "native":
            return self.stack(pooled, training=training)
        for layer in self.stack.layers:
            if isinstance(layer, keras.layers.Conv1D):
                pooled = as_product(layer, pooled)
            else:
                pooled = layer(pooled, training=training) if isinstance(layer, Dropout) else layer(pooled)
        return pooled

    def compute_output_shape(self, x_shape, graph_ids_shape=None):
        return (None, self.num_classes)

    def get_config(self):
        return {
            **super().get_config(),
            "num_classes": self.num_classes,
            "sort_pooling_k": self.sort_pooling_k,
            "dropout": self.dropout,
            "kernel_initializer": keras.initializers.serialize(keras.initializers.get(self.kernel_initializer)),
            "kernel_regularizer": keras.regularizers.serialize(keras.regularizers.get(self.kernel_regularizer)),
            "implementation": self.implementation,
        }


def as_product(layer, x):
    """What a `Conv1D` without padding gives, as one product with all windows: its gradient is one as well.

    The gradients of TensorFlow's own took a tenth of a training step on D&D.
    """
    (size,), (stride,) = layer.kernel_size, layer.strides
    batch, length, channels = tf.shape(x)[0], x.shape[1], x.shape[2]
    count = (length - size) // stride + 1
    if stride == size:  # windows that do not overlap
        windows = tf.reshape(x, [batch, count, size * channels])
    else:
        windows = tf.concat([x[:, i : i + (count - 1) * stride + 1 : stride] for i in range(size)], axis=2)
    kernel = tf.reshape(layer.kernel, [size * channels, layer.filters])
    products = tf.reshape(tf.matmul(tf.reshape(windows, [-1, size * channels]), kernel), [batch, count, layer.filters])
    return layer.activation(products + layer.bias)


@keras.saving.register_keras_serializable(package="ganet_tf")
class NodeConv1D(keras.layers.Conv1D):
    """A `Conv1D` whose windows, one a node, do not overlap; its name is in saved models."""


def check_sort_pooling_k(k):
    """k as an int, if the convolutions have enough places for it."""
    if not isinstance(k, numbers.Real) or k != int(k) or k < MINIMUM_K:
        raise ValueError(
            f"`sort_pooling_k` must be a whole number of at least {MINIMUM_K}, but is {k!r}: after pooling by 2, "
            "the convolution of length 5 would have too few nodes. dataset.sort_pooling_k(0.6) gives a fitting one."
        )
    return int(k)
