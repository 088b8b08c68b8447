"""NodeClassifier: the paper's network for nodes, and the two ways to say which nodes count."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from ganet_tf.models import NodeClassifier
from tests.models.contract import CLASSES, ModelContract, as_dataset, compiled, rings


class TestNodeClassifier(ModelContract):
    cls = NodeClassifier
    arguments = {"operator": "hgao", "k": 2, "num_modules": 1, "dropout": 0.1, "attention_dropout": 0.1}  # noqa: RUF012
    for_graphs = False


def test_the_papers_setting():
    model = NodeClassifier(num_classes=7)
    assert model.channels == (48, 64, 80, 96, 112, 7)
    assert model.dropout == model.attention_dropout == 0.88
    assert float(model.kernel_regularizer.l2) == pytest.approx(1e-4)


def one_graph():
    inputs = rings([9])
    del inputs["graph_ids"]
    return inputs, np.arange(9, dtype="int32") // CLASSES


def undropped():
    return NodeClassifier(CLASSES, k=2, num_modules=1, dropout=0.0, attention_dropout=0.0)


def test_nodes_are_rows_of_all():
    inputs, _ = one_graph()
    model = NodeClassifier(CLASSES, k=2)
    nodes = np.array([5, 0, 7], "int32")
    np.testing.assert_array_equal(model({**inputs, "nodes": nodes}), model(inputs).numpy()[nodes])


def test_nodes_and_sample_weights_give_one_loss():
    inputs, y = one_graph()
    model = compiled(undropped(), run_eagerly=True)
    nodes = np.array([0, 3, 4], "int32")
    by_nodes = model.evaluate(as_dataset([({**inputs, "nodes": nodes}, y[nodes])]), verbose=0, return_dict=True)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="mean_with_sample_weight")
    model.compile("adam", loss=loss, weighted_metrics=["accuracy"], run_eagerly=True)
    weights = np.isin(np.arange(9), nodes).astype("float32")
    weighted = as_dataset([(inputs, y, weights)])
    by_weights = model.evaluate(weighted, verbose=0, return_dict=True)
    assert by_nodes["loss"] == pytest.approx(by_weights["loss"], rel=1e-5)
    assert by_nodes["accuracy"] == pytest.approx(by_weights["accuracy"])
    assert np.isfinite(model.fit(weighted, verbose=0).history["loss"]).all()


def test_the_regularizer_counts_every_kernel_once():
    inputs, _ = one_graph()
    model = NodeClassifier(CLASSES, operator="cgao", num_modules=1)
    model(inputs)
    kernels = [w for w in model.trainable_weights if "kernel" in w.name]
    expected = sum(1e-4 * float(tf.reduce_sum(tf.convert_to_tensor(w) ** 2)) for w in kernels)
    assert float(sum(model.losses)) == pytest.approx(expected, rel=1e-5)


def test_learns_a_small_graph():
    """A ring of three colours that are in the features: a few steps are enough."""
    keras.utils.set_random_seed(0)
    inputs, y = one_graph()
    inputs["x"] = np.eye(5, dtype="float32")[y]
    model = compiled(undropped(), run_eagerly=True)
    history = model.fit(as_dataset([(inputs, y)]), epochs=20, verbose=0).history
    assert history["loss"][-1] < 0.5 * history["loss"][0]
