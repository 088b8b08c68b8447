"""Rows taken apart and put together again: values, zero rows and gradients."""

import numpy as np
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

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
