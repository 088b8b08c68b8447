"""ChebConv against polynomials of an explicit Laplacian."""

import numpy as np
import pytest
import tensorflow as tf

from ganet_tf import ops
from ganet_tf.layers import ChebConv
from tests.graphs import SPECIAL, batch, both_ways
from tests.layers.contract import LayerContract, OracleContract, assert_close
from tests.layers.switched import pair_weights, with_weights


def laplacian(edges, num_nodes, edge_weights=None):
    adjacency = np.zeros((num_nodes, num_nodes))
    for place, (source, target) in enumerate(edges):
        adjacency[target, source] = 1 if edge_weights is None else edge_weights[place]
    degrees = adjacency.sum(axis=1)
    scale = np.array([d**-0.5 if d else 0 for d in degrees])
    return np.eye(num_nodes) - scale[:, None] * adjacency * scale


def cheb(weights, x, edges, lambda_max=2.0, edge_weights=None):
    scaled = 2 * laplacian(edges, len(x), edge_weights) / lambda_max - np.eye(len(x))
    polynomials = [np.eye(len(x)), scaled]
    while f"kernel_{len(polynomials)}" in weights:
        polynomials.append(2 * scaled @ polynomials[-1] - polynomials[-2])
    terms = [p @ x @ weights[f"kernel_{k}"] for k, p in enumerate(polynomials) if f"kernel_{k}" in weights]
    return sum(terms) + weights["bias"]


class TestChebConv(LayerContract):
    has_dense = False

    def make(self, **kwargs):
        return ChebConv(4, K=3, **kwargs)

    def oracle(self, weights, x, edges, graph_ids):
        return cheb(weights, x, edges)


class TestOneAndAnotherEigenvalue(OracleContract):
    def make(self, **kwargs):
        return ChebConv(2, K=1, lambda_max=1.5, **kwargs)

    def oracle(self, weights, x, edges, graph_ids):
        return cheb(weights, x, edges, 1.5)


class TestDegreeTwo(OracleContract):
    def make(self, **kwargs):
        return ChebConv(2, K=2, lambda_max=1.9, **kwargs)

    def oracle(self, weights, x, edges, graph_ids):
        return cheb(weights, x, edges, 1.9)


class TestWeighted(OracleContract):
    def make(self, **kwargs):
        return with_weights(ChebConv)(2, K=2, **kwargs)

    def oracle(self, weights, x, edges, graph_ids):
        return cheb(weights, x, edges, edge_weights=pair_weights(edges))


def test_the_largest_eigenvalue_of_a_weighted_graph():
    graphs = SPECIAL["complete"]
    both = np.sort(graphs.edges, axis=1)  # the same weight in both directions
    weights = pair_weights(both)
    found = ops.largest_eigenvalue(graphs.edges, graphs.num_nodes, weights)
    assert found == pytest.approx(np.linalg.eigvalsh(laplacian(graphs.edges, graphs.num_nodes, weights))[-1])
    assert found != pytest.approx(ops.largest_eigenvalue(graphs.edges, graphs.num_nodes), abs=1e-3)


def test_degree_zero_is_a_dense_layer():
    graphs = SPECIAL["several_graphs"]
    layer = ChebConv(2, K=0, dtype="float64")
    outputs = layer(graphs.x, graphs.edges)
    assert_close(outputs, graphs.x @ layer.kernels[0].numpy(), 1e-12)


@pytest.mark.parametrize(("k", "expected"), [(0, [1, 5]), (1, [-5, -1]), (2, [1, 5]), (3, [-5, -1])])
def test_polynomials_of_a_single_edge(k, expected):
    graphs = batch([both_ways([[0, 1]])], [2], x=np.array([[1.0], [5.0]]))
    layer = ChebConv(1, K=3, use_bias=False, dtype="float64")
    layer.build((None, 1))
    layer.set_weights([np.full((1, 1), float(i == k)) for i in range(4)])
    assert_close(layer(graphs.x, graphs.edges)[:, 0], expected, 1e-12)


def test_sparse_features():
    graphs = SPECIAL["several_graphs"]
    layer = ChebConv(2, K=2, dtype="float64")
    expected = layer(graphs.x, graphs.edges)
    assert_close(layer(tf.sparse.from_dense(graphs.x), graphs.edges), expected, 1e-12)


@pytest.mark.parametrize("case", ["complete", "several_graphs", "no_edges", "hub"])
def test_largest_eigenvalue(case):
    graphs = SPECIAL[case]
    expected = np.linalg.eigvalsh(laplacian(graphs.edges, graphs.num_nodes))[-1]
    assert ops.largest_eigenvalue(graphs.edges, graphs.num_nodes) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"K": -1}, "`K`, the degree of the polynomial, must be a whole number of at least 0, but is -1"),
        ({"K": 1.5}, "`K`, the degree of the polynomial"),
        ({"K": 1, "lambda_max": 0}, "`lambda_max` must be above 0"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        ChebConv(2, **arguments)
