"""The convolutions that GraphSAGE, Set2SetNet and DiffPoolNet share."""

from functools import partial

import keras
import tensorflow as tf

from ganet_tf.layers import DenseSAGEConv, SAGEConv
from ganet_tf.layers.checks import check_rate, check_units
from ganet_tf.layers.dropout import Dropout
from ganet_tf.models.base import plain


@keras.saving.register_keras_serializable(package="ganet_tf")
class SAGEStack(keras.layers.Layer):
    """GraphSAGE convolutions one after another, and all their outputs side by side.

    Every convolution but the last is followed by its activation and, if wanted, by batch normalisation over nodes.

    Args:
        units: Channels of each convolution.
        aggregator: `"mean"`, `"max"` or `"sum"`; see `SAGEConv`.
        activation: Of all convolutions but the last.
        normalize: Whether each convolution's rows are divided by their lengths.
        batch_norm: Whether channels are normalised after each activation.
        dropout: On the features that enter each convolution.
        dense: Whether graphs come as matrices, as DiffPool makes them.
        kernel_initializer, kernel_regularizer: For all matrices.
        implementation: `"auto"`, `"native"` or `"sparse"`: see `SAGEConv`. Dense graphs have one way only.
        **kwargs: `name`, `dtype`.

    Call arguments:
        x: [N, F] node features; [B, c, F] for dense graphs.
        edges: [E, 2]; [B, c, c] weights for dense graphs.
        edge_weights: [E], not for dense graphs; left out, 1 for every edge.
        training: Whether dropout is active and statistics are the batch's.

    Returns:
        [N, sum(units)]; [B, c, sum(units)] for dense graphs.
    """

    def __init__(
        self,
        units,
        aggregator="mean",
        activation="relu",
        normalize=False,
        batch_norm=False,
        dropout=0.0,
        dense=False,
        kernel_initializer="glorot_uniform",
        kernel_regularizer=None,
        implementation="auto",
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.units = tuple(check_units(width) for width in units)
        shared = {"aggregator": aggregator, "normalize": normalize}
        matrix = {"kernel_initializer": kernel_initializer, "kernel_regularizer": kernel_regularizer}
        rest = {"activation": activation, "batch_norm": batch_norm, "dropout": dropout, "dense": dense}
        rest["implementation"] = implementation
        self._arguments = {"units": self.units, **shared, **rest, **matrix}
        dtype = {"dtype": self.dtype_policy}
        kind = DenseSAGEConv if dense else partial(SAGEConv, implementation=implementation)
        convolution = partial(kind, **shared, **matrix, **dtype)
        activations = [activation] * (len(self.units) - 1) + [None]
        self.convolutions = [
            convolution(width, activation=function, name=f"sage_{i + 1}")
            for i, (width, function) in enumerate(zip(self.units, activations, strict=True))
        ]
        self.drops = [Dropout(check_rate(dropout, "dropout"), **dtype) for _ in self.units]
        self.norms = [keras.layers.BatchNormalization(**dtype) for _ in self.units[1:]] if batch_norm else []
        self.supports_jit = False

    def build(self, x_shape, edges_shape=None):
        """Builds each convolution on the one before."""
        for i, layer in enumerate(self.convolutions):
            layer.build(x_shape, edges_shape)
            x_shape = (*x_shape[:-1], self.units[i])
            for norm in self.norms[i : i + 1]:
                norm.build(x_shape)

    def call(self, x, edges, edge_weights=None, training=None):
        """The outputs of all convolutions."""
        outputs = []
        weights = {} if edge_weights is None else {"edge_weights": edge_weights}  # a dense convolution takes none
        for i, layer in enumerate(self.convolutions):
            x = layer(self.drops[i](x, training=training), edges, training=training, **weights)
            for norm in self.norms[i : i + 1]:
                x = norm(x, training=training)
            outputs.append(x)
        return tf.concat(outputs, axis=-1)

    def compute_output_shape(self, x_shape, edges_shape=None):
        """As wide as all convolutions together."""
        return (*x_shape[:-1], sum(self.units))

    def get_config(self):
        """The constructor's arguments."""
        return {**super().get_config(), **{name: plain(value) for name, value in self._arguments.items()}}
