"""DGCNN: the baseline whose graph convolutions the paper replaces."""

import keras
import tensorflow as tf

from ganet_tf.layers import GCN
from ganet_tf.models.base import GraphModel, as_logits
from ganet_tf.models.dgcnn_head import DGCNNHead, check_sort_pooling_k


@keras.saving.register_keras_serializable(package="ganet_tf")
class DGCNN(GraphModel):
    """Deep graph convolutional network (Zhang et al. 2018) for graphs.

        h_l = tanh(D̂^-1 Â h_(l-1) W_l),    [h_1, ..., h_n] (32 + 32 + 32 + 1 = 97 channels), then `DGCNNHead`

    Args:
        num_classes: Number of classes.
        sort_pooling_k: Nodes of each graph that the head sees, at least 10: `dataset.sort_pooling_k(0.6)`.
        units: Channels of each graph convolution; the last one's last channel sorts the nodes.
        activation: Of the graph convolutions.
        dropout: On the features that enter each graph convolution; DGCNN has none.
        head_dropout: Before the last layer.
        normalization: Of the graph convolutions: `"row"` (DGCNN's), `"sym"` or `None`.
        kernel_initializer, kernel_regularizer: For all matrices.
        implementation: `"auto"`, `"native"`, `"sparse"` or `"dense"`: see `HGAO`.
        num_features: F, if the model is to make its weights at once; `None` leaves it to the first data.
        **kwargs: `name`, `dtype`.

    Call arguments:
        inputs: dict of `x` [N, F], `edges` [E, 2] and `graph_ids` [N], ascending; if edges have weights, `edge_weights`
            [E].
        training: Whether dropout is active.

    Returns:
        [B, num_classes] logits, B the number of graphs; float32 in mixed precision.

    Raises:
        ValueError: For an input that is missing or has a wrong shape, `sort_pooling_k` below 10, an unknown option.

    Example:

    >>> x = np.ones((3, 7), dtype="float32")
    >>> edges = np.array([[0, 1], [1, 0]])
    >>> model = DGCNN(num_classes=2, sort_pooling_k=10)
    >>> model({"x": x, "edges": edges, "graph_ids": np.array([0, 0, 1])}).shape
    TensorShape([2, 2])
    """

    required = ("x", "edges", "graph_ids")
    optional = ("edge_weights",)

    def __init__(
        self,
        num_classes: int,
        sort_pooling_k: int = 30,
        units: tuple[int, ...] = (32, 32, 32, 1),
        activation="tanh",
        dropout: float = 0.0,
        head_dropout: float = 0.5,
        normalization: str | None = "row",
        kernel_initializer="glorot_uniform",
        kernel_regularizer=None,
        implementation: str = "auto",
        num_features: int | None = None,
        **kwargs,
    ):
        matrix = {"kernel_initializer": kernel_initializer, "kernel_regularizer": kernel_regularizer}
        convolution = {
            "activation": activation,
            "dropout": dropout,
            "normalization": normalization,
            "implementation": implementation,
        }
        sort_pooling_k = check_sort_pooling_k(sort_pooling_k)
        own = {"num_classes": num_classes, "sort_pooling_k": sort_pooling_k, "head_dropout": head_dropout}
        own |= {"units": tuple(units), "num_features": num_features}
        super().__init__({**own, **convolution, **matrix}, **kwargs)
        dtype = self.dtype_policy
        self.convolutions = [
            GCN(width, name=f"gcn_{i + 1}", dtype=dtype, **convolution, **matrix) for i, width in enumerate(self.units)
        ]
        end = {"dropout": head_dropout, "implementation": implementation, "name": "head", "dtype": dtype}
        self.head = DGCNNHead(num_classes, sort_pooling_k, **end, **matrix)
        self.build_if_known()

    def build_layers(self, x_shape, edges_shape, graph_ids_shape):
        """Builds each convolution on the one before, and the head on all of them together."""
        for layer in self.convolutions:
            layer.build(x_shape, edges_shape, graph_ids_shape)
            x_shape = layer.compute_output_shape(x_shape)
        self.head.build((None, sum(self.units)), graph_ids_shape)

    def call(self, inputs: dict, training: bool | None = None) -> tf.Tensor:
        """The outputs of all convolutions side by side, then class scores of each graph."""
        x, edges, graph_ids, _ = self.unpack(inputs)
        outputs = []
        for layer in self.convolutions:
            x = layer(x, edges, graph_ids, inputs.get("edge_weights"), training=training)
            outputs.append(x)
        return as_logits(self.head(tf.concat(outputs, axis=-1), graph_ids=graph_ids, training=training))

    def compute_output_shape(self, input_shape):
        return (None, self.num_classes)
