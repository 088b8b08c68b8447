"""recompute=True gives the same numbers and the same gradients, dropout included, and keeps less in memory."""

import os
import platform
import subprocess
import sys

import keras
import numpy as np
import pytest
import tensorflow as tf

from ganet_tf import layers, models
from ganet_tf.models.ganet import recomputed
from ganet_tf.profiling.graphs import simulated_edges, simulated_features

EDGES = simulated_edges(60, 6)
X = simulated_features(60, 5)


def loss_and_gradients(operator, recompute, graph_mode, dtype="float32", frozen=False):
    """Two calls of one module, so that the second has to go on with the seeds where the first stopped."""
    keras.utils.set_random_seed(0)
    gam = layers.GAM(4, operator, k=3, dropout=0.5, attention_dropout=0.4, dtype=dtype)
    gam.build((None, 5), (None, 2))
    gam.attention.trainable = not frozen

    def run(x, edges):
        with tf.GradientTape() as tape:
            tape.watch(x)
            call = recomputed if recompute else gam.__class__.__call__
            outputs = [tf.cast(call(gam, x, edges, training=True), tf.float32) for _ in range(2)]
            loss = tf.reduce_sum(tf.sin(outputs[0]) + tf.cos(outputs[1]))
        return loss, tape.gradient(loss, [x, *(variable.value for variable in gam.trainable_variables)])

    run = tf.function(run) if graph_mode else run
    loss, gradients = run(tf.constant(X, gam.compute_dtype), tf.constant(EDGES))
    return loss, gradients, [variable.numpy() for variable in gam.variables]


@pytest.mark.parametrize(
    ("operator", "graph_mode"), [("hgao", False), ("hgao", True), ("cgao", False), ("sampled", False)]
)
def test_gradients_are_those_of_a_plain_call(operator, graph_mode):
    plain, again = (loss_and_gradients(operator, recompute, graph_mode) for recompute in (False, True))
    tf.nest.map_structure(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5), plain, again)


def test_half_precision_and_frozen_layers():
    plain, again = (loss_and_gradients("gao", recompute, False, "mixed_float16") for recompute in (False, True))
    tf.nest.map_structure(lambda a, b: np.testing.assert_allclose(a, b, rtol=0.02, atol=0.02), plain, again)
    plain, again = (loss_and_gradients("gao", recompute, False, frozen=True) for recompute in (False, True))
    tf.nest.map_structure(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5), plain, again)


def fitted(recompute):
    keras.utils.set_random_seed(0)
    model = models.NodeClassifier(3, num_modules=1, units=8, module_units=4, k=3, recompute=recompute)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.SGD(0.1), loss=loss)
    inputs = {"x": X, "edges": EDGES, "nodes": np.arange(60, dtype="int32")}
    data = tf.data.Dataset.from_tensors((inputs, np.arange(60, dtype="int32") % 3))
    losses = model.fit(data, epochs=3, verbose=0).history["loss"]
    return losses, [variable.numpy() for variable in model.variables], model


def test_fit_takes_the_same_steps():
    plain, again = fitted(False), fitted(True)
    np.testing.assert_allclose(again[0], plain[0], rtol=1e-5)
    for ours, theirs in zip(again[1], plain[1], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)
    assert again[2].recompute and again[2].get_config()["recompute"]
    assert models.NodeClassifier.from_config(again[2].get_config()).ganet.recompute


def test_an_activity_regularizer_is_refused():
    operator = layers.GAO(4, activity_regularizer="l2")
    model = models.GANet(num_modules=1, operator=operator, recompute=True)
    with pytest.raises(ValueError, match="has an activity_regularizer"):
        model({"x": X, "edges": EDGES}, training=True)
    assert model({"x": X, "edges": EDGES}).shape == (60, 97)


MEASURE = """
import tensorflow as tf
from ganet_tf import models
from ganet_tf.profiling.graphs import simulated_edges, simulated_features
from ganet_tf.memory import peak_growth, return_memory

assert return_memory()

def step_of(**options):
    model = models.NodeClassifier(4, **options)
    model.build({"x": (None, 8), "edges": (None, 2)})

    @tf.function(input_signature=[tf.TensorSpec([None, 8]), tf.TensorSpec([None, 2], tf.int32)])
    def step(x, edges):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(model({"x": x, "edges": edges}, training=True) ** 2)
        return tape.gradient(loss, [variable.value for variable in model.trainable_variables])

    return step

def peak(step, nodes):
    graph = tf.constant(simulated_features(nodes, 8)), tf.constant(simulated_edges(nodes, 8))
    return peak_growth(lambda: step(*graph))

hard = step_of(num_modules=1)
deep, again = (step_of(operator="cgao", num_modules=6, recompute=recompute) for recompute in (False, True))
for step in (hard, deep, again):
    peak(step, 1000)
print(peak(hard, 30_000), peak(hard, 60_000), peak(deep, 30_000), peak(again, 30_000))
"""


# One operation at a time, and no freed block is kept: what is resident is then what is in use, run after run.
ONE_AT_A_TIME = {"TF_NUM_INTEROP_THREADS": "1", "TF_NUM_INTRAOP_THREADS": "1"}


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="glibc can be told to keep no freed block")
def test_memory_of_a_step_is_linear_in_the_nodes_and_less_with_recomputation():
    done = subprocess.run(
        [sys.executable, "-c", MEASURE],
        env={**os.environ, **ONE_AT_A_TIME},
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    half, whole, deep, deep_recomputed = map(int, done.stdout.split())
    assert 1.5 < whole / half < 2.6  # quadratic would be 4
    assert deep_recomputed < 0.9 * deep
