"""train.py on users' own data: any kind of target, nodes and graphs, and what it refuses."""

import json

import keras
import numpy as np
import pytest
import tensorflow as tf

import train
from experiments import config as settings
from experiments import training
from experiments.answers import class_figures, read_answers, write_answers
from experiments.command_line import parse
from experiments.config import resolve
from experiments.objective import Classes, MultiLabel, Regression, as_kind
from experiments.tasks import GraphTask, load_dataset, split_nodes
from ganet_tf import data
from ganet_tf.data import Target
from ganet_tf.errors import ConfigError
from tests.experiments.own_data import FLAGS, TINY, carbons, molecules, read_table, write_graphs, write_nodes

GRAPHS = molecules(18)
NUMBERS = [100 + 10.5 * carbons(graph) for graph in GRAPHS]
NAN = float("nan")
TREE = {"task": "graph", "dataset": "x", "model": "hganet", "optimizer": {}, "splits": "stratified", "folds": 3}
CONFIG = settings.build(TREE)


class Unweighted:
    """Stands for a model that knows nothing of edge weights."""

    required, optional = ("x", "edges", "graph_ids"), ()


def files(folder):
    """Everything below a folder: {path: content}."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def refused(capsys, *flags):
    """The one sentence of a refusal."""
    assert train.main([*flags, "--quiet"]) == 2
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == 1 and lines[0].startswith("train.py: ")
    return lines[0]


class TestObjectives:
    def test_losses_leave_missing_entries_out(self):
        y, outputs = np.array([[1.0, NAN], [0.0, 1.0]], np.float32), np.array([[0.5, 9.0], [-1.0, 2.0]], np.float32)
        known = ~np.isnan(y)
        squared = ((outputs - y) ** 2)[known].mean()
        crossed = np.where(y == 1, np.log1p(np.exp(-outputs)), np.log1p(np.exp(outputs)))[known].mean()
        for kind, expected in ((Regression, squared), (MultiLabel, crossed)):
            objective = kind(Target("multilabel", width=2))
            with tf.GradientTape() as tape:
                x = tf.Variable(outputs)
                loss = objective.loss()(y, x)
            assert float(loss) == pytest.approx(expected, rel=1e-5)
            gradient = tape.gradient(loss, x).numpy()
            assert np.isfinite(gradient).all() and gradient[0, 1] == 0 and gradient[1, 1] != 0
            (metric,) = objective.keras_metrics()
            metric.update_state(y[:1], outputs[:1])
            metric.update_state(y[1:], outputs[1:])
            assert float(metric.result()) == pytest.approx(expected, rel=1e-5), "over all entries, not over batches"

    def test_a_batch_without_any_target_costs_nothing(self):
        loss = Regression(Target("regression")).loss()(np.full((2, 1), np.nan, np.float32), np.ones((2, 1), np.float32))
        assert float(loss) == 0

    def test_regression_by_hand(self):
        train_y = np.array([[10.0], [30.0], [NAN]], np.float32)
        objective = Regression(Target("regression")).fitted(train_y)
        assert objective.mean == (20,) and objective.std == (10,)
        np.testing.assert_allclose(objective.encoded(train_y)[:2], [[-1], [1]])
        outputs, y = np.array([[0.0], [1.0], [5.0]]), np.array([[23.0], [26.0], [NAN]])
        np.testing.assert_allclose(objective.answers(outputs), [[20], [30], [70]])
        found = objective.scores(outputs, y)
        assert found == pytest.approx({"loss": (0.09 + 0.16) / 2, "mae": 3.5, "rmse": np.sqrt(12.5)})

    def test_constant_numbers_are_not_divided_by_zero(self):
        objective = Regression(Target("regression")).fitted(np.full((3, 1), 7.0))
        assert objective.std == (1,) and objective.answers([[0.0]]).tolist() == [[7.0]]

    def test_labels_by_hand(self):
        objective = MultiLabel(Target("multilabel", width=3))
        y = np.array([[1, 0, 1], [0, NAN, 1], [1, 1, 1], [0, 0, 1]])
        outputs = np.array([[2.0, -1, 0], [1.0, 99, 0], [0.5, 3, 0], [-1.0, 0, 0]])
        found = objective.scores(outputs, y)
        # Label 1: one of four pairs is the wrong way round; label 2 is in order; label 3 has one answer only.
        assert found["roc_auc"] == pytest.approx((0.75 + 1) / 2)
        assert found["average_precision"] == pytest.approx(((1 + 2 / 3) / 2 + 1) / 2)
        np.testing.assert_allclose(objective.answers([[0.0, 100, -1000]]), [[0.5, 1, 0]], atol=1e-12)
        assert np.isnan(objective.scores(outputs[:, 2:], y[:, 2:])["roc_auc"])

    def test_classes_as_probabilities(self):
        answers = Classes(Target("classes", ("a", "b"), 2)).answers([[1000.0, 1000.0], [0.0, np.log(3)]])
        np.testing.assert_allclose(answers, [[0.5, 0.5], [0.25, 0.75]])


class TestKinds:
    def graphs(self, labels):
        return data.GraphDataset.from_networkx(GRAPHS[: len(labels)], labels)

    def test_whole_numbers_as_numbers_or_as_a_label(self):
        ds = self.graphs([3, 7, None, 7])
        assert as_kind(ds, "auto") is ds and as_kind(ds, "classes") is ds
        numbers = as_kind(ds, "regression")
        np.testing.assert_array_equal(numbers.y, [[3], [7], [NAN], [7]])
        label = as_kind(self.graphs([0, 1, None]), "multilabel")
        np.testing.assert_array_equal(label.y, [[0], [1], [NAN]])
        assert label.encoder == ds.encoder and label.num_features == ds.num_features

    @pytest.mark.parametrize(
        ("labels", "kind"),
        [
            (["a", "b"], "regression"),
            ([0, 2], "multilabel"),
            ([0.5, 1.5], "classes"),
            ([0.5, 1.5], "multilabel"),
            ([[0, 1], [1, 0]], "classes"),
            ([True, False], "regression"),
        ],
    )
    def test_what_is_not_of_that_kind_is_refused(self, labels, kind):
        with pytest.raises(ConfigError, match=f"target is {kind}, but the targets of networkx are"):
            as_kind(self.graphs(labels), kind)

    def test_graphs_without_a_target_are_left_out(self):
        ds = self.graphs(["a", None, "b", "a", "b", None, "a", "b"])
        task = GraphTask(CONFIG, ds)
        assert len(task.dataset) == 6 and "2 graphs have no target" in task.notes[-1]
        tested = [number for fold in (1, 2, 3) for number in task.split(fold).test.tolist()]
        assert sorted(tested) == [0, 2, 3, 4, 6, 7], "numbers as in the file"

    def test_numbers_are_standardized_by_the_training_graphs_alone(self):
        task = GraphTask(CONFIG, self.graphs(NUMBERS))
        for number in (1, 2, 3):
            split = task.split(number)
            train_part = np.delete(NUMBERS, split.test)
            assert split.objective.mean[0] == pytest.approx(train_part.mean(), rel=1e-6)
            encoded = np.concatenate([y for _, y in split.batches(0)])
            assert encoded.mean() == pytest.approx(0, abs=1e-5) and encoded.std() == pytest.approx(1, rel=1e-5)

    def test_weights_go_to_models_that_take_them(self, monkeypatch):
        def keys(task):
            split = task.split(1)
            batches = [next(iter(split.batches(0))), *split.held_out]
            assert all(set(inputs) == set(task.spec()) for inputs, _ in batches)
            return set(task.spec())

        ds = self.graphs(["a", "b"] * 9)
        task = GraphTask(CONFIG, ds)
        assert keys(task) == {"x", "edges", "graph_ids", "edge_weights"} and task.notes == []
        monkeypatch.setattr("experiments.tasks.model_class", lambda config: Unweighted)
        task = GraphTask(CONFIG, ds)
        assert keys(task) == {"x", "edges", "graph_ids"}
        assert task.notes == ["The edges have weights, which hganet does not take: they are left aside."]

    def test_the_new_keys_stay_out_of_configs_that_do_not_use_them(self):
        config = resolve(parse(["--dataset", "Karate"]))[0]
        assert not set(config.unlisted) & set(settings.to_tree(config))
        changed = resolve(parse(["--dataset", "Karate", "--set", "splits=random"]))[0]
        assert settings.to_tree(changed)["splits"] == "random"
        assert settings.build(settings.to_tree(changed)) == changed


class TestNodeSplits:
    def config(self, **changes):
        tree = {"task": "node", "dataset": "x", "model": "gcn", "optimizer": {}, **changes}
        return settings.build(tree)

    def test_own_splits_are_taken_and_missing_ones_made(self, tmp_path):
        masks = {"train_mask": np.arange(30), "val_mask": np.arange(30, 40), "test_mask": np.arange(40, 60)}
        own = data.load(write_nodes(tmp_path / "own.npz", **masks))
        assert split_nodes(self.config(), own) is own
        bare = data.load(write_nodes(tmp_path / "bare.npz"))
        made = split_nodes(self.config(), bare)
        assert [len(made.nodes(split)) for split in ("train", "val", "test")] == [36, 12, 12]
        assert np.bincount(made.y[made.test_mask]).tolist() == [4, 4, 4], "stratified"
        again = split_nodes(self.config(seed=5), bare)
        assert again.nodes("test").tolist() == made.nodes("test").tolist(), "they belong to the data, not to the seed"
        other = split_nodes(self.config(splits="random", train_share=0.5), own)
        assert len(other.nodes("train")) == 30 and other.nodes("test").tolist() != own.nodes("test").tolist()

    def test_some_splits_alone_are_refused(self, tmp_path):
        some = data.load(write_nodes(tmp_path / "some.npz", train_mask=np.arange(30)))
        with pytest.raises(ConfigError, match="some has no val nodes: give train, val and test nodes, or"):
            split_nodes(self.config(), some)
        with pytest.raises(ConfigError, match="leave no test nodes"):
            self.config(train_share=0.9, val_share=0.2)

    @pytest.mark.parametrize("kind", ["classes", "regression", "multilabel"])
    def test_train_on_own_nodes(self, tmp_path, kind):
        path = write_nodes(tmp_path / "mine.npz", kind)
        flags = ["--task", "node", "--dataset", str(path), "--runs", "1", "--epochs", "25", *FLAGS]
        flags += ["--set", "model.operator=linear", "model.num_modules=1", "model.dropout=0"]
        assert train.main([*flags, "--output", str(tmp_path / "run")]) == 0
        summary = json.loads((tmp_path / "run/summary.json").read_text())
        found = summary["validation"]["mean"]
        assert summary.get("metric") == {"classes": None, "regression": "mae", "multilabel": "roc_auc"}[kind]
        assert found < 4 if kind == "regression" else found > 80, "it learns"
        rows = read_table(tmp_path / "run/run-01/test.csv")
        assert len(rows) == 12 and next(iter(rows[0])) == "node"
        assert (tmp_path / "run/confusion.csv").exists() == (kind == "classes")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A finished run of regression under the paper's protocol, on an .npz file."""
    folder = tmp_path_factory.mktemp("own")
    ds = data.GraphDataset.from_networkx(GRAPHS)
    parts = ds.arrays()
    first = np.repeat(np.concatenate([[0], np.cumsum(ds.sizes)[:-1]]), ds.edge_counts)
    np.savez(folder / "mine.npz", sizes=ds.sizes, edge_counts=ds.edge_counts, x=parts["x"], y=NUMBERS,
             edges=parts["edges"] - first[:, None], edge_weights=parts["edge_weights"])  # fmt: skip
    flags = ["--dataset", str(folder / "mine.npz"), "--protocol", "paper", "--set", *TINY, "folds=3", "epochs=4"]
    assert train.main([*flags, "--output", str(folder / "run"), *FLAGS]) == 0
    return folder / "run"


