"""CGAO against eq. (11) written with loops over graphs and channels."""

import numpy as np
import pytest

from ganet_tf.layers import CGAO
from tests.graphs import SPECIAL, batch
from tests.layers.contract import LayerContract, assert_close, softmax


def cgao(weights, x, edges, graph_ids, factor=lambda n: 1.0):
    rows = []
    for graph in np.unique(graph_ids):
        own = x[graph_ids == graph]
        keys, values = own @ weights["key_kernel"], own @ weights["value_kernel"]
        channels = []
        for a in range(keys.shape[1]):
            scores = np.array([np.sum(keys[:, a] * keys[:, b]) for b in range(keys.shape[1])])
            channels.append(values @ softmax(factor(len(own)) * scores))
        rows.append(np.stack(channels, axis=1))
    return np.concatenate(rows)


class TestCGAO(LayerContract):
    needs_edges = False
    has_dense = False

    def make(self, **kwargs):
        return CGAO(4, **kwargs)

    def oracle(self, weights, x, edges, graph_ids):
        return cgao(weights, x, edges, graph_ids)


@pytest.mark.parametrize(
    ("scale", "factor"),
    [("sqrt", lambda n: n**-0.5), ("mean", lambda n: 1 / n), (0.1, lambda n: 0.1)],
)
def test_scale(scale, factor):
    graphs = SPECIAL["several_graphs"]
    layer = CGAO(4, scale=scale, dtype="float64")
    outputs = layer(*graphs)
    expected = cgao({w.name: w.numpy() for w in layer.weights}, *graphs, factor)
    assert_close(outputs, expected, 1e-10)


@pytest.mark.parametrize("concat", [True, False])
def test_heads_are_a_loop_over_single_ones(concat):
    graphs = SPECIAL["several_graphs"]
    layer = CGAO(4, heads=3, concat=concat, scale="mean", dtype="float64")
    outputs = layer(*graphs)
    kernels = {w.name: np.split(w.numpy(), 3, axis=1) for w in layer.weights}
    single = [cgao({n: k[h] for n, k in kernels.items()}, *graphs, lambda n: 1 / n) for h in range(3)]
    assert_close(outputs, np.concatenate(single, axis=1) if concat else np.mean(single, axis=0), 1e-10)
    assert CGAO.from_config(layer.get_config()).get_config() == layer.get_config()


def test_without_graph_ids_all_nodes_are_one_graph():
    graphs = batch([[]], [5])
    layer = CGAO(4, dtype="float64")
    assert_close(layer(graphs.x), layer(*graphs), 1e-12)


def test_key_and_value_kernels_do_not_start_equal():
    layer = CGAO(3)
    layer.build((None, 5))
    assert np.any(layer.key_kernel.numpy() != layer.value_kernel.numpy())


def test_graph_ids_out_of_order():
    with pytest.raises(ValueError, match="`graph_ids` must be ascending"):
        CGAO(3)(np.ones((3, 2), "float32"), graph_ids=np.array([0, 1, 0]))


def test_bad_scale():
    with pytest.raises(ValueError, match="`scale` must be None, 'sqrt', 'mean' or a number above 0"):
        CGAO(3, scale="max")
