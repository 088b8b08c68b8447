"""THE table of operators: what GAM, the models, configs, `train.py --list` and `profile_ops.py` know by name."""

from typing import NamedTuple

import keras

from ganet_tf.layers.cgao import CGAO
from ganet_tf.layers.gao import GAO
from ganet_tf.layers.gat import GAT
from ganet_tf.layers.gcn import GCN
from ganet_tf.layers.hgao import HGAO
from ganet_tf.layers.linear import Linear
from ganet_tf.layers.sampled_gao import SampledGAO
from ganet_tf.layers.topk_gao import TopKGAO
from ganet_tf.spelling import closest


class Operator(NamedTuple):
    """A row of the table.

    Args:
        layer: the class, called as layer(x, edges, graph_ids), with edge_weights=... where a graph has weights.
        options: which of the options `SHARED` by all networks its constructor takes. Without "implementation" there
            is one way to compute it, of dense products.
        attends: False for a control, an operator that is not one of the paper's, which `profile_ops.py` leaves out.
    """

    layer: type
    options: tuple[str, ...] = ()
    attends: bool = True


_HEADS = ("heads", "concat")
_SCORED = ("scale", "implementation", *_HEADS, "score", "query_units", "attention_dropout")

OPERATORS = {
    "gao": Operator(GAO, _SCORED),
    "hgao": Operator(HGAO, ("k", "gate", *_SCORED)),
    "cgao": Operator(CGAO, ("scale", *_HEADS)),
    "topk": Operator(TopKGAO, ("k", *_SCORED)),
    "sampled": Operator(SampledGAO, ("scale", "implementation")),
    "linear": Operator(Linear, attends=False),
    "gcn": Operator(GCN, ("implementation",), attends=False),
    "gat": Operator(GAT, (*_HEADS, "attention_dropout"), attends=False),
}
SHARED = ("k", "gate", *_SCORED)


class OperatorTemplate:
    """A layer's config, from which every module makes a layer of its own.

    It stands in a constructor argument's place where Keras would take the layer itself for a sub-layer.
    """

    def __init__(self, config):
        self.config = config

    def make(self):
        """A new layer with its own weights and a name of its own."""
        layer = keras.saving.deserialize_keras_object(self.config)
        config = {key: value for key, value in layer.get_config().items() if key != "name"}
        return type(layer).from_config(config)


def operator_names() -> tuple[str, ...]:
    """The names that `get_operator` knows."""
    return tuple(OPERATORS)


def profiled_operators() -> dict[str, Operator]:
    """The rows that `profile_ops.py` measures: what attends, and beside it the graph convolution."""
    attending = {name: row for name, row in OPERATORS.items() if row.attends}
    return {**attending, "gcn": Operator(GCN, ("implementation",))}


def as_operator(operator):
    """The argument as it is kept: a known name, or an `OperatorTemplate` for a layer or a layer's config."""
    if isinstance(operator, OperatorTemplate):
        return operator
    if isinstance(operator, keras.layers.Layer):
        return OperatorTemplate(keras.saving.serialize_keras_object(operator))
    if isinstance(operator, dict):
        return OperatorTemplate(operator)
    if operator in OPERATORS:
        return operator
    near = closest(operator, OPERATORS, cutoff=0.0)
    raise ValueError(
        f"`operator` must be a layer or one of {', '.join(map(repr, OPERATORS))}, but is {operator!r}. "
        f"Did you mean {near!r}?"
    )


def operator_config(operator):
    """What `get_config` says of an operator: its name, or its layer's config."""
    return operator.config if isinstance(operator, OperatorTemplate) else operator


def get_operator(operator, units: int, **options) -> keras.layers.Layer:
    """An attention layer of `units` channels.

    Args:
        operator: a name of `operator_names()`, or a layer, called as layer(x, edges, graph_ids). A layer is a
            template: its config is copied, its weights are not, and it keeps its own units and options.
        units: Number of output channels.
        **options: Arguments of the layer. Those in `SHARED` (`k`, `scale`, `heads`, `score`, ...) are left out where
            the operator has no such thing.

    Returns:
        A new layer.

    Raises:
        ValueError: For a name that is not known; the nearest one is named.
    """
    operator = as_operator(operator)
    if isinstance(operator, OperatorTemplate):
        return operator.make()
    row = OPERATORS[operator]
    return row.layer(units, **{key: v for key, v in options.items() if key in row.options or key not in SHARED})
