"""The loop of docs/distributed.md in two processes, and Keras' own loops, which are refused there."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from ganet_tf import layers
from ganet_tf.layers import checks
from tests.distributed.processes import ROOT, alone, needs_namespace, together


@needs_namespace
def test_the_loop_of_the_page(tmp_path):
    page = (ROOT / "docs" / "distributed.md").read_text(encoding="utf-8")
    loop = page.split("## In a program of your own")[1].split("```python\n")[1].split("```")[0]
    assert len([line for line in loop.splitlines() if line.strip()]) <= 23
    (tmp_path / "loop.py").write_text(loop.replace("range(3)", "range(2)"))
    done = alone(together([tmp_path / "loop.py"], 2), tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    lines = done.stdout.splitlines()
    assert len(lines) == 4 and len(set(lines)) == 2  # both workers say the same of each epoch


@pytest.mark.parametrize("loop", ["fit", "evaluate", "predict"])
def test_layers_of_a_functional_model_under_keras_loops(loop, monkeypatch):
    x, edges = keras.Input((3,), name="x"), keras.Input((2,), dtype="int32", name="edges")
    model = keras.Model({"x": x, "edges": edges}, layers.GCN(2)(x, edges))
    model.compile(loss="mse")
    graph = {"x": np.ones((4, 3), "float32"), "edges": np.array([[0, 1], [1, 0]], "int32")}
    batches = tf.data.Dataset.from_tensors((graph, np.zeros((4, 2), "float32")))
    monkeypatch.setattr(checks, "num_replicas", lambda: 2)
    model(graph)  # a loop of one's own may call layers
    with pytest.raises(RuntimeError, match=rf"Keras' `{loop}` would cut a batch.*docs/distributed.md"):
        getattr(model, loop)(batches, verbose=0, **({"shuffle": False} if loop == "fit" else {}))
