"""The graph attention module: an attention operator, a graph convolution and a skip connection."""

import keras
import tensorflow as tf

from ganet_tf import ops
from ganet_tf.layers.checks import check_rate, check_units, shape_of
from ganet_tf.layers.dropout import Dropout
from ganet_tf.layers.gcn import GCN
from ganet_tf.layers.operators import as_operator, get_operator, operator_config

SKIPS = ("module", "gcn", "both")


@keras.saving.register_keras_serializable(package="ganet_tf")
class GAM(keras.layers.Layer):
    """Graph attention module (GAM) of section 3.3: attention, a graph convolution and a skip connection.

        h = operator(X),    g = GCN(h),    O = [X, g]

    Args:
        units: Number of channels of the operator and of the GCN, and so of channels that the module adds.
        operator: What attends: a name of `layers.operator_names()`, or a layer as a template (see `get_operator`).
        k: Neighbours a node attends to, where the operator chooses.
        skip: `"module"` gives [X, g], the skip around the whole module of section 4.2; `"gcn"` gives [h, g],
            the skip around the GCN of section 3.3; `"both"` gives [X, h, g], so that what was selected reaches the
            next layer without being averaged over all neighbours again.
        dropout: On the features that enter the GCN.
        attention_dropout: On the features that enter the operator (as the operator's own `dropout` would be).
        activation: Of the GCN; `None`, the identity, is the paper's.
        normalization: Of the GCN: `"sym"`, `"row"` or `None`.
        scale: Factor on the attention scores: `None`, `"sqrt"` or a number (see the operator).
        implementation: `"auto"`, `"native"`, `"sparse"` or `"dense"`: see `HGAO`.
        kernel_initializer, kernel_regularizer: For the matrices of both layers.
        heads, concat, score, query_units, gate: Of the operator, where it has them: see `HGAO`.
        attention_weights_dropout: On the attention weights: the operator's own `attention_dropout`.
        **kwargs: `name`, `dtype`.

    Call arguments:
        x: [N, F] node features.
        edges: [E, 2] integers, a row = (source, target).
        graph_ids: [N] ascending integers, the graph of each node; only `"cgao"` asks for it.
        edge_weights: [E] floats of at least 0, or None: see the operator and `GCN`.
        training: Whether dropout is active.

    Returns:
        [N, F + units] for `skip="module"`, [N, h + units] for `"gcn"`, [N, F + h + units] for `"both"`, h being the
        operator's channels: `units`, or `heads` · `units` for concatenated heads.

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
        implementation: str = "auto",
        kernel_initializer="glorot_uniform",
        kernel_regularizer=None,
        heads: int = 1,
        concat: bool = True,
        score: str = "dot",
        query_units: int = 16,
        gate: str | None = "sigmoid",
        attention_weights_dropout: float = 0.0,
        **kwargs,
    ):
        super().__init__(**kwargs)
        ops.checks.check_k(k)
        ops.checks.check_choice(skip, "skip", SKIPS)
        ops.checks.check_choice(score, "score", ops.checks.SCORES)
        ops.checks.check_choice(gate, "gate", ops.checks.GATES)
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
        self.heads = check_units(heads, "heads")
        self.concat = concat
        self.score = score
        self.query_units = query_units
        self.gate = gate
        self.attention_weights_dropout = check_rate(attention_weights_dropout, "attention_weights_dropout")
        self.supports_jit = False
        shared = {
            "kernel_initializer": self.kernel_initializer,
            "kernel_regularizer": self.kernel_regularizer,
            "implementation": implementation,
            "dtype": self.dtype_policy,
        }
        # The operator's input is dropped here, not in the operator, so that it holds for a user's layer too.
        self.attention_drop = Dropout(self.attention_dropout, dtype=self.dtype_policy)
        switches = {"heads": heads, "concat": concat, "score": score, "query_units": query_units, "gate": gate}
        switches["attention_dropout"] = self.attention_weights_dropout
        self.attention = get_operator(self.operator, units, k=k, scale=scale, **switches, **shared)
        self.gcn = GCN(units, activation=activation, normalization=normalization, dropout=dropout, **shared)

    def build(self, x_shape, edges_shape=None, graph_ids_shape=None):
        """Builds the two layers, so that a summary knows their shapes."""
        self.attention.build(x_shape, edges_shape, graph_ids_shape)
        self.gcn.build(self.attention_shape(x_shape), edges_shape, graph_ids_shape)

    def call(self, x, edges, graph_ids=None, edge_weights=None, training=None):
        # Weights only where there are some: a user's operator need not know of them.
        options = {"training": training} | ({} if edge_weights is None else {"edge_weights": edge_weights})
        h = self.attention(self.attention_drop(x, training=training), edges, graph_ids, **options)
        g = self.gcn(h, edges, graph_ids, **options)
        return tf.concat(self.outputs(x, h, g), axis=-1)

    def outputs(self, x, h, g):
        """Which of the module's input, its attention and its GCN go on, in this order."""
        return {"module": [x, g], "gcn": [h, g], "both": [x, h, g]}[self.skip]

    def attention_shape(self, x_shape):
        return self.attention.compute_output_shape(x_shape)

    def compute_output_shape(self, x_shape, edges_shape=None, graph_ids_shape=None):
        """[N, F] -> [N, F + units], or what else `skip` asks for."""
        h_shape = self.attention_shape(x_shape)
        return (x_shape[0], sum(self.outputs(x_shape[-1], h_shape[-1], self.units)))

    def compute_output_spec(self, x, edges=None, graph_ids=None, edge_weights=None, training=None):
        """Lets the two layers check symbolic inputs."""
        options = {} if edge_weights is None else {"edge_weights": edge_weights}
        h = self.attention.compute_output_spec(x, edges, graph_ids, **options)
        self.gcn.compute_output_spec(h, edges, graph_ids, **options)
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
            "heads": self.heads,
            "concat": self.concat,
            "score": self.score,
            "query_units": self.query_units,
            "gate": self.gate,
            "attention_weights_dropout": self.attention_weights_dropout,
        }
