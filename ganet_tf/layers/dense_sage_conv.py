"""GraphSAGE's convolution on the small dense graphs that DiffPool makes."""

import keras
import tensorflow as tf

from ganet_tf import ops
from ganet_tf.layers.base import fresh
from ganet_tf.layers.checks import check_units

AGGREGATORS = ("mean", "sum")


@keras.saving.register_keras_serializable(package="ganet_tf")
class DenseSAGEConv(keras.layers.Layer):
    """`SAGEConv` for graphs given as weighted matrices, one after another in a batch: what follows a `DiffPool`.

        m_k = Σ_l A_kl x_l / max(1, Σ_l A_kl),    o_k = x_k W_self + m_k W_neighbors + b

    A_kk counts as well: in a pooled graph it stands for the edges inside of a cluster. A cluster with less than one
    edge altogether is not scaled up. Cost: O(B · c² · F + B · c · F · units).

    Args:
        units: Number of output channels.
        aggregator: `"mean"` (the formula above) or `"sum"` (without the division).
        normalize: Whether rows are divided by their lengths, before the activation.
        activation: Applied to the output.
        use_bias: Whether `bias` is added.
        kernel_initializer, kernel_regularizer: For both matrices.
        **kwargs: `name`, `dtype`.

    Call arguments:
        x: [B, c, F] features.
        adjacency: [B, c, c] weights of edges, row k = what k gathers from.
        training: Not used.

    Returns:
        [B, c, units].

    Raises:
        ValueError: For an unknown aggregator, `units` below 1.

    Example:

    >>> x = np.array([[[1.0], [2.0]]], dtype="float32")
    >>> adjacency = np.array([[[0.0, 2.0], [2.0, 2.0]]], dtype="float32")
    >>> DenseSAGEConv(1, kernel_initializer="ones")(x, adjacency).numpy().tolist()
    [[[3.0], [3.5]]]
    """

    def __init__(
        self,
        units,
        aggregator="mean",
        normalize=False,
        activation=None,
        use_bias=True,
        kernel_initializer="glorot_uniform",
        kernel_regularizer=None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        ops.checks.check_choice(aggregator, "aggregator", AGGREGATORS)
        self.units = check_units(units)
        self.aggregator = aggregator
        self.normalize = normalize
        self.activation = keras.activations.get(activation)
        self.use_bias = use_bias
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.kernel_regularizer = keras.regularizers.get(kernel_regularizer)

    def build(self, x_shape, adjacency_shape=None):
        """Makes self_kernel and neighbor_kernel, [F, units] each, and the bias."""
        for name in ("self_kernel", "neighbor_kernel"):
            initializer, regularizer = fresh(self.kernel_initializer), self.kernel_regularizer
            shape = (x_shape[-1], self.units)
            setattr(self, name, self.add_weight(shape, initializer, name=name, regularizer=regularizer))
        if self.use_bias:
            self.bias = self.add_weight((self.units,), "zeros", name="bias")

    def call(self, x, adjacency, training=None):
        """Adds what the cluster and what its neighbours say."""
        messages = tf.matmul(adjacency, x)
        if self.aggregator == "mean":
            messages = messages / tf.maximum(tf.reduce_sum(adjacency, axis=-1, keepdims=True), 1)
        outputs = tf.matmul(x, self.self_kernel) + tf.matmul(messages, self.neighbor_kernel)
        if self.use_bias:
            outputs = outputs + tf.cast(self.bias, outputs.dtype)
        return self.activation(ops.unit_rows(outputs) if self.normalize else outputs)

    def compute_output_shape(self, x_shape, adjacency_shape=None):
        """[B, c, F] -> [B, c, units]."""
        return (*x_shape[:-1], self.units)

    def get_config(self):
        """The constructor's arguments."""
        return {
            **super().get_config(),
            "units": self.units,
            "aggregator": self.aggregator,
            "normalize": self.normalize,
            "activation": keras.activations.serialize(self.activation),
            "use_bias": self.use_bias,
            "kernel_initializer": keras.initializers.serialize(self.kernel_initializer),
            "kernel_regularizer": keras.regularizers.serialize(self.kernel_regularizer),
        }
