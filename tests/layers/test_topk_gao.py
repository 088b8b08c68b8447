"""TopKGAO against the k largest scores, found with loops."""

import numpy as np
import pytest
import tensorflow as tf

from ganet_tf.layers import GAO, TopKGAO
from tests.graphs import SPECIAL, batch, neighbors
from tests.layers.contract import LayerContract, assert_close, softmax


def topk_gao(weights, x, edges, graph_ids, k):
    keys, values = x @ weights["key_kernel"], x @ weights["value_kernel"]
    rows = []
    for i in range(len(x)):
        scores = {j: np.sum(x[i] * keys[j]) for j in neighbors(i, edges)}
        chosen = sorted(scores, key=lambda j: (-scores[j].real, j))[:k]
        attention = softmax(np.array([scores[j] for j in chosen]))
        rows.append(sum(a * values[j] for a, j in zip(attention, chosen, strict=True)))
    return np.array(rows)


class TestTopKGAO(LayerContract):
    def make(self, **kwargs):
        return TopKGAO(4, k=2, **kwargs)

    def oracle(self, weights, x, edges, graph_ids):
        return topk_gao(weights, x, edges, graph_ids, 2)


@pytest.mark.parametrize("implementation", ["auto", "sparse", "dense"])
def test_ties_go_to_the_smaller_index(implementation):
    """All scores are 0 for the zero query: the first two nodes are kept, and only they get a gradient."""
    graphs = batch([np.argwhere(~np.eye(4, dtype=bool))], [4], x=np.array([[0.0], [1], [2], [3]]))
    layer = TopKGAO(1, k=2, kernel_initializer="identity", implementation=implementation, dtype="float64")
    assert layer(graphs.x, graphs.edges).numpy()[0] == pytest.approx([0.5])


def test_with_all_neighbors_it_is_gao():
    graphs = SPECIAL["several_graphs"]
    hard, soft = TopKGAO(4, k=100, dtype="float64"), GAO(4, dtype="float64")
    expected = soft(graphs.x, graphs.edges)
    hard.build((None, 3))
    hard.set_weights(soft.get_weights())
    assert_close(hard(graphs.x, graphs.edges), expected, 1e-12)


def test_k_below_one():
    with pytest.raises(ValueError, match="`k` must be at least 1, but is 0"):
        TopKGAO(4, k=0)


def test_what_is_not_chosen_gets_no_gradient():
    x = tf.constant([[0.0], [1], [2], [3]])
    layer = TopKGAO(1, k=1, kernel_initializer="identity")
    with tf.GradientTape() as tape:
        tape.watch(x)
        outputs = layer(x, np.array([[1, 0], [2, 0], [3, 0]]))[0]
    assert tape.gradient(outputs, x).numpy().ravel().tolist()[1:] == [0, 0, 0]
