"""Which rows a table has."""

import pytest

from experiments.efficiency import plan, requests
from ganet_tf.errors import ConfigError


def names(found):
    return [(r.nodes, r.operator, r.implementation, r.k) for r in found]


def test_the_whole_table():
    found = requests()
    assert len(found) == 3 * 11
    assert {r.nodes for r in found} == {1000, 10000, 20000}
    assert {(r.operator, r.implementation) for r in found} == {
        (operator, way)
        for operator in ("gao", "hgao", "cgao", "topk", "sampled", "gcn")
        for way in ("dense", "sparse")
        if (operator, way) != ("cgao", "sparse")
    }


def test_cgao_is_one_row_whatever_is_asked_for():
    for way in ("dense", "sparse", "both"):
        assert names(requests([100], operators=["cgao"], implementation=way)) == [(100, "cgao", "dense", 0)]


def test_operators_without_k_are_measured_once():
    found = requests([100], ks=[4, 8], operators=["gao", "hgao"], implementation="sparse")
    assert names(found) == [(100, "gao", "sparse", 0), (100, "hgao", "sparse", 4), (100, "hgao", "sparse", 8)]


def test_repeated_sizes_are_measured_once():
    assert len(requests([100, 100], operators=["gao", "gao"], implementation="dense")) == 1


def test_every_combination_of_sizes_is_a_group():
    found = requests([50, 100], [4, 8], [2, 3], operators=["gcn"], implementation="sparse")
    assert len({r.group for r in found}) == len(found) == 8


def test_the_baseline_is_dense_gao_on_the_same_graph():
    request = requests([100], operators=["hgao"], implementation="sparse", gradients=True, trace="t", seed=4)[0]
    base = plan.baseline(request)
    assert (base.group, base.seed) == (request.group, 4)
    assert (base.operator, base.implementation, base.k, base.gradients, base.trace) == ("gao", "dense", 0, False, None)


def test_an_impossible_degree_is_refused():
    with pytest.raises(ConfigError, match="5 nodes cannot have mean degree 8"):
        requests([100, 5])
