"""Layer by layer is what the whole graph in one step gives, in memory that does not depend on the edges."""

import doctest
import itertools
import subprocess
import sys

import keras
import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from ganet_tf import layers, models
from ganet_tf.data import NodeDataset
from ganet_tf.errors import DataFormatError
from ganet_tf.models import layerwise, neighbor_chunks
from ganet_tf.models.neighbor_chunks import NeighborChunks, largest
from tests.graphs import SPECIAL, graph_batches, hub, modest, neighbors

OPERATORS = ("hgao", "gao", "topk", "sampled", "cgao", "linear")
CLOSE = {"float32": {"rtol": 1e-5, "atol": 1e-5}, "float64": {"rtol": 1e-10, "atol": 1e-10}}


def random_graph(nodes=120, edges=900, features=7, seed=0, dtype="float32"):
    rng = np.random.default_rng(seed)
    return {
        "x": rng.normal(size=(nodes, features)).astype(dtype),
        "edges": rng.integers(0, nodes, size=(edges, 2)).astype("int32"),
    }


def assert_layerwise_is_whole(model, inputs, entries=100, **options):
    whole = model(inputs).numpy()
    result = models.predict_layerwise(model, inputs, entries=entries, **options)
    assert type(result) is np.ndarray and result.dtype == whole.dtype
    np.testing.assert_allclose(result, whole, **CLOSE[whole.dtype.name])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("operator", OPERATORS)
def test_node_classifier(operator, dtype):
    keras.utils.set_random_seed(1)
    model = models.NodeClassifier(4, operator, k=3, num_modules=2, units=12, module_units=5, dtype=dtype)
    assert_layerwise_is_whole(model, random_graph(dtype=dtype))


@pytest.mark.parametrize(
    ("operator", "options"),
    [
        ("hgao", {"skip": "gcn", "scale": "sqrt", "activation": "elu"}),
        ("gao", {"normalization": "row", "scale": 0.3, "units": 5}),
        ("topk", {"normalization": None, "activation": "tanh", "k": 1}),
        ("cgao", {"scale": "mean"}),
        ("cgao", {"scale": "sqrt", "units": 5}),
        ("sampled", {"skip": "gcn", "normalization": "row"}),
        (layers.HGAO(6, k=2, use_bias=True, bias_initializer="ones", activation="relu"), {}),
        ("hgao", {"heads": 2, "gate": "double", "skip": "both", "embedding": "dense"}),
        ("hgao", {"score": "cosine", "heads": 2, "concat": False, "scale": "sqrt", "out": "dense"}),
        ("hgao", {"score": "uniform", "gate": None, "k": 3}),
        ("gao", {"score": "cosine", "heads": 2, "embedding": "dense", "out": "dense"}),
        ("gao", {"score": "uniform", "heads": 2}),
        ("topk", {"score": "uniform", "heads": 2, "k": 2}),
        ("topk", {"score": "cosine", "k": 2, "skip": "both"}),
        ("cgao", {"heads": 2, "scale": "mean"}),
    ],
)
def test_options_of_a_ganet(operator, options):
    keras.utils.set_random_seed(2)
    model = models.GANet(operator=operator, **{"units": 12, "num_modules": 1, "out_units": 9, **options})
    assert_layerwise_is_whole(model, random_graph())


@pytest.mark.parametrize("operator", OPERATORS)
def test_edge_weights(operator):
    """With repeated edges and loops among them."""
    keras.utils.set_random_seed(5)
    inputs = random_graph(dtype="float64")
    inputs["edge_weights"] = np.random.default_rng(0).uniform(0, 2, len(inputs["edges"]))
    for options in ({}, {"score": "uniform", "heads": 2}):
        model = models.NodeClassifier(4, operator, k=3, num_modules=1, units=12, dtype="float64", **options)
        assert_layerwise_is_whole(model, inputs)


