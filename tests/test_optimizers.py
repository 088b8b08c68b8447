"""FlatAdam against Keras' Adam, and its decays against NumPy."""

import keras
import numpy as np
import pytest

from experiments.config import OptimizerConfig
from experiments.training import make_optimizer
from ganet_tf.errors import ConfigError
from ganet_tf.optimizers import FlatAdam

SHAPES = [(3, 2), (4,), (2, 2, 2)]


def variables():
    rng = np.random.default_rng(0)
    names = ["key_kernel", "bias", "kernel"]
    return [keras.Variable(rng.normal(size=s).astype("float32"), name=n) for s, n in zip(SHAPES, names, strict=True)]


def train(optimizer, steps=5):
    rng = np.random.default_rng(1)
    weights = variables()
    for _ in range(steps):
        grads = [keras.ops.convert_to_tensor(rng.normal(size=s).astype("float32")) for s in SHAPES]
        optimizer.apply_gradients(zip(grads, weights, strict=True))
    return [weight.numpy() for weight in weights]


def same(ours, theirs):
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-6, atol=2e-6)


@pytest.mark.parametrize("amsgrad", [False, True])
def test_the_numbers_of_keras_adam(amsgrad):
    same(train(FlatAdam(0.1, amsgrad=amsgrad)), train(keras.optimizers.Adam(0.1, amsgrad=amsgrad)))


def test_clipping_and_a_schedule():
    schedule = keras.optimizers.schedules.CosineDecay(0.1, 5)
    same(train(FlatAdam(schedule, clipnorm=0.5)), train(keras.optimizers.Adam(schedule, clipnorm=0.5)))


def test_clipping_all_gradients_together():
    same(train(FlatAdam(0.1, global_clipnorm=0.5)), train(keras.optimizers.Adam(0.1, global_clipnorm=0.5)))
    with pytest.raises(ValueError, match="not both"):
        FlatAdam(0.1, clipnorm=1.0, global_clipnorm=2.0)


def test_decoupled_decay_with_exceptions():
    theirs = keras.optimizers.Adam(0.1, weight_decay=0.2)
    theirs.exclude_from_weight_decay(var_names=["key_kernel"])
    same(train(FlatAdam(0.1, weight_decay=0.2, no_decay=["key_kernel"])), train(theirs))


def test_l2_is_added_to_the_gradient_as_pytorch_does():
    rng = np.random.default_rng(1)
    start = [weight.numpy().astype("float64") for weight in variables()]
    m, v, hat = ([np.zeros(s) for s in SHAPES] for _ in range(3))
    weights = [w.copy() for w in start]
    for t in range(1, 6):
        for i, shape in enumerate(SHAPES):
            gradient = rng.normal(size=shape) + (0.3 * weights[i] if i else 0)  # key_kernel is exempt
            m[i] = 0.9 * m[i] + 0.1 * gradient
            v[i] = 0.999 * v[i] + 0.001 * gradient**2
            hat[i] = np.maximum(hat[i], v[i])
            alpha = 0.01 * np.sqrt(1 - 0.999**t) / (1 - 0.9**t)
            weights[i] = weights[i] - alpha * m[i] / (np.sqrt(hat[i]) + 1e-7)
    same(train(FlatAdam(0.01, amsgrad=True, l2=0.3, no_decay=["key_kernel"])), weights)


def test_config_round_trip_and_state():
    optimizer = FlatAdam(0.1, amsgrad=True, l2=0.1, weight_decay=0.2, no_decay=("a",), clipnorm=1.0)
    copy = FlatAdam.from_config(optimizer.get_config())
    assert copy.get_config() == optimizer.get_config()
    assert FlatAdam.from_config(FlatAdam(global_clipnorm=2.0).get_config()).max_global_norm == 2.0
    assert (copy.amsgrad, copy.l2, copy.shrink, copy.no_decay, copy.max_norm) == (True, 0.1, 0.2, ("a",), 1.0)
    optimizer.build(variables())
    assert [tuple(v.shape) for v in optimizer.variables] == [(), (), (18,), (18,), (18,)]


def test_weights_without_a_gradient_stay():
    optimizer, weights = FlatAdam(0.1), variables()
    before = weights[1].numpy()
    optimizer.apply([np.ones(SHAPES[0], "float32"), None, np.ones(SHAPES[2], "float32")], weights)
    np.testing.assert_array_equal(weights[1].numpy(), before)


def test_make_optimizer():
    adam = make_optimizer(OptimizerConfig(weight_decay=0.1, no_decay=("x",)), 10)
    assert (adam.l2, adam.shrink, adam.no_decay) == (0.1, 0.0, ("x",))
    assert make_optimizer(OptimizerConfig(weight_decay=0.1, weight_decay_kind="decoupled"), 10).shrink == 0.1
    assert isinstance(make_optimizer(OptimizerConfig(name="nadam"), 10), keras.optimizers.Nadam)
    with pytest.raises(ConfigError, match="sgd has only decoupled"):
        make_optimizer(OptimizerConfig(name="sgd", weight_decay=0.1), 10)
    cosine = make_optimizer(OptimizerConfig(schedule="cosine", learning_rate=0.5), 10)
    assert float(cosine.learning_rate) == 0.5
