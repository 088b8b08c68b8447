"""What a fold trains, validates and tests on: what every published figure stands on.

Every graph here has its own number as its feature, so that what comes out of batches can be told apart.
"""

import json

import numpy as np
import pytest
import tensorflow as tf

import train
from experiments import config as settings
from experiments import tasks, training
from experiments.tasks import GraphTask, NodeTask, load_dataset, settle_splits
from ganet_tf import data
from ganet_tf.errors import ConfigError

COUNT = 43
FOLDS = 3
TREE = {"task": "graph", "dataset": "numbered", "model": {"name": "hganet"}, "optimizer": {}, "splits": "stratified"}


def numbered_graph(number):
    """A path of 2 to 5 nodes whose one feature is the graph's number."""
    size = 2 + number % 4
    edges = [(i, i + 1) for i in range(size - 1)] + [(i + 1, i) for i in range(size - 1)]
    return data.Graph(x=np.full((size, 1), number), edges=edges, y=number % 3 == 0)


NUMBERED = data.GraphDataset.from_graphs([numbered_graph(number) for number in range(COUNT)], name="numbered")


def numbers(inputs):
    """The numbers of the graphs in a batch, in their order."""
    x, graph_ids = np.asarray(inputs["x"])[:, 0], np.asarray(inputs["graph_ids"])
    firsts = np.flatnonzero(np.diff(graph_ids, prepend=-1))
    return x[firsts].astype(int).tolist()


def all_numbers(batches):
    return [number for inputs, _ in batches for number in numbers(inputs)]


def split_of(number, **changes):
    """(train, held out, final) of a fold as lists of graph numbers; final is None where there is none."""
    config = settings.build({**TREE, "folds": FOLDS, "batch_size": 5, **changes})
    split = GraphTask(config, NUMBERED).split(number)
    final = None if split.final is None else all_numbers(split.final)
    return all_numbers(split.batches(0)), all_numbers(split.held_out), final, split


@pytest.mark.parametrize("number", range(1, FOLDS + 1))
def test_paper_trains_on_all_but_the_test_fold(number):
    train_part, test, final, split = split_of(number)
    assert not set(train_part) & set(test)
    assert sorted(train_part + test) == list(range(COUNT)), "every graph once"
    assert final is None and set(split.parts) == {"test"}
    assert split.sizes == {"train": len(train_part), "test": len(test)}
    assert split.steps == len(list(split.batches(0)))


@pytest.mark.parametrize("number", range(1, FOLDS + 1))
def test_validation_is_cut_from_the_training_graphs(number):
    train_part, val, test, split = split_of(number, protocol="validation")
    paper_train, paper_test, _, _ = split_of(number)
    assert not set(train_part) & set(val) and not set(train_part) & set(test) and not set(val) & set(test)
    assert sorted(train_part + val + test) == list(range(COUNT)), "every graph once"
    assert sorted(test) == sorted(paper_test), "both protocols test on the same graphs"
    assert sorted(train_part + val) == sorted(paper_train)
    assert len(val) == round(len(paper_train) / 10) and set(split.parts) == {"val"}
    assert split.sizes == {"train": len(train_part), "val": len(val), "test": len(test)}


@pytest.mark.parametrize("protocol", ["paper", "validation"])
def test_the_test_folds_are_a_partition_and_the_same_for_every_seed(protocol):
    def tests(seed):
        parts = [split_of(n, protocol=protocol, seed=seed) for n in range(1, FOLDS + 1)]
        return [sorted(held_out if final is None else final) for _, held_out, final, _ in parts]

    first = tests(0)
    assert sorted(number for fold in first for number in fold) == list(range(COUNT))
    assert tests(77) == first


def test_the_seed_and_the_epoch_shuffle_training():
    order = {}
    for seed in (0, 1):
        split = split_of(2, seed=seed)[3]
        order.update({(seed, epoch): all_numbers(split.batches(epoch)) for epoch in (0, 1)})
    assert len({tuple(numbers) for numbers in order.values()}) == 4, "all different"
    assert len({tuple(sorted(numbers)) for numbers in order.values()}) == 1, "of the same graphs"
    whole, _ = NUMBERED.fold(2, splits="stratified", num_folds=FOLDS)
    for (seed, epoch), found in order.items():  # fold n uses seed + n
        assert found == all_numbers(whole.numpy_batches(5, shuffle=True, seed=seed + 2, epoch=epoch))


def test_the_seed_chooses_which_training_graphs_validate():
    whole, _ = NUMBERED.fold(2, splits="stratified", num_folds=FOLDS)
    found = [split_of(2, protocol="validation", seed=seed)[1] for seed in (0, 1)]
    assert found[0] != found[1]
    assert [sorted(part) for part in found] == [
        sorted(all_numbers(whole.split(0.1, seed=seed + 2)[1].batches(50))) for seed in (0, 1)
    ]


class ListedFolds:
    """Published folds that say what they were asked for: fold n tests on graphs n and n + 10."""

    def available(self):
        return True

    def indices(self, index, num_graphs):
        test = np.array([index, index + 10])
        return np.setdiff1d(np.arange(num_graphs), test), test


