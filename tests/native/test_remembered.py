"""The lists of a graph that comes again are remembered; of one that has changed, however little, they are made anew."""

import concurrent.futures

import numpy as np
import pytest
import tensorflow as tf

from ganet_tf import native
from ganet_tf.native import library
from tests.graphs import neighbors
from tests.native.compare import needs_kernels
from tests.native.test_safety import in_new_process

pytestmark = needs_kernels

N = 60


@pytest.fixture(autouse=True)
def nothing_remembered():
    controls = library.library().controls
    controls.ganet_remember_lists(1)  # clears
    yield
    controls.ganet_remember_lists(1)


def hits():
    return library.library().controls.ganet_remembered_hits()


def graph(seed, count=400, dtype="int32"):
    """Directed edges, sorted by target and source."""
    keys = np.random.default_rng(seed).choice(N * N, count, replace=False)
    edges = np.stack([keys % N, keys // N], 1)
    edges = edges[edges[:, 0] != edges[:, 1]]
    return edges[np.lexsort((edges[:, 0], edges[:, 1]))].astype(dtype)


def check(edges, lists, weights=None):
    """`lists` and their transpose are those of `edges`."""
    columns, splits = lists.columns.numpy(), lists.row_splits.numpy()
    assert [row.tolist() for row in np.split(columns, splits[1:-1])] == [neighbors(i, edges) for i in range(N)]
    rows = np.repeat(np.arange(N), np.diff(splits))
    order = np.argsort(columns, kind="stable")
    t_splits, t_rows, places = (t.numpy() for t in lists.transposed())
    np.testing.assert_array_equal(t_splits, np.searchsorted(columns[order], np.arange(N + 1)))
    np.testing.assert_array_equal(t_rows, rows[order])
    np.testing.assert_array_equal(places, order)
    if weights is not None:
        given = dict(zip(map(tuple, edges.tolist()), weights.tolist(), strict=True))
        wanted = [1.0 if i == j else given[j, i] for i, j in zip(rows.tolist(), columns.tolist(), strict=True)]
        np.testing.assert_array_equal(lists.weights, wanted)


def lists_again(edges, times=4, weights=None):
    """What the last of several calls gives, each with a tensor of its own."""
    for _ in range(times):
        made = native.lists(tf.constant(edges.copy()), N, None if weights is None else tf.constant(weights))
        check(edges, made, weights)
    return made


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_the_third_time_a_graph_comes_its_lists_are_there(dtype):
    edges, before = graph(int(dtype[3:]), dtype=dtype), hits()
    lists_again(edges, 2)
    assert hits() == before, "what came once is not kept"
    lists_again(edges, 3)
    assert hits() == before + 3


def test_edges_in_any_order_are_remembered_too():
    edges, before = np.random.default_rng(0).permutation(graph(1)), hits()
    lists_again(edges)
    assert hits() == before + 2


def test_another_edge_anywhere_is_noticed():
    """Also where the same memory holds it: NumPy and TensorFlow share it."""
    edges = graph(2)
    lists_again(edges)
    for place in (0, 1, len(edges) // 2, len(edges) - 1, *range(7, len(edges), 31)):
        for end in (0, 1):
            changed = edges.copy()
            changed[place, end] = (changed[place, end] + 1) % N
            check(changed, native.lists(tf.convert_to_tensor(changed), N))
    shared = np.empty(2 * len(edges) + 32, "int32")  # TensorFlow shares memory that begins at a multiple of 64 bytes
    start = -shared.ctypes.data % 64 // 4
    shared = shared[start : start + 2 * len(edges)].reshape(-1, 2)
    shared[:] = edges
    for place in range(0, len(edges), 17):
        check(shared, native.lists(tf.convert_to_tensor(shared), N))
        shared[place, 0] = (shared[place, 0] + 1) % N
    assert hits() > 0


def test_numbers_of_nodes_weights_and_types_are_told_apart():
    edges, rng = graph(3), np.random.default_rng(0)
    weights = [rng.random(len(edges)).astype("float32") for _ in range(2)]
    near = weights[0].copy()
    near[len(near) // 2] += 1
    for _ in range(4):
        lists_again(edges, 1)
        for given in (*weights, near):
            lists_again(edges, 1, given)
        larger = native.lists(tf.constant(edges), N + 3)
        assert larger.row_splits.shape == [N + 4] and larger.transposed()[0].shape == [N + 4]
        double = native.lists(tf.constant(edges), N, tf.constant(weights[0].astype("float64")))
        assert double.weights.dtype == tf.float64
        # As many edges, and as bytes the same beginning.
        assert native.lists(tf.constant(edges.astype("int64")), N).columns.shape == [len(edges) + N]


def test_gradients_are_the_same_whether_lists_are_remembered_or_not():
    edges, x = graph(4), tf.constant(np.random.default_rng(1).normal(size=(N, 9)), tf.float32)

    @tf.function
    def step(edges):
        lists = native.lists(edges, N)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = native.gao(x, x, x, lists) + native.gcn(x, lists) + native.hgao(x, x, x, x[:, 0], lists, 3)
        return y, tape.gradient(y, x)

    found = [[t.numpy() for t in step(tf.constant(edges))] for _ in range(5)]
    for again in found[1:]:
        for first, other in zip(found[0], again, strict=True):
            np.testing.assert_array_equal(first, other)


def test_more_graphs_than_there_is_room_for():
    for _ in range(3):
        for seed in range(40):
            lists_again(graph(seed), 1)


def test_several_threads_with_several_graphs():
    graphs = [graph(seed) for seed in range(5)]

    def run(number):
        for turn in range(60):
            lists_again(graphs[(number + turn * turn) % len(graphs)], 1)
        return True

    before = hits()
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert all(pool.map(run, range(4)))
    assert hits() > before


def test_a_switch_turns_it_off():
    code = """
        import tensorflow as tf
        from ganet_tf import native
        from ganet_tf.native import library
        for _ in range(5):
            native.lists(tf.constant([[0, 1], [1, 0]]), 2)
        print(library.library().controls.ganet_remembered_hits())
    """
    assert in_new_process(code, GANET_NATIVE_REMEMBER="0") == "0"
    assert in_new_process(code) == "3"