class TestGraphs:
    def test_summary_follows_the_metric(self, run):
        summary = json.loads((run / "summary.json").read_text())
        results = [json.loads((run / f"fold-0{n}/result.json").read_text()) for n in (1, 2, 3)]
        assert summary["metric"] == "mae"
        for rule in ("last_epoch", "best_test_epoch"):
            values = [result["rules"][rule]["mae"] for result in results]
            assert summary[rule]["mean"] == pytest.approx(np.mean(values), rel=1e-4)
            assert summary[rule]["rmse"]["mean"] >= summary[rule]["mean"]
        assert summary["best_test_epoch"]["mean"] <= summary["last_epoch"]["mean"], "the lower the better"
        text = (run / "summary.md").read_text()
        assert "Test MAE over 3 of 3 folds" in text and "%" not in text.split("Command")[0]

    def test_answers_give_the_reported_figure(self, run):
        for number in (1, 2, 3):
            rows = read_table(run / f"fold-0{number}/test.csv")
            error = np.mean([abs(float(row["true"]) - float(row["value"])) for row in rows])
            result = json.loads((run / f"fold-0{number}/result.json").read_text())
            assert error == pytest.approx(result["rules"]["last_epoch"]["mae"], rel=1e-6)
            expected = [NUMBERS[int(row["graph"])] for row in rows]
            np.testing.assert_allclose([float(row["true"]) for row in rows], expected)

    def test_the_saved_model_with_its_scale_gives_the_answers(self, run):
        model = keras.models.load_model(run / "fold-01/model.keras", safe_mode=True)
        rows = read_table(run / "fold-01/test.csv")
        ds = data.load(run.parent / "mine.npz")[[int(row["graph"]) for row in rows]]
        scale = json.loads((run / "fold-01/result.json").read_text())["standardized_by"]
        ((inputs, _),) = ds.batches(50)
        taken = {key: inputs[key] for key in inputs if key in (*model.required, *model.optional)}
        values = np.asarray(model(taken)) * scale["std"] + scale["mean"]
        np.testing.assert_allclose(values[:, 0], [float(row["value"]) for row in rows], rtol=1e-5)

    def test_other_data_under_the_same_name_are_not_mixed_in(self, run, tmp_path, capsys):
        text = (run / "encoder.json").read_text()
        config = settings.load(run / "config.yaml")
        (run / "encoder.json").write_text(text.replace('"num_attributes": 3', '"num_attributes": 4'))
        before = files(run)
        flags = ["--dataset", config.dataset, "--protocol", "paper", "--set", *TINY, "folds=3", "epochs=4"]
        try:
            assert "holds a run on other data" in refused(
                capsys, *flags, "--deterministic", "--threads", "1", "--output", str(run)
            )
            assert files(run) == before, "nothing was changed"
        finally:
            (run / "encoder.json").write_text(text)


