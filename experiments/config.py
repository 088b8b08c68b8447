"""What a run is made of: frozen dataclasses, one field for every key a YAML file may have.

`config_loader.py` fills them from YAML and from `--set key=value`; nothing else makes them.
A field's `metadata` holds the range its value must lie in and, as `help`, what it means.
"""

from dataclasses import dataclass, field
from typing import Literal

from ganet_tf.layers import operator_names

TASKS = ("graph", "node")
# The operator that gives each of the paper's networks its name.
NAMED_OPERATORS = {"hganet": "hgao", "cganet": "cgao", "ganet": "gao"}

Normalization = Literal["sym", "row"]
Implementation = Literal["sparse", "dense"]


def value(default, *, low=None, high=None, above=None, below=None, choices=None, help=""):
    """A field with a range, low <= value <= high, above < value < below, or with `choices`, which lists them."""
    rule = dict(low=low, high=high, above=above, below=below, choices=choices, help=help)
    return field(default=default, metadata=rule)


@dataclass(frozen=True)
class OptimizerConfig:
    """How weights are updated.

    `weight_decay` is by default the L2 term of PyTorch's Adam, which the paper's authors used in
    their other code: weight_decay * w is added to the gradient before Adam's moments, for every
    trainable weight. `weight_decay_kind: decoupled` is AdamW's (and Keras') instead: the weight is
    shrunk beside the update. `no_decay` lists parts of variable paths that stay out of both.
    """

    name: Literal["adam", "nadam", "sgd"] = "adam"
    learning_rate: float = value(1e-3, above=0, help="step size at the start")
    schedule: Literal["constant", "cosine"] = "constant"
    amsgrad: bool = False
    weight_decay: float = value(0.0, low=0, help="strength of the decay")
    weight_decay_kind: Literal["l2", "decoupled"] = "l2"
    no_decay: tuple[str, ...] = ()
    clipnorm: float | None = value(None, above=0, help="largest norm of one weight's gradient")


@dataclass(frozen=True)
class GANetConfig:
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
    skip: Literal["module", "gcn"] = "module"
    scale: float | Literal["sqrt", "mean"] | None = None
    kernel_initializer: str = "glorot_uniform"
    implementation: Implementation = "sparse"


@dataclass(frozen=True)
class GraphGANetConfig(GANetConfig):
    """The same with DGCNN's head behind it."""

    out_units: int = value(97, low=1, help="channels that sort pooling gets")
    head_dropout: float = value(0.5, low=0, below=1, help="rate before the last dense layer")
    sort_pooling: float = value(0.6, above=0, high=1, help="quantile of graph sizes that k is taken from")


@dataclass(frozen=True)
class DGCNNConfig:
    """DGCNN, the baseline whose graph convolutions the paper replaces."""

    name: Literal["dgcnn"] = "dgcnn"
    dropout: float = value(0.0, low=0, below=1, help="rate on the features in every graph convolution")
    head_dropout: float = value(0.5, low=0, below=1, help="rate before the last dense layer")
    sort_pooling: float = value(0.6, above=0, high=1, help="quantile of graph sizes that k is taken from")


@dataclass(frozen=True)
class GCNConfig:
    """Kipf and Welling's two layers."""

    name: Literal["gcn"] = "gcn"
    units: int = value(16, low=1, help="hidden channels")
    dropout: float = value(0.5, low=0, below=1, help="rate before both layers")


@dataclass(frozen=True)
class GATConfig:
    """Veličković et al.'s two layers."""

    name: Literal["gat"] = "gat"
    units: int = value(8, low=1, help="channels of one head")
    heads: int = value(8, low=1, help="heads of the first layer")
    output_heads: int = value(1, low=1, help="heads of the last layer, averaged")
    dropout: float = value(0.6, low=0, below=1, help="rate on the features")
    attention_dropout: float = value(0.6, low=0, below=1, help="rate on the attention weights")


@dataclass(frozen=True)
class GraphConfig:
    """Graph classification over folds."""

    dataset: str
    model: GraphGANetConfig | DGCNNConfig
    optimizer: OptimizerConfig
    task: Literal["graph"] = "graph"
    features: str = "auto"
    protocol: Literal["paper", "validation"] = "paper"
    splits: Literal["auto", "published", "stratified"] = "auto"
    folds: int = value(10, low=2, help="number of folds the data are cut into")
    epochs: int = value(100, low=1, help="passes over the training graphs")
    batch_size: int = value(20, low=1, help="graphs in a training batch")
    eval_batch_size: int = value(200, low=1, help="graphs in an evaluation batch")
    patience: int | None = value(None, low=1, help="epochs without a better validation value; null: no stop")
    select: Literal["val_loss", "val_accuracy"] = "val_loss"
    seed: int = value(0, low=0, high=2**31 - 1000, help="fold n uses seed + n")
    deterministic: bool = False


@dataclass(frozen=True)
class NodeConfig:
    """Node classification over repeated runs on one split."""

    dataset: str
    model: GANetConfig | GCNConfig | GATConfig
    optimizer: OptimizerConfig
    task: Literal["node"] = "node"
    normalize_features: Literal["row"] | None = "row"
    protocol: Literal["validation"] = "validation"
    runs: int = value(10, low=1, help="repetitions with other seeds")
    epochs: int = value(1000, low=1, help="most passes")
    patience: int | None = value(150, low=1, help="epochs without a better validation value; null: no stop")
    select: Literal["val_loss", "val_accuracy"] = "val_loss"
    seed: int = value(0, low=0, high=2**31 - 1000, help="run n uses seed + n")
    deterministic: bool = False


CONFIGS = {"graph": GraphConfig, "node": NodeConfig}
MODELS = {
    "graph": dict(hganet=GraphGANetConfig, cganet=GraphGANetConfig, ganet=GraphGANetConfig, dgcnn=DGCNNConfig),
    "node": dict(hganet=GANetConfig, cganet=GANetConfig, ganet=GANetConfig, gcn=GCNConfig, gat=GATConfig),
}


def members(config):
    """Numbers of the folds (graph) or runs (node) a complete run has: 1..n."""
    return range(1, (config.folds if config.task == "graph" else config.runs) + 1)


def label(config):
    """How a table calls the model: `hganet`, or `hganet, operator=linear` off its own operator."""
    operator = getattr(config.model, "operator", None)
    own = NAMED_OPERATORS.get(config.model.name)
    return config.model.name if operator == own else f"{config.model.name}, operator={operator}"
