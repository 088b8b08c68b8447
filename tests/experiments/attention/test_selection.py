"""Shares of nodes with more than k candidates."""

import json

import numpy as np
import pytest

from experiments.attention import measures
from experiments.attention.measures import degrees_of, load, selection, write_selection
from ganet_tf import data

# Percent of nodes with more than k candidates, counted by other code: k = 4 and 8, without and with the node itself.
COUNTED = {
    "MUTAG": (0, 0.03, 0, 0),
    "PTC": (0, 13.5, 0, 0),
    "PROTEINS": (22.5, 54.8, 0.13, 0.32),
    "IMDB-M": (88.4, 96.5, 36.3, 45.3),
    "Cora": (25.8, 40.1, 5.4, 7.5),
    "Pubmed": (24.2, 28.8, 14.7, 16.3),
}


def test_counts_by_hand():
    found = selection(np.array([0, 3, 4, 8, 70]), ks=(4, 8, 64))
    assert found["nodes"] == 5 and found["max_degree"] == 70
    assert found["active"] == {"4": 3, "8": 2, "64": 1}
    assert found["active_without_self"] == {"4": 2, "8": 1, "64": 1}


def test_degrees_of_graphs_and_of_nodes(monkeypatch):
    monkeypatch.setattr(measures, "GRAPHS_AT_ONCE", 3)
    graphs = data.load("BA2Motifs", num_graphs=8)
    expected = np.concatenate([np.bincount(graph.edges[:, 1], minlength=25) for graph in graphs])
    np.testing.assert_array_equal(degrees_of(graphs), expected)
    assert degrees_of(data.load("Karate")).max() == 17


def test_what_is_there_is_kept(tmp_path):
    path = tmp_path / "attention" / "selection.json"
    first = write_selection(path, datasets=("Karate",))
    path.write_text(json.dumps({**first, "Karate": {**first["Karate"], "nodes": 1}}))
    assert write_selection(path, datasets=("Karate",))["Karate"]["nodes"] == 1


@pytest.mark.real_data
@pytest.mark.parametrize("name", COUNTED)
def test_real_data(name, data_dir):
    found = selection(degrees_of(load(name, data_dir)))
    counts = [found[kind][k] for k in ("4", "8") for kind in ("active_without_self", "active")]
    np.testing.assert_allclose([100 * count / found["nodes"] for count in counts], COUNTED[name], atol=0.05)
