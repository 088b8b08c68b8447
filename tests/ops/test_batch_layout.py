"""Rows taken apart and put together again: values, zero rows and gradients."""

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from ganet_tf import ops
from ganet_tf.ops.batch_layout import graph_layout, take_rows
from tests.graphs import modest


@modest
@given(st.lists(st.integers(1, 80), min_size=1, max_size=5))
def test_blocks_hold_one_graph_each_and_every_row_once(sizes):
    ids = np.repeat(np.arange(len(sizes)), sizes).astype("int32")
    layout = graph_layout(tf.constant(ids), len(ids))
    blocks = layout.blocks()
    places = blocks.places.numpy()
    assert sorted(places[places >= 0]) == list(range(len(ids)))
    for row, graph in zip(places, blocks.graphs.numpy(), strict=True):
        assert set(ids[row[row >= 0]]) == {graph}
    assert (places.ravel()[blocks.inverse.numpy()] == np.arange(len(ids))).all()


def test_gradient_goes_back_to_where_a_row_came_from():
    x = tf.constant([[1.0], [2.0], [3.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = take_rows(x, tf.constant([[2, -1], [0, -1]]), tf.constant([2, -1, 0]))
        loss = tf.reduce_sum(y * tf.constant([[[5.0], [6.0]], [[7.0], [8.0]]]))
    assert y.numpy().tolist() == [[[3.0], [0.0]], [[1.0], [0.0]]]
    assert tape.gradient(loss, x).numpy().tolist() == [[7.0], [0.0], [5.0]]


BAD_IDS = {
    "falling": ([0, 0, 1, 0], "int32", "entry 3 is 0 after 1"),
    "negative": ([-1, 0, 0, 0], "int32", "entry 0 is -1"),
    "too few": ([0, 0, 0], "int32", "3 entries, but `x` has 4 nodes"),
    "would wrap": ([0, 0, 0, 2**32], "int64", "goes up to 4294967296 for 4 nodes"),
    "wild": ([0, 0, 0, 10**9], "int32", "goes up to 1000000000 for 4 nodes"),
}


@pytest.mark.parametrize("case", BAD_IDS)
def test_bad_graph_ids_are_named(case):
    ids, dtype, text = BAD_IDS[case]
    x = tf.ones([4, 3])
    with pytest.raises(ValueError, match=text):
        ops.sort_pooling(x, tf.constant(ids, dtype), 2)


@pytest.mark.parametrize("operator", [ops.sort_pooling, lambda x, ids, _: ops.cgao(x, x, ids)], ids=["sort", "cgao"])
@pytest.mark.parametrize("case", BAD_IDS)
def test_bad_graph_ids_are_noticed_in_a_compiled_step(case, operator):
    ids, dtype, _ = BAD_IDS[case]
    specs = [tf.TensorSpec([None, 3]), tf.TensorSpec([None], dtype)]
    step = tf.function(lambda x, ids: operator(x, ids, 2), input_signature=specs, autograph=False)
    step(tf.ones([4, 3]), tf.constant([0, 0, 2, 2], dtype))  # a graph without nodes in between is none of them
    for _ in range(3):  # the check comes first every time, not when the kernels happen to be slower
        with pytest.raises(tf.errors.InvalidArgumentError, match="`graph_ids` must be ascending from 0"):
            step(tf.ones([4, 3]), tf.constant(ids, dtype))
