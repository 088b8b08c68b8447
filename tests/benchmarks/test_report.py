"""Tables, goals and plots from saved sections."""

import json
from pathlib import Path

import pytest

from benchmarks.peers import record
from benchmarks.peers.environments import LIBRARIES
from benchmarks.peers.goals import goals, memory, worst
from benchmarks.peers.plot import COLORS, write_plots
from benchmarks.peers.report import MARKS, SPEED_MARKS, write_goals, write_report, write_speed
from benchmarks.peers.stages import split

ROOT = Path(__file__).parents[2]
SPREAD = {"median": 3.5, "low": 3.0, "high": 4.0, "count": 5}
RECORD = {
    "date": "2026-01-01T00:00:00+00:00",
    "git_revision": "abc",
    "python": "3.11",
    "versions": {"ours": {"tensorflow": "2"}, "pyg": {"torch": "2"}},
    "threads": 2,
    "hardware": {"processor": "a processor", "cores": 2, "memory_gib": 8.0},
    "load_average": [0.5, 0.5, 0.5],
    "implementation": "native",
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
        "ratios": [
            {"ours": "hgao", "side": "pyg", "operator": "gat", "mode": both, "time_ratio": SPREAD},
            {"ours": "hgao", "side": "ours", "operator": "hgao sparse", "mode": both, "time_ratio": SPREAD},
        ],
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
    rival = {
        **{"dataset": "DD", "model": "diffpool", "quick": False, "seconds": {"ours": SPREAD, "pyg": SPREAD}},
        **{"ratios": {"pyg": {**SPREAD, "median": 0.9}}, "bytes": {"ours": 10**7, "pyg": 6 * 10**7}},
        "skipped": {"pyg, memory": "out of memory"},
    }
    record.write(tmp_path, "rivals", RECORD, {"models": [rival]})
    record.write(tmp_path, "stages", RECORD, {"stages": [{"degree": 8, "ms": parts, "fused_ms": fused}]})
    return tmp_path


def test_report_has_every_section(folder):
    text = write_report(folder).read_text(encoding="utf-8")
    for part in ("2 cores of a processor", "## Goals", "## Operators", "## Training", "## Growth", "3.5 (3-4)"):
        assert part in text
    assert "PyG gcn: out of memory" in text
    assert "ganet_tf ran its native implementation" in text
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
    assert met["hGAO against PyG GATConv, degree 8"] is False
    assert met["hGAO against PyG GATConv, degree 32"] is None
    assert met["hGAO against our own sparse implementation, degree 8"] is True
    assert met["training epoch on DD against PyG"] is False
    assert met["exponent of hGAO's time over nodes, degree 8, forward + backward"] is True


def test_goals_are_written_between_the_marks_of_the_page(folder, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"before\n\n{MARKS[0]}\nold\n{MARKS[1]}\n\nafter\n", encoding="utf-8")
    write_goals(folder, page)
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n") and text.endswith("\nafter\n") and "old" not in text
    assert "| hGAO against PyG GATConv, degree 8 | 8x | 3.5 (3-4) | no |" in text
    ours = ROOT / "docs" / "performance.md"
    assert all(ours.read_text(encoding="utf-8").count(mark) == 1 for mark in MARKS)


def test_the_readmes_table_has_the_ratios_that_were_measured(folder, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"before\n{SPEED_MARKS[0]}\nold\n{SPEED_MARKS[1]}\nafter\n", encoding="utf-8")
    write_speed(folder, page)
    lines = page.read_text(encoding="utf-8").splitlines()
    assert (lines[0], lines[-1]) == ("before", "after") and "old" not in lines
    assert lines[3].startswith("|  | PyG |") and "| hGAO against their GAT, degree 8 / 32 | 3.5 / - |" in lines[5]


def test_the_readme_says_what_is_saved(tmp_path):
    """Nobody edits it by hand, and nobody forgets it."""
    page = tmp_path / "README.md"
    page.write_bytes((ROOT / "README.md").read_bytes())
    write_speed(ROOT / "results" / "benchmarks", page)
    assert page.read_bytes() == (ROOT / "README.md").read_bytes()


def test_every_library_has_a_colour():
    assert set(COLORS) == set(LIBRARIES)


def test_the_best_peer_and_memory():
    slow, quick = {**SPREAD, "median": 9.0}, {**SPREAD, "median": 1.2}
    names = ("ours", "side", "operator", "mode", "time_ratio", "memory_ratio")
    rows = [
        ("hgao", "pyg", "gat", "forward+backward", slow, 5.0),
        ("hgao", "dgl", "gat", "forward+backward", quick, 2.0),
        ("hgao", "dgl", "dotgat", "forward", {**SPREAD, "median": 0.5}, 1.0),
        ("hgao", "ours", "hgao sparse", "forward+backward", {**SPREAD, "median": 0.1}, 1.0),
    ]
    measured = {"ratios": [dict(zip(names, row, strict=True)) for row in rows]}
    assert worst(measured, "hgao") is quick and worst(measured, "gcn") is None and worst(None, "hgao") is None
    assert memory(measured, "hgao", "pyg", "gat", "forward+backward")["median"] == 5.0
    assert memory(measured, "hgao", "pyg", "gcn", "forward") is None


def test_stages_add_up():
    ms = {
        ("transforms", "forward"): 2.0,
        ("lists", "forward"): 1.0,
        ("lists and selection", "forward"): 4.0,
        ("attention", "forward"): 3.0,
        ("hgao sparse", "forward"): 9.5,
        ("hgao", "forward"): 3.5,
        ("transforms", "forward+backward"): 6.0,
        ("attention", "forward+backward"): 8.0,
        ("hgao sparse", "forward+backward"): 19.0,
        ("hgao", "forward+backward"): 8.0,
    }
    parts = split(ms)
    assert parts["selection"] == 3.0
    assert (parts["forward"], parts["forward, as chosen by itself"]) == (9.5, 3.5)
    assert parts["attention, backward"] == 5.0
    assert parts["matrix products, backward"] == 4.0


def test_a_record_is_json():
    made = record.record({"ours": {"versions": {"numpy": "2"}, "implementation": "native"}}, threads=2)
    assert json.loads(json.dumps(made))["versions"] == {"ours": {"numpy": "2"}}
    assert made["hardware"]["cores"] >= 1 and made["implementation"] == "native"


def test_rivals_stand_with_their_layers_memory_and_goals(folder):
    text = write_report(folder).read_text(encoding="utf-8")
    assert "| DD | diffpool | ganet_tf | 3.50" in text and "| 10 |" in text
    assert "| DD | diffpool | PyG: DenseSAGEConv, dense_diff_pool, padded | 3.50" in text and "| 60 |" in text
    assert "| diffpool on DD: an epoch against PyG | 1x | 0.9 (3-4) | no |" in text
    assert "| diffpool on DD: memory of the padded way | 5x | 6 (6-6) | yes |" in text
    assert "- diffpool on DD, pyg, memory: out of memory" in text
