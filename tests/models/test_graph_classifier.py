"""GraphClassifier: the paper's network for graphs."""

import json

import numpy as np
import pytest

from ganet_tf.layers import operator_names
from ganet_tf.models import GraphClassifier
from tests.models.contract import CLASSES, ModelContract, rings


class TestGraphClassifier(ModelContract):
    cls = GraphClassifier
    arguments = {"operator": "hgao", "k": 2, "sort_pooling_k": 10, "num_modules": 1, "units": 8}  # noqa: RUF012


def test_the_papers_setting():
    model = GraphClassifier(num_classes=2)
    model.build({"x": (None, 7), "edges": (None, 2), "graph_ids": (None,)})
    assert model.channels == (48, 60, 72, 84, 96, 97)
    assert model.ganet.embedding.dropout == 0.5
    shapes = [tuple(w.shape) for w in model.head.trainable_weights]
    assert shapes == [(97, 1, 16), (16,), (5, 16, 32), (32,), (352, 128), (128,), (128, 2), (2,)]


@pytest.mark.parametrize("operator", operator_names())
def test_every_operator(operator):
    model = GraphClassifier(CLASSES, operator=operator, num_modules=1, sort_pooling_k=10)
    assert model(rings([4, 3])).shape == (2, CLASSES)


def test_what_else_is_in_the_batch_does_not_matter():
    model = GraphClassifier(CLASSES, k=2, sort_pooling_k=10, num_modules=2)
    both = model(rings([4, 7]))
    inputs = rings([4, 7])
    for graph in (0, 1):
        mine = inputs["graph_ids"] == graph
        start = int(np.argmax(mine))
        alone = {
            "x": inputs["x"][mine],
            "edges": inputs["edges"][mine[inputs["edges"][:, 0]]] - start,
            "graph_ids": np.zeros(mine.sum(), "int32"),
        }
        np.testing.assert_allclose(model(alone)[0], both[graph], rtol=1e-4, atol=1e-5)


def test_dense_is_sparse():
    sparse = GraphClassifier(CLASSES, k=2, sort_pooling_k=10, num_modules=2)
    dense = GraphClassifier(CLASSES, k=2, sort_pooling_k=10, num_modules=2, implementation="dense")
    expected = sparse(rings([4, 7]))
    dense(rings([4, 7]))
    dense.set_weights(sparse.get_weights())
    np.testing.assert_allclose(dense(rings([4, 7])), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("k", [9, 0, 10.5, "30"])
def test_sort_pooling_k_too_small(k):
    with pytest.raises(ValueError, match="`sort_pooling_k` must be a whole number of at least 10"):
        GraphClassifier(2, sort_pooling_k=k)


def test_numpy_numbers_are_taken():
    model = GraphClassifier(np.int64(2), k=np.int32(3), sort_pooling_k=np.int64(12))
    config = json.loads(model.to_json())["config"]
    assert (config["num_classes"], config["k"], config["sort_pooling_k"]) == (2, 3, 12)


def test_graph_ids_are_needed():
    inputs = rings([4, 7])
    del inputs["graph_ids"]
    with pytest.raises(ValueError, match="needs the input 'graph_ids'"):
        GraphClassifier(2)(inputs)
