"""The documentation builds without a warning, its Python runs, its links lead somewhere, every public name is there."""

import importlib
import json
import re
import statistics
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
MODULES = ("layers", "models", "data", "explain", "litert", "ops", "native", "optimizers", "profiling", "errors")
# These have tests of their own: tests/experiments/test_own_data_docs.py, tests/distributed/test_docs.py.
PAGES = [path for path in sorted(DOCS.glob("*.md")) if path.name not in ("data.md", "distributed.md")]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site, built as `make docs` builds it, with warnings as errors."""
    pytest.importorskip("sphinx", reason="needs the extra `docs`")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-d", str(folder / "cache")]
    done = subprocess.run([*command, str(DOCS), str(folder / "html")], capture_output=True, text=True, timeout=600)
    problems = [line for line in done.stderr.splitlines() if re.search(r"WARNING: (?!All log)|ERROR: |Error", line)]
    assert done.returncode == 0, "\n".join(problems)
    return folder / "html"


def test_every_public_name_has_its_entry(site):
    lines = zlib.decompress((site / "objects.inv").read_bytes().split(b"\n", 4)[4]).decode().splitlines()
    found = {line.split(" ", 1)[0] for line in lines}
    missing = []
    for module in MODULES:
        part = importlib.import_module(f"ganet_tf.{module}")
        names = getattr(part, "__all__", [name for name in vars(part) if not name.startswith("_")])
        public = [name for name in names if callable(getattr(part, name))]  # classes and functions
        missing += [f"{module}.{name}" for name in public if f"ganet_tf.{module}.{name}" not in found]
    assert missing == []


def test_formulas_are_drawn_and_nothing_comes_from_elsewhere(site):
    page = (site / "api" / "layers.html").read_text(encoding="utf-8")
    assert page.count("<math") >= 12 and "<sub>" in page
    assert (site / "_static" / "STIXGeneral.ttf").exists()  # site.css draws formulas with it
    for path in site.rglob("*.html"):
        tags = re.findall(r'<(?:script|link|img)[^>]*(?:src|href)="(https?:[^"]*)"', path.read_text(encoding="utf-8"))
        assert tags == [], path


def test_constructors_are_shown_with_their_own_arguments(site):
    page = re.sub("<[^>]*>", "", (site / "api" / "layers.html").read_text(encoding="utf-8"))
    assert re.search(r"class ganet_tf\.layers\.HGAO\(units, k=8", page)


def test_nothing_shows_through_that_is_not_meant_for_readers(site):
    for path in [*site.glob("*.html"), *site.glob("api/*.html"), *site.glob("tutorials/*.html")]:
        page = re.sub("<[^>]*>", "", path.read_text(encoding="utf-8"))
        found = re.findall(r"object at 0x|Alias for field|\{download\}|\*args, \*\*kwargs", page)
        assert found == [], path


def blocks(path):
    return re.findall(r"^```python\n(.*?)^```", path.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("path", [path for path in PAGES if blocks(path)], ids=lambda path: path.name)
def test_the_python_of_a_page_runs_as_printed(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    for number, block in enumerate(blocks(path)):
        exec(compile(block, f"{path.name}, block {number}", "exec"), names)


@pytest.mark.parametrize("path", sorted((DOCS / "tutorials").glob("*.ipynb")), ids=lambda path: path.name)
def test_a_notebook_runs_and_is_committed_with_its_outputs(path, tmp_path):
    client = pytest.importorskip("nbclient", reason="needs the extra `docs`")
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    pytest.importorskip("optuna") if "optuna" in path.read_text(encoding="utf-8") else None
    notebook = nbformat.read(path, 4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert any(cell.outputs for cell in code) and path.stat().st_size < 300_000
    assert not [cell for cell in code for output in cell.outputs if output.output_type == "error"]
    client.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()


def test_links_lead_somewhere():
    lost = []
    for path in [*DOCS.rglob("*.md"), ROOT / "RESULTS.md", ROOT / "CONTRIBUTING.md"]:
        for link in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8")):
            if "://" not in link and not (path.parent / link).exists():
                lost.append(f"{path.relative_to(ROOT)}: {link}")
    assert lost == []


def test_tables_have_the_figures_that_were_measured():
    from benchmarks.mobile import table

    measured = json.loads((ROOT / "results" / "benchmarks" / "mobile.json").read_text(encoding="utf-8"))
    assert table(measured["rows"]) in (DOCS / "mobile.md").read_text(encoding="utf-8")
    tasks = json.loads((ROOT / "results" / "attention" / "faithfulness.json").read_text(encoding="utf-8"))["tasks"]
    page = (DOCS / "explain.md").read_text(encoding="utf-8")
    for method in tasks["BA2Motifs"]["methods"]:
        of = [tasks[task]["methods"][method] for task in ("BA2Motifs", "Experts")]
        means = [statistics.mean(one[measure]) for one in of for measure in ("auc", "auc_within", "fidelity")]
        assert f"| {method} | {' | '.join(f'{mean:.2f}' for mean in means)} |" in page


def test_no_page_repeats_another():
    seen, twice = {}, []
    for path in [*DOCS.rglob("*.md"), ROOT / "README.md"]:
        text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
        for sentence in re.split(r"(?<=[.:])\s+|\n\n|\n\|", text):
            words = " ".join(sentence.split())
            if len(words) > 120 and seen.setdefault(words, path) != path:
                twice.append(f"{path.name} and {seen[words].name}: {words[:80]}")
    assert twice == []
