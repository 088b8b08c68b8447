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
