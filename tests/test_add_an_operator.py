"""The walk-through of CONTRIBUTING.md, "Add an operator", done in a copy of the tree: its three blocks are enough."""

import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import yaml

from tests.experiments.conftest import CONFIG, write_tu

ROOT = Path(__file__).resolve().parents[1]

# What a user does with an operator: alone, in a module, in a network, from a config, in the list and in the profile.
USE = """
import json
import sys
from pathlib import Path

import keras
import numpy as np

import profile_ops
import train
from ganet_tf import layers, models

config, output = Path(sys.argv[1]), Path(sys.argv[2])
x, edges = np.eye(4, dtype="float32"), np.array([[0, 1], [1, 0], [2, 1], [1, 2]])
graph_ids, y = np.zeros(4, "int32"), np.array([1])

gam = layers.GAM(5, operator="mean")
assert gam(x, edges).shape == (4, 9)
assert type(gam.attention).__name__ == "MeanGAO"

model = models.GraphClassifier(num_classes=2, operator="mean", sort_pooling_k=10, num_modules=1)
model.compile("adam", loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
batch = {"x": x, "edges": edges, "graph_ids": graph_ids}
model(batch)
before = model.ganet.gams[0].attention.kernel.numpy()
model.train_on_batch(batch, y)
assert (model.ganet.gams[0].attention.kernel.numpy() != before).any(), "the operator's kernel was not trained"
model.save(output / "model.keras")
again = keras.models.load_model(output / "model.keras")
np.testing.assert_array_equal(again(batch), model(batch))

words = ["--config", str(config), "--set", "model.operator=mean", "--epochs", "1", "--folds", "1", "--quiet"]
assert train.main([*words, "--output", str(output / "run")]) == 0
print("LIST")
assert train.main(["--list"]) == 0
words = ["--operators", "mean", "--nodes", "60", "--degree", "4", "--budget", "0", "--no-baseline"]
assert profile_ops.main([*words, "--json", str(output / "rows.json")]) == 0
"""


def blocks():
    """{file: its lines in CONTRIBUTING.md}, the first line of a block being a comment with the file's name."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    found = {}
    for block in re.findall(r"^ *```python\n(.*?)^ *```", text, flags=re.M | re.S):
        name, _, code = textwrap.dedent(block).partition("\n")
        found[name.removeprefix("# ")] = code
    return found


@pytest.fixture
def tree(tmp_path):
    """A copy of the tree with the operator added as the walk-through says."""
    copy = tmp_path / "tree"
    copy.mkdir()
    for name in ("ganet_tf", "experiments", "configs"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("train.py", "profile_ops.py"):
        shutil.copy(ROOT / name, copy / name)
    code = blocks()
    assert set(code) == {f"ganet_tf/{name}.py" for name in ("ops/mean_gao", "layers/mean_gao", "layers/operators")}
    table = copy / "ganet_tf/layers/operators.py"
    statement, row = code.pop("ganet_tf/layers/operators.py").splitlines()
    text = table.read_text(encoding="utf-8")
    text = text.replace("\nfrom ganet_tf.spelling", f"\n{statement}\nfrom ganet_tf.spelling")
    table.write_text(text.replace("OPERATORS = {\n", f"OPERATORS = {{\n{row}\n"), encoding="utf-8")
    for name, text in code.items():
        (copy / name).write_text(text, encoding="utf-8")
    return copy


@pytest.mark.slow
def test_an_operator_is_a_function_a_layer_and_a_row(tree, tmp_path):
    output = tmp_path / "out"
    output.mkdir()
    config = tmp_path / "tiny.yaml"
    config.write_text(yaml.safe_dump({**CONFIG, "dataset": str(write_tu(tmp_path / "TINY"))}))
    environment = {**os.environ, "PYTHONPATH": str(tree), "GANET_CACHE": str(tmp_path / "cache"), "COLUMNS": "200"}
    command = [sys.executable, "-c", USE, str(config), str(output)]
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-3000:]
    assert re.search(r"Operators .*\bmean\b", done.stdout.partition("LIST")[2])
    summary = json.loads((output / "run" / "summary.json").read_text(encoding="utf-8"))
    assert summary["config"]["model"]["operator"] == "mean"
    rows = json.loads((output / "rows.json").read_text(encoding="utf-8"))
    assert [(row["operator"], row["implementation"]) for row in rows] == [("mean", "dense"), ("mean", "sparse")]
    for row in rows:
        assert row["time_ms"] > 0
        assert row["madd_profiler"] > 0
        assert row["madd_exact"] is None and row["error"] is None