@pytest.mark.parametrize("cls", [models.GCN, models.GAT])
def test_edge_weights_of_baselines(cls):
    inputs = random_graph(dtype="float64")
    inputs["edge_weights"] = np.random.default_rng(0).uniform(0, 2, len(inputs["edges"]))
    assert_layerwise_is_whole(cls(4, dtype="float64"), inputs)


def test_edge_weights_of_another_length():
    with pytest.raises(ValueError, match=r"`edge_weights` must have shape \(900,\), as many as `edges`"):
        models.predict_layerwise(models.GCN(2), {**random_graph(), "edge_weights": np.ones(3)})


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("cls", [models.GCN, models.GAT])
def test_baselines(cls, dtype):
    keras.utils.set_random_seed(3)
    assert_layerwise_is_whole(cls(4, dtype=dtype), random_graph(dtype=dtype))


@pytest.mark.parametrize("name", SPECIAL)
def test_special_graphs(name):
    keras.utils.set_random_seed(4)
    graph = SPECIAL[name]
    inputs = {"x": graph.x.astype("float64"), "edges": graph.edges}
    for operator in ("hgao", "gao"):
        model = models.NodeClassifier(2, operator, k=2, num_modules=1, dtype="float64")
        assert_layerwise_is_whole(model, inputs, entries=300 if name == "hub" else 3)


