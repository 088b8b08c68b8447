"""Neighbour lists: the right neighbours in the right order, from any edges, made once for all layers."""

from itertools import pairwise

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given

from ganet_tf import memory, native, ops
from ganet_tf.ops.neighborhood import Neighborhood, neighborhood
from tests.graphs import SPECIAL, graph_batches, modest


@pytest.fixture(autouse=True)
def sparse():
    """Neighbourhoods are what the sparse implementation works on."""
    with native.disabled():
        yield


def lists_of(nb):
    splits, columns = nb.row_splits.numpy(), nb.columns.numpy()
    return [columns[a:b].tolist() for a, b in pairwise(splits)]


def expected_lists(edges, num_nodes):
    return [sorted({int(s) for s, t in edges if t == i} | {i}) for i in range(num_nodes)]


@modest
@given(graph_batches())
def test_lists_are_sources_and_the_node_itself(batch):
    nb = neighborhood(tf.constant(batch.edges), batch.num_nodes)
    assert lists_of(nb) == expected_lists(batch.edges, batch.num_nodes)


@pytest.mark.parametrize("name", SPECIAL)
def test_lists_of_special_graphs(name):
    batch = SPECIAL[name]
    nb = neighborhood(tf.constant(batch.edges), batch.num_nodes)
    expected = expected_lists(batch.edges, batch.num_nodes)
    assert lists_of(nb) == expected
    assert nb.degrees.numpy().tolist() == [len(e) for e in expected]
    assert nb.max_degree.numpy() == max(map(len, expected))
    assert nb.rows.numpy().tolist() == [i for i, e in enumerate(expected) for _ in e]


def test_repeated_edges_self_loops_and_order_do_not_matter():
    clean = np.array([[1, 0], [2, 0], [0, 1], [0, 2]], "int32")
    messy = np.array([[0, 2], [1, 0], [2, 2], [2, 0], [1, 0], [0, 1]], "int32")
    a, b = (neighborhood(tf.constant(e), 3) for e in (clean, messy))
    assert lists_of(a) == lists_of(b) == [[0, 1, 2], [0, 1], [0, 2]]


def test_int64_edges_are_taken():
    assert lists_of(neighborhood(tf.constant([[0, 1]], tf.int64), 2)) == [[0], [0, 1]]


def test_made_once_for_all_layers_of_a_trace(monkeypatch):
    made = []
    monkeypatch.setattr(Neighborhood, "_set_lists", counting(made, Neighborhood._set_lists))

    @tf.function
    def network(x, edges):
        for _ in range(3):
            x = ops.gcn(ops.hgao(x, x, x, x[:, 0], edges, 2), edges)
        return x

    batch = SPECIAL["complete"]
    network(tf.constant(batch.x), tf.constant(batch.edges))
    assert len(made) == 1


def counting(calls, function):
    def wrapped(*args):
        calls.append(1)
        return function(*args)

    return wrapped


def test_not_shared_between_eager_calls_and_graphs():
    batch = SPECIAL["complete"]
    x, edges = tf.constant(batch.x), tf.constant(batch.edges)
    eager = ops.gao(x, x, x, edges)
    inside = tf.function(lambda: ops.gao(x, x, x, edges))  # captures the tensor that remembers an eager one
    again = tf.function(lambda: ops.gao(x, x, x, edges))
    for other in (inside(), again(), ops.gao(x, x, x, edges)):
        np.testing.assert_allclose(eager, other, rtol=1e-12)


def test_another_number_of_nodes_is_not_taken_for_the_same_graph():
    edges = tf.constant([[0, 1]])
    assert lists_of(neighborhood(edges, 2)) == [[0], [0, 1]]
    assert lists_of(neighborhood(edges, 3)) == [[0], [0, 1], [2]]


def test_gradient_outside_of_a_function_around_the_operator():
    batch = SPECIAL["several_graphs"]
    x, edges = tf.constant(batch.x), tf.constant(batch.edges)

    def network(x):
        return ops.gcn(x, edges) + ops.gao(x, x, x, edges) + ops.hgao(x, x, x, x[:, 0], edges, 2)

    gradients = []
    for run in (network, tf.function(network)):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(run(x) ** 2)
        gradients.append(tape.gradient(y, x))
    np.testing.assert_allclose(gradients[0], gradients[1], rtol=1e-10)


@pytest.mark.parametrize(
    ("edges", "error", "text"),
    [
        ([[0, 3]], ValueError, r"row 0 is \[0, 3\], but `x` has 3 nodes"),
        ([[-1, 0]], ValueError, "node numbers must be 0 to 2"),
        ([[0, 1, 2], [1, 2, 0]], ValueError, "transpose it"),
        ([0, 1], ValueError, r"\[edges, 2\]"),
        ([[0.0, 1.0]], TypeError, "must be integers"),
    ],
)
def test_bad_edges_are_named(edges, error, text):
    with pytest.raises(error, match=text):
        neighborhood(tf.constant(edges), 3)


@pytest.mark.parametrize(
    ("debug", "text"), [(False, r"`edges` names the node\] \[7\]"), (True, r"row\] \[1\].*\[0 7\]")]
)
def test_a_compiled_step_notices_edges_out_of_range_and_names_the_row_if_asked(debug, text):
    before = ops.debug_checks(debug)
    try:
        with pytest.raises(tf.errors.InvalidArgumentError, match=text):
            tf.function(lambda e: ops.gcn(tf.ones([3, 2]), e))(tf.constant([[1, 0], [0, 7]]))
    finally:
        ops.debug_checks(before)


def test_a_wild_node_number_takes_no_memory():
    """Refused before anything is made from it: a list for each of 100 million nodes would be gigabytes."""
    edges = tf.constant([[0, 10**8]])
    step = tf.function(lambda e: ops.gcn(tf.ones([3, 2]), e), input_signature=[tf.TensorSpec([None, 2], "int32")])
    step(tf.constant([[0, 1]]))

    def refused():
        with pytest.raises(tf.errors.InvalidArgumentError, match="`edges`"):
            step(edges)

    assert memory.peak_growth(refused) < 100 * 2**20


@pytest.mark.parametrize("dtype", ["int8", "int16", "int64", "uint8", "uint16", "uint32", "uint64"])
def test_every_integer_type_of_edges_is_taken_in_a_compiled_step(dtype):
    edges = np.array([[0, 1], [2, 1]])
    step = tf.function(lambda e: ops.gcn(tf.ones([3, 2]), e))
    np.testing.assert_array_equal(step(tf.constant(edges, dtype)), step(tf.constant(edges, "int32")))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"names the node\] \[100\]"):
        step(tf.constant([[0, 100]], dtype))


def test_a_variable_is_read_anew():
    edges = tf.Variable([[0, 1]])
    assert lists_of(neighborhood(edges, 2)) == [[0], [0, 1]]
    edges.assign([[1, 0]])
    assert lists_of(neighborhood(edges, 2)) == [[0, 1], [1]]
