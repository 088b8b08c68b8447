"""train.py from flags to files, in this process."""

import csv
import json
import os
import re
import shutil

import keras
import numpy as np
import pytest

import train
from experiments import config as settings
from experiments import console, training
from experiments.checkpoint import NAMES


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def run(tiny_config, tmp_path_factory):
    """A finished run of two folds; tests that change it take a copy."""
    folder = tmp_path_factory.mktemp("runs") / "tiny"
    assert train.main(["--config", str(tiny_config), "--folds", "1,2", "--output", str(folder)]) == 0
    return folder


def rows_of(folder):
    """The lines of a history.csv as dictionaries of text."""
    return list(csv.DictReader((folder / "history.csv").read_text().splitlines()))


def last_error(capsys):
    """The error's only line."""
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == 1 and lines[0].startswith("train.py: ")
    return lines[0]


def test_files_of_a_run(run):
    names = {str(path.relative_to(run)) for path in run.rglob("*") if path.is_file()}
    fold = {f"fold-0{n}/{name}" for n in (1, 2) for name in ("history.csv", "result.json", "model.keras", "test.csv")}
    assert names - {".guard", "fold-01/.guard", "fold-02/.guard"} == fold | {
        "config.yaml",
        "encoder.json",
        "summary.json",
        "summary.md",
        "confusion.csv",
        "curves.png",
    }
    assert (run / "curves.png").read_bytes().startswith(b"\x89PNG")


def test_summary_json(run):
    summary = json.loads((run / "summary.json").read_text())
    assert summary["model"] == "hganet" and summary["protocol"] == "paper"
    assert summary["folds"] == [1, 2] and summary["missing"] == [3] and not summary["complete"]
    assert summary["paper"] is None and summary["failed"] == {}
    results = [json.loads((run / f"fold-0{n}/result.json").read_text()) for n in (1, 2)]
    for rule in ("last_epoch", "best_test_epoch"):
        accuracies = [100 * result["rules"][rule]["accuracy"] for result in results]
        assert summary[rule]["mean"] == pytest.approx(np.mean(accuracies), abs=1e-3)
        assert summary[rule]["std"] == pytest.approx(np.std(accuracies, ddof=1), abs=1e-3)
    assert summary["best_mean_epoch"]["mean"] <= summary["best_test_epoch"]["mean"]
    for key in (
        "command",
        "versions",
        "hardware",
        "seed",
        "git_revision",
        "duration_seconds",
        "config",
        "data",
    ):
        assert key in summary
    assert "--output" not in summary["command"] and "--folds" not in summary["command"]


def test_summary_md_labels_what_was_selected_on_test(run):
    text = (run / "summary.md").read_text()
    assert "best test epoch of each fold (selected on test)" in text
    assert "2 of 3 folds" in text and "Not finished yet: folds 3." in text


def test_history_has_one_line_per_epoch(run):
    rows = rows_of(run / "fold-01")
    assert [row["epoch"] for row in rows] == ["1", "2", "3"]
    assert set(rows[0]) == {"epoch", "train_loss", "train_accuracy", "test_loss", "test_accuracy"}


def test_the_saved_model_gives_the_last_epochs_accuracy(run, tiny):
    from ganet_tf import data

    model = keras.models.load_model(run / "fold-01/model.keras")
    _, test = data.load(str(tiny)).fold(1, splits="stratified", num_folds=3)
    accuracy = model.evaluate(test.batches(8), verbose=0)[1]
    result = json.loads((run / "fold-01/result.json").read_text())
    assert accuracy == pytest.approx(result["rules"]["last_epoch"]["accuracy"], abs=1e-6)


def test_a_finished_run_is_shown_again(run, tiny_config, capsys, monkeypatch):
    monkeypatch.setattr(training.Trainer, "_train", None)  # nothing may be trained
    assert train.main(["--config", str(tiny_config), "--folds", "1-2", "--output", str(run)]) == 0
    printed = capsys.readouterr().out
    assert "This run is finished" in printed and "To run it again" in printed and "mean ± std" in printed


def test_another_config_never_overwrites(run, tiny_config, capsys):
    before = (run / "config.yaml").read_bytes()
    assert train.main(["--config", str(tiny_config), "--epochs", "9", "--output", str(run)]) == 2
    error = last_error(capsys)
    assert "epochs 3 there, 9 now" in error and "--output" in error
    assert (run / "config.yaml").read_bytes() == before


def test_a_folder_with_other_things_is_left_alone(tiny_config, here, capsys):
    (here / "thesis.tex").touch()
    assert train.main(["--config", str(tiny_config), "--output", str(here)]) == 2
    assert "is not empty and not a run's folder (it has thesis.tex in it)" in last_error(capsys)


