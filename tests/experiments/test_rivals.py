"""train.py and predict.py with the paper's rivals: what they need beyond epochs, and that a cut-off run resumes."""

import json

import numpy as np
import pytest

import predict
import train
from experiments import config as settings
from experiments import training
from experiments.attention.folds import Fold
from experiments.checkpoint import Checkpoint
from experiments.tasks import load_dataset
from ganet_tf import data, models
from ganet_tf.errors import ConfigError
from tests.experiments.own_data import FLAGS, molecules, read_table, write_graphs
from tests.experiments.test_kill_and_resume import content

SMALL = ["model.units=3,2", "epochs=3", "folds=2"]
KARATE = ["--dataset", "Karate", "--folds", "1", "--set"]
WALKS = ["model.label_steps=4", "model.graph_steps=3", "epochs=3"]
GRAPHS = {
    "graphsage": SMALL,
    "set2set": [*SMALL, "model.steps=2"],
    "diffpool": [*SMALL, "model.clusters=3"],
    "pscn": ["model.units=4", "model.size=3", "epochs=3", "folds=2"],
}
NODES = {
    "chebyshev": ["model.units=4", "epochs=3"],
    "planetoid": WALKS,
    "planetoid I": [*WALKS, "model.variant=I", "model.joint=1"],
    "deepwalk": ["model.units=4", "model.walks=2", "model.walk_length=5", "model.passes=1"],
}


class Cut(BaseException):
    """Ends a run as a kill would, as far as its files go."""


def flags(case, tiny):
    name = case.split()[0]
    if case in NODES:
        return ["--model", name, *KARATE, *NODES[case], *FLAGS]
    return ["--model", name, "--dataset", str(tiny), "--folds", "1", "--set", *GRAPHS[case], *FLAGS]


def cut_at(monkeypatch, owner, name, number):
    """Lets a method end the run when it is called with a number."""
    original = getattr(owner, name)

    def method(self, given, *more):
        if given == number:
            raise Cut
        return original(self, given, *more)

    monkeypatch.setattr(owner, name, method)


@pytest.fixture(autouse=True)
def checkpoints(monkeypatch):
    monkeypatch.setattr(Checkpoint, "due", lambda self: True)


@pytest.mark.parametrize("case", [*GRAPHS, *NODES])
def test_resumed_equals_uninterrupted(case, tiny, tmp_path, monkeypatch, capsys):
    words = flags(case, tiny)
    assert train.main([*words, "--output", str(tmp_path / "whole")]) == 0
    places = [(training.Recorder, "on_epoch_end", 1)]
    if case in ("planetoid", "planetoid I", "deepwalk"):
        kind = models.context_training.ContextTraining if case != "deepwalk" else models.skip_gram.SkipGram
        places = [(kind, "step", 3), (kind, "step", 6), *places]
    for place in places:
        with monkeypatch.context() as patch:
            cut_at(patch, *place)
            with pytest.raises(Cut):
                train.main([*words, "--output", str(tmp_path / "cut")])
    assert train.main([*words, "--output", str(tmp_path / "cut")]) == 0
    said = capsys.readouterr().err
    assert said.count("continuing after") == len(places)
    assert len(places) == 1 or ("after 3 steps" in said and "after 6 steps before the first epoch" in said)
    whole, cut = (next((tmp_path / folder).glob("*-01")) for folder in ("whole", "cut"))
    assert content(cut) == content(whole)


def test_steps_beside_the_epochs_and_before_them(tmp_path, monkeypatch):
    done = []
    step = models.context_training.ContextTraining.step
    monkeypatch.setattr(
        models.context_training.ContextTraining,
        "step",
        lambda self, number: done.append(number) or step(self, number),
    )
    assert train.main([*flags("planetoid I", None), "--output", str(tmp_path / "run")]) == 0
    assert done == [*range(7), 7, 8, 9]


def test_a_loss_before_the_epochs_that_is_not_a_number_is_told(tmp_path, capsys):
    words = [*flags("planetoid", None), "--set", "model.context_rate=1e30"]
    assert train.main([*words, "--output", str(tmp_path / "run")]) == 1
    assert "before the first epoch; try a smaller learning rate" in capsys.readouterr().err


def made(*words):
    """The arguments that a model gets from flags and data."""
    config = settings.resolve(training_flags(words))[0]
    dataset = load_dataset(config)
    return config, dataset, config.model.arguments(dataset)


def training_flags(words):
    from experiments.command_line import parse

    return parse(list(words))


