"""Set2Set against an LSTM and a softmax written with loops over graphs."""

import keras
import numpy as np
import pytest

from ganet_tf.layers import Set2Set
from tests.graphs import SPECIAL
from tests.layers.contract import OracleContract, assert_close, softmax
from tests.layers.pooling_contract import PoolingContract


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def set2set(weights, x, graph_ids, steps):
    rows = []
    for graph in np.unique(graph_ids):
        nodes = x[graph_ids == graph]
        query = state = answer = np.zeros(x.shape[1])
        for _ in range(steps):
            gates = np.concatenate([query, answer]) @ weights["kernel"]
            gates = gates + query @ weights["recurrent_kernel"] + weights["bias"]
            enter, forget, candidate, leave = np.split(gates, 4)
            state = sigmoid(forget) * state + sigmoid(enter) * np.tanh(candidate)
            query = sigmoid(leave) * np.tanh(state)
            answer = softmax(nodes @ query) @ nodes
        rows.append(np.concatenate([query, answer]))
    return np.array(rows)


class TestSet2Set(PoolingContract):
    def make(self, **kwargs):
        return Set2Set(3, **kwargs)

    def oracle(self, weights, x, edges, graph_ids):
        return set2set(weights, x, graph_ids, 3)


class TestOneStep(OracleContract):
    def make(self, **kwargs):
        return Set2Set(1, **kwargs)

    def oracle(self, weights, x, edges, graph_ids):
        return set2set(weights, x, graph_ids, 1)


def test_weights_are_those_of_a_keras_lstm():
    graphs = SPECIAL["one_node"]
    layer = Set2Set(1, dtype="float64")
    outputs = layer(*graphs)
    cell = keras.layers.LSTMCell(3, dtype="float64")
    cell.build((None, 6))
    cell.set_weights(layer.get_weights())
    zeros = np.zeros((1, 3))
    assert_close(outputs[:, :3], cell(np.zeros((1, 6)), [zeros, zeros])[0], 1e-12)
    assert_close(Set2Set(1).bias_initializer((4,)), np.zeros(4), 0)
    assert layer.bias.numpy().tolist() == [0] * 3 + [1] * 3 + [0] * 6


def test_zero_weights_read_the_mean():
    x = np.array([[1.0, 2.0], [3.0, 6.0], [7.0, 8.0]])
    layer = Set2Set(4, kernel_initializer="zeros", recurrent_initializer="zeros", dtype="float64")
    assert layer(x, graph_ids=np.array([0, 0, 1])).numpy().tolist() == [[0, 0, 2, 4], [0, 0, 7, 8]]


def test_a_lone_node_reads_itself():
    graphs = SPECIAL["one_node"]
    assert_close(Set2Set(3, dtype="float64")(*graphs)[:, 3:], graphs.x, 1e-12)


def test_the_first_query_does_not_see_the_nodes():
    layer = Set2Set(1, bias_initializer="ones", dtype="float64")
    first, second = (layer(np.random.default_rng(s).normal(size=(4, 3))) for s in (0, 1))
    assert_close(first[:, :3], second[:, :3], 0)
    assert np.any(first[:, 3:].numpy() != second[:, 3:].numpy())


def test_a_graph_without_nodes_reads_zeros():
    x = np.random.default_rng(0).normal(size=(3, 2))
    layer = Set2Set(2, dtype="float64")
    outputs = layer(x, graph_ids=np.array([0, 0, 2])).numpy()
    assert np.isfinite(outputs).all()
    assert outputs[1, 2:].tolist() == [0, 0]
    assert_close(outputs[[0, 2]], layer(x, graph_ids=np.array([0, 0, 1])), 1e-12)


def test_no_nodes_at_all():
    assert Set2Set(2)(np.zeros((0, 3), "float32"), graph_ids=np.zeros(0, "int32")).shape == (0, 6)


def test_bad_steps():
    with pytest.raises(ValueError, match="`steps` must be a whole number of at least 1, but is 0"):
        Set2Set(0)
