"""`python -m experiments.report`: the same bytes each time, whatever is missing, and --check."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import experiments.report.__main__
from experiments.command_line import parse
from experiments.config import build_run, resolve, to_tree
from experiments.report import plots
from experiments.report.__main__ import main, outputs
from experiments.report.results import Results
from experiments.report.run import ROOT
from experiments.report.runs import graph_run, reported_runs
from experiments.report.writing import MARKS
from tests.experiments.report.made_up import summary, write, write_all

PAGES = (
    "RESULTS.md",
    "docs/attention.md",
    "docs/results/attention.md",
    "docs/results/contests.md",
    "docs/results/paired-tests.md",
    "docs/results/runs.md",
    "docs/results/tuning.md",
)
PICTURES = ("results/plots/graphs.png", "results/plots/k.png", "results/plots/nodes.png")


def report(root, *flags):
    return main(["--root", str(root), *flags])


def test_without_any_result(root, capsys):
    assert report(root) == 0
    assert all((root / name).is_file() for name in (*PAGES, *PICTURES))
    assert "not run yet" in (root / "RESULTS.md").read_text(encoding="utf-8")
    assert (root / "docs/results/runs.md").read_text(encoding="utf-8").startswith("# Every run\n\n0 of")
    assert "What is missing: python -m experiments.report.run" in capsys.readouterr().out


def test_everything_there_the_same_bytes_and_check(root, capsys):
    write_all(root / "results")
    assert report(root) == 0
    first = {name: (root / name).read_bytes() for name in (*PAGES, *PICTURES)}
    assert outputs(root) == first
    for page in PAGES:
        assert b"not run yet" not in first[page]
        assert not re.search(rb"2026-|/work/|/tmp/", first[page])
        links = re.findall(r"\]\(([^)]+)\)", first[page].decode())
        broken = [link for link in links if not (root / page).parent.joinpath(link.partition("#")[0]).exists()]
        assert set(broken) <= {"docs/reproduction.md", "operators.md"}  # written by hand
    assert b"](../../results/mutag/hganet/summary.json)" in first["docs/results/runs.md"]
    capsys.readouterr()
    (root / "RESULTS.md").write_text("by hand", encoding="utf-8")
    (root / PICTURES[0]).unlink()
    (root / "docs/results/runs.md").unlink()
    assert report(root, "--check") == 1
    said = capsys.readouterr().err
    assert (
        said
        == "Not what results/ gives: RESULTS.md, docs/results/runs.md, results/plots/graphs.png; run `make report`.\n"
    )
    assert report(root) == 0
    assert {name: (root / name).read_bytes() for name in first} == first


def test_readme_gets_the_short_form_between_its_marks(root, monkeypatch):
    monkeypatch.setattr(experiments.report.__main__, "plots", lambda results: {})  # three seconds each time
    readme = root / "README.md"
    readme.write_text("no marks", encoding="utf-8")
    report(root)
    assert readme.read_text(encoding="utf-8") == "no marks"
    readme.write_text(f"before\n{MARKS[0]}\nstale words\n{MARKS[1]}\nafter\n", encoding="utf-8")
    assert report(root, "--check") == 1
    report(root)
    text = readme.read_text(encoding="utf-8")
    assert text.startswith(f"before\n{MARKS[0]}\n\n| test accuracy, % |") and text.endswith(f"{MARKS[1]}\nafter\n")
    assert "stale words" not in text
    assert report(root, "--check") == 0


def test_broken_summary_is_named(root, capsys):
    write(root / "results", graph_run("DD", "hganet"), {"folds": []})
    assert report(root) == 2
    said = capsys.readouterr().err
    assert "results/dd/hganet/summary.json" in said and "--only dd/hganet" in said


def test_picture_from_other_versions_counts_by_its_values(root, monkeypatch):
    run = graph_run("MUTAG", "hganet")
    write(root / "results", run, summary(run, [80.0, 90.0]))
    here = plots.png(plots.k_values(Results(root / "results")))
    write(root / "results", run, summary(run, [80.0, 91.0]))
    changed = plots.png(plots.k_values(Results(root / "results")))
    monkeypatch.setattr(plots, "tools", lambda: "matplotlib 0.1")
    write(root / "results", run, summary(run, [80.0, 90.0]))
    elsewhere = plots.png(plots.k_values(Results(root / "results")))
    assert here != elsewhere and plots.same_picture(here, elsewhere)
    assert not plots.same_picture(changed, elsewhere)
    assert not plots.same_picture(b"not a picture", elsewhere)


def committed(folder):
    """A copy of what git has of the report and its results: a training at work adds others all the time."""
    parts = ("results", "RESULTS.md", "docs/results", "docs/attention.md", "README.md")
    command = ["git", "-C", str(ROOT), "ls-files", "-z", "--", *parts]
    found = subprocess.run(command, capture_output=True, text=True, check=False) if shutil.which("git") else None
    if found is None or found.returncode != 0:
        return ROOT  # not a clone
    for name in filter(None, found.stdout.split("\0")):
        if (ROOT / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, folder / name)
    return folder


def test_committed_report_is_what_committed_results_give(tmp_path):
    assert report(committed(tmp_path), "--check") == 0, "git add results, make report, commit both"


def finished():
    results = Results(ROOT / "results")
    return [run for run in reported_runs() if results.get(run)]


@pytest.mark.parametrize("run", finished(), ids=lambda run: run.name)
def test_command_beside_a_committed_figure_still_means_the_same_run(run):
    now = to_tree(resolve(parse(run.arguments))[0])
    then = to_tree(build_run(Results(ROOT / "results").get(run)["config"]))
    assert now | ({"splits": then["splits"]} if now.get("splits") == "auto" else {}) == then


def test_make_targets():
    makefile = (Path(ROOT) / "Makefile").read_text(encoding="utf-8")
    assert "report: $(READY)\n\t@$(PY) -m experiments.report\n" in makefile
    assert "results: $(READY)\n\t@$(PY) -m experiments.report.run\n" in makefile
