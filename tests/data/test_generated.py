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


@pytest.mark.parametrize("name", ["Experts", "Dictionary", "PATTERN", "CLUSTER"])
def test_another_sample_with_each_seed(name):
    first, same, other = (data.load(name, seed=seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first.edges, same.edges)
    np.testing.assert_array_equal(first.x, same.x)
    assert not np.array_equal(first.x, other.x)
    masks = np.stack([first.train_mask, first.val_mask, first.test_mask])
    assert masks.sum(axis=0).max() == 1 and masks.any(axis=1).all()


@pytest.mark.parametrize("degree", [60, 16])
def test_experts(degree):
    """Three experts each, nine of ten of the right class, whose mark and class can be read off; nobody else's can."""
    ds = data.load("Experts", seed=4, degree=degree)
    assert (ds.num_nodes, ds.num_features, ds.num_classes) == (1200, 16, 4)
    assert [int(m.sum()) for m in (ds.train_mask, ds.val_mask, ds.test_mask)] == [150, 200, 650]
    assert not (ds.train_mask | ds.val_mask | ds.test_mask)[1000:].any()
    source, target = ds.edges.T
    to_experts = (source >= 1000) & (target < 1000)
    np.testing.assert_array_equal(np.bincount(target[to_experts], minlength=1000), 3)
    assert (ds.y[source] == ds.y[target])[to_experts].mean() == pytest.approx(0.9, abs=0.02)
    among = (source < 1000) & (target < 1000)
    assert among.sum() == 1000 * degree and not ((source >= 1000) & (target >= 1000)).any()
    chance = (ds.y[source] == ds.y[target])[among].mean()
    assert chance == pytest.approx(0.25, abs=0.02)
    # A linear map of the features finds the mark, and the class of experts, but not that of ordinary nodes.
    inputs = np.concatenate([ds.x, np.ones((1200, 1))], axis=1)
    marks = np.arange(1200) >= 1000
    found = inputs @ np.linalg.lstsq(inputs, marks.astype(float), rcond=None)[0] > 0.5
    assert (found == marks).mean() > 0.95
    classes = inputs @ np.linalg.lstsq(inputs[1000:], np.eye(4)[ds.y[1000:]], rcond=None)[0]
    right = classes.argmax(axis=1) == ds.y
    assert right[1000:].mean() > 0.8 and right[:1000].mean() < 0.4


def test_dictionary():
    """Each asking node has an edge from every key, and the value of the one with its key is its class."""
    ds = data.load("Dictionary", size=5, num_graphs=10)
    assert ds.num_nodes == 100 and len(ds.edges) == 10 * 25 and ds.num_features == 11
    keys, values = ds.x[:, :5].argmax(axis=1), ds.x[:, 5:].argmax(axis=1)
    asking = values == 5
    np.testing.assert_array_equal(asking, ds.train_mask | ds.val_mask | ds.test_mask)
    source, target = ds.edges.T
    assert asking[target].all() and not asking[source].any()
    answers = keys[source] == keys[target]
    np.testing.assert_array_equal(np.bincount(target[answers], minlength=100)[asking], 1)
    np.testing.assert_array_equal(values[source[answers]], ds.y[target[answers]])
    assert [np.unique(ds.graph_ids[mask]).tolist() for mask in (ds.val_mask, ds.test_mask)] == [[6, 7], [8, 9]]


def shares(ds, together):
    """Share of the possible pairs within a graph that are edges, by whether `together` holds for the two nodes."""
    same_graph = ds.graph_ids[:, None] == ds.graph_ids
    same_graph &= ~np.eye(ds.num_nodes, dtype=bool)
    matrix = np.zeros_like(same_graph)
    matrix[tuple(ds.edges.T)] = True
    return [matrix[same_graph & (together == which)].mean() for which in (True, False)]


def test_cluster():
    ds = data.load("CLUSTER", size=10)
    assert ds.graph_ids.max() == 9 and ds.num_classes == 6 and ds.num_features == 7
    np.testing.assert_allclose(shares(ds, ds.y[:, None] == ds.y), [0.55, 0.25], atol=0.02)
    named = ds.x.argmax(axis=1)
    assert (named > 0).sum() == 60
    np.testing.assert_array_equal(named[named > 0] - 1, ds.y[named > 0])
    sizes = np.bincount(ds.graph_ids * 6 + ds.y)
    assert sizes.min() >= 5 and sizes.max() <= 34


def test_pattern():
    ds = data.load("PATTERN", size=10)
    assert ds.num_classes == 2 and ds.num_features == 3
    assert np.bincount(ds.graph_ids, weights=ds.y).tolist() == [20] * 10
    inside, _ = shares(ds, np.minimum(ds.y[:, None], ds.y).astype(bool))  # of two planted graphs of 190 pairs
    across, others = shares(ds, ds.y[:, None] != ds.y)
    assert inside == pytest.approx(0.5, abs=0.1) and across == pytest.approx(0.5, abs=0.02) and 0.36 < others < 0.42
    signals = [ds.x[(ds.graph_ids == g) & (ds.y == 1)].argmax(axis=1).tolist() for g in range(10)]
    # Two planted graphs, each in five graphs: three train, one validates, one tests.
    assert [signals[0::2].count(signals[0]), signals[1::2].count(signals[1])] == [5, 5] and signals[0] != signals[1]
    assert [len(np.unique(ds.graph_ids[m])) for m in (ds.train_mask, ds.val_mask, ds.test_mask)] == [6, 2, 2]
