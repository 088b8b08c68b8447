"""The switches of the operators, with oracles written with loops.

A row of `VARIANTS` is a layer with its switches set and a function of NumPy arrays that must give the same numbers.
"""

from functools import partial
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from ganet_tf import layers
from tests.graphs import neighbors
from tests.layers.contract import OracleContract, softmax


def pair_weights(edges):
    """A weight for each edge that depends on its two nodes alone: 0.1 to 1.6, none of them 1."""
    return 0.1 + 0.25 * ((3 * edges[:, 0] + 5 * edges[:, 1]) % 7)


def adjacency(num_nodes, edges, weighted):
    """a_ij as [N, N], 1 on the diagonal, NaN where there is no edge."""
    a = np.full((num_nodes, num_nodes), np.nan)
    for (j, i), w in zip(edges, pair_weights(edges), strict=True):
        a[i, j] = w if weighted else 1.0
    np.fill_diagonal(a, 1.0)
    return a


def normalized(row):
    square = np.sum(row * row)
    return row / np.sqrt(square if square.real > 1e-12 else 1e-12)


def single_head(kind, weights, x, edges, k=None, score="dot", gate="sigmoid", weighted=False):
    """One head of GAO ("gao"), HGAO ("hgao") or TopKGAO ("topk"), eqs. (3) to (10) and the switches."""
    a, y, gated = adjacency(len(x), edges, weighted), None, x
    if kind == "hgao":
        p = weights["projection"]
        y = np.array([np.sum(row * p) for row in x]) / np.sqrt(np.sum(p * p))
        y = np.where(y.real < 0, -y, y)
        factor = {"sigmoid": 1, "double": 2, None: 0}[gate] / (1 + np.exp(-y)) + (gate is None)
        gated = x * factor[:, None]
    values = gated @ weights["value_kernel"]

    def similarity(i, j):
        if score == "uniform":
            return np.sum(x[i] * x[j])
        key = gated[j] @ weights["key_kernel"]
        if score == "dot":
            return np.sum(x[i] * key)
        return weights["temperature"] * np.sum(normalized(x[i] @ weights["query_kernel"]) * normalized(key))

    rows = []
    for i in range(len(x)):
        around = neighbors(i, edges)
        ranking = {j: 0 if kind == "gao" else a[i, j] * (y[j] if kind == "hgao" else similarity(i, j)) for j in around}
        chosen = sorted(around, key=lambda j, ranking=ranking: (-np.real(ranking[j]), j))[:k]
        factors = np.ones(len(chosen)) if kind == "hgao" else a[i, chosen]
        scores = 0 * factors if score == "uniform" else factors * np.array([similarity(i, j) for j in chosen])
        rows.append(sum(w * values[j] for w, j in zip(softmax(scores), chosen, strict=True)))
    return np.array(rows)


def by_head(kind, weights, x, edges, graph_ids=None, heads=1, concat=True, **options):
    """Several heads as a loop over single ones, each with its columns of the kernels and its p."""
    outputs = []
    for h in range(heads):
        own = {name: np.split(w, heads, axis=1)[h] for name, w in weights.items() if name.endswith("kernel")}
        if "projection" in weights:
            own["projection"] = weights["projection"] if heads == 1 else weights["projection"][h]
        if "temperature" in weights:
            own["temperature"] = weights["temperature"][h]
        outputs.append(single_head(kind, own, x, edges, **options))
    return np.concatenate(outputs, axis=1) if concat else sum(outputs) / heads


class Variant(NamedTuple):
    """A layer with its switches set."""

    cls: type
    arguments: dict
    kind: str
    weighted: bool = False

    def make(self, **kwargs):
        """The layer; with weights it takes `pair_weights` of the edges that it gets."""
        return (with_weights(self.cls) if self.weighted else self.cls)(4, **self.arguments, **kwargs)

    @property
    def contract(self):
        """The checks of `OracleContract` on this layer."""
        contract = OracleContract()
        contract.make = self.make
        contract.oracle = self.oracle
        contract.arrays = lambda layer: {w.name: w.numpy().astype("float64") for w in layer.weights}
        return contract

    def oracle(self, weights, x, edges, graph_ids):
        names = ("k", "score", "gate", "heads", "concat")
        options = {name: self.arguments[name] for name in names if name in self.arguments}
        return by_head(self.kind, weights, x, edges, graph_ids, weighted=self.weighted, **options)


def with_weights(cls):
    """The layer with edge weights that it makes itself, so that it is called like one without."""

    class Weighted(cls):
        def call(self, x, edges, graph_ids=None, training=None):
            edges = tf.convert_to_tensor(edges)
            weights = tf.cast(pair_weights(tf.cast(edges, tf.float64)), self.compute_dtype)
            return super().call(x, edges, graph_ids, edge_weights=weights, training=training)

    return Weighted


GAO, HGAO, TOPK = (
    partial(Variant, cls, kind=kind)
    for cls, kind in ((layers.GAO, "gao"), (layers.HGAO, "hgao"), (layers.TopKGAO, "topk"))
)
AWAKE = {"score": "cosine", "query_units": 5}
VARIANTS = {
    "gao-cosine": GAO(AWAKE),
    "gao-uniform": GAO({"score": "uniform"}),
    "gao-heads": GAO({"heads": 3}),
    "gao-heads-mean-cosine": GAO({"heads": 2, "concat": False, **AWAKE}),
    "gao-weighted": GAO({}, weighted=True),
    "gao-weighted-cosine": GAO(AWAKE, weighted=True),
    "gao-weighted-uniform": GAO({"score": "uniform"}, weighted=True),
    "hgao-cosine": HGAO({"k": 2, **AWAKE}),
    "hgao-uniform": HGAO({"k": 2, "score": "uniform"}),
    "hgao-double": HGAO({"k": 2, "gate": "double"}),
    "hgao-no-gate": HGAO({"k": 2, "gate": None}),
    "hgao-heads": HGAO({"k": 2, "heads": 3}),
    "hgao-heads-no-gate-mean": HGAO({"k": 2, "heads": 2, "gate": None, "concat": False}),
    "hgao-heads-uniform": HGAO({"k": 2, "heads": 2, "score": "uniform"}),
    "hgao-heads-cosine-double": HGAO({"k": 3, "heads": 2, "gate": "double", **AWAKE}),
    "hgao-weighted": HGAO({"k": 2}, weighted=True),
    "hgao-weighted-heads": HGAO({"k": 2, "heads": 2}, weighted=True),
    "topk-cosine": TOPK({"k": 2, **AWAKE}),
    "topk-uniform": TOPK({"k": 2, "score": "uniform"}),
    "topk-heads": TOPK({"k": 2, "heads": 3}),
    "topk-heads-uniform-mean": TOPK({"k": 2, "heads": 2, "score": "uniform", "concat": False}),
    "topk-weighted": TOPK({"k": 2}, weighted=True),
    "topk-weighted-uniform": TOPK({"k": 2, "score": "uniform"}, weighted=True),
}
