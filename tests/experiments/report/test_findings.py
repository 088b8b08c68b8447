"""The sentences at the top of RESULTS.md say what the summaries say."""

import json

import pytest

from experiments.report.runs import LINEAR, graph_cell, longer_cell, node_cell, tuned_cell
from experiments.report.sections.findings import in_short
from tests.experiments.report.made_up import TEN, put, text


def test_without_results_nothing_is_said(results):
    assert in_short(results) == []


def test_who_reaches_the_paper_and_under_which_rule(results):
    put(results, graph_cell("PTC", "hganet"))
    put(results, graph_cell("MUTAG", "hganet"))
    put(results, tuned_cell("PTC", "cganet"))
    put(results, longer_cell("DD", "hganet"))
    found = text(in_short(results))
    assert "- At least the paper's figure at the best test epoch †: hGANet on 1 of 2 data sets." in found
    assert "with the tuned setting, at the best test epoch †: cGANet on 1 of 1 data set." in found
    assert "trained longer, at the best test epoch †: hGANet on 1 of 1 data set." in found
    assert "is worth 2.00 points on average over 2 cells of Table 5" in found


def test_distance_on_nodes(results):
    put(results, node_cell("Citeseer", "hganet"))
    assert "in percentage points: +11.30 on Citeseer." in text(in_short(results))


def test_nodes_against_models_trained_here(results):
    put(results, node_cell("Cora", "hganet"))
    put(results, node_cell("Cora", "gcn"), [value - 1 for value in TEN])
    put(results, node_cell("Cora", LINEAR), [value + 1 for value in TEN])
    put(results, node_cell("Pubmed", "gat"))
    found = text(in_short(results))
    assert "above that of linear map (control) on 0 of 1 data set and GCN on 1 of 1 data set." in found


def test_validation_against_honest_figures(results):
    put(results, graph_cell("PROTEINS", "hganet", "validation"), [value - 10 for value in TEN])
    found = text(in_short(results))
    assert "at least the DGCNN of Errica et al.: hGANet on 1 of 1 data set." in found
    assert "at least the structure-agnostic baseline of Errica et al.: hGANet on 0 of 1 data set." in found


def test_control_and_paired_tests(results):
    put(results, graph_cell("DD", "hganet"))
    put(results, graph_cell("DD", LINEAR), [value - 1 - i / 10 for i, value in enumerate(TEN)])
    put(results, graph_cell("DD", "cganet"), TEN[::-1])
    found = text(in_short(results))
    assert "above the linear control's on 1 of 1 data set at the best test epoch † and on 1 at the last epoch." in found
    # hGANet - linear; neither hGANet - cGANet nor cGANet - linear.
    assert "Of 3 paired comparisons between models, fold by fold, 1 is more than noise under both tests" in found


@pytest.mark.parametrize(
    "entropies, words",
    [((0.999, 1.0), "2 of 2 data sets (MUTAG and PTC)"), ((0.999, 0.5), "1 of 2 data sets (PTC)")],
)
def test_where_attention_is_asleep(results, entropies, words):
    folder = results.folder / "inside"
    folder.mkdir(parents=True)
    looks = {"ptc_hganet": (1.0, 1.0), "mutag_hganet": entropies, "mutag_hganet_k4": (1.0, 1.0)}
    for name, values in looks.items():
        modules = [{"entropy": {"mean": value}} for value in values]
        (folder / f"{name}.json").write_text(json.dumps({"cell": name, "modules": modules}))
    assert f"as good as uniform in every module on {words}" in text(in_short(results))
