"""Tables, goals and plots from saved sections."""

import json

import pytest

from benchmarks.peers import record
from benchmarks.peers.goals import goals
from benchmarks.peers.plot import write_plots
from benchmarks.peers.report import write_report
from benchmarks.peers.stages import split

SPREAD = {"median": 3.5, "low": 3.0, "high": 4.0, "count": 5}
RECORD = {
    "date": "2026-01-01T00:00:00+00:00",
    "git_revision": "abc",
    "python": "3.11",
    "versions": {"ours": {"tensorflow": "2"}, "pyg": {"torch": "2"}},
    "threads": 2,
    "hardware": {"processor": "a processor", "cores": 2, "memory_gib": 8.0},
    "load_average": [0.5, 0.5, 0.5],
}


def row(side, operator, mode, skipped=None):
    times = None if skipped else {"median": 0.01, "low": 0.01, "high": 0.02, "count": 3}
    return {"side": side, "operator": operator, "mode": mode, "seconds": times, "peak_bytes": 10**7, "skipped": skipped}


@pytest.fixture
def folder(tmp_path):
    both = "forward+backward"
    graph = {
        "graph": "20,000 nodes, degree 8",
        "nodes": 20_000,
        "degree": 8,
        "hub": 0,
        "edges": 160_000,
        "rows": [row("ours", "hgao", both), row("pyg", "gat", both), row("pyg", "gcn", both, "out of memory")],
        "ratios": [{"ours": "hgao", "side": "pyg", "operator": "gat", "mode": both, "time_ratio": SPREAD}],
    }
    fit = {"exponent": 1.05, "error": 0.01, "points": 3}
    series = {
        **{"side": "ours", "operator": "hgao", "mode": both, "nodes": [10, 100], "seconds": [1, 10]},
        **{"peak_bytes": [5, 50], "time": fit, "memory": fit},
    }
    dataset = {
        **{"dataset": "DD", "quick": False, "seconds": {"ours": SPREAD, "pyg": SPREAD}},
        **{"ratios": {"pyg": {**SPREAD, "median": 1.5}}, "skipped": {}},
    }
    parts = {"selection": 1.0, "forward": 2.0}
    fused = {"selection": 0.5, "attention": 0.5, "backward": 0.5}
    record.write(tmp_path, "operators", RECORD, {"graphs": [graph]})
    record.write(tmp_path, "growth", RECORD, {"series": [series], "nodes": [10, 100]})
    record.write(tmp_path, "training", RECORD, {"datasets": [dataset]})
    record.write(tmp_path, "stages", RECORD, {"stages": [{"degree": 8, "ms": parts, "fused_ms": fused}]})
    return tmp_path


def test_report_has_every_section(folder):
    text = write_report(folder).read_text(encoding="utf-8")
    for part in ("2 cores of a processor", "## Goals", "## Operators", "## Training", "## Growth", "3.5 (3-4)"):
        assert part in text
    assert "PyG gcn: out of memory" in text
    assert "1.05 ± 0.01" in text


def test_report_of_an_empty_folder(tmp_path):
    assert "# Benchmarks" in write_report(tmp_path).read_text(encoding="utf-8")
    assert write_plots(tmp_path) == []


def test_plots_are_written(folder):
    paths = write_plots(folder)
    assert [path.name for path in paths] == ["growth.png", "ratios.png", "training.png"]
    assert all(path.stat().st_size > 1000 for path in paths)


def test_goals_say_what_is_met_missed_and_not_measured(folder):
    found = goals(*(record.read(folder, name) for name in ("operators", "training", "growth")))
    met = {goal.text: goal.met for goal in found}
    assert met["hGAO, forward + backward, degree 8, against PyG GATConv"] is True
    assert met["the same, degree 32"] is None
    assert met["training epoch on DD against PyG"] is False
    assert met["exponent of hGAO's time over nodes, degree 8, forward + backward"] is True


def test_stages_add_up():
    ms = {
        ("transforms", "forward"): 2.0,
        ("lists", "forward"): 1.0,
        ("lists and selection", "forward"): 4.0,
        ("attention", "forward"): 3.0,
        ("hgao", "forward"): 9.5,
        ("transforms", "forward+backward"): 6.0,
        ("attention", "forward+backward"): 8.0,
        ("hgao", "forward+backward"): 19.0,
    }
    parts = split(ms)
    assert parts["selection"] == 3.0
    assert parts["attention, backward"] == 5.0
    assert parts["matrix products, backward"] == 4.0


def test_a_record_is_json():
    made = record.record({"ours": {"versions": {"numpy": "2"}}}, threads=2)
    assert json.loads(json.dumps(made))["versions"] == {"ours": {"numpy": "2"}}
    assert made["hardware"]["cores"] >= 1
