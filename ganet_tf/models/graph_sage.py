"""GraphSAGE for graphs: a baseline."""

import keras

from ganet_tf import layers, ops
from ganet_tf.layers.dropout import Dropout
from ganet_tf.models.base import GraphModel, as_logits
from ganet_tf.models.sage_stack import SAGEStack

READOUTS = {"mean": layers.MeanPooling, "max": layers.MaxPooling, "sum": layers.SumPooling}


@keras.saving.register_keras_serializable(package="ganet_tf")
class GraphSAGE(GraphModel):
    """GraphSAGE (Hamilton et al. 2017) for graphs, as DiffPool's authors set it up: three convolutions, one readout.

        H = [h_1, ..., h_n] of `SAGEConv`s,    O = mean_{i in g} H_i W + b

    Args:
        num_classes: Number of classes.
        units: Channels of each convolution.
        aggregator: Over neighbours: `"mean"`, `"max"` or `"sum"`.
        readout: Over the nodes of a graph: `"mean"`, `"max"` or `"sum"`.
        activation: Of all convolutions but the last.
        normalize: Whether each convolution's rows are divided by their lengths.
        batch_norm: Whether channels are normalised after each activation.
        dropout: On the features that enter each convolution.
        head_dropout: Before the last layer.
        kernel_initializer, kernel_regularizer: For all matrices.
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
    >>> model = GraphSAGE(num_classes=2)
    >>> model({"x": x, "edges": edges, "graph_ids": np.array([0, 0, 1])}).shape
    TensorShape([2, 2])
    """

    required = ("x", "edges", "graph_ids")
    optional = ("edge_weights",)

    def __init__(
        self,
        num_classes,
        units=(64, 64, 64),
        aggregator="mean",
        readout="mean",
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
        ops.checks.check_choice(readout, "readout", tuple(READOUTS))
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
        own = {"num_classes": num_classes, "readout": readout, "head_dropout": head_dropout}
        own["num_features"] = num_features
        super().__init__({**own, **stack, **matrix}, **kwargs)
        dtype = {"dtype": self.dtype_policy}
        self.stack = SAGEStack(name="stack", **stack, **matrix, **dtype)
        self.pooling = READOUTS[readout](implementation, name="pooling", **dtype)
        self.drop = Dropout(head_dropout, name="drop", **dtype)
        self.out = keras.layers.Dense(num_classes, name="out", **matrix, **dtype)
        self.build_if_known()

    def build_layers(self, x_shape, edges_shape, graph_ids_shape):
        """Builds the stack, and the last layer on all of its outputs."""
        self.stack.build(x_shape, edges_shape)
        self.pooling.build((None, sum(self.units)), graph_ids_shape=graph_ids_shape)
        self.drop.build((None, sum(self.units)))
        self.out.build((None, sum(self.units)))

    def call(self, inputs, training=None):
        """Node features, one row for each graph, class scores."""
        x, edges, graph_ids, _ = self.unpack(inputs)
        h = self.pooling(self.stack(x, edges, inputs.get("edge_weights"), training=training), graph_ids=graph_ids)
        return as_logits(self.out(self.drop(h, training=training)))

    def compute_output_shape(self, input_shape):
        """[B, num_classes]."""
        return (None, self.num_classes)
