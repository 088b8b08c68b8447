"""The mean teacher: its loss against NumPy, its average, what is evaluated and saved, and resuming."""

import keras
import numpy as np
import pytest

from ganet_tf import data, models

KARATE = data.load("Karate")
INPUTS, Y = next(iter(KARATE.batches("train").as_numpy_iterator()))
WHOLE = {key: INPUTS[key] for key in ("x", "edges")}
LOSS = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def student(dropout=0.0):
    return models.GCN(2, units=4, dropout=dropout, num_features=34)  # quick to compile


def taught(dropout=0.0, **options):
    keras.utils.set_random_seed(3)
    model = models.MeanTeacher(student(dropout), num_features=34, **options)
    model.compile(keras.optimizers.Adam(0.05), LOSS, metrics=["accuracy"])
    return model


def values(model):
    return [variable.numpy().copy() for variable in model.weights]


def softmax(z):
    powers = np.exp(z - z.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def test_the_loss_of_a_step():
    """The second step's: the first one has t = 0, and teacher and student are still the same."""
    model = taught(weight=900.0, decay=0.5, temperature=0.4, ramp=4)
    model.fit(KARATE.batches("train"), epochs=1, verbose=0)
    z, z_teacher = (part(WHOLE).numpy().astype(np.float64) for part in (model.student, model.teacher))
    gaps = np.square(softmax(z) - softmax(z_teacher / 0.4)).sum(axis=1)
    nodes, l2 = INPUTS["nodes"], sum(float(loss) for loss in model.student.losses)
    expected = -np.log(softmax(z)[nodes, Y]).mean() + l2 + 900.0 * (1 / 4) * gaps.mean()
    history = model.fit(KARATE.batches("train"), epochs=1, verbose=0).history
    np.testing.assert_allclose(history["loss"], [expected], rtol=1e-5)
    assert gaps.mean() > 1e-4, "there is something to compare"


def test_only_nodes_of_which_the_teacher_is_sure():
    model = taught(weight=1.0, confidence=0.7, ramp=0)
    z = np.array([[3.0, 0.0], [0.2, 0.0]], "float32")
    expected = 0.5 * np.square(softmax(z[:1]) - softmax(z[:1] / 0.5)).sum()
    np.testing.assert_allclose(model.consistency(z, z), expected, rtol=1e-5)


def test_one_output_is_a_yes_or_no():
    model = taught(ramp=0)
    z, other = np.array([[1.0], [-2.0]], "float32"), np.array([[0.5], [1.0]], "float32")
    both = [np.concatenate([part, np.zeros_like(part)], axis=1) for part in (z, other)]
    expected = np.square(softmax(both[0]) - softmax(both[1] / 0.5)).sum(axis=1).mean()
    np.testing.assert_allclose(model.consistency(z, other), expected, rtol=1e-5)


def test_the_teacher_is_the_moving_average():
    model = taught(decay=0.75)
    average = values(model.student)
    for before, theirs in zip(average, values(model.teacher), strict=True):
        np.testing.assert_array_equal(theirs, before, "it begins with the student's weights")
    for _ in range(3):
        model.fit(KARATE.batches("train"), epochs=1, verbose=0)
        average = [0.75 * old + 0.25 * new for old, new in zip(average, values(model.student), strict=True)]
    for expected, found in zip(average, values(model.teacher), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7)
    np.testing.assert_array_equal(model(INPUTS), model.teacher(INPUTS))
    assert np.abs(model(INPUTS) - model.student(INPUTS)).max() > 1e-3
    evaluated = model.evaluate(KARATE.batches("test"), verbose=0, return_dict=True)
    inputs, y = next(iter(KARATE.batches("test").as_numpy_iterator()))
    assert evaluated["accuracy"] == pytest.approx((model.teacher(inputs).numpy().argmax(axis=1) == y).mean())


def test_weight_0_trains_the_student_as_it_is_trained_alone():
    model = taught(weight=0.0)
    keras.utils.set_random_seed(3)
    alone = student()
    alone.compile(keras.optimizers.Adam(0.05), LOSS)
    for each in (model, alone):
        each.fit(KARATE.batches("train"), epochs=3, verbose=0)
    for ours, theirs in zip(values(model.student), values(alone), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)


def test_saved_and_resumed(tmp_path):
    whole, first = taught(0.3, ramp=6), taught(0.3, ramp=6)
    whole.fit(KARATE.batches("train"), epochs=4, verbose=0)
    first.fit(KARATE.batches("train"), epochs=2, verbose=0)
    first.save(tmp_path / "model.keras")
    second = keras.models.load_model(tmp_path / "model.keras")
    assert (second.weight, second.decay, second.ramp, second.student.units) == (1.0, 0.98, 6, 4)
    second.fit(KARATE.batches("train"), epochs=2, verbose=0)
    for ours, theirs in zip(values(second), values(whole), strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"weight": -1}, "`weight` must be at least 0, but is -1"),
        ({"decay": 1.0}, "`decay` must be at least 0 and below 1"),
        ({"temperature": 0}, "`temperature` must be above 0"),
        ({"ramp": -3}, "`ramp` must be at least 0"),
        ({"confidence": 1.5}, "`confidence` must be at least 0 and below 1"),
    ],
)
def test_numbers_out_of_range(wrong, words):
    with pytest.raises(ValueError, match=words):
        models.MeanTeacher(student(), **wrong)