def test_own_data_with_settings_made_from_them(tiny, here, capsys):
    quick = ["--set", "model.num_modules=1", "model.operator=linear", "--epochs", "2", "--folds", "1", "--quiet"]
    assert train.main(["--task", "graph", "--dataset", str(tiny), *quick]) == 0
    captured = capsys.readouterr()
    assert len(captured.out.strip().splitlines()) == 1 and captured.err == ""
    (folder,) = (here / "runs").iterdir()
    assert folder.name == "tiny_hganet_operator=linear_num_modules=1_epochs=2"
    config = settings.load(folder / "config.yaml")
    assert config.folds == 10 and config.splits == "stratified" and config.batch_size == 10


def test_validation_protocol_touches_the_test_fold_once(tiny_config, here, monkeypatch):
    calls = []
    evaluate = training.Evaluator._all_logits

    def spy(self):
        calls.append(sorted(self.parts))
        return evaluate(self)

    monkeypatch.setattr(training.Evaluator, "_all_logits", spy)
    flags = [
        "--config",
        str(tiny_config),
        "--protocol",
        "validation",
        "--folds",
        "3",
        "--output",
        "v",
        "--quiet",
    ]
    assert train.main(flags) == 0
    assert calls == [["val"]] * 3 + [["test"]]
    result = json.loads((here / "v/fold-03/result.json").read_text())
    rows = rows_of(here / "v/fold-03")
    losses = [float(row["val_loss"]) for row in rows]
    assert result["model_epoch"] == result["rules"]["validation"]["epoch"] == losses.index(min(losses)) + 1
    assert list(result["rules"]) == ["validation"] and "test_accuracy" not in rows[0]
    summary = json.loads((here / "v/summary.json").read_text())
    assert "validation" in summary and "best_test_epoch" not in summary


def test_node_runs_and_more_of_them(here, capsys):
    flags = ["--task", "node", "--dataset", "karate", "--model", "gcn", "--epochs", "4", "--output", "k"]
    assert train.main([*flags, "--runs", "1"]) == 0
    assert train.main([*flags, "--runs", "2", "--quiet"]) == 0
    summary = json.loads((here / "k/summary.json").read_text())
    assert summary["folds"] == [1, 2] and summary["complete"]
    assert {"validation", "max_test_lgcn"} <= set(summary) and summary["task"] == "node"
    assert settings.load(here / "k/config.yaml").runs == 2
    assert {"val_loss", "test_accuracy"} <= set(rows_of(here / "k/run-02")[0])


def test_patience_stops_a_run_and_stays_stopped(here):
    flags = ["--dataset", "Karate", "--model", "gcn", "--runs", "1", "--output", "p", "--quiet"]
    assert train.main([*flags, "--set", "patience=1", "epochs=60", "optimizer.learning_rate=0.3"]) == 0
    assert json.loads((here / "p/run-01/result.json").read_text())["epochs"] < 60


def press_ctrl_c(_reporter, row):
    """As if a user pressed it in the third epoch, before its checkpoint."""
    if row["epoch"] == 3:
        raise KeyboardInterrupt


def test_ctrl_c_then_a_corrupt_checkpoint_then_the_end(run, tiny_config, here, capsys, monkeypatch):
    monkeypatch.setattr(training.Checkpoint, "due", lambda self: True)
    flags = ["--config", str(tiny_config), "--folds", "1", "--output", "resumed"]
    with monkeypatch.context() as patch:
        patch.setattr(console.Reporter, "epoch", press_ctrl_c)
        assert train.main(flags) == 130
    assert f"To resume: python train.py {' '.join(flags)}" in capsys.readouterr().err
    fold = here / "resumed/fold-01"
    assert not (fold / "lock").exists() and not (fold / "result.json").exists()
    newest = fold / NAMES[1]
    newest.write_bytes(newest.read_bytes()[:-1])
    with (fold / "history.csv").open("a") as file:
        file.write("3,0.12")  # what kill -9 may leave of a line
    assert train.main(flags) == 0
    printed = capsys.readouterr().out
    assert "checkpoint-b.bin is corrupt" in printed and "continuing after epoch 1" in printed
    # The same numbers as without the interruption, up to what unordered threads may change.
    for expected, got in zip(rows_of(run / "fold-01"), rows_of(fold), strict=True):
        np.testing.assert_allclose([float(v) for v in got.values()], [float(v) for v in expected.values()], rtol=1e-4)


