"""PSCN's receptive fields: known small graphs, networkx' betweenness, and no trace of the nodes' numbers."""

import networkx as nx
import numpy as np
import pytest

from ganet_tf import data
from ganet_tf.data import Graph, GraphDataset
from ganet_tf.data.receptive_fields import (
    betweenness,
    pscn_width,
    receptive_fields,
    row_hashes,
    weisfeiler_lehman,
)
from tests.graphs import both_ways

PATH = both_ways([[0, 1], [1, 2], [2, 3], [3, 4]])


def fields_of(edges, n, width, size, x=None):
    x = np.ones((n, 1)) if x is None else x
    ds = GraphDataset.from_graphs([Graph(x, edges)])
    return receptive_fields(ds, width, size, cache=False)[0].reshape(width, size).tolist()


def test_a_path_of_five():
    fields = fields_of(PATH, 5, width=5, size=3)
    roots = [field[0] for field in fields]
    assert roots[0] == 2 and set(roots[1:3]) == {1, 3} and set(roots[3:]) == {0, 4}
    by_root = {field[0]: field[1:] for field in fields}
    assert set(by_root[2]) == {1, 3}
    assert by_root[1] == [2, 0] and by_root[3] == [2, 4]
    assert by_root[0] == [1, 2] and by_root[4] == [3, 2]


def test_the_centre_of_a_star_comes_first():
    fields = fields_of(both_ways([[4, 0], [4, 1], [4, 2], [4, 3]]), 5, width=2, size=6)
    assert fields[0][0] == 4 and set(fields[0][1:5]) == {0, 1, 2, 3} and fields[0][5] == -1
    assert fields[1][1] == 4


def test_small_graphs_are_filled_up():
    assert fields_of(both_ways([[0, 1]]), 2, width=3, size=3) == [[0, 1, -1], [1, 0, -1], [-1, -1, -1]]
    assert fields_of(np.zeros((0, 2), int), 1, width=1, size=2) == [[0, -1]]


def test_labels_come_before_numbers():
    """Both ends of a path have the same betweenness: their labels decide, whatever their numbers are."""
    labels = np.array([[1.0, 0.0], [0.0, 1.0]])
    first = fields_of(both_ways([[0, 1]]), 2, 2, 1, labels)
    second = fields_of(both_ways([[0, 1]]), 2, 2, 1, labels[::-1])
    assert first[0] != second[0]


def random_graphs(count, seed=0):
    rng, graphs = np.random.default_rng(seed), []
    for _ in range(count):
        n = int(rng.integers(1, 25))
        chosen = np.triu(rng.random((n, n)) < rng.choice([0.05, 0.15, 0.4]), 1)
        graphs.append(Graph(np.eye(3)[rng.integers(0, 3, n)], np.argwhere(chosen | chosen.T)))
    return graphs


def permuted(graph, rng):
    order = rng.permutation(graph.num_nodes)
    return Graph(graph.x[order], np.argsort(order)[graph.edges], graph.y)


def features(graph, fields):
    return np.concatenate([graph.x, np.zeros((1, graph.x.shape[1]))])[fields]


def test_betweenness_is_networkx():
    graphs = random_graphs(30)
    sizes = np.array([graph.num_nodes for graph in graphs])
    found = betweenness(GraphDataset.from_graphs(graphs).arrays()["edges"], sizes)
    expected = []
    for graph in graphs:
        net = nx.Graph(graph.edges.tolist())
        net.add_nodes_from(range(graph.num_nodes))
        values = nx.betweenness_centrality(net, normalized=False)
        expected += [2 * values[node] for node in range(graph.num_nodes)]  # both directions of a pair count here
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_the_numbers_of_nodes_leave_no_trace():
    graphs, rng = random_graphs(60, seed=1), np.random.default_rng(2)
    others = [permuted(graph, rng) for graph in graphs]
    first, second = (receptive_fields(GraphDataset.from_graphs(g), 12, 5, cache=False) for g in (graphs, others))
    for graph, other, fields, other_fields in zip(graphs, others, first, second, strict=True):
        np.testing.assert_array_equal(features(graph, fields), features(other, other_fields))


@pytest.mark.real_data
def test_the_numbers_of_mutags_nodes_leave_no_trace(data_dir):
    ds, rng = data.load("MUTAG", data_dir=data_dir), np.random.default_rng(1)
    others = [permuted(graph, rng) for graph in ds]
    assert pscn_width(ds) == 18
    first, second = (receptive_fields(d, 18, cache=False) for d in (ds, GraphDataset.from_graphs(others)))
    for graph, other, fields, other_fields in zip(ds, others, first, second, strict=True):
        np.testing.assert_array_equal(features(graph, fields), features(other, other_fields))


@pytest.mark.real_data
@pytest.mark.parametrize(("name", "width"), [("PTC", 26), ("PROTEINS", 39), ("IMDB-M", 13)])
def test_widths(name, width, data_dir):
    assert pscn_width(data.load(name, data_dir=data_dir)) == width


def test_a_graph_has_the_same_fields_in_any_data_set():
    graphs = random_graphs(20, seed=3)
    together = receptive_fields(GraphDataset.from_graphs(graphs), 8, 4, cache=False)
    alone = [receptive_fields(GraphDataset.from_graphs([graph]), 8, 4, cache=False)[0] for graph in graphs]
    np.testing.assert_array_equal(together, alone)


def test_hashes():
    x = np.array([[0.0, 1.0], [1.0, 0.0], [-0.0, 1.0]], "float32")
    first, second, third = row_hashes(x).tolist()
    assert first == third != second
    assert row_hashes(x[:, :1])[0] == 16294208416658607535  # the same in every process: caches and ranks depend on it
    hashes = weisfeiler_lehman(np.zeros(5, np.uint64), PATH[np.lexsort((PATH[:, 0], PATH[:, 1]))], 2)
    assert len(set(hashes.tolist())) == 3 and hashes[0] == hashes[4] and hashes[1] == hashes[3]


def test_fields_are_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("GANET_CACHE", str(tmp_path))
    ds = GraphDataset.from_graphs(random_graphs(5))
    first = receptive_fields(ds, 4, 3)
    (file,) = tmp_path.rglob("fields.npy")
    before = file.stat().st_mtime_ns
    np.testing.assert_array_equal(receptive_fields(ds, 4, 3), first)
    assert file.stat().st_mtime_ns == before
    receptive_fields(ds, 4, 2)
    receptive_fields(ds[:3], 4, 3)
    assert len(list(tmp_path.rglob("fields.npy"))) == 3
