"""A row's savings and speed-up."""

import pytest

from ganet_tf.profiling import Row


def row(**values):
    return Row(nodes=10, features=4, units=4, edges=20, operator="hgao", implementation="sparse", **values)


def test_savings_are_percent_less_and_speedup_is_times_faster():
    base = row(madd_exact=200, memory_bytes_profiler=1000, time_ms=30.0)
    ours = row(madd_exact=50, memory_bytes_profiler=1500, time_ms=10.0).against(base)
    assert ours.cost_saving == pytest.approx(75.0)
    assert ours.memory_saving == pytest.approx(-50.0)
    assert ours.speedup == pytest.approx(3.0)


def test_what_was_not_measured_is_not_compared():
    base = row(madd_exact=200, needs_bytes=10**12)
    ours = row(madd_exact=50, memory_bytes_profiler=1500, time_ms=10.0).against(base)
    assert ours.cost_saving == pytest.approx(75.0)
    assert ours.memory_saving is None
    assert ours.speedup is None
