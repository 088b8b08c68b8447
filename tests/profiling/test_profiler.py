"""`profile`: one row for a layer, ours or anybody's."""

import keras
import pytest

from ganet_tf import layers
from ganet_tf.layers.operators import profiled_operators
from ganet_tf.profiling import Row, Size, counts, profile, profiler, simulated_edges, simulated_features

N, F = 300, 16


@pytest.fixture(scope="module")
def graph():
    return simulated_features(N, F), simulated_edges(N, 6)


def small(layer, graph, **options):
    return profile(layer, *graph, budget=0.0, **options)


@pytest.mark.parametrize("operator", list(profiled_operators()))
def test_every_operator_gets_full_rows(operator):
    """Dense operators hold an N x N matrix and sparse ones do not; the rest of a row is alike."""
    x, edges = simulated_features(1500, 8), simulated_edges(1500, 4)
    rows = {}
    for way in ("dense",) if operator == "cgao" else ("dense", "sparse"):
        row = rows[way] = small(profiler.make_layer(operator, way, 8, 4), (x, edges))
        assert (row.nodes, row.features, row.units, row.edges) == (1500, 8, 8, len(edges))
        assert (row.operator, row.implementation) == (operator, way)
        assert 0 < row.time_ms_low <= row.time_ms <= row.time_ms_high
        assert row.peak_rss_bytes >= 0
        assert row.memory_bytes_requested > 0
        # The profiler counts matrix products and the softmax, and misses CSR products and loops.
        assert 0.2 * row.madd_exact < row.madd_profiler < 1.8 * row.madd_exact
    if operator != "cgao":
        assert rows["dense"].memory_bytes_profiler > 4 * 1500**2 > rows["sparse"].memory_bytes_profiler
        needed = counts.needed_bytes(operator, "dense", Size.of(edges, 1500, 8, 8, rows["dense"].k))
        assert 0.95 * rows["dense"].memory_bytes_profiler <= needed <= 1.6 * rows["dense"].memory_bytes_profiler


def test_dense_gao_is_counted_as_the_paper_does(graph):
    row = small(layers.GAO(F, implementation="dense"), graph)
    assert row.madd_exact == 2 * N * N * F + 2 * N * F * F
    softmax = 5 * N * N / 2
    assert row.madd_profiler == pytest.approx(row.madd_exact + softmax, rel=0.03)


def test_units_need_not_be_features(graph):
    row = small(layers.HGAO(5, k=3), graph, memory_limit=0)
    assert (row.units, row.k) == (5, 3)
    assert row.madd_exact == 2 * N * F + N * F * (F + 5) + N * 3 * (F + 5)


def test_gradients_are_timed_on_request(graph):
    assert small(layers.CGAO(F), graph).gradient_time_ms is None
    row = small(layers.GCN(F), graph, gradients=True)
    assert row.gradient_time_ms_low <= row.gradient_time_ms <= row.gradient_time_ms_high


def test_a_layer_that_does_not_fit_is_not_tried(graph):
    row = small(layers.GAO(F, implementation="dense"), graph, memory_limit=1000)
    assert row.needs_bytes > 4 * N * N
    assert row.time_ms is None
    assert row.madd_exact is not None


def test_a_baseline_gives_savings(graph):
    base = small(layers.GAO(F, implementation="dense"), graph)
    row = small(layers.CGAO(F), graph, baseline=base)
    assert row.speedup == pytest.approx(base.time_ms / row.time_ms)
    assert row.cost_saving > 0
    assert row.memory_saving > 0


class Mine(keras.layers.Layer):
    def build(self, x_shape, edges_shape=None):
        self.kernel = self.add_weight(shape=(x_shape[-1], 7))

    def call(self, x, edges):
        return keras.ops.matmul(x, self.kernel) + keras.ops.cast(keras.ops.shape(edges)[0], "float32")


def test_a_layer_of_ones_own(graph):
    row = small(Mine(), graph)
    assert (row.operator, row.implementation) == ("mine", "dense")
    assert row.madd_exact is None
    assert row.madd_profiler == pytest.approx(N * F * 7, rel=0.15)
    assert row.time_ms > 0


def test_a_layer_without_a_graph(graph):
    row = profile(keras.layers.Dense(7, use_bias=False), graph[0], budget=0.0)
    assert (row.operator, row.edges, row.units) == ("dense", 0, 7)
    assert row.madd_profiler == N * F * 7
    assert row.memory_bytes_profiler == 4 * (N * F + F * 7 + N * 7)


def test_a_trace_for_tensorboard_is_written(graph, tmp_path):
    small(layers.CGAO(F), graph, trace=tmp_path / "trace")
    assert list((tmp_path / "trace").rglob("*.xplane.pb"))


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
