"""What is looked up instead of computed: the same from the same, and anything else as it comes."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.attacks.rehearsal import Remembered, once, values, variables_of


@pytest.fixture
def model():
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1), keras.layers.Dropout(0.5, seed=1)])
    model.compile("sgd", "mse")
    model.optimizer.build(model.trainable_variables)
    return model


def test_a_step_is_looked_up_only_from_the_same_state(model):
    calls = []

    def step(x):
        calls.append(1)
        model.trainable_variables[0].assign_add(x)
        return tf.reduce_sum(x)

    remembered = Remembered(step, model)
    batch = np.ones((2, 1), "float32")
    begin = values(variables_of(model))
    assert float(remembered(batch)) == 2
    end = values(variables_of(model))
    assert float(remembered(batch)) == 2 and len(calls) == 2, "the first step led to another state"
    for variable, value in zip(variables_of(model), begin, strict=True):
        variable.assign(value)
    assert float(remembered(batch)) == 2 and len(calls) == 2
    assert all(map(np.array_equal, values(variables_of(model)), end))
    assert float(remembered(2 * batch)) == 4 and len(calls) == 3, "another batch"


@pytest.mark.parametrize("part", ["a weight", "the optimizer", "dropout's seed"])
def test_any_other_variable_is_another_state(model, part):
    calls = []
    remembered = Remembered(lambda x: calls.append(1), model)
    changed = {
        "a weight": model.trainable_variables[1],
        "the optimizer": model.optimizer.iterations,
        "dropout's seed": model.layers[-1].seed_generator.state,
    }[part]
    remembered(np.ones(2))
    changed.assign(changed.value + 1)
    remembered(np.ones(2))
    assert len(calls) == 2


def test_once():
    calls = []
    function = once(lambda a, b: calls.append((a, b)) or a, key=lambda a, b: [a])
    assert [function(1, 2), function(1, 3), function(4, 3)] == [1, 1, 4]
    assert calls == [(1, 2), (4, 3)]
