"""The [N, N] way says what it would need before it is killed for it."""

import numpy as np
import pytest
import tensorflow as tf

from ganet_tf import ops
from ganet_tf.errors import OutOfMemoryError
from ganet_tf.memory import available_memory
from ganet_tf.ops import dense


@pytest.fixture
def little_memory(monkeypatch):
    monkeypatch.setattr(dense, "available_memory", lambda: 10_000)


CALLS = {
    "gcn": lambda x, e: ops.gcn(x, e, implementation="dense"),
    "gao": lambda x, e: ops.gao(x, x, x, e, implementation="dense"),
    "hgao": lambda x, e: ops.hgao(x, x, x, x[:, 0], e, 2, implementation="dense"),
    "topk": lambda x, e: ops.topk_gao(x, x, x, e, 2, implementation="dense"),
    "sampled": lambda x, e: ops.sampled_gao(x, x, x, e, implementation="dense"),
}


@pytest.mark.parametrize("name", CALLS)
def test_refuses_with_the_bytes_and_the_way_out(name, little_memory):
    x, edges = tf.ones([100, 3]), tf.constant([[0, 1]])
    with pytest.raises(OutOfMemoryError, match=r'GB for 100 nodes.*GB are free.*implementation="sparse"'):
        CALLS[name](x, edges)


def test_refuses_in_a_function_that_does_not_know_the_size(little_memory):
    signature = [tf.TensorSpec([None, 3]), tf.TensorSpec([None, 2], tf.int32)]
    run = tf.function(CALLS["gao"], input_signature=signature)
    assert np.isfinite(run(tf.ones([5, 3]), tf.constant([[0, 1]])).numpy()).all()
    with pytest.raises(tf.errors.InvalidArgumentError, match="needs more than the 10000 bytes"):
        run(tf.ones([100, 3]), tf.constant([[0, 1]]))


def test_free_memory_is_a_sensible_number():
    assert 10**7 < available_memory() < 10**15
