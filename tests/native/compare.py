"""Values and all gradients of two functions side by side, and dense formulas as oracles."""

import numpy as np
import pytest
import tensorflow as tf

from ganet_tf import native

needs_kernels = pytest.mark.skipif(not native.available(), reason=f"no native kernels: {native.available()}")

TOLERANCE = {tf.float32: 1e-6, tf.float64: 1e-12}


def tensors(shapes, dtype, seed=0, scale=0.5):
    """Random tensors of these shapes."""
    rng = np.random.default_rng(seed)
    return [tf.constant(scale * rng.normal(size=shape), dtype) for shape in shapes]


def results(function, arguments, compiled=False):
    """The value of `function` and its gradients by all arguments, the value weighted by random numbers."""
    value = function(*arguments)
    weights = tf.constant(np.random.default_rng(7).normal(size=value.shape), value.dtype)

    def run(*arguments):
        with tf.GradientTape() as tape:
            tape.watch(arguments)
            loss = tf.reduce_sum(function(*arguments) * weights)
        return tape.gradient(loss, arguments)

    gradients = (tf.function(run) if compiled else run)(*arguments)
    return [tf.convert_to_tensor(r).numpy() for r in (value, *gradients)]


def assert_equal(function, oracle, arguments):
    """Values and gradients agree to the tolerance of their type, relative to the largest of each.

    The oracle computes in float64: so what is measured is our rounding, not its own.
    """
    tolerance = TOLERANCE[arguments[0].dtype]
    exact = [tf.cast(a, tf.float64) for a in arguments]
    for got, wanted in zip(results(function, arguments), results(oracle, exact), strict=True):
        assert got.shape == wanted.shape
        if wanted.size:
            np.testing.assert_allclose(got, wanted, rtol=0, atol=tolerance * max(np.abs(wanted).max(), 1))


def adjacency(edges, num_nodes, weights=None):
    """[N, N] float64: a_ij for j in N(i), and which there are; self-loops 1, the weights of a repeated edge added."""
    a = np.zeros([num_nodes, num_nodes])
    for (source, target), weight in zip(edges, np.ones(len(edges)) if weights is None else weights, strict=True):
        a[target, source] += weight
    mask = np.zeros_like(a, dtype=bool)
    mask[tuple(np.asarray(edges).reshape(-1, 2)[:, ::-1].T)] = True
    np.fill_diagonal(mask, True)
    np.fill_diagonal(a, 1.0)
    return (mask.astype(float) if weights is None else a), mask


def dense_attention(queries, keys, values, a, mask):
    """Σ_j softmax_j(a_ij q_i · k_j) v_j by the formula."""
    scores = tf.constant(a, queries.dtype) * tf.matmul(queries, keys, transpose_b=True)
    return tf.nn.softmax(tf.where(mask, scores, tf.constant(-np.inf, scores.dtype))) @ values


def largest(ranking, mask, k):
    """The mask of the k largest of each row of `ranking` among `mask`; ties to the smaller index, NaN last."""
    ranking = np.where(np.isnan(ranking), -np.inf, ranking)
    kept = np.zeros_like(mask)
    for row in range(len(mask)):
        columns = np.flatnonzero(mask[row])
        order = columns[np.argsort(-ranking[row, columns], kind="stable")]
        kept[row, order[:k]] = True
    return kept
