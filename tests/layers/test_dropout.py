"""Dropout: Keras's own, but its random state is in the file."""

import keras
import numpy as np
import pytest

from ganet_tf.layers import GAT, Dropout, SampledGAO
from tests.graphs import SPECIAL


@pytest.mark.parametrize("layer", [Dropout(0.5), SampledGAO(4), GAT(4, attention_dropout=0.5), Dropout(0.0)])
def test_a_loaded_model_goes_on_with_the_same_random_numbers(layer, tmp_path):
    graphs = SPECIAL["complete"]
    inputs = [keras.Input((3,)), keras.Input((2,), dtype="int32")]
    outputs = layer(inputs[0]) if isinstance(layer, Dropout) else layer(*inputs)
    model = keras.Model(inputs, outputs)
    arrays = [graphs.x.astype("float32"), graphs.edges]
    model(arrays, training=True)
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    for _ in range(3):
        np.testing.assert_array_equal(loaded(arrays, training=True), model(arrays, training=True))


def test_loads_a_file_without_random_state(tmp_path):
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dropout(0.5)])
    model.save_weights(tmp_path / "plain.weights.h5")
    ours = keras.Sequential([keras.Input((3,)), Dropout(0.5, name="dropout")])
    before = ours.layers[0].seed_generator.state.numpy()
    ours.load_weights(tmp_path / "plain.weights.h5")
    np.testing.assert_array_equal(ours.layers[0].seed_generator.state.numpy(), before)


def test_drops_in_training_only():
    layer, x = Dropout(0.5, seed=1), np.ones((4, 5), "float32")
    assert np.all(layer(x).numpy() == 1)
    assert set(layer(x, training=True).numpy().ravel()) == {0, 2}


@pytest.mark.parametrize("rate", [0.1, 0.5, 0.88])
def test_share_and_mean_are_those_that_the_rate_asks_for(rate):
    dropped = Dropout(rate, seed=1)(np.ones((1000, 301), "float32"), training=True).numpy()
    assert abs((dropped == 0).mean() - rate) < 0.005
    assert abs(dropped.mean() - 1) < 0.05
    assert len(np.unique(dropped)) == 2


def test_odd_sizes_rate_one_and_noise_shape():
    x = np.ones((3, 5), "float32")
    assert Dropout(0.5, seed=1)(x[:1, :1], training=True).shape == (1, 1)
    assert Dropout(0.5, seed=1)(x[:0], training=True).shape == (0, 5)
    assert np.all(Dropout(1.0)(x, training=True).numpy() == 0)
    rows = Dropout(0.5, noise_shape=(None, 1), seed=1)(np.ones((64, 5), "float32"), training=True).numpy()
    assert np.all(rows == rows[:, :1]) and set(rows.ravel()) == {0, 2}


def test_neighbouring_entries_are_independent():
    """Two entries come from one random number: they must not know of each other."""
    kept = Dropout(0.5, seed=1)(np.ones((200_000,), "float32"), training=True).numpy() > 0
    pairs = np.bincount(2 * kept[::2] + kept[1::2], minlength=4) / 100_000
    np.testing.assert_allclose(pairs, 0.25, atol=0.01)
