"""The graph attention module: an attention operator, a graph convolution and a skip connection."""

import keras
import tensorflow as tf

from ganet_tf import ops
from ganet_tf.layers.checks import check_rate, check_units, shape_of
from ganet_tf.layers.dropout import Dropout
from ganet_tf.layers.gcn import GCN
from ganet_tf.layers.operators import as_operator, get_operator, operator_config

SKIPS = ("module", "gcn")


@keras.saving.register_keras_serializable(package="ganet_tf")
class GAM(keras.layers.Layer):
    """Graph attention module (GAM) of section 3.3: attention, a graph convolution and a skip connection.

        h = operator(X),    g = GCN(h),    O = [X, g]

    Args:
        units: Number of channels of the operator and of the GCN, and so of channels that the module adds.
        operator: What attends: a name of `layers.operator_names()`, or a layer as a template (see `get_operator`).
        k: Neighbours a node attends to, where the operator chooses.
        skip: `"module"` gives [X, g], the skip around the whole module of section 4.2; `"gcn"` gives [h, g],
            the skip around the GCN of section 3.3.
        dropout: On the features that enter the GCN.
        attention_dropout: On the features that enter the operator.
        activation: Of the GCN; `None`, the identity, is the paper's.
        normalization: Of the GCN: `"sym"`, `"row"` or `None`.
        scale: Factor on the attention scores: `None`, `"sqrt"` or a number (see the operator).
        implementation: `"sparse"` or `"dense"`.
        kernel_initializer, kernel_regularizer: For the matrices of both layers.
        **kwargs: `name`, `dtype`.

    Call arguments:
        x: [N, F] node features.
        edges: [E, 2] integers, a row = (source, target).
        graph_ids: [N] ascending integers, the graph of each node; only `"cgao"` asks for it.
        training: Whether dropout is active.

    Returns:
        [N, F + units] for `skip="module"`, [N, 2 · units] for `skip="gcn"`.

    Raises:
        ValueError: For an unknown operator, skip, option or a wrong shape.

    Example:

    >>> x = np.eye(3, dtype="float32")
    >>> edges = np.array([[0, 1], [1, 0]])
    >>> GAM(12, operator="hgao", k=2)(x, edges).shape
    TensorShape([3, 15])
    """

    def __init__(
        self,
        units: int,
        operator: str | dict | keras.layers.Layer = "hgao",
        k: int = 8,
        skip: str = "module",
        dropout: float = 0.0,
        attention_dropout: float = 0.0,
        activation=None,
        normalization: str | None = "sym",
        scale: float | str | None = None,
        implementation: str = "sparse",
        kernel_initializer="glorot_uniform",
        kernel_regularizer=None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        ops.checks.check_k(k)
        ops.checks.check_choice(skip, "skip", SKIPS)
        self.units = check_units(units)
        self.operator = as_operator(operator)
        self.k = int(k)
        self.skip = skip
        self.dropout = check_rate(dropout, "dropout")
        self.attention_dropout = check_rate(attention_dropout, "attention_dropout")
        self.activation = keras.activations.get(activation)
        self.normalization = normalization
        self.scale = scale
        self.implementation = implementation
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.kernel_regularizer = keras.regularizers.get(kernel_regularizer)
        self.supports_jit = False
        shared = {
            "kernel_initializer": self.kernel_initializer,
            "kernel_regularizer": self.kernel_regularizer,
            "implementation": implementation,
            "dtype": self.dtype_policy,
        }
        # The operator's input is dropped here, not in the operator, so that it holds for a user's layer too.
        self.attention_drop = Dropout(self.attention_dropout, dtype=self.dtype_policy)
        self.attention = get_operator(self.operator, units, k=k, scale=scale, **shared)
        self.gcn = GCN(units, activation=activation, normalization=normalization, dropout=dropout, **shared)

    def build(self, x_shape, edges_shape=None, graph_ids_shape=None):
        """Builds the two layers, so that a summary knows their shapes."""
        self.attention.build(x_shape, edges_shape, graph_ids_shape)
        self.gcn.build(self.attention_shape(x_shape), edges_shape, graph_ids_shape)

    def call(self, x, edges, graph_ids=None, training=None):
        h = self.attention(self.attention_drop(x, training=training), edges, graph_ids, training=training)
        g = self.gcn(h, edges, graph_ids, training=training)
        return tf.concat([x if self.skip == "module" else h, g], axis=-1)

    def attention_shape(self, x_shape):
        return self.attention.compute_output_shape(x_shape)

    def compute_output_shape(self, x_shape, edges_shape=None, graph_ids_shape=None):
        """[N, F] -> [N, F + units], or [N, operator's units + units] for `skip="gcn"`."""
        skipped = x_shape if self.skip == "module" else self.attention_shape(x_shape)
        return (x_shape[0], skipped[-1] + self.units)

    def compute_output_spec(self, x, edges=None, graph_ids=None, training=None):
        """Lets the two layers check symbolic inputs."""
        h = self.attention.compute_output_spec(x, edges, graph_ids)
        self.gcn.compute_output_spec(h, edges, graph_ids)
        shape = self.compute_output_shape(shape_of(x), shape_of(edges), shape_of(graph_ids))
        return keras.KerasTensor(shape, dtype=self.compute_dtype)

    def get_config(self):
        return {
            **super().get_config(),
            "units": self.units,
            "operator": operator_config(self.operator),
            "k": self.k,
            "skip": self.skip,
            "dropout": self.dropout,
            "attention_dropout": self.attention_dropout,
            "activation": keras.activations.serialize(self.activation),
            "normalization": self.normalization,
            "scale": self.scale,
            "implementation": self.implementation,
            "kernel_initializer": keras.initializers.serialize(self.kernel_initializer),
            "kernel_regularizer": keras.regularizers.serialize(self.kernel_regularizer),
        }
