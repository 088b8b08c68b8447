"""explore.py: the page of a fold, and what it refuses."""

import json
import re

import pytest

import explore
import train
from tests.experiments.own_data import FLAGS, TINY, carbons, molecules, write_graphs

pytest.importorskip("bokeh", reason="needs the extra `explain`")
GRAPHS = molecules(12)
CLASSES = ["rich" if carbons(graph) > 1 else "poor" for graph in GRAPHS]


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A finished fold with hGAO, and one with cGAO."""
    folder = tmp_path_factory.mktemp("explore")
    mine = write_graphs(folder / "mine", GRAPHS, CLASSES)
    for operator in ("hgao", "cgao"):
        settings = [f"model.operator={operator}", "model.k=2", *TINY[1:], "folds=2", "epochs=1"]
        flags = ["--dataset", str(mine), "--folds", "1", "--set", *settings, *FLAGS]
        assert train.main([*flags, "--output", str(folder / operator)]) == 0
    return folder


def test_the_test_graphs_of_the_fold(runs, capsys):
    fold = runs / "hgao" / "fold-01"
    assert explore.main([str(fold)]) == 0
    assert "open it in a browser" in capsys.readouterr().out
    text = (fold / "attention.html").read_text(encoding="utf-8")
    content = json.loads(re.search(r"^const DATA = (.*);$", text, re.MULTILINE)[1])
    assert len(content["graphs"]) == 6 and content["classes"] == ["poor", "rich"]
    assert content["title"] == "hgao, fold-01" and set(content["labels"]) <= set("CNO")


def test_what_is_refused(runs, tmp_path, capsys):
    for words, answer in (
        ([runs / "hgao"], "is not the folder of a fold"),
        ([tmp_path / "fold-01"], "is not the folder of a run"),
        ([runs / "hgoa" / "fold-01"], f"(did you mean {runs / 'hgao'}?)"),
        ([runs / "hgao" / "fold-02"], "fold 2 is not finished"),
        ([runs / "cgao" / "fold-01"], "has no attention to look at"),
    ):
        assert explore.main([str(word) for word in words]) == 2
        assert answer in capsys.readouterr().err
