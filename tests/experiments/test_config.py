"""The typed loader: every wrong thing a config can hold, and what it is told."""

import dataclasses

import numpy as np
import pytest

from experiments import config as settings
from experiments import training
from experiments.model_configs import ChebyshevConfig
from ganet_tf import data, ops
from ganet_tf.errors import ConfigError

TREE = {
    "task": "graph",
    "dataset": "MUTAG",
    "model": {"name": "hganet"},
    "optimizer": {"learning_rate": "1e-3"},
}
NODE = {"task": "node", "dataset": "Cora", "model": {"name": "gcn"}, "optimizer": {}}


def build(changes=None, **more):
    return settings.build({**TREE, **(changes or {}), **more})


def test_numbers_as_yaml_reads_them():
    config = build(optimizer={"learning_rate": "1e-3", "weight_decay": 0}, epochs=1e2)
    assert config.optimizer.learning_rate == 1e-3 and isinstance(config.optimizer.weight_decay, float)
    assert config.epochs == 100 and isinstance(config.epochs, int)


def test_the_models_name_sets_its_operator():
    assert build(model={"name": "cganet"}).model.operator == "cgao"
    assert build(model="ganet").model.operator == "gao"
    assert build(model={"name": "hganet", "operator": "linear"}).model.operator == "linear"


def test_label_names_a_foreign_operator():
    assert settings.label(build()) == "hganet"
    assert settings.label(build(model={"name": "hganet", "operator": "linear"})) == "hganet, operator=linear"
    assert settings.label(settings.build(NODE)) == "gcn"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"epoch": 3}, ["no key epoch", "did you mean epochs"]),
        (
            {"optimizer": {"lerning_rate": 1}},
            ["optimizer.lerning_rate", "did you mean optimizer.learning_rate"],
        ),
        ({"epochs": "many"}, ["epochs must be a whole number", "'many'", "text"]),
        ({"epochs": 1.5}, ["epochs must be a whole number", "1.5"]),
        ({"epochs": True}, ["epochs must be a whole number", "True"]),
        ({"epochs": 0}, ["epochs must be at least 1, got 0"]),
        ({"deterministic": "yes please"}, ["deterministic must be true or false"]),
        ({"optimizer": {"learning_rate": 0}}, ["learning_rate must be above 0"]),
        ({"optimizer": {"learning_rate": "nan"}}, ["learning_rate must be a number", "'nan'"]),
        ({"optimizer": {"learning_rate": [1]}}, ["learning_rate must be a number", "list"]),
        ({"optimizer": {"name": "adamm"}}, ["one of adam, nadam, sgd", "did you mean adam"]),
        ({"optimizer": {"no_decay": [1]}}, ["no_decay must be a list of texts"]),
        ({"optimizer": 3}, ["optimizer must be a section"]),
        ({"model": {"name": "hganet", "dropout": 1}}, ["model.dropout must be below 1, got 1"]),
        ({"model": {"name": "hganet", "operator": "hga"}}, ["model.operator", "did you mean hgao"]),
        ({"model": {"name": "hgane"}}, ["not a model of the graph task", "did you mean hganet"]),
        ({"model": {"name": "gcn"}}, ["'gcn' is not a model of the graph task"]),
        ({"model": {"k": 3}}, ["model needs a section with a name"]),
        ({"model": {"name": "dgcnn", "k": 3}}, ["no key model.k"]),
        ({"task": "edge"}, ["task must be graph or node, got 'edge'"]),
        ({"protocol": "papr"}, ["did you mean paper"]),
        ({"patience": 5}, ["patience needs a validation set"]),
        ({"dataset": 3}, ["dataset must be text"]),
        ({"runs": 3}, ["no key runs"]),
        ({"seed": -1}, ["seed must be at least 0"]),
        ({"epochs": 10**400}, ["epochs must be a whole number", "..."]),
        ({"epochs": 16**5000}, ["epochs must be a whole number", "a huge number"]),
        ({"epochs": 2**31}, ["epochs must be at most 2147483647"]),
        ({"dataset": ""}, ["dataset must be a name, a folder or a file"]),
        ({"dataset": "a\0b"}, ["dataset must be a name, a folder or a file"]),
        ({"dataset": "/dev/zero"}, ["dataset must be a name, a folder or a file"]),
        ({"dataset": list(range(10**5))}, ["dataset must be text", "..."]),
        ({"model": {"name": "hganet", "activation": "foo"}}, ["model.activation must be the name", "'foo'"]),
        ({"model": {"name": "hganet", "kernel_initializer": "foo"}}, ["model.kernel_initializer must", "'foo'"]),
        ({"model": {"name": ["hganet"]}}, ["model.name ['hganet'] is not a model"]),
        ({"model": {"name": "hganet", "score": "cosin"}}, ["model.score must be one of dot", "did you mean cosine"]),
        ({"model": {"name": "hganet", "gate": "none"}}, ["model.gate must be one of sigmoid, double or null"]),
        ({"model": {"name": "hganet", "heads": 0}}, ["model.heads must be at least 1"]),
        ({"model": {"name": "hganet", "skip": "all"}}, ["model.skip must be one of module, gcn, both"]),
        ({"model": {"name": "hganet", "readout": "avg"}}, ["model.readout must be one of sort, sum, mean, max"]),
        ({"model": {"name": "hganet", "out": "gat"}}, ["model.out must be one of gcn, dense"]),
        ({"teacher": {"weight": 1}}, ["no key teacher"]),
        ({("a", "b"): 3}, ["no key ('a', 'b')"]),
        ({"x" * 10**6: 3}, ["no key", "..."]),
    ],
)
def test_wrong_settings_are_named(changes, words):
    with pytest.raises(ConfigError) as caught:
        build(changes)
    for word in words:
        assert word in str(caught.value)
    assert len(str(caught.value)) < 500, "the message does not repeat the whole file"


