"""The README's Python runs as printed, its links lead somewhere, and its example is as short as promised."""

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_block_runs_as_printed(number, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    exec(compile(BLOCKS[number], f"README block {number}", "exec"), {})
    if "fit(" in BLOCKS[number]:
        assert (tmp_path / "model.keras").is_file()
        accuracy = re.findall(r"'accuracy': ([0-9.]+)", capsys.readouterr().out)[-1]
        assert float(accuracy) > 0.9  # it learns


def test_fit_example_has_at_most_twelve_lines():
    lines = [line for line in BLOCKS[0].splitlines() if line.strip()]
    assert "fit(" in BLOCKS[0] and len(lines) <= 12


def test_links_lead_somewhere():
    links = re.findall(r"\]\(([^)#]+)\)", TEXT)
    assert links
    assert [link for link in links if "://" not in link and not (ROOT / link).exists()] == []


def test_the_memory_of_a_large_graph_is_what_was_measured():
    """In README.md and in the table of docs/large-graphs.md."""
    saved = json.loads((ROOT / "results/benchmarks/scale.json").read_text(encoding="utf-8"))
    said = f"{saved['large']['result']['peak_bytes']['VmRSS'] / 1e9:.1f} GB"
    page = (ROOT / "docs/large-graphs.md").read_text(encoding="utf-8")
    assert f"train within {said}" in " ".join(TEXT.split()) and f"most resident memory | {said} |" in page


def test_names_both_commands():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in ("demo", "test"):
        assert f"make {target}" in TEXT
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)
