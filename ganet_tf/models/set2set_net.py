"""GraphSAGE read out by Set2Set: a baseline."""

import keras

from ganet_tf import layers
from ganet_tf.layers.dropout import Dropout
from ganet_tf.models.base import GraphModel, as_logits
from ganet_tf.models.sage_stack import SAGEStack


@keras.saving.register_keras_serializable(package="ganet_tf")
class Set2SetNet(GraphModel):
    """GraphSAGE convolutions and `Set2Set` for graphs, as DiffPool's authors set it up.

        H = [h_1, ..., h_n] of `SAGEConv`s,    O = ReLU(Set2Set(H) W_1 + b_1) W_2 + b_2

    Their code asks as often as the largest graph has nodes, 1000 times; here it is `steps` times.

    Args:
        num_classes: Number of classes.
        units: Channels of each convolution.
        steps: How often Set2Set asks the nodes.
        head_units: Channels of the layer before the last; None: as many as all convolutions have together.
        aggregator: Over neighbours: `"mean"`, `"max"` or `"sum"`.
        activation: Of all convolutions but the last.
        normalize: Whether each convolution's rows are divided by their lengths.
        batch_norm: Whether channels are normalised after each activation.
        dropout: On the features that enter each convolution.
        head_dropout: Before the last layer.
        kernel_initializer, kernel_regularizer: For all matrices; Set2Set's recurrent one starts orthogonal.
        num_features: F, if the model is to make its weights at once; `None` leaves it to the first data.
        implementation: `"auto"`, `"native"` or `"sparse"`: see `SAGEConv`.
        **kwargs: `name`, `dtype`.

    Call arguments:
        inputs: dict of `x` [N, F], `edges` [E, 2] and `graph_ids` [N], ascending; if edges have weights, `edge_weights`
            [E].
        training: Whether dropout is active.

    Returns:
        [B, num_classes] logits, B the number of graphs.

    Raises:
        ValueError: For an input that is missing or has a wrong shape, an unknown option.

    Example:

    >>> x = np.ones((3, 7), dtype="float32")
    >>> edges = np.array([[0, 1], [1, 0]])
    >>> model = Set2SetNet(num_classes=2)
    >>> model({"x": x, "edges": edges, "graph_ids": np.array([0, 0, 1])}).shape
    TensorShape([2, 2])
    """

    required = ("x", "edges", "graph_ids")
    optional = ("edge_weights",)

    def __init__(
        self,
        num_classes,
        units=(64, 64, 64),
        steps=4,
        head_units=None,
        aggregator="mean",
        activation="relu",
        normalize=False,
        batch_norm=False,
        dropout=0.0,
        head_dropout=0.0,
        kernel_initializer="glorot_uniform",
        kernel_regularizer=None,
        num_features=None,
        implementation="auto",
        **kwargs,
    ):
        matrix = {"kernel_initializer": kernel_initializer, "kernel_regularizer": kernel_regularizer}
        stack = {
            "units": tuple(units),
            "aggregator": aggregator,
            "activation": activation,
            "normalize": normalize,
            "batch_norm": batch_norm,
            "dropout": dropout,
            "implementation": implementation,
        }
        own = {"num_classes": num_classes, "steps": steps, "head_units": head_units, "head_dropout": head_dropout}
        own["num_features"] = num_features
        super().__init__({**own, **stack, **matrix}, **kwargs)
        dtype = {"dtype": self.dtype_policy}
        self.stack = SAGEStack(name="stack", **stack, **matrix, **dtype)
        self.set2set = layers.Set2Set(steps, name="set2set", implementation=implementation, **matrix, **dtype)
        width = sum(self.units) if head_units is None else head_units
        self.hidden = keras.layers.Dense(width, activation="relu", name="hidden", **matrix, **dtype)
        self.drop = Dropout(head_dropout, name="drop", **dtype)
        self.out = keras.layers.Dense(num_classes, name="out", **matrix, **dtype)
        self.build_if_known()

    def build_layers(self, x_shape, edges_shape, graph_ids_shape):
        """Builds the stack, Set2Set on all of its outputs, and the two dense layers."""
        self.stack.build(x_shape, edges_shape)
        width = sum(self.units)
        self.set2set.build((None, width), graph_ids_shape=graph_ids_shape)
        self.hidden.build((None, 2 * width))
        self.drop.build((None, self.hidden.units))
        self.out.build((None, self.hidden.units))

    def call(self, inputs, training=None):
        """Node features, what Set2Set reads of each graph, class scores."""
        x, edges, graph_ids, _ = self.unpack(inputs)
        h = self.set2set(self.stack(x, edges, inputs.get("edge_weights"), training=training), graph_ids=graph_ids)
        return as_logits(self.out(self.drop(self.hidden(h), training=training)))

    def compute_output_shape(self, input_shape):
        """[B, num_classes]."""
        return (None, self.num_classes)
