"""The snippets of docs/data.md run as printed, one after another."""

import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np

TEXT = (Path(__file__).resolve().parents[2] / "docs/data.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
DOORS = ("GraphDataset([", "from_networkx", "from_edge_index", "from_pyg", "from_dgl", "from_pandas", ".npz", "like=")


def dgl_graph(size):
    """Looks like one of DGL's graphs: a path."""
    ends = np.arange(size - 1), np.arange(1, size)
    return SimpleNamespace(
        edges=lambda: ends, num_nodes=lambda: size, ndata={"feat": np.ones((size, 2))}, edata={}
    )  # fmt: skip


def test_every_snippet_runs_as_printed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"dgl_graphs": [dgl_graph(2), dgl_graph(3)]}
    kinds = []
    for number, block in enumerate(BLOCKS):
        exec(compile(block, f"docs/data.md, snippet {number}", "exec"), names)
        kinds.append(names["ds"].target.kind)
    assert kinds == ["classes", "classes", "classes", "regression", "classes", "multilabel", "regression",
                     "regression", "regression"]  # fmt: skip
    assert names["ds"].y.tolist() == names["train"].y.tolist(), "the folder holds what the networkx graphs do"
    assert names["ds"].encoder == names["train"].encoder == names["again"].encoder
    assert names["again"].target == names["train"].target
    np.testing.assert_array_equal(names["new"][0].x, names["again"][0].x)
    np.testing.assert_array_equal(names["new"][0].x, names["train"][1].x)


def test_every_door_has_a_snippet():
    assert [door for door in DOORS if not any(door in block for block in BLOCKS)] == []
