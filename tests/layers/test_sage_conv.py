"""SAGEConv against the definition written with loops."""

import numpy as np
import pytest
import tensorflow as tf

from ganet_tf.layers import SAGEConv
from tests.graphs import SPECIAL, batch, both_ways, neighbors
from tests.layers.contract import LayerContract, OracleContract, assert_close
from tests.layers.switched import pair_weights, with_weights


def largest(rows):
    return rows[np.argmax(rows.real, axis=0), np.arange(rows.shape[1])]


AGGREGATE = {"mean": lambda rows: rows.sum(axis=0) / len(rows), "sum": lambda rows: rows.sum(axis=0), "max": largest}


def sage(weights, x, edges, aggregator="mean", edge_weight=lambda j, i: 1.0):
    rows = []
    for i in range(len(x)):
        others = [j for j in neighbors(i, edges) if j != i]
        factors = np.array([edge_weight(j, i) for j in others])
        message = AGGREGATE[aggregator](factors[:, None] * x[others]) if others else np.zeros(x.shape[1])
        message = message * len(others) / factors.sum() if others and aggregator == "mean" else message
        rows.append(x[i] @ weights["self_kernel"] + message @ weights["neighbor_kernel"] + weights["bias"])
    return np.array(rows)


class TestSAGEConv(LayerContract):
    has_dense = False

    def make(self, **kwargs):
        return SAGEConv(4, **kwargs)

    def oracle(self, weights, x, edges, graph_ids):
        return sage(weights, x, edges)


class TestNarrowSum(OracleContract):
    """Fewer units than features: the product with the kernel comes first."""

    def make(self, **kwargs):
        return SAGEConv(2, aggregator="sum", **kwargs)

    def oracle(self, weights, x, edges, graph_ids):
        return sage(weights, x, edges, "sum")


class TestMax(OracleContract):
    def make(self, **kwargs):
        return SAGEConv(4, aggregator="max", **kwargs)

    def oracle(self, weights, x, edges, graph_ids):
        return sage(weights, x, edges, "max")


class TestUnitRows(OracleContract):
    def make(self, **kwargs):
        return SAGEConv(4, normalize=True, **kwargs)

    def oracle(self, weights, x, edges, graph_ids):
        rows = sage(weights, x, edges)
        return rows / np.sqrt((rows**2).sum(axis=1, keepdims=True))


class Weighted(OracleContract):
    """Edges with weights: a mean by weight, a sum and a maximum of a_ij x_j."""

    aggregator = "mean"

    def make(self, **kwargs):
        return with_weights(SAGEConv)(4, aggregator=self.aggregator, **kwargs)

    def oracle(self, weights, x, edges, graph_ids):
        return sage(weights, x, edges, self.aggregator, lambda j, i: pair_weights(np.array([[j, i]]))[0])


class TestWeightedMean(Weighted):
    pass


class TestWeightedSum(Weighted):
    aggregator = "sum"


class TestWeightedMax(Weighted):
    aggregator = "max"


def test_a_node_whose_edges_all_weigh_nothing_has_no_message():
    x = np.array([[1.0], [2.0]])
    layer = SAGEConv(1, kernel_initializer="ones", dtype="float64")
    assert layer(x, np.array([[0, 1]]), edge_weights=np.zeros(1)).numpy().ravel().tolist() == [1, 2]


@pytest.mark.parametrize(("aggregator", "expected"), [("mean", [3, 4.5, 6]), ("sum", [3, 7, 6]), ("max", [3, 6, 6])])
def test_a_path_of_three(aggregator, expected):
    graphs = batch([both_ways([[0, 1], [1, 2]])], [3], x=np.array([[1.0], [2.0], [4.0]]))
    layer = SAGEConv(1, aggregator=aggregator, kernel_initializer="ones", dtype="float64")
    assert layer(graphs.x, graphs.edges).numpy().ravel().tolist() == expected


def test_a_maximum_of_negative_features_is_not_zero():
    graphs = batch([both_ways([[0, 1]])], [3], x=np.array([[-1.0], [-2.0], [-3.0]]))
    layer = SAGEConv(1, aggregator="max", kernel_initializer="ones", dtype="float64")
    assert layer(graphs.x, graphs.edges).numpy().ravel().tolist() == [-3, -3, -3]


def test_neighbours_that_share_the_maximum_share_its_gradient():
    x = tf.constant([[0.0], [5.0], [5.0], [1.0]])
    layer = SAGEConv(1, aggregator="max")
    layer.build((None, 1))
    layer.set_weights([np.zeros(1), np.zeros((1, 1)), np.ones((1, 1))])
    with tf.GradientTape() as tape:
        tape.watch(x)
        outputs = layer(x, np.array([[1, 0], [2, 0], [3, 0]]))
    assert tape.gradient(outputs, x).numpy().ravel().tolist() == [0, 0.5, 0.5, 0]


@pytest.mark.parametrize("aggregator", ["mean", "sum"])
def test_sparse_features(aggregator):
    graphs = SPECIAL["several_graphs"]
    layer = SAGEConv(2, aggregator=aggregator, dtype="float64")
    expected = layer(graphs.x, graphs.edges)
    assert_close(layer(tf.sparse.from_dense(graphs.x), graphs.edges), expected, 1e-12)


def test_a_maximum_needs_dense_features():
    graphs = SPECIAL["several_graphs"]
    with pytest.raises(TypeError, match="must be dense, but is sparse"):
        SAGEConv(2, aggregator="max", dtype="float64")(tf.sparse.from_dense(graphs.x), graphs.edges)


def test_unknown_aggregator():
    with pytest.raises(ValueError, match="Did you mean 'mean'"):
        SAGEConv(2, aggregator="means")
