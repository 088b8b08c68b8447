"""SortPooling against a sort of each graph with Python's own."""

import numpy as np
import pytest
from hypothesis import given

from ganet_tf.layers import SortPooling
from tests.graphs import batch, graph_batches, joined, modest, permuted
from tests.layers.contract import LayerContract, OracleContract, assert_close


def sort_pooling(x, graph_ids, k):
    tables = []
    for graph in np.unique(graph_ids):
        nodes = sorted(np.flatnonzero(graph_ids == graph), key=lambda i: (-x[i, -1].real, i))[:k]
        rows = [x[i] for i in nodes] + [np.zeros(x.shape[1])] * (k - len(nodes))
        tables.append(rows)
    return np.array(tables)


class TestSortPooling(LayerContract):
    needs_edges = False
    has_dense = False

    def make(self, **kwargs):
        return SortPooling(3, **kwargs)

    def oracle(self, weights, x, edges, graph_ids):
        return sort_pooling(x, graph_ids, 3)

    def dropping(self):
        return {}

    @modest
    @given(graph_batches())
    def test_permuting_nodes_permutes_the_output(self, graphs):
        """It undoes the order of the nodes."""
        layer = self.built()
        np.testing.assert_array_equal(self.run(layer, permuted(graphs)[0]), self.run(layer, graphs))

    @modest
    @given(graph_batches(), graph_batches())
    def test_what_else_is_in_the_batch_does_not_matter(self, first, second):
        layer = self.built()
        expected = np.concatenate([self.run(layer, first), self.run(layer, second)])
        np.testing.assert_array_equal(self.run(layer, joined(first, second)), expected)


class TestSortPoolingOfMore(OracleContract):
    """More places than any graph has nodes, but the hub."""

    def make(self, **kwargs):
        return SortPooling(12, **kwargs)

    def oracle(self, weights, x, edges, graph_ids):
        return sort_pooling(x, graph_ids, 12)


def test_padding_never_outranks_a_node():
    graphs = batch([[], []], [3, 2], x=np.array([[1.0, -3], [2, -1e30], [3, -2], [4, 0], [5, -1]]))
    pooled = SortPooling(4, dtype="float64")(graphs.x, graph_ids=graphs.graph_ids).numpy()
    assert pooled[..., 0].tolist() == [[3, 1, 2, 0], [4, 5, 0, 0]]


def test_ties_go_to_the_smaller_index():
    x = np.array([[1.0, 7], [2, 8], [3, 7], [4, 8]])
    pooled = SortPooling(3, dtype="float64")(x).numpy()
    assert pooled[0, :, 0].tolist() == [2, 4, 1]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_nan_comes_last_and_stays_in_its_graph(dtype):
    """A sort that meets NaN leaves whatever is beside it where it was."""
    rng = np.random.default_rng(1)
    first, second = rng.normal(size=(5, 2)), rng.normal(size=(40, 2))
    second[::2, 1] = np.nan
    x, graph_ids = np.concatenate([first, second]).astype(dtype), np.repeat([0, 1], [5, 40])
    for order in (slice(None), slice(None, None, -1)):  # the NaN behind, and before
        ids = graph_ids if order.step is None else 1 - graph_ids[::-1]
        pooled = SortPooling(21, dtype=dtype)(x[order], graph_ids=ids).numpy()
        for graph in (0, 1):
            rows = x[order][ids == graph]
            numbers = sorted(rows[np.isfinite(rows[:, 1]), 1].tolist(), reverse=True)
            assert pooled[graph, : len(numbers), 1].tolist() == numbers
            assert np.isnan(pooled[graph, len(numbers) :, 1]).any() == np.isnan(rows).any()


def test_positional_and_keyword_calls():
    graphs = batch([[], []], [3, 2])
    layer = SortPooling(2, dtype="float64")
    expected = layer(graphs.x, graphs.edges, graphs.graph_ids)
    assert_close(layer(graphs.x, graph_ids=graphs.graph_ids), expected, 0)
    assert layer(graphs.x).shape == (1, 2, 3)


def test_bad_k():
    with pytest.raises(ValueError, match="`k` must be at least 1, but is 0"):
        SortPooling(0)


def test_graph_ids_out_of_order():
    with pytest.raises(ValueError, match="`graph_ids` must be ascending"):
        SortPooling(2)(np.ones((3, 2), "float32"), graph_ids=np.array([1, 0, 0]))


def test_graph_ids_that_are_not_integers():
    with pytest.raises(TypeError, match=r"`graph_ids` of .* must be integers"):
        SortPooling(2)(np.ones((3, 2), "float32"), graph_ids=np.zeros(3, "float32"))
