"""The GAT of Veličković et al.: a baseline for nodes."""

import keras
import tensorflow as tf

from ganet_tf import layers
from ganet_tf.models.base import GraphModel, as_logits, take_nodes

# Their weight decay of 5e-4 counts half a square: 2.5e-4 in Keras's terms.
GAT_L2 = keras.regularizers.L2(2.5e-4)


# The layer of the same name is registered as "GAT", so the model needs a name of its own.
@keras.saving.register_keras_serializable(package="ganet_tf", name="models.GAT")
class GAT(GraphModel):
    """Graph attention network (Veličković et al. 2018, section 3.3) for nodes: two additive attention layers.

    The heads of the first layer are concatenated, those of the second averaged.

    Args:
        num_classes: Number of classes.
        units: Channels of each head of the first layer.
        heads: Heads of the first layer.
        output_heads: Heads of the second layer: 1 for Cora and Citeseer, 8 for Pubmed.
        activation: Between the two.
        dropout: On the features that enter each layer.
        attention_dropout: On the attention weights.
        kernel_initializer, kernel_regularizer: For all matrices; their 5e-4 is L2(2.5e-4) in Keras's terms.
        negative_slope: Of the LeakyReLU in the scores.
        num_features: F, if the model is to make its weights at once; `None` leaves it to the first data.
        **kwargs: `name`, `dtype`.

    Call arguments:
        inputs: dict of `x` [N, F], `edges` [E, 2] and, if wanted, `nodes` [n], the nodes to put out,
            and `edge_weights` [E] if edges have weights.
        training: Whether dropout is active.

    Returns:
        Logits [n, num_classes] of `nodes`, or [N, num_classes] of all nodes without it; float32 in mixed precision.

    Raises:
        ValueError: For an input that is missing or has a wrong shape, or an option out of range.

    Example:

    >>> x = np.ones((3, 7), dtype="float32")
    >>> edges = np.array([[0, 1], [1, 0]])
    >>> GAT(num_classes=4)({"x": x, "edges": edges}).shape
    TensorShape([3, 4])
    """

    optional = ("graph_ids", "nodes", "edge_weights")

    def __init__(
        self,
        num_classes: int,
        units: int = 8,
        heads: int = 8,
        output_heads: int = 1,
        activation="elu",
        dropout: float = 0.6,
        attention_dropout: float = 0.6,
        kernel_initializer="glorot_uniform",
        kernel_regularizer=GAT_L2,
        negative_slope: float = 0.2,
        num_features: int | None = None,
        **kwargs,
    ):
        sizes = {"num_classes": num_classes, "units": units, "heads": heads, "output_heads": output_heads}
        shared = {
            "dropout": dropout,
            "attention_dropout": attention_dropout,
            "kernel_initializer": kernel_initializer,
            "kernel_regularizer": kernel_regularizer,
            "negative_slope": negative_slope,
        }
        super().__init__({**sizes, "num_features": num_features, "activation": activation, **shared}, **kwargs)
        shared["dtype"] = self.dtype_policy
        self.hidden = layers.GAT(units, heads, activation=activation, name="hidden", **shared)
        self.out = layers.GAT(num_classes, output_heads, concat=False, name="out", **shared)
        self.build_if_known()

    def build_layers(self, x_shape, edges_shape, graph_ids_shape):
        self.hidden.build(x_shape, edges_shape, graph_ids_shape)
        self.out.build((None, self.units * self.heads), edges_shape, graph_ids_shape)

    def call(self, inputs: dict, training: bool | None = None) -> tf.Tensor:
        """Class scores of every node, then those asked for."""
        x, edges, _, nodes = self.unpack(inputs)
        weights = inputs.get("edge_weights")
        x = self.hidden(x, edges, edge_weights=weights, training=training)
        return as_logits(take_nodes(self.out(x, edges, edge_weights=weights, training=training), nodes))

    def compute_output_shape(self, input_shape):
        return (None, self.num_classes)
