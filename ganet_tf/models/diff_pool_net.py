"""DiffPool for graphs: a baseline."""

import keras
import tensorflow as tf

from ganet_tf import layers
from ganet_tf.layers.dropout import Dropout
from ganet_tf.models.base import GraphModel, as_logits
from ganet_tf.models.sage_stack import SAGEStack


@keras.saving.register_keras_serializable(package="ganet_tf")
class DiffPoolNet(GraphModel):
    """DiffPool (Ying et al. 2018) for graphs, with one pooling, as in the published commands.

        Z = embed(A, X),    H = assign(A, X),    X', A' = `DiffPool`(Z, H),    P = pooled(A', X')
        O = ReLU([max_i Z_i, max_k P_k] W_1 + b_1) W_2 + b_2

    embed, assign and pooled are three GraphSAGE convolutions each, their outputs side by side. DiffPool adds two
    losses to the training loss: the paper describes both, its code has the first as an option and not the second.
    Batch normalisation is over the nodes of a batch; theirs was over padded rows, never trained, also at test.

    Args:
        num_classes: Number of classes.
        clusters: Nodes of a pooled graph. Theirs is 100 everywhere, a tenth of 1000 padded nodes.
        units: Channels of each convolution; the last one of assign has `clusters`.
        head_units: Channels of the layer before the last.
        aggregator: `"mean"` (the paper's GraphSAGE) or `"sum"` (the code's).
        activation: Of all convolutions but the last.
        normalize: Whether each convolution's rows are divided by their lengths.
        batch_norm: Whether channels are normalised after each activation.
        dropout: On the features that enter each convolution.
        head_dropout: Before the last layer.
        link_weight, entropy_weight: Of the two losses; see `layers.DiffPool`.
        kernel_initializer, kernel_regularizer: For all matrices.
        num_features: F, if the model is to make its weights at once; `None` leaves it to the first data.
        implementation: `"auto"`, `"native"` or `"sparse"`: see `SAGEConv`.
        **kwargs: `name`, `dtype`.

    Call arguments:
        inputs: dict of `x` [N, F], `edges` [E, 2] and `graph_ids` [N], ascending; if edges have weights, `edge_weights`
            [E].
        training: Whether dropout is active and statistics are the batch's.

    Returns:
        [B, num_classes] logits, B the number of graphs.

    Raises:
        ValueError: For an input that is missing or has a wrong shape, an unknown option.

    Example:

    >>> x = np.ones((3, 7), dtype="float32")
    >>> edges = np.array([[0, 1], [1, 0]])
    >>> model = DiffPoolNet(num_classes=2, clusters=10)
    >>> model({"x": x, "edges": edges, "graph_ids": np.array([0, 0, 1])}).shape
    TensorShape([2, 2])
    """

    required = ("x", "edges", "graph_ids")
    optional = ("edge_weights",)

    def __init__(
        self,
        num_classes,
        clusters=100,
        units=(64, 64, 64),
        head_units=50,
        aggregator="mean",
        activation="relu",
        normalize=True,
        batch_norm=True,
        dropout=0.0,
        head_dropout=0.0,
        link_weight=1.0,
        entropy_weight=1.0,
        kernel_initializer="glorot_uniform",
        kernel_regularizer=None,
        num_features=None,
        implementation="auto",
        **kwargs,
    ):
        matrix = {"kernel_initializer": kernel_initializer, "kernel_regularizer": kernel_regularizer}
        stack = {
            "aggregator": aggregator,
            "activation": activation,
            "normalize": normalize,
            "batch_norm": batch_norm,
            "dropout": dropout,
            "implementation": implementation,
        }
        weights = {"link_weight": link_weight, "entropy_weight": entropy_weight}
        own = {"num_classes": num_classes, "clusters": clusters, "units": tuple(units), "head_units": head_units}
        own["num_features"] = num_features
        super().__init__({**own, "head_dropout": head_dropout, **weights, **stack, **matrix}, **kwargs)
        dtype = {"dtype": self.dtype_policy}
        stack = {**stack, **matrix, **dtype}
        self.embed = SAGEStack(self.units, name="embed", **stack)
        self.assign = SAGEStack((*self.units[:-1], clusters), name="assign", **stack)
        self.pool = layers.DiffPool(clusters, name="pool", implementation=implementation, **weights, **matrix, **dtype)
        self.pooled = SAGEStack(self.units, dense=True, name="pooled", **stack)
        self.readout = layers.MaxPooling(implementation, name="readout", **dtype)
        self.hidden = keras.layers.Dense(head_units, activation="relu", name="hidden", **matrix, **dtype)
        self.drop = Dropout(head_dropout, name="drop", **dtype)
        self.out = keras.layers.Dense(num_classes, name="out", **matrix, **dtype)
        self.build_if_known()

    def build_layers(self, x_shape, edges_shape, graph_ids_shape):
        """Builds both stacks on the nodes, the pooling, and the rest on what it makes."""
        self.embed.build(x_shape, edges_shape)
        self.assign.build(x_shape, edges_shape)
        nodes = self.embed.compute_output_shape(x_shape)
        self.pool.build(nodes, edges_shape, graph_ids_shape, self.assign.compute_output_shape(x_shape))
        pooled, adjacency = self.pool.compute_output_shape(nodes)
        self.pooled.build(pooled, adjacency)
        self.readout.build(nodes, graph_ids_shape=graph_ids_shape)
        self.hidden.build((None, 2 * sum(self.units)))
        self.drop.build((None, self.head_units))
        self.out.build((None, self.head_units))

    def call(self, inputs, training=None):
        """The largest features of nodes and of clusters, then class scores of each graph."""
        x, edges, graph_ids, _ = self.unpack(inputs)
        weights = inputs.get("edge_weights")
        z = self.embed(x, edges, weights, training=training)
        h = self.assign(x, edges, weights, training=training)
        pooled, adjacency = self.pool(z, edges, graph_ids, weights, assignment=h, training=training)
        clusters = tf.reduce_max(self.pooled(pooled, adjacency, training=training), axis=1)
        both = tf.concat([self.readout(z, graph_ids=graph_ids), clusters], axis=1)
        return as_logits(self.out(self.drop(self.hidden(both), training=training)))

    def compute_output_shape(self, input_shape):
        """[B, num_classes]."""
        return (None, self.num_classes)
