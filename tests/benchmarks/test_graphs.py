"""The graphs that all sides run on."""

import numpy as np
import pytest

from benchmarks.peers.graphs import GraphSpec


@pytest.mark.parametrize("spec", [GraphSpec(300, 8), GraphSpec(1000, 4, hub=400)])
def test_edges_are_in_the_form_that_all_sides_take(spec):
    edges = spec.edges()
    source, target = edges.T.astype(np.int64)
    keys = target * spec.nodes + source
    assert edges.dtype == np.int32
    assert (np.diff(keys) > 0).all()  # sorted by target, then source, each once
    assert (source != target).all()
    assert np.array_equal(np.sort(source * spec.nodes + target), keys)  # both directions
    assert edges.min() >= 0 and edges.max() < spec.nodes


def test_mean_degree():
    assert len(GraphSpec(500, 8).edges()) == 500 * 8


def test_power_law_has_its_hub_and_a_tail():
    spec = GraphSpec(5000, 8, hub=3000)
    degrees = np.bincount(spec.edges()[:, 1], minlength=5000)
    assert degrees[0] == 3000
    assert np.sort(degrees)[-2] > 20 * np.median(degrees)


def test_the_same_spec_gives_the_same_graph(tmp_path):
    path, edges = GraphSpec(100, 4).write(tmp_path)
    with np.load(path) as arrays:
        assert len(arrays["edges"]) == edges
        assert arrays["x"].shape == (100, 48) and arrays["x"].dtype == np.float32
        assert np.array_equal(arrays["edges"], GraphSpec(100, 4).edges())
