"""The table as text and files."""

import csv
import io
import json
import re
from dataclasses import replace

import pytest

from experiments.efficiency import TableRow, paper, plot, text

ROWS = [
    TableRow(
        nodes=nodes,
        features=48,
        units=48,
        edges=8 * nodes,
        operator=operator,
        implementation=way,
        k=8 if operator == "hgao" else 0,
        degree=8.0,
        threads=2,
        madd_formula=paper.madd(operator, nodes),
        madd_exact=5.47e6,
        madd_profiler=5.2e6,
        madd_uncounted=["Exp"] if way == "sparse" else [],
        memory_bytes_formula=4978432,
        memory_bytes_profiler=5_660_000,
        memory_bytes_requested=9_000_000,
        peak_rss_bytes=5_290_000,
        time_ms=7.2 * nodes / 1000,
        time_ms_low=6.8,
        time_ms_high=8.3,
        repeats=50,
        cost_saving=94.56,
        memory_saving=-3.4,
        speedup=2.16,
        paper=paper.cell(operator, nodes),
    )
    for nodes in (1000, 5000)
    for operator in ("gao", "hgao")
    for way in ("dense", "sparse")
]
REFUSED = replace(ROWS[4], time_ms=None, memory_bytes_profiler=None, needs_bytes=80 * 10**9)
FAILED = replace(ROWS[5], time_ms=None, time_ms_low=None, error="ValueError: no")


def printed(rows):
    file = io.StringIO()
    text.print_table(rows, file=file)
    return file.getvalue()


def test_the_terminal_shows_our_numbers_and_the_papers_under_them():
    lines = printed(ROWS).splitlines()
    at = next(i for i, line in enumerate(lines) if "hgao sparse" in line)
    assert "5.47" in lines[at]
    assert "94.56%" in lines[at]
    assert "2.16x" in lines[at]
    assert "hgao (paper)" in lines[at + 1]
    assert "62.34%" in lines[at + 1]
    assert "1.46x" in lines[at + 1]
    assert sum("(paper)" in line for line in lines) == 2  # the paper has no 5000 nodes


def test_no_digit_is_lost_in_a_wide_table():
    wide = replace(ROWS[0], nodes=20000, madd_formula=38492.16e6, madd_exact=38492.16e6, madd_profiler=39493.1e6)
    wide = replace(wide, time_ms=12784.45, time_ms_low=12000, time_ms_high=13000, speedup=1383.41)
    wide = replace(wide, memory_bytes_formula=1619.2e6, memory_bytes_profiler=2014e6, peak_rss_bytes=2014e6)
    shown = printed([wide])
    assert "38,492.16" in shown
    assert "1,383.41x" in shown
    assert "…" not in shown


def test_what_does_not_fit_says_what_it_would_need():
    shown = printed([REFUSED])
    assert "would need 80.0 GB" in shown
    assert "would need 80.0 GB" in text.markdown([REFUSED])


def test_a_failure_is_told():
    assert "gao sparse at 5,000 nodes failed: ValueError: no." in printed([FAILED])


def test_uncounted_ops_are_named():
    assert "gao sparse: Exp; hgao sparse: Exp." in printed(ROWS)


def test_gradients_get_a_column():
    assert "fwd+bwd" not in printed(ROWS)
    assert "fwd+bwd" in printed([replace(row, gradient_time_ms=20.0) for row in ROWS])


def test_several_k_are_told_apart():
    lines = text.groups([ROWS[3], replace(ROWS[3], k=16, paper=None)])[0].lines
    assert [line[0] for line in lines] == ["hgao sparse k=8", "hgao sparse k=16", "hgao (paper)"]


def test_json(tmp_path):
    text.write_json(ROWS, tmp_path / "new" / "rows.json")
    rows = json.loads((tmp_path / "new" / "rows.json").read_text(encoding="utf-8"))
    assert rows == [row.as_dict() for row in ROWS]
    assert rows[0]["paper"]["time_ms"] == 8.19
    assert rows[-1]["paper"] is None


