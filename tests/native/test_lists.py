"""Neighbour lists made by the native kernels are those of `ganet_tf.ops`, for any edges."""

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from ganet_tf import native
from tests.graphs import SPECIAL, graph_batches, modest, neighbors
from tests.native.compare import adjacency, needs_kernels

pytestmark = needs_kernels


def rows_of(lists):
    return np.split(lists.columns.numpy(), lists.row_splits.numpy()[1:-1])


def check(edges, n, lists):
    assert [row.tolist() for row in rows_of(lists)] == [neighbors(i, edges) for i in range(n)]


@pytest.mark.parametrize("dtype", ["int32", "int64", "int16"])
@pytest.mark.parametrize("name", SPECIAL)
def test_special_graphs(name, dtype):
    edges = SPECIAL[name].edges
    check(edges, SPECIAL[name].num_nodes, native.lists(edges.astype(dtype), SPECIAL[name].num_nodes))


@modest
@given(graph_batches(), st.integers(0, 100))
def test_order_repetitions_and_loops_do_not_matter(graphs, seed):
    rng, n = np.random.default_rng(seed), graphs.num_nodes
    loops = np.repeat(rng.integers(0, n, (3, 1)), 2, axis=1).astype("int32")
    canonical = graphs.edges[np.lexsort((graphs.edges[:, 0], graphs.edges[:, 1]))]
    check(canonical, n, native.lists(canonical, n))
    untidy = rng.permutation(np.concatenate([graphs.edges, graphs.edges[::2], loops]))
    check(untidy, n, native.lists(untidy, n))


def test_many_edges_over_several_threads():
    rng = np.random.default_rng(0)
    edges = rng.integers(0, 3000, (100_000, 2)).astype("int32")
    key = np.unique(edges[:, 1].astype("int64") * 3000 + edges[:, 0])
    canonical = np.stack([key % 3000, key // 3000], 1).astype("int32")
    canonical = canonical[canonical[:, 0] != canonical[:, 1]]
    first, second = native.lists(edges, 3000), native.lists(canonical, 3000)
    np.testing.assert_array_equal(first.columns, second.columns)
    np.testing.assert_array_equal(first.row_splits, second.row_splits)
    check(canonical, 3000, second)


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64])
def test_weights_stay_with_their_edges(dtype):
    """A repeated edge has the sum of its weights, a self-loop the weight 1."""
    edges = np.array([[2, 0], [1, 0], [2, 0], [1, 1], [0, 2]])
    weights = np.array([0.5, 2.0, 7.0, 9.0, 0.25])
    for order in ([0, 1, 2, 3, 4], [4, 1, 0, 2, 3]):
        lists = native.lists(edges[order], 3, tf.constant(weights[order], dtype))
        assert lists.columns.numpy().tolist() == [0, 1, 2, 1, 0, 2]
        assert lists.weights.numpy().tolist() == [1.0, 2.0, 7.5, 1.0, 0.25, 1.0]
    canonical = np.array([[1, 0], [2, 0], [0, 2]])
    lists = native.lists(canonical, 3, tf.constant([2.0, 0.5, 0.25], dtype))
    assert lists.weights.numpy().tolist() == [1.0, 2.0, 0.5, 1.0, 0.25, 1.0]


@pytest.mark.parametrize("undirected", [False, True])
def test_transposed_lists_name_the_same_entries(undirected):
    edges = np.random.default_rng(0).integers(0, 50, (300, 2))
    if undirected:
        edges = np.concatenate([edges, edges[:, ::-1]])
    lists = native.lists(edges, 50)
    splits, rows, places = (t.numpy() for t in lists.transposed())
    _, mask = adjacency(edges, 50)
    columns = np.repeat(np.arange(50), np.diff(splits))
    np.testing.assert_array_equal(np.stack([columns, rows]), np.nonzero(mask.T))
    np.testing.assert_array_equal(lists.columns.numpy()[places], columns)
    entry_rows = np.repeat(np.arange(50), np.diff(lists.row_splits))
    np.testing.assert_array_equal(entry_rows[places], rows)


def test_what_follows_from_lists_is_made_once():
    lists = native.lists(np.array([[0, 1]]), 2)
    assert lists.transposed() is lists.transposed()
    assert lists.factors("sym", tf.float32)[0] is lists.factors("sym", tf.float32)[1]

    @tf.function
    def traced(edges):
        inside = native.lists(edges, 2)
        x = tf.ones([2, 3])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = native.gcn(native.gcn(native.gao(x, x, x, inside), inside), inside)
        return tape.gradient(y, x)

    graph = traced.get_concrete_function(tf.TensorSpec([None, 2], tf.int32)).graph
    kinds = [op.type for op in graph.get_operations()]
    assert [kinds.count(kind) for kind in ("GanetLists", "GanetTranspose", "GanetNormalization")] == [1, 1, 1]
