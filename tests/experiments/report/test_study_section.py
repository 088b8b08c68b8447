"""docs/attention.md: its tables, tests and sentences follow from results/study."""

import json

import pytest

from experiments.report.plots import plots
from experiments.report.results import Results
from experiments.report.sections import study
from experiments.study.contest import words
from tests.experiments.report.made_up import rule, text

TEN = [90.0, 91.0, 92.0, 93.0, 94.0, 90.5, 91.5, 92.5, 93.5, 94.5]


def put(results, contest, name, values=TEN, epochs=300, setting=None, **more):
    """A made-up summary of a rival, or of a setting that it tried."""
    cap = {"config": {"epochs": 4000, "splits": None, "folds": None}, "data": {"train": 400, "test": 200}}
    found = {
        "label": name,
        "dataset": contest.dataset,
        "complete": True,
        "folds": list(range(1, len(values) + 1)),
        "validation": rule(values, [epochs] * len(values), val_loss=0.3, val_accuracy=max(values), val_roc_auc=50.0),
        **cap,
        **more,
    }
    folder = results.folder / contest.folder(contest.rival(name), setting)
    folder.mkdir(parents=True)
    (folder / "summary.json").write_text(json.dumps(found))


EXPERTS = study.find("experts/operators")


def test_nothing_is_run(results):
    page = text(study.study(results))
    assert "Nothing is run yet." in page and "`experts/operators`" in page.partition("## Not run")[2]
    assert text(study.study_summary(results)).count("\n- ") == 0


def test_a_table_and_its_pairs(results):
    for setting, values in zip(EXPERTS.rival("hgao").grid, ([80.0, 81.0], [82.0, 83.0]), strict=True):
        put(results, EXPERTS, "hgao", values, setting=setting)
    put(results, EXPERTS, "hgao")
    put(results, EXPERTS, "linear", [value - 10 - i % 2 for i, value in enumerate(TEN)], epochs=3990)
    lines = text(study.contest_lines(results, EXPERTS))
    chosen = words(EXPERTS.rival("hgao").grid[1])
    assert "| [hGAO](results/study/experts/operators/hgao/summary.json) | " in lines
    assert f"`{chosen}` | 94.50 | 92.25 ± 1.51 | 10 | 300 of 4000 | – |" in lines
    assert lines.index("| [hGAO]") < lines.index("| [linear map]"), "the best first"
    assert "Not at rest: a chosen epoch of linear map sits at the cap." in lines
    assert "| hGAO - linear map | +10.50 ± 0.53 | 10 / 0 / 0 | 0.002 | 0.002 | < 0.001 | < 0.001 |" in lines
    assert "below 0.05: hGAO above linear map." in lines
    found = text(study.advice(results))
    assert "take hGAO. On Experts, hGAO 92.25 ± 1.51 beside linear map 81.75 ± 1.59: +10.50 points" in found


def test_the_control_in_either_wiring(results):
    """Both comparisons are told, and the overview's is that of the same wiring."""
    put(results, EXPERTS, "hgao_uniform")
    put(results, EXPERTS, "linear", [value - 10 - i % 2 for i, value in enumerate(TEN)])
    put(results, EXPERTS, "paper_linear", [value - 4 + i % 3 / 10 for i, value in enumerate(TEN)])
    put(results, EXPERTS, "paper_hgao", [value - 7 + i % 3 / 10 for i, value in enumerate(TEN)])
    found = text(study.advice(results))
    assert "linear map 81.75 ± 1.59: +10.50 points" in found
    assert (
        "Against the linear map in the paper's wiring, 88.34 ± 1.51: +3.91 points (Holm-corrected p < 0.001)" in found
    )
    assert "| Experts, `experts/operators` | 81.75 ± 1.59 | – | – | **+10.50** |" in found


def test_no_advice_where_nothing_is_shown(results):
    put(results, EXPERTS, "hgao")
    put(results, EXPERTS, "linear", [value + (-1) ** i for i, value in enumerate(TEN)])
    assert "hGAO is not shown to help" in text(study.advice(results))
    assert "Not told apart: hGAO and linear map." in text(study.contest_lines(results, EXPERTS))


def test_best_of_the_scores_is_chosen_on_validation(results):
    put(results, EXPERTS, "hgao", [95.0] * 10)
    put(results, EXPERTS, "hgao_uniform", [94.0] * 9 + [96.0])  # lower on test, higher on validation (its maximum)
    put(results, EXPERTS, "gcn", [90.0] * 9 + [91.0], epochs=2700)
    assert study.best_hard(results, EXPERTS).rival.name == "hgao_uniform"
    (sentence,) = study.gcn_sentence(results)
    assert "+4.10 points" in sentence and "in 300 epochs instead of 2700" in sentence


