"""predict.py: new data encoded as the run did, all folds' models averaged, and what it refuses."""

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import keras
import numpy as np
import pytest

import predict
import train
from experiments import predict as prediction
from experiments.answers import answer_columns
from ganet_tf import data
from tests.experiments.own_data import (
    FLAGS,
    TINY,
    carbons,
    molecules,
    read_table,
    write_graphs,
    write_nodes,
    write_table,
)
from tests.experiments.test_kill_and_resume import content

ROOT = Path(__file__).resolve().parents[2]
GRAPHS = molecules(18)
CLASSES = ["rich" if carbons(graph) > 1 else "poor" for graph in GRAPHS]
HGAO = ["model.operator=hgao", "model.k=2", *TINY[1:]]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a finished run of two folds, and new data."""
    folder = tmp_path_factory.mktemp("predict")
    mine = write_graphs(folder / "mine", GRAPHS, CLASSES)
    flags = ["--dataset", str(mine), "--set", *HGAO, "folds=2", "epochs=3", "unknown=other", *FLAGS]
    assert train.main([*flags, "--output", str(folder / "run")]) == 0
    write_graphs(folder / "new", molecules(5, seed=1))
    write_graphs(folder / "strange", molecules(5, "COS", seed=2))
    return folder


def refused(capsys, *words):
    assert predict.main([str(word) for word in words]) == 2
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == 1 and lines[0].startswith("predict.py: ")
    return lines[0]


def by_hand(run, dataset):
    """The mean of the folds' probabilities."""
    ((inputs, *_),) = dataset.batches(50)
    found = []
    for fold in sorted(run.glob("fold-*")):
        model = keras.models.load_model(fold / "model.keras")
        taken = {name: inputs[name] for name in inputs if name in (*model.required, *model.optional)}
        found.append(np.asarray(keras.ops.softmax(model(taken))))
    return np.mean(found, axis=0)


def test_the_mean_of_all_folds_on_graphs_encoded_like_the_run(place, tmp_path, capsys):
    assert predict.main([str(place / "run"), str(place / "new"), "--csv", str(tmp_path / "out.csv")]) == 0
    assert "5 graphs, 2 models of" in capsys.readouterr().out
    rows = read_table(tmp_path / "out.csv")
    encoder = prediction.open_run(place / "run").encoder
    expected = by_hand(place / "run", data.GraphDataset.from_networkx(molecules(5, seed=1), like=encoder))
    found = np.array([[float(row["p(poor)"]), float(row["p(rich)"])] for row in rows])
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    assert [row["graph"] for row in rows] == [f"m{g}" for g in range(5)]
    assert [row["class"] for row in rows] == [["poor", "rich"][i] for i in expected.argmax(axis=1)]
    assert (
        predict.main([str(place / "run"), str(place / "new"), "--csv", str(tmp_path / "one.csv"), "--folds", "2"]) == 0
    )
    assert read_table(tmp_path / "one.csv") != rows


def test_targets_of_new_graphs_do_not_matter(place, tmp_path):
    write_graphs(tmp_path / "known", molecules(5, seed=1), ["rich", "0.5", "elsewhere", "", "3"])
    for new in (place / "new", tmp_path / "known"):
        out = tmp_path / f"{new.name}.csv"
        assert predict.main([str(place / "run"), str(new), "--csv", str(out), "--folds", "1"]) == 0
    assert read_table(tmp_path / "known.csv") == read_table(tmp_path / "new.csv")


def test_an_unseen_label_gets_the_channel_for_others_and_is_told(place, tmp_path, capsys):
    assert predict.main([str(place / "run"), str(place / "strange"), "--csv", str(tmp_path / "out.csv")]) == 0
    sulphurs = sum(atom == "S" for graph in molecules(5, "COS", seed=2) for _, atom in graph.nodes(data="label"))
    out = capsys.readouterr().out
    assert "the node label 'S' did not occur" in out and f": {sulphurs} nodes got the channel for others." in out
    assert len(read_table(tmp_path / "out.csv")) == 5
    sentence = refused(capsys, place / "run", place / "strange", "--csv", tmp_path / "no.csv", "--unknown", "error")
    assert "the node label 'S' did not occur" in sentence and not (tmp_path / "no.csv").exists()
    assert (
        predict.main([str(place / "run"), str(place / "new"), "--csv", str(tmp_path / "a.csv"), "--unknown", "error"])
        == 0
    )


