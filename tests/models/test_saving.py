"""Models that leave the process: .keras files, SavedModels without our package, and resumed training."""

import os
import subprocess
import sys
from pathlib import Path

import keras
import numpy as np
import pytest

from ganet_tf import models
from ganet_tf.layers import HGAO
from tests.models.contract import FEATURES, compiled, graph_data, rings

ROOT = Path(__file__).resolve().parents[2]

LOAD = """
import sys, warnings
import numpy as np, tensorflow as tf
tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 2
)
import keras, ganet_tf
for name in sys.argv[1:]:
    arrays = dict(np.load(name + ".npz"))
    expected = arrays.pop("expected")
    model = keras.models.load_model(name + ".keras")
    np.testing.assert_allclose(model(arrays), expected, rtol=1e-5, atol=1e-6)
try:
    with tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]).scope():
        keras.models.load_model(name + ".keras").predict(arrays)
except Exception as error:
    assert "strategy with 2 replicas" in str(error), error
else:
    sys.exit("no error under two replicas")
"""

SERVE = """
import sys
import numpy as np, tensorflow as tf
for name in sys.argv[1:]:
    arrays = dict(np.load(name + ".npz"))
    expected = arrays.pop("expected")
    served = tf.saved_model.load(name + "_served")
    np.testing.assert_allclose(served.serve(arrays), expected, rtol=1e-5, atol=1e-6)
    one = {key: value[:1] for key, value in arrays.items()}
    one["edges"] = np.zeros((0, 2), "int32")
    assert np.isfinite(served.serve(one)).all()
    none = {key: value[:0] for key, value in arrays.items()}
    assert served.serve(none).shape == (0, expected.shape[1])
assert "ganet_tf" not in sys.modules
"""


def made():
    """Every model, one of them with an operator of the user's own making."""
    graph, node = {"sort_pooling_k": 10, "num_modules": 1}, {"num_modules": 1}
    return {
        "graph_classifier": models.GraphClassifier(2, operator=HGAO(5, k=3, scale="sqrt"), **graph),
        "graph_classifier_cgao": models.GraphClassifier(2, operator="cgao", **graph),
        "graph_classifier_sampled": models.GraphClassifier(2, operator="sampled", **graph),
        "node_classifier": models.NodeClassifier(2, activation="relu", **node),
        "dgcnn": models.DGCNN(2, sort_pooling_k=10),
        "gcn": models.GCN(2),
        "gat": models.GAT(2, output_heads=2),
        "graph_sage": models.GraphSAGE(2, batch_norm=True),
        "set2set_net": models.Set2SetNet(2, units=(8, 8)),
        "diff_pool_net": models.DiffPoolNet(2, clusters=5),
        "chebyshev": models.Chebyshev(2, K=3),
        "deep_walk": models.DeepWalk(2, num_nodes=23),
        "planetoid": models.Planetoid(2, num_nodes=23),
        "planetoid_inductive": models.Planetoid(2, num_nodes=23, variant="I"),
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Each model saved, exported, and its output on one batch."""
    folder = tmp_path_factory.mktemp("models")
    for name, model in made().items():
        inputs = rings([4, 7, 12])
        arrays = {key: inputs[key] for key in model.required}
        np.savez(folder / f"{name}.npz", expected=model(arrays), **arrays)
        model.save(folder / f"{name}.keras")
        model.export(folder / f"{name}_served", verbose=False)
    return folder


def run(script, folder, **environment):
    names = sorted(str(file.with_suffix("")) for file in folder.glob("*.npz"))
    assert len(names) == len(made())
    subprocess.run(
        [sys.executable, "-c", script, *names],
        check=True,
        cwd=folder,
        env={**os.environ, **environment},
        timeout=300,
    )


def test_keras_files_load_in_a_new_process(folder):
    run(LOAD, folder, PYTHONPATH=str(ROOT))


def test_exports_are_served_without_the_package(folder):
    run(SERVE, folder)


def test_export_before_build_says_what_to_do(tmp_path):
    with pytest.raises(ValueError, match="has no weights yet: fit it, or call it once"):
        models.GCN(2).export(tmp_path / "served")


class Interrupt(keras.callbacks.Callback):
    """Ends training in the middle, as a killed process would."""

    def on_epoch_begin(self, epoch, logs=None):
        if epoch == 2:
            raise KeyboardInterrupt


def test_interrupted_training_resumes_to_the_same_weights(tmp_path):
    def model():
        keras.utils.set_random_seed(1)
        new = models.GraphClassifier(3, sort_pooling_k=10, num_modules=0)
        new.build({"x": (None, FEATURES), "edges": (None, 2), "graph_ids": (None,)})
        return compiled(new, run_eagerly=True)  # saves the tracing of three models

    def fit(model, *callbacks):
        backup = keras.callbacks.BackupAndRestore(tmp_path / "backup", delete_checkpoint=True)
        return model.fit(graph_data(2), epochs=4, verbose=0, callbacks=[backup, *callbacks]).history["loss"]

    whole = model()
    losses = fit(whole)
    with pytest.raises(KeyboardInterrupt):
        fit(model(), Interrupt())
    resumed = model()
    assert fit(resumed) == losses[2:]
    for first, second in zip(whole.get_weights(), resumed.get_weights(), strict=True):
        np.testing.assert_array_equal(first, second)
