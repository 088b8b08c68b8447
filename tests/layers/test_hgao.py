"""HGAO against eqs. (4) to (10) written with loops."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from ganet_tf.layers import GAO, HGAO
from tests.graphs import SPECIAL, batch, both_ways, hub, neighbors
from tests.layers.contract import LayerContract, OracleContract, assert_close, softmax


def projections(x, p):
    """Eq. (4), with an absolute value that bears complex numbers."""
    y = np.array([np.sum(row * p) for row in x]) / np.sqrt(np.sum(p * p))
    return np.where(y.real < 0, -y, y)


def ranked(node, y, edges, k):
    """Eq. (5): the k neighbours with the largest y, ties to the smaller index."""
    return sorted(neighbors(node, edges), key=lambda j: (-y[j].real, j))[:k]


def hgao(weights, x, edges, graph_ids, k):
    y = projections(x, weights["projection"])
    gated = x * (1 / (1 + np.exp(-y)))[:, None]  # eqs. (7) and (8)
    keys, values = gated @ weights["key_kernel"], gated @ weights["value_kernel"]
    rows = []
    for i in range(len(x)):
        chosen = ranked(i, y, edges, k)
        attention = softmax(np.array([np.sum(x[i] * keys[j]) for j in chosen]))  # eq. (9)
        rows.append(sum(a * values[j] for a, j in zip(attention, chosen, strict=True)))
    return np.array(rows)


class TestHGAO(LayerContract):
    k = 2

    def make(self, **kwargs):
        return HGAO(4, k=self.k, **kwargs)

    def oracle(self, weights, x, edges, graph_ids):
        return hgao(weights, x, edges, graph_ids, self.k)


class TestHGAOWithAllNeighbors(OracleContract):
    """k above every degree but the hub's: nothing is left out."""

    def make(self, **kwargs):
        return HGAO(4, k=8, **kwargs)

    def oracle(self, weights, x, edges, graph_ids):
        return hgao(weights, x, edges, graph_ids, 8)


class TestHGAOWithOne(OracleContract):
    def make(self, **kwargs):
        return HGAO(4, k=1, **kwargs)

    def oracle(self, weights, x, edges, graph_ids):
        return hgao(weights, x, edges, graph_ids, 1)


def with_projection(layer, p):
    layer.build((None, len(p)))
    layer.projection.assign(p)
    return layer


@pytest.mark.parametrize("implementation", ["auto", "sparse", "dense"])
def test_ties_go_to_the_smaller_index(implementation):
    # y is 2, 1, 1, 1, 0 exactly, in any order of summation.
    graphs = batch([np.argwhere(~np.eye(5, dtype=bool))], [5], x=np.array([[2.0], [1], [-1], [1], [0]]))
    layer = with_projection(HGAO(1, k=3, implementation=implementation, dtype="float64"), [1.0])
    expected = hgao({w.name: w.numpy() for w in layer.weights}, *graphs, k=3)
    assert_close(layer(graphs.x, graphs.edges), expected, 1e-10)
    if implementation == "sparse":
        assert layer.selected(graphs.x, graphs.edges).indices.numpy().tolist() == [[0, 1, 2]] * 5


def test_a_tie_at_the_edge_of_a_hub():
    graphs = hub(degree=1000, num_features=1)._replace(x=np.ones((1001, 1)))
    layer = with_projection(HGAO(1, k=4, dtype="float64"), [1.0])
    assert layer.selected(graphs.x, graphs.edges).indices.numpy()[0].tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("implementation", ["auto", "sparse", "dense"])
def test_zero_projection_gives_no_nan(implementation):
    graphs = SPECIAL["complete"]
    layer = with_projection(HGAO(4, k=2, implementation=implementation, dtype="float64"), [0.0, 0.0, 0.0])
    with tf.GradientTape() as tape:
        outputs = layer(graphs.x, graphs.edges)
        loss = tf.reduce_sum(outputs**2)
    assert np.isfinite(outputs).all()
    assert all(np.isfinite(g).all() for g in tape.gradient(loss, layer.trainable_weights))


def test_without_a_choice_it_is_gao_of_gated_features():
    """The query stays as it is; keys and values see the gate."""
    graphs = SPECIAL["several_graphs"]
    hard = HGAO(4, k=100, dtype="float64")
    hard(graphs.x, graphs.edges)
    hard.projection.assign([1e-30, 0, 0])
    x = graphs.x.copy()
    x[:, 0] = 0  # y = 0 for every node: the gate is a half
    soft = GAO(4, scale=0.5, dtype="float64")
    soft.build((None, 3))
    soft.set_weights([hard.key_kernel, hard.value_kernel])
    assert_close(hard(x, graphs.edges), 0.5 * soft(x, graphs.edges), 1e-12)


class TestSelected:
    def test_says_what_the_layer_attends_to(self):
        graphs = SPECIAL["several_graphs"]
        layer = HGAO(4, k=2, dtype="float64")
        outputs = layer(graphs.x, graphs.edges)
        chosen = layer.selected(graphs.x, graphs.edges)
        y = projections(graphs.x, layer.projection.numpy())
        values = (graphs.x / (1 + np.exp(-y))[:, None]) @ layer.value_kernel.numpy()
        for i, indices in enumerate(chosen.indices.numpy()):
            expected = ranked(i, y, graphs.edges, 2)
            assert indices.tolist() == expected + [-1] * (len(indices) - len(expected))
            weights = chosen.weights.numpy()[i]
            assert weights[len(expected) :].tolist() == [0.0] * (len(indices) - len(expected))
            assert_close(chosen.gate.numpy()[i, : len(expected)], 1 / (1 + np.exp(-y[expected])), 1e-12)
            assert_close(weights[: len(expected)] @ values[expected], outputs[i], 1e-12)
            assert weights.sum() == pytest.approx(1)

    def test_builds_a_new_layer_and_needs_no_tensors(self):
        chosen = HGAO(4, k=2).selected(np.ones((3, 2)), both_ways([[0, 1]]))
        assert chosen.indices.numpy().tolist() == [[0, 1], [0, 1], [2, -1]]
        assert chosen.gate.numpy()[2, 1] == 0

    def test_under_mixed_float16(self):
        chosen = HGAO(4, k=2, dtype="mixed_float16").selected(np.ones((3, 2)), both_ways([[0, 1]]))
        assert_close(chosen.weights.numpy().sum(1).astype("float32"), np.ones(3), 1e-3)

    def test_checks_the_width(self):
        layer = HGAO(4)
        layer.build((None, 3))
        with pytest.raises(ValueError, match="5 features a node"):
            layer.selected(np.ones((3, 5)), np.zeros((0, 2), "int32"))


def test_the_projection_has_its_own_arguments():
    layer = HGAO(2, projection_initializer="ones", projection_regularizer="l1", projection_constraint="unit_norm")
    layer.build((None, 3))
    assert layer.projection.numpy().tolist() == [1, 1, 1]
    assert float(layer.losses[0]) == pytest.approx(0.03)
    assert isinstance(layer.projection.constraint, keras.constraints.UnitNorm)
    assert HGAO.from_config(layer.get_config()).get_config() == layer.get_config()


@pytest.mark.parametrize("k", [0, -3])
def test_k_below_one(k):
    with pytest.raises(ValueError, match=f"`k` must be at least 1, but is {k}"):
        HGAO(4, k=k)


def test_k_that_is_no_number():
    with pytest.raises(TypeError, match="`k` must be an int, but is '8'"):
        HGAO(4, k="8")