def test_csv(tmp_path):
    text.write_csv([*ROWS, REFUSED], tmp_path / "rows.csv")
    with open(tmp_path / "rows.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(ROWS) + 1
    assert float(rows[0]["paper_time_ms"]) == 8.19
    assert rows[-1]["time_ms"] == ""
    assert rows[1]["madd_uncounted"] == "Exp"


def test_markdown_is_a_table(tmp_path):
    text.write_markdown(ROWS, tmp_path / "table.md")
    lines = (tmp_path / "table.md").read_text(encoding="utf-8").splitlines()
    table = [line for line in lines if line.startswith("|")]
    assert len({line.count("|") for line in table}) == 1
    assert "| *gao (paper)* |" in "\n".join(table)


def test_markdown_goes_between_the_marks_of_a_document(tmp_path):
    path = tmp_path / "doc.md"
    path.write_text(f"# Title\n\n{text.MARKS[0]}\nold\n{text.MARKS[1]}\n\nThe end.\n", encoding="utf-8")
    for _ in range(2):  # again and again
        text.write_markdown(ROWS, path, "A remark.")
        written = path.read_text(encoding="utf-8")
        assert written.startswith("# Title\n")
        assert written.endswith("The end.\n")
        assert written.count("hgao (paper)") == 1
        assert "- A remark.\n" in written
        assert "old" not in written


def test_the_environment_names_the_versions_and_tells_of_other_work(monkeypatch):
    monkeypatch.setattr(text.os, "getloadavg", lambda: (0.0, 0.0, 0.0))
    assert "TensorFlow 2" in text.environment()
    assert "Other work" not in text.environment()
    monkeypatch.setattr(text.os, "getloadavg", lambda: (64.0, 0.0, 0.0))
    assert "Other work was running when it began (load average 64.0)" in text.environment()


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_plot(tmp_path, ending):
    plot.write_plot([*ROWS, REFUSED], tmp_path / f"plot.{ending}")
    start = (tmp_path / f"plot.{ending}").read_bytes()[:8]
    assert start.startswith({"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[ending])


def test_the_plot_has_a_line_an_operator_and_implementation_and_the_papers_points():
    axes = plot.draw(ROWS).axes
    assert len(axes) == 2
    for panel in axes:
        assert (panel.get_xscale(), panel.get_yscale()) == ("log", "log")
        lines = {line.get_label(): line for line in panel.lines}
        assert {"gao dense", "gao sparse", "hgao dense", "hgao sparse"} <= set(lines)
        assert list(lines["hgao sparse"].get_xdata()) == [1000, 5000]
        crosses = [line for line in panel.lines if line.get_marker() == "x"]
        assert {tuple(line.get_xdata()) for line in crosses} == {(1000,)}


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "rows.json"
    path.write_text("old", encoding="utf-8")
    monkeypatch.setattr(text.os, "replace", lambda *_: (_ for _ in ()).throw(OSError("no space")))
    with pytest.raises(OSError, match="no space"):
        text.write_json(ROWS, path)
    assert [p.name for p in tmp_path.iterdir()] == ["rows.json"]
    assert path.read_text(encoding="utf-8") == "old"


class Terminal(io.StringIO):
    """A terminal of some width."""

    def isatty(self):
        return True


@pytest.mark.parametrize(("columns", "whole"), [("80", False), ("140", True)])
def test_a_narrow_terminal_gets_fewer_columns_instead_of_wrapped_lines(monkeypatch, columns, whole):
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setenv("TERM", "xterm")
    file = Terminal()
    text.print_table([replace(row, gradient_time_ms=12.5) for row in ROWS], file=file)
    lines = re.sub("\x1b\\[[0-9;]*m", "", file.getvalue()).splitlines()
    table = [line.rstrip() for line in lines if "hgao" in line and "x" in line and "%" in line]
    assert max(map(len, table)) <= int(columns)
    assert any("quartiles" in line for line in lines) == whole
    assert any("shows all of them" in line for line in lines) != whole
    assert all("2.16x" in line or "(paper)" in line for line in table)