@pytest.mark.parametrize("seed", [0, 5])
def test_published_folds_are_taken_where_there_are_any(seed):
    dataset = NUMBERED.with_published_folds(ListedFolds())
    config = settle_splits(settings.build({**TREE, "splits": "auto", "seed": seed}), dataset)
    assert config.splits == "published"
    split = GraphTask(config, dataset).split(7)
    assert all_numbers(split.held_out) == [7, 17]
    assert sorted(all_numbers(split.batches(0))) == [n for n in range(COUNT) if n not in (7, 17)]


@pytest.mark.real_data
@pytest.mark.parametrize("seed", [0, 3])
@pytest.mark.parametrize("name", ["MUTAG", "PTC"])
def test_folds_equal_the_published_lists(name, seed, data_dir):
    config = settings.build({**TREE, "dataset": name, "splits": "auto", "seed": seed})
    dataset = load_dataset(config, data_dir)
    config = settle_splits(config, dataset)
    for number in (1, 6, 10):
        train_list, test_list = (
            np.loadtxt(data_dir / "folds" / name / f"{part}_idx-{number}.txt", dtype=int) for part in ("train", "test")
        )
        split = GraphTask(config, dataset).split(number)
        assert split.sizes == {"train": len(train_list), "test": len(test_list)}
        assert fingerprint(split.held_out) == fingerprint(dataset.subset(test_list).batches(500))
        assert fingerprint(split.batches(0)) == fingerprint(dataset.subset(train_list).batches(500))


def fingerprint(batches):
    """What graphs are in batches, whatever their order."""
    found = []
    for inputs, y in batches:
        x, edges, ids = (np.asarray(inputs[key]) for key in ("x", "edges", "graph_ids"))
        for graph, label in enumerate(np.asarray(y)):
            first = np.searchsorted(ids, graph)
            mine = edges[ids[edges[:, 0]] == graph] - first
            found.append((x[ids == graph].tobytes(), mine.tobytes(), int(label)))
    return sorted(found)


@pytest.fixture
def reads(tmp_path, monkeypatch):
    """Trains fold 2 of the numbered graphs; gives ("train" or "evaluate", graphs) in the order of reading."""
    log = []
    make_step, evaluate = training.make_step, training.Evaluator._all_logits

    def spied_step(model, *specs):
        step = make_step(model, *specs)

        def spy(inputs, y):
            log.append(("train", set(numbers(inputs))))
            step(inputs, y)

        return spy

    def spied_evaluate(self):
        log.append(("evaluate", {number for inputs in self._inputs for number in numbers(inputs)}))
        return evaluate(self)

    monkeypatch.setattr(training, "make_step", spied_step)
    monkeypatch.setattr(training.Evaluator, "_all_logits", spied_evaluate)
    monkeypatch.setattr("experiments.tasks.data.load", lambda *_, **__: NUMBERED)
    model = {"name": "hganet", "operator": "linear", "num_modules": 1, "units": 4, "out_units": 9}
    tree = {**TREE, "model": model, "folds": FOLDS, "epochs": 3, "batch_size": 5}

    def run(protocol):
        path = tmp_path / "numbered.yaml"
        path.write_text(json.dumps({**tree, "protocol": protocol}))
        flags = ["--config", str(path), "--folds", "2", "--output", str(tmp_path / protocol), "--quiet"]
        assert train.main(flags) == 0
        return log

    return run


def test_validation_reads_the_test_fold_once_after_the_last_step(reads):
    log = reads("validation")
    _, _, test, _ = split_of(2, protocol="validation")
    touched = [i for i, (_, graphs) in enumerate(log) if graphs & set(test)]
    assert touched == [len(log) - 1] and log[-1] == ("evaluate", set(test))
    assert [what for what, _ in log].count("evaluate") == 3 + 1
    assert log[-2][0] == "evaluate", "validation, after the last step"


def test_paper_never_trains_on_the_test_fold(reads):
    log = reads("paper")
    _, test, _, _ = split_of(2)
    assert all(not graphs & set(test) for what, graphs in log if what == "train")
    assert [graphs for what, graphs in log if what == "evaluate"] == [set(test)] * (3 + 1)  # for test.csv
    trained = set().union(*(graphs for what, graphs in log if what == "train"))
    assert trained == set(range(COUNT)) - set(test)


def test_nodes_of_a_run():
    dataset = data.load("Karate")
    config = settings.build({"task": "node", "dataset": "Karate", "model": {"name": "gcn"}, "optimizer": {}})
    parts = {name: dataset.nodes(name) for name in ("train", "val", "test")}
    assert len(np.unique(np.concatenate(list(parts.values())))) == sum(map(len, parts.values())), "disjoint"
    for number in (1, 2):
        split = NodeTask(config, dataset).split(number)
        ((inputs, y),) = split.batches(0)
        np.testing.assert_array_equal(np.asarray(inputs["nodes"]), parts["train"])
        np.testing.assert_array_equal(np.asarray(y), dataset.y[parts["train"]])
        ((inputs, y),) = list(split.held_out)
        for name, part in split.parts.items():
            np.testing.assert_array_equal(np.asarray(inputs["nodes"])[part], parts[name])
            np.testing.assert_array_equal(np.asarray(y)[part], dataset.y[parts[name]])
        assert set(split.parts) == {"val", "test"} and split.final is None


