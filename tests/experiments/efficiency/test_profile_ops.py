"""The command: a run through every output format, and its errors."""

import csv
import json

import pytest

import profile_ops
from ganet_tf.layers import operators

PROMISED = (
    "nodes",
    "operator",
    "implementation",
    "madd_formula",
    "madd_profiler",
    "memory_bytes_formula",
    "memory_bytes_profiler",
    "peak_rss_bytes",
    "time_ms",
    "speedup",
    "paper",
)
RUN = "--nodes 1000 --operators gao hgao cgao --implementation dense --budget 0 --threads 1 --gradients"


def test_a_run_at_1000_nodes_through_every_output_format(tmp_path, capsys):
    files = {kind: tmp_path / "out" / f"table.{kind}" for kind in ("json", "csv", "markdown")}
    arguments = RUN.split()
    for kind, path in files.items():
        arguments += [f"--{kind}", str(path)]
    arguments += ["--plot", str(tmp_path / "table.png"), "--trace", str(tmp_path / "trace")]
    assert profile_ops.main(arguments) == 0

    printed = capsys.readouterr()
    assert "1,000 nodes x 48 features, mean degree 8 (8,000 edges), k = 8, 1 thread" in printed.out
    assert "hgao (paper)" in printed.out
    assert "[2/3] 1,000 nodes x 48: cgao dense" in printed.err

    rows = json.loads(files["json"].read_text(encoding="utf-8"))
    assert [row["operator"] for row in rows] == ["gao", "hgao", "cgao"]
    for row in rows:
        assert set(PROMISED) <= set(row)
        assert all(row[name] is not None for name in PROMISED), row
        assert row["gradient_time_ms"] > 0
    assert [f"{row['madd_formula'] / 1e6:.3f}" for row in rows] == ["100.608", "37.888", "9.216"]
    assert rows[0]["speedup"] == 1.0
    assert rows[2]["paper"]["speedup"] == 9.99
    # One float [N, N] matrix and what else there is: the process grew by about what the trace says.
    assert 4e6 < rows[0]["memory_bytes_profiler"] < 8e6
    assert 3e6 < rows[0]["peak_rss_bytes"] < 40e6

    with open(files["csv"], encoding="utf-8", newline="") as file:
        assert [row["operator"] for row in csv.DictReader(file)] == ["gao", "hgao", "cgao"]
    assert "| *cgao (paper)* | *9.21* |" in files["markdown"].read_text(encoding="utf-8")
    assert (tmp_path / "table.png").read_bytes().startswith(b"\x89PNG")
    for name in ("gao-dense", "hgao-dense-k8", "cgao-dense"):
        assert list((tmp_path / "trace" / f"1000x48-degree8-{name}").rglob("*.xplane.pb"))


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("--nodes 0", "argument --nodes: got '0', expected a whole number of at least 1"),
        ("--nodes many", "argument --nodes: got 'many', expected a whole number of at least 1"),
        ("--degree -1", "argument --degree"),
        ("--degree nan", "argument --degree: got 'nan', expected a number of at least 0"),
        ("--operators hgoa", "got 'hgoa', expected some of gao hgao cgao topk sampled gcn; did you mean hgao?"),
        ("--implementation fast", "argument --implementation: invalid choice: 'fast'"),
        ("--plot table.xyz", "got 'table.xyz', expected a file name that ends in png, svg, pdf"),
        ("--json .", "got '.', which is a folder, expected the name of a file to write"),
        ("--trace profile_ops.py", "got 'profile_ops.py', which is a file, expected a folder"),
        ("--node 5", "unrecognized arguments: --node 5"),
    ],
)
def test_a_bad_flag_is_one_sentence_and_status_2(capsys, arguments, expected):
    with pytest.raises(SystemExit) as exit_info:
        profile_ops.main(arguments.split())
    assert exit_info.value.code == 2
    said = capsys.readouterr().err
    assert expected in said
    assert said.count("\n") == 1


def test_an_impossible_graph_is_one_sentence_and_status_2(capsys):
    assert profile_ops.main(["--nodes", "5"]) == 2
    said = capsys.readouterr().err.splitlines()
    assert said[-1].startswith("profile_ops.py: a graph of 5 nodes cannot have mean degree 8")


def test_what_is_measured_is_what_attends_and_the_convolution():
    attending = [name for name, row in operators.OPERATORS.items() if row.attends]
    assert list(operators.profiled_operators()) == [*attending, "gcn"]
    assert "linear" not in attending
