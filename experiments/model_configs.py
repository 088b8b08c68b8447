"""The models' settings: one class for each model that train.py knows, one field for every key of its `model:` section.

What a class says about a model beside its settings: what follows from the data (`arguments`), further inputs that it
needs (`prepare`), and with what it is trained on data that no shipped config knows (`own_data`).
"""

import dataclasses
from dataclasses import dataclass
from typing import ClassVar, Literal

from ganet_tf import data, ops
from ganet_tf.layers import operator_names

# The operator that gives each of the paper's networks its name.
NAMED_OPERATORS = {"hganet": "hgao", "cganet": "cgao", "ganet": "gao"}

Normalization = Literal["sym", "row"]
Implementation = Literal["auto", "native", "sparse", "dense"]
WithoutDense = Literal["auto", "native", "sparse"]
Aggregator = Literal["mean", "max", "sum"]

MOST_CLUSTERS = 100  # DiffPool's code: a tenth of 1000 padded nodes, whatever the data
SMALL_GRAPH = 2000  # nodes; Planetoid's batch of 200 walks is for graphs of more
KIPF = {"name": "adam", "learning_rate": 0.01, "weight_decay": 5e-4}  # of GCN's code


def value(default, *, low=None, high=None, above=None, below=None, choices=None, help=""):
    """A field with a range, low <= value <= high, above < value < below, or with `choices`, which lists them.

    `help` says what the setting means.
    """
    rule = dict(low=low, high=high, above=above, below=below, choices=choices, help=help)
    return dataclasses.field(default=default, metadata=rule)


@dataclass(frozen=True)
class ModelConfig:
    """Base of the models' settings: what a model is made with, and which inputs it needs."""

    classes_only: ClassVar[bool] = False  # whether it can only learn classes
    by_epochs: ClassVar[bool] = True  # whether epochs of gradient steps are all of its training
    looks_around: ClassVar[bool] = True  # whether an epoch needs the features of other nodes than those asked for
    own_data: ClassVar[dict] = {}  # what data without a shipped config are trained with, beside the model's settings

    name: str = ""

    def arguments(self, dataset):
        """The model's arguments: its settings, and what follows from the data."""
        settings = dataclasses.asdict(self)
        del settings["name"]
        return settings

    def prepare(self, dataset, arguments):
        """The data set with every input of the model that is made with these arguments."""
        return dataset


@dataclass(frozen=True)
class GANetConfig(ModelConfig):
    """hGANet, cGANet and GANet: GraphClassifier for graphs, NodeClassifier for nodes."""

    name: Literal["hganet", "cganet", "ganet"] = "hganet"
    operator: str = value("hgao", choices=operator_names, help="what attends in each module")
    k: int = value(8, low=1, help="neighbours that hgao and topk keep")
    num_modules: int = value(4, low=0, help="graph attention modules (GAM)")
    units: int = value(48, low=1, help="channels of the first GCN")
    module_units: int = value(12, low=1, help="channels that each GAM adds")
    dropout: float = value(0.5, low=0, below=1, help="rate on the features in every GCN")
    attention_dropout: float = value(0.0, low=0, below=1, help="rate on the operator's input")
    activation: str | None = None
    normalization: Normalization = "sym"
    skip: Literal["module", "gcn", "both"] = "module"
    scale: float | Literal["sqrt", "mean"] | None = None
    kernel_initializer: str = "glorot_uniform"
    implementation: Implementation = "auto"
    heads: int = value(1, low=1, help="attention heads of each module, of module_units channels each")
    concat: bool = True
    score: Literal["dot", "cosine", "uniform"] = "dot"
    query_units: int = value(16, low=1, help="channels of queries and keys with score cosine")
    gate: Literal["sigmoid", "double"] | None = "sigmoid"
    attention_weights_dropout: float = value(0.0, low=0, below=1, help="rate on the attention weights")
    embedding: Literal["gcn", "dense"] = "gcn"
    out: Literal["gcn", "dense"] = "gcn"

    unlisted: ClassVar[tuple] = (
        *("heads", "concat", "score", "query_units", "gate", "attention_weights_dropout", "embedding", "out"),
    )


@dataclass(frozen=True)
class NodeGANetConfig(GANetConfig):
    """The same for the nodes of one graph."""

    recompute: bool = False  # each module twice, instead of keeping what is inside it: less memory

    unlisted: ClassVar[tuple] = (*GANetConfig.unlisted, "recompute")


class SortPooled:
    """Models with DGCNN's head, whose k is a size of the data set's graphs."""

    def arguments(self, dataset):
        settings = super().arguments(dataset)
        settings["sort_pooling_k"] = dataset.sort_pooling_k(settings.pop("sort_pooling"))
        return settings


