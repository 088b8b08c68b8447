"""Rows measured in a process of their own."""

from dataclasses import replace

import pytest

from experiments.efficiency import measure, requests, table
from ganet_tf.errors import RunError


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
