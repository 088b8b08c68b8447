import keras
import numpy as np
import pytest
import scipy.sparse as sp
import tensorflow as tf

from ganet_tf.data import NodeDataset
from ganet_tf.errors import DataFormatError

ADJACENCY = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]])
EDGES = [[1, 0], [0, 1], [2, 1], [1, 2]]
X = np.arange(8.0).reshape(4, 2)
Y = np.array([0, 1, 2, 1])


def make(adjacency=ADJACENCY, x=X, y=Y, train=(0,), val=(1,), test=(2, 3), **options):
    return NodeDataset(adjacency, x, y, np.array(train), np.array(val), np.array(test), **options)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix, sp.coo_array, sp.csc_array])
def test_any_matrix_gives_the_same_edges(form):
    ds = make(form(ADJACENCY))
    np.testing.assert_array_equal(ds.edges, EDGES)
    assert ds.edges.dtype == np.int32
    assert (ds.num_nodes, ds.num_features, ds.num_classes) == (4, 2, 3)


def test_rows_are_sources_and_columns_targets():
    np.testing.assert_array_equal(make(sp.csr_array(([1], ([0], [3])), shape=(4, 4))).edges, [[0, 3]])


def test_edge_lists_stored_zeros_and_sparse_features():
    np.testing.assert_array_equal(make(np.array(EDGES)).edges, EDGES)
    zeros = sp.csr_array((np.array([0.0, 1.0]), (np.array([0, 1]), np.array([1, 0]))), shape=(4, 4))
    np.testing.assert_array_equal(make(zeros, x=sp.csr_array(X)).edges, [[1, 0]])
    np.testing.assert_array_equal(make(zeros, x=sp.csr_array(X)).x.toarray(), X)


def test_batches_hold_the_nodes_of_a_split():
    ds = make()
    batches = ds.batches("test")
    assert batches.cardinality() == 1
    inputs, y = next(iter(batches))
    assert set(inputs) == {"x", "edges", "nodes"}
    assert [inputs[name].dtype for name in ("x", "edges", "nodes")] == [tf.float32, tf.int32, tf.int32]
    np.testing.assert_array_equal(inputs["nodes"], [2, 3])
    np.testing.assert_array_equal(y, [2, 1])
    np.testing.assert_array_equal(next(iter(ds.batches("all")))[1], Y)


def test_batches_with_sample_weight():
    inputs, y, weights = next(iter(make().batches("test", sample_weight=True)))
    assert set(inputs) == {"x", "edges"} and y.shape == (4,)
    np.testing.assert_array_equal(weights, [0, 0, 1, 1])


def test_keras_fits_both_forms():
    class Model(keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = keras.layers.Dense(3)

        def call(self, inputs):
            z = self.dense(inputs["x"])
            return tf.gather(z, inputs["nodes"]) if "nodes" in inputs else z

    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="mean_with_sample_weight")
    losses = []
    for sample_weight in (False, True):
        keras.utils.set_random_seed(0)
        model = Model()
        model.compile("sgd", loss=loss)
        batches = make().batches("train", sample_weight=sample_weight)
        losses += model.fit(batches, epochs=1, shuffle=False, verbose=0).history["loss"]
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)


def test_masks_in_both_forms():
    mask = np.array([True, False, True, False])
    np.testing.assert_array_equal(NodeDataset(ADJACENCY, X, Y, mask).nodes("train"), [0, 2])
    np.testing.assert_array_equal(NodeDataset(ADJACENCY, X, Y, np.array([2, 0])).nodes("train"), [0, 2])


def test_row_normalisation_leaves_rows_of_zeros():
    ds = make(x=np.array([[1.0, 3], [0, 0], [2, 2], [0, 5]]), normalize_features="row")
    np.testing.assert_allclose(ds.x, [[0.25, 0.75], [0, 0], [0.5, 0.5], [0, 1]])


def test_with_features():
    ds = make().with_features("attributes+degree")
    np.testing.assert_array_equal(ds.x, np.hstack([X, np.eye(3)[[1, 2, 1, 0]]]))
    assert ds.num_features == 5 and next(iter(ds.batches("train")))[0]["x"].shape == (4, 5)


