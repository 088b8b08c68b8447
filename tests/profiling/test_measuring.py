"""How often a call is timed (never how long that takes), and what the TensorFlow profiler reads from a traced run."""

import numpy as np
import pytest
import tensorflow as tf

from ganet_tf.profiling import measuring
from ganet_tf.profiling.measuring import LOOP, TracedRun


def traced(function, *inputs):
    specs = [tf.TensorSpec(value.shape, value.dtype) for value in inputs]
    return TracedRun(tf.function(function).get_concrete_function(*specs), inputs)


@pytest.fixture
def left():
    return np.ones((64, 32), np.float32)


@pytest.fixture
def right():
    return np.ones((32, 16), np.float32)


def test_a_matmul_has_m_n_k_multiply_adds(left, right):
    def product(a, b):
        return tf.matmul(a, b)

    run = traced(product, left, right)
    assert run.madd() == 64 * 32 * 16
    assert run.uncounted() == []


def test_weights_and_called_functions_are_seen(left):
    weight = tf.Variable(tf.ones((32, 16)))
    inner = tf.function(lambda a: tf.matmul(a, weight))

    def outer(a):
        return inner(a)

    assert traced(outer, left).madd() == 64 * 32 * 16


def test_shapes_known_only_at_run_time_are_taken_from_the_trace(left, right):
    left[:10] = -1.0

    def product(a, b):
        return tf.matmul(tf.boolean_mask(a, a[:, 0] > 0), b)

    assert traced(product, left, right).madd() >= 54 * 32 * 16


def test_ops_that_cannot_be_counted_are_named(left):
    ids = np.zeros(64, np.int32)

    def total(a, ids):
        return tf.math.unsorted_segment_sum(tf.exp(a), ids, 3)

    run = traced(total, left, ids)
    assert run.uncounted() == ["Exp", "UnsortedSegmentSum"]


def test_the_fullest_moment_counts_what_is_alive_together(left):
    """left @ leftᵀ is [64, 64]; two of them are alive before the third is made from them."""

    def products(a):
        one = tf.matmul(a, a, transpose_b=True)
        two = tf.matmul(tf.exp(a), a, transpose_b=True)
        return tf.reduce_sum(tf.matmul(one, two))

    run = traced(products, left)
    matrix = 4 * 64 * 64
    assert 3 * matrix <= run.peak_bytes() <= 3 * matrix + 4 * 64 * 32 + 1024
    assert run.requested_bytes() >= run.peak_bytes()


def test_more_rows_more_bytes(left):
    def square(a):
        return tf.matmul(a, a, transpose_b=True)

    small = traced(square, left).peak_bytes()
    large = traced(square, np.ones((128, 32), np.float32)).peak_bytes()
    assert small == 4 * 64 * 64
    assert large == 4 * small


def test_a_loop_is_named_because_its_body_counts_once_at_most():
    def powers(a):
        return tf.while_loop(lambda i, _: i < 5, lambda i, b: (i + 1, tf.matmul(a, b)), [0, a])[1]

    run = traced(powers, np.ones((16, 16), np.float32))
    assert run.madd() < 2 * 16**3
    assert LOOP in run.uncounted()


class Clock:
    """Stands in for the clock: every call that is timed takes as long as the test says."""

    def __init__(self, monkeypatch, *seconds):
        self.now, self.seconds, self.calls = 0.0, list(seconds), 0
        monkeypatch.setattr(measuring.time, "perf_counter", lambda: self.now)

    def call(self):
        self.now += self.seconds[min(self.calls, len(self.seconds) - 1)]
        self.calls += 1


@pytest.mark.parametrize(
    ("seconds", "repeats"),
    [(0.001, 50), (0.5, 4), (0.9, 3), (1.4, 3), (2.2, 2), (10.0, 1)],
    ids=["fast: at most fifty", "within budget", "third fills it", "least", "slow: two", "very slow: one"],
)
def test_calls_are_bounded(monkeypatch, seconds, repeats):
    clock = Clock(monkeypatch, seconds)
    assert measuring.time_calls(clock.call, budget=2.0).repeats == repeats
    assert clock.calls == repeats + 1


def test_without_a_budget_one_call_is_timed(monkeypatch):
    assert measuring.time_calls(Clock(monkeypatch, 1.0).call, budget=0).repeats == 1


def test_median_and_quartiles_in_milliseconds(monkeypatch):
    clock = Clock(monkeypatch, 9.0, 0.001, 0.003, 0.005)  # the first one is the warm-up
    result = measuring.time_calls(clock.call, budget=1.0, most=3)
    assert result.median == pytest.approx(3.0)
    assert result.low == pytest.approx(2.0)
    assert result.high == pytest.approx(4.0)
