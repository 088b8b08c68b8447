"""The GCN of Kipf and Welling: a baseline for nodes."""

import keras
import tensorflow as tf

from ganet_tf import layers
from ganet_tf.models.base import GraphModel, as_logits, take_nodes

# Their weight decay of 5e-4 counts half a square: 2.5e-4 in Keras's terms.
KIPF_L2 = keras.regularizers.L2(2.5e-4)


# The layer of the same name is registered as "GCN", so the model needs a name of its own.
@keras.saving.register_keras_serializable(package="ganet_tf", name="models.GCN")
class GCN(GraphModel):
    """Graph convolutional network (Kipf and Welling 2017, eq. (9)) for nodes: two graph convolutions.

        O = Â ReLU(Â X W_1 + b_1) W_2 + b_2

    Args:
        num_classes: Number of classes.
        units: Hidden channels.
        activation: Between the two.
        dropout: On the features that enter each graph convolution.
        kernel_initializer: For both matrices.
        kernel_regularizer: For the first matrix only, as theirs; their 5e-4 is L2(2.5e-4) in Keras's terms.
        normalization: `"sym"`, `"row"` or `None`.
        implementation: `"auto"`, `"native"`, `"sparse"` or `"dense"`: see `HGAO`.
        num_features: F, if the model is to make its weights at once; `None` leaves it to the first data.
        **kwargs: `name`, `dtype`.

    Call arguments:
        inputs: dict of `x` [N, F], `edges` [E, 2] and, if wanted, `nodes` [n], the nodes to put out,
            and `edge_weights` [E] if edges have weights.
        training: Whether dropout is active.

    Returns:
        Logits [n, num_classes] of `nodes`, or [N, num_classes] of all nodes without it; float32 in mixed precision.

    Raises:
        ValueError: For an input that is missing or has a wrong shape, or an unknown option.

    Example:

    >>> x = np.ones((3, 7), dtype="float32")
    >>> edges = np.array([[0, 1], [1, 0]])
    >>> GCN(num_classes=4)({"x": x, "edges": edges}).shape
    TensorShape([3, 4])
    """

    optional = ("graph_ids", "nodes", "edge_weights")

    def __init__(
        self,
        num_classes: int,
        units: int = 16,
        activation="relu",
        dropout: float = 0.5,
        kernel_initializer="glorot_uniform",
        kernel_regularizer=KIPF_L2,
        normalization: str | None = "sym",
        implementation: str = "auto",
        num_features: int | None = None,
        **kwargs,
    ):
        shared = {
            "dropout": dropout,
            "kernel_initializer": kernel_initializer,
            "normalization": normalization,
            "implementation": implementation,
        }
        first = {"activation": activation, "kernel_regularizer": kernel_regularizer}
        own = {"num_classes": num_classes, "units": units, "num_features": num_features}
        super().__init__({**own, **first, **shared}, **kwargs)
        shared["dtype"] = self.dtype_policy
        self.hidden = layers.GCN(units, name="hidden", **first, **shared)
        self.out = layers.GCN(num_classes, name="out", **shared)
        self.build_if_known()

    def build_layers(self, x_shape, edges_shape, graph_ids_shape):
        self.hidden.build(x_shape, edges_shape, graph_ids_shape)
        self.out.build((None, self.units), edges_shape, graph_ids_shape)

    def call(self, inputs: dict, training: bool | None = None) -> tf.Tensor:
        """Class scores of every node, then those asked for."""
        x, edges, _, nodes = self.unpack(inputs)
        weights = inputs.get("edge_weights")
        x = self.hidden(x, edges, edge_weights=weights, training=training)
        return as_logits(take_nodes(self.out(x, edges, edge_weights=weights, training=training), nodes))

    def compute_output_shape(self, input_shape):
        return (None, self.num_classes)