def test_attention(place, tmp_path):
    out = tmp_path / "out.csv"
    assert predict.main([str(place / "run"), str(place / "new"), "--csv", str(out), "--attention"]) == 0
    rows = read_table(tmp_path / "out.attention.csv")
    graphs = molecules(5, seed=1)
    sums = {}
    for row in rows:
        graph, node, other = graphs[int(row["graph"][1:])], int(row["node"]), int(row["attends to"])
        assert node == other or graph.has_edge(node, other), "a neighbour of its own graph, or itself"
        key = row["fold"], row["graph"], node
        sums[key] = sums.get(key, 0) + float(row["weight"])
    assert len(sums) == 2 * sum(map(len, graphs)) and np.allclose(list(sums.values()), 1, atol=1e-5)
    named = tmp_path / "named"
    named.mkdir()
    for table, columns in (("edges", ("source", "target")), ("nodes", ("node",))):
        cells = [
            row | {name: f"atom {row[name]}" for name in columns} for row in read_table(place / f"new/{table}.csv")
        ]
        write_table(named / f"{table}.csv", list(cells[0]), [row.values() for row in cells])
    assert predict.main([str(place / "run"), str(named), "--csv", str(out), "--attention"]) == 0
    ends = ("node", "attends to")
    assert read_table(tmp_path / "out.attention.csv") == [
        row | {end: f"atom {row[end]}" for end in ends} for row in rows
    ]


def test_nodes(place, tmp_path, capsys):
    path = write_nodes(tmp_path / "mine.npz")
    flags = ["--task", "node", "--dataset", str(path), "--runs", "1", "--epochs", "25", *FLAGS, "--set", *TINY[:4]]
    assert train.main([*flags, "model.dropout=0", "--output", str(tmp_path / "run")]) == 0
    new = write_nodes(tmp_path / "new.npz", labelled=False)
    assert predict.main([str(tmp_path / "run"), str(new), "--csv", str(tmp_path / "out.csv")]) == 0
    rows = read_table(tmp_path / "out.csv")
    right = np.mean([int(row["class"]) == int(row["node"]) % 3 for row in rows])
    assert len(rows) == 60 and right > 0.8
    other = write_nodes(tmp_path / "other.npz", width=2, labelled=False)
    assert "has 2 features for each node" in refused(capsys, tmp_path / "run", other, "--csv", tmp_path / "no.csv")
    assert "for the graph task, but" in refused(capsys, tmp_path / "run", place / "new", "--csv", tmp_path / "no.csv")
    sentence = refused(capsys, tmp_path / "run", new, "--csv", tmp_path / "no.csv", "--attention")
    assert "--attention shows the choices of hGAO, but" in sentence and "linear" in sentence
    assert not (tmp_path / "no.csv").exists()


class TestRefusals:
    def test_data_of_another_task(self, place, tmp_path, capsys):
        (tmp_path / "nodes").mkdir()
        (tmp_path / "nodes/edges.csv").write_text("source,target\n1,2\n")
        (tmp_path / "nodes/nodes.csv").write_text("node,label\n1,C\n2,O\n")
        sentence = refused(capsys, place / "run", tmp_path / "nodes", "--csv", tmp_path / "no.csv")
        assert "is data for the node task, but" in sentence and "was trained on the graph task" in sentence
        # As wide as the run's own features, but nodes.
        other = write_nodes(tmp_path / "other.npz", width=3)
        sentence = refused(capsys, place / "run", other, "--csv", tmp_path / "no.csv")
        assert "is data for the node task, but" in sentence
        assert not (tmp_path / "no.csv").exists()

    def test_other_features(self, place, tmp_path, capsys):
        folder = write_graphs(tmp_path / "bare", molecules(3))
        (folder / "nodes.csv").unlink()
        sentence = refused(capsys, place / "run", folder, "--csv", tmp_path / "no.csv")
        assert "one-hot labels of 1 kinds, but the nodes have 0" in sentence

    def test_an_encoder_of_another_data_set(self, place, tmp_path, capsys):
        run = tmp_path / "run"
        shutil.copytree(place / "run", run)
        parts = json.loads((run / "encoder.json").read_text())
        (run / "encoder.json").write_text(json.dumps({**parts, "dataset": "elsewhere"}))
        assert "is of another data set (elsewhere)" in refused(capsys, run, place / "new", "--csv", tmp_path / "o.csv")
        parts["encoder"]["labels"][0].append("P")
        (run / "encoder.json").write_text(json.dumps(parts))
        assert "makes 5 features and 2 outputs" in refused(capsys, run, place / "new", "--csv", tmp_path / "o.csv")
        (run / "encoder.json").write_text("{}")
        assert "encoder.json cannot be read" in refused(capsys, run, place / "new", "--csv", tmp_path / "o.csv")
        (run / "encoder.json").unlink()
        assert "has no encoder.json" in refused(capsys, run, place / "new", "--csv", tmp_path / "o.csv")
        assert not (tmp_path / "o.csv").exists()

    @pytest.mark.parametrize(
        ("words", "sentence"),
        [
            (["mine", "new", "--csv", "o.csv"], "is not the folder of a run"),
            (["run", "nowhere", "--csv", "o.csv"], "nowhere"),
            (["run", "new"], "required: --csv"),
            (["run", "new", "--csv", "o.csv", "--folds", "7"], "there is no fold 7"),
            (["run", "MUTAG", "--csv", "o.csv"], "There is no folder or file MUTAG"),
        ],
    )
    def test_one_sentence(self, place, monkeypatch, capsys, words, sentence):
        monkeypatch.chdir(place)
        assert sentence in refused(capsys, *words)
        assert not (place / "o.csv").exists()

    def test_no_channel_for_others(self, place, tmp_path, capsys):
        run = tmp_path / "run"
        shutil.copytree(place / "run", run)
        text = (run / "encoder.json").read_text()
        (run / "encoder.json").write_text(text.replace('"unknown": "other"', '"unknown": "error"'))
        sentence = refused(capsys, run, place / "strange", "--csv", tmp_path / "o.csv", "--unknown", "other")
        assert "have no channel for labels that they did not know; train with --set unknown=other" in sentence
        assert "train with --set unknown=other" in refused(capsys, run, place / "strange", "--csv", tmp_path / "o.csv")