def test_a_missing_key_is_named():
    tree = {key: entry for key, entry in TREE.items() if key != "optimizer"}
    with pytest.raises(ConfigError, match="key optimizer is missing"):
        settings.build(tree)


def test_node_protocol_is_validation_only():
    with pytest.raises(ConfigError, match="protocol must be one of validation"):
        settings.build({**NODE, "protocol": "paper"})


def test_scale_takes_null_a_word_or_a_number():
    scales = [build(model={"name": "hganet", "scale": scale}).model.scale for scale in (None, "sqrt", "0.5", 2)]
    assert scales == [None, "sqrt", 0.5, 2.0]


@pytest.mark.parametrize(
    ("teacher", "words"),
    [
        ({"weight": -1}, "teacher.weight must be at least 0, got -1"),
        ({"decay": 1}, "teacher.decay must be below 1, got 1"),
        ({"temperature": 0}, "teacher.temperature must be above 0, got 0"),
        ({"ramp": 1.5}, "teacher.ramp must be a whole number"),
        ({"wait": 3}, r"no key teacher.wait \(did you mean teacher.weight\?\)\."),
        (2, "teacher must be a section"),
    ],
)
def test_a_wrong_teacher_is_named(teacher, words):
    assert settings.build(NODE).teacher.weight == 0
    with pytest.raises(ConfigError, match=words):
        settings.build({**NODE, "teacher": teacher})


SWITCHES = {
    "heads": 2, "concat": False, "score": "cosine", "query_units": 4, "gate": None, "skip": "both",
    "attention_weights_dropout": 0.1, "embedding": "dense", "out": "dense",
}  # fmt: skip


def test_switches_reach_the_model():
    """Every switch of the layers may be set, and is what the model is made with."""
    graphs = data.load("BA2Motifs", num_graphs=4)
    graph = training.make_model(build(model={"name": "hganet", **SWITCHES, "readout": "mean"}), graphs)
    node = settings.build({**NODE, "model": {"name": "hganet", **SWITCHES}})
    for model in (graph, training.make_model(node, data.load("Karate"))):
        assert {name: model.get_config()[name] for name in SWITCHES} == SWITCHES
    assert graph.readout == "mean"


def test_overrides():
    tree = settings.merge(TREE, ["optimizer.learning_rate=0.01", "model.k=4", "optimizer.no_decay=[key_kernel]"])
    config = settings.build(tree)
    assert (config.optimizer.learning_rate, config.model.k) == (0.01, 4)
    assert config.optimizer.no_decay == ("key_kernel",)
    assert TREE["model"] == {"name": "hganet"}, "the original is left alone"


