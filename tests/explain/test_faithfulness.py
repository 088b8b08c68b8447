"""The check of explanations: attention to what matters scores high, and other methods what they deserve."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from ganet_tf import data, explain, layers
from ganet_tf.explain.faithfulness import auc_within, entries_of
from tests.explain.small import GRAPH, WEIGHTED, trained

METHODS = {"attention", "chosen", "saliency", "degree", "random", "truth"}


def expert_model():
    """Attends to the neighbour whose first feature is the largest, and answers by what it says in the second."""
    x, edges = keras.Input([2], name="x"), keras.Input([2], dtype="int32", name="edges")
    h = layers.HGAO(2, k=1, kernel_initializer="identity", gate=None)(x, edges)
    out = keras.layers.Lambda(lambda h: tf.stack([h[:, 1], -h[:, 1]], axis=1))(h)
    model = keras.Model({"x": x, "edges": edges}, out)
    model.layers[2].projection.assign([1.0, 0.0])
    return model


def experts(num=40, seed=0):
    """Nodes with five neighbours each, one of which is an expert; the others say the contrary of it."""
    rng = np.random.default_rng(seed)
    x = np.zeros((num + 10, 2), "float32")
    x[num:] = np.stack([np.full(10, 5.0), rng.choice([-3.0, 3.0], 10)], axis=1)
    edges, known = [], []
    for node in range(num):
        edges.append([num + node % 10, node])
        known.append(True)
        for other in rng.choice(num, 4, replace=False):
            edges.append([other, node])
            known.append(False)
    graph = data.Graph(x, edges)
    return graph, graph.edges[:, 0] >= num


def test_a_model_that_looks_at_experts_is_found_faithful():
    graph, known = experts()
    found = explain.faithfulness(expert_model(), [graph], [known])
    assert set(found) == METHODS
    assert found["attention"]["auc"] == found["chosen"]["auc_within"] == found["truth"]["auc"] == 1.0
    assert 0.3 < found["random"]["auc"] < 0.7
    assert found["attention"]["fidelity"] == pytest.approx(found["truth"]["fidelity"])
    assert found["attention"]["fidelity"] > 0.3 > found["random"]["fidelity"]


def test_only_the_asked_nodes_count():
    graph, known = experts()
    nodes = data.NodeDataset(graph.edges, graph.x, np.zeros(len(graph.x), int))
    every = explain.faithfulness(expert_model(), nodes, known)
    asked = explain.faithfulness(expert_model(), nodes, known, nodes=np.arange(40))
    assert asked["truth"]["fidelity"] > every["truth"]["fidelity"]  # the experts themselves lose nothing


def test_edges_find_their_entries():
    for graph in (GRAPH, WEIGHTED):
        look = explain.attention(trained(), graph)[0]
        places = entries_of(look, graph.edges)
        np.testing.assert_array_equal(look.rows[places], graph.edges[:, 1])
        np.testing.assert_array_equal(look.columns[places], graph.edges[:, 0])


def test_within_a_node_only_its_own_neighbours_are_compared():
    known = np.array([True, False, True, False])
    numbers = np.array([0.2, 0.1, 0.9, 0.8])  # over all edges 0.75
    assert auc_within(known, numbers, np.array([0, 0, 1, 1])) == 1.0


def test_a_truth_of_another_length_is_refused():
    with pytest.raises(ValueError, match=r"graph 0 has the shape \(3,\), but one value is needed for each of its 12"):
        explain.faithfulness(trained(), [GRAPH], [[True, False, True]])