def test_the_size_of_the_pieces_does_not_matter():
    model, inputs = models.NodeClassifier(4, num_modules=1, k=3), random_graph()
    results = [models.predict_layerwise(model, inputs, entries=e, workers=w) for e, w in ((1, 3), (37, 1), (10**6, 2))]
    np.testing.assert_allclose(results[1], results[0], rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(results[2], results[0], rtol=1e-4, atol=1e-6)


def test_ties_go_to_the_smaller_node():
    inputs = random_graph(40, 300)
    inputs["x"] = np.repeat(inputs["x"][:4], 10, axis=0)  # ten nodes of each kind
    assert_layerwise_is_whole(models.NodeClassifier(4, k=2, num_modules=1), inputs, entries=30)


def test_datasets_nodes_files_and_models_without_weights(tmp_path):
    graph = random_graph()
    ds = NodeDataset(graph["edges"], graph["x"], np.arange(120) % 3)
    model = models.NodeClassifier(3, num_modules=1)
    result = models.predict_layerwise(model, ds, folder=tmp_path)
    assert model.built and list(tmp_path.iterdir()) == []
    np.testing.assert_allclose(result, model.predict(ds.batches("all"), verbose=0), **CLOSE["float32"])
    nodes = np.array([7, 3, 3], "int32")
    few = models.predict_layerwise(model, {"x": tf.constant(ds.x), "edges": tf.constant(ds.edges), "nodes": nodes})
    np.testing.assert_array_equal(few, result[nodes])


def test_half_precision_is_computed_in_float32():
    model = models.NodeClassifier(3, num_modules=1, dtype="mixed_float16")
    result = models.predict_layerwise(model, random_graph())
    assert result.dtype == np.float32
    np.testing.assert_allclose(result, model(random_graph()), rtol=0.05, atol=0.05)


def test_errors():
    graph = random_graph()
    with pytest.raises(TypeError, match="GraphClassifier: call the model on the whole graph"):
        models.predict_layerwise(models.GraphClassifier(2, sort_pooling_k=10), graph)
    for other in (models.Chebyshev(2), models.Planetoid(2, 5), models.DeepWalk(2, 5)):
        with pytest.raises(TypeError, match=f"this is a {type(other).__name__}: call the model on the whole graph"):
            models.predict_layerwise(other, graph)
    with pytest.raises(ValueError, match=r"'edge'.*Did you mean 'edges'"):
        models.predict_layerwise(models.GCN(2), {"x": graph["x"], "edges": graph["edges"], "edge": 1})
    with pytest.raises(ValueError, match="`edges` names the nodes 0 to 500, but `x` has 120 nodes"):
        models.predict_layerwise(models.GCN(2), {"x": graph["x"], "edges": np.array([[0, 500]])})
    with pytest.raises(ValueError, match=r"shape \[edges, 2\]"):
        models.predict_layerwise(models.GCN(2), {"x": graph["x"], "edges": graph["edges"].T})
    with pytest.raises(ValueError, match="leave `graph_ids` out"):
        several = {**graph, "graph_ids": np.zeros(120, "int32")}
        models.predict_layerwise(models.NodeClassifier(2, "cgao", num_modules=1), several)


def test_an_operator_of_the_users_own_is_refused_by_name():
    @keras.saving.register_keras_serializable(package="test_layerwise")
    class Mine(layers.GAO):
        pass

    with pytest.raises(TypeError, match="is a Mine, but layer by layer go only GAM, GCN"):
        models.predict_layerwise(models.NodeClassifier(2, Mine(4), num_modules=1), random_graph())


@given(graph_batches(), st.integers(1, 12))
@modest
def test_chunks_hold_the_neighbour_lists(graph, entries):
    chunks = NeighborChunks.from_edges(graph.edges, graph.num_nodes, entries)
    assert [start for start, _ in chunks.bounds] == [0, *(stop for _, stop in chunks.bounds[:-1])]
    assert chunks.bounds[-1][1] == graph.num_nodes
    for start, stop in chunks.bounds:
        chunk = chunks.chunk(start, stop)
        assert len(chunk.columns) <= entries or stop == start + 1
        lists = [chunk.columns[a:b].tolist() for a, b in itertools.pairwise(chunk.splits)]
        assert lists == [neighbors(node, graph.edges) for node in range(start, stop)]


def test_the_largest_of_each_list():
    chunk = neighbor_chunks.Chunk(0, 3, np.arange(8), np.array([0, 1, 6, 8]))
    scores = np.array([5.0, 1, 3, 2, 3, 3, 0, -np.inf])
    assert largest(chunk, scores, 2).tolist() == [0, 2, 4, 6, 7]
    assert largest(chunk, scores, 1).tolist() == [0, 2, 6]
    assert largest(chunk, scores, 9).tolist() == list(range(8))


def test_a_hub_has_a_chunk_of_its_own():
    graph = hub(50)
    chunks = NeighborChunks.from_edges(graph.edges, graph.num_nodes, 10)
    assert chunks.bounds[0] == (0, 1) and len(chunks.chunk(0, 1).columns) == 51


@pytest.mark.parametrize("operator", layers.operator_names())
def test_no_nodes(operator, tmp_path):
    empty = {"x": np.zeros((0, 5), "float32"), "edges": np.zeros((0, 2), "int32")}
    model = models.NodeClassifier(3, operator, num_modules=1)
    assert models.predict_layerwise(model, empty, folder=tmp_path).shape == (0, 3)
    assert models.predict_layerwise(models.GAT(3), empty).shape == (0, 3)


def test_receptive_hops():
    assert models.receptive_hops(models.NodeClassifier(2, num_modules=4)) == 11
    assert models.receptive_hops(models.NodeClassifier(2, num_modules=4, normalization="row")) == 10
    assert models.receptive_hops(models.NodeClassifier(2, "cgao", num_modules=4)) == 7
    assert models.receptive_hops(models.NodeClassifier(2, num_modules=4, embedding="dense", out="dense")) == 8
    assert models.receptive_hops(models.GANet(num_modules=0, embedding="dense", out="dense")) == 0
    assert models.receptive_hops(models.GCN(2)) == 3 and models.receptive_hops(models.GAT(2)) == 2
    example = doctest.testmod(layerwise, extraglobs={"NodeClassifier": models.NodeClassifier})
    assert example.attempted == 1 and example.failed == 0


MEASURE = """
import sys
import numpy as np
from ganet_tf import models
from ganet_tf.profiling.graphs import simulated_edges, simulated_features
from ganet_tf.memory import peak_growth

model = models.NodeClassifier(4, num_modules=1)
model.build({"x": (None, 16), "edges": (None, 2)})
def graph(nodes, degree):
    return {"x": simulated_features(nodes, 16), "edges": simulated_edges(nodes, degree)}
def peak(graph):
    return peak_growth(lambda: models.predict_layerwise(model, graph, entries=2**15, workers=1))
peak(graph(1000, 4))
print(peak(graph(30_000, 8)), peak(graph(60_000, 8)), peak(graph(30_000, 32)))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the high-water mark is read from /proc")
def test_memory_is_linear_in_the_nodes_and_hardly_grows_with_the_edges():
    done = subprocess.run([sys.executable, "-c", MEASURE], capture_output=True, text=True, check=True, timeout=300)
    one, twice_the_nodes, four_times_the_edges = map(int, done.stdout.split())
    features = 30_000 * 4 * (48 + 48 + 16 + 64)  # what a module keeps: in, keys, values, out
    assert one < 2.5 * features + 20e6
    assert twice_the_nodes < 2.4 * one
    assert four_times_the_edges < one + 30e6  # each edge costs a few bytes of numbers, no features


def several_graphs():
    edges = [[0, 1], [1, 0], [2, 3], [3, 2]]
    return NodeDataset(edges, np.arange(8, dtype="float32").reshape(4, 2), [0, 1, 0, 1], graph_ids=[0, 0, 1, 1])


def test_a_data_set_of_several_graphs():
    """cGAO would take them for one; hGAO sees no more than neighbours."""
    ds = several_graphs()
    with pytest.raises(ValueError, match="cGAO layer by layer takes all nodes for one graph"):
        models.predict_layerwise(models.NodeClassifier(2, "cgao", num_modules=1), ds)
    model = models.NodeClassifier(2, "hgao", num_modules=1)
    ((inputs, _),) = ds.batches("all")
    np.testing.assert_allclose(models.predict_layerwise(model, ds), model(inputs), atol=1e-5)


@pytest.mark.parametrize("name, place, value", [("indices", 5, 99), ("indices", 5, -1), ("indptr", 9, 10**6)])
def test_a_damaged_file_is_named(name, place, value, tmp_path):
    ds = NodeDataset(np.random.default_rng(0).integers(0, 30, size=(90, 2)), np.ones((30, 2)), np.arange(30) % 2)
    arrays = {"indptr": ds.neighbors.indptr.copy(), "indices": ds.neighbors.indices.copy(), "x": ds.x, "y": ds.y}
    arrays[name][place] = value
    for each, array in arrays.items():
        np.save(tmp_path / f"{each}.npy", array)
    model = models.NodeClassifier(2, num_modules=1)
    with pytest.raises(DataFormatError, match=f"{name}.npy"):
        models.predict_layerwise(model, NodeDataset.from_folder(tmp_path), folder=tmp_path, out=tmp_path / "out.npy")
    assert not (tmp_path / "out.npy").exists()


@pytest.mark.parametrize("operator", ["hgao", "cgao"])
def test_from_files_to_files(operator, tmp_path):
    """A graph in mapped files, features of the layers in files, the result in a file: the numbers of the whole."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(50, 4)).astype("float32")
    ds = NodeDataset(rng.integers(0, 50, size=(300, 2)), x, np.arange(50) % 3)
    for name, array in (("indptr", ds.neighbors.indptr), ("indices", ds.neighbors.indices), ("x", x), ("y", ds.y)):
        np.save(tmp_path / f"{name}.npy", array)
    mapped = NodeDataset.from_folder(tmp_path)
    model = models.NodeClassifier(3, operator=operator, num_modules=1)
    logits = models.predict_layerwise(model, mapped, 60, folder=str(tmp_path), out=tmp_path / "logits.npy")
    assert isinstance(logits, np.memmap) and "edges" not in mapped.__dict__
    np.testing.assert_allclose(np.load(tmp_path / "logits.npy"), model({"x": x, "edges": ds.edges}), atol=1e-5)
    some = {"x": x, "edges": ds.edges, "nodes": [7, 3]}
    few = models.predict_layerwise(model, some, out=tmp_path / "few.npy")
    np.testing.assert_allclose(few, logits[[7, 3]], atol=1e-5)