def test_nan_stops_one_fold_and_keeps_the_others(tiny_config, here, capsys, monkeypatch):
    evaluate = training.Evaluator.__call__
    calls = []

    def nan_in_the_second_epoch(self):
        calls.append(1)
        return {"test_loss": float("nan"), "test_accuracy": 0.5} if len(calls) == 2 else evaluate(self)

    monkeypatch.setattr(training.Evaluator, "__call__", nan_in_the_second_epoch)
    flags = ["--config", str(tiny_config), "--folds", "1,2", "--output", "n"]
    assert train.main(flags) == 1
    printed = capsys.readouterr().out
    assert "fold-01 failed: test_loss became nan in epoch 2 at learning rate 0.01" in printed
    summary = json.loads((here / "n/summary.json").read_text())
    assert summary["folds"] == [2] and list(summary["failed"]) == ["1"]
    assert "Fold 1 failed" in (here / "n/summary.md").read_text()
    assert train.main(flags) == 1, "a failed fold stays failed"


def test_a_fold_that_somebody_else_trains_is_left_to_them(run, tiny_config, here, capsys):
    copy = here / "copy"
    shutil.copytree(run, copy)
    shutil.rmtree(copy / "fold-02")
    (copy / "fold-02").mkdir()
    (copy / "fold-02/lock").write_text(json.dumps(dict(host="elsewhere", pid=7, born="1", token="x")))
    assert train.main(["--config", str(tiny_config), "--folds", "1,2", "--output", str(copy)]) == 0
    assert "fold 2 is being trained by process 7 on elsewhere" in capsys.readouterr().out
    assert os.listdir(copy / "fold-02") == ["lock"] or not (copy / "fold-02/result.json").exists()
    assert json.loads((copy / "summary.json").read_text())["folds"] == [1]


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--dataset", "MUTGA"], ["MUTAG"]),
        (["--task", "node", "--dataset", "MUTAG"], ["MUTAG", "graph task"]),
        (["--task", "edge"], ["--task", "graph"]),
        (["--model", "hgant", "--dataset", "MUTAG"], ["no model 'hgant'", "did you mean hganet"]),
        (["--task", "graph", "--dataset", "Karate"], ["node task"]),
        (["--dataset", "Karate", "--model", "dgcnn"], ["dgcnn is not a model for", "gcn, gat"]),
        (["--dataset", "Karate", "--folds", "4-9"], ["no run 4", "1 to 3"]),
        (["--dataset", "Karate", "--folds", "a"], ["--folds must look like 1,4-6"]),
        (["--dataset", "Karate", "--protocol", "paper"], ["leave out --protocol"]),
        (["--dataset", "BA2Motifs", "--runs", "3"], ["--runs belongs to the node task"]),
        (["--dataset", "Karate", "--epochs", "few"], ["epochs must be a whole number", "'few'"]),
        (["--dataset", "Karate", "--set", "optimizer.lr=1"], ["no key optimizer.lr"]),
        (["--dataset", "Karate", "--set", "epochs"], ["--set needs key=value"]),
        (["--dataset", "Karate", "--output", "/proc/x"], ["cannot be written"]),
        (["--dataset", "no/such/folder"], ["no/such/folder"]),
        (["--config", "none.yaml"], ["none.yaml", "cannot be read"]),
        (["--frobnicate"], ["--frobnicate", "--help"]),
        (["--threads", "0", "--dataset", "Karate"], ["--threads must be at least 1"]),
    ],
)
def test_user_errors_are_one_sentence_and_exit_code_2(flags, words, capsys):
    assert train.main(flags) == 2
    error = last_error(capsys)
    for word in words:
        assert word in error


def test_a_config_for_another_task_or_model(tiny_config, capsys):
    assert train.main(["--task", "node", "--config", str(tiny_config)]) == 2
    assert "is a config for the graph task, not for --task node" in last_error(capsys)
    assert train.main(["--model", "dgcnn", "--config", str(tiny_config)]) == 2
    assert "is a config for hganet, not for --model dgcnn" in last_error(capsys)


def test_dense_operator_that_does_not_fit_is_a_users_error(tiny_config, capsys, monkeypatch):
    from ganet_tf.errors import OutOfMemoryError

    def refuse(*_):
        raise OutOfMemoryError("dense needs 9 GB, there are 2: use implementation sparse.")

    monkeypatch.setattr(training, "make_model", refuse)
    assert train.main(["--config", str(tiny_config), "--output", "x"]) == 2
    assert "use implementation sparse" in last_error(capsys)


def test_terminal_output_has_both_bars(tiny_config, capsys, monkeypatch):
    monkeypatch.setattr(console.sys.stdout, "isatty", lambda: True)
    assert train.main(["--config", str(tiny_config), "--folds", "3", "--output", "t"]) == 0
    printed = capsys.readouterr().out
    assert re.search(r"15/15|12/12|\d+/\d+ .*━", printed) and "0 of 1 done" in printed


def test_help_and_list(capsys):
    with pytest.raises(SystemExit) as caught:
        train.main(["--help"])
    assert caught.value.code == 0 and "--deterministic" in capsys.readouterr().out
    assert train.main(["--list"]) == 0
    assert "dd_hganet.yaml" in capsys.readouterr().out
