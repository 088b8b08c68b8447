"""A model file from a stranger: Python code inside is refused wherever a model is loaded, and never runs."""

import ast
import json
import shutil
import zipfile
from pathlib import Path

import keras
import numpy as np
import pytest
import tensorflow as tf

import explore
import predict
import train
from experiments.attention import __main__ as attention
from experiments.attention import measures
from experiments.run_folder import RunFolder
from experiments.study import entropy
from ganet_tf import layers, models
from tests.experiments.own_data import FLAGS, TINY, molecules, write_graphs

ROOT = Path(__file__).resolve().parents[2]
INPUTS = {
    "x": np.ones((4, 3), "float32"),
    "edges": np.array([[0, 1], [1, 0]], "int32"),
    "graph_ids": np.array([0, 0, 1, 1], "int32"),
}


def hostile(marker):
    """The config of a Lambda layer that leaves a mark when its code runs."""
    function = eval(f"lambda x, *others: (open({str(marker)!r}, 'w').close(), x)[1]")
    return keras.saving.serialize_keras_object(keras.layers.Lambda(function))


def symbolic_inputs():
    return {"x": keras.Input((3,), name="x"), "edges": keras.Input((2,), dtype="int32", name="edges")}


def in_a_layer(path, marker):
    """A Lambda as GAM's operator, in a functional model."""
    inputs = symbolic_inputs()
    template = layers.HGAO(3, k=2)
    model = keras.Model(inputs, layers.GAM(4, operator=template)(inputs["x"], inputs["edges"]))
    model.save(path)
    _put_in(path, "ganet_tf>HGAO", hostile(marker))


def in_a_model(path, marker):
    """A Lambda as the operator of a GraphClassifier."""
    model = models.GraphClassifier(2, operator=layers.HGAO(12, k=2), sort_pooling_k=10, num_modules=1)
    model(INPUTS)
    model.save(path)
    _put_in(path, "ganet_tf>HGAO", hostile(marker))


def in_an_argument(path, marker):
    """A Lambda as an initializer's config: whatever is a dict in a model's config becomes an object."""
    model = models.GCN(2, kernel_initializer=keras.initializers.HeNormal())
    model(INPUTS)
    model.save(path)
    _put_in(path, "HeNormal", hostile(marker))


def in_an_activation(path, marker):
    """A lambda as the activation of GAM's operator: it would run when the model is called."""
    inputs = symbolic_inputs()
    operator = layers.HGAO(3, k=2, activation="softplus")
    keras.Model(inputs, layers.GAM(4, operator=operator)(inputs["x"], inputs["edges"])).save(path)
    function = hostile(marker)["config"]["function"]["config"]
    value = [function["code"], function["defaults"], function["closure"]]
    _put_in(path, "softplus", {"class_name": "__lambda__", "config": {"value": value}})


def beside_ours(path, marker):
    """A plain Lambda before one of our layers."""
    inputs = symbolic_inputs()
    x = layers.GCN(4)(keras.layers.Activation("relu")(inputs["x"]), inputs["edges"])
    keras.Model(inputs, x).save(path)
    _put_in(path, "Activation", hostile(marker))


def in_a_saved_model(path, marker):
    """A layer that is a SavedModel beside the file: TensorFlow's write operation leaves the mark."""
    served = path.parent / "served"
    module = tf.Module()

    @tf.function(input_signature=[tf.TensorSpec([None, 3])])
    def serve(x):
        tf.io.write_file(str(marker), "it ran")
        return x

    module.serve = serve
    tf.saved_model.save(module, served, signatures={"serve": serve})
    inputs = symbolic_inputs()
    keras.Model(inputs, layers.GCN(4)(keras.layers.Activation("relu")(inputs["x"]), inputs["edges"])).save(path)
    config = {"name": "served", "trainable": True, "dtype": "float32"}
    config |= {"filepath": str(served), "call_endpoint": "serve", "call_training_endpoint": None}
    _put_in(path, "Activation", {"module": "keras.layers", "class_name": "TFSMLayer", "config": config})


def by_one_that_switches_safe_mode_off(path, marker):
    """A Lambda of Keras's own function, called while the layers are made, and the true one after it."""
    inputs = symbolic_inputs()
    x = keras.layers.ReLU()(inputs["x"])
    keras.Model(inputs, layers.GCN(4)(keras.layers.Activation("relu")(x), inputs["edges"])).save(path)
    name = {"class_name": "function", "config": "enable_unsafe_deserialization", "registered_name": "function"}
    function = {"module": "keras.config", **name}
    switch = {"name": "switch", "function": function, "arguments": {}}
    _put_in(path, "ReLU", {"module": "keras.layers", "class_name": "Lambda", "config": switch})
    _put_in(path, "Activation", hostile(marker))


