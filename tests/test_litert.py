"""LiteRT: every layer's padded form, run in the interpreter, gives what Keras gives, on graphs of any size."""

import re
from pathlib import Path

import keras
import numpy as np
import pytest
import tensorflow as tf

from ganet_tf import data, layers, litert, models

FEATURES, CLASSES, MOST = 4, 3, 12


def random_graph(nodes, seed=0, edges=None):
    """A graph with ties in its features, and where there is one a node without neighbours."""
    rng = np.random.default_rng(seed)
    pairs = rng.integers(0, max(nodes - 1, 1), (2 * nodes if edges is None else edges, 2))
    pairs = np.concatenate([pairs, pairs[:, ::-1]])
    return data.Graph(rng.integers(-1, 3, (nodes, FEATURES)).astype("float32"), pairs)


GRAPHS = [random_graph(1), random_graph(2, 1), random_graph(7, 2), random_graph(MOST, 3), random_graph(5, 4, edges=0)]


def randomized(model):
    """The built model with weights of some size, biases too: new biases are 0 and hide what padding does."""
    rng = np.random.default_rng(0)
    model.set_weights([rng.normal(scale=0.4, size=w.shape).astype("float32") for w in model.get_weights()])
    return model


def keras_answer(model, graph):
    inputs = {"x": graph.x, "edges": graph.edges, "graph_ids": np.zeros(len(graph.x), "int32")}
    known = getattr(model, "required", None) or [tensor.name for tensor in model.inputs]
    return model({name: inputs[name] for name in known}, training=False).numpy()


def check(model, graphs=GRAPHS):
    runner = litert.Runner(litert.convert(model, MOST))
    for graph in graphs:
        np.testing.assert_allclose(runner.predict(graph), keras_answer(model, graph), atol=1e-4, rtol=1e-4)
    return runner


SMALL = {"num_features": FEATURES, "units": 5, "module_units": 3}
BODY = {**SMALL, "num_modules": 2, "out_units": 6, "k": 2, "sort_pooling_k": 10}


@pytest.mark.parametrize(
    "options",
    [
        {"operator": "hgao"},
        {"operator": "hgao", "heads": 2, "score": "cosine", "gate": "double", "readout": "mean"},
        {"operator": "cgao", "scale": "mean", "heads": 2, "readout": "sum"},
        {"operator": "topk", "score": "uniform", "skip": "both", "readout": "max"},
        {"operator": "gao", "scale": "sqrt", "activation": "relu", "normalization": "row", "embedding": "dense"},
    ],
    ids=lambda options: options["operator"],
)
def test_graph_classifiers(options):
    check(randomized(models.GraphClassifier(CLASSES, **{**BODY, **options})))


def test_sort_pooling_of_more_nodes_than_there_can_be():
    check(randomized(models.GraphClassifier(CLASSES, **{**BODY, "operator": "cgao", "sort_pooling_k": 20})))


def test_nodes_are_cut_to_those_that_are_there():
    model = randomized(models.NodeClassifier(CLASSES, k=3, num_modules=1, **SMALL))
    assert check(model).predict(GRAPHS[2]).shape == (7, CLASSES)


def test_a_model_of_ones_own_with_gat():
    x, edges = keras.Input([FEATURES], name="x"), keras.Input([2], dtype="int32", name="edges")
    h = layers.GAT(4, heads=2, concat=False)(x, edges)
    check(randomized(keras.Model({"x": x, "edges": edges}, keras.layers.Dense(CLASSES)(h))))


def test_built_in_operations_alone_in_a_file_and_smaller_with_quantization(tmp_path):
    model = randomized(models.GraphClassifier(CLASSES, num_features=FEATURES, operator="cgao", num_modules=1))
    sizes = {}
    for kind in (None, "float16", "int8"):
        content = litert.convert(model, MOST, quantization=kind, path=tmp_path / f"{kind}.tflite")
        assert (tmp_path / f"{kind}.tflite").read_bytes() == content
        assert b"Flex" not in content
        sizes[kind] = len(content)
        answer = litert.Runner(tmp_path / f"{kind}.tflite").predict(GRAPHS[2])
        np.testing.assert_allclose(answer, keras_answer(model, GRAPHS[2]), atol=0.2, rtol=0.1)
    assert sizes["int8"] < sizes["float16"] < 0.7 * sizes[None]


@pytest.mark.parametrize("operator", ["cgao", "hgao"])
def test_onnx_as_the_docs_have_it(operator, tmp_path, monkeypatch):
    for package in ("tf2onnx", "onnxruntime"):
        pytest.importorskip(package, reason="no dependency of ours: pip install tf2onnx onnxruntime")
    monkeypatch.chdir(tmp_path)
    text = (Path(__file__).parents[1] / "docs" / "mobile.md").read_text(encoding="utf-8")
    model = randomized(models.GraphClassifier(CLASSES, **{**BODY, "operator": operator}))
    names = {"model": model, "litert": litert, "test": [GRAPHS[2]]}
    exec(re.search(r"## ONNX.*?```\n(.*?)```", text, re.DOTALL)[1], names)
    np.testing.assert_allclose(names["logits"], keras_answer(model, GRAPHS[2]), atol=1e-5)


def test_the_model_is_as_it_was_afterwards():
    model = randomized(models.GraphClassifier(CLASSES, **BODY))
    before = keras_answer(model, GRAPHS[3])
    litert.convert(model, MOST)
    assert "call" not in model.ganet.gams[0].attention.__dict__
    np.testing.assert_array_equal(keras_answer(model, GRAPHS[3]), before)


def test_what_is_refused():
    runner = litert.Runner(litert.convert(models.GraphClassifier(CLASSES, **BODY), max_nodes=4, max_edges=6))
    with pytest.raises(ValueError, match=r"7 nodes, .* takes up to 4 nodes and 6 edges, with 4 features"):
        runner.predict(GRAPHS[2])
    with pytest.raises(ValueError, match="has no weights yet"):
        litert.convert(models.GraphClassifier(2), max_nodes=4)
    with pytest.raises(ValueError, match="SAGEStack, which has no form for LiteRT"):
        model = models.GraphSAGE(2)
        model({"x": GRAPHS[2].x, "edges": GRAPHS[2].edges, "graph_ids": np.zeros(7, "int32")})
        litert.convert(model, max_nodes=4)
    with pytest.raises(ValueError, match="quantization"):
        litert.convert(models.GraphClassifier(CLASSES, **BODY), 4, quantization="int4")


def test_padding_edges_are_self_loops_and_count_once():
    graph = litert.padded(tf.constant([[1, 2], [1, 2], [0, 0]]), tf.constant(3), 4)
    expected = np.eye(4)
    expected[2, 1] = 1  # 2 attends to 1
    np.testing.assert_array_equal(graph.adjacency, expected)
    np.testing.assert_array_equal(graph.mask, [1, 1, 1, 0])
