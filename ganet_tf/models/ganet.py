"""The graph attention network: the paper's architecture for node embeddings."""

from functools import partial

import keras
import tensorflow as tf

from ganet_tf.layers import GAM, GCN, Linear
from ganet_tf.layers.operators import as_operator
from ganet_tf.models.base import GraphModel
from ganet_tf.ops.checks import check_choice

ENDS = ("gcn", "dense")


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
        attention_dropout: On the features that enter each operator (not on its attention weights, which have
            `attention_weights_dropout`).
        activation: Of every GCN but the last; `None`, the identity, is the paper's.
        kernel_initializer, kernel_regularizer: For all matrices.
        normalization: Of the GCNs: `"sym"`, `"row"` or `None`.
        skip: `"module"`, `"gcn"` or `"both"`: see `layers.GAM`.
        scale: Factor on the attention scores: `None`, `"sqrt"` or a number.
        implementation: `"auto"`, `"native"`, `"sparse"` or `"dense"`: see `HGAO`.
        recompute: Whether training computes each module a second time in the backward pass instead of keeping what
            is inside it: the same numbers, less memory, more time (see docs/large-graphs.md). For very large graphs.
        heads, concat, score, query_units, gate: Of the operator, where it has them: see `layers.HGAO`.
        attention_weights_dropout: On the attention weights.
        embedding, out: What the first and the last layer are: `"gcn"` (the paper's), or `"dense"`, X W + b, which does
            not mix the features of neighbours before and after the modules.
        num_features: F, if the model is to make its weights at once; `None` leaves it to the first data.
        **kwargs: `name`, `dtype`.

    Call arguments:
        inputs: dict of `x` [N, F], `edges` [E, 2] and, if there are several graphs, `graph_ids` [N]; if edges have
            weights, `edge_weights` [E].
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

    optional = ("graph_ids", "edge_weights")

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
        implementation: str = "auto",
        recompute: bool = False,
        heads: int = 1,
        concat: bool = True,
        score: str = "dot",
        query_units: int = 16,
        gate: str | None = "sigmoid",
        attention_weights_dropout: float = 0.0,
        embedding: str = "gcn",
        out: str = "gcn",
        num_features: int | None = None,
        **kwargs,
    ):
        check_choice(embedding, "embedding", ENDS)
        check_choice(out, "out", ENDS)
        shared = {
            "dropout": dropout,
            "kernel_initializer": kernel_initializer,
            "kernel_regularizer": kernel_regularizer,
            "normalization": normalization,
            "implementation": implementation,
        }
        modules = {
            "k": k,
            "attention_dropout": attention_dropout,
            "skip": skip,
            "scale": scale,
            "heads": heads,
            "concat": concat,
            "score": score,
            "query_units": query_units,
            "gate": gate,
            "attention_weights_dropout": attention_weights_dropout,
        }
        own = {
            "units": units,
            "num_modules": num_modules,
            "module_units": module_units,
            "out_units": out_units,
            "recompute": recompute,
            "num_features": num_features,
        }
        operator = as_operator(operator)
        super().__init__({**own, "operator": operator, "activation": activation, **modules, **shared}, **kwargs)
        shared["dtype"] = self.dtype_policy
        self.embedding = _end(embedding, units, activation=activation, name="embedding", **shared)
        self.gams = [
            GAM(module_units, operator, activation=activation, name=f"gam_{i + 1}", **modules, **shared)
            for i in range(num_modules)
        ]
        self.out = _end(out, out_units, name="out", **shared)
        self.build_if_known()

    @property
    def channels(self) -> tuple[int, ...]:
        """How many channels come out of the first layer, each module and the last layer."""
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
        graph = (edges, graph_ids, inputs.get("edge_weights"))
        x = self.embedding(x, *graph, training=training)
        for gam in self.gams:
            call = partial(recomputed, gam) if self.recompute and training else gam
            x = call(x, *graph, training=training)
        return self.out(x, *graph, training=training)

    def compute_output_shape(self, input_shape):
        return (None, self.out_units)

    def get_config(self):
        """The arguments; `embedding` and `out` are read from the layers that have taken their names."""
        kinds = {name: "gcn" if isinstance(getattr(self, name), GCN) else "dense" for name in ("embedding", "out")}
        return {**super().get_config(), **kinds}


def _end(kind, units, normalization, implementation, **options):
    """The first or the last layer of a network."""
    if kind == "gcn":
        return GCN(units, normalization=normalization, implementation=implementation, **options)
    return Linear(units, use_bias=True, **options)


def recomputed(
    layer: keras.layers.Layer,
    x: tf.Tensor,
    edges: tf.Tensor,
    graph_ids: tf.Tensor | None = None,
    edge_weights: tf.Tensor | None = None,
    training: bool | None = None,
) -> tf.Tensor:
    """`layer(x, edges, graph_ids, edge_weights)`, of which only the input and the output are kept for the gradient.

    The backward pass computes the layer a second time, with the same random numbers: the state of the layer's seeds
    is read before the call, and `stateless_call` draws from it both times. (`tf.recompute_grad` calls a Keras 3 layer a
    second time with other dropout masks, and gives a gradient that is wrong.)

    Args:
        layer: A built layer.
        x: [N, F] node features.
        edges: [E, 2] integers; the tensor itself goes on, so that all layers share what is derived from it.
        graph_ids: [N] integers or None.
        edge_weights: [E] floats or None.
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
        return layer.stateless_call(weights, before, x, edges, graph_ids, edge_weights, training=training)

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
