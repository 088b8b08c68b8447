"""Simulated graphs: simple, undirected, sorted, repeatable."""

import numpy as np
import pytest

from ganet_tf.errors import ConfigError
from ganet_tf.profiling import simulated_edges, simulated_features


@pytest.mark.parametrize(("nodes", "degree"), [(1000, 8), (50, 40), (7, 6), (2, 1), (1, 0), (10, 0), (500, 2.5)])
def test_a_simple_undirected_graph_of_the_degree(nodes, degree):
    edges = simulated_edges(nodes, degree, seed=3)
    assert edges.dtype == np.int32
    assert edges.shape == (2 * round(nodes * degree / 2), 2)
    pairs = set(map(tuple, edges.tolist()))
    assert len(pairs) == len(edges)
    assert all((target, source) in pairs and source != target for source, target in pairs)
    assert edges.size == 0 or (edges.min() >= 0 and edges.max() < nodes)


def test_edges_are_sorted_by_target_then_source():
    edges = simulated_edges(300, 10)
    assert np.array_equal(edges, edges[np.lexsort((edges[:, 0], edges[:, 1]))])


def test_the_seed_decides():
    assert np.array_equal(simulated_edges(200, 8, seed=5), simulated_edges(200, 8, seed=5))
    assert not np.array_equal(simulated_edges(200, 8, seed=5), simulated_edges(200, 8, seed=6))
    assert np.array_equal(simulated_features(20, 4, seed=5), simulated_features(20, 4, seed=5))
    assert not np.array_equal(simulated_features(20, 4, seed=5), simulated_features(20, 4, seed=6))


def test_features_are_standard_normal_float32():
    x = simulated_features(5000, 8)
    assert x.shape == (5000, 8)
    assert x.dtype == np.float32
    assert abs(x.mean()) < 0.05
    assert abs(x.std() - 1) < 0.05


def test_a_large_graph():
    edges = simulated_edges(200_000, 8)
    assert edges.shape == (1_600_000, 2)
    assert np.bincount(edges[:, 1], minlength=200_000).mean() == 8


@pytest.mark.parametrize(("nodes", "degree"), [(10, 10), (0, 0), (10, -1)])
def test_an_impossible_graph_is_refused(nodes, degree):
    with pytest.raises(ConfigError, match=f"{nodes} nodes of mean degree {degree}"):
        simulated_edges(nodes, degree)