def test_statistics_and_repr():
    assert make().statistics()["edges"] == 2 and make().statistics()["test"] == 2
    assert "train/val/test=1/1/2" in repr(make())


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"x": np.full((4, 2), np.nan)}, "NaN or infinite"),
        ({"x": np.zeros((0, 2)), "y": np.zeros(0, int)}, "no nodes"),
        ({"adjacency": np.eye(3)}, r"\(3, 3\).*4 rows"),
        ({"adjacency": np.array([[0, 4]])}, "node 4"),
        ({"y": Y[:3]}, "one class for each of the 4 nodes"),
        ({"y": Y - 1}, "train_mask has 1 nodes whose target is unknown"),
        ({"y": Y - 2}, "integers from 0"),
        ({"y": np.array([0.5, 1, np.nan, 2])}, "test_mask has 1 nodes whose target is unknown"),
        ({"y": np.array([0.5, 1, np.inf, 2])}, "infinite"),
        ({"adjacency": np.array([[0, 1, 2], [1, 2, 0]])}, "edge_index .2, E. goes to NodeDataset.from_edge_index"),
        ({"adjacency": -ADJACENCY}, "not negative"),
        ({"adjacency": np.array(EDGES), "edge_weights": [1, 2]}, "each of the 4 edges"),
        ({"edge_weights": [1, 2]}, "belong to a list of edges"),
        ({"x": sp.csr_array(np.full((4, 2), np.nan))}, "NaN or infinite values, the first in row 0"),
        ({"num_classes": 2}, "num_classes is 2"),
        ({"train": (4,)}, "train_mask"),
        ({"val": (True, False)}, "val_mask"),
        ({"normalize_features": "column"}, "normalize_features"),
    ],
)
def test_bad_arguments(changes, words):
    with pytest.raises(DataFormatError, match=words):
        make(**changes)


def test_unknown_and_empty_splits():
    with pytest.raises(DataFormatError, match="did you mean 'train'"):
        make().batches("training")
    with pytest.raises(DataFormatError, match="has no nodes: give val_mask"):
        NodeDataset(ADJACENCY, X, Y).batches("val")


def test_edge_weights_come_along():
    weights = np.array([1.0, 2, 3, 4])
    for element in make(np.array(EDGES), edge_weights=weights).batches("train"):
        np.testing.assert_array_equal(element[0]["edge_weights"], [1, 2, 3, 4])
    assert "edge_weights" not in next(iter(make().batches("train")))[0]


def test_sparse_features_in_batches():
    ds = make(x=sp.csr_array(X))
    inputs, _ = next(iter(ds.batches("train")))
    assert isinstance(inputs["x"], tf.SparseTensor) and inputs["x"].dtype == tf.float32
    np.testing.assert_array_equal(tf.sparse.to_dense(inputs["x"]), X)
    np.testing.assert_array_equal(next(iter(ds.batches("train", sparse=False)))[0]["x"], X)
    sampled = next(iter(ds.sampled_batches(2, 1)))[0]["x"]
    assert not isinstance(sampled, tf.SparseTensor) and sampled.shape[1] == 2


def test_targets_of_every_kind():
    numbers = make(y=np.array([0.5, 1, 2, 3]))
    assert numbers.target.kind == "regression"
    assert next(iter(numbers.batches("test")))[1].numpy().tolist() == [[2], [3]]
    several = make(y=np.array([[0, 1], [1, 1], [0, 0], [1, 0]]))
    assert several.target.kind == "multilabel" and several.num_classes == 2
    unknown = make(y=np.array([0, 1, 2, -1]), test=(2,))
    assert unknown.y.tolist() == [0, 1, 2, -1] and unknown.num_classes == 3
    _, y, weights = next(iter(unknown.batches("train", sample_weight=True)))
    assert y.numpy().min() == 0 and weights.numpy().tolist() == [1, 0, 0, 0]


def test_several_graphs():
    ds = NodeDataset([[0, 1], [1, 0], [2, 3]], np.eye(4), [0, 1, 0, 1], [0], graph_ids=[0, 0, 1, 1])
    inputs, _ = next(iter(ds.batches("train")))
    assert inputs["graph_ids"].numpy().tolist() == [0, 0, 1, 1] and inputs["graph_ids"].dtype == "int32"


@pytest.mark.parametrize(
    ("graph_ids", "words"),
    [
        ([0, 0, 1], "graph_ids must be 4 integers that ascend from 0 without a gap"),
        ([0, 1, 0, 1], "without a gap"),
        ([0, 0, 2, 2], "without a gap"),
        ([1, 1, 2, 2], "without a gap"),
        ([0, 0, 0, 1], r"the edge \[2, 3\] joins nodes of two graphs"),
    ],
)
def test_wrong_graph_ids(graph_ids, words):
    with pytest.raises(DataFormatError, match=words):
        NodeDataset([[0, 1], [1, 0], [2, 3]], np.eye(4), [0, 1, 0, 1], graph_ids=graph_ids)
