"""Features that come as a `tf.SparseTensor`: the same numbers as dense ones."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from ganet_tf import data, layers, models

X = np.random.default_rng(1).binomial(1, 0.2, size=(6, 9)).astype("float32")
EDGES = np.array([[0, 1], [1, 0], [2, 3], [3, 2], [4, 1], [1, 4]], "int32")


@pytest.mark.parametrize("layer", [layers.GCN(4), layers.GCN(12), layers.GAT(3, 2)])
def test_a_layer_gives_what_it_gives_for_dense_features(layer):
    np.testing.assert_allclose(layer(tf.sparse.from_dense(X), EDGES), layer(X, EDGES), rtol=1e-5, atol=1e-6)


def test_half_precision():
    layer = layers.GCN(4, dtype="mixed_float16")
    np.testing.assert_allclose(layer(tf.sparse.from_dense(X), EDGES), layer(X, EDGES), rtol=0.01, atol=0.01)


def test_dropout_drops_the_entries_that_are_there():
    sparse = tf.sparse.from_dense(np.ones((100, 50), "float32"))
    dropped = layers.Dropout(0.5, seed=1)(sparse, training=True)
    assert isinstance(dropped, tf.SparseTensor)
    assert set(dropped.values.numpy()) == {0, 2}
    assert abs((dropped.values.numpy() == 0).mean() - 0.5) < 0.05


@pytest.mark.parametrize("layer", [layers.HGAO(4), layers.CGAO(4), layers.GAM(4)])
def test_other_layers_say_that_they_need_dense_features(layer):
    with pytest.raises(TypeError, match="must be dense, but is sparse: put a GCN before it"):
        layer(tf.sparse.from_dense(X), EDGES)


@pytest.mark.parametrize("make", [models.NodeClassifier, models.GCN, models.GAT])
def test_a_model_is_fitted_as_with_dense_features(make):
    dataset = data.NodeDataset(EDGES, X, np.arange(6) % 2, train_mask=np.arange(6))
    losses = []
    for sparse in (False, True):
        keras.utils.set_random_seed(0)
        model = make(2, dropout=0.0)
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile(keras.optimizers.SGD(0.1), loss)
        batches = dataset.batches("train", sparse=sparse)
        losses.append(model.fit(batches, epochs=1 if make is models.GAT else 3, verbose=0).history["loss"])
        assert model.predict(batches, verbose=0).shape == (6, 2)
    if make is models.GCN:  # the others have dropout of their own
        np.testing.assert_allclose(losses[1], losses[0], rtol=1e-4)
    assert np.all(np.isfinite(losses[1]))
