"""GCN against sums written with loops."""

import numpy as np
import pytest

from ganet_tf.layers import GCN
from tests.graphs import SPECIAL, neighbors
from tests.layers.contract import LayerContract, OracleContract, assert_close


def gcn(weights, x, edges, graph_ids, normalization="sym"):
    sizes = [len(neighbors(i, edges)) for i in range(len(x))]
    rows = []
    for i in range(len(x)):
        row = 0
        for j in neighbors(i, edges):
            factor = {"sym": (sizes[i] * sizes[j]) ** -0.5, "row": 1 / sizes[i], None: 1}[normalization]
            row = row + factor * (x[j] @ weights["kernel"])
        rows.append(row + weights["bias"])
    return np.array(rows)


class TestGCN(LayerContract):
    def make(self, **kwargs):
        return GCN(4, **kwargs)

    def oracle(self, weights, x, edges, graph_ids):
        return gcn(weights, x, edges, graph_ids)


class TestNarrowGCN(OracleContract):
    """Fewer units than features: the product with the kernel comes first."""

    def make(self, **kwargs):
        return GCN(2, normalization="row", **kwargs)

    def oracle(self, weights, x, edges, graph_ids):
        return gcn(weights, x, edges, graph_ids, "row")


class TestSum(OracleContract):
    def make(self, **kwargs):
        return GCN(4, normalization=None, **kwargs)

    def oracle(self, weights, x, edges, graph_ids):
        return gcn(weights, x, edges, graph_ids, None)


def test_keras_arguments():
    graphs = SPECIAL["complete"]
    layer = GCN(
        4,
        activation="relu",
        use_bias=False,
        kernel_regularizer="l2",
        kernel_constraint="non_neg",
        activity_regularizer="l1",
        dropout=0.5,
        dtype="float64",
    )
    outputs = layer(graphs.x, graphs.edges)
    assert [w.name for w in layer.trainable_weights] == ["kernel"]
    assert np.min(outputs) >= 0
    assert len(layer.losses) == 2
    assert layer.kernel.constraint is not None
    assert_close(layer(graphs.x, graphs.edges, training=False), outputs, 0)
    assert np.any(layer(graphs.x, graphs.edges, training=True).numpy() != outputs.numpy())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"units": 0}, "`units` must be a whole number of at least 1, but is 0"),
        ({"units": 2.5}, "`units` must be a whole number"),
        ({"units": 2, "dropout": 1.0}, "`dropout` is the share that is dropped"),
        ({"units": 2, "normalization": "symm"}, "Did you mean 'sym'"),
        ({"units": 2, "implementation": "spares"}, "Did you mean 'sparse'"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        GCN(**arguments)
