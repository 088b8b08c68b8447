import numpy as np
import pytest

from ganet_tf.data.arrays import RawGraphs, local_edges, sort_edges
from ganet_tf.data.tu import read_tu
from ganet_tf.errors import DataFormatError


@pytest.mark.parametrize("seed", range(5))
def test_sorted_unique_and_without_loops(seed):
    rng = np.random.default_rng(seed)
    pairs = rng.integers(0, 12, (rng.integers(0, 200), 2)).astype(np.int32)
    expected = sorted({(t, s) for s, t in pairs.tolist() if s != t})
    columns = [pairs[:, 0].copy(), pairs[:, 1].copy()]
    sources, degrees = sort_edges(columns, 12)
    assert columns == []
    targets = np.repeat(np.arange(12), degrees)
    assert list(zip(targets.tolist(), sources.tolist(), strict=True)) == expected


def test_a_thousand_repetitions_are_one_edge():
    columns = [np.zeros(1000, np.int32), np.ones(1000, np.int32)]
    sources, degrees = sort_edges(columns, 2)
    assert sources.tolist() == [0] and degrees.tolist() == [0, 1]


def test_numbers_within_each_graph():
    sources, degrees = sort_edges([np.array([0, 1, 4, 3], np.int32), np.array([1, 0, 3, 4], np.int32)], 6)
    edges, offsets = local_edges(sources, degrees, np.array([0, 3, 5, 6]))
    np.testing.assert_array_equal(edges, [[1, 0], [0, 1], [1, 0], [0, 1]])
    np.testing.assert_array_equal(offsets, [0, 2, 4, 4])


@pytest.mark.parametrize(("source", "target"), [(0, 3), (3, 0)])
def test_edges_between_graphs_are_refused(source, target):
    sources, degrees = sort_edges([np.array([source], np.int32), np.array([target], np.int32)], 4)
    with pytest.raises(DataFormatError, match=f"joins node {source + 1} and node {target + 1}.*different graphs"):
        local_edges(sources, degrees, np.array([0, 2, 4]))


def test_the_digest_is_that_of_the_content(tu_folder):
    digest = read_tu(tu_folder(), quiet=True).digest()
    same = (
        {"node_labels": "0\n2\n0\n1\n1\n2\n"},  # other numbers for the same labels
        {"graph_labels": "0\n1\n0\n"},
        {"node_attributes": None},
        {"A": "5, 4\n4, 5\n2, 1\n1, 2\n3, 2\n2, 3\n1, 3\n3, 1\n", "edge_labels": None},  # another order
    )
    other = (
        {"node_labels": "5\n5\n9\n7\n7\n9\n"},
        {"graph_labels": "1\n-1\n-1\n"},
        {"A": "1, 2\n2, 1\n", "edge_labels": None},
        {"graph_indicator": "1\n1\n1\n2\n2\n2\n", "graph_labels": "-1\n1\n"},
    )
    assert all(read_tu(tu_folder(**change), quiet=True).digest() == digest for change in same)
    assert all(read_tu(tu_folder(**change), quiet=True).digest() != digest for change in other)


def test_arrays_by_name(tu_folder):
    raw = read_tu(tu_folder(), quiet=True)
    assert set(raw.arrays()) == RawGraphs.names()
    assert RawGraphs(**raw.arrays()).digest() == raw.digest()
