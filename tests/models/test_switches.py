"""The switches of the networks: ends, readouts, edge weights, a known number of features, logits, old files."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import keras
import numpy as np
import pytest
import tensorflow as tf

from ganet_tf import layers, models
from tests.layers.switched import pair_weights
from tests.models.contract import CLASSES, FEATURES, ModelContract, as_dataset, compiled, graph_data, rings

ROOT = Path(__file__).resolve().parents[2]
SWITCHES = {
    "heads": 2,
    "concat": False,
    "score": "cosine",
    "query_units": 6,
    "gate": "double",
    "attention_weights_dropout": 0.25,
    "skip": "both",
    "embedding": "dense",
    "out": "dense",
}


def weighted(inputs):
    """The inputs with a weight for each edge."""
    return {**inputs, "edge_weights": pair_weights(inputs["edges"]).astype("float32")}


class TestOpenNodeClassifier(ModelContract):
    """The wiring that lets what was selected through, with attention that can be sharp."""

    cls = models.NodeClassifier
    arguments = {"k": 2, "num_modules": 1, "dropout": 0.1, "attention_dropout": 0.1, **SWITCHES}  # noqa: RUF012
    for_graphs = False


class TestMeanReadout(ModelContract):
    cls = models.GraphClassifier
    arguments = {"k": 2, "num_modules": 1, "units": 8, "readout": "mean", "score": "uniform"}  # noqa: RUF012


def test_the_switches_reach_the_operator_under_their_own_names():
    ganet = models.NodeClassifier(CLASSES, num_modules=2, k=3, attention_dropout=0.5, **SWITCHES).ganet
    for gam in ganet.gams:
        operator = gam.attention
        assert (operator.heads, operator.concat, operator.score, operator.query_units) == (2, False, "cosine", 6)
        assert (operator.gate, operator.attention_dropout, operator.dropout) == ("double", 0.25, 0.0)
        assert gam.attention_drop.rate == 0.5  # of the features, as always
    assert isinstance(ganet.embedding, layers.Linear) and isinstance(ganet.out, layers.Linear)
    assert ganet.channels == (48, 80, 112, CLASSES)


def test_ganet_with_dense_ends_keeps_them_in_its_config():
    model = models.GANet(num_modules=1, embedding="dense")
    assert (model.get_config()["embedding"], model.get_config()["out"]) == ("dense", "gcn")
    again = models.GANet.from_config(model.get_config())
    assert isinstance(again.embedding, layers.Linear) and isinstance(again.out, layers.GCN)


def test_dense_ends_are_linear_maps():
    inputs = rings([4, 3])
    model = models.GANet(num_modules=0, embedding="dense", out="dense", activation="relu")
    model(inputs)
    model.set_weights([np.random.default_rng(0).normal(size=w.shape) for w in model.get_weights()])
    bias, kernel, out_bias, out_kernel = model.get_weights()
    expected = np.maximum(inputs["x"] @ kernel + bias, 0) @ out_kernel + out_bias
    np.testing.assert_allclose(model(inputs), expected, rtol=1e-4, atol=1e-5)


def test_a_dense_embedding_takes_sparse_features():
    inputs = rings([6])
    model = models.NodeClassifier(CLASSES, num_modules=1, embedding="dense")
    expected = model({key: inputs[key] for key in ("x", "edges")})
    sparse = {"x": tf.sparse.from_dense(inputs["x"]), "edges": inputs["edges"]}
    np.testing.assert_allclose(model(sparse), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("readout", ["sum", "mean", "max"])
def test_readouts(readout):
    inputs = rings([4, 7])
    model = models.GraphClassifier(CLASSES, k=2, num_modules=1, readout=readout)
    logits = model(inputs).numpy()
    nodes = model.ganet(inputs).numpy()
    pooled = np.stack([getattr(nodes[inputs["graph_ids"] == g], readout)(axis=0) for g in (0, 1)])
    head = model.head
    hidden = np.maximum(pooled @ head.hidden.kernel.numpy() + head.hidden.bias.numpy(), 0)
    np.testing.assert_allclose(logits, hidden @ head.out.kernel.numpy() + head.out.bias.numpy(), rtol=1e-4, atol=1e-5)
    assert head.drop.rate == 0.5
    again = type(head).from_config(head.get_config())
    assert again.get_config() == head.get_config()


class TestEdgeWeights:
    MODELS = (
        models.GraphClassifier(CLASSES, k=2, num_modules=1, sort_pooling_k=10),
        models.GraphClassifier(CLASSES, "cgao", num_modules=1, readout="sum"),
        models.NodeClassifier(CLASSES, "topk", k=2, num_modules=1),
        models.GANet(operator="gao", num_modules=1),
        models.DGCNN(CLASSES, sort_pooling_k=10),
        models.GCN(CLASSES),
        models.GAT(CLASSES),
        models.GraphSAGE(CLASSES),
        models.Set2SetNet(CLASSES),
        models.DiffPoolNet(CLASSES, clusters=3),
        models.Chebyshev(CLASSES),
    )

    @pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
    def test_reach_every_layer(self, model):
        """Ones change nothing, other weights do, in every layer that looks at edges."""
        inputs = rings([4, 7])
        plain = model(inputs).numpy()
        ones = {**inputs, "edge_weights": np.ones(len(inputs["edges"]), "float32")}
        np.testing.assert_allclose(model(ones), plain, rtol=1e-5, atol=1e-5)
        assert np.max(np.abs(model(weighted(inputs)) - plain)) > 1e-4

    def test_are_used_by_each_layer_of_a_network(self, monkeypatch):
        seen = []
        model = models.NodeClassifier(CLASSES, k=2, num_modules=2)
        inputs = weighted(rings([4, 7]))
        model(inputs)
        ganet = model.ganet
        for layer in (ganet.embedding, ganet.out, *(part for g in ganet.gams for part in (g.attention, g.gcn))):
            prepare = layer.prepare
            layer.prepare = lambda *args, prepare=prepare: (seen.append(args[4]), prepare(*args))[1]
        model(inputs)
        assert len(seen) == 6
        assert all(np.array_equal(weights, inputs["edge_weights"]) for weights in seen)

    @pytest.mark.parametrize("recompute", [False, True])
    def test_training(self, recompute):
        inputs = weighted(rings([9]))
        del inputs["graph_ids"]
        model = compiled(models.NodeClassifier(CLASSES, k=2, num_modules=1, recompute=recompute))
        losses = model.fit(as_dataset([(inputs, np.arange(9, dtype="int32") % 3)]), epochs=2, verbose=0)
        assert np.isfinite(losses.history["loss"]).all()

    def test_recomputing_gives_the_same_gradients_with_weights(self):
        inputs = weighted(rings([9]))
        results = []
        for recompute in (False, True):
            keras.utils.set_random_seed(1)
            model = models.GANet(num_modules=1, k=2, dropout=0.2, recompute=recompute, num_features=FEATURES)
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(model(inputs, training=True) ** 2)
            results.append(tape.gradient(loss, [w.value for w in model.trainable_weights]))
        for first, second in zip(*results, strict=True):
            np.testing.assert_allclose(first, second, rtol=1e-4, atol=1e-4)

    def test_a_users_operator_that_knows_nothing_of_them_works_without(self):
        @keras.saving.register_keras_serializable(package="test_switches")
        class Plain(layers.Linear):
            def call(self, x, edges=None, graph_ids=None, training=None):
                return super().call(x, edges, graph_ids, training=training)

        model = models.GANet(operator=Plain(5), num_modules=1)
        assert model(rings([4, 7])).shape == (11, 97)

    def test_are_refused_by_name_where_they_do_not_fit(self):
        inputs = {**rings([4]), "edge_weights": np.ones(3, "float32")}
        with pytest.raises(ValueError, match="`edge_weights` of 'embedding' must have shape"):
            models.GANet(num_modules=1)(inputs)


class TestNumFeatures:
    CLASSES = (models.GraphClassifier, models.NodeClassifier, models.DGCNN, models.GCN, models.GAT)
    BASELINES = (models.GraphSAGE, models.Set2SetNet, models.DiffPoolNet, models.Chebyshev)

    @pytest.mark.parametrize("cls", (*CLASSES, *BASELINES))
    def test_a_model_that_knows_them_has_weights_at_once(self, cls, tmp_path):
        model = cls(CLASSES, num_features=FEATURES)
        assert model.built and model.count_params() > 0
        assert model.get_config()["num_features"] == FEATURES
        model.save(tmp_path / "model.keras")
        inputs = {key: value for key, value in rings([4, 7]).items() if key in model.required}
        np.testing.assert_array_equal(keras.models.load_model(tmp_path / "model.keras")(inputs), model(inputs))
        assert not cls(CLASSES).built

    def test_makes_the_weights_that_the_first_data_would_make(self):
        def weights(**options):
            keras.utils.set_random_seed(4)
            model = models.GraphClassifier(CLASSES, num_modules=1, **options)
            model(rings([4, 7]))
            return model.get_weights()

        for first, second in zip(weights(), weights(num_features=FEATURES), strict=True):
            np.testing.assert_array_equal(first, second)

    def test_training_that_was_interrupted_goes_on_in_a_new_model(self, tmp_path):
        class Interrupt(keras.callbacks.Callback):
            def on_epoch_begin(self, epoch, logs=None):
                if epoch == 2:
                    raise KeyboardInterrupt

        def fit(*callbacks):
            keras.utils.set_random_seed(1)
            model = models.GraphClassifier(3, num_modules=0, num_features=FEATURES)
            backup = keras.callbacks.BackupAndRestore(tmp_path / "backup")
            data = {"epochs": 4, "verbose": 0, "callbacks": [backup, *callbacks]}
            return compiled(model, run_eagerly=True).fit(graph_data(2), **data).history["loss"]

        with pytest.raises(KeyboardInterrupt):
            fit(Interrupt())
        resumed = fit()
        assert len(resumed) == 2 and np.isfinite(resumed).all()

    def test_other_features_are_refused(self):
        with pytest.raises(ValueError, match=r"5 features a node, but .* was built for 6"):
            models.GCN(CLASSES, num_features=6)({key: rings([4])[key] for key in ("x", "edges")})
        with pytest.raises(ValueError, match="`num_features` must be a whole number"):
            models.GCN(CLASSES, num_features=0)


NEW = {*SWITCHES, "num_features", "readout"} - {"skip"}


def without_the_switches(config):
    """A config as versions before the switches wrote it."""
    if isinstance(config, dict):
        return {key: without_the_switches(value) for key, value in config.items() if key not in NEW}
    return [without_the_switches(value) for value in config] if isinstance(config, list) else config


def test_files_from_before_the_switches_load(tmp_path):
    inputs = rings([4, 7])
    model = models.GraphClassifier(CLASSES, operator=layers.HGAO(5, k=2), num_modules=1, sort_pooling_k=10)
    expected = model(inputs)
    model.save(tmp_path / "new.keras")
    with zipfile.ZipFile(tmp_path / "new.keras") as new, zipfile.ZipFile(tmp_path / "old.keras", "w") as old:
        for name in new.namelist():
            content = new.read(name)
            if name == "config.json":
                content = json.dumps(without_the_switches(json.loads(content)))
                assert "heads" not in content and "num_features" not in content
            old.writestr(name, content)
    np.testing.assert_array_equal(keras.models.load_model(tmp_path / "old.keras")(inputs), expected)


def test_an_error_in_a_compiled_step_points_to_debug_checks():
    model = compiled(models.GCN(CLASSES))
    inputs = {"x": np.ones((4, FEATURES), "float32"), "edges": np.array([[0, 9]], "int32")}
    data = as_dataset([(inputs, np.zeros(4, "int32"))])
    for step in (model.fit, model.evaluate):
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"ganet_tf.ops.debug_checks\(True\)"):
            step(data, verbose=0)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"ganet_tf.ops.debug_checks\(True\)"):
        model.predict(data.map(lambda x, y: x), verbose=0)


def test_a_foreign_backend_is_one_line_at_import():
    environment = {**os.environ, "KERAS_BACKEND": "jax", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", "import ganet_tf"], env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode != 0
    assert "ImportError: ganet_tf runs on Keras's TensorFlow backend, but KERAS_BACKEND is 'jax'" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"embedding": "dens"}, "Did you mean 'dense'"),
        ({"out": "gnc"}, "`out` must be one of 'gcn', 'dense'"),
        ({"readout": "maen"}, "Did you mean 'mean'"),
        ({"score": "dott"}, "Did you mean 'dot'"),
        ({"operator": "linear", "gate": "singmoid"}, "Did you mean 'sigmoid'"),
        ({"attention_weights_dropout": 1.5}, "`attention_weights_dropout` is the share"),
    ],
)
def test_bad_switches_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        models.GraphClassifier(CLASSES, **arguments)