@dataclass(frozen=True)
class GraphGANetConfig(SortPooled, GANetConfig):
    """The same with DGCNN's head behind it."""

    out_units: int = value(97, low=1, help="channels that sort pooling gets")
    head_dropout: float = value(0.5, low=0, below=1, help="rate before the last dense layer")
    sort_pooling: float = value(0.6, above=0, high=1, help="quantile of graph sizes that k is taken from")
    readout: Literal["sort", "sum", "mean", "max"] = "sort"

    unlisted: ClassVar[tuple] = (*GANetConfig.unlisted, "readout")


@dataclass(frozen=True)
class DGCNNConfig(SortPooled, ModelConfig):
    """DGCNN, the baseline whose graph convolutions the paper replaces."""

    name: Literal["dgcnn"] = "dgcnn"
    dropout: float = value(0.0, low=0, below=1, help="rate on the features in every graph convolution")
    head_dropout: float = value(0.5, low=0, below=1, help="rate before the last dense layer")
    sort_pooling: float = value(0.6, above=0, high=1, help="quantile of graph sizes that k is taken from")
    implementation: Implementation = "auto"


@dataclass(frozen=True)
class SAGEConfig(ModelConfig):
    """What GraphSAGE, Set2SetNet and DiffPoolNet share: their convolutions."""

    units: tuple[int, ...] = value((64, 64, 64), low=1, help="channels of each convolution")
    aggregator: Aggregator = "mean"
    activation: str | None = "relu"
    normalize: bool = False
    batch_norm: bool = False
    dropout: float = value(0.0, low=0, below=1, help="rate on the features in every convolution")
    head_dropout: float = value(0.0, low=0, below=1, help="rate before the last dense layer")
    kernel_initializer: str = "glorot_uniform"
    implementation: WithoutDense = "auto"

    own_data: ClassVar[dict] = {"optimizer": {"name": "adam", "learning_rate": 1e-3}}


@dataclass(frozen=True)
class GraphSAGEConfig(SAGEConfig):
    """Hamilton et al.'s convolutions with one readout, as DiffPool's authors compared with them."""

    name: Literal["graphsage"] = "graphsage"
    readout: Aggregator = "mean"


@dataclass(frozen=True)
class Set2SetConfig(SAGEConfig):
    """The same convolutions, read out by Vinyals et al.'s Set2Set."""

    name: Literal["set2set"] = "set2set"
    steps: int = value(4, low=1, help="how often Set2Set asks the nodes")
    head_units: int | None = value(None, low=1, help="channels of the layer before the last; null: as all convolutions")


