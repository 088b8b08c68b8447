"""The shipped configs: files and derived ones load, are complete and stand in the README's table."""

import re
from pathlib import Path

import pytest

from experiments import config as settings
from experiments import console, paper
from experiments.command_line import parse

CONFIGS = Path(__file__).resolve().parents[2] / "configs"
FILES = sorted(path.name for path in CONFIGS.glob("*.yaml"))
SHIPPED = settings.all_configs()
GRAPH = ["MUTAG", "PTC", "PROTEINS", "DD", "IMDB-M", "COLLAB"]
NODE = ["Cora", "Citeseer", "Pubmed"]


def stem(dataset):
    return dataset.replace("-", "").lower()


def resolved(dataset, model):
    """All settings of `train.py --dataset ... --model ...` by their dotted keys."""
    return settings.flat(settings.resolve(parse(["--dataset", dataset, "--model", model]))[0])


@pytest.mark.parametrize("name", FILES)
def test_every_file_loads_and_its_name_says_what_it_is(name):
    config = settings.load(CONFIGS / name)
    assert name == f"{stem(config.dataset)}_{config.model.name}.yaml"
    assert config.task == ("node" if config.dataset in [*NODE, "Karate"] else "graph")


def test_every_data_set_has_its_models():
    expected = {f"{stem(d)}_{m}" for d in GRAPH for m in settings.MODELS["graph"]}
    expected |= {f"{stem(d)}_{m}" for d in NODE for m in settings.MODELS["node"]}
    assert [shipped.name for shipped in SHIPPED] == sorted(expected | {"ba2motifs_hganet", "karate_hganet"})
    assert {shipped.path.name for shipped in SHIPPED} == set(FILES), "no file is left out"


@pytest.mark.parametrize("model", ["cganet", "ganet"])
@pytest.mark.parametrize("dataset", GRAPH + NODE)
def test_cganet_and_ganet_are_hganet_with_their_own_operator(dataset, model):
    old, new = resolved(dataset, "hganet"), resolved(dataset, model)
    assert {key for key in old if old[key] != new[key]} == {"model.name", "model.operator"}
    assert (new["model.name"], new["model.operator"]) == (model, {"cganet": "cgao", "ganet": "gao"}[model])
    listed = next(shipped for shipped in SHIPPED if shipped.name == f"{stem(dataset)}_{model}")
    assert settings.flat(listed.config) == new and listed.path.name == f"{stem(dataset)}_hganet.yaml"


# What the files of their own said before these two were derived.
EXPECTED = {
    ("MUTAG", "cganet"): {
        "task": "graph", "dataset": "MUTAG", "features": "labels", "protocol": "paper", "splits": "auto", "folds": 10,
        "epochs": 150, "batch_size": 20, "eval_batch_size": 200, "patience": None, "select": "val_loss", "seed": 0,
        "deterministic": False, "model.name": "cganet", "model.operator": "cgao", "model.k": 8, "model.num_modules": 4,
        "model.units": 48, "model.module_units": 12, "model.dropout": 0.5, "model.attention_dropout": 0.0,
        "model.activation": None, "model.normalization": "sym", "model.skip": "module", "model.scale": None,
        "model.kernel_initializer": "glorot_uniform", "model.implementation": "sparse", "model.out_units": 97,
        "model.head_dropout": 0.5, "model.sort_pooling": 0.6, "optimizer.name": "adam",
        "optimizer.learning_rate": 1e-3, "optimizer.schedule": "constant", "optimizer.amsgrad": True,
        "optimizer.weight_decay": 8e-4, "optimizer.weight_decay_kind": "l2", "optimizer.no_decay": [],
        "optimizer.clipnorm": None,
    },
    ("COLLAB", "ganet"): {
        "task": "graph", "dataset": "COLLAB", "features": "degree", "model.operator": "gao", "epochs": 10,
        "batch_size": 20, "optimizer.learning_rate": 1e-3, "model.sort_pooling": 0.9,
    },
}  # fmt: skip


@pytest.mark.parametrize("pair", EXPECTED)
def test_settings_of_derived_configs(pair):
    found = resolved(*pair)
    assert {key: found[key] for key in EXPECTED[pair]} == EXPECTED[pair]


def test_readme_lists_every_pair():
    readme = (CONFIGS / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `([a-z0-9_]+\.yaml)`(?:, `--model ([a-z]+)`)? \|", readme, flags=re.MULTILINE) == [
        (path.name, "" if path.stem == name else config.model.name) for name, config, path in SHIPPED
    ]


@pytest.mark.parametrize("shipped", SHIPPED, ids=lambda shipped: shipped.name)
def test_readme_and_the_files_comment_have_the_papers_figure(shipped):
    cell = paper.cell(shipped.config.dataset, shipped.config.model.name)
    file = f"`{shipped.path.name}`"
    model = "" if shipped.path.stem == shipped.name else f", `--model {shipped.config.model.name}`"
    readme = (CONFIGS / "README.md").read_text(encoding="utf-8")
    assert f"\n| {file}{model} | {cell.place if cell else '-'} | {cell.text if cell else '-'} |" in readme
    if cell and cell.accuracy is not None:
        line = shipped.path.read_text(encoding="utf-8").splitlines()[1 if model else 0]
        assert f"{cell.text} %" in line


def test_list_prints_every_config(capsys):
    assert console.show_list() == 0
    printed = capsys.readouterr().out
    assert all(dataset in printed for dataset in GRAPH + NODE)
    assert [row[1:4] for row in console.list_rows() if row[1] == "MUTAG"] == [
        ("MUTAG", "cganet", "mutag_hganet.yaml"),
        ("MUTAG", "dgcnn", "mutag_dgcnn.yaml"),
        ("MUTAG", "diffpool", "mutag_diffpool.yaml"),
        ("MUTAG", "ganet", "mutag_hganet.yaml"),
        ("MUTAG", "graphsage", "mutag_graphsage.yaml"),
        ("MUTAG", "hganet", "mutag_hganet.yaml"),
        ("MUTAG", "pscn", "mutag_pscn.yaml"),
        ("MUTAG", "set2set", "mutag_set2set.yaml"),
    ]
    assert len(console.list_rows()) == len(SHIPPED)


def test_papers_tables():
    assert paper.cell("DD", "hganet", "hgao").accuracy == 81.71
    assert paper.cell("DD", "ganet").text == "OOM"
    assert paper.cell("Cora", "gat").text == "83.0 ± 0.7"
    assert paper.cell("MUTAG", "hganet", "linear") is None
    assert paper.cell("Cora", "cganet") is None and paper.cell("Karate", "hganet") is None
    assert paper.cell("PTC", "ganet").place == "Table 7, GANet on PTC"
    assert paper.TABLE_7["hGANet"] is paper.TABLE_5["hGANet"]
