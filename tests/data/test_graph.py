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
        (np.ones((2, 1)), [], -1, "class number"),
        (np.ones((2, 1)), [], 0.5, "class number"),
    ],
)
def test_bad_arrays(x, edges, y, words):
    with pytest.raises(DataFormatError, match=words):
        Graph(x, edges, y)


def test_large_finite_values_pass():
    big = np.full((4, 1), 3e38, np.float32)
    np.testing.assert_array_equal(Graph(big, []).x, big)
