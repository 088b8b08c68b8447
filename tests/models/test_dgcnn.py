"""DGCNN and its head."""

import numpy as np
import pytest

from ganet_tf.models import DGCNN, DGCNNHead
from tests.layers.test_sort_pooling import sort_pooling
from tests.models.contract import CLASSES, ModelContract


class TestDGCNN(ModelContract):
    cls = DGCNN
    arguments = {"sort_pooling_k": 10, "units": (4, 4, 1)}  # noqa: RUF012


def test_the_published_setting():
    model = DGCNN(num_classes=2)
    model.build({"x": (None, 7), "edges": (None, 2), "graph_ids": (None,)})
    assert [layer.units for layer in model.convolutions] == [32, 32, 32, 1]
    assert {layer.normalization for layer in model.convolutions} == {"row"}
    assert model.head.trainable_weights[0].shape == (97, 1, 16)


def test_head_against_numpy():
    """Sort pooling, both convolutions, the pooling between and the dense layers, with loops."""
    rng = np.random.default_rng(0)
    x, graph_ids = rng.normal(size=(17, 6)), np.array([0] * 5 + [1] * 12)
    head = DGCNNHead(CLASSES, sort_pooling_k=11, dtype="float64")
    outputs = head(x, graph_ids=graph_ids)
    first, b1, second, b2, dense, b3, last, b4 = (w.numpy() for w in head.trainable_weights)
    rows = []
    for table in sort_pooling(x, graph_ids, 11):
        h = np.maximum(np.array([row @ first[:, 0] + b1 for row in table]), 0)
        h = np.array([np.maximum(h[2 * i], h[2 * i + 1]) for i in range(5)])
        h = np.maximum(sum(h[t : t + 1] @ second[t] for t in range(5)) + b2, 0)
        rows.append(np.maximum(h.ravel() @ dense + b3, 0) @ last + b4)
    np.testing.assert_allclose(outputs, rows, rtol=1e-10)


def test_head_config():
    head = DGCNNHead(CLASSES, sort_pooling_k=11, dropout=0.1, kernel_regularizer="l2")
    assert DGCNNHead.from_config(head.get_config()).get_config() == head.get_config()


def test_sort_pooling_k_too_small():
    with pytest.raises(ValueError, match="`sort_pooling_k` must be a whole number of at least 10, but is 9"):
        DGCNN(2, sort_pooling_k=9)
