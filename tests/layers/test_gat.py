"""GAT against additive attention written with loops."""

import numpy as np
import pytest

from ganet_tf.layers import GAT
from tests.graphs import SPECIAL, neighbors
from tests.layers.contract import LayerContract, OracleContract, softmax


def gat(weights, x, edges, heads, units, concat):
    h = (x @ weights["kernel"]).reshape(len(x), heads, units)
    rows = []
    for i in range(len(x)):
        around, outputs = neighbors(i, edges), []
        for head in range(heads):
            target = np.sum(h[i, head] * weights["target_kernel"][head])
            raw = np.array([target + np.sum(h[j, head] * weights["source_kernel"][head]) for j in around])
            attention = softmax(np.where(raw.real > 0, raw, 0.2 * raw))
            outputs.append(sum(a * h[j, head] for a, j in zip(attention, around, strict=True)))
        rows.append(np.concatenate(outputs) if concat else np.mean(outputs, axis=0))
    return np.array(rows) + weights["bias"]


class TestGAT(LayerContract):
    has_dense = False

    def make(self, **kwargs):
        return GAT(2, heads=3, **kwargs)

    def oracle(self, weights, x, edges, graph_ids):
        return gat(weights, x, edges, 3, 2, concat=True)


class TestAveragedGAT(OracleContract):
    def make(self, **kwargs):
        return GAT(2, heads=3, concat=False, **kwargs)

    def oracle(self, weights, x, edges, graph_ids):
        return gat(weights, x, edges, 3, 2, concat=False)


def test_attention_dropout_is_for_training_only():
    graphs = SPECIAL["complete"]
    layer = GAT(2, attention_dropout=0.5, dtype="float64")
    outputs = layer(graphs.x, graphs.edges)
    np.testing.assert_array_equal(layer(graphs.x, graphs.edges, training=False), outputs)
    assert np.any(layer(graphs.x, graphs.edges, training=True).numpy() != outputs.numpy())


def test_bad_arguments():
    with pytest.raises(ValueError, match="`attention_dropout` is the share"):
        GAT(2, attention_dropout=2)
    with pytest.raises(ValueError, match="`heads` must be a whole number of at least 1"):
        GAT(2, heads=0)
