"""The native operators against the sparse ones and against dense formulas: values and all gradients."""

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from ganet_tf import native, ops
from tests.graphs import SPECIAL, batch, graph_batches, hub, modest
from tests.native.compare import adjacency, assert_equal, dense_attention, largest, needs_kernels, results, tensors

pytestmark = needs_kernels

both_types = pytest.mark.parametrize("dtype", [tf.float32, tf.float64], ids=["float32", "float64"])


def untidy(num_nodes=60, count=400, seed=3):
    """Directed edges in no order, with repetitions, self-loops and a hub."""
    rng = np.random.default_rng(seed)
    edges = rng.integers(0, num_nodes, (count, 2))
    edges[: count // 4, 1] = 5
    edges[:7] = edges[7:14]
    edges[20:25, 0] = edges[20:25, 1]
    return edges.astype("int32")


GRAPHS = {
    **{name: (graphs.edges, graphs.num_nodes) for name, graphs in SPECIAL.items()},
    "untidy": (untidy(), 60),
    "long_hub": (hub(3000).edges, 3001),
}
all_graphs = pytest.mark.parametrize("name", GRAPHS)


@both_types
@all_graphs
@pytest.mark.parametrize("widths", [(48, 48), (7, 5)], ids=str)
def test_gao_is_the_sparse_one(name, dtype, widths):
    edges, n = GRAPHS[name]
    arguments = tensors([(n, widths[0]), (n, widths[0]), (n, widths[1])], dtype)
    lists = native.lists(edges, n)
    assert_equal(
        lambda q, k, v: native.gao(q, k, v, lists),
        lambda q, k, v: ops.gao(q, k, v, tf.constant(edges), implementation="sparse"),
        arguments,
    )


@both_types
@all_graphs
@pytest.mark.parametrize("k", [1, 3, 8, 70])
def test_hgao_is_the_sparse_one(name, dtype, k):
    edges, n = GRAPHS[name]
    arguments = tensors([(n, 12), (n, 12), (n, 9)], dtype)
    scores = tf.constant(np.round(np.random.default_rng(2).random(n), 1), dtype)  # with ties
    lists = native.lists(edges, n)
    assert_equal(
        lambda q, k_, v: native.hgao(q, k_, v, scores, lists, k),
        lambda q, k_, v: ops.hgao(q, k_, v, tf.cast(scores, q.dtype), tf.constant(edges), k, implementation="sparse"),
        arguments,
    )


@both_types
@all_graphs
@pytest.mark.parametrize("k", [1, 4, 70])
def test_topk_gao_is_the_sparse_one(name, dtype, k):
    edges, n = GRAPHS[name]
    arguments = tensors([(n, 10), (n, 10), (n, 8)], dtype)
    lists = native.lists(edges, n)
    assert_equal(
        lambda q, k_, v: native.topk_gao(q, k_, v, lists, k),
        lambda q, k_, v: ops.topk_gao(q, k_, v, tf.constant(edges), k, implementation="sparse"),
        arguments,
    )


@both_types
@all_graphs
@pytest.mark.parametrize(("normalization", "width"), [("sym", 48), ("row", 5), (None, 130)])
def test_gcn_is_the_sparse_one(name, dtype, normalization, width):
    edges, n = GRAPHS[name]
    lists = native.lists(edges, n)
    assert_equal(
        lambda h: native.gcn(h, lists, normalization),
        lambda h: ops.gcn(h, tf.constant(edges), normalization, "sparse"),
        tensors([(n, width)], dtype),
    )


@pytest.mark.parametrize("n", [12, 40, 41, 90])  # up to 40 all are compared with all, above it is bisection
def test_equal_scores_of_pairs_go_to_the_smaller_index(n):
    """A key's score must not depend on where it stands among the others, or ties would be decided by rounding."""
    edges = np.stack([np.arange(1, n), np.zeros(n - 1)], 1).astype("int32")
    query, key = tensors([(n, 19), (1, 19)], tf.float32, seed=5)
    values = tf.eye(n)
    chosen = native.topk_gao(query, tf.repeat(key, n, axis=0), values, native.lists(edges, n), 7)
    assert np.flatnonzero(chosen[0].numpy()).tolist() == list(range(7))


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64])
def test_the_best_are_chosen_whatever_the_length_of_a_row(dtype):
    """Scores with many ties, at lengths on both sides of every vector and of the change from one way to the other."""
    rng = np.random.default_rng(0)
    for n in [*range(2, 20), 31, 32, 33, 39, 40, 41, 42, 64]:
        edges = np.stack([np.arange(1, n), np.zeros(n - 1)], 1).astype("int32")
        scores = rng.integers(-3, 3, n).astype("float32")
        for k in {1, 2, n // 2, n - 1}:
            out = native.hgao(None, None, tf.eye(n, dtype=dtype), tf.constant(scores, dtype), native.lists(edges, n), k)
            best = np.sort(np.argsort(-scores, kind="stable")[:k])
            assert np.flatnonzero(out[0].numpy()).tolist() == best.tolist(), (n, k)


def test_nan_scores_rank_last():
    n = 6
    edges = np.stack([np.arange(1, n), np.zeros(n - 1)], 1).astype("int32")
    scores = tf.constant([np.nan, -1.0, np.nan, -np.inf, np.inf, -0.0])
    out = native.hgao(None, None, tf.eye(n), scores, native.lists(edges, n), 4)
    assert np.flatnonzero(out[0].numpy()).tolist() == [0, 1, 4, 5]  # -inf counts as NaN does
    pure = ops.hgao(None, None, tf.eye(n), scores, tf.constant(edges), 4, score="uniform", implementation="sparse")
    np.testing.assert_array_equal(out, pure)


def test_a_nan_in_the_features_stays_in_its_graph():
    graphs = SPECIAL["several_graphs"]
    q, k, v = tensors([(graphs.num_nodes, 6)] * 3, tf.float32)
    k = tf.tensor_scatter_nd_update(k, [[0, 0]], [np.nan])
    out = native.gao(q, k, v, native.lists(graphs.edges, graphs.num_nodes)).numpy()
    assert np.isnan(out[:2]).all() and np.isfinite(out[2:]).all()


@both_types
@pytest.mark.parametrize("kind", ["gao", "hgao", "topk_gao"])
def test_heads_are_a_loop_over_single_heads(dtype, kind):
    edges, n = GRAPHS["untidy"]
    heads, lists = 3, native.lists(edges, n)
    arguments = tensors([(n, heads * 5), (n, heads * 5), (n, heads * 4)], dtype)
    scores = tensors([(n,)], dtype, seed=8)[0]
    extra = {"gao": [lists], "hgao": [scores, lists, 4], "topk_gao": [lists, 4]}[kind]
    function = getattr(native, kind)

    def loop(*arguments):
        parts = [tf.split(t, heads, axis=1) for t in arguments]
        options = [tf.cast(o, arguments[0].dtype) if o is scores else o for o in extra]
        return tf.concat([function(*head, *options) for head in zip(*parts, strict=True)], axis=1)

    assert_equal(lambda *a: function(*a, *extra, heads=heads), loop, arguments)


@both_types
def test_edge_weights_multiply_the_scores_of_gao(dtype):
    edges, n = GRAPHS["untidy"]
    weights = np.round(np.random.default_rng(1).random(len(edges)) * 3, 2).astype("float32")
    a, mask = adjacency(edges, n, weights)
    lists = native.lists(edges, n, tf.constant(weights, dtype))
    assert_equal(
        lambda q, k, v: native.gao(q, k, v, lists),
        lambda q, k, v: dense_attention(q, k, v, a, mask),
        tensors([(n, 6), (n, 6), (n, 5)], dtype),
    )


@both_types
def test_edge_weights_rank_and_do_not_score_in_hgao(dtype):
    edges, n = GRAPHS["untidy"]
    rng = np.random.default_rng(1)
    weights, scores = (rng.random(count).astype("float32") * 3 for count in (len(edges), n))
    a, mask = adjacency(edges, n, weights)
    kept = largest(a * scores, mask, 4)
    lists = native.lists(edges, n, tf.constant(weights, dtype))
    assert_equal(
        lambda q, k, v: native.hgao(q, k, v, tf.constant(scores, dtype), lists, 4),
        lambda q, k, v: dense_attention(q, k, v, np.ones_like(a), kept),
        tensors([(n, 6), (n, 6), (n, 5)], dtype),
    )


@both_types
def test_edge_weights_rank_and_score_in_topk_gao(dtype):
    edges, n = GRAPHS["untidy"]
    weights = np.round(np.random.default_rng(1).random(len(edges)) * 3, 2).astype("float32")
    a, mask = adjacency(edges, n, weights)
    lists = native.lists(edges, n, tf.constant(weights, dtype))
    q, k, v = tensors([(n, 6), (n, 6), (n, 5)], dtype)
    kept = largest(a * (q.numpy() @ k.numpy().T), mask, 4)
    assert_equal(
        lambda q, k, v: native.topk_gao(q, k, v, lists, 4),
        lambda q, k, v: dense_attention(q, k, v, a, kept),
        [q, k, v],
    )


@both_types
@pytest.mark.parametrize("normalization", ["sym", "row", None])
def test_edge_weights_in_gcn(dtype, normalization):
    edges, n = GRAPHS["untidy"]
    weights = np.round(np.random.default_rng(1).random(len(edges)) * 3, 2).astype("float32")
    a, _ = adjacency(edges, n, weights)
    degrees = a.sum(1)
    if normalization == "sym":
        a = a / np.sqrt(degrees[:, None] * degrees)
    elif normalization == "row":
        a = a / degrees[:, None]
    lists = native.lists(edges, n, tf.constant(weights, dtype))
    assert_equal(
        lambda h: native.gcn(h, lists, normalization), lambda h: tf.constant(a, h.dtype) @ h, tensors([(n, 21)], dtype)
    )


@both_types
def test_uniform_weights_are_a_mean_over_the_chosen(dtype):
    edges, n = GRAPHS["untidy"]
    scores = np.random.default_rng(4).random(n)
    kept = largest(np.broadcast_to(scores, (n, n)), adjacency(edges, n)[1], 4)
    mean = kept / kept.sum(1, keepdims=True)
    lists = native.lists(edges, n)
    assert_equal(
        lambda v: native.hgao(None, None, v, tf.constant(scores, dtype), lists, 4),
        lambda v: tf.constant(mean, v.dtype) @ v,
        tensors([(n, 11)], dtype),
    )


@both_types
@pytest.mark.parametrize("loops", [True, False])
@pytest.mark.parametrize("aggregator", ["sum", "mean", "max"])
@pytest.mark.parametrize("name", ["isolated_node_between", "several_graphs", "hub", "untidy"])
def test_aggregators_of_neighbors(dtype, loops, aggregator, name):
    edges, n = GRAPHS[name]
    _, mask = adjacency(edges, n)
    if not loops:
        np.fill_diagonal(mask, False)
    some = mask.any(1)

    def oracle(x):
        if aggregator == "max":
            rows, columns = np.nonzero(mask)
            found = tf.math.unsorted_segment_max(tf.gather(x, columns), rows, n)
            return tf.where(some[:, None], found, tf.zeros_like(found))
        total = tf.constant(mask, x.dtype) @ x
        return total if aggregator == "sum" else total / np.maximum(mask.sum(1), 1)[:, None]

    lists = native.lists(edges, n)

    def function(x):
        if aggregator == "max":
            return native.neighbor_max(x, lists, loops=loops)
        return native.neighbor_sum(x, lists, "row" if aggregator == "mean" else None, loops=loops)

    x = tf.round(tensors([(n, 13)], dtype)[0] * 4)  # ties share the gradient of a maximum
    assert_equal(function, oracle, [x])


@both_types
@pytest.mark.parametrize("sizes", [[1], [3, 1, 5], [1500, 2, 2600], [4, 0, 0, 3]], ids=str)
def test_segments_are_those_of_tensorflow(dtype, sizes):
    ids = np.repeat(np.arange(len(sizes)), sizes).astype("int32")
    segments = native.segments(ids, len(ids))
    x = tf.round(tensors([(len(ids), 6)], dtype)[0] * 8) / 4
    for ours, theirs in [
        (native.segment_sum, tf.math.segment_sum),
        (native.segment_mean, tf.math.segment_mean),
        (native.segment_max, tf.math.segment_max),
    ]:
        assert_equal(lambda x, ours=ours: ours(x, segments), lambda x, theirs=theirs: theirs(x, ids), [x])

    def softmax(x):
        largest = tf.stop_gradient(tf.math.segment_max(x, ids))
        e = tf.exp(x - tf.gather(largest, ids))
        return e / tf.gather(tf.math.segment_sum(e, ids), ids)

    assert_equal(lambda x: native.segment_softmax(x, segments), softmax, [x])


@both_types
def test_dropped_weights_are_the_same_in_the_gradient(dtype):
    edges, n = GRAPHS["untidy"]
    lists, options = native.lists(edges, n), {"heads": 2, "dropout": 0.25, "dropout_seed": [3, 9]}
    q, k, v = tensors([(n, 12), (n, 12), (n, 8)], dtype)
    both = tf.eye(n, dtype=dtype)
    alpha = native.gao(q, k, tf.concat([both, both], 1), lists, heads=2).numpy()
    dropped = native.gao(q, k, tf.concat([both, both], 1), lists, **options).numpy()
    factor = np.where(alpha > 0, dropped / np.where(alpha > 0, alpha, 1), 0)
    np.testing.assert_allclose(factor[dropped > 0], 4 / 3, rtol=1e-5)
    assert 0.68 < (dropped > 0).sum() / (alpha > 0).sum() < 0.82
    _, mask = adjacency(edges, n)

    def oracle(q, k, v):
        heads = []
        for h in range(2):
            scores = tf.matmul(q[:, 6 * h : 6 * h + 6], k[:, 6 * h : 6 * h + 6], transpose_b=True)
            soft = tf.nn.softmax(tf.where(mask, scores, tf.constant(-np.inf, q.dtype)))
            kept = np.where(factor[:, n * h : n * h + n] > 0, 4 / 3, 0)
            heads.append((soft * tf.constant(kept, q.dtype)) @ v[:, 4 * h : 4 * h + 4])
        return tf.concat(heads, 1)

    assert_equal(lambda *a: native.gao(*a, lists, **options), oracle, [q, k, v])
    other = native.gao(q, k, tf.concat([both, both], 1), lists, **{**options, "dropout_seed": [3, 8]})
    assert not np.array_equal(dropped, other)


def test_compiled_is_eager_to_the_bit():
    edges, n = GRAPHS["untidy"]
    arguments = tensors([(n, 16), (n, 16), (n, 16)], tf.float32)
    scores = tensors([(n,)], tf.float32, seed=1)[0]

    def function(q, k, v):
        lists = native.lists(edges, n)
        return native.gcn(native.hgao(q, k, v, scores, lists, 4) + native.gao(q, k, v, lists), lists)

    for eager, compiled in zip(results(function, arguments), results(function, arguments, compiled=True), strict=True):
        np.testing.assert_array_equal(eager, compiled)


def test_lists_made_eagerly_serve_a_compiled_function():
    edges, n = GRAPHS["untidy"]
    lists = native.lists(edges, n)
    arguments = tensors([(n, 16)], tf.float32)
    for eager, compiled in zip(
        results(lambda h: native.gcn(h, lists), arguments),
        results(lambda h: native.gcn(h, lists), arguments, compiled=True),
        strict=True,
    ):
        np.testing.assert_array_equal(eager, compiled)


def test_the_tape_may_be_outside_of_the_compiled_function():
    edges, n = GRAPHS["untidy"]
    function = tf.function(lambda h: native.gcn(h, native.lists(edges, n)))
    arguments = tensors([(n, 16)], tf.float64)
    assert_equal(function, lambda h: ops.gcn(h, tf.constant(edges), implementation="sparse"), arguments)


def test_static_shapes_are_kept():
    @tf.function(input_signature=[tf.TensorSpec([None, 6]), tf.TensorSpec([None, 2], tf.int32)])
    def function(x, edges):
        lists = native.lists(edges, tf.shape(x)[0])
        shapes.extend(t.shape.as_list() for t in (native.gao(x, x, x, lists), native.gcn(x, lists)))
        return x

    shapes = []
    function.get_concrete_function()
    assert shapes == [[None, 6], [None, 6]]


@modest
@given(graphs=graph_batches(), k=st.integers(1, 8), width=st.integers(1, 9), wide=st.booleans())
def test_any_graph(graphs, k, width, wide):
    n, edges = graphs.num_nodes, graphs.edges.astype("int64" if wide else "int32")
    arguments = tensors([(n, width), (n, width), (n, width + 2)], tf.float64)
    scores = tf.constant(np.round(graphs.x[:, 0], 0))
    lists = native.lists(edges, n)
    assert_equal(
        lambda q, k_, v: native.hgao(q, k_, v, scores, lists, k),
        lambda q, k_, v: ops.hgao(q, k_, v, scores, tf.constant(edges), k, implementation="sparse"),
        arguments,
    )
    assert_equal(
        lambda h: native.gcn(h, lists), lambda h: ops.gcn(h, tf.constant(edges), implementation="sparse"), arguments[:1]
    )


def test_nodes_without_edges_and_no_nodes_at_all():
    for n in (0, 3):
        graphs = batch([[]], [n])
        for weights in (None, tf.zeros([0])):
            lists = native.lists(graphs.edges, n, weights)
            x = tf.ones([n, 4])
            for out in (
                native.gao(x, x, x, lists),
                native.hgao(x, x, x, x[:, 0], lists, 2),
                native.topk_gao(x, x, x, lists, 2),
                native.gcn(x, lists),
                native.neighbor_max(x, lists),
                native.segment_softmax(x, native.segments(tf.range(n), n)),
            ):
                np.testing.assert_array_equal(out, x)