STRANGE = [
    "2020-13-45",
    "!!int abc",
    "!!float abc",
    "!!bool abc",
    "!!timestamp x",
    "9" * 5000,
    "[" * 3000,
    "*a",
    "&a [*a]",
]


@pytest.mark.parametrize("text", STRANGE, ids=range(len(STRANGE)))
def test_values_that_yaml_itself_stumbles_over(tmp_path, text):
    with pytest.raises(ConfigError, match=r"--set seed: .* is not a YAML value"):
        settings.merge(TREE, [f"seed={text}"])
    (tmp_path / "x.yaml").write_text(f"task: graph\nseed: {text}\n")
    with pytest.raises(ConfigError, match=r"x\.yaml is not valid YAML"):
        settings.read(tmp_path / "x.yaml")


def bomb(line):
    """Ten lines, each ten times the one before."""
    return "a0: &a0 [x]\n" + "".join(line.format(i, ", ".join([f"*a{i - 1}"] * 10), i - 1) for i in range(1, 11))


@pytest.mark.parametrize("line", ["a{0}: &a{0} [{1}]\n", "a{0}: &a{0} {{<<: [{1}]}}\n"])
def test_a_few_lines_that_stand_for_gigabytes(tmp_path, line):
    (tmp_path / "x.yaml").write_text(bomb(line).replace("[x]", "{k: v}" if "<<" in line else "[x]"))
    with pytest.raises(ConfigError, match="configs have no aliases"):
        settings.read(tmp_path / "x.yaml")


def test_a_file_that_is_too_large_or_has_no_end(tmp_path):
    (tmp_path / "x.yaml").write_text("# comment\n" * 20_000)
    for path in (tmp_path / "x.yaml", "/dev/zero"):
        with pytest.raises(ConfigError, match="more than 100000 bytes"):
            settings.read(path)


@pytest.mark.parametrize("override", ["epochs", "=3", "epochs.deep=3", "epochs=[1"])
def test_bad_overrides(override):
    with pytest.raises(ConfigError):
        settings.build(settings.merge({**TREE, "epochs": 3}, [override]))


@pytest.mark.parametrize("text", [b"a: [1", b"- 1\n", b"", b"\xff\xfe\x00"])
def test_files_that_are_no_config(tmp_path, text):
    path = tmp_path / "x.yaml"
    path.write_bytes(text)
    with pytest.raises(ConfigError, match=r"x\.yaml"):
        settings.load(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"none\.yaml cannot be read: No such file"):
        settings.load(tmp_path / "none.yaml")


TAUGHT = {**NODE, "model": {"name": "hganet", **SWITCHES}, "teacher": {"weight": 2, "ramp": 50}}


@pytest.mark.parametrize("tree", [TREE, NODE, TAUGHT])
def test_save_and_load_is_the_identity(tmp_path, tree):
    config = settings.build(tree)
    settings.save(config, tmp_path / "config.yaml")
    assert settings.load(tmp_path / "config.yaml") == config
    assert [path.name for path in tmp_path.iterdir()] == ["config.yaml"]


def test_differences():
    old, new = build(), dataclasses.replace(build(seed=3), epochs=7)
    assert settings.differences(old, new) == [("epochs", 100, 7), ("seed", 0, 3)]
    assert settings.differences(old, new, ignore=("seed",)) == [("epochs", 100, 7)]


def test_chebyshevs_largest_eigenvalue_is_that_of_the_weighted_graph():
    edges = np.array([[0, 1], [1, 0], [1, 2], [2, 1], [2, 0], [0, 2]])
    weights = np.array([1.0, 1.0, 5.0, 5.0, 2.0, 2.0])
    masks = np.arange(3)[:, None]
    for edge_weights in (None, weights):
        dataset = data.NodeDataset(edges, np.eye(3), [0, 1, 0], *masks, edge_weights=edge_weights)
        expected = ops.largest_eigenvalue(edges, 3, edge_weights)
        assert ChebyshevConfig().arguments(dataset)["lambda_max"] == pytest.approx(expected)
    assert expected != pytest.approx(ops.largest_eigenvalue(edges, 3), abs=1e-3)
