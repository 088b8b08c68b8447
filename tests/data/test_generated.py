import networkx as nx
import numpy as np
import pytest

from ganet_tf import data


def test_ba2motifs_has_a_house_or_a_cycle():
    ds = data.load("BA-2Motifs", num_graphs=40, seed=3)
    assert len(ds) == 40 and np.bincount(ds.y).tolist() == [20, 20]
    for graph in ds:
        network = nx.Graph(graph.edges.tolist())
        assert network.number_of_nodes() == 25 and nx.is_connected(network)
        assert (network.number_of_edges(), sum(nx.triangles(network).values())) == ((26, 3), (25, 0))[graph.y]


def test_ba2motifs_depends_on_the_seed_alone():
    first, same, other = (data.load("BA2Motifs", num_graphs=10, seed=s).arrays()["edges"] for s in (0, 0, 1))
    np.testing.assert_array_equal(first, same)
    assert not np.array_equal(first, other)


def test_ba2motifs_by_default():
    assert data.load("ba2motifs").features == "degree"  # its own are constant: nothing is learned from them
    statistics = data.load("ba2motifs", features="attributes").statistics()
    assert statistics.pop("avg_degree") == pytest.approx(2.04)
    assert statistics == {
        "name": "BA2Motifs",
        "graphs": 1000,
        "max_nodes": 25,
        "avg_nodes": 25.0,
        "avg_edges": 25.5,
        "edges_per_node": 2.04,
        "classes": 2,
        "class_counts": [500, 500],
        "features": 10,
    }


def test_other_features():
    ds = data.load("BA2Motifs", num_graphs=10, features="degree")
    degrees = np.bincount(ds[0].edges[:, 1])
    np.testing.assert_array_equal(ds[0].x.argmax(axis=1), degrees)
    assert data.load("Karate", features="constant").num_features == 1


def test_karate():
    ds = data.load("karate")
    assert ds.num_nodes == 34 and len(ds.edges) == 2 * 78 and ds.num_classes == 2
    np.testing.assert_array_equal(ds.x, np.eye(34))
    masks = np.stack([ds.train_mask, ds.val_mask, ds.test_mask])
    np.testing.assert_array_equal(masks.sum(axis=0), 1)
    assert masks.sum(axis=1).tolist() == [8, 8, 18] and np.bincount(ds.y[ds.train_mask]).tolist() == [4, 4]
    assert ds.y[0] == 0 and ds.y[33] == 1  # Mr. Hi and the officer