class TestRefusals:
    @pytest.fixture(autouse=True)
    def here(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)

    @pytest.mark.parametrize(
        ("targets", "more", "sentence"),
        [
            ([*NUMBERS[:-1], "much"], [], "'label' is of mixed kinds: it has the number 152.5 and the text 'much'"),
            (NUMBERS[:-1], [], "graph 'm17' is not in both the table of graphs and the others"),
            ([*NUMBERS, 5.0], [], "graph 'm18' is not in both the table of graphs and the others"),
            (NUMBERS, ["--set", "target=classes"], "target is classes, but the targets of mine are regression"),
            (NUMBERS, ["--set", "select=val_accuracy"], "select val_accuracy is for classes; for regression set it to"),
            (NUMBERS, ["--set", "target=numbers"], "target must be one of auto, classes, regression, multilabel"),
            ([carbons(graph) * 3 + i for i, graph in enumerate(GRAPHS)], [], "--set target=regression"),
            (["a", "b"] * 9, ["--set", "target=regression"], "but the targets of mine are classes ("),
            (NUMBERS, ["--task", "node"], "mine is a data set for the graph task, not for --task node"),
            (NUMBERS[:2], [], "graph 'm2' is not in both"),
        ],
    )  # fmt: skip
    def test_one_sentence_and_nothing_is_changed(self, tmp_path, capsys, targets, more, sentence):
        write_graphs(tmp_path / "mine", GRAPHS, targets)
        before = files(tmp_path)
        assert sentence in refused(capsys, "--dataset", str(tmp_path / "mine"), *more)
        assert files(tmp_path) == before and not (tmp_path / "runs").exists()

    def test_mixed_kinds(self, tmp_path, capsys):
        rows = [[1, 0], [0, 2]] + [[0, 1]] * 16
        write_graphs(tmp_path / "mine", GRAPHS, rows, ("soluble", "toxic"))
        assert "whole numbers that are not 0 and 1 alone" in refused(capsys, "--dataset", str(tmp_path / "mine"))

    def test_nodes(self, tmp_path, capsys):
        path = write_nodes(tmp_path / "some.npz", train_mask=np.arange(30))
        assert "has no val nodes" in refused(capsys, "--task", "node", "--dataset", str(path))
        assert not (tmp_path / "runs").exists()

    @pytest.mark.parametrize("kind", ["regression", "multilabel"])
    def test_a_teacher_of_numbers(self, tmp_path, capsys, kind):
        """Its second loss compares probabilities of classes."""
        path = write_nodes(tmp_path / "some.npz", kind)
        flags = ["--task", "node", "--dataset", str(path), "--set", "teacher.weight=1"]
        assert f"A teacher is for classes, or one yes or no, but the targets of some are for {kind}" in refused(
            capsys, *flags
        )
        assert not (tmp_path / "runs").exists()


