"""Classification of graphs: the paper's network for its inductive tasks."""

import keras
import tensorflow as tf

from ganet_tf import layers, ops
from ganet_tf.layers.checks import check_rate, check_units
from ganet_tf.layers.operators import as_operator
from ganet_tf.models.base import GraphModel, as_logits
from ganet_tf.models.dgcnn_head import DGCNNHead, check_sort_pooling_k
from ganet_tf.models.ganet import GANet

POOLINGS = {"sum": layers.SumPooling, "mean": layers.MeanPooling, "max": layers.MaxPooling}


@keras.saving.register_keras_serializable(package="ganet_tf")
class GraphClassifier(GraphModel):
    """hGANet, cGANet or GANet for graphs (section 4.2): a `GANet` in the place of DGCNN's graph convolutions.

        GANet (48, 60, 72, 84, 96, 97 channels), SortPooling, Conv1D(16), MaxPool, Conv1D(32), Dense(128), Dense

    With another `readout` it ends as SumPooling (or mean, or max), Dense(128), Dense: see `PoolingHead`.

    Args:
        num_classes: Number of classes.
        operator: What attends: `"hgao"` makes it a hGANet, `"cgao"` a cGANet, `"gao"` a GANet. Any name of
            `layers.operator_names()`, or a layer, whose config each module copies.
        k: Neighbours a node attends to, where the operator chooses.
        sort_pooling_k: Nodes of each graph that the head sees, at least 10: `dataset.sort_pooling_k(0.6)`. For
            `readout="sort"` only.
        num_modules, units, module_units, out_units: Sizes of the GANet.
        dropout: On the features that enter each GCN.
        attention_dropout: On the features that enter each operator (not on its attention weights, which have
            `attention_weights_dropout`).
        head_dropout: Before the last layer.
        activation: Of every GCN but the last; `None`, the identity, is the paper's.
        kernel_initializer, kernel_regularizer: For all matrices.
        normalization: Of the GCNs: `"sym"`, `"row"` or `None`.
        skip: `"module"`, `"gcn"` or `"both"`: see `layers.GAM`.
        scale: Factor on the attention scores: `None`, `"sqrt"` or a number.
        implementation: `"auto"`, `"native"`, `"sparse"` or `"dense"`: see `HGAO`.
        readout: How nodes become a graph: `"sort"` (DGCNN's, which the paper keeps), `"sum"`, `"mean"` or `"max"`.
        heads, concat, score, query_units, gate: Of the operator, where it has them: see `layers.HGAO`.
        attention_weights_dropout: On the attention weights.
        embedding, out: What the first and the last layer are: `"gcn"` (the paper's), or `"dense"`, X W + b, which does
            not mix the features of neighbours before and after the modules.
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
    >>> model = GraphClassifier(num_classes=2, operator="hgao", k=8, sort_pooling_k=10)
    >>> model({"x": x, "edges": edges, "graph_ids": np.array([0, 0, 1])}).shape
    TensorShape([2, 2])
    """

    required = ("x", "edges", "graph_ids")
    optional = ("edge_weights",)

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
        implementation: str = "auto",
        readout: str = "sort",
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
        ops.checks.check_choice(readout, "readout", ("sort", *POOLINGS))
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
            "heads": heads,
            "concat": concat,
            "score": score,
            "query_units": query_units,
            "gate": gate,
            "attention_weights_dropout": attention_weights_dropout,
            "embedding": embedding,
            "out": out,
        }
        own = {
            "num_classes": num_classes,
            "sort_pooling_k": check_sort_pooling_k(sort_pooling_k),
            "head_dropout": head_dropout,
            "readout": readout,
            "num_features": num_features,
        }
        super().__init__({**own, **body, **matrix}, **kwargs)
        dtype = self.dtype_policy
        self.ganet = GANet(name="ganet", dtype=dtype, **body, **matrix)
        end = {"dropout": head_dropout, "name": "head", "dtype": dtype, **matrix}
        if readout == "sort":
            self.head = DGCNNHead(num_classes, self.sort_pooling_k, implementation=implementation, **end)
        else:
            way = "sparse" if implementation == "dense" else implementation  # a sum has no dense form
            self.head = PoolingHead(num_classes, readout, implementation=way, **end)
        self.build_if_known()

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
        return as_logits(self.head(self.ganet(inputs, training=training), graph_ids=graph_ids, training=training))

    def compute_output_shape(self, input_shape):
        return (None, self.num_classes)


