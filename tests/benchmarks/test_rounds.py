"""Contenders take turns; whoever fails is left out with the reason."""

from benchmarks.peers.operators import OperatorBenchmark, Plan, compare, growth
from benchmarks.peers.rounds import Contender, measure
from benchmarks.peers.side import SideError


class FakeSide:
    """Answers as a worker would, from a table of seconds, and writes down the order of calls."""

    def __init__(self, name, seconds, diary, broken=()):
        self.name, self.seconds, self.diary, self.broken = name, seconds, diary, broken
        self.pid = 0

    def call(self, do, timeout=None, operator=None, **_):
        if (do, operator) in self.broken:
            raise SideError("no such kernel")
        if do == "run":
            self.diary.append((self.name, operator))
            return {"seconds": self.seconds[operator], "processor_seconds": 2 * self.seconds[operator]}
        if do == "prepare":
            return {"seconds": self.seconds[operator], "bytes": 1000}
        return None


def two_sides(**broken):
    diary = []
    ours = FakeSide("ours", {"hgao": 0.1}, diary, **broken)
    theirs = FakeSide("pyg", {"gat": 0.3, "gcn": 0.2}, diary)
    return [Contender(ours, "hgao", "forward"), *(Contender(theirs, o, "forward") for o in ("gat", "gcn"))], diary


def test_every_contender_runs_once_a_round_in_alternating_order():
    contenders, diary = two_sides()
    measure(contenders, "graph.npz", budget=0, least=2, most=2)
    names = [("ours", "hgao"), ("pyg", "gat"), ("pyg", "gcn")]
    assert diary == names + names[::-1]
    assert all(len(c.seconds) == 2 for c in contenders)


def test_rounds_end_with_the_budget():
    contenders, _ = two_sides()
    times = iter(range(0, 1000, 10))
    measure(contenders, "graph.npz", budget=35, least=1, most=50, clock=lambda: next(times))
    assert len(contenders[0].seconds) == 4


def test_a_slow_contender_sits_out_after_three_rounds():
    contenders, _ = two_sides()
    contenders[1].side.seconds["gat"] = 50.0
    times = iter(range(0, 1000, 10))
    measure(contenders, "graph.npz", budget=60, least=5, most=6, clock=lambda: next(times))
    assert len(contenders[1].seconds) == 3
    assert len(contenders[0].seconds) == 6


def test_a_failure_is_kept_as_the_reason():
    contenders, _ = two_sides(broken={("prepare", "hgao")})
    measure(contenders, "graph.npz", budget=0, least=1, most=1)
    assert contenders[0].skipped == "no such kernel"
    assert contenders[0].row()["seconds"] is None
    assert contenders[1].seconds == {0: 0.3}


def test_ratios_set_attention_against_attention():
    contenders, _ = two_sides()
    measure(contenders, "graph.npz", budget=0, least=1, most=1)
    (found,) = compare(contenders)
    assert (found["ours"], found["side"], found["operator"]) == ("hgao", "pyg", "gat")
    assert round(found["time_ratio"]["median"], 6) == 3.0
    assert found["processor_ratio"]["count"] == 1
    assert found["memory_ratio"] == 1.0


def test_what_would_not_fit_is_not_run(tmp_path):
    benchmark = OperatorBenchmark({}, tmp_path, Plan((), (), 0, 1, 1))
    contender, _ = two_sides()
    benchmark.per_entry[contender[1].key] = 1e15
    assert "would need about" in benchmark.too_large(contender[1], 10**6)
    assert benchmark.too_large(contender[0], 10**6) is None


def test_growth_is_fitted_over_the_graphs():
    def graph(nodes):
        row = {"side": "ours", "operator": "hgao", "mode": "forward", "peak_bytes": 5 * nodes}
        return {"nodes": nodes, "rows": [{**row, "seconds": {"median": 1e-6 * nodes}}]}

    (found,) = growth([graph(n) for n in (1000, 10_000, 100_000)])
    assert round(found["time"]["exponent"], 6) == round(found["memory"]["exponent"], 6) == 1.0
