"""What "auto" and "native" come to, and that the lists of the native way are made once."""

import re

import keras
import numpy as np
import pytest
import tensorflow as tf

from ganet_tf import layers, models, native, ops
from ganet_tf.native import library
from ganet_tf.ops.implementations import chosen, neighbor_lists
from tests.graphs import SPECIAL
from tests.native.compare import needs_kernels

GRAPHS = SPECIAL["several_graphs"]
X, EDGES = tf.constant(GRAPHS.x, tf.float32), tf.constant(GRAPHS.edges)


@needs_kernels
def test_auto_is_native_where_it_can_be():
    assert (chosen("auto"), chosen("native")) == ("native", "native")
    assert (chosen("sparse"), chosen("dense")) == ("sparse", "dense")
    with native.disabled():
        assert (chosen("auto"), chosen("native")) == ("sparse", "sparse")
    assert chosen("auto", tf.ones([1], tf.float16)) == "sparse"


def test_native_that_is_not_there_says_why_and_auto_does_without(monkeypatch):
    monkeypatch.setenv("GANET_NATIVE", "0")
    assert chosen("auto") == "sparse"
    layer = layers.HGAO(4, k=2, implementation="native")
    with pytest.raises(RuntimeError, match=r'"native" is not possible here: GANET_NATIVE=0 .* Use "auto" or "sparse"'):
        layer(X, EDGES)


def test_an_unknown_word_is_told():
    with pytest.raises(ValueError, match="Did you mean 'native'"):
        layers.GCN(2, implementation="nativ")
    with pytest.raises(ValueError, match="must be one of 'auto', 'native', 'sparse', but is 'dense'"):
        layers.SumPooling("dense")


@needs_kernels
def test_another_device_takes_the_sparse_way_unless_native_is_asked_for(monkeypatch):
    monkeypatch.setattr(library, "_other_devices", lambda: True)
    assert (chosen("auto"), chosen("native")) == ("sparse", "native")


def network():
    inputs = {"x": keras.Input((3,), name="x"), "edges": keras.Input((2,), dtype="int32", name="edges")}
    h = layers.GAM(4, k=2)(inputs["x"], inputs["edges"])
    return keras.Model(inputs, layers.GCN(2)(h, inputs["edges"]))


def kinds(function):
    """The types of all ops of a traced function, also in functions that it calls."""
    graph = function.graph.as_graph_def()
    return [node.op for nodes in (graph.node, *(f.node_def for f in graph.library.function)) for node in nodes]


@needs_kernels
def test_one_list_serves_all_layers_of_a_step_and_no_other_lists_are_made():
    model = network()

    @tf.function(input_signature=[tf.TensorSpec([None, 3]), tf.TensorSpec([None, 2], tf.int32)])
    def step(x, edges):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(model({"x": x, "edges": edges}) ** 2)
        return tape.gradient(loss, [w.value for w in model.trainable_variables])

    found = kinds(step.get_concrete_function())
    counts = {kind: found.count(kind) for kind in ("GanetLists", "GanetAttend", "GanetAttendGrad", "GanetProduct")}
    assert list(counts.values()) == [1, 1, 1, 4], counts
    assert "SparseMatrixMatMul" not in found and "Assert" not in found


@needs_kernels
def test_lists_are_kept_on_the_tensor_and_made_anew_for_other_nodes_or_weights():
    lists = neighbor_lists(EDGES, len(GRAPHS.x))
    assert neighbor_lists(EDGES, len(GRAPHS.x)) is lists
    assert neighbor_lists(EDGES, len(GRAPHS.x) + 1) is not lists
    weights = tf.ones([len(EDGES)])
    weighted = neighbor_lists(EDGES, len(GRAPHS.x), weights)
    assert weighted.weights is not None and neighbor_lists(EDGES, len(GRAPHS.x), weights) is weighted
    assert neighbor_lists(tf.identity(EDGES), len(GRAPHS.x), weights) is not weighted


@needs_kernels
@pytest.mark.parametrize("way", ["auto", "native"])
def test_what_is_exported_serves_without_native_kernels(tmp_path, way):
    """Whether it is a model of ours or one of the user's own, made of our layers."""
    ours = models.GraphClassifier(2, num_modules=1, sort_pooling_k=10, implementation=way, num_features=3)
    for name, model in {"ours": ours, "theirs": network()}.items():
        model.export(tmp_path / name, verbose=False)
        served = tf.saved_model.load(tmp_path / name).signatures["serving_default"]
        assert not any(kind.startswith("Ganet") for kind in kinds(served))


@needs_kernels
def test_xla_takes_the_sparse_way():
    graph = tf.function(lambda x: ops.gcn(x, EDGES), jit_compile=True).get_concrete_function(X).graph
    assert not any(op.type.startswith("Ganet") for op in graph.get_operations())


@needs_kernels
@pytest.mark.parametrize("layer", [layers.GAO, layers.HGAO, layers.TopKGAO])
def test_dropped_attention_weights_are_a_share_and_the_same_for_a_seed(layer):
    """Values are the identity in both heads, so that the output is the attention itself."""
    n = 60
    edges = tf.constant(np.argwhere(np.ones((n, n))), tf.int32)
    options = {layers.GAO: {}, layers.HGAO: {"k": n, "gate": None}, layers.TopKGAO: {"k": n}}[layer]

    def attention(seed, training=True):
        made = layer(n, score="uniform", heads=2, attention_dropout=0.25, seed=seed, **options)
        made.build((None, n), (None, 2))
        made.value_kernel.assign(np.tile(np.eye(n), 2))
        return made(tf.eye(n), edges, training=training).numpy()

    whole, dropped = attention(1, training=False), attention(1)
    np.testing.assert_array_equal(dropped, attention(1))
    assert not np.array_equal(dropped, attention(2))
    assert 0.22 < np.mean(dropped == 0) < 0.28
    np.testing.assert_allclose(dropped[dropped > 0], (whole / 0.75)[dropped > 0], rtol=1e-5)
    first, second = np.split(dropped == 0, 2, axis=1)
    assert not np.array_equal(first, second), "each head drops on its own"


@needs_kernels
def test_a_compiled_step_names_the_edge_and_the_graph_id():
    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.int32), tf.TensorSpec([None], tf.int32)])
    def step(edges, ids):
        return ops.sum_pooling(ops.gcn(X, edges), ids)

    n = len(GRAPHS.x)
    ids = tf.zeros([n], tf.int32)
    step(EDGES, ids)
    for arguments, text in [
        (([[0, n]], ids), f"`edges` row 0 is [0, {n}], but `x` has {n} nodes"),
        ((EDGES, ids[1:]), f"`graph_ids` has {n - 1} entries, but `x` has {n} nodes"),
        ((EDGES, tf.concat([ids[1:], [10**6]], 0)), f"goes up to 1000000 for {n} nodes"),
    ]:
        with pytest.raises(tf.errors.InvalidArgumentError, match=re.escape(text)):
            step(*map(tf.constant, arguments))
