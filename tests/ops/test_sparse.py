"""X W with a sparse X: the numbers and gradients of the dense product."""

import numpy as np
import pytest
import tensorflow as tf

from ganet_tf.ops import features_matmul, is_sparse

X = np.array([[0, 2, 0, 1], [0, 0, 0, 0], [3, 0, 0, 0]], "float64")
KERNEL = np.random.default_rng(0).normal(size=(4, 5))


@pytest.mark.parametrize("graph_mode", [False, True])
def test_output_and_gradient_are_those_of_the_dense_product(graph_mode):
    def run(kernel):
        with tf.GradientTape() as tape:
            tape.watch(kernel)
            output = features_matmul(tf.sparse.from_dense(X), kernel)
            loss = tf.reduce_sum(output**2)
        return output, tape.gradient(loss, kernel)

    output, gradient = (tf.function(run) if graph_mode else run)(tf.constant(KERNEL))
    np.testing.assert_allclose(output, X @ KERNEL, rtol=1e-12)
    np.testing.assert_allclose(gradient, X.T @ (2 * X @ KERNEL), rtol=1e-12)


def test_half_precision():
    kernel = tf.constant(KERNEL, tf.float16)
    output = features_matmul(tf.cast(tf.sparse.from_dense(X), tf.float16), kernel)
    assert output.dtype == tf.float16
    np.testing.assert_allclose(output, X @ KERNEL, rtol=0.01, atol=0.01)


def test_what_counts_as_sparse():
    assert is_sparse(tf.sparse.from_dense(X))
    assert not is_sparse(tf.constant(X)) and not is_sparse(X)


@pytest.mark.parametrize("graph_mode", [False, True])
def test_entries_may_come_in_any_order(graph_mode):
    places = np.argwhere(X)
    order = np.arange(len(places))[::-1]
    shuffled = tf.SparseTensor(places[order], X[X != 0][order], X.shape)

    def run(kernel):
        with tf.GradientTape() as tape:
            tape.watch(kernel)
            output = features_matmul(shuffled, kernel)
            loss = tf.reduce_sum(output**2)
        return output, tape.gradient(loss, kernel)

    output, gradient = (tf.function(run) if graph_mode else run)(tf.constant(KERNEL))
    np.testing.assert_allclose(output, X @ KERNEL, rtol=1e-12)
    np.testing.assert_allclose(gradient, X.T @ (2 * X @ KERNEL), rtol=1e-12)


@pytest.mark.parametrize("place", [[3, 0], [0, 4], [-1, 0]])
def test_an_entry_outside_of_the_shape_is_named(place):
    x = tf.SparseTensor(np.array([[0, 0], place]), [1.0, 1.0], X.shape)
    kernel = tf.constant(KERNEL, "float32")
    with pytest.raises(ValueError, match=rf"shape \[3, 4\] has an entry at \[{place[0]}, {place[1]}\]"):
        features_matmul(x, kernel)
    with pytest.raises(tf.errors.InvalidArgumentError, match="has an entry outside of it"):
        tf.function(features_matmul)(x, kernel)


@pytest.mark.parametrize("shape", [(0, 4), (3, 4)])
def test_no_entries_or_no_rows(shape):
    x = tf.SparseTensor(np.zeros((0, 2), "int64"), np.zeros(0), shape)
    kernel = tf.constant(KERNEL)
    for function in (features_matmul, tf.function(features_matmul)):
        with tf.GradientTape() as tape:
            tape.watch(kernel)
            output = function(x, kernel)
        assert output.shape == (shape[0], 5)
        assert not np.any(output) and not np.any(tape.gradient(output, kernel))