def test_arguments_that_follow_from_the_data(tiny):
    _, tinies, found = made("--dataset", str(tiny), "--model", "diffpool")
    assert found["clusters"] == max(2, int(tinies.sizes.max()) // 10)
    assert made("--dataset", str(tiny), "--model", "diffpool", "--set", "model.clusters=7")[2]["clusters"] == 7
    config, tinies, found = made("--dataset", str(tiny), "--model", "pscn")
    assert found["width"] == round(tinies.sizes.mean()) and config.optimizer.name == "rmsprop"
    fields = config.model.prepare(tinies, found).arrays()["fields"]
    np.testing.assert_array_equal(fields, data.receptive_fields(tinies, found["width"], 10))
    config, karate, found = made("--dataset", "Karate", "--model", "chebyshev")
    assert 1 < found["lambda_max"] <= 2 and config.optimizer.no_decay == ("out/",)
    assert made("--dataset", "Karate", "--model", "chebyshev", "--set", "model.lambda_max=2")[2]["lambda_max"] == 2
    assert made("--dataset", "Karate", "--model", "planetoid")[2]["num_nodes"] == karate.num_nodes == 34
    assert made("--dataset", "Karate", "--model", "planetoid")[2]["graph_batch"] == 3
    config, _, found = made("--dataset", "Karate", "--model", "deepwalk")
    assert found["num_nodes"] == 34 and config.epochs == len(config.model.C) == 4


@pytest.mark.parametrize(
    ("text", "expected"), [("3", (3,)), ("3,4", (3, 4)), ("[3, 4]", (3, 4)), ("a", None), ("[]", None), ("2.5", None)]
)
def test_lists_of_numbers(text, expected):
    tree = settings.merge(
        {"task": "graph", "dataset": "MUTAG", "model": {"name": "graphsage"}, "optimizer": {}}, [f"model.units={text}"]
    )
    if expected:
        config = settings.build(tree)
        assert config.model.units == expected and settings.flat(config)["model.units"] == list(expected)
    else:
        with pytest.raises(ConfigError, match=r"model.units must be a list of whole numbers"):
            settings.build(tree)
    with pytest.raises(ConfigError, match=r"model.units must be at least 1, got 0"):
        settings.build(settings.merge(tree, ["model.units=4,0"]))


def test_one_kind_of_clipping():
    tree = {"task": "graph", "dataset": "MUTAG", "model": "diffpool", "optimizer": {"global_clipnorm": 2}}
    assert training.make_optimizer(settings.build(tree).optimizer, 10).max_global_norm == 2
    rms = settings.build({**tree, "optimizer": {"name": "rmsprop", "global_clipnorm": 2}}).optimizer
    assert training.make_optimizer(rms, 10).global_clipnorm == 2
    with pytest.raises(ConfigError, match="not both"):
        settings.build({**tree, "optimizer": {"clipnorm": 1, "global_clipnorm": 2}})


def test_models_of_classes_refuse_other_targets(tmp_path, capsys):
    rng = np.random.default_rng(0)
    names = ("edges", "x", "y")
    arrays = np.array([[0, 1], [1, 0], [2, 3], [3, 2]]), rng.normal(size=(20, 3)), rng.normal(size=20)
    np.savez(tmp_path / "mine.npz", **dict(zip(names, arrays, strict=True)))
    assert train.main(["--task", "node", "--dataset", str(tmp_path / "mine.npz"), "--model", "deepwalk"]) == 2
    assert "deepwalk learns classes" in capsys.readouterr().err


def test_predict_makes_the_fields_as_the_run_did(tmp_path, capsys):
    graphs = molecules(12)
    mine = write_graphs(tmp_path / "mine", graphs, ["a", "b"] * 6)
    write_graphs(tmp_path / "new", [graph for graph in molecules(6, seed=1) if len(graph) > 4])
    words = ["--dataset", str(mine), "--model", "pscn", "--set", "epochs=1", "folds=2", "model.size=3", *FLAGS]
    assert train.main([*words, "--output", str(tmp_path / "run")]) == 0
    out = tmp_path / "out.csv"
    assert predict.main([str(tmp_path / "run"), str(tmp_path / "new"), "--csv", str(out)]) == 0
    assert len(read_table(out)) == len([graph for graph in molecules(6, seed=1) if len(graph) > 4]) > 0


@pytest.mark.parametrize("case", ["planetoid", "deepwalk"])
def test_predict_refuses_models_that_know_one_graph(case, tmp_path, capsys):
    nodes = data.load("Karate")
    np.savez(tmp_path / "new.npz", edges=nodes.edges, x=nodes.x, y=nodes.y)
    assert train.main([*flags(case, None), "--output", str(tmp_path / "run")]) == 0
    capsys.readouterr()
    assert predict.main([str(tmp_path / "run"), str(tmp_path / "new.npz"), "--csv", str(tmp_path / "o.csv")]) == 2
    assert "knows no other nodes" in capsys.readouterr().err
    assert json.loads((tmp_path / "run/summary.json").read_text())["model"] == case


@pytest.mark.parametrize("case", ["planetoid I", "chebyshev"])
def test_predict_answers_for_other_nodes(case, tmp_path):
    nodes = data.load("Karate")
    np.savez(tmp_path / "new.npz", edges=nodes.edges[(nodes.edges < 20).all(axis=1)], x=nodes.x[:20])
    assert train.main([*flags(case, None), "--output", str(tmp_path / "run")]) == 0
    assert predict.main([str(tmp_path / "run"), str(tmp_path / "new.npz"), "--csv", str(tmp_path / "o.csv")]) == 0
    assert len(read_table(tmp_path / "o.csv")) == 20


@pytest.mark.parametrize("name", ["planetoid", "deepwalk"])
def test_no_teacher_for_what_epochs_alone_do_not_train(name):
    tree = {"task": "node", "dataset": "Karate", "model": name, "optimizer": {}, "teacher": {"weight": 1}}
    with pytest.raises(ConfigError, match=f"{name} cannot have a teacher"):
        settings.build(tree)


@pytest.mark.parametrize(
    ("model", "attends"), [("hganet", True), ("gat", True), ("gcn", False), ("chebyshev", False), ("deepwalk", False)]
)
def test_only_what_attends_is_looked_into(model, attends):
    config = settings.build({"task": "node", "dataset": "Karate", "model": model, "optimizer": {}})
    assert Fold("karate/run", config, 1, None, {}).has_attention == attends
