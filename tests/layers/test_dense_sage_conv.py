"""DenseSAGEConv against SAGEConv on the same graph, and the weights of edges."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from ganet_tf.layers import DenseSAGEConv, SAGEConv
from tests.graphs import SPECIAL
from tests.layers.contract import assert_close


@pytest.mark.parametrize("aggregator", ["mean", "sum"])
@pytest.mark.parametrize("normalize", [False, True])
def test_a_matrix_of_ones_is_the_sparse_layer(aggregator, normalize):
    graphs = SPECIAL["directed_cycle"]
    adjacency = np.zeros((3, 3))
    adjacency[graphs.edges[:, 1], graphs.edges[:, 0]] = 1
    options = {"aggregator": aggregator, "normalize": normalize, "activation": "relu", "dtype": "float64"}
    sparse, dense = SAGEConv(4, **options), DenseSAGEConv(4, **options)
    expected = sparse(graphs.x, graphs.edges)
    dense.build((None, None, 3))
    for name in ("self_kernel", "neighbor_kernel", "bias"):
        getattr(dense, name).assign(getattr(sparse, name))
    assert_close(dense(graphs.x[None], adjacency[None])[0], expected, 1e-12)


def test_the_mean_is_weighted():
    x, adjacency = np.array([[[1.0], [4.0]], [[1.0], [4.0]]]), np.array([[[3.0, 1], [1, 0]], [[0, 0.5], [0, 0]]])
    layer = DenseSAGEConv(1, kernel_initializer="ones", dtype="float64")
    expected = [[[1 + 7 / 4], [4 + 1]], [[1 + 2], [4]]]
    assert_close(layer(x, adjacency), expected, 1e-12)


def test_config_and_file(tmp_path):
    layer = DenseSAGEConv(2, aggregator="sum", kernel_regularizer="l2", name="mine")
    assert DenseSAGEConv.from_config(layer.get_config()).get_config() == layer.get_config()
    x, adjacency = keras.Input((4, 3)), keras.Input((4, 4))
    model = keras.Model([x, adjacency], layer(x, adjacency))
    assert model.output_shape == (None, 4, 2)
    model.save(tmp_path / "model.keras")
    arrays = [np.ones((2, 4, 3), "float32"), np.ones((2, 4, 4), "float32")]
    np.testing.assert_array_equal(keras.models.load_model(tmp_path / "model.keras")(arrays), model(arrays))


def test_gradients_reach_every_weight():
    layer = DenseSAGEConv(2)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(layer(np.ones((1, 3, 2), "float32"), np.ones((1, 3, 3), "float32")) ** 2)
    assert all(np.any(gradient) for gradient in tape.gradient(loss, layer.trainable_weights))


def test_half_precision():
    layer = DenseSAGEConv(2, normalize=True, dtype="mixed_float16")
    outputs = layer(np.ones((1, 3, 2), "float32"), np.ones((1, 3, 3), "float32"))
    assert outputs.dtype == tf.float16 and np.isfinite(outputs).all()


def test_unknown_aggregator():
    with pytest.raises(ValueError, match="`aggregator` must be one of 'mean', 'sum', but is 'max'"):
        DenseSAGEConv(2, aggregator="max")
