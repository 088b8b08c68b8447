import networkx as nx
import numpy as np
import pytest

from ganet_tf.data import GraphDataset
from ganet_tf.errors import DataFormatError


def test_undirected_edges_stand_in_both_directions():
    graph = nx.Graph([("a", "b"), ("b", "c"), ("c", "c")])
    np.testing.assert_array_equal(GraphDataset.from_networkx([graph])[0].edges, [[1, 0], [0, 1], [2, 1], [1, 2]])


def test_directed_and_parallel_edges():
    graph = nx.MultiDiGraph([(0, 1), (0, 1), (2, 1)])
    np.testing.assert_array_equal(GraphDataset.from_networkx([graph])[0].edges, [[0, 1], [1 + 1, 1]])


def test_features_from_node_attributes():
    graph = nx.path_graph(3)
    nx.set_node_attributes(graph, {0: "C", 1: "N", 2: "C"}, "label")
    nx.set_node_attributes(graph, {0: [1, 2], 1: [3, 4], 2: [5, 6]}, "x")
    np.testing.assert_array_equal(GraphDataset.from_networkx([graph], features="labels")[0].x, [[1, 0], [0, 1], [1, 0]])
    everything = GraphDataset.from_networkx([graph])
    assert everything.features == "labels+attributes"
    np.testing.assert_array_equal(everything[0].x, [[1, 0, 1, 2], [0, 1, 3, 4], [1, 0, 5, 6]])
    both = GraphDataset.from_networkx([graph], features="attributes+labels")
    np.testing.assert_array_equal(both[0].x, [[1, 2, 1, 0], [3, 4, 0, 1], [5, 6, 1, 0]])
    nx.set_node_attributes(graph, 7.5, "weight")
    weight = GraphDataset.from_networkx([graph], features="attributes", node_attributes="weight")
    np.testing.assert_array_equal(weight[0].x, [[7.5]] * 3)


def test_labels_of_any_type():
    graphs = [nx.path_graph(2)] * 3
    assert GraphDataset.from_networkx(graphs, [-1, 1, -1]).y.tolist() == [0, 1, 0]
    mixed = GraphDataset.from_networkx(graphs, ["a", 1, "a"])
    assert mixed.class_labels == [1, "a"] and mixed.y.tolist() == [1, 0, 1]
    assert GraphDataset.from_networkx(graphs).num_classes == 1


def test_without_attributes_the_degree_is_taken():
    ds = GraphDataset.from_networkx([nx.star_graph(3)])
    assert ds.features == "normalized_degree"
    np.testing.assert_allclose(ds[0].x[:, 0], [1, 1 / 3, 1 / 3, 1 / 3])


def test_bad_input():
    graph = nx.path_graph(2)
    with pytest.raises(DataFormatError, match="at least one"):
        GraphDataset.from_networkx([])
    with pytest.raises(DataFormatError, match="graph 1 has no nodes"):
        GraphDataset.from_networkx([graph, nx.Graph()])
    with pytest.raises(DataFormatError, match="1 graphs, but 2 labels"):
        GraphDataset.from_networkx([graph], [0, 1])
    nx.set_node_attributes(graph, {0: 1.0}, "x")
    with pytest.raises(DataFormatError, match="1 of 2 nodes have no attribute 'x'"):
        GraphDataset.from_networkx([graph])
    nx.set_node_attributes(graph, {1: [1.0, 2.0]}, "x")
    with pytest.raises(DataFormatError, match="one length"):
        GraphDataset.from_networkx([graph])
    nx.set_node_attributes(graph, float("nan"), "x")
    with pytest.raises(DataFormatError, match="NaN"):
        GraphDataset.from_networkx([graph])