def test_the_papers_figure_on_nodes(results):
    cora = study.find("teacher/cora")
    best = {"best_test_epoch": rule([85.0] * 10)}
    put(results, cora, "hgao", [83.0, 84.0] * 5, **best)
    put(results, cora, "gcn", [82.0, 83.0] * 5, **best)
    lines = text(study.contest_lines(results, cora))
    assert "The paper's hGANet has 83.5 ± 0.7 %; at least that, under validation: hGAO." in lines
    assert "| entropy / log n | best test epoch † |" in lines and "| – | 85.00 ± 0.00 |" in lines
    (sentence,) = study.teacher_sentence(results)
    assert "hGANet reaches the paper's 83.5 ± 0.7 %: 83.50 ± 0.53 under validation. Beside it: GCN 82.50" in sentence


def test_splits_that_overlap_are_tested_with_care():
    summary = {"data": {"train": 400, "test": 200}, "folds": [1, 2]}
    assert study.overlap(study.find("heterophilous/chameleon"), summary) == 0.5
    assert study.overlap(EXPERTS, summary) == 0
    assert study.overlap(study.find("graphs/mutag"), {"folds": list(range(10))}) == pytest.approx(1 / 8.1)


def test_gains_on_other_data(results):
    squirrel = study.find("heterophilous/squirrel")
    put(results, squirrel, "hgao", TEN)
    put(results, squirrel, "hgao_uniform", [value - 5 - i % 2 / 10 for i, value in enumerate(TEN)])
    put(results, squirrel, "linear", [value - 3 - i % 3 / 10 for i, value in enumerate(TEN)])
    (sentence,) = study.real_sentence(results)
    assert "above it hGAO on squirrel (+3.09); below it hGAO, uniform on squirrel (-1.96); 0 comparisons" in sentence
    row = "| squirrel, `heterophilous/squirrel` | 89.16 ± 1.52 | **+3.09** | – | **-1.96** |"
    assert row in text(study.overview(results))


def test_graph_classification_is_one_family(results):
    """What would stand among the comparisons of its own data set does not among those of all."""
    weak = [value - 0.75 + i % 3 * 1.0 for i, value in enumerate(TEN)]
    for dataset, others in (("mutag", TEN), ("ptc", [90.0] * 10), ("proteins", TEN[::-1])):
        contest = study.find(f"graphs/{dataset}")
        put(results, contest, "open_linear", TEN)
        put(results, contest, "open_uniform", [value + 1.3 + i % 2 / 10 for i, value in enumerate(others)])
    mutag = study.find("graphs/mutag")
    put(results, mutag, "open_cosine", weak)
    found = {pair.first.rival.name: p for pair, p in study.corrected(results, mutag)}
    alone = {pair.first.rival.name: p for pair, _, p in study.adjusted(study.pairs(results, mutag))}
    assert found["open_uniform"] == 2 * alone["open_uniform"] < study.LEVEL, "of four comparisons, not of two"
    (sentence,) = study.graphs_sentence(results)
    assert "3 data sets: of 4 comparisons with the linear map in the same wiring, 1 stands after correction" in sentence
    assert "open uniform on MUTAG (+1.35)" in sentence


def test_attention_to_read(results):
    for name, values in (("hgao_cosine", [0.7, 0.68]), ("hgao", [1.0, 0.95])):
        put(results, EXPERTS, name)
        path = results.folder / EXPERTS.folder(EXPERTS.rival(name)) / "entropy.json"
        path.write_text(json.dumps({"runs": 3, "modules": values}))
    (sentence,) = study.entropy_sentence(results)
    assert "1 for a uniform one: 0.70 0.68 (cosine), 1.00 0.95 (the paper's score)." in sentence


def test_the_figure(results):
    assert "cost.png" not in plots(results)
    rows = [{"operator": "gao_cosine", "degree": 16, "madd": 2_000_000, "cpu_ms": 1.5}]
    (results.folder / "study").mkdir()
    (results.folder / "study/cost.json").write_text(json.dumps(rows))
    put(results, study.find("degrees/16"), "gao_cosine")
    results = Results(results.folder)  # which has read nothing yet
    assert study.cost_panels(results)[0]["series"] == {"GAO, cosine": [(16, 2.0, 92.25, 1.5138)]}
    assert plots(results)["cost.png"].startswith(b"\x89PNG") and "cost.png" in text(study.headline(results))
