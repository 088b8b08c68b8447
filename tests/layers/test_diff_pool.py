"""DiffPool against SᵀX, SᵀAS and the losses written with dense matrices, graph by graph."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from ganet_tf import ops
from ganet_tf.layers import DiffPool
from tests.graphs import SPECIAL, batch, both_ways
from tests.layers.contract import assert_close, softmax
from tests.layers.pooling_contract import PoolingContract
from tests.layers.switched import pair_weights


@keras.saving.register_keras_serializable(package="ganet_tf")
class JoinedDiffPool(DiffPool):
    """Both outputs of each graph as one tensor, as the contract wants it: [B, c, F + c]."""

    def call(self, x, edges, graph_ids=None, *, assignment=None, training=None):
        return tf.concat(super().call(x, edges, graph_ids, training=training), axis=2)

    def compute_output_spec(self, x, edges=None, graph_ids=None, *, assignment=None, training=None):
        self.check_inputs(x, edges, graph_ids)
        return keras.KerasTensor(self.compute_output_shape(x.shape), dtype=self.compute_dtype)

    def compute_output_shape(self, x_shape, edges_shape=None, graph_ids_shape=None, assignment_shape=None):
        return (None, self.clusters, x_shape[-1] + self.clusters)


def graphs_of(x, edges, graph_ids, edge_weights=1):
    """(x, A) of each graph, A_ij = 1, or its weight, for an edge from j to i."""
    adjacency = np.zeros((len(x), len(x)))
    adjacency[edges[:, 1], edges[:, 0]] = edge_weights
    for graph in np.unique(graph_ids):
        mine = graph_ids == graph
        yield x[mine], adjacency[mine][:, mine]


def assignments(weights, x):
    return np.array([softmax(row) for row in x @ weights["kernel"] + weights["bias"]])


def pooled(weights, x, edges, graph_ids):
    blocks = []
    for own, adjacency in graphs_of(x, edges, graph_ids):
        s = assignments(weights, own)
        blocks.append(np.concatenate([s.T @ own, s.T @ adjacency @ s], axis=1))
    return np.array(blocks)


class TestDiffPool(PoolingContract):
    needs_edges = True

    def make(self, **kwargs):
        return JoinedDiffPool(4, **kwargs)

    def oracle(self, weights, x, edges, graph_ids):
        return pooled(weights, x, edges, graph_ids)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("case", SPECIAL)
def test_losses_are_those_of_the_dense_matrices(case, weighted):
    graphs = SPECIAL[case]
    edge_weights = pair_weights(graphs.edges) if weighted else np.ones(len(graphs.edges))
    layer = DiffPool(4, link_weight=2.0, entropy_weight=3.0, dtype="float64")
    _, coarse = layer(*graphs, edge_weights=edge_weights if weighted else None)
    assert np.sum(coarse) == pytest.approx(edge_weights.sum())
    weights = {w.name: w.numpy() for w in layer.weights}
    links, entropies = [], []
    for own, adjacency in graphs_of(*graphs, edge_weights):
        s = assignments(weights, own)
        links.append(np.sum((adjacency - s @ s.T) ** 2) / len(own) ** 2)
        entropies.append(-np.sum(s * np.log(s)) / len(own))
    assert_close([float(loss) for loss in layer.losses], [2 * np.mean(links), 3 * np.mean(entropies)], 1e-12)


TWO_BLOCKS = batch([both_ways([[0, 1], [1, 2], [2, 3]])], [4], x=np.array([[1.0], [2.0], [4.0], [8.0]]))


def test_hard_assignment_sums_and_counts():
    logits = tf.constant([[1e3, 0.0], [1e3, 0], [0, 1e3], [0, 1e3]], tf.float64)
    found = ops.diff_pool(tf.constant(TWO_BLOCKS.x), logits, TWO_BLOCKS.edges, TWO_BLOCKS.graph_ids)
    assert found.x.numpy().tolist() == [[[3], [12]]]
    assert found.adjacency.numpy().tolist() == [[[2, 1], [1, 2]]]
    assert found.entropy.numpy().tolist() == [0]


def test_uniform_assignment_spreads_everything():
    logits = tf.zeros([4, 3], tf.float64)
    found = ops.diff_pool(tf.constant(TWO_BLOCKS.x), logits, TWO_BLOCKS.edges, TWO_BLOCKS.graph_ids)
    assert_close(found.x[0, :, 0], [5, 5, 5], 1e-12)
    assert_close(found.adjacency[0], np.full((3, 3), 6 / 9), 1e-12)
    assert_close(found.entropy, [np.log(3)], 1e-12)


def test_pooled_edges_sum_to_the_edges():
    graphs = SPECIAL["several_graphs"]
    _, adjacency = DiffPool(3, dtype="float64")(*graphs)
    assert_close(tf.reduce_sum(adjacency, [1, 2]), [4, 0, 6], 1e-12)


def test_assignment_by_other_features():
    graphs = SPECIAL["several_graphs"]
    other = np.random.default_rng(1).normal(size=(graphs.num_nodes, 5))
    layer = DiffPool(2, dtype="float64")
    found, _ = layer(*graphs, assignment=other)
    weights = {w.name: w.numpy() for w in layer.weights}
    assert layer.kernel.shape == (5, 2)
    s = assignments(weights, other)[graphs.graph_ids == 2]
    assert_close(found[2], s.T @ graphs.x[graphs.graph_ids == 2], 1e-12)


def test_functional_model_with_both_outputs_and_losses():
    x, edges = keras.Input((3,)), keras.Input((2,), dtype="int32")
    ids, other = keras.Input((), dtype="int32"), keras.Input((6,))
    features, adjacency = DiffPool(4)(x, edges, ids, assignment=other)
    assert features.shape == (None, 4, 3) and adjacency.shape == (None, 4, 4)
    model = keras.Model([x, edges, ids, other], [features, adjacency])
    graphs = SPECIAL["several_graphs"]
    model([graphs.x.astype("float32"), graphs.edges, graphs.graph_ids, np.ones((9, 6), "float32")])
    assert len(model.losses) == 2


def test_a_graph_without_nodes_gets_zeros():
    x = np.ones((3, 2))
    features, adjacency = DiffPool(2, dtype="float64")(x, np.array([[0, 1], [1, 0]]), np.array([0, 0, 2]))
    assert not np.any(features[1]) and not np.any(adjacency[1])
    assert_close(tf.reduce_sum(features, 1), [[2, 2], [0, 0], [1, 1]], 1e-12)


def test_large_graphs_need_no_square_matrix():
    """A ring of 200,000 nodes: [n, n] would be 160 GB."""
    n = 200_000
    ring = both_ways(np.stack([np.arange(n), (np.arange(n) + 1) % n], axis=1))
    layer = DiffPool(2)
    _, adjacency = layer(np.ones((n, 1), "float32"), ring)
    assert float(tf.reduce_sum(adjacency)) == pytest.approx(2 * n, rel=1e-4)
    assert all(np.isfinite(loss) for loss in layer.losses)


def test_bad_arguments():
    with pytest.raises(ValueError, match="`clusters` must be a whole number of at least 1, but is 0"):
        DiffPool(0)
    with pytest.raises(ValueError, match="one number for each row"):
        DiffPool(2)(np.ones((4, 3), "float32"), np.zeros((0, 2), "int32"), assignment=np.ones((5, 3), "float32"))
