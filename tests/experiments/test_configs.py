"""The shipped configs: all of them load, are complete and stand in the README's table."""

import re
from pathlib import Path

import pytest

from experiments import config as settings
from experiments import console, paper

CONFIGS = Path(__file__).resolve().parents[2] / "configs"
FILES = sorted(path.name for path in CONFIGS.glob("*.yaml"))
GRAPH = ["MUTAG", "PTC", "PROTEINS", "DD", "IMDB-M", "COLLAB"]
NODE = ["Cora", "Citeseer", "Pubmed"]


@pytest.mark.parametrize("name", FILES)
def test_every_config_loads_and_its_name_says_what_it_is(name):
    config = settings.load(CONFIGS / name)
    stem = f"{config.dataset.replace('-', '').lower()}_{config.model.name}.yaml"
    assert name == stem
    assert config.task == ("node" if config.dataset in [*NODE, "Karate"] else "graph")


def test_every_data_set_has_its_models():
    expected = {f"{d.replace('-', '').lower()}_{m}.yaml" for d in GRAPH for m in ("hganet", "cganet", "ganet", "dgcnn")}
    expected |= {f"{d.lower()}_{m}.yaml" for d in NODE for m in ("hganet", "cganet", "ganet", "gcn", "gat")}
    assert set(FILES) == expected | {"ba2motifs_hganet.yaml", "karate_hganet.yaml"}


def test_readme_lists_exactly_the_files():
    readme = (CONFIGS / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| \[?`?([a-z0-9_]+\.yaml)", readme, flags=re.MULTILINE) == FILES


def test_readme_has_the_papers_figures():
    readme = (CONFIGS / "README.md").read_text(encoding="utf-8")
    for name in FILES:
        config = settings.load(CONFIGS / name)
        cell = paper.cell(config.dataset, config.model.name)
        row = next(line for line in readme.splitlines() if line.startswith(f"| `{name}`"))
        assert f"| {cell.place if cell else '-'} | {cell.text if cell else '-'} |" in row


@pytest.mark.parametrize("name", FILES)
def test_the_comment_quotes_the_papers_figure(name):
    config = settings.load(CONFIGS / name)
    cell = paper.cell(config.dataset, config.model.name)
    if cell and cell.accuracy is not None:
        assert cell.text in (CONFIGS / name).read_text(encoding="utf-8").splitlines()[0]


def test_list_prints_every_config(capsys):
    assert console.show_list() == 0
    printed = capsys.readouterr().out
    assert all(dataset in printed for dataset in GRAPH + NODE)
    assert len(console.list_rows()) == len(FILES)


def test_papers_tables():
    assert paper.cell("DD", "hganet", "hgao").accuracy == 81.71
    assert paper.cell("DD", "ganet").text == "OOM"
    assert paper.cell("Cora", "gat").text == "83.0 ± 0.7"
    assert paper.cell("MUTAG", "hganet", "linear") is None
    assert paper.cell("Cora", "cganet") is None and paper.cell("Karate", "hganet") is None
    assert paper.cell("PTC", "ganet").place == "Table 7, GANet on PTC"
    assert paper.TABLE_7["hGANet"] is paper.TABLE_5["hGANet"]