@keras.saving.register_keras_serializable(package="ganet_tf")
class PoolingHead(keras.layers.Layer):
    """From node features to class scores of graphs, without an order of the nodes.

        SumPooling (or mean, or max), Dense(units, ReLU), Dropout, Dense(num_classes)

    Args:
        num_classes: Number of classes.
        readout: `"sum"`, `"mean"` or `"max"`.
        units: Channels of the first dense layer; 128 as in `DGCNNHead`.
        dropout: Before the last layer.
        kernel_initializer, kernel_regularizer: For both matrices.
        implementation: `"auto"`, `"native"` or `"sparse"`: see `SumPooling`.
        **kwargs: `name`, `dtype`.

    Call arguments:
        x: [N, C] node features.
        graph_ids: [N] ascending integers; left out, all nodes are one graph.
        training: Whether dropout is active.

    Returns:
        [B, num_classes] logits.

    Raises:
        ValueError: For an unknown readout.

    Example:

    >>> PoolingHead(2, "mean")(np.ones((5, 97), dtype="float32"), graph_ids=np.array([0, 0, 1, 1, 1])).shape
    TensorShape([2, 2])
    """

    def __init__(
        self,
        num_classes: int,
        readout: str = "sum",
        units: int = 128,
        dropout: float = 0.5,
        kernel_initializer="glorot_uniform",
        kernel_regularizer=None,
        implementation: str = "auto",
        **kwargs,
    ):
        super().__init__(**kwargs)
        ops.checks.check_choice(readout, "readout", tuple(POOLINGS))
        self.num_classes = check_units(num_classes, "num_classes")
        self.readout = readout
        self.units = check_units(units)
        self.dropout = check_rate(dropout, "dropout")
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.kernel_regularizer = keras.regularizers.get(kernel_regularizer)
        self.implementation = implementation
        self.supports_jit = False
        dtype = {"dtype": self.dtype_policy}
        matrix = {"kernel_initializer": kernel_initializer, "kernel_regularizer": kernel_regularizer, **dtype}
        self.pooling = POOLINGS[readout](implementation, name="pooling", **dtype)
        self.hidden = keras.layers.Dense(self.units, activation="relu", name="hidden", **matrix)
        self.drop = layers.Dropout(self.dropout, name="drop", **dtype)
        self.out = keras.layers.Dense(self.num_classes, name="out", **matrix)

    def build(self, x_shape, graph_ids_shape=None):
        """Builds each layer on the one before."""
        self.pooling.build(x_shape, graph_ids_shape=graph_ids_shape)
        self.hidden.build((None, x_shape[-1]))
        self.drop.build((None, self.units))
        self.out.build((None, self.units))

    def call(self, x, graph_ids=None, training=None):
        """One row for each graph, then two dense layers."""
        h = self.hidden(self.pooling(x, graph_ids=graph_ids))
        return self.out(self.drop(h, training=training))

    def compute_output_shape(self, x_shape, graph_ids_shape=None):
        return (None, self.num_classes)

    def get_config(self):
        return {
            **super().get_config(),
            "num_classes": self.num_classes,
            "readout": self.readout,
            "units": self.units,
            "dropout": self.dropout,
            "kernel_initializer": keras.initializers.serialize(self.kernel_initializer),
            "kernel_regularizer": keras.regularizers.serialize(self.kernel_regularizer),
            "implementation": self.implementation,
        }
