"""Sum, mean and max pooling against NumPy's, graph by graph."""

import numpy as np
import pytest
import tensorflow as tf

from ganet_tf.layers import MaxPooling, MeanPooling, SumPooling
from tests.layers.pooling_contract import PoolingContract


def by_graph(x, graph_ids, pool):
    return np.array([pool(x[graph_ids == graph]) for graph in np.unique(graph_ids)])


def largest(rows):
    """The maximum by real parts, for the complex step."""
    return rows[np.argmax(rows.real, axis=0), np.arange(rows.shape[1])]


class TestSumPooling(PoolingContract):
    def make(self, **kwargs):
        return SumPooling(**kwargs)

    def oracle(self, weights, x, edges, graph_ids):
        return by_graph(x, graph_ids, lambda rows: rows.sum(axis=0))


class TestMeanPooling(PoolingContract):
    def make(self, **kwargs):
        return MeanPooling(**kwargs)

    def oracle(self, weights, x, edges, graph_ids):
        return by_graph(x, graph_ids, lambda rows: rows.sum(axis=0) / len(rows))


class TestMaxPooling(PoolingContract):
    def make(self, **kwargs):
        return MaxPooling(**kwargs)

    def oracle(self, weights, x, edges, graph_ids):
        return by_graph(x, graph_ids, largest)


@pytest.mark.parametrize(("layer", "expected"), [(SumPooling, -6), (MeanPooling, -3), (MaxPooling, -2)])
def test_a_graph_without_nodes_gets_zeros(layer, expected):
    x = np.array([[-2.0], [-4.0], [-1.0]], "float32")
    pooled = layer()(x, graph_ids=np.array([0, 0, 2])).numpy()
    assert pooled.tolist() == [[expected], [0], [-1]]


@pytest.mark.parametrize("layer", [SumPooling, MeanPooling, MaxPooling])
def test_no_nodes_at_all(layer):
    assert layer()(np.zeros((0, 3), "float32"), graph_ids=np.zeros(0, "int32")).shape == (0, 3)


@pytest.mark.parametrize("layer", [SumPooling, MeanPooling, MaxPooling])
def test_without_graph_ids_all_nodes_are_one_graph(layer):
    x = np.array([[1.0], [2.0]], "float32")
    np.testing.assert_array_equal(layer()(x), layer()(x, graph_ids=np.zeros(2, "int32")))


def test_equal_maxima_share_the_gradient():
    x = tf.constant([[3.0], [3.0], [1.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        pooled = MaxPooling()(x)
    assert tape.gradient(pooled, x).numpy().tolist() == [[0.5], [0.5], [0.0]]