@pytest.mark.parametrize("model", ["planetoid", "gcn"])
def test_only_a_model_that_looks_at_a_node_alone_gets_no_other_features(model):
    """And its answers are those that it gives with all of them."""
    task = node_task("Karate", model={"name": model})
    split, everything = task.split(1), task.dataset.x
    fresh = training.make_model(task.config, task.dataset, task.arguments)
    for inputs, _ in (*split.batches(0), *split.held_out):
        x, nodes = tf.sparse.to_dense(inputs["x"]).numpy(), np.asarray(inputs["nodes"])
        np.testing.assert_array_equal(x[nodes], everything[nodes])
        others = np.delete(x, nodes, axis=0)
        assert not others.any() if model == "planetoid" else others.any()
        whole = {**inputs, "x": tf.sparse.from_dense(everything)}
        np.testing.assert_array_equal(fresh(inputs), fresh(whole))


def node_task(dataset, **changes):
    model = {"name": "hganet", "operator": "cgao"}
    config = settings.build(
        {"task": "node", "dataset": dataset, "model": model, "optimizer": {}, "normalize_features": None, **changes}
    )
    return NodeTask(config, load_dataset(config))


def test_a_generated_graph_for_each_run():
    """Run n of seed s has the graph of seed s + n, and several graphs come with their numbers."""
    task = node_task("Dictionary", seed=7, generated={"size": 3})
    for number in (1, 2, 1):
        expected = data.load("Dictionary", seed=7 + number, size=3)
        ((inputs, y),) = task.split(number).batches(0)
        np.testing.assert_array_equal(np.asarray(inputs["nodes"]), expected.nodes("train"))
        np.testing.assert_array_equal(np.asarray(y), expected.y[expected.train_mask])
        np.testing.assert_array_equal(np.asarray(inputs["graph_ids"]), expected.graph_ids)
    with pytest.raises(ConfigError, match=r"Dictionary has no setting generated\.degree"):
        node_task("Dictionary", generated={"degree": 3})


def test_a_published_split_for_each_run(monkeypatch):
    parts = [np.roll(np.eye(3, dtype=bool), turn, axis=1)[:2] for turn in range(3)]
    published = data.NodeDataset([[0, 1], [1, 2]], np.eye(3), [0, 1, 0], name="three", published=parts)
    monkeypatch.setattr("experiments.tasks.data.load", lambda *_, **__: published)
    task = node_task("three")
    assert [np.asarray(task.split(number).test).tolist() for number in (1, 2, 3)] == [[2], [0], [2]]
    made = node_task("three", splits="random", train_share=0.4, val_share=0.3)
    assert len({tuple(made.split(number).test.tolist()) for number in (1, 2)}) == 1, "made splits are one"


def test_the_node_figure_is_test_at_the_epoch_that_validation_chose():
    rows = [
        {"epoch": e, "val_loss": v, "val_accuracy": a, "test_loss": 1.0, "test_accuracy": t}
        for e, v, a, t in [(1, 0.9, 0.5, 0.9), (2, 0.4, 0.6, 0.3), (3, 0.6, 0.6, 0.7)]
    ]
    config = settings.build({"task": "node", "dataset": "Karate", "model": {"name": "gcn"}, "optimizer": {}})
    rules = NodeTask(config, data.load("Karate")).rules(rows, 2, None)
    assert rules["validation"]["epoch"] == 2 and rules["validation"]["accuracy"] == 0.3
    assert rules["max_test_lgcn"] == {"epoch": 1, "accuracy": 0.9}
    assert rules["best_test_epoch"] == {"epoch": 1, "accuracy": 0.9}


def test_the_graph_figure_under_validation_is_the_final_test():
    config = settings.build({**TREE, "protocol": "validation"})
    rows = [{"epoch": e, "val_loss": 1.0 - e / 10, "val_accuracy": 0.5} for e in (1, 2, 3)]
    rules = GraphTask(config, NUMBERED).rules(rows, 3, {"test_accuracy": 0.25, "test_loss": 2.0})
    assert rules == {"validation": {"epoch": 3, "accuracy": 0.25, "loss": 2.0, "val_loss": 0.7, "val_accuracy": 0.5}}


def test_other_data_of_the_same_size_have_another_digest():
    graphs, nodes = data.load("BA2Motifs", num_graphs=20), data.load("Karate").random_split(seed=0)
    assert tasks.data_digest(graphs) == tasks.data_digest(graphs[:]) != tasks.data_digest(graphs[::-1])
    assert tasks.data_digest(nodes) == tasks.data_digest(data.load("Karate").random_split(seed=0))
    assert tasks.data_digest(nodes) != tasks.data_digest(nodes.random_split(seed=1))
    assert tasks.data_digest(nodes) != tasks.data_digest(nodes.with_targets(1 - nodes.y))
