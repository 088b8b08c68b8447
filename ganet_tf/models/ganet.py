"""The graph attention network: the paper's architecture for node embeddings."""

import keras
import tensorflow as tf

from ganet_tf.layers import GAM, GCN
from ganet_tf.layers.operators import as_operator
from ganet_tf.models.base import GraphModel


@keras.saving.register_keras_serializable(package="ganet_tf")
class GANet(GraphModel):
    """Graph attention network (GANet) of section 3.3: GCN, a stack of graph attention modules, GCN.

        h_0 = GCN(X),    h_l = [h_(l-1), GCN(operator(h_(l-1)))],    O = GCN(h_n)

    With hGAO it is the paper's hGANet, with cGAO its cGANet. On the paper's setting for graphs the channels
    are 48, 60, 72, 84, 96, 97.

    Args:
        units: Channels of the first GCN.
        num_modules: Number of graph attention modules (GAM).
        module_units: Channels that each module adds.
        out_units: Channels of the last GCN.
        operator: What attends: a name of `layers.operator_names()`, or a layer, whose config each module copies.
        k: Neighbours a node attends to, where the operator chooses.
        dropout: On the features that enter each GCN.
        attention_dropout: On the features that enter each operator.
        activation: Of every GCN but the last; `None`, the identity, is the paper's.
        kernel_initializer, kernel_regularizer: For all matrices.
        normalization: Of the GCNs: `"sym"`, `"row"` or `None`.
        skip: `"module"` or `"gcn"`: see `layers.GAM`.
        scale: Factor on the attention scores: `None`, `"sqrt"` or a number.
        implementation: `"sparse"` or `"dense"`.
        recompute: Whether training computes each module a second time in the backward pass instead of keeping what
            is inside it: the same numbers, less memory, more time (see docs/large-graphs.md). For very large graphs.
        **kwargs: `name`, `dtype`.

    Call arguments:
        inputs: dict of `x` [N, F], `edges` [E, 2] and, if there are several graphs, `graph_ids` [N].
        training: Whether dropout is active.

    Returns:
        [N, out_units].

    Raises:
        ValueError: For an input that is missing or has a wrong shape, or an unknown option.

    Example:

    >>> x = np.ones((3, 7), dtype="float32")
    >>> edges = np.array([[0, 1], [1, 0]])
    >>> model = GANet(operator="hgao", k=2)
    >>> model({"x": x, "edges": edges}).shape
    TensorShape([3, 97])
    >>> model.channels
    (48, 60, 72, 84, 96, 97)
    """

    def __init__(
        self,
        units: int = 48,
        num_modules: int = 4,
        module_units: int = 12,
        out_units: int = 97,
        operator: str | dict | keras.layers.Layer = "hgao",
        k: int = 8,
        dropout: float = 0.0,
        attention_dropout: float = 0.0,
        activation=None,
        kernel_initializer="glorot_uniform",
        kernel_regularizer=None,
        normalization: str | None = "sym",
        skip: str = "module",
        scale: float | str | None = None,
        implementation: str = "sparse",
        recompute: bool = False,
        **kwargs,
    ):
        shared = {
            "dropout": dropout,
            "kernel_initializer": kernel_initializer,
            "kernel_regularizer": kernel_regularizer,
            "normalization": normalization,
            "implementation": implementation,
        }
        modules = {"k": k, "attention_dropout": attention_dropout, "skip": skip, "scale": scale}
        sizes = {
            "units": units,
            "num_modules": num_modules,
            "module_units": module_units,
            "out_units": out_units,
        }
        operator = as_operator(operator)
        super().__init__(
            {**sizes, "operator": operator, "activation": activation, **modules, **shared, "recompute": recompute},
            **kwargs,
        )
        shared["dtype"] = self.dtype_policy
        self.embedding = GCN(units, activation=activation, name="embedding", **shared)
        self.gams = [
            GAM(module_units, operator, activation=activation, name=f"gam_{i + 1}", **modules, **shared)
            for i in range(num_modules)
        ]
        self.out = GCN(out_units, name="out", **shared)

    @property
    def channels(self) -> tuple[int, ...]:
        """How many channels come out of each GCN and module."""
        shapes = [(None, self.units)]
        for gam in self.gams:
            shapes.append(gam.compute_output_shape(shapes[-1]))
        return (*(shape[-1] for shape in shapes), self.out_units)

    def build_layers(self, x_shape, edges_shape, graph_ids_shape):
        """Builds each layer on the shape that the one before puts out."""
        for layer in (self.embedding, *self.gams, self.out):
            layer.build(x_shape, edges_shape, graph_ids_shape)
            x_shape = layer.compute_output_shape(x_shape, edges_shape, graph_ids_shape)

    def call(self, inputs: dict, training: bool | None = None) -> tf.Tensor:
        """All layers get the same `edges` tensor, so that what is derived from it is made once."""
        x, edges, graph_ids, _ = self.unpack(inputs)
        x = self.embedding(x, edges, graph_ids, training=training)
        for gam in self.gams:
            if self.recompute and training:
                x = recomputed(gam, x, edges, graph_ids, training)
            else:
                x = gam(x, edges, graph_ids, training=training)
        return self.out(x, edges, graph_ids, training=training)

    def compute_output_shape(self, input_shape):
        return (None, self.out_units)


def recomputed(
    layer: keras.layers.Layer,
    x: tf.Tensor,
    edges: tf.Tensor,
    graph_ids: tf.Tensor | None = None,
    training: bool | None = None,
) -> tf.Tensor:
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
