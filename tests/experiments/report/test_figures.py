"""The report's figures against a toy run that was worked out by hand, and against the single folds of real runs."""

import csv
import json
import statistics
from dataclasses import replace

import pytest

from experiments import selection
from experiments.config import load
from experiments.report import plots
from experiments.report.results import Results, fold_differences
from experiments.report.run import ROOT
from experiments.report.runs import LINEAR, graph_run
from experiments.report.sections.paired_tests import compare, family_lines
from experiments.report.sections.tables import table_5, table_7
from experiments.run_folder import RunFolder
from experiments.summary import summarize
from ganet_tf.errors import RunError
from tests.experiments.report.made_up import TEN, put, summary, text, write

# Two folds of three epochs. Last epoch: 60 and 80. Best test epoch: 70 and 90. Means of the epochs: 70, 75, 70, so the
# best epoch of the mean curve is the second: 70 and 80. Deviations over n - 1 = 1: sqrt(200), sqrt(200), sqrt(50).
CURVES = {1: (0.5, 0.7, 0.6), 2: (0.9, 0.8, 0.8)}


@pytest.fixture
def toy(results, tmp_path):
    """Results with the toy run: the curves that training leaves behind, and the summary that is made of them."""
    config = replace(load(ROOT / "configs/mutag_hganet.yaml"), folds=2, splits="stratified")
    folder = RunFolder(tmp_path / "run")
    for number, curve in CURVES.items():
        rows = [{"epoch": epoch, "test_accuracy": value} for epoch, value in enumerate(curve, 1)]
        place = folder.fold(number)
        place.mkdir(parents=True)
        with open(place / "history.csv", "w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)
        rules = {rule: getattr(selection, rule)(rows) for rule in ("last_epoch", "best_test_epoch")}
        (place / "result.json").write_text(json.dumps({"rules": rules, "epochs": 3, "seconds": 1.0, "seed": number}))
    write(results.folder, graph_run("MUTAG", "hganet"), summarize(config, folder, "python train.py")[0])
    return results


def test_toy_run_in_tables_5_and_7(toy):
    row = "| MUTAG | hGANet | 90.00 | 80.00 ± 14.14 | no | 75.00 ± 7.07 | 70.00 ± 14.14 |"
    assert row in text(table_5(toy))
    assert "80.00 ± 14.14" in next(line for line in table_7(toy) if line.startswith("| hGAO | best test epoch"))
    assert "70.00 ± 14.14" in next(line for line in table_7(toy) if line.startswith("| hGAO | last epoch"))


def test_toy_run_in_the_plot(toy):
    panel = next(panel for panel in plots.graphs(toy) if panel["title"] == "MUTAG")
    assert panel["series"]["best_test_epoch"] == [(0, 80.0, 14.1421)]
    assert panel["series"]["last_epoch"] == [(0, 70.0, 14.1421)]


def test_standard_deviation_of_differences_is_over_n_minus_1(results):
    # Differences 1 and 3: mean 2, variance 2 over n - 1, so sd 1.41 (over n: 1.00) and
    # t = 2 / sqrt((1/2 + 1) 2) = 1.15 with n_test / n_train = 1 for two folds (over n: 1.63).
    put(results, graph_run("DD", "hganet"), [81.0, 83.0])
    put(results, graph_run("DD", LINEAR), [80.0, 80.0])
    assert "| D&D | hGAO - linear | +2.00 ± 1.41 | 2 / 0 / 0 | 0.500 | 0.500 | 1.15 |" in text(
        family_lines(results, "paper", (("hganet", LINEAR),))
    )


def test_validation_counts_fewer_training_graphs(results):
    # The same with a tenth set aside: n_test / n_train = 1 / 0.9, so t = 2 / sqrt((1/2 + 1/0.9) 2) = 1.11.
    put(results, graph_run("DD", "hganet", "validation"), [81.0, 83.0])
    put(results, graph_run("DD", LINEAR, "validation"), [80.0, 80.0])
    assert "| 0.500 | 0.500 | 1.11 |" in text(family_lines(results, "validation", (("hganet", LINEAR),)))


def committed_summaries():
    found = sorted((ROOT / "results").rglob("summary.json"))
    return [(str(path.parent.relative_to(ROOT / "results")), json.loads(path.read_text())) for path in found]


def test_every_committed_mean_and_deviation_is_that_of_its_folds():
    wrong = []
    for name, found in committed_summaries():
        for rule in set(selection.LABELS) & set(found):
            values, entry = found[rule]["per_fold"], found[rule]
            right = statistics.fmean(values), statistics.stdev(values)
            if (entry["mean"], entry["std"]) != pytest.approx(right, abs=2e-4) or len(values) != len(found["folds"]):
                wrong.append((name, rule))
    assert not wrong


def test_folds_are_paired_by_their_number_not_by_their_place(results):
    put(results, graph_run("DD", "hganet"), TEN)
    order = [3, 1, 2, 10, 9, 8, 7, 6, 5, 4]
    put(results, graph_run("DD", "ganet"), [TEN[number - 1] - number for number in order], folds=order)
    assert compare(results, "DD", ("hganet", "ganet"), "paper").differences == tuple(map(float, range(1, 11)))


@pytest.mark.parametrize(
    "changes, said",
    [
        ({"folds": [1, 2, 3, 4, 5, 6, 7, 8, 9, 11]}, "6, 7, 8, 9, 11 of 10, published"),
        ({"config": {"splits": "stratified", "folds": 10}}, "9, 10 of 10, stratified"),
        ({"config": {"splits": "published", "folds": 12}}, "9, 10 of 12, published"),
    ],
)
def test_other_folds_are_refused(changes, said):
    run = graph_run("DD", "hganet")
    first = summary(run, TEN, config={"splits": "published", "folds": 10})
    second = summary(run, TEN, **{"config": first["config"], **changes})
    assert fold_differences(first, first, "last_epoch") == (0.0,) * 10
    with pytest.raises(RunError, match="A paired test needs the same folds") as error:
        fold_differences(first, second, "last_epoch")
    assert said in str(error.value)


def test_validation_is_paired_with_validation(results):
    for protocol, shift in (("paper", 0.0), ("validation", 5.0)):
        put(results, graph_run("DD", "hganet", protocol), [value - shift for value in TEN])
        put(results, graph_run("DD", "ganet", protocol), [value - 2 * shift for value in TEN])
    assert set(compare(results, "DD", ("hganet", "ganet"), "paper").differences) == {0.0}
    assert set(compare(results, "DD", ("hganet", "ganet"), "validation").differences) == {5.0}


def test_unfinished_toy_run_has_no_figure(results):
    write(results.folder, graph_run("DD", "hganet"), summary(graph_run("DD", "hganet"), TEN, complete=False))
    assert Results(results.folder).get(graph_run("DD", "hganet")) is None
