"""Classification of nodes: the paper's network for its transductive tasks."""

import keras
import tensorflow as tf

from ganet_tf.layers.operators import as_operator
from ganet_tf.models.base import GraphModel, as_logits, take_nodes
from ganet_tf.models.ganet import GANet

PAPER_L2 = keras.regularizers.L2(1e-4)


@keras.saving.register_keras_serializable(package="ganet_tf")
class NodeClassifier(GraphModel):
    """hGANet, cGANet or GANet for nodes (section 4.2): a `GANet` whose last GCN puts out a score for each class.

    The defaults are the paper's for Cora; it has 2 modules for Citeseer and 3 for Pubmed.

    Args:
        num_classes: Number of classes.
        operator: What attends: `"hgao"` makes it a hGANet, `"cgao"` a cGANet, `"gao"` a GANet. Any name of
            `layers.operator_names()`, or a layer, whose config each module copies.
        k: Neighbours a node attends to, where the operator chooses.
        num_modules, units, module_units: Sizes of the GANet.
        dropout: On the features that enter each GCN (the paper keeps 0.12).
        attention_dropout: On the features that enter each operator (not on its attention weights, which have
            `attention_weights_dropout`).
        activation: Of every GCN but the last; `None`, the identity, is the paper's.
        kernel_initializer, kernel_regularizer: For all matrices; the paper's L2 is 1e-4.
        normalization: Of the GCNs: `"sym"`, `"row"` or `None`.
        skip: `"module"`, `"gcn"` or `"both"`: see `layers.GAM`.
        scale: Factor on the attention scores: `None`, `"sqrt"` or a number.
        implementation: `"auto"`, `"native"`, `"sparse"` or `"dense"`: see `HGAO`.
        recompute: Whether training saves memory by computing each module again in the backward pass: see `GANet`.
        heads, concat, score, query_units, gate: Of the operator, where it has them: see `layers.HGAO`.
        attention_weights_dropout: On the attention weights.
        embedding, out: What the first and the last layer are: `"gcn"` (the paper's), or `"dense"`, X W + b, which does
            not mix the features of neighbours before and after the modules.
        num_features: F, if the model is to make its weights at once; `None` leaves it to the first data.
        **kwargs: `name`, `dtype`.

    Call arguments:
        inputs: dict of `x` [N, F], `edges` [E, 2] and, if wanted, `nodes` [n], the nodes to put out, and
            `graph_ids` [N] if there are several graphs, `edge_weights` [E] if edges have weights.
        training: Whether dropout is active.

    Returns:
        Logits [n, num_classes] of `nodes`, or [N, num_classes] of all nodes without it; float32 in mixed precision.

    Raises:
        ValueError: For an input that is missing or has a wrong shape, or an unknown option.

    Example:

    >>> x = np.ones((3, 7), dtype="float32")
    >>> edges = np.array([[0, 1], [1, 0]])
    >>> model = NodeClassifier(num_classes=4, operator="hgao", num_modules=2)
    >>> model({"x": x, "edges": edges}).shape
    TensorShape([3, 4])
    >>> model({"x": x, "edges": edges, "nodes": np.array([2])}).shape
    TensorShape([1, 4])
    """

    optional = ("graph_ids", "nodes", "edge_weights")

    def __init__(
        self,
        num_classes: int,
        operator: str | dict | keras.layers.Layer = "hgao",
        k: int = 8,
        num_modules: int = 4,
        units: int = 48,
        module_units: int = 16,
        dropout: float = 0.88,
        attention_dropout: float = 0.88,
        activation=None,
        kernel_initializer="glorot_uniform",
        kernel_regularizer=PAPER_L2,
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
        body = {
            "operator": as_operator(operator),
            "k": k,
            "num_modules": num_modules,
            "units": units,
            "module_units": module_units,
            "dropout": dropout,
            "attention_dropout": attention_dropout,
            "activation": activation,
            "kernel_initializer": kernel_initializer,
            "kernel_regularizer": kernel_regularizer,
            "normalization": normalization,
            "skip": skip,
            "scale": scale,
            "implementation": implementation,
            "recompute": recompute,
            "heads": heads,
            "concat": concat,
            "score": score,
            "query_units": query_units,
            "gate": gate,
            "attention_weights_dropout": attention_weights_dropout,
            "embedding": embedding,
            "out": out,
        }
        super().__init__({"num_classes": num_classes, "num_features": num_features, **body}, **kwargs)
        self.ganet = GANet(out_units=num_classes, name="ganet", dtype=self.dtype_policy, **body)
        self.build_if_known()

    @property
    def channels(self) -> tuple[int, ...]:
        """How many channels come out of each GCN and module."""
        return self.ganet.channels

    def build_layers(self, x_shape, edges_shape, graph_ids_shape):
        self.ganet.build({"x": x_shape, "edges": edges_shape, "graph_ids": graph_ids_shape})

    def call(self, inputs: dict, training: bool | None = None) -> tf.Tensor:
        """Class scores of every node, then those asked for."""
        *_, nodes = self.unpack(inputs)
        body = {key: tensor for key, tensor in inputs.items() if key != "nodes"}
        return as_logits(take_nodes(self.ganet(body, training=training), nodes))

    def compute_output_shape(self, input_shape):
        return (None, self.num_classes)
