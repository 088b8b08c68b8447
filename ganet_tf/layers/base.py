"""What every graph layer here shares: Keras's usual arguments, input checks, dropout, bias and activation.

`AttentionLayer` adds what the attention layers share: the key and value matrices, the scale, the implementation;
`HeadsLayer` several heads; `ScoredLayer` the kinds of score and dropout of attention weights.
"""

import keras
import tensorflow as tf

from ganet_tf import ops
from ganet_tf.layers.checks import (
    check_dense,
    check_edge_weights,
    check_edges_given,
    check_rate,
    check_scale,
    check_shapes,
    check_types,
    check_units,
    check_whole_batches,
    check_width,
    shape_of,
)
from ganet_tf.layers.dropout import Dropout, SavesSeed, next_seed

TEMPERATURE = 4.0  # of cosine scores, at the start: e^4 is 55, so that attention can be sharp from the first step on


class GraphLayer(keras.layers.Layer):
    """Base of the layers that turn node features [N, F] into node features [N, units].

    It holds no arithmetic of its own: it makes the weights, checks the inputs, and applies dropout before and
    bias and activation after the pure function of `ganet_tf.ops` that a subclass calls.

    Args:
        units: Number of output channels.
        activation: Applied to the output; `None` is the identity, the paper's choice.
        use_bias: Whether a `bias` [units] is added to the output.
        kernel_initializer, kernel_regularizer, kernel_constraint: For every matrix of the layer. Each matrix
            is drawn anew: two of the same shape do not start equal unless the initializer has a seed.
        bias_initializer, bias_regularizer, bias_constraint: For `bias`.
        activity_regularizer: For the output.
        dropout: Rate at which input features are dropped in training.
        seed: Seed of the layer's own random numbers; `None` follows `keras.utils.set_random_seed`.
        **kwargs: `name`, `dtype`, `trainable`, `autocast`.
    """

    needs_edges = True
    takes_sparse = False  # whether x may be a tf.SparseTensor

    def __init__(
        self,
        units: int,
        activation=None,
        use_bias: bool = False,
        kernel_initializer="glorot_uniform",
        bias_initializer="zeros",
        kernel_regularizer=None,
        bias_regularizer=None,
        kernel_constraint=None,
        bias_constraint=None,
        dropout: float = 0.0,
        seed: int | None = None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.units = check_units(units)
        self.activation = keras.activations.get(activation)
        self.use_bias = use_bias
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.bias_initializer = keras.initializers.get(bias_initializer)
        self.kernel_regularizer = keras.regularizers.get(kernel_regularizer)
        self.bias_regularizer = keras.regularizers.get(bias_regularizer)
        self.kernel_constraint = keras.constraints.get(kernel_constraint)
        self.bias_constraint = keras.constraints.get(bias_constraint)
        self.dropout = check_rate(dropout, "dropout")
        self.seed = seed
        self._drop = Dropout(self.dropout, seed=seed, dtype=self.dtype_policy, name="dropout")
        self._num_features = None
        self.supports_jit = False  # XLA has neither segment sums nor CSR products, and shapes change

    @property
    def output_units(self):
        return self.units

    def build(self, x_shape, edges_shape=None, graph_ids_shape=None):
        """Checks the static shapes and makes the bias; a subclass adds its kernels."""
        check_shapes(x_shape, edges_shape, graph_ids_shape, self.name)
        self._num_features = x_shape[-1]
        if self.use_bias:
            self.bias = self.add_weight(
                name="bias",
                shape=(self.output_units,),
                initializer=self.bias_initializer,
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
            )

    def add_kernel(self, name, shape):
        """Makes a matrix with its own draw from the kernel initializer."""
        return self.add_weight(
            name=name,
            shape=shape,
            initializer=fresh(self.kernel_initializer),
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
        )

    def prepare(self, x, edges=None, graph_ids=None, training=None, edge_weights=None):
        """Checks what came in and drops features in training."""
        self.check_inputs(x, edges, graph_ids, edge_weights)
        return self._drop(ops.checks.open_rows(x), training=training)

    def finish(self, outputs):
        if self.use_bias:
            outputs = outputs + tf.cast(self.bias, outputs.dtype)
        return self.activation(outputs)

    def check_inputs(self, x, edges=None, graph_ids=None, edge_weights=None):
        """Static checks that cost nothing in a step: ranks, types, the feature width, and who calls."""
        check_whole_batches()
        if self.needs_edges:
            check_edges_given(edges, self.name)
        if not self.takes_sparse:
            check_dense(x, self.name)
        check_shapes(shape_of(x), shape_of(edges), shape_of(graph_ids), self.name)
        check_types(x, edges, graph_ids, self.name)
        check_edge_weights(edge_weights, edges, self.name)
        check_width(shape_of(x)[-1], self._num_features, self.name)

    def compute_output_spec(self, x, edges=None, graph_ids=None, edge_weights=None, training=None):
        """Checks symbolic inputs too, so that a Functional model fails where it is written."""
        self.check_inputs(x, edges, graph_ids, edge_weights)
        shape = self.compute_output_shape(shape_of(x), shape_of(edges), shape_of(graph_ids))
        return keras.KerasTensor(shape, dtype=self.compute_dtype)

    def compute_output_shape(self, x_shape, edges_shape=None, graph_ids_shape=None):
        return (x_shape[0], self.output_units)

    def get_config(self):
        return {
            **super().get_config(),
            "units": self.units,
            "activation": keras.activations.serialize(self.activation),
            "use_bias": self.use_bias,
            "kernel_initializer": keras.initializers.serialize(self.kernel_initializer),
            "bias_initializer": keras.initializers.serialize(self.bias_initializer),
            "kernel_regularizer": keras.regularizers.serialize(self.kernel_regularizer),
            "bias_regularizer": keras.regularizers.serialize(self.bias_regularizer),
            "kernel_constraint": keras.constraints.serialize(self.kernel_constraint),
            "bias_constraint": keras.constraints.serialize(self.bias_constraint),
            "dropout": self.dropout,
            "seed": self.seed,
        }


class AttentionLayer(GraphLayer):
    """Base of the attention layers: keys are x W_K, values x W_V, and queries x itself.

    Args:
        units: Number of output channels.
        scale: Factor on the scores e_ij before the softmax: `None` (the paper's: none), `"sqrt"` for
            1/√F, or a number.
        implementation: `"auto"` (the default), `"native"`, `"sparse"` or `"dense"` (the paper's [N, N] matrices): see
            `ops.implementations`.
        **kwargs: See `GraphLayer`.
    """

    scale_names = ("sqrt",)
    has_native = True  # whether there is a native kernel; without one "auto" and "native" are "sparse"
    heads = 1
    score = "dot"

    def __init__(self, units: int, scale: float | str | None = None, implementation: str = "auto", **kwargs):
        super().__init__(units, **kwargs)
        ops.check_implementation(implementation)
        self.scale = check_scale(scale, self.scale_names)
        self.implementation = implementation

    def build(self, x_shape, edges_shape=None, graph_ids_shape=None):
        """Makes key_kernel [F, heads · key width] and value_kernel [F, heads · units]."""
        super().build(x_shape, edges_shape, graph_ids_shape)
        if (width := self.key_width(x_shape[-1])) is not None:
            self.key_kernel = self.add_kernel("key_kernel", (x_shape[-1], self.heads * width))
        self.value_kernel = self.add_kernel("value_kernel", (x_shape[-1], self.heads * self.units))

    def key_width(self, num_features):
        """Channels of a key, None for no keys: those of the query, which is x itself, so that W_K is square."""
        return num_features

    def queries(self, x):
        """x itself."""
        return x

    def project(self, x):
        """Keys [N, heads · key width], or None, and values [N, heads · units]."""
        # The casts matter only outside of a Keras call (HGAO.selected): inside, Keras has cast the weights.
        has_keys = self.key_width(x.shape[-1]) is not None
        keys = tf.matmul(x, tf.cast(self.key_kernel, x.dtype)) if has_keys else None
        return keys, tf.matmul(x, tf.cast(self.value_kernel, x.dtype))

    @property
    def score_options(self):
        """The keyword arguments that every attention function of `ops` takes."""
        return {"scale": self.scale, "implementation": self.implementation}

    def get_config(self):
        return {**super().get_config(), "scale": self.scale, "implementation": self.implementation}


class HeadsLayer(AttentionLayer):
    """Base of the attention layers with several heads, each with kernels of its own and `units` channels.

    Args:
        units: Number of channels of a head.
        scale, implementation: See `AttentionLayer`.
        heads: Number of heads.
        concat: Whether heads are concatenated ([N, heads · units]) or averaged ([N, units]).
        **kwargs: See `GraphLayer`.
    """

    def __init__(
        self,
        units: int,
        scale: float | str | None = None,
        implementation: str = "auto",
        heads: int = 1,
        concat: bool = True,
        **kwargs,
    ):
        super().__init__(units, scale, implementation, **kwargs)
        self.heads = check_units(heads, "heads")
        self.concat = concat

    @property
    def output_units(self):
        return self.heads * self.units if self.concat else self.units

    def finish(self, outputs):
        """Averages the heads [N, heads · units] where that is asked for; then bias and activation."""
        if self.heads > 1 and not self.concat:
            outputs = tf.reduce_mean(tf.reshape(outputs, [-1, self.heads, self.units]), axis=1)
        return super().finish(outputs)

    def get_config(self):
        return {**super().get_config(), "heads": self.heads, "concat": self.concat}


class ScoredLayer(SavesSeed, HeadsLayer):
    """Base of the layers whose nodes attend to neighbours: GAO, HGAO and TopKGAO.

    Args:
        units: Number of channels of a head.
        scale, implementation: See `AttentionLayer`.
        score: `"dot"`, `"cosine"` or `"uniform"`.
        query_units: Channels of queries and keys for `score="cosine"`.
        attention_dropout: Rate at which attention weights are dropped in training.
        **kwargs: `heads`, `concat`: see `HeadsLayer`; others: see `GraphLayer`.
    """

    def __init__(
        self,
        units: int,
        scale: float | str | None = None,
        implementation: str = "auto",
        score: str = "dot",
        query_units: int = 16,
        attention_dropout: float = 0.0,
        **kwargs,
    ):
        super().__init__(units, scale, implementation, **kwargs)
        ops.checks.check_choice(score, "score", ops.checks.SCORES)
        self.score = score
        self.query_units = check_units(query_units, "query_units")
        self.attention_dropout = check_rate(attention_dropout, "attention_dropout")
        if self.attention_dropout:  # a generator draws from Python's random numbers, which would move everything else
            self.seed_generator = keras.random.SeedGenerator(self.seed)

    def build(self, x_shape, edges_shape=None, graph_ids_shape=None):
        """For cosine scores makes query_kernel [F, heads · query_units] and temperature [heads] beside the others."""
        super().build(x_shape, edges_shape, graph_ids_shape)
        if self.score == "cosine":
            self.query_kernel = self.add_kernel("query_kernel", (x_shape[-1], self.heads * self.query_units))
            start = keras.initializers.Constant(TEMPERATURE)
            self.temperature = self.add_weight(name="temperature", shape=(self.heads,), initializer=start)

    def key_width(self, num_features):
        return {"dot": num_features, "cosine": self.query_units, "uniform": None}[self.score]

    def queries(self, x):
        """x itself; for cosine scores x W_Q [N, heads · query_units]."""
        return tf.matmul(x, tf.cast(self.query_kernel, x.dtype)) if self.score == "cosine" else super().queries(x)

    @property
    def score_options(self):
        temperature = tf.convert_to_tensor(self.temperature) if self.score == "cosine" else None
        return {**super().score_options, "heads": self.heads, "score": self.score, "temperature": temperature}

    def dropout_options(self, training):
        """The arguments of dropout on attention weights."""
        if not (training and self.attention_dropout):
            return {}
        seed = next_seed(self.seed_generator)
        return {"dropout": self.attention_dropout, "dropout_seed": seed}

    def get_config(self):
        return {
            **super().get_config(),
            "score": self.score,
            "query_units": self.query_units,
            "attention_dropout": self.attention_dropout,
        }


def fresh(initializer):
    """A copy that draws anew: a Keras initializer without a seed gives the same numbers at every call."""
    if isinstance(initializer, keras.initializers.Initializer):
        return type(initializer).from_config(initializer.get_config())
    return initializer
