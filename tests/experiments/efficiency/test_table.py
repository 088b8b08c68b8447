"""Which rows a table has; rows measured in a process of their own."""

from dataclasses import fields, replace

import pytest

from experiments.efficiency import measure, paper, requests, table
from ganet_tf.errors import ConfigError, RunError


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
    base = table.baseline(request)
    assert (base.group, base.seed) == (request.group, 4)
    assert (base.operator, base.implementation, base.k, base.gradients, base.trace) == ("gao", "dense", 0, False, None)


def test_an_impossible_degree_is_refused():
    with pytest.raises(ConfigError, match="5 nodes cannot have mean degree 8"):
        requests([100, 5])


def test_rows_come_back_compared_and_a_failing_one_stops_nothing():
    """One measuring process for all of it, because starting one takes seconds."""
    sparse = requests([200], [8], [4], operators=["gcn"], implementation="sparse", budget=0.0, threads=1)[0]
    broken = replace(sparse, operator="nonsense")
    large = replace(sparse, implementation="dense", memory_limit=1000)
    seen = []
    rows = measure([sparse, broken, large], progress=lambda *step: seen.append(step))
    assert [row.operator for row in rows] == ["gcn", "nonsense", "gcn"]
    assert [row.implementation for row in rows] == ["sparse", "sparse", "dense"]
    # Dense GAO was measured for the comparison, but is no row: it was not asked for.
    assert rows[0].speedup > 0
    assert rows[0].cost_saving > 0
    assert (rows[0].degree, rows[0].threads, rows[0].edges) == (4, 1, 800)
    assert rows[1].error == "KeyError: 'nonsense'"
    assert rows[1].time_ms is None
    assert rows[2].needs_bytes > 4 * 200**2
    assert rows[2].time_ms is None
    assert [step[:2] for step in seen] == [(i, 4) for i in range(5)]
    assert "200 nodes x 8: gao dense" in seen[0][2]


def test_a_measuring_process_that_dies_is_reported(monkeypatch):
    monkeypatch.setattr(table.sys, "executable", "false")
    with pytest.raises(RunError, match="ended unexpectedly"):
        measure(requests([200], operators=["gcn"], implementation="sparse"))


def test_a_row_has_what_the_paper_says_beside_what_was_measured():
    request = requests([1000], operators=["hgao"], implementation="sparse")[0]
    row = table.TableRow.of(request, time_ms=2.0)
    assert row.paper["time_ms"] == 5.61
    assert (row.madd_formula, row.memory_bytes_formula) == (paper.madd("hgao", 1000), paper.memory_bytes("hgao", 1000))
    assert (row.time_ms, row.degree, row.edges) == (2.0, 8, 8000)
    assert table.TableRow.of(replace(request, nodes=999)).paper is None
    assert table.TableRow.of(replace(request, operator="gcn")).madd_formula is None


def test_the_files_keep_the_order_of_their_columns():
    names = table.column_names()
    assert set(names) == {field.name for field in fields(table.TableRow)}
    assert names[:10] == [
        "nodes",
        "features",
        "units",
        "edges",
        "operator",
        "implementation",
        "k",
        "degree",
        "threads",
        "madd_formula",
    ]
    assert names[-5:] == ["error", "cost_saving", "memory_saving", "speedup", "paper"]