@dataclass(frozen=True)
class DiffPoolConfig(SAGEConfig):
    """Ying et al.'s pooling to a fixed number of clusters."""

    name: Literal["diffpool"] = "diffpool"
    clusters: int | None = value(None, low=1, help="nodes of a pooled graph; null: a tenth of the largest graph's")
    head_units: int = value(50, low=1, help="channels of the layer before the last")
    normalize: bool = True
    batch_norm: bool = True
    link_weight: float = value(1.0, low=0, help="of the link loss")
    entropy_weight: float = value(1.0, low=0, help="of the entropy loss")

    own_data: ClassVar[dict] = {"optimizer": {"name": "adam", "learning_rate": 1e-3, "global_clipnorm": 2.0}}

    def arguments(self, dataset):
        clusters = self.clusters or min(MOST_CLUSTERS, max(2, int(dataset.sizes.max()) // 10))
        return {**super().arguments(dataset), "clusters": clusters}


@dataclass(frozen=True)
class PSCNConfig(ModelConfig):
    """Niepert et al.'s PATCHY-SAN."""

    name: Literal["pscn"] = "pscn"
    width: int | None = value(None, low=1, help="fields of a graph; null: the mean number of nodes")
    size: int = value(10, low=1, help="nodes of a field")
    filters: tuple[int, ...] = value((16, 8), low=1, help="channels of the two convolutions")
    units: int = value(128, low=1, help="channels of the dense layer")
    dropout: float = value(0.5, low=0, below=1, help="rate before the last layer")
    kernel_initializer: str = "glorot_uniform"

    own_data: ClassVar[dict] = {"optimizer": {"name": "rmsprop", "learning_rate": 1e-3}}

    def arguments(self, dataset):
        return {**super().arguments(dataset), "width": self.width or data.pscn_width(dataset)}

    def prepare(self, dataset, arguments):
        return dataset.with_arrays(fields=data.receptive_fields(dataset, arguments["width"], arguments["size"]))


@dataclass(frozen=True)
class GCNConfig(ModelConfig):
    """Kipf and Welling's two layers."""

    name: Literal["gcn"] = "gcn"
    units: int = value(16, low=1, help="hidden channels")
    dropout: float = value(0.5, low=0, below=1, help="rate before both layers")
    implementation: Implementation = "auto"


@dataclass(frozen=True)
class GATConfig(ModelConfig):
    """Veličković et al.'s two layers."""

    name: Literal["gat"] = "gat"
    units: int = value(8, low=1, help="channels of one head")
    heads: int = value(8, low=1, help="heads of the first layer")
    output_heads: int = value(1, low=1, help="heads of the last layer, averaged")
    dropout: float = value(0.6, low=0, below=1, help="rate on the features")
    attention_dropout: float = value(0.6, low=0, below=1, help="rate on the attention weights")


@dataclass(frozen=True)
class ChebyshevConfig(ModelConfig):
    """Defferrard et al.'s convolutions in Kipf and Welling's two layers."""

    name: Literal["chebyshev"] = "chebyshev"
    K: int = value(2, low=0, help="degree of the polynomials: K + 1 matrices in each layer")
    lambda_max: float | None = value(None, above=0, help="largest eigenvalue of the Laplacian; null: computed")
    units: int = value(16, low=1, help="hidden channels")
    use_bias: bool = False
    dropout: float = value(0.5, low=0, below=1, help="rate before both layers")
    implementation: WithoutDense = "auto"

    own_data: ClassVar[dict] = {"optimizer": {**KIPF, "no_decay": ["out/"]}}

    def arguments(self, dataset):
        graph = (dataset.edges, dataset.num_nodes, dataset.edge_weights)
        largest = self.lambda_max or ops.largest_eigenvalue(*graph)
        return {**super().arguments(dataset), "lambda_max": largest}


@dataclass(frozen=True)
class PlanetoidConfig(ModelConfig):
    """Yang et al.'s vectors from the graph beside the features; null: what their demo of the variant has."""

    name: Literal["planetoid"] = "planetoid"
    variant: Literal["T", "I"] = "T"
    units: int = value(50, low=1, help="channels of a node's vector")
    walk_length: int = value(10, low=1, help="steps of a walk")
    window: int = value(3, low=1, help="how far two nodes of a walk may be apart")
    layer_loss: bool = True
    label_steps: int | None = value(None, low=0, help="steps on pairs of a class, before the first epoch")
    graph_steps: int | None = value(None, low=0, help="steps on walks, before the first epoch")
    label_batch: int | None = value(None, low=1, help="pairs in a step")
    graph_batch: int | None = value(None, low=1, help="walks in a step; null: at most a tenth of the nodes")
    context_rate: float | None = value(None, above=0, help="learning rate of these steps")
    joint: float | None = value(None, low=0, high=1, help="share of the epochs that begin with a step on walks")

    classes_only: ClassVar[bool] = True
    by_epochs: ClassVar[bool] = False
    looks_around: ClassVar[bool] = False
    own_data: ClassVar[dict] = {
        "optimizer": {"name": "sgd", "learning_rate": 0.1},
        "normalize_features": None,
        "epochs": 2000,
        "patience": None,
    }

    def arguments(self, dataset):
        settings = {**super().arguments(dataset), "num_nodes": dataset.num_nodes}
        if self.graph_batch is None and dataset.num_nodes < SMALL_GRAPH:  # the loss is a sum: theirs would diverge
            settings["graph_batch"] = max(1, dataset.num_nodes // 10)
        return settings


@dataclass(frozen=True)
class DeepWalkConfig(ModelConfig):
    """Perozzi et al.'s vectors from random walks, then logistic regression: an epoch for each of its strengths."""

    name: Literal["deepwalk"] = "deepwalk"
    units: int = value(128, low=1, help="channels of a node's vector")
    walks: int = value(10, low=1, help="walks that start from each node")
    walk_length: int = value(40, low=2, help="nodes of a walk")
    window: int = value(10, low=1, help="how far two nodes of a walk may be apart")
    negatives: int = value(5, low=1, help="nodes that are drawn against each pair")
    passes: int = value(5, low=1, help="how often all walks are gone through")
    learning_rate: float = value(0.01, above=0, help="of Adam on the vectors; falls linearly")
    C: tuple[float, ...] = value((0.01, 0.1, 1.0, 10.0), above=0, help="strengths of the regression, one an epoch")

    classes_only: ClassVar[bool] = True
    by_epochs: ClassVar[bool] = False
    own_data: ClassVar[dict] = {"optimizer": {"name": "sgd"}, "normalize_features": None, "epochs": 4, "patience": None}

    def arguments(self, dataset):
        return {**super().arguments(dataset), "num_nodes": dataset.num_nodes}


MODELS = {
    "graph": {
        **dict.fromkeys(NAMED_OPERATORS, GraphGANetConfig),
        "dgcnn": DGCNNConfig,
        "graphsage": GraphSAGEConfig,
        "set2set": Set2SetConfig,
        "diffpool": DiffPoolConfig,
        "pscn": PSCNConfig,
    },
    "node": {
        **dict.fromkeys(NAMED_OPERATORS, NodeGANetConfig),
        "gcn": GCNConfig,
        "gat": GATConfig,
        "chebyshev": ChebyshevConfig,
        "planetoid": PlanetoidConfig,
        "deepwalk": DeepWalkConfig,
    },
}
