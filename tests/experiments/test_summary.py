"""The figures of a summary, against a run small enough to compute by hand."""

import json
import math

import pytest

from experiments import config as settings
from experiments.run_folder import RunFolder
from experiments.selection import best_test_epoch, last_epoch, max_test_lgcn
from experiments.summary import summarize, write_summary

GRAPH = {"task": "graph", "dataset": "MUTAG", "model": {"name": "hganet"}, "optimizer": {}, "folds": 3}
NODE = {"task": "node", "dataset": "Cora", "model": {"name": "gat"}, "optimizer": {}, "runs": 2}
# Test accuracy of three folds over four epochs, in percent; every value is exact in binary.
CURVES = {1: [25, 50, 75, 50], 2: [100, 50, 50, 75], 3: [50, 75, 50, 100]}


def write_fold(folder, number, columns, rules):
    """A finished fold as train.py writes it."""
    rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    folder.fold(number).mkdir(parents=True)
    lines = [",".join(columns), *(",".join(str(value) for value in row.values()) for row in rows)]
    (folder.fold(number) / "history.csv").write_text("\n".join(lines) + "\n")
    result = {folder.word: number, "seed": number, "epochs": len(rows), "rules": rules(rows), "seconds": 60.0}
    folder.write_result(number, {**result, "git_revision": "abc", "threads": 1})


@pytest.fixture
def graph_run(tmp_path):
    folder = RunFolder(tmp_path / "run")
    for number, curve in CURVES.items():
        columns = {"epoch": [1, 2, 3, 4], "test_accuracy": [value / 100 for value in curve]}
        columns["test_loss"] = [1.0] * 4
        write_fold(
            folder, number, columns, lambda r: {"last_epoch": last_epoch(r), "best_test_epoch": best_test_epoch(r)}
        )
    return folder


def test_graph_figures_by_hand(graph_run):
    config = settings.build(GRAPH)
    summary, curves = summarize(config, graph_run, "python train.py")
    # last: 50, 75, 100: mean 75, deviations -25, 0, 25, so variance 1250 / (3 - 1) and std 25.
    assert summary["last_epoch"] == {"mean": 75, "std": 25, "per_fold": [50, 75, 100], "epochs": [4, 4, 4]}
    # best of each fold: 75, 100, 100: mean 91.6667, variance (16.667^2 + 2 * 8.333^2) / 2 = 208.33.
    best = summary["best_test_epoch"]
    assert best["per_fold"] == [75, 100, 100] and best["epochs"] == [3, 1, 4]
    assert best["mean"] == pytest.approx(275 / 3, abs=1e-4) and best["std"] == pytest.approx(14.4338, abs=1e-4)
    # means of the epochs: 175/3, 175/3, 175/3, 225/3: the fourth.
    assert summary["best_mean_epoch"] == {"mean": 75, "std": 25, "per_fold": [50, 75, 100], "epochs": [4, 4, 4]}
    assert summary["complete"] and summary["folds"] == [1, 2, 3] and summary["duration_seconds"] == 180
    assert summary["paper"] == 90.0 and summary["git_revision"] == "abc" and summary["threads"] == 1
    assert [row["test_accuracy"] for row in curves[2]] == [1.0, 0.5, 0.5, 0.75]


def test_node_figures_by_hand(tmp_path):
    folder = RunFolder(tmp_path / "run", "node")
    for number, (chosen, tests) in enumerate([(2, [0.75, 0.5, 0.25]), (1, [0.25, 0.5, 0.75])], start=1):
        columns = {"epoch": [1, 2, 3], "val_loss": [0.5, 0.25, 1.0], "val_accuracy": [0.5, 0.75, 0.5]}
        columns["test_accuracy"] = tests

        def rules(rows, chosen=chosen):
            row = rows[chosen - 1]
            values = {key: row[key] for key in ("epoch", "val_loss", "val_accuracy")}
            return {"validation": {**values, "accuracy": row["test_accuracy"]}, "max_test_lgcn": max_test_lgcn(rows)}

        write_fold(folder, number, columns, rules)
    summary, _ = summarize(settings.build(NODE), folder, "python train.py")
    # 50 and 25: mean 37.5, variance 2 * 12.5^2 / (2 - 1), std 12.5 * sqrt(2).
    assert summary["validation"]["mean"] == 37.5 and summary["validation"]["epochs"] == [2, 1]
    assert summary["validation"]["std"] == pytest.approx(12.5 * math.sqrt(2), abs=1e-4)
    assert (summary["validation"]["val_loss"], summary["validation"]["val_accuracy"]) == (0.375, 62.5)
    # LGCN's rule takes the best test value at epochs 1 and 2, where validation improves: 75 and 50.
    assert summary["max_test_lgcn"]["per_fold"] == [75, 50]
    assert "last_epoch" not in summary and "best_mean_epoch" not in summary


def test_files_have_the_same_figures(graph_run):
    write_summary(settings.build(GRAPH), graph_run, "python train.py")
    assert json.loads((graph_run.path / "summary.json").read_text())["last_epoch"]["std"] == 25
    text = (graph_run.path / "summary.md").read_text()
    assert "| last epoch (no selection) | 75.00 ± 25.00 |" in text
    assert "| best test epoch of each fold (selected on test) | 91.67 ± 14.43 |" in text
    assert "| 2 | 75.00 (epoch 4) | 100.00 (epoch 1) | 75.00 (epoch 4) |" in text


def test_one_fold_has_no_spread(graph_run):
    for number in (2, 3):
        (graph_run.fold(number) / "result.json").unlink()
    summary, _ = summarize(settings.build(GRAPH), graph_run, "python train.py")
    assert summary["last_epoch"]["mean"] == 50 and summary["last_epoch"]["std"] == 0
    assert summary["missing"] == [2, 3] and not summary["complete"]
