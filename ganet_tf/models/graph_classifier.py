"""Classification of graphs: the paper's network for its inductive tasks."""

import keras
import tensorflow as tf

from ganet_tf.layers.operators import as_operator
from ganet_tf.models.base import GraphModel
from ganet_tf.models.dgcnn_head import DGCNNHead, check_sort_pooling_k
from ganet_tf.models.ganet import GANet


@keras.saving.register_keras_serializable(package="ganet_tf")
class GraphClassifier(GraphModel):
    """hGANet, cGANet or GANet for graphs (section 4.2): a `GANet` in the place of DGCNN's graph convolutions.

        GANet (48, 60, 72, 84, 96, 97 channels), SortPooling, Conv1D(16), MaxPool, Conv1D(32), Dense(128), Dense

    Args:
        num_classes: Number of classes.
        operator: What attends: `"hgao"` makes it a hGANet, `"cgao"` a cGANet, `"gao"` a GANet. Any name of
            `layers.operator_names()`, or a layer, whose config each module copies.
        k: Neighbours a node attends to, where the operator chooses.
        sort_pooling_k: Nodes of each graph that the head sees, at least 10: `dataset.sort_pooling_k(0.6)`.
        num_modules, units, module_units, out_units: Sizes of the GANet.
        dropout: On the features that enter each GCN.
        attention_dropout: On the features that enter each operator.
        head_dropout: Before the last layer.
        activation: Of every GCN but the last; `None`, the identity, is the paper's.
        kernel_initializer, kernel_regularizer: For all matrices.
        normalization: Of the GCNs: `"sym"`, `"row"` or `None`.
        skip: `"module"` or `"gcn"`: see `layers.GAM`.
        scale: Factor on the attention scores: `None`, `"sqrt"` or a number.
        implementation: `"sparse"` or `"dense"`.
        **kwargs: `name`, `dtype`.

    Call arguments:
        inputs: dict of `x` [N, F], `edges` [E, 2] and `graph_ids` [N], ascending.
        training: Whether dropout is active.

    Returns:
        [B, num_classes] logits, B the number of graphs.

    Raises:
        ValueError: For an input that is missing or has a wrong shape, `sort_pooling_k` below 10, an unknown option.

    Example:

    >>> x = np.ones((3, 7), dtype="float32")
    >>> edges = np.array([[0, 1], [1, 0]])
    >>> model = GraphClassifier(num_classes=2, operator="hgao", k=8, sort_pooling_k=10)
    >>> model({"x": x, "edges": edges, "graph_ids": np.array([0, 0, 1])}).shape
    TensorShape([2, 2])
    """

    required = ("x", "edges", "graph_ids")
    optional = ()

    def __init__(
        self,
        num_classes: int,
        operator: str | dict | keras.layers.Layer = "hgao",
        k: int = 8,
        sort_pooling_k: int = 30,
        num_modules: int = 4,
        units: int = 48,
        module_units: int = 12,
        out_units: int = 97,
        dropout: float = 0.5,
        attention_dropout: float = 0.0,
        head_dropout: float = 0.5,
        activation=None,
        kernel_initializer="glorot_uniform",
        kernel_regularizer=None,
        normalization: str | None = "sym",
        skip: str = "module",
        scale: float | str | None = None,
        implementation: str = "sparse",
        **kwargs,
    ):
        matrix = {"kernel_initializer": kernel_initializer, "kernel_regularizer": kernel_regularizer}
        body = {
            "operator": as_operator(operator),
            "k": k,
            "num_modules": num_modules,
            "units": units,
            "module_units": module_units,
            "out_units": out_units,
            "dropout": dropout,
            "attention_dropout": attention_dropout,
            "activation": activation,
            "normalization": normalization,
            "skip": skip,
            "scale": scale,
            "implementation": implementation,
        }
        sort_pooling_k = check_sort_pooling_k(sort_pooling_k)
        own = {"num_classes": num_classes, "sort_pooling_k": sort_pooling_k, "head_dropout": head_dropout}
        super().__init__({**own, **body, **matrix}, **kwargs)
        dtype = self.dtype_policy
        self.ganet = GANet(name="ganet", dtype=dtype, **body, **matrix)
        self.head = DGCNNHead(num_classes, sort_pooling_k, dropout=head_dropout, name="head", dtype=dtype, **matrix)

    @property
    def channels(self) -> tuple[int, ...]:
        """How many channels come out of each GCN and module."""
        return self.ganet.channels

    def build_layers(self, x_shape, edges_shape, graph_ids_shape):
        """Builds the GANet, and the head on what it puts out."""
        self.ganet.build({"x": x_shape, "edges": edges_shape, "graph_ids": graph_ids_shape})
        self.head.build((None, self.out_units), graph_ids_shape)

    def call(self, inputs: dict, training: bool | None = None) -> tf.Tensor:
        """Node features, then class scores of each graph."""
        _, _, graph_ids, _ = self.unpack(inputs)
        return self.head(self.ganet(inputs, training=training), graph_ids=graph_ids, training=training)

    def compute_output_shape(self, input_shape):
        return (None, self.num_classes)