class TestAnswers:
    def test_confusion_and_figures_by_hand(self, tmp_path):
        objective = Classes(Target("classes", ("no, never", "yes"), 2))
        p = np.array([[0.9, 0.1], [0.2, 0.8], [0.4, 0.6], [0.3, 0.7]])
        write_answers(tmp_path / "a.csv", "graph", [3, 1, 4, 5], objective, p, np.array([0, 0, 1, 1]))
        write_answers(tmp_path / "b.csv", "graph", [0], objective, p[:1], np.array([0]))
        labels, true, answer, _ = read_answers(tmp_path / "a.csv")
        assert labels == ["no, never", "yes"] and true.tolist() == [0, 0, 1, 1] and answer.tolist() == [0, 1, 1, 1]
        confusion, (_, yes) = class_figures([tmp_path / "a.csv", tmp_path / "b.csv", tmp_path / "none.csv"])
        assert confusion.tolist() == [[2, 1], [0, 2]], "true classes in the rows"
        assert yes["samples"] == 2 and yes["precision"] == pytest.approx(2 / 3) and yes["recall"] == 1
        assert yes["f1"] == pytest.approx(0.8) and yes["roc_auc"] == pytest.approx(4 / 6)

    def test_other_files_have_no_classes(self, tmp_path):
        objective = Regression(Target("regression"), (0.0,), (1.0,))
        write_answers(tmp_path / "a.csv", "graph", [0], objective, np.array([[0.1]]), np.array([[0.2]]))
        (tmp_path / "b.csv").write_text("graph,true class,class,p(a)\n0,a,b,1\n")
        assert class_figures([tmp_path / "a.csv"]) is None and class_figures([tmp_path / "b.csv"]) is None

    def test_an_undefined_metric_is_no_divergence(self, tmp_path):
        write_graphs(tmp_path / "mine", GRAPHS, [[1, int(carbons(graph) > 1)] for graph in GRAPHS], ("a", "b"))
        config = settings.build({"task": "graph", "dataset": str(tmp_path / "mine"), "model": "hganet",
                                 "optimizer": {}, "splits": "stratified", "folds": 2})  # fmt: skip
        ds = load_dataset(config)
        constant = as_kind(ds.with_targets([np.array([1])] * len(ds)), "auto")
        split = GraphTask(config, constant).split(1)
        found = training.Evaluator(lambda inputs: np.zeros((9, 1)), split.held_out, split.parts, split.objective)()
        assert np.isnan(found["test_roc_auc"]) and found["test_loss"] == pytest.approx(np.log(2))
        assert training.defined({"last_epoch": {"epoch": 1, "roc_auc": NAN}}) == {
            "last_epoch": {"epoch": 1, "roc_auc": None}
        }
