"""SampledGAO: inference against loops, training against the probabilities it has to draw with."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from ganet_tf.layers import SampledGAO
from tests.graphs import SPECIAL, batch, neighbors
from tests.layers.contract import LayerContract, softmax


def scores_of(weights, x, edges):
    keys = x @ weights["key_kernel"]
    return [{j: np.sum(x[i] * keys[j]) for j in neighbors(i, edges)} for i in range(len(x))]


def most_probable(scores):
    return min(scores, key=lambda j: (-scores[j].real, j))


class TestSampledGAO(LayerContract):
    def make(self, **kwargs):
        return SampledGAO(4, temperature=0.3, **kwargs)

    def oracle(self, weights, x, edges, graph_ids):
        values = x @ weights["value_kernel"]
        return np.array([values[most_probable(scores)] for scores in scores_of(weights, x, edges)])

    def gradient_oracle(self, weights, x, edges, graph_ids):
        """Straight through: values get the gradient of the choice, scores that of the softmax."""
        values = x @ weights["value_kernel"]
        rows = []
        for scores in scores_of(weights, x, edges):
            soft = softmax(np.array(list(scores.values())) / 0.3)
            through = sum(a * values[j].real for a, j in zip(soft, scores, strict=True))
            rows.append(values[most_probable(scores)] + through)
        return np.array(rows)


@pytest.mark.parametrize("implementation", ["sparse", "dense"])
def test_training_draws_with_the_softmax_probabilities(implementation):
    """400 copies of one graph in a batch: node 0 takes its neighbours about as often as it should."""
    copies, values = 400, np.array([[1.0, 0], [0.5, 1], [-1, 2]])
    graphs = batch([[[1, 0], [2, 0]]] * copies, [3] * copies, x=np.tile(values, (copies, 1)))
    keras.utils.set_random_seed(3)
    layer = SampledGAO(2, kernel_initializer="identity", implementation=implementation, dtype="float64")
    drawn = layer(graphs.x, graphs.edges, training=True).numpy()[::3]
    shares = [np.mean(np.all(drawn == row, axis=1)) for row in values]
    assert sum(shares) == pytest.approx(1)
    np.testing.assert_allclose(shares, softmax(values @ values[0]), atol=0.08)


def test_every_call_draws_anew_and_the_seed_fixes_them():
    graphs = SPECIAL["hub"]
    x = 0.1 * graphs.x
    first, second = SampledGAO(4, seed=1, dtype="float64"), SampledGAO(4, seed=1, dtype="float64")
    first.build((None, 3))
    second.build((None, 3))
    second.set_weights(first.get_weights())
    draws = [first(x, graphs.edges, training=True).numpy() for _ in range(2)]
    again = [second(x, graphs.edges, training=True).numpy() for _ in range(2)]
    np.testing.assert_array_equal(draws, again)
    assert np.any(draws[0] != draws[1])


def test_training_gives_gradients_to_all_weights():
    graphs = SPECIAL["complete"]
    layer = SampledGAO(4, seed=0)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(layer(graphs.x.astype("float32"), graphs.edges, training=True) ** 2)
    assert all(np.any(g.numpy()) for g in tape.gradient(loss, layer.trainable_weights))


@pytest.mark.parametrize("temperature", [0, -1, "warm"])
def test_bad_temperature(temperature):
    with pytest.raises(ValueError, match="`temperature` must be a number above 0"):
        SampledGAO(4, temperature=temperature)


@pytest.mark.parametrize("implementation", ["sparse", "dense"])
@pytest.mark.parametrize("value", [np.nan, 1e30])
def test_scores_that_are_no_numbers_still_draw_a_neighbour(implementation, value):
    """A neighbour of the node itself, not padding and not a stranger: its value comes out, whatever it is."""
    graphs = SPECIAL["several_graphs"]
    x = graphs.x.astype("float32")
    x[:, 0] = value
    layer = SampledGAO(2, implementation=implementation, kernel_initializer="ones")
    layer.build((None, 3))
    layer.key_kernel.assign(-np.ones((3, 3)))  # scores of -inf for 1e30
    layer.value_kernel.assign([[0, 0], [1, 0], [0, 1]])
    for training in (False, True):
        outputs = layer(x, graphs.edges, graphs.graph_ids, training=training).numpy()
        for node, row in enumerate(outputs):
            if np.isfinite(row).all():
                assert any(np.allclose(row, x[j, 1:]) for j in neighbors(node, graphs.edges))
        assert np.isfinite(outputs).all() == (value == 1e30 and implementation == "sparse")