def _put_in(path, name, config):
    """Rewrites a .keras file: every object or function of a name becomes another one."""
    with zipfile.ZipFile(path) as archive:
        members = {info: archive.read(info) for info in archive.namelist()}
    found = []

    def rewritten(value):
        if isinstance(value, dict):
            if name in (value.get("registered_name"), value.get("class_name")) and "config" in value:
                found.append(value)
                kept = {key: value[key] for key in ("name", "inbound_nodes", "build_config") if key in value}
                return {**config, **kept}
            return {key: rewritten(part) for key, part in value.items()}
        if value == name:
            found.append(value)
            return config
        return [rewritten(part) for part in value] if isinstance(value, list) else value

    members["config.json"] = json.dumps(rewritten(json.loads(members["config.json"]))).encode()
    assert found, f"no {name} in the file to replace"
    with zipfile.ZipFile(path, "w") as archive:
        for member, content in members.items():
            archive.writestr(member, content)


@pytest.fixture
def marker(tmp_path):
    return tmp_path / "it ran"


HOSTILE = [in_a_layer, in_a_model, in_an_argument, in_an_activation, beside_ours, by_one_that_switches_safe_mode_off]


@pytest.mark.parametrize("where", [*HOSTILE, in_a_saved_model])
def test_a_lambda_is_refused_and_does_not_run(where, tmp_path, marker):
    where(tmp_path / "model.keras", marker)
    assert not marker.exists()
    with pytest.raises(Exception, match=r"(?s)safe_mode|unsafe|lambda"):
        keras.models.load_model(tmp_path / "model.keras")
    assert not marker.exists()


def test_the_attack_is_a_real_one(tmp_path, marker):
    """Without safe mode its code runs: so it is safe mode that stops it above, not a file that nobody can load."""
    beside_ours(tmp_path / "model.keras", marker)
    model = keras.models.load_model(tmp_path / "model.keras", safe_mode=False)
    model({"x": INPUTS["x"], "edges": INPUTS["edges"]})
    assert marker.exists()


def plain(path, marker):
    """No code at all, but none of our models."""
    keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)]).save(path)


def rubbish(path, marker):
    path.write_bytes(b"no zip file")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A finished run of one fold, and new data beside it."""
    folder = tmp_path_factory.mktemp("stranger")
    mine = write_graphs(folder / "mine", molecules(12), ["one", "two"] * 6)
    settings = ["model.operator=hgao", "model.k=2", *TINY[1:], "folds=2", "epochs=1"]
    flags = ["--dataset", str(mine), "--folds", "1", "--set", *settings, *FLAGS]
    assert train.main([*flags, "--output", str(folder / "run")]) == 0
    write_graphs(folder / "new", molecules(3, seed=1))
    return folder / "run"


TOOLS = {
    "predict": lambda run, out: predict.main([str(run), str(run.parent / "new"), "--csv", str(out / "out.csv")]),
    "explore": lambda run, out: explore.main([str(run / "fold-01"), "--html", str(out / "out.html")]),
    "attention": lambda run, out: attention.main([run.name, "--runs", str(run.parent), "--results", str(out)]),
    "entropy": lambda run, out: entropy.main([run.name, "--runs", str(run.parent), "--results", str(out)]),
}


@pytest.mark.parametrize("where", [in_a_model, beside_ours, in_a_saved_model, plain, rubbish])
def test_every_tool_refuses_a_strangers_run(run, where, tmp_path, marker, monkeypatch, capsys):
    """A whole run folder of a stranger's, its checksums right: a sentence, exit code 2, and nothing ran."""
    monkeypatch.setattr(measures, "DATASETS", ())
    shutil.copytree(run.parent, tmp_path / "theirs")
    theirs = RunFolder(tmp_path / "theirs/run")
    where(theirs.fold(1) / "model.keras", marker)
    theirs.write_result(1, theirs._read_result(1))
    for name, tool in TOOLS.items():
        (tmp_path / name).mkdir()
        assert tool(theirs.path, tmp_path / name) == 2, name
        said = capsys.readouterr().err
        last = said.splitlines()[-1]
        assert last.startswith(name) and "model.keras" in last and len(last) < 700 and "Traceback" not in said
        assert not marker.exists(), name
    assert not list(tmp_path.glob("*/out.*"))


def test_every_tool_takes_our_own_run(run, tmp_path, monkeypatch):
    """So that it is the model which is refused above."""
    monkeypatch.setattr(measures, "DATASETS", ())
    (tmp_path / "run").mkdir()
    for name, tool in TOOLS.items():
        assert tool(run, tmp_path) == 0, name


def test_nobody_switches_safe_mode_off():
    """Every way that we have ourselves to load a model leaves Keras's safe mode on."""
    sources = [*ROOT.glob("*.py"), *(ROOT / "ganet_tf").rglob("*.py")]
    sources += [path for folder in ("experiments", "examples", "benchmarks") for path in (ROOT / folder).rglob("*.py")]
    calls = 0
    for path in sources:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute):
                assert node.attr != "enable_unsafe_deserialization", path
                calls += node.attr in ("load_model", "deserialize_keras_object")
            if isinstance(node, ast.keyword) and node.arg == "safe_mode":
                assert isinstance(node.value, ast.Constant) and node.value.value is True, path
    assert calls >= 2
