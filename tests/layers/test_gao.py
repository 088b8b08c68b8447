"""GAO against attention written with loops."""

import numpy as np
import pytest

from ganet_tf.layers import GAO
from tests.graphs import SPECIAL, neighbors
from tests.layers.contract import LayerContract, OracleContract, assert_close, softmax


def gao(weights, x, edges, graph_ids, scale=1.0):
    keys, values = x @ weights["key_kernel"], x @ weights["value_kernel"]
    rows = []
    for i in range(len(x)):
        around = neighbors(i, edges)
        scores = scale * np.array([np.sum(x[i] * keys[j]) for j in around])
        rows.append(sum(a * values[j] for a, j in zip(softmax(scores), around, strict=True)))
    return np.array(rows)


class TestGAO(LayerContract):
    def make(self, **kwargs):
        return GAO(4, **kwargs)

    def oracle(self, weights, x, edges, graph_ids):
        return gao(weights, x, edges, graph_ids)


class TestScaledGAO(OracleContract):
    def make(self, **kwargs):
        return GAO(3, scale="sqrt", **kwargs)

    def oracle(self, weights, x, edges, graph_ids):
        return gao(weights, x, edges, graph_ids, 3**-0.5)


def test_key_and_value_kernels_do_not_start_equal():
    layer = GAO(3)
    layer.build((None, 3))
    assert np.any(layer.key_kernel.numpy() != layer.value_kernel.numpy())


def test_bias_and_activation():
    graphs = SPECIAL["complete"]
    plain = GAO(4, dtype="float64")
    layer = GAO(4, use_bias=True, bias_initializer="ones", activation="tanh", dtype="float64")
    expected = plain(graphs.x, graphs.edges)
    layer.build((None, 3))
    layer.set_weights([np.ones(4), *plain.get_weights()])
    assert_close(layer(graphs.x, graphs.edges), np.tanh(expected + 1), 1e-12)


@pytest.mark.parametrize("scale", ["squrt", -1, 0])
def test_bad_scale(scale):
    with pytest.raises(ValueError, match="`scale` must be None, 'sqrt' or a number above 0"):
        GAO(4, scale=scale)


def test_a_dense_matrix_that_does_not_fit_is_refused():
    """Two million nodes: 16 TB for each matrix. The message names the way out."""
    with pytest.raises(MemoryError, match='use implementation="sparse"'):
        GAO(2, implementation="dense")(np.zeros((2_000_000, 1), "float32"), np.zeros((0, 2), "int32"))
