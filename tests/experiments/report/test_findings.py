"""The sentences at the top of RESULTS.md say what the summaries say."""

import json

import pytest

from experiments.report.runs import LINEAR, graph_run, longer_run, node_run, open_run, tuned_run
from experiments.report.sections.findings import findings
from tests.experiments.report.made_up import TEN, put, text


def test_without_results_nothing_is_said(results):
    assert findings(results) == []


def test_who_reaches_the_paper_and_under_which_rule(results):
    put(results, graph_run("PTC", "hganet"))
    put(results, graph_run("MUTAG", "hganet"))
    put(results, tuned_run("PTC", "cganet"))
    put(results, longer_run("DD", "hganet"))
    found = text(findings(results))
    assert "- At least the paper's figure at the best test epoch †: hGANet on 1 of 2 data sets." in found
    assert "with the tuned setting, at the best test epoch †: cGANet on 1 of 1 data set." in found
    assert "trained longer, at the best test epoch †: hGANet on 1 of 1 data set." in found
    assert "is worth 2.00 points on average over 2 runs of Table 5" in found


def test_the_best_in_the_open_wiring(results):
    put(results, open_run("PROTEINS", "cosine"), [value - 7 for value in TEN])
    put(results, open_run("PROTEINS", "uniform", tuned=True), [value - 8 for value in TEN])
    put(results, open_run("PROTEINS", LINEAR))  # the control is none of its variants
    found = text(findings(results))
    assert (
        "in the open wiring, 2 variants: at most 79.00 ± 2.98 at the best test epoch †, its linear control at most "
        "86.00 ± 2.98 †; the paper has 78.65." in found
    )


def test_distance_on_nodes(results):
    put(results, node_run("Citeseer", "hganet"))
    assert "in percentage points: +11.30 on Citeseer." in text(findings(results))


def test_nodes_against_models_trained_here(results):
    put(results, node_run("Cora", "hganet"))
    put(results, node_run("Cora", "gcn"), [value - 1 for value in TEN])
    put(results, node_run("Cora", LINEAR), [value + 1 for value in TEN])
    put(results, node_run("Pubmed", "gat"))
    found = text(findings(results))
    assert "above that of linear map (control) on 0 of 1 data set and GCN on 1 of 1 data set." in found


def test_the_rows_that_the_paper_quotes(results):
    put(results, graph_run("DD", "diffpool"), [value - 6 for value in TEN])  # 79.00 by DiffPool's rule, 80.64 there
    put(results, graph_run("COLLAB", "diffpool"))
    put(results, graph_run("DD", "hganet"))
    put(results, node_run("Cora", "hganet"))
    put(results, node_run("Cora", "deepwalk"), [value + 1 for value in TEN])
    found = text(findings(results))
    assert "quoted figure at the best epoch of the mean curve †, as there: DiffPool on 1 of 2 data sets." in found
    assert "hGANet's mean is above that of DiffPool on 1 of 1 data set and DeepWalk on 0 of 1 data set, all" in found


def test_validation_against_figures_of_others(results):
    put(results, graph_run("PROTEINS", "hganet", "validation"), [value - 10 for value in TEN])
    found = text(findings(results))
    assert "at least the DGCNN of Errica et al.: hGANet on 1 of 1 data set." in found
    assert "at least the structure-agnostic baseline of Errica et al.: hGANet on 0 of 1 data set." in found


def test_control_and_paired_tests(results):
    put(results, graph_run("DD", "hganet"))
    put(results, graph_run("DD", LINEAR), [value - 1 - i / 10 for i, value in enumerate(TEN)])
    put(results, graph_run("DD", "cganet"), TEN[::-1])
    found = text(findings(results))
    assert "above the linear control's on 1 of 1 data set at the best test epoch † and on 1 at the last epoch." in found
    # hGANet - linear; neither hGANet - cGANet nor cGANet - linear.
    assert "Of 3 paired comparisons between models over folds, 1 is significant under both tests" in found


@pytest.mark.parametrize(
    "entropies, words",
    [((0.999, 1.0), "2 of 2 data sets (MUTAG and PTC)"), ((0.999, 0.5), "1 of 2 data sets (PTC)")],
)
def test_where_attention_is_uniform(results, entropies, words):
    folder = results.folder / "attention"
    entries = {"ptc/hganet": (1.0, 1.0), "mutag/hganet": entropies, "mutag/hganet_k4": (1.0, 1.0)}
    for name, values in entries.items():
        modules = [{"entropy": {"mean": value}} for value in values]
        path = folder / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"run": name, "modules": modules}))
    assert f"as good as uniform in every module on {words}" in text(findings(results))
