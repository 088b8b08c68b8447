import numpy as np
import pytest

from ganet_tf.data import Graph
from ganet_tf.errors import DataFormatError


def test_arrays_are_brought_into_form():
    graph = Graph([[1, 2], [3, 4], [5, 6]], [[2, 0], [0, 1], [1, 1], [0, 1], [1, 0]], np.int64(1))
    assert graph.x.dtype == np.float32 and graph.edges.dtype == np.int32 and type(graph.y) is int
    np.testing.assert_array_equal(graph.edges, [[1, 0], [2, 0], [0, 1]])
    assert graph.num_nodes == 3
    assert repr(graph) == "Graph(nodes=3, edges=3, features=2, y=1)"


def test_no_edges():
    assert Graph(np.ones((1, 2)), []).edges.shape == (0, 2)
    assert Graph(np.ones((1, 2)), [[0, 0]]).edges.shape == (0, 2)


@pytest.mark.parametrize(
    ("x", "edges", "y", "words"),
    [
        (np.zeros((0, 2)), [], 0, "no nodes"),
        (np.ones(3), [], 0, r"\[nodes, features\]"),
        ([["a"]], [], 0, "numbers"),
        ([[1.0], [np.nan]], [], 0, "NaN or infinite.*row 1"),
        ([[np.inf]], [], 0, "NaN or infinite.*row 0"),
        ([[1e39]], [], 0, "NaN or infinite"),
        (np.ones((2, 1)), [[0, 2]], 0, "node 2.*2 nodes"),
        (np.ones((2, 1)), [[-1, 0]], 0, "node -1"),
        (np.ones((2, 1)), [[0.0, 1.0]], 0, "integer"),
        (np.ones((2, 1)), [[0, 1, 1]], 0, r"\[edges, 2\]"),
        (np.ones((2, 1)), [], -2, "class number"),
        (np.ones((2, 1)), [], "a", "class number"),
        (np.ones((3, 1)), [[0, 1, 2], [1, 2, 0]], 0, "transpose it, or use from_edge_index"),
    ],
)
def test_bad_arrays(x, edges, y, words):
    with pytest.raises(DataFormatError, match=words):
        Graph(x, edges, y)


def test_large_finite_values_pass():
    big = np.full((4, 1), 3e38, np.float32)
    np.testing.assert_array_equal(Graph(big, []).x, big)


def test_targets_of_every_kind():
    graph = np.ones((1, 1)), []
    assert Graph(*graph, y=-1).y == -1 and Graph(*graph, y=np.int64(3)).y == 3
    assert Graph(*graph, y=0.5).y == 0.5 and isinstance(Graph(*graph, y=np.float32(2)).y, float)
    np.testing.assert_array_equal(Graph(*graph, y=[0, 1, 1]).y, [0, 1, 1])


def test_weights_follow_their_edges():
    """Sorted by target, self-loops dropped, those of repeated edges added."""
    edges = [[2, 1], [0, 1], [1, 1], [0, 1], [1, 0]]
    graph = Graph(np.ones((3, 1)), edges, edge_weights=[5, 1, 9, 2.5, 4])
    np.testing.assert_array_equal(graph.edges, [[1, 0], [0, 1], [2, 1]])
    np.testing.assert_array_equal(graph.edge_weights, [4, 3.5, 5])
    assert graph.edge_weights.dtype == np.float32
    assert Graph(np.ones((3, 1)), edges).edge_weights is None
    assert Graph(np.ones((3, 1)), [], edge_weights=[]).edge_weights.shape == (0,)


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ([1, -1], "not negative, but edge 1 has -1"),
        ([1, np.nan], "finite and not negative, but edge 1 has nan"),
        ([np.inf, 1], "edge 0 has inf"),
        ([1e300, 1], "edge 0 has inf"),
        ([1], r"each of the 2 edges, but has \(1,\)"),
        ([[1], [1]], "each of the 2 edges"),
        (["a", "b"], "must hold numbers"),
    ],
)
def test_bad_weights(weights, words):
    with pytest.raises(DataFormatError, match=words):
        Graph(np.ones((2, 1)), [[0, 1], [1, 0]], edge_weights=weights)