# Saves a checkpoint after every epoch and kills itself in one of them.
DRIVER = """
import os, signal, sys
import train
from experiments import checkpoint, training

last = int(sys.argv[1])
checkpoint.Checkpoint.due = lambda self: True
end = training.Recorder.on_epoch_end

def on_epoch_end(self, epoch, logs=None):
    if epoch + 1 == last:
        os.kill(os.getpid(), signal.SIGKILL)
    end(self, epoch, logs)

training.Recorder.on_epoch_end = on_epoch_end
sys.exit(train.main(sys.argv[2:]))
"""


def run_process(*words, expected=0):
    done = subprocess.run(
        [sys.executable, *map(str, words)], cwd=ROOT, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == expected, done.stderr
    return done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["regression", "multilabel"])
def test_the_whole_way(tmp_path, kind):
    """Own graphs with atoms and weights, training, kill -9, resuming, and new graphs with an unseen atom."""
    if kind == "regression":
        mine = write_graphs(tmp_path / "mine", GRAPHS, [100 + 10.5 * carbons(graph) for graph in GRAPHS])
    else:
        rows = [[carbons(graph) > 1, graph.nodes[0]["label"] == "O"] for graph in GRAPHS]
        rows = [["" if g == 3 else int(row[0]), int(row[1])] for g, row in enumerate(rows)]
        mine = write_graphs(tmp_path / "mine", GRAPHS, rows, ("soluble", "toxic"))
    flags = ["--dataset", mine, "--set", *TINY, "folds=3", "epochs=5", "unknown=other", *FLAGS, "--folds", "1"]
    run_process("-c", DRIVER, 4, *flags, "--output", tmp_path / "killed", expected=-signal.SIGKILL)
    assert not (tmp_path / "killed/fold-01/result.json").exists()
    assert "continuing after epoch 3" in run_process("-c", DRIVER, 0, *flags, "--output", tmp_path / "killed")
    run_process("train.py", *flags, "--output", tmp_path / "whole")
    parts = [content(tmp_path / name / "fold-01") for name in ("killed", "whole")]
    assert parts[0] == parts[1], "to the last bit"
    tables = [(tmp_path / name / "fold-01/test.csv").read_bytes() for name in ("killed", "whole")]
    assert tables[0] == tables[1]

    new = write_graphs(tmp_path / "new", molecules(4, "COS", seed=2))
    said = run_process("predict.py", tmp_path / "killed", new, "--csv", tmp_path / "out.csv")
    assert "the node label 'S' did not occur" in said
    rows = read_table(tmp_path / "out.csv")
    names = {"regression": ["value"], "multilabel": ["p(soluble)", "p(toxic)"]}[kind]
    values = np.array([[float(row[name]) for name in names] for row in rows])
    assert list(rows[0]) == ["graph", *names] and np.isfinite(values).all()
    low, high = (90, 170) if kind == "regression" else (0, 1)
    assert ((values > low) & (values < high)).all(), "in the targets' own unit"


def test_says_when_only_one_side_has_edge_weights(place, tmp_path, capsys):
    new = write_graphs(tmp_path / "new", molecules(3, seed=1))
    rows = [line.rsplit(",", 1)[0] for line in (new / "edges.csv").read_text().splitlines()]
    assert predict.main([str(place / "run"), str(new), "--csv", str(tmp_path / "out.csv")]) == 0
    assert "weights" not in capsys.readouterr().out
    (new / "edges.csv").write_text("\n".join(rows))
    assert predict.main([str(place / "run"), str(new), "--csv", str(tmp_path / "out.csv")]) == 0
    assert (
        f"its edges have no weights, but those that {place / 'run'} was trained on had some." in capsys.readouterr().out
    )


def test_answers_have_the_names_of_the_targets():
    target = data.Target("regression", width=2, names=("logp", "mass"))
    assert answer_columns(target, np.ones((1, 2))) == (["value(logp)", "value(mass)"], [[1.0, 1.0]])
    assert answer_columns(data.Target("multilabel", width=2), np.ones((1, 2)))[0] == ["p 1", "p 2"]
